"""`ringwalk hash`: the lists of sha256sum, b3sum and xxhsum, byte by byte."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from support import mounts, strace
from support.capi import compile_c
from support.run import NOBODY, needs_program, run

MEGABYTE = 1 << 20
SUPPORT = Path(__file__).parents[1] / "support"

# Sizes at which the way of reading or hashing changes.
SIZES = (0, 1, 63, 64, 65, 1023, 1024, 1025, 4096, 4097, 262_144, 262_145)
SIZES += (MEGABYTE - 1, MEGABYTE, 2 * MEGABYTE, 2 * MEGABYTE + 1, 5 * MEGABYTE + 17)


def names_below(top):
    """Returns the paths of the regular files as `find .` prints them."""
    return run(["find", ".", "-type", "f", "-print0"], cwd=top).ok().lines(b"\0")


@pytest.fixture(scope="module")
def sizes(base):
    """A file of each size, dense and sparse. Not to be changed."""
    top = base / "hash-sizes"
    top.mkdir()
    for size in SIZES:
        data = bytes(range(251)) * (size // 251 + 1)
        (top / f"dense{size}").write_bytes(data[:size])
        with open(top / f"sparse{size}", "wb") as file:
            file.truncate(size)
        with open(top / f"partly{size}", "wb") as file:
            file.seek(size // 2)
            file.write(data[: size - size // 2])
    with open(top / "hole", "wb") as file:
        file.truncate(70 * MEGABYTE)
    return top


@pytest.mark.smoke
def test_any_name_is_written_as_sha256sum_writes_it(hashing, named):
    names = names_below(named)
    assert any(b"\n" in name for name in names) and any(b"\xff" in name for name in names)
    theirs = run(["sha256sum", "--", *names], cwd=named).ok().lines()
    ours = hashing("--algo", "sha256", ".", cwd=named).ok().lines()
    # sha256sum before coreutils 9.2 leaves carriage returns as they are.
    plain = [line for line in theirs if b"\r" not in line]
    assert sorted(set(ours) & set(plain)) == sorted(plain)
    assert len(ours) == len(theirs) == len(names)


@pytest.mark.parametrize(
    "algo, command", [("blake3", ["b3sum"]), ("xxh3", ["xxhsum", "-q", "-H128"])]
)
def test_names_are_written_as_the_other_programs_write_them(hashing, named, algo, command):
    needs_program(command[0])
    # These versions write other characters in other ways.
    plain = [name for name in names_below(named) if re.fullmatch(rb"\./[!-\[\]-~]+", name)]
    assert len(plain) > 50
    theirs = run([*command, *plain], cwd=named).ok().lines()
    ours = hashing("--algo", algo, *plain, cwd=named).ok().lines()
    assert sorted(ours) == sorted(theirs)


@pytest.mark.parametrize(
    "algo, command",
    [("blake3", ["b3sum"]), ("sha256", ["sha256sum"]), ("xxh3", ["xxhsum", "-q", "-H128"])],
)
@pytest.mark.parametrize("workers", (1, 5))
def test_files_of_every_size(hashing, sizes, algo, command, workers):
    needs_program(command[0])
    names = names_below(sizes)
    theirs = run([*command, *names], cwd=sizes).ok().lines()
    ours = hashing("--algo", algo, "--workers", workers, ".", cwd=sizes).ok().lines()
    assert sorted(ours) == sorted(theirs)


def test_lines_are_in_the_order_of_paths(hashing, sizes, named):
    for top in (sizes, named):
        once = hashing(".", cwd=top).ok().out
        assert hashing("--workers", 7, ".", cwd=top).ok().out == once
    lines = hashing(".", cwd=sizes).ok().lines()
    assert lines == sorted(lines, key=lambda line: line.split(b"  ")[1])


def test_roots_are_files_directories_and_links(hashing, scratch):
    (scratch / "-file").write_bytes(b"one")
    (scratch / "folder").mkdir()
    (scratch / "folder" / "two").write_bytes(b"two")
    (scratch / "folder" / "link").symlink_to("two")
    (scratch / "to-file").symlink_to("-file")
    (scratch / "to-folder").symlink_to("folder")
    os.mkfifo(scratch / "folder" / "pipe")
    roots = ["--", "-file", "to-file", "to-folder", "folder"]
    ours = hashing("--algo", "sha256", *roots, cwd=scratch).ok().out
    names = ["--", "-file", "to-file", "to-folder/two", "folder/two"]
    assert ours == run(["sha256sum", *names], cwd=scratch).ok().out


def test_what_cannot_be_hashed_is_said(hashing, scratch):
    (scratch / "good").write_bytes(b"good")
    os.mkfifo(scratch / "pipe")
    result = hashing("missing", "pipe", "good", "/dev/null", cwd=scratch)
    assert result.status == 1
    assert [line.split()[1] for line in result.lines()] == [b"good"]
    errors = result.err.splitlines()
    assert any(b"'missing': No such file or directory" in line for line in errors)
    assert any(b"'pipe': not a regular file" in line for line in errors)
    assert any(b"'/dev/null': not a regular file" in line for line in errors)


def test_wrong_command_lines(hashing, scratch):
    (scratch / "file").touch()
    wrong = [
        [],
        ["--quiet", "file"],
        ["--all", "file"],
        ["--algo", "md5", "file"],
        ["--check", "list", "file"],
        ["--output", "snap", "--algo", "sha256", "."],
    ]
    for words in wrong:
        result = hashing(*words, cwd=scratch)
        assert result.status == 2 and result.err and not result.out, result


def test_a_list_that_cannot_be_written(hashing, named):
    result = run(["sh", "-c", '"$@" >/dev/full', "sh", *hashing.first, named])
    assert result.status == 1
    assert result.err == b"ringwalk: write error: No space left on device\n"
    # A reader that goes away is no reason for a message.
    result = run(["sh", "-c", '"$@" | true', "sh", *hashing.first, named]).ok()


def test_files_that_another_user_may_not_read(hashing, scratch, needs_root):
    (scratch / "closed").write_bytes(b"secret")
    (scratch / "closed").chmod(0)
    (scratch / "locked").mkdir(mode=0o700)
    (scratch / "locked" / "file").write_bytes(b"x")
    (scratch / "open").write_bytes(b"open")
    result = hashing(".", cwd=scratch, uid=NOBODY)
    assert result.status == 1
    assert [line.split()[1] for line in result.lines()] == [b"./open"]
    assert b"cannot open './closed': Permission denied" in result.err
    assert b"'./locked': Permission denied" in result.err
    assert result.err.count(b"\n") == 2
    # Root may read it all.
    assert len(hashing(".", cwd=scratch).ok().lines()) == 3


def test_file_systems_of_the_kernel_are_left_out(hashing, mount, scratch, needs_root):
    """Some of their files have no end. A root there is wanted, though."""
    top = scratch / "top"
    for name in ("a", "process", "z"):
        (top / name).mkdir(parents=True)
        (top / name / "file").write_bytes(name.encode())
    mount(mounts.bind, Path("/proc/sys/vm"), top / "process")
    lines = hashing(top).ok().lines()
    paths = [line.split(b"  ", 1)[1] for line in lines]
    assert paths == [os.fsencode(top / name / "file") for name in ("a", "z")]
    inner = top / "process" / "swappiness"
    assert len(hashing(top, inner, top / "z").ok().lines()) == 4
    result = hashing(top, top / "process" / "gone", top / "a")
    assert result.status == 1 and len(result.out.splitlines()) == 3
    assert b"gone': No such file or directory" in result.err


@pytest.fixture
def careless_fuse(mount, scratch, monkeypatch):
    """Makes a FUSE file system whose server has loaded a library of the tests' support."""

    def make(library: str) -> Path:
        path = scratch / "library.so"
        compile_c(SUPPORT / library, "-shared", "-fPIC", "-o", path, "-ldl")
        monkeypatch.setenv("LD_PRELOAD", str(path))
        point = mount(mounts.fuse, scratch, "direct_io")
        monkeypatch.delenv("LD_PRELOAD")
        return point

    return make


