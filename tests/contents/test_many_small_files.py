"""Small files: on some file systems many of them are read by one call of io_uring."""

from __future__ import annotations

import os
import subprocess
from collections import Counter

import pytest
from support import images, mounts, strace
from support.halted import halted
from support.marks import long
from support.run import needs_program, run

FILES = 300


def fill(top, files=FILES):
    """Makes small files, two of each contents, in directories of which each lies in another."""
    folder = top
    for number in range(files):
        if number % 3 == 0:
            folder = folder / "d"
            folder.mkdir(parents=True)
        data = b"%d" % (number // 2) * (number % 200 // 2)
        (folder / f"file {number}").write_bytes(data)


@pytest.fixture
def ext4(mount, scratch, needs_io_uring):
    top = mount(mounts.filesystem, "ext4", scratch)
    fill(top)
    return top


def traced(scratch, words, top, **options):
    """Returns the calls of io_uring and the reads of a command that succeeds."""
    needs_program("strace")
    log = scratch / "strace-calls.log"
    tracer = ["strace", "-f", "-o", log, "-e", "trace=io_uring_enter,pread64"]
    run([*tracer, *words, top], **options).ok()
    text = log.read_text()
    return text.count("io_uring_enter("), text.count("pread64(")


@pytest.mark.parametrize("kind", ("ext4", "xfs", "btrfs", "tmpfs"))
def test_they_are_read_by_few_calls(hashing, dupes, mount, scratch, needs_io_uring, kind):
    top = mount(mounts.filesystem, kind, scratch)
    fill(top)
    for program in (hashing, dupes):
        rings, reads = traced(scratch, program.first, top)
        if kind == "tmpfs":
            assert rings == 0 and reads >= FILES // 2
        else:
            assert rings > 0 and reads < FILES // 2
        rings, reads = traced(scratch, program.first, top, nofile=100)
        assert rings == 0 and reads >= FILES // 2


@pytest.mark.parametrize("nofile, workers", ((20, 4), (100, 16), (520, 64), (1024, 500)))
@pytest.mark.parametrize("kind", ("ext4", "tmpfs", *long("xfs", "btrfs")))
def test_few_descriptors(hashing, dupes, mount, scratch, kind, nofile, workers):
    """Also where the walk has many directories open at the same time."""
    top = mount(mounts.filesystem, kind, scratch)
    fill(top, 1200)
    for program in (hashing, dupes):
        expected = program(".", cwd=top).ok().out
        if nofile > 500:
            assert program(".", cwd=top, nofile=nofile).ok().out == expected
        many = program("--workers", str(workers), ".", cwd=top, nofile=nofile)
        assert many.ok().out == expected


@pytest.mark.parametrize("roots, held", ((385, 0), (1, 400)))
def test_descriptors_that_others_have(hashing, dupes, mount, scratch, roots, held):
    """Each root has one, and a program can inherit many. All workers read at the same time."""
    top = mount(mounts.filesystem, "ext4", scratch)
    for root in range(roots):
        for number in range(max(1200 // roots, 1)):
            path = top / f"{root}" / f"{number}"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"%d" % (number // 2) * 100)
    tops = sorted(path.name for path in top.iterdir() if path.name.isdigit())
    # dash knows descriptors of one digit only.
    command = ["bash", "-c", f'for i in $(seq {held}); do exec {{fd}}</dev/null; done; "$@"', "-"]
    for program in (hashing, dupes):
        expected = program(*tops, cwd=top).ok().out
        slow = strace.injecting(scratch, "io_uring_enter", "delay_enter=50000")
        words = [*slow, *command, *program.first, "--workers", "64", *tops]
        assert run(words, cwd=top, nofile=520).ok().out == expected


@pytest.mark.parametrize(
    "call, effect",
    (
        ("io_uring_setup", "error=EPERM"),
        ("io_uring_setup", "error=EMFILE"),
        ("io_uring_enter", "error=EBADF"),
        ("io_uring_enter", "error=EINTR"),
        ("io_uring_enter", "error=EINTR:when=1+2"),
        ("io_uring_enter", "error=EAGAIN:when=1+2"),
        ("openat2", "error=EMFILE:when=5"),
    ),
)
def test_calls_that_fail(hashing, dupes, ext4, scratch, call, effect):
    for program in (hashing, dupes):
        expected = program(ext4).ok().out
        words = strace.injecting(scratch, call, effect)
        assert run([*words, *program.first, "--workers", "1", ext4]).ok().out == expected


def test_files_that_change_meanwhile(hashing, ext4):
    """Those that were read have no hash. Those that are read later have that of their contents."""
    paths = [path for path in ext4.rglob("file *") if path.stat().st_size]
    with halted([*hashing.first, "--workers", "1", ext4], "io_uring_enter") as program:
        for path in paths:
            with open(path, "r+b") as file:
                file.write(b"!")
        result = program.finish()
    assert result.status == 1
    changed = result.err.count(b"changed while it was read\n")
    assert changed >= 2 and result.err.count(b"\n") == changed
    now = set(hashing(ext4).ok().lines())
    assert len(result.lines()) == len(now) - changed
    # The files before the call have the hash of their old contents: one part of the files.
    assert sum(line not in now for line in result.lines()) <= 64


def test_a_disk_that_fails(hashing, dupes, mount, scratch):
    """One bad file among many that are read by one call."""
    image = mount(images.fresh, "ext4", scratch / "work", "-t ext4 -b 4096", "noatime", 100)
    for number in range(60):
        (image.point / f"{number}").write_bytes(b"%02d" % (number // 2) * 4096)
    subprocess.run(["sync", "-f", image.point], check=True)
    fill_to = {int(path.name): first_block(path) for path in image.point.glob("[0-9]*")}
    last = max(fill_to, key=fill_to.get)
    image.remount("noatime")
    # A loop device fails where its file has ended.
    os.truncate(image.file, fill_to[last])
    expected = f"ringwalk: cannot read '{image.point}/{last}': Input/output error\n"
    result = hashing(image.point)
    assert result.status == 1 and result.err.decode() == expected
    assert len(result.lines()) == 59
    result = dupes(image.point)
    assert result.status == 1 and result.err.decode() == expected
    assert result.lines()[-1].startswith(b"29 groups of equal files")


def first_block(path):
    """Returns the first byte of a file on its device."""
    out = subprocess.run(["filefrag", "-v", "-b1", path], capture_output=True, text=True).stdout
    parts = out.splitlines()[3].replace("..", " ").replace(":", " ").split()
    return int(parts[3])


def test_files_of_some_size_are_read_by_all_workers(hashing, mount, scratch):
    """One worker gives back what it has taken with such a file."""
    top = mount(mounts.filesystem, "ext4", scratch)
    for number in range(40):
        (top / f"{number}").write_bytes(b"x" * 300_000)
    # The names of a list come faster than those of a walk.
    (scratch / "list").write_bytes(hashing("--algo=sha256", top).ok().out)
    words = strace.injecting(scratch, "pread64", "delay_enter=20000")
    words += [*hashing.first, "--algo=sha256", "--workers", "4", "--check", scratch / "list"]
    assert len(run(words).ok().lines()) == 40
    threads = Counter(line.split()[0] for line in (scratch / "strace.log").open())
    assert len(threads) >= 3
    assert max(threads.values()) < threads.total() / 2
