"""btrfs by tree search: the same answers as by system calls, also in subvolumes and snapshots."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import subprocess

import pytest
from support import churn, images, moments, mounts, trees
from support.answers import FEW, QUESTIONS, Reference, assert_sources_agree
from support.mounts import WRITE_BACK
from support.run import NOBODY

pytestmark = [pytest.mark.usefixtures("needs_root"), WRITE_BACK]

SOURCES = ("btrfs", "auto")
FICLONE = 0x40049409  # linux/fs.h


# A snapshot has an empty directory in the place of a subvolume; its times are those of the lookup.
WITHOUT_TIMES = [name for name in QUESTIONS if "fields" not in name and name != "times"]


def subvolume(*args) -> None:
    """Runs `btrfs subvolume ARGS`."""
    subprocess.run(["btrfs", "subvolume", *args], check=True, capture_output=True)


@pytest.fixture(scope="module", params=images.BTRFS)
def image(request, base):
    """A filled image of each format, mounted read-only."""
    form = images.BTRFS[request.param]
    with mounts.or_skip(request.config, images.filled, "btrfs", form, base / "btrfs") as image:
        yield image


@pytest.fixture
def disk(mount, scratch):
    """An empty btrfs, which tests write to."""
    return mount(images.fresh, "btrfs", scratch).point


def test_every_answer(ringwalk, image):
    questions = QUESTIONS if image.form == images.BTRFS["btrfs"] else FEW
    reference = Reference(ringwalk, image.point)
    for source in SOURCES:
        reference.check("--source", source, questions=questions)
    reference.check("--source", "btrfs", "--workers", "5", questions=("fields", "one size"))


@pytest.mark.parametrize("engine", ((), ("--sync",)), ids=("", "synced"))
def test_files_written_a_moment_before(ringwalk, disk, engine):
    """Items of inodes are updated with a transaction; sizes and times must be right before it."""
    trees.RandomTree(disk / "tree", seed=91, entries=150)
    trees.settle(disk)
    expected = moments.write_numbered(disk)
    for source in SOURCES:
        moments.check_numbered(ringwalk, disk, expected, "--source", source, *engine)
        moments.check_said_twice(ringwalk, disk, "--source", source, *engine)


def test_metadata_changed_a_moment_before(ringwalk, disk):
    """Owners, modes, links and times are in memory before they are in the tree."""
    for number in range(100):
        (disk / f"f{number}").write_bytes(b"x" * 100)
    trees.settle(disk)
    command = ("find", ".", "-mindepth", "1", "-printf", "%p %m %U %G %n %s %C@ %T@\\0")
    for number in range(100):
        path = disk / f"f{number}"
        if number % 4 == 0:
            path.chmod(0o4711)
        elif number % 4 == 1:
            os.chown(path, number, number * 7)
        elif number % 4 == 2:
            os.link(path, disk / f"link{number}")
        else:
            os.utime(path, ns=(number, number))
    assert_sources_agree(ringwalk, SOURCES, *command, separator=b"\0", cwd=disk)
    assert_sources_agree(ringwalk, SOURCES, "du", "-s", "--inodes", disk)


@pytest.fixture
def volumes(disk):
    """Nested subvolumes, snapshots (read-only and writable), and a deleted one."""
    trees.RandomTree(disk / "tree", seed=92, entries=80)
    subvolume("create", disk / "sub")
    trees.RandomTree(disk / "sub" / "tree", seed=93, entries=60)
    subvolume("create", disk / "sub" / "inner")
    (disk / "sub" / "inner" / "file").write_bytes(b"x" * 9000)
    (disk / "dir").mkdir()
    trees.settle(disk)
    # A snapshot has an empty directory in the place of a subvolume.
    subvolume("snapshot", disk / "sub", disk / "dir" / "copy")
    subvolume("snapshot", "-r", disk / "sub", disk / "dir" / "frozen")
    subvolume("snapshot", disk, disk / "whole")
    (disk / "dir" / "copy" / "only-here").write_bytes(b"x" * 5000)
    subvolume("create", disk / "deleted")
    (disk / "deleted" / "file").touch()
    subvolume("delete", disk / "deleted")
    trees.settle(disk)
    return disk


def test_subvolumes(ringwalk, volumes):
    reference = Reference(ringwalk, volumes)
    for source in SOURCES:
        for engine in ((), ("--sync",)):
            reference.check("--source", source, *engine, questions=WITHOUT_TIMES)
    command = ("find", ".", "!", "-inum", "2", "-printf", "%p %A@ %C@ %T@ %B@\\0")
    assert_sources_agree(ringwalk, SOURCES, *command, separator=b"\0", cwd=volumes)
    names = reference.answer("names").out
    assert b"./sub/inner/file\0" in names and b"./dir/frozen/inner\0" in names
    assert b"./deleted" not in names


@pytest.mark.parametrize("name", ("sub", "sub/inner", "dir", "dir/frozen", "whole", "tree"))
def test_roots_in_subvolumes(ringwalk, volumes, name):
    reference = Reference(ringwalk, volumes / name)
    for source in SOURCES:
        reference.check("--source", source, questions=WITHOUT_TIMES)


@pytest.mark.parametrize(
    "command",
    (("du", "-axl0", "."), ("du", "-sx", "."), ("find", ".", "-xdev", "-printf", "%p %D %i\\0")),
)
def test_one_file_system(ringwalk, volumes, command):
    """A subvolume has a device number of its own."""
    result = assert_sources_agree(ringwalk, SOURCES, *command, separator=b"\0", cwd=volumes)
    assert b"sub/inner/file" not in result.out


def test_a_subvolume_mounted_by_itself(ringwalk, mount, scratch, volumes):
    device = subprocess.run(
        ["findmnt", "-n", "-o", "SOURCE", volumes], check=True, capture_output=True, text=True
    ).stdout.partition("[")[0]
    options = ("-t", "btrfs", "-o", "subvol=/sub,noatime", device.strip())
    point = mount(mounts.mounted, scratch / "alone", *options)
    part = mount(mounts.bind, volumes / "tree", scratch / "part")
    mount(mounts.mounted, volumes / "dir", "-t", "tmpfs", "-o", "noatime", "tmpfs")
    for top in (point, part, volumes):
        reference = Reference(ringwalk, top)
        for source in SOURCES:
            reference.check("--source", source, questions=WITHOUT_TIMES)


def test_reflinks_and_hard_links(ringwalk, disk):
    (disk / "one").write_bytes(b"x" * 200_000)
    for number in range(30):
        with open(disk / "one", "rb") as source, open(disk / f"copy{number}", "wb") as copy:
            fcntl.ioctl(copy, FICLONE, source.fileno())
            copy.write(b"y" * number * 1000)
        # Names of one inode in one directory share an item; a full item continues in another one.
        for name in range(number * 3):
            os.link(disk / f"copy{number}", disk / f"link{number}-{name}-{'n' * 200}")
    trees.settle(disk)
    reference = Reference(ringwalk, disk)
    for source in SOURCES:
        reference.check("--source", source)


# Two parts of names with one CRC-32C. CRC is linear, so they are equal at each place of a name.
ALIKE = ("n1441e896", "nfca1a963")


def test_names_of_one_hash(ringwalk, disk):
    """The key of a directory item is the CRC-32C of the name; names of one hash share an item."""
    names = ["-".join(pieces) for pieces in itertools.product(ALIKE, repeat=5)]
    for name in names:
        (disk / name).touch()
    trees.settle(disk)
    command = ("find", ".", "-printf", "%p %i %y\n")
    result = assert_sources_agree(ringwalk, SOURCES, *command, cwd=disk)
    assert len(result.lines()) == len(names) + 1


@pytest.mark.parametrize("engine", ((), ("--sync",)), ids=("", "synced"))
def test_files_without_a_name(ringwalk, disk, engine):
    """Files that were unlinked while open have items until the last process closes them."""
    with moments.without_a_name(disk):
        reference = Reference(ringwalk, disk)
        for source in SOURCES:
            reference.check("--source", source, *engine)


@pytest.mark.parametrize("engine", ((), ("--sync",)), ids=("", "synced"))
def test_while_it_is_written_to(ringwalk, disk, engine):
    churn.check(ringwalk, disk, "btrfs", *engine)


def test_two_devices(ringwalk, mount, scratch):
    """A file system on two devices; files report the number of neither."""
    first, second = (images.Image("btrfs", scratch / name, images.Format("")) for name in "ab")
    for image in (first, second):
        with open(image.file, "wb") as file:
            file.truncate(mounts.IMAGE_SIZES["btrfs"])
    loops = []
    try:
        for image in (first, second):
            loop = subprocess.run(
                ["losetup", "--find", "--show", image.file],
                check=True,
                capture_output=True,
                text=True,
            )
            loops.append(loop.stdout.strip())
        images.command(["mkfs.btrfs", "-q", "-f", "-m", "raid1", "-d", "raid0", *loops])
        subprocess.run(["btrfs", "device", "scan", *loops], check=True, capture_output=True)
        with mounts.mounted(scratch / "point", "-o", "noatime", loops[0]) as point:
            trees.RandomTree(point / "tree", seed=94, entries=100)
            trees.settle(point)
            reference = Reference(ringwalk, point)
            for source in SOURCES:
                reference.check("--source", source, questions=FEW)
    finally:
        for loop in loops:
            subprocess.run(["losetup", "--detach", loop], check=True)


def test_as_another_user(ringwalk, disk):
    """Without CAP_SYS_ADMIN there is no tree search; `auto` gives the same answers."""
    trees.RandomTree(disk / "tree", seed=95, entries=50)
    disk.chmod(0o755)
    command = ("find", ".", "-maxdepth", "1", "-printf", "%p %i\n")
    assert_sources_agree(ringwalk, ["auto"], *command, cwd=disk, uid=NOBODY)


@pytest.fixture
def aborted(mount, scratch):
    """A btrfs whose last transaction was aborted, because its device accepted no more writes."""
    room = mount(mounts.mounted, scratch / "room", "-t", "tmpfs", "-o", "size=96m", "tmpfs")
    image = mount(images.fresh, "btrfs", room, "-m single", "noatime", 256)
    top = image.point
    (top / "many").mkdir()
    for number in range(4000):
        (top / "many" / f"gone{number}").write_bytes(b"x" * 20)
    os.sync()
    for file in (top / "many").iterdir():
        file.unlink()
    for number in range(50):
        (top / "many" / f"empty{number}").touch()
    os.sync()
    with open(room / "fill", "wb") as fill, contextlib.suppress(OSError):
        while fill.write(bytes(1 << 20)):
            fill.flush()
    with contextlib.suppress(OSError):
        for number in range(4000):
            (top / "many" / f"new{number}").write_bytes(b"x" * 20)
    subprocess.run(["sync", "-f", top], capture_output=True, check=False)
    options = subprocess.run(["findmnt", "-no", "FS-OPTIONS", top], capture_output=True, check=True)
    if not options.stdout.startswith(b"ro"):
        pytest.skip("it has got over the full device")
    return top


def test_after_an_abort(ringwalk, aborted):
    """No tree has the changes of the aborted transaction."""
    for command in (("count",), ("du", "-sb"), ("du", "-a"), ("find",)):
        refused = ringwalk("--source", "btrfs", *command, aborted)
        assert (refused.status, refused.out) == (1, b""), command
        assert b"an error has made it read-only" in refused.err
        expected = ringwalk("--source", "syscall", *command, aborted).sane()
        got = ringwalk("--source", "auto", *command, aborted)
        assert (got.status, sorted(got.lines())) == (expected.status, sorted(expected.lines()))