def test_files_that_come_in_small_pieces(hashing, dupes, careless_fuse, scratch):
    """A short read is not the end of a file."""
    source = scratch / "fuse-source"
    source.mkdir()
    for name in ("one", "two"):
        (source / name).write_bytes(b"x" * 300_000 + b"end")
    (source / "small").write_bytes(b"y" * 2500)
    point = careless_fuse("short_reads.c")
    with open(point / "one", "rb", buffering=0) as file:
        assert len(file.read(5000)) == 1000
    for algo in ("blake3", "xxh3", "sha256"):
        command = ("--algo", algo, ".")
        assert hashing(*command, cwd=point).ok().out == hashing(*command, cwd=source).ok().out
    assert dupes("--format=fdupes", ".", cwd=point).ok().lines() == [b"./one", b"./two", b""]


def test_files_that_are_longer_than_their_size(hashing, dupes, careless_fuse, scratch):
    """A FUSE server says it wrongly. The hash of a part is no hash of the file."""
    source = scratch / "fuse-source"
    source.mkdir()
    for name in ("one", "two"):
        (source / name).write_bytes(b"x" * 10000)
    (source / "right").write_bytes(b"x" * 5000)
    point = careless_fuse("short_sizes.c")
    assert os.stat(point / "one").st_size == 5000
    for program in (hashing, dupes.with_args("--format=fdupes")):
        result = program(".", cwd=point)
        assert result.status == 1
        assert b"one" not in result.out and b"two" not in result.out
        for name in ("one", "two"):
            assert (
                f"'./{name}': has more bytes than the size that its file system reports\n".encode()
                in result.err
            )


@pytest.mark.parametrize("kind", ("tmpfs", "fuse", "overlay", "ext4"))
@pytest.mark.parametrize("errno", ("", "ENOSYS", "EPERM"))
def test_large_files_that_are_not_in_memory(hashing, mount, scratch, kind, errno):
    """Past the page cache where that is possible, with and without io_uring."""
    point = mount(mounts.filesystem, kind, scratch)
    data = bytes(range(256)) * (4096 * 34)
    (point / "large").write_bytes(data + b"the end")
    (point / "sparse").write_bytes(data[:12345])
    with open(point / "sparse", "r+b") as file:
        file.truncate(60 * MEGABYTE)
        file.seek(40 * MEGABYTE)
        file.write(data[: 3 * MEGABYTE])
    for name in ("large", "sparse"):
        descriptor = os.open(point / name, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)
    command = [*hashing.first, point / "large", point / "sparse"]
    if errno:
        command = [*strace.injecting(scratch, "io_uring_setup", f"error={errno}"), *command]
    ours = run(command).ok().lines()
    needs_program("b3sum")
    assert ours == run(["b3sum", point / "large", point / "sparse"]).ok().lines()


def test_other_file_systems_are_left_out(hashing, mount, scratch):
    (scratch / "top").mkdir()
    (scratch / "top" / "file").write_bytes(b"x")
    point = mount(mounts.tmpfs, scratch / "top")
    (point / "other").write_bytes(b"y")
    assert len(hashing(scratch / "top").ok().lines()) == 2
    (line,) = hashing("-x", scratch / "top").ok().lines()
    assert line.endswith(b"/top/file")
