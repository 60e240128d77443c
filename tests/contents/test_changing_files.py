"""Files that change, shrink, vanish or cannot be read while `hash` and `dupes` read them."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from support import images, mounts, strace
from support.copies import first_names, found, paths
from support.halted import halted
from support.run import run

SIZE = 600_000


@pytest.fixture
def twins(scratch):
    """Two equal files of several reads, and an equal pair that stays."""
    top = scratch / "top"
    top.mkdir()
    for name in ("changing", "other"):
        (top / name).write_bytes(b"x" * SIZE)
    for name in ("still", "quiet"):
        (top / name).write_bytes(b"the same")
    return top


def overwrite(path):
    with open(path, "r+b") as file:
        file.write(b"y")


def overwrite_with_old_times(path):
    times = os.stat(path)
    overwrite(path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def grow(path):
    with open(path, "ab") as file:
        file.write(b"y")


def shrink(path):
    os.truncate(path, 10)


def change_back(path):
    """The contents are the old ones, but have been others."""
    overwrite(path)
    with open(path, "r+b") as file:
        file.write(b"x")


def by_inode(directory):
    """Returns the files in the order in which a worker reads them.

    It reads the first one that the walk finds, and the others by their inode numbers. Names get the
    same order here: ext4 uses the numbers of removed files again, so it is seldom the same.
    """
    files = sorted(directory.iterdir(), key=lambda path: path.stat().st_ino)
    names = sorted(path.name for path in files)
    apart = [path.rename(directory / f"moved {number}") for number, path in enumerate(files)]
    return [path.rename(directory / name) for path, name in zip(apart, names, strict=True)]


CHANGES = (overwrite, overwrite_with_old_times, grow, shrink, change_back)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("algo", ("blake3", "sha256"))
def test_a_file_that_changes_has_no_hash(hashing, twins, change, algo):
    words = [*hashing.first, "--algo", algo, "--workers", "1", twins]
    with halted(words, "pread64", 2, twins / "changing") as program:
        change(twins / "changing")
        result = program.finish()
    assert result.status == 1
    expected = f"ringwalk: '{twins}/changing': changed while it was read\n"
    assert result.err.decode() == expected
    names = [os.path.basename(line) for line in result.lines()]
    assert names == [b"other", b"quiet", b"still"]


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_is_no_copy(dupes, twins, change):
    words = [*dupes.first, "--format=json", "--workers", "1", twins]
    with halted(words, "pread64", 2, twins / "changing") as program:
        change(twins / "changing")
        result = program.finish()
    assert result.status == 1
    assert f"'{twins}/changing': changed while it was read\n" in result.err.decode()
    (group,) = json.loads(result.out)["groups"]
    assert group["size"] == len(b"the same")


@pytest.mark.parametrize("change", CHANGES)
def test_a_small_file_that_changes_while_many_are_read(
    dupes, mount, scratch, needs_io_uring, change
):
    """On ext4 they are read by one call."""
    top = mount(mounts.filesystem, "ext4", scratch)
    for name in ("changing", "other", "still", "quiet"):
        (top / name).write_bytes(b"x" * 5000)
    words = [*dupes.first, "--format=json", "--workers", "1", top]
    with halted(words, "io_uring_enter") as program:
        change(top / "changing")
        result = program.finish()
    assert result.status == 1
    expected = f"ringwalk: '{top}/changing': changed while it was read\n"
    assert result.err.decode() == expected
    assert first_names(found(result)) == paths(top, [("other", "still", "quiet")])


def test_a_file_that_changes_fails_the_check(hashing, twins):
    listed = hashing("changing", "other", cwd=twins).ok().out
    (twins / "list").write_bytes(listed)
    words = [*hashing.first, "--workers", "1", "--check", "list"]
    with halted(words, "pread64", 2, twins / "changing", cwd=twins) as program:
        change_back(twins / "changing")
        result = program.finish()
    assert result.status == 1
    assert result.out == b"changing: FAILED open or read\nother: OK\n"


def test_a_file_that_is_replaced_while_it_is_read(hashing, twins):
    """The open file is what is read. Its removal is a change."""
    words = [*hashing.first, "--workers", "1", twins]
    with halted(words, "pread64", 2, twins / "changing") as program:
        (twins / "new").write_bytes(b"new")
        (twins / "new").rename(twins / "changing")
        result = program.finish()
    assert result.status == 1 and b"changed while it was read" in result.err
    assert b"changing" not in result.out


def test_files_that_vanish_are_reported(hashing, dupes, scratch):
    """A file that was listed may have been moved. So the answer is not known to be whole."""
    for program in (hashing, dupes.with_args("--format=fdupes")):
        top = scratch / "vanishing"
        top.mkdir()
        for name in ("one", "two"):
            (top / name).write_bytes(b"x" * SIZE)
        first, second = by_inode(top)
        words = [*program.first, "--workers", "1", top]
        with halted(words, "pread64", 1, first) as stopped:
            second.unlink()
            result = stopped.finish()
        assert os.fsencode(second) not in result.out, result
        # It may have been open already.
        gone = f"cannot open '{second}': No such file or directory\n"
        changed = f"'{second}': changed while it was read"
        assert gone.encode() in result.err or changed.encode() in result.err, result
        assert result.status == 1
        subprocess.run(["rm", "-r", top], check=True)


def test_a_directory_that_is_renamed_loses_no_file_silently(hashing, dupes, scratch):
    snapshot = scratch / "snapshot"
    for program in (hashing, hashing.with_args("--all", "--save", snapshot), dupes):
        top = scratch / "renamed"
        for name in ("a", "b"):
            (top / name).mkdir(parents=True)
            for number in range(3):
                (top / name / f"{number}").write_bytes(b"%d" % number * SIZE)
        words = [*program.first, "--workers", "1", top]
        first, *others = by_inode(top / "a")
        with halted(words, "pread64", 1, first) as stopped:
            (top / "a").rename(top / "c")
            result = stopped.finish()
        assert result.status == 1, result
        for path in others:
            gone = f"cannot open '{path}': No such file or directory\n"
            assert gone.encode() in result.err, result
        subprocess.run(["rm", "-r", top], check=True)


def test_a_root_that_vanishes_is_an_error(hashing, scratch):
    result = hashing("gone", cwd=scratch)
    assert result.status == 1 and b"'gone': No such file" in result.err


@pytest.mark.parametrize("name", ("changing", "still"))
def test_reads_that_fail(hashing, dupes, twins, scratch, name):
    broken = strace.injecting(scratch, "pread64", "error=EIO", twins / name)
    expected = f"ringwalk: cannot read '{twins}/{name}': Input/output error\n"
    # With few descriptors each read is a call of its own.
    result = run([*broken, *hashing.first, twins], nofile=100)
    assert result.status == 1 and result.err.decode() == expected
    assert len(result.lines()) == 3 and name.encode() not in result.out
    result = run([*broken, *dupes.first, "--format=json", twins], nofile=100)
    assert result.status == 1 and result.err.decode() == expected
    groups = json.loads(result.out)["groups"]
    assert [group["size"] for group in groups] == [SIZE if name == "still" else 8]


def test_an_open_that_fails(dupes, twins, needs_root):
    """Without the permission to read, a file may be a copy or not."""
    (twins / "changing").chmod(0)
    result = dupes("--format=json", twins, uid=65534)
    assert result.status == 1
    assert result.err.decode() == f"ringwalk: cannot open '{twins}/changing': Permission denied\n"
    assert [group["size"] for group in json.loads(result.out)["groups"]] == [8]


def extents(path):
    """Returns the first byte of a file on its device, and the byte behind its last one."""
    out = subprocess.run(["filefrag", "-v", "-b1", path], capture_output=True, text=True).stdout
    ranges = []
    for line in out.splitlines():
        parts = line.replace("..", " ").replace(":", " ").split()
        if len(parts) > 5 and parts[0].isdigit():
            ranges.append((int(parts[3]), int(parts[4]) + 1))
    return min(begin for begin, _ in ranges), max(end for _, end in ranges)


@pytest.mark.parametrize("kibibytes", (100, 1024, 40 * 1024))
def test_a_disk_that_fails(hashing, dupes, mount, scratch, kibibytes):
    """From 32 MiB on files are read past the page cache."""
    image = mount(images.fresh, "ext4", scratch / "work", "-t ext4 -b 4096", "noatime", 300)
    data = os.urandom(1024) * kibibytes
    for name in ("first", "second"):
        (image.point / name).write_bytes(data)
    subprocess.run(["sync", "-f", image.point], check=True)
    begin, _ = max(extents(image.point / name) for name in ("first", "second"))
    broken = max(("first", "second"), key=lambda name: extents(image.point / name))
    image.remount("noatime")
    # A loop device fails where its file has ended.
    os.truncate(image.file, begin + (len(data) // 2 & ~4095))
    result = hashing(image.point)
    assert result.status == 1, result
    assert result.err.decode() == (
        f"ringwalk: cannot read '{image.point}/{broken}': Input/output error\n"
    )
    assert len(result.lines()) == 1
    result = dupes(image.point)
    assert result.status == 1
    assert f"cannot read '{image.point}/{broken}': Input/output error\n" in result.err.decode()
    assert result.lines() == [b"0 groups of equal files, 0 copies too many, 0 to free"]


def test_a_file_that_grows_without_end(hashing, mount, scratch):
    """A log that a program writes to is read up to its size, and then reported."""
    point = mount(mounts.tmpfs, scratch)
    (point / "log").write_bytes(b"x" * SIZE)
    words = [*hashing.first, "--workers", "1", point / "log"]
    with halted(words, "pread64", 3, point / "log") as program:
        with open(point / "log", "ab") as file:
            file.write(b"y" * (100 << 20))
        result = program.finish()
    assert result.status == 1 and b"changed while it was read" in result.err
