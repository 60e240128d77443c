"""XFS by BULKSTAT: the same answers as by system calls, on every format and while it is in use."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess

import pytest
from support import churn, idmap, images, moments, mounts, strace, trees
from support.answers import FEW, QUESTIONS, Reference, assert_sources_agree
from support.mounts import WRITE_BACK
from support.run import NOBODY, run

pytestmark = [pytest.mark.usefixtures("needs_root"), WRITE_BACK]

SOURCES = ("xfs", "auto")
FICLONE = 0x40049409  # linux/fs.h


@pytest.fixture(scope="module", params=images.XFS)
def image(request, base):
    """A filled image of each format, mounted read-only."""
    form = images.XFS[request.param]
    with mounts.or_skip(request.config, images.filled, "xfs", form, base / "xfs") as image:
        yield image


@pytest.fixture
def disk(mount, scratch):
    """An empty XFS, which tests write to."""
    return mount(images.fresh, "xfs", scratch).point


def test_every_answer(ringwalk, image):
    questions = QUESTIONS if image.form == images.XFS["xfs"] else FEW
    reference = Reference(ringwalk, image.point)
    for source in SOURCES:
        reference.check("--source", source, questions=questions)
    reference.check("--source", "xfs", "--workers", "5", questions=("fields", "one size"))


@pytest.mark.parametrize("engine", ((), ("--sync",)), ids=("", "synced"))
def test_files_written_a_moment_before(ringwalk, disk, engine):
    trees.RandomTree(disk / "tree", seed=81, entries=200)
    expected = moments.write_numbered(disk)
    for source in SOURCES:
        moments.check_numbered(ringwalk, disk, expected, "--source", source, *engine)
        moments.check_said_twice(ringwalk, disk, "--source", source, *engine)


def test_reflinks_and_hard_links(ringwalk, disk):
    (disk / "one").write_bytes(b"x" * 200_000)
    for number in range(30):
        with open(disk / "one", "rb") as source, open(disk / f"copy{number}", "wb") as copy:
            fcntl.ioctl(copy, FICLONE, source.fileno())
            copy.write(b"y" * number * 1000)
        os.link(disk / f"copy{number}", disk / f"link{number}")
    trees.settle(disk)
    reference = Reference(ringwalk, disk)
    for source in SOURCES:
        for engine in ((), ("--sync",)):
            reference.check("--source", source, *engine)


@pytest.mark.parametrize("engine", ((), ("--sync",)), ids=("", "synced"))
def test_files_without_a_name(ringwalk, disk, engine):
    """BULKSTAT lists files that are unlinked but open, or have no name; a walk must not."""
    with moments.without_a_name(disk):
        reference = Reference(ringwalk, disk)
        for source in SOURCES:
            reference.check("--source", source, *engine)


def test_a_part_of_it_and_what_is_mounted_on_it(ringwalk, mount, scratch, disk):
    trees.RandomTree(disk / "tree", seed=82, entries=150)
    for name in ("under", "again"):
        (disk / name).mkdir()
        (disk / name / "file").write_bytes(b"x" * 5000)
    trees.settle(disk)
    mount(mounts.mounted, disk / "under", "-t", "tmpfs", "-o", "noatime", "tmpfs")
    (disk / "under" / "in-memory").write_bytes(b"x" * 9000)
    mount(mounts.bind, disk / "tree", disk / "again")
    part = mount(mounts.bind, disk / "tree", scratch / "part")
    for top in (disk, disk / "tree", part):
        reference = Reference(ringwalk, top)
        for source in SOURCES:
            reference.check("--source", source, "--sync", questions=FEW)
    mapped = mount(idmap.idmapped, disk / "tree", scratch / "mapped")
    Reference(ringwalk, mapped).check("--source", "auto", questions=FEW)


@pytest.mark.parametrize("engine", ((), ("--sync",)), ids=("", "synced"))
def test_while_it_is_written_to(ringwalk, disk, engine):
    churn.check(ringwalk, disk, "xfs", *engine)


def test_as_another_user(ringwalk, disk):
    """Without CAP_SYS_ADMIN there is no BULKSTAT: `auto` answers, the source by name fails."""
    trees.RandomTree(disk / "tree", seed=83, entries=50)
    disk.chmod(0o755)
    command = ("find", ".", "-maxdepth", "1", "-printf", "%p %i\n")
    assert_sources_agree(ringwalk, ["auto"], *command, cwd=disk, uid=NOBODY)


def test_xfs_db_says_the_same(ringwalk, mount, scratch):
    """Returns the fields of inodes that xfs_db reads from the image."""
    image = mount(images.filled, "xfs", images.XFS["xfs"], scratch)
    command = ("find", ".", "-type", "f", "-printf", "%i %s %n %U %G %m\n")
    reported = {
        int(line.split()[0]): [int(word) for word in line.split()[1:5]] + [int(line.split()[5], 8)]
        for line in ringwalk("--source", "xfs", *command, cwd=image.point).ok().lines()
    }
    chosen = sorted(reported)[:: max(1, len(reported) // 60)]
    fields = ("size", "nlinkv2", "uid", "gid", "mode")
    script = []
    for ino in chosen:
        script += [
            "-c",
            f"inode {ino}",
            "-c",
            "print " + " ".join(f"core.{each}" for each in fields),
        ]
    oracle = subprocess.run(
        ["xfs_db", "-r", *script, image.file], capture_output=True, check=True, text=True
    ).stdout
    values = re.findall(r"^core\.(\w+) = (\w+)$", oracle, re.MULTILINE)
    assert [name for name, _ in values] == list(fields) * len(chosen)
    for at, ino in enumerate(chosen):
        row = [value for _, value in values[at * len(fields) : (at + 1) * len(fields)]]
        *numbers, mode = reported[ino]
        assert [int(value) for value in row[:-1]] == numbers
        assert int(row[-1], 8) & 0o7777 == mode


def test_it_is_bulkstat_that_answers(ringwalk, programs, base, image):
    """On an image with all data on the disk, statx reads the root and little else."""
    prefix = strace.injecting(base, "statx", "delay_enter=0")
    run([*prefix, programs / "ringwalk", "--source", "xfs", "du", "-sb", image.point]).ok()
    calls = (base / "strace.log").read_text().count("statx(")
    entries = len(ringwalk("find", image.point).ok().lines())
    assert calls < 20 + entries // 50


def test_after_a_shutdown(ringwalk, mount, scratch):
    """After a shutdown nothing can be read, by any source."""
    image = mount(images.fresh, "xfs", scratch)
    trees.RandomTree(image.point / "tree", seed=86, entries=100)
    (image.point / "waiting").write_bytes(b"x" * 5_000_000)
    mounts.shut_down(image.point)
    for source in SOURCES:
        for command in (("count",), ("du", "-sb"), ("du", "-a"), ("find",)):
            expected = ringwalk("--source", "syscall", *command, image.point).sane()
            got = ringwalk("--source", source, *command, image.point)
            assert got.status == expected.status == 1
            assert b"Input/output error" in got.err
            assert got.out == (expected.out if source == "auto" else b"")
