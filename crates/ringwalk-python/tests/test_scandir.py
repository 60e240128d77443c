"""scandir gives what os.scandir gives."""

import contextlib
import doctest
import gc
import os
import pathlib
import stat
import threading
import warnings

import pytest
import ringwalk
from support import in_child, run


def facts(entry):
    """Returns everything that an entry reports, errors included."""

    def ask(method, *arguments, **options):
        try:
            return getattr(entry, method)(*arguments, **options)
        except OSError as error:
            return type(error), error.errno, error.filename

    told = [entry.name, entry.path, os.fspath(entry), repr(entry), ask("inode"), ask("is_symlink")]
    for method in "is_dir", "is_file", "stat":
        told += [ask(method), ask(method, follow_symlinks=False)]
    return told


@pytest.fixture
def tree(tmp_path):
    top = tmp_path / "top"
    (top / "directory").mkdir(parents=True)
    (top / "file").write_text("text")
    os.mkfifo(top / "fifo")
    for name, target in [
        ("link", "file"),
        ("to directory", "directory"),
        ("dangling", "nowhere"),
        ("loop", "loop"),
    ]:
        (top / name).symlink_to(target)
    for name in b"\xff\xfe", "é".encode(), b" ", b"a\nb", b"x" * 255:
        open(os.path.join(os.fsencode(top), name), "w").close()
    os.symlink(b"x" * 300, os.path.join(os.fsencode(top), b"too long"))
    # The first reading of a link sets its atime (relatime in mount(8)), which is in a stat result.
    for name in os.listdir(top):
        if os.path.islink(top / name):
            os.readlink(top / name)
    return top


@pytest.mark.parametrize(
    "kind",
    [str, os.fsencode, pathlib.Path, lambda p: str(p) + "/", lambda p: os.fsencode(p) + b"//"],
)
def test_entries_tell_what_those_of_os_scandir_tell(tree, kind):
    with ringwalk.scandir(kind(tree)) as ours, os.scandir(kind(tree)) as theirs:
        assert [facts(entry) for entry in ours] == [facts(entry) for entry in theirs]


def test_descriptors(tree):
    fd = os.open(tree, os.O_RDONLY)
    try:
        for _ in range(2):
            # The position is shared, and set back at the end.
            with ringwalk.scandir(fd) as ours, os.scandir(fd) as theirs:
                assert [facts(entry) for entry in ours] == [facts(entry) for entry in theirs]
        with ringwalk.scandir(fd) as begun:
            next(begun)
        assert sorted(entry.name for entry in ringwalk.scandir(fd)) == sorted(os.listdir(fd))
        os.fstat(fd)
    finally:
        os.close(fd)
    with pytest.raises(OSError, match="Bad file descriptor") as caught:
        ringwalk.scandir(fd)
    assert (caught.value.errno, caught.value.filename) == (9, fd)
    with open(tree / "file") as file, pytest.raises(NotADirectoryError):
        ringwalk.scandir(file.fileno())
    with pytest.raises(OverflowError):
        ringwalk.scandir(1 << 40)


def test_the_working_directory(tree, monkeypatch):
    monkeypatch.chdir(tree)
    for arguments in (), (".",), (None,), ("./",):
        ours, theirs = ringwalk.scandir(*arguments), os.scandir(*arguments)
        assert [facts(entry) for entry in ours] == [facts(entry) for entry in theirs]


@pytest.mark.parametrize(
    "path",
    ["nowhere", "file", "", "file/", b"nowhere", pathlib.Path("nowhere"), "x" * 5000, "a\0b"],
)
def test_errors_are_those_of_os_scandir(tree, monkeypatch, path):
    monkeypatch.chdir(tree)
    raised = []
    for scandir in ringwalk.scandir, os.scandir:
        with pytest.raises((OSError, ValueError)) as caught:
            scandir(path)
        raised.append((caught.type, caught.value.args, getattr(caught.value, "filename", None)))
    if "\0" not in str(path):
        assert raised[0] == raised[1]
    assert raised[0][0] is raised[1][0]


