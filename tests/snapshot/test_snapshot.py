"""`ringwalk snapshot`: the same bytes each time, files that appear whole, errors."""

from __future__ import annotations

import os
import random
import time

import pytest
from processes import end, started
from support import images, mounts, trees
from support.constant import constant
from support.marks import long
from support.run import USER, Program, environment, with_peak


@pytest.fixture
def snapshot(ringwalk) -> Program:
    """`ringwalk snapshot`."""
    return ringwalk.with_args("snapshot")


@pytest.mark.parametrize("workers", (1, 2, 8))
def test_same_bytes_for_every_number_of_workers(snapshot, tree, scratch, workers):
    first, other = scratch / "first", scratch / "other"
    snapshot("--source=syscall", "--workers", 1, tree, "-o", first).ok()
    snapshot("--source=syscall", "--workers", workers, tree, "-o", other).ok()
    assert constant(first) == constant(other)


@pytest.mark.smoke
def test_memory_changes_no_byte(snapshot, tree, scratch):
    first, other = scratch / "first", scratch / "other"
    snapshot(tree, "-o", first).ok()
    snapshot("--memory", 0, tree, "-o", other).ok()
    assert constant(first) == constant(other)


@pytest.mark.parametrize("kind", ("ext4", "xfs", "btrfs"))
def test_same_bytes_for_every_source(snapshot, mount, scratch, kind):
    top = mount(mounts.image, kind, scratch / "work")
    trees.RandomTree(top / "tree", 5)
    os.link(next(path for path in (top / "tree").rglob("*") if path.is_file()), top / "link")
    trees.settle(top)
    results = {}
    for source in ("syscall", kind):
        for workers in (1, 2, 8):
            file = scratch / f"{source}-{workers}"
            snapshot("--sync", "--source", source, "--workers", workers, top, "-o", file).ok()
            results[source, workers] = constant(file)
    assert len(set(results.values())) == 1, list(results)


def test_the_output_is_not_part_of_the_snapshot(snapshot, scratch):
    top = scratch / "top"
    trees.RandomTree(top, 9, alphabet=trees.LINE_BYTES)
    entries = 1 + sum(len(folders) + len(files) for _, folders, files in os.walk(top))
    for _ in range(3):
        snapshot(top, "-o", top / "out.parquet").ok()
        data = constant(top / "out.parquet")
        assert b"out.parquet" not in data
        assert b'"entries":%d}' % entries in data
    assert [name for name in os.listdir(top) if "out.parquet" in name] == ["out.parquet"]


@pytest.mark.usefixtures("needs_root")
def test_nor_is_the_new_file_where_it_has_a_name_meanwhile(ringwalk, snapshot, mount, scratch):
    """bindfs has no files without a name, so the output is in the tree under another name."""
    top = mount(mounts.fuse, scratch / "work")
    (top / "folder").mkdir()
    for _ in range(2):
        snapshot(top, "-o", top / "folder" / "out.parquet").ok()
        found = ringwalk("find", "--from", top / "folder" / "out.parquet").ok().out
        assert found == b"%s\n%s/folder\n" % (os.fsencode(top), os.fsencode(top))


@pytest.mark.usefixtures("needs_root")
def test_a_system_without_proc(ringwalk, scratch):
    """Files without a name get one by /proc."""
    file = scratch / "out.parquet"
    hidden = 'mount -t tmpfs none /proc && exec "$@"'
    program = Program("unshare", "-m", "sh", "-c", hidden, "sh", *ringwalk.first)
    (scratch / "top").mkdir()
    for _ in range(2):
        program("snapshot", scratch / "top", "-o", file).ok()
        assert sorted(path.name for path in scratch.iterdir()) == ["out.parquet", "top"]
    ringwalk("find", "--from", file).ok()


@pytest.mark.parametrize("times", (25, *long(250)))
def test_killed_at_random_moments(ringwalk, scratch, times):
    top = scratch / "top"
    trees.RandomTree(top, 7, entries=2000)
    out = scratch / "out"
    out.mkdir()
    file, old = out / "snapshot", b"the old file"
    command = [*ringwalk.first, "snapshot", top, "-o", file]
    begin = time.monotonic()
    Program(*command)().ok()
    longest = time.monotonic() - begin
    new = constant(file)
    random.seed(3)
    outcomes = {"old": 0, "new": 0}
    for _ in range(times):
        file.write_bytes(old)
        with started(command, env=environment()) as process:
            time.sleep(random.uniform(0, 1.1 * longest))
            end(process)
        if file.read_bytes() == old:
            outcomes["old"] += 1
        else:
            outcomes["new"] += 1
            assert constant(file) == new
    assert outcomes["old"] > 0
    # A name that a killed program leaves behind is hidden.
    assert all(name == "snapshot" or name.startswith(".") for name in os.listdir(out))


def test_a_full_disk(snapshot, tree, mount, scratch):
    disk = scratch / "disk"
    mount(mounts.mounted, disk, "-t", "tmpfs", "-o", "size=32k", "tmpfs")
    file = disk / "snapshot"
    file.write_bytes(b"old")
    result = snapshot(tree, "-o", file)
    assert result.status == 2
    assert b"No space left on device" in result.err and os.fsencode(file) in result.err
    assert file.read_bytes() == b"old" and os.listdir(disk) == ["snapshot"]


def test_no_room_for_listings(ringwalk, tree, mount, scratch):
    disk = scratch / "disk"
    mount(mounts.mounted, disk, "-t", "tmpfs", "-o", "size=8k", "tmpfs")
    file = scratch / "snapshot"
    result = ringwalk("snapshot", "--memory", 0, tree, "-o", file, env={"TMPDIR": os.fspath(disk)})
    said = b"cannot keep listings: cannot write a temporary file in " + os.fsencode(disk)
    assert result.status == 2 and said + b": No space left" in result.err
    assert not file.exists()


