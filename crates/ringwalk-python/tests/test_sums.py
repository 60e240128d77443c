"""`du` and `count` against what the standard library finds."""

import os
import stat
import sys

import pytest
import ringwalk
from processes import finished
from support import listed

KINDS = {
    "file": stat.S_ISREG,
    "directory": stat.S_ISDIR,
    "symlink": stat.S_ISLNK,
    "fifo": stat.S_ISFIFO,
    "socket": stat.S_ISSOCK,
    "block_device": stat.S_ISBLK,
    "character_device": stat.S_ISCHR,
}


def has_size(status: os.stat_result) -> bool:
    """Whether POSIX says what the size of such a file is."""
    return stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)


@pytest.mark.smoke
def test_du_counts_each_file_once(tree):
    files = {(status.st_dev, status.st_ino): status for status in listed(tree).values()}
    usage = ringwalk.du(tree)
    assert usage.entries == len(files) == len(listed(tree)) - 1, "one has two names"
    sizes = [status.st_size for status in files.values() if has_size(status)]
    assert usage.apparent_size == sum(sizes)
    assert usage.allocated_size == sum(status.st_blocks * 512 for status in files.values())
    assert usage.errors == []
    assert repr(usage).startswith(f"Usage(apparent_size={usage.apparent_size}, ")


def test_du_of_a_file_and_of_a_link(tree):
    assert ringwalk.du(tree / "a" / "file9").apparent_size == 9
    assert ringwalk.du(tree / "link").entries == ringwalk.du(tree / "a").entries
    alone = ringwalk.du(tree / "link", follow="never")
    assert (alone.entries, alone.apparent_size) == (1, 1)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root")
@pytest.mark.parametrize("follow", ["never", "roots", "always"])
def test_du_counts_a_directory_mounted_below_itself_once(tmp_path, follow):
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(b"x" * 1000)
    script = f"""
import ringwalk
for path in "a", "a/b":
    usage = ringwalk.du(path, follow={follow!r})
    print(usage.entries, usage.apparent_size, usage.errors)
print(ringwalk.count("a").entries, ringwalk.count("a/b").entries)
"""
    command = ["unshare", "--mount", "sh", "-c", 'mount --bind a a/b/c && exec "$@"', "sh"]
    if finished([*command, "true"], cwd=tmp_path, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    command += [sys.executable, "-c", script]
    done = finished(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["3 1000 []", "3 1000 []", "6 5"], done.stderr


def test_du_of_what_links_lead_to(tree):
    (tree / "a" / "up").symlink_to("..")
    files = {(status.st_dev, status.st_ino): status for status in listed(tree).values()}
    links = sum(stat.S_ISLNK(status.st_mode) for status in files.values())
    usage = ringwalk.du(tree, follow="always")
    assert usage.entries == len(files) - links
    assert [(error.errno, error.filename) for error in usage.errors] == [
        (2, os.fspath(tree / "dangling"))
    ]


@pytest.mark.smoke
def test_count_counts_every_name_below(tree):
    below = listed(tree)
    below.pop(os.fspath(tree))
    count = ringwalk.count(tree)
    directories = sum(stat.S_ISDIR(status.st_mode) for status in below.values())
    assert (count.entries, count.directories) == (len(below), directories)
    assert count.files == len(below) - directories
    assert count.apparent_size == sum(status.st_size for status in below.values())
    assert count.allocated_size == sum(status.st_blocks * 512 for status in below.values())
    for word, is_one in KINDS.items():
        expected = sum(is_one(status.st_mode) for status in below.values())
        assert count.types[word] == expected, word
    assert count.types["unknown"] == 0 and count.errors == []
    names = ringwalk.count(tree, stat=False)
    assert (names.apparent_size, names.allocated_size) == (None, None)
    assert (names.entries, names.files, names.types) == (count.entries, count.files, count.types)
    assert repr(names).startswith(f"Count(entries={count.entries}, files={count.files}, ")


@pytest.mark.parametrize("function", [ringwalk.du, ringwalk.count])
@pytest.mark.parametrize("convert", [os.fspath, os.fsencode])
def test_what_is_not_there_is_an_exception_with_the_path_given(tmp_path, function, convert):
    missing = convert(tmp_path / "missing")
    with pytest.raises(FileNotFoundError) as raised:
        function(missing)
    assert raised.value.filename == missing


def test_a_file_cannot_be_counted_below(tree):
    with pytest.raises(NotADirectoryError):
        ringwalk.count(tree / "a" / "file1")


@pytest.mark.parametrize("function", [ringwalk.du, ringwalk.count])
def test_what_cannot_be_read_is_told_and_the_rest_counts(tree, function):
    top = tree / "a"
    (top / "loop").symlink_to("loop")
    result = function(top, follow="always")
    assert [str(error) for error in result.errors] == [
        f"[Errno 40] Too many levels of symbolic links: '{top}/loop'"
    ]
    assert type(result.errors[0]) is OSError
    as_bytes = function(os.fsencode(top), follow="always")
    assert [error.filename for error in as_bytes.errors] == [os.fsencode(top) + b"/loop"]


@pytest.mark.parametrize("workers", [1, 3])
def test_options(tree, workers):
    options = {"workers": workers, "source": "syscall", "one_file_system": True}
    assert ringwalk.du(tree, **options).entries == len(listed(tree)) - 1
    assert ringwalk.count(tree, **options).entries == len(listed(tree)) - 1
    for function in (ringwalk.du, ringwalk.count):
        for wrong in ({"source": "tape"}, {"workers": 0}, {"follow": "links"}):
            with pytest.raises(ValueError, match="tape|workers|follow"):
                function(tree, **wrong)


def test_sums_are_whole_numbers_of_any_size(tmp_path):
    for number in range(4):
        with open(tmp_path / f"sparse{number}", "wb") as file:
            try:
                os.truncate(file.fileno(), 2**43)
            except OSError:
                pytest.skip("no files so large here")
    assert ringwalk.count(tmp_path).apparent_size == 4 * 2**43
    assert ringwalk.du(tmp_path).apparent_size == 4 * 2**43
