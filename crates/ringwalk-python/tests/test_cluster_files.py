"""Mounts: read-only directories of snapshots, roots that are one directory. Errors name files."""

import errno
import json
import os
import subprocess
import sys

import pytest
from cluster_support import Here, failing
from processes import finished
from ringwalk import cluster
from ringwalk.cluster.files import Files

TWICE = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'


def run_with_mount(script, *given):
    """Runs `ringwalk-cluster` in a mount namespace, behind a script that mounts."""
    words = ["unshare", "--mount", "sh", "-c"]
    trial = ["sh", "-c", 'mount --bind "$1" "$1"', "sh", given[0]]
    found = subprocess.run([*words[:2], *trial], capture_output=True, text=True)
    if found.returncode != 0:
        pytest.skip(f"no bind mount: {found.stderr.strip()}")
    command = [*words, script, "sh", *given]
    done = finished(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


PROGRAM = (sys.executable, "-m", "ringwalk.cluster")


@pytest.fixture
def run(out):
    """Runs `ringwalk-cluster` where `out` is read-only."""
    return lambda *arguments: run_with_mount(READ_ONLY, out, *PROGRAM, *arguments)


def take(top, out, last=None):
    """A snapshot in this process. It is interrupted before the task with the number `last`."""
    task = failing(last, KeyboardInterrupt())
    return cluster.snapshot(top, out, engine=Here(), entries=7, task=task)


def damage(out):
    """Changes a byte of a part, and returns the part's name."""
    part = next((out / "parts").iterdir())
    data = bytearray(part.read_bytes())
    data[7] ^= 1
    part.write_bytes(data)
    return f"parts/{part.name}"


def contents(out):
    return {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_a_read_only_snapshot_is_looked_at_and_checked(run, top, out):
    take(top, out)
    # Of no task.
    (out / "parts" / "orphan").touch()
    before = contents(out)
    status, printed, messages = run("status", out)
    assert (status, messages) == (0, "") and "state: complete\n" in printed
    status, printed, messages = run("verify", out)
    assert (status, messages) == (0, "") and printed.endswith(", 0 damaged\n")
    # There is nothing to do.
    status, printed, messages = run("snapshot", top, "-o", out, "--resume")
    assert (status, messages) == (0, "") and printed.startswith("complete: ")
    assert contents(out) == before


def test_damage_of_a_read_only_snapshot_is_named(run, top, out):
    take(top, out)
    part = damage(out)
    status, printed, messages = run("verify", out)
    assert status == 1 and f"damaged: {part}: wrong SHA-256\n" in printed
    why = "cannot be changed: verify it again where it can be, before 'snapshot --resume'"
    assert messages == f"ringwalk-cluster: {out}: {why}\n"
    printed = run("verify", out, "--json")[1]
    assert json.loads(printed)["kept"] is False
    # Where it can be changed, the next run knows.
    assert cluster.verify(out)["kept"] and (out / "damaged.json").exists()


def test_a_read_only_run_is_not_resumed(run, top, out):
    with pytest.raises(KeyboardInterrupt):
        take(top, out, last=3)
    before = contents(out)
    status, printed, messages = run("snapshot", top, "-o", out, "--resume", "--processes", "1")
    assert (status, printed) == (1, "")
    assert messages == f"ringwalk-cluster: '{out}/log/000002.jsonl': Read-only file system\n"
    assert contents(out) == before
    assert cluster.snapshot(top, out, engine=Here(), resume=True)["complete"]


def test_a_file_in_a_read_only_directory_is_refused(run, top, out):
    take(top, out)
    status, printed, messages = run("compact", out, "-o", out / "one.parquet")
    assert (status, printed) == (2, "")
    assert messages == f"ringwalk-cluster: '{out}/one.parquet': Read-only file system\n"
    assert not (out / "one.parquet").exists()


def test_two_mounts_of_one_directory_are_refused(top, tmp_path, out):
    again = tmp_path / "again"
    again.mkdir()
    arguments = ("snapshot", top, again, "-o", out, "--processes", "1")
    status, printed, messages = run_with_mount(TWICE, top, again, *PROGRAM, *arguments)
    assert (status, printed) == (2, "")
    why = f"the roots '{top}' and '{again}' are the same directory"
    assert messages == f"ringwalk-cluster: {why}\n"
    assert not out.exists()


def test_two_names_of_a_file_are_two_roots(top, out):
    again = out.with_name("again")
    os.link(top / "file0", again)
    assert cluster.snapshot([top / "file0", again], out, engine=Here())["entries"] == 2


def append(files):
    files.append(files.create("log"), b"line\n")


def sync(files):
    files.sync(files.create("log"))


# A change, the call that fails in it, and the file that the message names.
@pytest.mark.parametrize(
    "change, call, named",
    [
        (append, "write", "log"),
        (sync, "fdatasync", "log"),
        (lambda files: files.sync_folder("folder"), "fsync", "folder"),
        (lambda files: files.replace("file", b"x"), "write", "file"),
        (lambda files: files.replace("file", b"x"), "fsync", "file"),
    ],
)
def test_errors_of_descriptors_name_the_file(change, call, named, tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    right = getattr(os, call)

    def fail(file, *given):
        # The folder of a file that is created is synced too.
        if os.readlink(f"/proc/self/fd/{file}").startswith(f"{tmp_path}/"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return right(file, *given)

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)) as caught:
        change(Files(str(tmp_path)))
    assert caught.value.filename == str(tmp_path / named)