def test_a_folder_that_cannot_be_written(snapshot, text_tree, scratch):
    folder = scratch / "folder"
    folder.mkdir()
    (folder / "snapshot").write_bytes(b"old")
    folder.chmod(0o555)
    scratch.chmod(0o755)
    result = snapshot(text_tree, "-o", folder / "snapshot", uid=USER)
    assert result.status == 2 and b"Permission denied" in result.err
    assert (folder / "snapshot").read_bytes() == b"old"


def test_unreadable_directories_are_rows_and_errors(snapshot, scratch):
    top = scratch / "top"
    (top / "closed").mkdir(parents=True)
    (top / "open").mkdir()
    (top / "closed").chmod(0)
    scratch.chmod(0o777)
    result = snapshot(top, "-o", scratch / "snapshot", uid=USER)
    assert result.status == 1
    closed = os.fsencode(top / "closed")
    assert b"cannot open directory '%s': Permission denied" % closed in result.err
    data = constant(scratch / "snapshot")
    assert b'"complete":false,"errors":1,"entries":3' in data


def test_bad_input(snapshot, tree, scratch):
    file = scratch / "snapshot"
    file.write_bytes(b"old")
    inner = next(path for path in tree.iterdir() if path.is_dir() and not path.is_symlink())
    for args, said in (
        ((tree / "missing", "-o", file), b"No such file or directory"),
        ((tree, inner, "-o", file), b"lies within"),
        ((inner, tree, "-o", file), b"lies within"),
        ((tree, "-o", scratch), b"Is a directory"),
        ((tree, "-o", "/dev/null"), b"not a regular file"),
        ((tree, "-o", scratch / "no" / "file"), b"No such file or directory"),
        ((tree, "--memory", "much", "-o", file), b"expected a number of bytes"),
        ((tree,), b"--output"),
        (("-o", file), b"ROOT"),
    ):
        result = snapshot(*args)
        assert result.status == 2, args
        assert said in result.err and b"panicked" not in result.err, result
        assert file.read_bytes() == b"old"


def test_a_root_within_another_one_through_a_mount(snapshot, mount, scratch):
    first, second = scratch / "first", scratch / "second"
    (first / "point").mkdir(parents=True)
    second.mkdir()
    mount(mounts.mounted, first / "point", "--bind", second)
    result = snapshot(first, second, "-o", scratch / "snapshot")
    assert result.status == 2 and b"lies within" in result.err
    assert not (scratch / "snapshot").exists()


def test_a_directory_within_itself_is_not_entered(snapshot, mount, scratch):
    top = scratch / "top"
    (top / "a" / "point").mkdir(parents=True)
    mount(mounts.mounted, top / "a" / "point", "--bind", top)
    snapshot(top, "-o", scratch / "snapshot").ok()
    data = constant(scratch / "snapshot")
    assert b'"complete":true,"errors":0,"entries":3' in data


def test_a_tree_that_is_too_deep(snapshot, scratch):
    with trees.deep_tree(scratch / "deep", 90, b"d" * 200) as top:
        result = snapshot(top, "-o", scratch / "snapshot")
    assert result.status == 1 and b"File name too long" in result.err
    data = constant(scratch / "snapshot")
    # The root, 76 directories that were read, and one whose contents may not fit in 16 384 bytes.
    assert b'"complete":false,"errors":1,"entries":78' in data, data[-3000:]


def test_very_many_extended_attributes(ringwalk, snapshot, mount, scratch):
    # Without access times, and XFS takes any number of values of 64 KiB.
    top = mount(images.fresh, "xfs", scratch / "work", "", "noatime", 512).point / "top"
    top.mkdir()

    def make(name: str, values: int) -> None:
        (top / name).touch()
        for number in range(values):
            os.setxattr(top / name, f"user.{number}", bytes([number % 64]) * 65536)

    for name in range(60):
        make(str(name), 60)
    words = [*ringwalk.first, "snapshot", "--xattrs", top, "-o", scratch / "all"]
    _, peak = with_peak(words)
    # The attributes have 236 MB.
    assert peak < 180 << 20
    # 64 MiB of values, and names.
    make("most", 1024)
    result = snapshot("--xattrs", top, "-o", scratch / "snapshot")
    assert result.status == 1 and result.err.count(b"\n") == 1
    assert b"attributes of '%s/most': Argument list too long" % os.fsencode(top) in result.err
    assert b'"complete":false,"errors":1,"entries":62' in constant(scratch / "snapshot")


def test_output_where_other_files_have_its_inode_number(ringwalk, mount, scratch):
    """They were taken for the output, and were missing in the snapshot with status 0."""
    top = mount(mounts.two_below_one, scratch / "work")
    for half in ("1", "2"):
        (top / half / "output").write_text("old")
        (top / half / "lost+found").rmdir()
    # One of these gets the inode number of the new file.
    for number in range(3):
        (top / "2" / f"file{number}").touch()
    inodes = {(top / half / "output").stat().st_ino for half in ("1", "2")}
    assert len(inodes) == 1
    ringwalk("snapshot", top, "-o", top / "1" / "output").ok()
    found = ringwalk("find", "--from", top / "1" / "output", "-printf", "%P\\n").ok()
    names = {b"", b"1", b"2", b"2/output", b"2/file0", b"2/file1", b"2/file2"}
    assert set(found.out.split(b"\n")) == names