def test_arguments_that_are_no_paths():
    for path in 1.5, [], {}, bytearray(b"."), memoryview(b"."), object():
        with pytest.raises(TypeError):
            ringwalk.scandir(path)

    class Bad:
        def __fspath__(self):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ringwalk.scandir(Bad())


def test_stat_is_asked_once(tree):
    entry = next(entry for entry in ringwalk.scandir(tree) if entry.name == "file")
    before = entry.stat()
    (tree / "file").write_text("longer text")
    assert entry.stat() is before
    assert entry.stat(follow_symlinks=False) is before
    (tree / "file").unlink()
    assert entry.is_file()
    assert stat.S_ISREG(entry.stat().st_mode)
    gone = next(entry for entry in ringwalk.scandir(tree) if entry.name == "fifo")
    (tree / "fifo").unlink()
    with pytest.raises(FileNotFoundError) as caught:
        gone.stat()
    assert caught.value.filename == gone.path


def test_iterators_are_closed(tree):
    before = len(os.listdir("/proc/self/fd"))
    iterator = ringwalk.scandir(tree)
    next(iterator)
    iterator.close()
    iterator.close()
    assert list(iterator) == []
    with ringwalk.scandir(tree) as iterator:
        assert len(list(iterator)) == len(os.listdir(tree))
        assert next(iterator, None) is None
    with pytest.raises(KeyError), ringwalk.scandir(tree) as iterator:
        raise KeyError
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_open_iterator_that_is_dropped_warns(tree):
    before = len(os.listdir("/proc/self/fd"))
    with pytest.warns(ResourceWarning, match="unclosed scandir iterator"):
        next(ringwalk.scandir(tree))
    assert len(os.listdir("/proc/self/fd")) == before
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(ringwalk.scandir(tree))
        ringwalk.scandir(tree).close()
        gc.collect()
    # An exception that is on its way arrives.
    with pytest.warns(ResourceWarning), pytest.raises(KeyError):
        (lambda _: {}["missing"])(ringwalk.scandir(tree))


def test_many_entries(tmp_path):
    """More than a buffer has room for."""
    for number in range(3000):
        (tmp_path / f"{number:060}").touch()
    with ringwalk.scandir(tmp_path) as entries:
        assert sorted(entry.name for entry in entries) == sorted(os.listdir(tmp_path))
    shared, names = ringwalk.scandir(tmp_path), []
    threads = [
        threading.Thread(target=lambda: names.extend(entry.name for entry in shared))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names) == sorted(os.listdir(tmp_path))


def test_types(tree):
    entry = next(entry for entry in ringwalk.scandir(tree))
    assert isinstance(entry, ringwalk.DirEntry)
    assert isinstance(entry, os.PathLike)
    assert entry.is_junction() is False
    assert ringwalk.DirEntry[str].__origin__ is ringwalk.DirEntry
    with ringwalk.scandir(tree) as iterator:
        types = ringwalk.DirEntry, type(iterator)
    for make in types:
        with pytest.raises(TypeError):
            make()
    with pytest.raises(AttributeError):
        entry.name = "other"


def test_docstrings_are_true():
    runner, finder = doctest.DocTestRunner(), doctest.DocTestFinder()
    for name in "walk", "fwalk", "scandir":
        function = getattr(ringwalk, name)
        for found in finder.find(function, name, module=False, globs={name: function}):
            runner.run(found)
    assert runner.tries >= 6
    assert not runner.failures


def test_fwalk_gives_what_os_fwalk_gives(tree):
    (tree / "directory" / "below").mkdir()
    (tree / "directory" / "below" / "file").touch()
    for options in (
        {},
        {"topdown": False},
        {"follow_symlinks": True},
        {"topdown": False, "follow_symlinks": True},
    ):
        for top in str(tree), os.fsencode(tree), tree:
            walked = {}
            for walk in ringwalk.fwalk, os.fwalk:
                walked[walk] = []
                for path, directories, files, fd in walk(top, **options):
                    walked[walk].append((path, directories, files, os.fstat(fd).st_ino))
            assert walked[ringwalk.fwalk] == walked[os.fwalk]
    before = len(os.listdir("/proc/self/fd"))
    walked = ringwalk.fwalk(tree)
    next(walked)
    next(walked)
    walked.close()
    assert len(os.listdir("/proc/self/fd")) == before
    for top in "nowhere", tree / "dangling":
        with pytest.raises(FileNotFoundError):
            next(ringwalk.fwalk(top))
    assert list(ringwalk.fwalk(tree / "file")) == list(os.fwalk(tree / "file")) == []
    assert list(ringwalk.fwalk(tree / "to directory")) == []


