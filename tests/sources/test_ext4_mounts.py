"""ext4 from the block device with mounts on it, and with only a part of it mounted."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from processes import TIMEOUT, started
from support import answers, idmap, images, mounts, trees
from support.answers import QUESTIONS, Reference, assert_sources_agree
from support.run import run

pytestmark = pytest.mark.usefixtures("needs_root")

SOURCES = ("ext4", "auto")


@pytest.fixture
def disk(mount, scratch):
    """An ext4 with a few hundred files."""
    image = mount(images.fresh, "ext4", scratch, "-t ext4 -b 1024")
    trees.RandomTree(image.point / "tree", seed=51, entries=200)
    for name in ("plain", "under", "again", "other", "deep/er"):
        (image.point / name).mkdir(parents=True)
        (image.point / name / "file").write_bytes(b"x" * 7000)
    (image.point / "covered").write_bytes(b"what nobody sees")
    os.link(image.point / "plain" / "file", image.point / "other" / "link")
    return image


@pytest.fixture
def nested(mount, scratch, disk):
    """File systems, directories and files mounted over directories and files of the disk."""
    top = disk.point
    other = mount(images.fresh, "ext4", scratch / "second", "-t ext4")
    trees.RandomTree(other.point / "tree", seed=52, entries=60)
    disk.freeze()
    other.freeze()
    mount(mounts.bind, other.point, top / "under")
    mount(mounts.bind, top / "plain", top / "again")
    mount(mounts.mounted, top / "other", "-t", "tmpfs", "-o", "noatime", "tmpfs")
    (top / "other" / "in-memory").write_bytes(b"x" * 9000)
    mount(mounts.mounted, top / "deep" / "er", "-t", "tmpfs", "-o", "noatime", "tmpfs")
    mounts.call("mount", "--bind", top / "other" / "in-memory", top / "covered")
    yield top
    mounts.unmount(top / "covered")


def check(ringwalk, top, questions=QUESTIONS):
    """Compares the answers of all sources; returns those of system calls."""
    reference = Reference(ringwalk, top)
    for source in SOURCES:
        reference.check("--source", source, questions=questions)
    return reference


def test_mounts_below_the_root(ringwalk, nested):
    names = check(ringwalk, nested).answer("names").out
    assert b"./other/in-memory\0" in names
    assert b"./deep/er/file" not in names


@pytest.mark.parametrize("command", (("du", "-axl0", "."), ("find", ".", "-xdev", "-print0")))
def test_one_file_system(ringwalk, nested, command):
    result = assert_sources_agree(ringwalk, SOURCES, *command, separator=b"\0", cwd=nested)
    assert b"in-memory" not in result.out


@pytest.mark.parametrize("name", ("under", "again", "deep", "tree"))
def test_roots_below_the_mount_point(ringwalk, nested, name):
    check(ringwalk, nested / name, questions=answers.FEW)


@pytest.mark.parametrize(
    "command", (("du", "-abl"), ("du", "-s"), ("du", "-sl"), ("du", "-sc", "--inodes"), ("count",))
)
def test_several_roots(ringwalk, nested, command):
    roots = ("tree", "under", "again", "plain", ".")
    assert_sources_agree(ringwalk, SOURCES, *command, *roots, cwd=nested)


def test_a_file_system_twice_and_another(ringwalk, nested, scratch):
    """Roots that are whole file systems; hard links count once for all roots."""
    second = scratch / "second" / "point"
    for roots in ((nested, second), (nested, nested), (nested / "under", second)):
        for command in (("du", "-s"), ("du", "-sb"), ("du", "-sc", "--inodes"), ("count",)):
            assert_sources_agree(ringwalk, SOURCES, *command, *roots)


@pytest.mark.parametrize("part", ("tree", "plain", "deep"))
def test_a_bind_mount_of_a_subtree(ringwalk, mount, scratch, disk, part):
    """The subtree is the root of its mount, but only a part of the file system."""
    disk.freeze()
    point = mount(mounts.bind, disk.point / part, scratch / "part")
    whole = json.loads(ringwalk("count", "--format=json", disk.point).ok().out)
    reported = json.loads(check(ringwalk, point).answer("counts").out)
    assert 0 < reported["entries"] < whole["entries"]


def test_a_bind_mount_of_the_root(ringwalk, mount, scratch, disk):
    """A second mount of the whole file system has none of the mounts of the first one."""
    mount(mounts.mounted, disk.point / "other", "-t", "tmpfs", "tmpfs")
    disk.freeze()
    point = mount(mounts.bind, disk.point, scratch / "again")
    assert b"./other/link\0" in check(ringwalk, point).answer("names").out


def test_a_mount_on_the_mount_point(ringwalk, mount, disk):
    """The path leads to the upper mount, not to the covered file system."""
    mount(mounts.mounted, disk.point, "-t", "tmpfs", "-o", "noatime", "tmpfs")
    (disk.point / "on-top").write_bytes(b"x" * 10_000)
    reference = Reference(ringwalk, disk.point)
    reference.check("--source", "auto")
    assert reference.answer("names").out == b".\0./on-top\0"


def test_files_as_roots(ringwalk, disk):
    disk.freeze()
    command = ("find", "plain/file", "covered", "-printf", "%p %s %i %b %C@\n")
    result = assert_sources_agree(ringwalk, SOURCES, *command, cwd=disk.point)
    assert len(result.lines()) == 2
    assert_sources_agree(ringwalk, SOURCES, "du", "-b", "plain/file", "covered", cwd=disk.point)


@pytest.mark.parametrize(
    "command",
    (
        ("du", "-sD", "to-tree"),
        ("du", "-lL0", "."),
        ("find", "-L", ".", "-print0"),
        ("find", "-H", "to-tree", "-printf", "%p %i\\0"),
        ("count", "to-tree"),
    ),
)
def test_symbolic_links_that_are_followed(ringwalk, disk, command):
    (disk.point / "to-tree").symlink_to("tree")
    disk.freeze()
    assert_sources_agree(ringwalk, SOURCES, *command, separator=b"\0", cwd=disk.point)


def test_an_idmapped_mount(ringwalk, mount, scratch, disk):
    disk.freeze()
    point = mount(idmap.idmapped, disk.point, scratch / "mapped")
    Reference(ringwalk, point).check("--source", "auto")
    for source in ("syscall", "auto"):
        command = ("--source", source, "find", "plain", "-printf", "%U %G\n")
        assert set(ringwalk(*command, cwd=point).ok().lines()) == {b"100000 100000"}
    # The source cannot read the mapping, so it declines.
    refused = ringwalk("--source", "ext4", "du", "-s", point)
    assert refused.status == 1 and b"idmapped" in refused.err


def test_an_overlay_above_it(ringwalk, mount, scratch, disk):
    """Files of the overlay have inode numbers of the ext4 below, and no device of their own."""
    for name in ("upper", "scratch"):
        (disk.point / name).mkdir()
    (disk.point / "plain" / "removed").touch()
    layers = ",".join(
        f"{layer}={disk.point / name}"
        for layer, name in (("lowerdir", "plain"), ("upperdir", "upper"), ("workdir", "scratch"))
    )
    options = ("-t", "overlay", "-o", f"noatime,{layers}")
    point = mount(mounts.mounted, scratch / "merged", *options, "none")
    (point / "removed").unlink()
    (point / "new").write_bytes(b"x" * 5000)
    trees.settle(disk.point)
    reference = Reference(ringwalk, point)
    reference.check("--source", "auto")
    assert b"removed" not in reference.answer("names").out
    # The source reads the ext4 with the layers, including whiteouts.
    check(ringwalk, disk.point, questions=answers.FEW)


def test_in_another_mount_namespace(ringwalk, disk, programs):
    """In another mount namespace the mounts of that namespace count."""
    disk.freeze()
    script = (
        "mount -t tmpfs tmpfs plain && touch plain/elsewhere && "
        f"exec {programs}/ringwalk --source $0 find . -printf '%p %i %s\\0'"
    )
    outputs = []
    for source in ("syscall", *SOURCES):
        args = ["unshare", "--mount", "sh", "-c", script, source]
        outputs.append(sorted(run(args, cwd=disk.point).ok().lines(b"\0")))
    names = [line.split(b" ")[0] for line in outputs[0]]
    assert b"./plain/elsewhere" in names and b"./plain/file" not in names
    assert outputs[1:] == [outputs[0]] * len(SOURCES)


@pytest.mark.parametrize("proc", (False, True), ids=("without /proc", "with /proc"))
def test_in_a_chroot(mount, disk, programs, proc):
    """A chroot without the device, and without /proc no mount table: the answers are the same."""
    top = disk.point
    for source in (programs, Path("/lib"), Path("/lib64")):
        if source.is_dir():
            mount(mounts.bind, source, top / source.name)
    (top / "proc").mkdir()
    disk.freeze()
    if proc:
        mount(mounts.mounted, top / "proc", "-t", "proc", "proc")
    outputs = []
    for source in ("syscall", "auto"):
        command = ["chroot", top, "/bin/ringwalk", "--source", source]
        command += ["find", "/", "-xdev", "-type", "f", "-printf", "%p %i %s %b\\0"]
        outputs.append(sorted(run(command).ok().lines(b"\0")))
    assert outputs[0] == outputs[1] and len(outputs[0]) > 100


@pytest.mark.parametrize("lazily", (False, True), ids=("", "lazily"))
def test_unmounting_while_it_is_walked(ringwalk, programs, disk, lazily):
    """Unmounting is refused, or takes effect after the walk, and the walk is complete."""
    trees.make_wide(disk.point / "wide", 2000, prefix="long-enough-to-fill-a-pipe-" + "x" * 100)
    trees.settle(disk.point)
    expected = ringwalk("--source", "syscall", "find", disk.point, "-print0").ok()
    command = [programs / "ringwalk", "--source", "ext4", "find", disk.point, "-print0"]
    pipe = subprocess.PIPE
    with started(command, stdout=pipe, stderr=pipe, bufsize=0) as walk:
        # The program has begun, and waits for its reader.
        first = walk.stdout.read(1)
        umount = ["umount", *(["--lazy"] if lazily else []), disk.point]
        done = subprocess.run(umount, capture_output=True, check=False)
        out, err = walk.communicate(timeout=TIMEOUT)
    assert (done.returncode == 0) == lazily, done.stderr
    assert (walk.returncode, err) == (0, b"")
    assert sorted((first + out).split(b"\0")) == sorted(expected.out.split(b"\0"))


def test_mounts_that_no_path_leads_to(ringwalk, mount, disk):
    """The working directory is covered by another mount."""
    top = disk.point
    mount(mounts.mounted, top / "plain", "-t", "tmpfs", "tmpfs")
    (top / "plain" / "seen").touch()
    directory = os.open(top, os.O_RDONLY)
    try:
        mount(mounts.mounted, top, "-t", "tmpfs", "tmpfs")
        inside = f"/proc/{os.getpid()}/fd/{directory}"
        got = ringwalk("--source", "ext4", "find", ".", cwd=inside)
        assert got.status == 1 and b"something else is mounted above" in got.err
        assert b"plain/file" not in got.out
        assert_sources_agree(ringwalk, ["auto"], "find", ".", "-size", "-9", cwd=inside)
    finally:
        os.close(directory)


def test_a_walk_that_opens_directories_in_any_case(ringwalk, disk):
    """--explain does not count such a walk as one past the VFS."""
    disk.freeze()
    command = ("--source", "ext4", "find", ".", "-depth", "-execdir", "true", ";")
    row = answers.explained(ringwalk, disk.point, *command)["source"]
    assert row.startswith("syscall (asked for: the walk wants"), row
