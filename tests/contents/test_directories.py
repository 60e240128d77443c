"""`ringwalk dupes --dirs`: directories with the same contents, and similar ones."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from support import mounts
from support.copies import path_of
from support.run import NOBODY

KIB = 1 << 10


def make(top, files):
    """Makes files by their paths: bytes, or another path that they are a link to."""
    for name, data in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, str):
            path.symlink_to(data)
        else:
            path.write_bytes(data)


ALBUM = {"one": b"1" * 5000, "deep/two": b"2" * 300, "deep/er/three": b"3", "link": "one"}


@pytest.fixture
def top(scratch):
    """Two equal albums, and a file beside them."""
    top = scratch / "top"
    for name in ("a", "b"):
        make(top / name, ALBUM)
    make(top, {"alone": b"alone"})
    return top


def directories(result):
    """Returns the groups of directories as sets of paths."""
    groups = json.loads(result.ok().out)["directories"]
    return {frozenset(path_of(each) for each in group["directories"]) for group in groups}


def paths(*groups):
    return {frozenset(map(os.fsencode, group)) for group in groups}


def test_only_the_topmost_are_shown(dupes, top):
    result = dupes("--dirs", "--format=json", ".", cwd=top)
    assert directories(result) == paths(["./a", "./b"])
    (group,) = json.loads(result.out)["directories"]
    assert (group["size"], group["files"]) == (5301, 3)
    assert dupes("--dirs", ".", cwd=top).ok().out.decode() == (
        "2 directories with the same 3 files, 5.2K each\n  ./a\n  ./b\n\n"
        "3 groups of equal files, 3 copies too many, 5.2K to free\n"
    )
    assert "directories" not in dupes(".", cwd=top).ok().out.decode()
    assert json.loads(dupes("--format=json", top).out)["directories"] == []


@pytest.mark.parametrize(
    "change",
    (
        {"b/deep/er/three": b"4"},
        {"b/deep/er/four": b"3"},
        {"b/empty": b""},
        {"b/deep/folder/file": b"1"},
        {"b/two links": "one"},
    ),
)
def test_any_difference_counts(dupes, top, change):
    make(top, change)
    found = directories(dupes("--dirs", "--format=json", ".", cwd=top))
    inner = {"b/deep/er/three": [], "b/deep/er/four": []}
    changed = next(iter(change))
    if changed in inner:
        assert found == set()
    elif changed.startswith("b/deep"):
        assert found == paths(["./a/deep/er", "./b/deep/er"])
    else:
        assert found == paths(["./a/deep", "./b/deep"])


def test_names_and_types_count(dupes, top):
    (top / "b" / "deep" / "two").rename(top / "b" / "deep" / "other name")
    assert directories(dupes("--dirs", "--format=json", ".", cwd=top)) == paths(
        ["./a/deep/er", "./b/deep/er"]
    )
    (top / "b" / "deep" / "other name").rename(top / "b" / "deep" / "two")
    (top / "b" / "link").unlink()
    (top / "b" / "link").symlink_to("deep")
    assert directories(dupes("--dirs", "--format=json", ".", cwd=top)) == paths(
        ["./a/deep", "./b/deep"]
    )
    os.mkfifo(top / "a" / "deep" / "pipe")
    (top / "b" / "deep" / "pipe").touch()
    assert directories(dupes("--dirs", "--format=json", ".", cwd=top)) == paths(
        ["./a/deep/er", "./b/deep/er"]
    )


def test_empty_directories_and_small_files(dupes, top):
    """An empty directory inside is a part of the contents; --min is about what is reported."""
    for name in ("a", "b"):
        (top / name / "nothing").mkdir()
    (top / "empty").mkdir()
    assert directories(dupes("--dirs", "--format=json", ".", cwd=top)) == paths(["./a", "./b"])
    result = dupes("--dirs", "--min=4K", "--format=json", ".", cwd=top)
    assert directories(result) == paths(["./a", "./b"])
    assert [group["size"] for group in json.loads(result.out)["groups"]] == [5000]
    (top / "b" / "deep" / "two").write_bytes(b"?" * 300)
    found = directories(dupes("--dirs", "--min=4K", "--format=json", ".", cwd=top))
    assert not any(os.fsencode("./b") in group for group in found)


def test_three_directories_and_more_files(dupes, top):
    shutil.copytree(top / "a", top / "elsewhere" / "c", symlinks=True)
    shutil.copy(top / "a" / "one", top / "loose")
    result = dupes("--dirs", ".", cwd=top).ok().out.decode()
    assert "3 directories with the same 3 files" in result
    # A group that has a file outside of them is shown.
    assert "4 copies of 4.9K" in result and "  ./loose\n" in result
    assert "copies of 300" not in result


def test_a_directory_that_may_not_be_read_is_like_no_other(dupes, top, needs_root):
    (top / "b" / "deep" / "er").chmod(0)
    result = dupes("--dirs", "--format=json", ".", cwd=top, uid=65534)
    assert result.status == 1
    assert json.loads(result.out)["directories"] == []


def test_a_directory_that_two_mounts_show_is_no_copy(dupes, top, mount):
    (top / "mounted").mkdir()
    (top / "b" / "deep" / "two").write_bytes(b"?")
    mount(mounts.bind, top / "a", top / "mounted")
    found = directories(dupes("--dirs", "--format=json", ".", cwd=top))
    assert found == paths(["./a/deep/er", "./b/deep/er"])
    assert directories(dupes("--dirs", "--format=json", "a", "mounted", cwd=top)) == set()
    (top / "a" / "alone").write_bytes(b"like no other")
    assert similar(dupes("--dirs=50%", "--format=json", "a", "mounted", cwd=top)) == set()


def test_copies_below_a_directory_that_two_mounts_show(dupes, scratch, mount):
    make(scratch, {"a/one/file": b"1" * 500, "a/two/file": b"1" * 500, "mounted/file": b"?"})
    mount(mounts.bind, scratch / "a", scratch / "mounted")
    found = directories(dupes("--dirs", "--format=json", "a", "mounted", cwd=scratch))
    assert found == paths(["a/one", "a/two"])


def similar(result):
    """Returns the pairs of similar directories with their shares."""
    pairs = json.loads(result.ok().out)["similar"]
    return {
        (pair["percent"], *(path_of(each).decode() for each in pair["directories"]))
        for pair in pairs
    }


def test_similar_directories(dupes, scratch):
    top = scratch / "top"
    for name in ("a", "b"):
        files = {f"{number}": bytes([number + 1]) * 10 * KIB for number in range(9)}
        make(top / name, {**files, "own": name.encode() * 10 * KIB})
    words = ("--format=json", ".")
    assert similar(dupes("--dirs=90%", *words, cwd=top)) == {(90, "./a", "./b")}
    assert similar(dupes("--dirs=50", *words, cwd=top)) == {(90, "./a", "./b")}
    assert similar(dupes("--dirs=91%", *words, cwd=top)) == set()
    assert similar(dupes("--dirs", *words, cwd=top)) == set()
    assert similar(dupes("--dirs=100%", *words, cwd=top)) == set()
    assert (
        dupes("--dirs=90%", ".", cwd=top)
        .ok()
        .out.decode()
        .startswith("2 directories with 90 % in common, 90K\n  ./a  (100K)\n  ./b  (100K)\n\n")
    )
    # The larger one counts.
    (top / "b" / "more").write_bytes(b"m" * 100 * KIB)
    assert similar(dupes("--dirs=90%", *words, cwd=top)) == set()
    assert similar(dupes("--dirs=40%", *words, cwd=top)) == {(45, "./a", "./b")}


def test_similar_directories_of_other_depths(dupes, scratch):
    """A copy in which all files lie in one directory."""
    top = scratch / "top"
    for number in range(6):
        data = bytes([number + 1]) * 10 * KIB
        make(top, {f"a/year {number // 3}/{number}": data, f"b/{number}": data})
    words = ("--format=json", ".")
    for share in (1, 40, 60, 99):
        found = similar(dupes(f"--dirs={share}%", *words, cwd=top))
        # Pairs that lie in it are not reported.
        assert found == {(100, "./a", "./b")}
    make(top, {"a/year 0/more": b"m" * 60 * KIB})
    assert similar(dupes("--dirs=50%", *words, cwd=top)) == {
        (50, "./a", "./b"),
    }
    assert similar(dupes("--dirs=51%", *words, cwd=top)) == set()
    # One with a part of the other.
    (top / "a" / "year 0" / "more").rename(top / "a" / "more")
    make(top, {"a/other": b"o" * 60 * KIB})
    assert similar(dupes("--dirs=50%", *words, cwd=top)) == {
        (50, "./a/year 0", "./b"),
        (50, "./a/year 1", "./b"),
    }


@pytest.mark.parametrize("referred", (False, True))
@pytest.mark.parametrize("seed", range(6))
def test_no_similar_pair_is_missed(dupes, scratch, seed, referred):
    """All pairs of directories, compared file by file."""
    random = Random(seed)
    top = scratch / "top"
    folders = [top]
    for number in range(12):
        folders.append(random.choice(folders) / f"d{number}")
    contents = [random.randbytes(random.randrange(1, 300)) for _ in range(14)]
    copies = {}
    for number in range(40):
        content = random.choice(contents)
        # More than 16 copies lead to no pair.
        if copies.get(content, 0) < 16:
            copies[content] = copies.get(content, 0) + 1
            make(random.choice(folders), {f"f{number}": content})
    below = {}
    for folder in folders:
        if folder.exists():
            files = [path for path in folder.rglob("*") if path.is_file()]
            below[folder] = Counter(path.read_bytes() for path in files)
    reference = random.choice(sorted(set(below) - {top})) if referred else top
    options = ("--format=json", top, *(("--keep-in", reference) if referred else ()))

    def within(inner, outer):
        return inner == outer or outer in inner.parents

    def is_shown(pair):
        return any(within(each, reference) for each in pair)

    for share in (5, 30, 60, 90):
        expected = set()
        for one, other in itertools.combinations(sorted(below), 2):
            if one in other.parents or other in one.parents or not is_shown((one, other)):
                continue
            common = below[one] & below[other]
            sizes = [
                sum(len(data) * count for data, count in each.items())
                for each in (common, below[one], below[other])
            ]
            if sizes[1] and sizes[2] and sizes[0] * 100 // max(sizes[1:]) >= share:
                expected.add((one, other))
        same = directories(dupes("--dirs", *options))
        groups = [{Path(os.fsdecode(each)) for each in group} for group in same]

        def lies_in(pair, above):
            (a, b), (x, y) = pair, above
            return (within(a, x) and within(b, y)) or (within(a, y) and within(b, x))

        pairs = [pair for group in groups for pair in itertools.combinations(sorted(group), 2)]
        # Of a group, one lies in the reference, and two others may not.
        equal = [pair for pair in pairs if is_shown(pair)]
        topmost = {
            pair
            for pair in expected
            if not any(lies_in(pair, each) for each in expected - {pair})
            and not any(lies_in(pair, each) for each in equal)
        }
        found = {
            (Path(one), Path(other))
            for _, one, other in similar(dupes(f"--dirs={share}%", *options))
        }
        assert found == topmost, share


def test_similar_directories_that_two_mounts_show(dupes, scratch, mount):
    """Each pair is shown once. What a mount shows of a directory is no copy that hides a pair."""
    album = b"1" * 9000
    make(scratch, {"a/x/one": album, "a/y/two": album, "a/y/more": b"2", "mounted/file": b"?"})
    mount(mounts.bind, scratch / "a", scratch / "mounted")
    expected = {(99, "./a/x", "./a/y")}
    assert similar(dupes("--dirs=90%", "--format=json", ".", cwd=scratch)) == expected
    (scratch / "b").mkdir()
    shutil.copytree(scratch / "a", scratch / "b" / "a")
    make(scratch, {"b/a/y/other": b"3"})
    expected = {(99, "./a/x", "./a/y"), (99, "./a", "./b"), (99, "./b/a/x", "./b/a/y")}
    assert similar(dupes("--dirs=90%", "--format=json", ".", cwd=scratch)) == expected


def test_directories_of_snapshots(dupes, ringwalk, top, scratch):
    snapshot = scratch / "old"
    ringwalk("hash", "a", "--save", snapshot, cwd=top).ok()
    shutil.rmtree(top / "a")
    result = dupes("--dirs", "--format=json", "b", snapshot, cwd=top)
    # Only files whose size another one had are hashed.
    assert result.status == 1
    ringwalk("hash", "--all", "b", "--save", snapshot, cwd=top).ok()
    shutil.copytree(top / "b", top / "c", symlinks=True)
    shutil.rmtree(top / "b")
    # The paths of snapshots are absolute.
    result = dupes("--dirs", "--format=json", "c", snapshot, cwd=top)
    assert directories(result) == paths([str(top / "b"), "c"])


def test_with_a_reference_one_of_a_group_lies_in_it(dupes, top):
    result = dupes("--dirs", "--format=json", ".", "--keep-in", "a", cwd=top)
    assert directories(result) == paths(["./a", "./b"])
    # What is not shown hides nothing below it.
    result = dupes("--dirs", "--format=json", ".", "--keep-in", "a/deep", cwd=top)
    assert directories(result) == paths(["./a/deep", "./b/deep"])
    shutil.copytree(top / "a", top / "c", symlinks=True)
    os.mkdir(top / "reference")
    result = dupes("--dirs", "--format=json", ".", "--keep-in", "reference", cwd=top)
    assert directories(result) == set()
    shutil.copytree(top / "a", top / "reference" / "album", symlinks=True)
    result = dupes("--dirs", "--format=json", ".", "--keep-in", "reference", cwd=top)
    assert directories(result) == paths(["./a", "./b", "./c", "./reference/album"])


def test_with_a_reference_one_of_a_similar_pair_lies_in_it(dupes, top):
    (top / "b" / "deep" / "two").write_bytes(b"other")
    for reference, expected in (("a", 1), ("b", 1), ("c", 0)):
        (top / reference).mkdir(exist_ok=True)
        command = ("--dirs=90%", "--format=json", ".", "--keep-in", reference)
        assert len(json.loads(dupes(*command, cwd=top).ok().out)["similar"]) == expected


def test_files_that_say_that_they_are_empty(dupes, mount, scratch, needs_root):
    """Programs behind FUSE can make up contents when a file is read, as the kernel does."""
    source = scratch / "fuse-source"
    for name in ("a", "b", "c", "d"):
        make(source / name, {"file": b"same", "empty": b""})
    mount(mounts.bind, Path("/proc/version"), source / "a" / "empty")
    mount(mounts.bind, Path("/proc/meminfo"), source / "b" / "empty")
    point = mount(mounts.fuse, scratch, "direct_io")
    result = dupes("--dirs", "--format=json", ".", cwd=point)
    assert directories(result) == paths(["./c", "./d"])


def test_files_of_snapshots_that_said_that_they_are_empty(
    dupes, ringwalk, mount, scratch, needs_root
):
    source = scratch / "fuse-source"
    for name in ("a", "b", "c", "d"):
        make(source / name, {"file": b"same", "empty": b""})
    mount(mounts.bind, Path("/proc/version"), source / "a" / "empty")
    mount(mounts.bind, Path("/proc/cmdline"), source / "b" / "empty")
    point = mount(mounts.fuse, scratch, "direct_io")
    for name in ("e", "f"):
        make(source / name, {"file": b"same"})
    snapshot = scratch / "snapshot"
    ringwalk("hash", "--all", ".", "--save", snapshot, cwd=point).ok()
    result = dupes("--dirs", "--format=json", snapshot)
    assert directories(result) == paths([point / "e", point / "f"])


def test_empty_files_that_cannot_be_opened(dupes, top, needs_root):
    for name in ("a", "b"):
        (top / name / "empty").touch(mode=0)
    result = dupes("--dirs", "--format=json", ".", cwd=top, uid=NOBODY)
    assert directories(result) == paths(["./a", "./b"])
