"""Calls that a system refuses, interrupts or runs short of: what is answered all the same."""

from __future__ import annotations

import os

import pytest
from support import mounts, strace
from support.run import NOBODY, needs_program, run


@pytest.fixture
def files(scratch):
    """Files and directories that every user can read, two of them equal."""
    top = scratch / "files"
    for name in ("a/one", "a/two", "b/other"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(name[:1])
    (top / "link").symlink_to("a/one")
    return top


COMMANDS = (
    ("find", "{}", "-ls"),
    ("find", "-L", "{}", "-newer", "{}", "-o", "-size", "-9", "-printf", "%p %i %D %s %Ts %m\n"),
    ("find", "{}", "-xdev", "-type", "f"),
    ("du", "-ax", "{}"),
    ("count", "{}"),
    ("hash", "{}"),
    ("dupes", "{}"),
    ("doctor", "--format=json", "{}"),
)


@pytest.mark.parametrize("errno", ("ENOSYS", "EPERM"))
def test_statx_of_a_sandbox(programs, scratch, files, errno):
    """The filter of an old container does not know the call, and fstatat(2) answers."""
    refused = strace.injecting(scratch, "statx", f"error={errno}")
    program = programs / "ringwalk"
    for words in COMMANDS:
        words = [word.format(files) for word in words]
        expected, found = run([program, *words]), run([*refused, program, *words])
        assert (found.status, found.err) == (0, b""), found
        if words[0] != "doctor":
            assert found.out == expected.ok().out
        assert f"-1 {errno}" in (scratch / "strace.log").read_text(), "the call was made"
    snapshot = scratch / "snapshot.parquet"
    run([*refused, program, "snapshot", "--output", snapshot, files]).ok()
    run([program, "diff", snapshot, files]).ok()


def test_times_of_birth_are_not_missed_silently(programs, scratch, files):
    refused = strace.injecting(scratch, "statx", "error=EPERM")
    for words in (("-newerBt", "2020-01-01"), ("-printf", "%Bs\n")):
        result = run([*refused, programs / "ringwalk", "find", files, *words])
        assert (result.status, result.out) == (1, b"")
        assert b"times of birth cannot be read" in result.err


@pytest.mark.usefixtures("needs_root")
def test_a_directory_that_is_opened_late(programs, scratch, mount):
    """The look at a directory that was listed past the VFS is interrupted once."""
    top = mount(mounts.filesystem, "ext4", scratch)
    for number in range(3):
        (top / str(number)).mkdir()
        (top / str(number) / "file").touch()
        (top / str(number) / "link").symlink_to("file")
    mounts.call("sync", "-f", top)
    words = [programs / "ringwalk", "--source", "ext4", "--workers", "1", "find", "-L", top]
    words += ["-printf", "%P %s %l\n"]
    interrupted = strace.injecting(scratch, "fstat", "error=EINTR:when=1")
    expected = run(words).ok().out
    found = run([*interrupted, *words], cpu=60).ok().out
    # The order of the names in a directory is not promised.
    assert sorted(found.splitlines()) == sorted(expected.splitlines())
    if "EINTR" not in (scratch / "strace.log").read_text():
        pytest.skip("directories are looked at by another call than fstat(2)")


@pytest.mark.usefixtures("needs_root")
def test_no_thread_can_be_started(ringwalk, programs, scratch, files):
    needs_program("prlimit")
    for folder in (scratch, scratch.parent):
        folder.chmod(0o755)
    snapshot, program = scratch / "snapshot.parquet", programs / "ringwalk"
    ringwalk("snapshot", "--output", snapshot, files).ok()
    for command in (
        ("hash", files),
        ("dupes", files),
        ("diff", snapshot, files),
        ("report", "--by", "ext", files),
        ("browse", "--once", "", files),
        ("browse", "--once", "", snapshot),
    ):
        result = run(["prlimit", "--nproc=1:1", program, *command], uid=NOBODY)
        assert (result.status, result.out) == (2, b""), result
        assert b"cannot start a thread: Resource temporarily unavailable\n" in result.err
        assert b"cannot write it" not in result.err
    assert run(["prlimit", "--nproc=1:1", program, "find", files], uid=NOBODY).ok().out


def test_the_list_of_an_output_cannot_be_asked_for(programs, scratch, files):
    """What the list had closed was open to the group, as if the file had no list."""
    page = scratch / "page.html"
    page.write_text("old")
    page.chmod(0o640)
    refused = strace.injecting(scratch, "fgetxattr", "error=ENOSYS")
    result = run([*refused, programs / "ringwalk", "report", "--format=html", "-o", page, files])
    assert (result.status, page.stat().st_mode & 0o777) == (0, 0o600), result
    assert b"cannot keep the access control list" in result.err


@pytest.mark.usefixtures("needs_root")
def test_a_link_that_cannot_be_removed_is_named(programs, scratch, mount):
    """On FUSE, where names cannot be exchanged. It stayed without a word, with status 0."""
    top = mount(mounts.fuse, scratch / "work")
    for name in ("a", "b"):
        (top / name).write_text("the same")
        os.utime(top / name, (1000, 1000))
    failing = strace.injecting(scratch, "unlinkat", "error=EIO:when=2")
    env = {"HOME": str(scratch), "XDG_STATE_HOME": str(scratch / "state")}
    result = run([*failing, programs / "ringwalk", "dupes", "--do", "hardlink", top], env=env)
    (left,) = {path.name for path in top.iterdir()} - {"a", "b"}
    assert result.status == 1
    assert f"{left}', a temporary link to the file to keep".encode() in result.err
    assert (top / "a").samefile(top / "b")