@pytest.mark.parametrize("follow", [0, 1, None, "", "yes", []])
def test_options_are_anything_true_or_false(tree, follow):
    def told(scandir):
        with scandir(path=tree) as entries:
            entry = next(entry for entry in entries if entry.name == "to directory")
        return (
            entry.is_dir(follow_symlinks=follow),
            entry.is_file(follow_symlinks=follow),
            stat.S_IFMT(entry.stat(follow_symlinks=follow).st_mode),
        )

    assert told(ringwalk.scandir) == told(os.scandir)


@pytest.mark.parametrize("ends", ["close", "exhaust"])
def test_what_was_given_may_come_back_when_it_goes(tmp_path, ends):
    # In an interpreter of its own, which may hang.
    script = """
import sys
import ringwalk

class Path(str):
    def __del__(self):
        print(list(iterator))

iterator = ringwalk.scandir(Path(sys.argv[1]))
if sys.argv[2] == "close":
    iterator.close()
else:
    list(iterator)
"""
    told = run(script, tmp_path, ends)
    assert told.stdout == "[]\n", told.stderr


@pytest.mark.parametrize("base", ["path", "descriptor"])
def test_all_fields_of_stat_are_those_of_os_stat(tree, base):
    for number, seconds in enumerate((0, 1_700_000_000, -5, -9_300_000_000, 9_300_000_000)):
        (tree / f"time{number}").touch()
        times = seconds * 10**9 + 123_456_789, (seconds + 1) * 10**9 - number
        os.utime(tree / f"time{number}", ns=times)
    if os.geteuid() == 0:
        os.mknod(tree / "device", 0o600 | stat.S_IFCHR, os.makedev(259, 70_000))
    fields = [name for name in dir(os.stat_result) if name.startswith("st_")]
    assert len(fields) >= 16
    fd = os.open(tree, os.O_RDONLY)
    try:
        for entry in ringwalk.scandir(fd if base == "descriptor" else tree):
            for follow in False, True:
                try:
                    theirs = os.stat(tree / entry.name, follow_symlinks=follow)
                except OSError:
                    continue
                ours = entry.stat(follow_symlinks=follow)
                assert type(ours) is os.stat_result and tuple(ours) == tuple(theirs)
                for field in fields:
                    mine, other = getattr(ours, field), getattr(theirs, field)
                    assert (mine, type(mine)) == (other, type(other)), (entry.name, field)
    finally:
        os.close(fd)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_takes_no_entries_from_its_parent(tmp_path):
    for number in range(3000):
        (tmp_path / f"file-with-a-long-name-{number:020}").touch()

    def read_on():
        with pytest.raises(RuntimeError, match=f"opened by process {os.getppid()} before fork"):
            list(entries)

    with ringwalk.scandir(tmp_path) as entries:
        next(entries)
        assert in_child(read_on) == 0
        assert len(list(entries)) == 2999
    # The position of a descriptor that was given is set back at the end, which is the parent's.
    with open_directory(tmp_path) as fd, ringwalk.scandir(fd) as entries:
        next(entries)
        assert in_child(entries.close) == 0
        assert len(list(entries)) == 2999


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize("topdown", [True, False])
def test_fwalk_goes_on_in_a_fork_and_its_parent(tree, topdown):
    expected = [given[:3] for given in os.fwalk(tree, topdown)]
    walk = ringwalk.fwalk(tree, topdown)
    before = [next(walk)[:3]]

    def go_on():
        assert before + [given[:3] for given in walk] == expected

    assert in_child(go_on) == 0
    go_on()


@contextlib.contextmanager
def open_directory(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        yield fd
    finally:
        os.close(fd)
