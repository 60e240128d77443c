"""`hash` and `dupes` against what the standard library finds, and their errors."""

import errno
import hashlib
import os
import stat

import pytest
import ringwalk
from support import interrupted


def files_of(tree) -> list[str]:
    """The regular files, in the order of `ringwalk hash`: depth first, by the bytes of names."""
    found = []
    for name in sorted(os.listdir(os.fsencode(tree))):
        path = os.path.join(tree, os.fsdecode(name))
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode):
            found.append(path)
        elif stat.S_ISDIR(mode):
            found.extend(files_of(path))
    return found


def digest(path) -> bytes:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


@pytest.mark.smoke
def test_hashes_are_those_of_hashlib(tree):
    done = ringwalk.hash(tree, algo="sha256")
    assert [file.path for file in done.files] == files_of(tree)
    assert [file.hash for file in done.files] == [digest(path) for path in files_of(tree)]
    assert done.errors == []


def test_other_hash_functions(tree):
    [file] = ringwalk.hash(os.fsencode(tree / "empty" / ".." / "line\nbreak")).files
    # Of no bytes, as the authors of BLAKE3 and XXH3 publish them.
    assert file.hash.hex().startswith("af1349b9f5f9a1a6a0404dea36dcc949")
    [file] = ringwalk.hash(tree / "line\nbreak", algo="xxh3").files
    assert file.hash.hex() == "99aa06d3014798d86001c324468d497f"


def test_several_paths_and_links(tree):
    paths = [tree / "link", tree / "pipe", tree / "a" / "file3"]
    with pytest.raises(OSError, match="not a regular file") as raised:
        ringwalk.hash(paths)
    assert (raised.value.errno, raised.value.filename) == (errno.EINVAL, str(tree / "pipe"))
    del paths[1]
    found = [file.path for file in ringwalk.hash(paths, workers=2).files]
    assert found == [*files_of(tree / "link"), str(tree / "a" / "file3")]


def test_what_cannot_be_hashed(tree):
    with pytest.raises(FileNotFoundError) as raised:
        ringwalk.hash([tree, tree / "missing"])
    assert raised.value.filename == str(tree / "missing")
    with pytest.raises(ValueError, match="expected 'blake3', 'xxh3' or 'sha256'"):
        ringwalk.hash(tree, algo="md5")
    with pytest.raises(ValueError, match="workers=0"):
        ringwalk.hash(tree, workers=0)


@pytest.fixture
def copies(tree):
    """A tree with copies of a file of 40 bytes, one of which has two names."""
    for name in "copy1", "copy2":
        (tree / "empty" / name).write_bytes((tree / "a" / "file40").read_bytes())
    os.link(tree / "empty" / "copy1", tree / "a" / "b" / "link1")
    os.utime(tree / "a" / "file40", ns=(0, 1_000_000_007))
    return tree


def test_copies_are_found_with_all_their_names(copies):
    found = ringwalk.dupes(copies, min=8)
    assert (found.without_hash, found.errors) == (0, [])
    [group] = found.groups
    assert (group.size, group.freeable) == (40, 80)
    # The oldest is the one to keep.
    first = group.files[0]
    assert first.path == str(copies / "a" / "file40") and first.mtime_ns == 1_000_000_007
    assert [file.keep for file in group.files] == [True, False, False]
    for file in group.files:
        status = os.lstat(file.path)
        assert (file.ino, file.nlink) == (status.st_ino, status.st_nlink)
        assert (file.snapshot, file.reference, file.shares_with) == (None, False, None)
    names = {file.path: file.links for file in group.files}
    linked = str(copies / "a" / "b" / "link1")
    assert names[linked] == [str(copies / "empty" / "copy1")]
    [file] = ringwalk.hash(first.path).files
    assert group.hash == file.hash


def test_files_to_keep(copies):
    [group] = ringwalk.dupes([copies / "a"], keep_in=copies / "empty", min=8).groups
    # One of the two files to keep has a name elsewhere, too.
    assert [file.reference for file in group.files] == [True, True, False]
    assert group.files[2].path == str(copies / "a" / "file40") and group.freeable == 40
    assert ringwalk.dupes(copies / "a", min=8).groups != []
    assert ringwalk.dupes(copies / "a" / "b", min=8).groups == []


def test_names_that_are_not_utf8_can_be_opened(copies):
    (copies / "same").write_bytes(b"12345")
    [group] = [group for group in ringwalk.dupes(copies).groups if group.size == 5]
    assert [digest(file.path) for file in group.files] == [hashlib.sha256(b"12345").digest()] * 2
    assert any("\udcff" in file.path for file in group.files)


def test_what_cannot_be_searched(copies, tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        ringwalk.dupes([copies, copies / "missing"])
    assert raised.value.filename == str(copies / "missing")
    with pytest.raises(NotADirectoryError):
        ringwalk.dupes(copies, keep_in=[copies / "a" / "file1"])
    with pytest.raises(ValueError, match="file1"):
        ringwalk.dupes(copies / "a" / "file1")
    ringwalk.snapshot(copies, tmp_path / "saved")
    for roots in [copies, tmp_path / "saved"], tmp_path / "saved":
        with pytest.raises(ValueError, match="saved: the snapshot has no hashes"):
            ringwalk.dupes(roots)
    with pytest.raises(FileNotFoundError):
        ringwalk.dupes(copies, keep_in="")


@pytest.mark.parametrize("call", ["hash(sys.argv[1])", "dupes(sys.argv[1])"])
def test_ctrl_c_ends_the_work(tmp_path, call):
    """Files so large that reading them takes minutes; they take no space."""
    for number in range(2):
        with open(tmp_path / f"large{number}", "wb") as file:
            file.truncate(64 << 30)
            # A file system can say where holes are, and holes are not read.
            for place in range(0, 64 << 30, 64 << 20):
                os.pwrite(file.fileno(), b"x", place)
    script = f"""
import sys, ringwalk
print("ready", flush=True)
try:
    ringwalk.{call}
except KeyboardInterrupt:
    print("interrupted")
"""
    status, answer = interrupted(script, tmp_path)
    assert (status, answer) == (0, "interrupted\n")
