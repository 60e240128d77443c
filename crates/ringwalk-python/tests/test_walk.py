"""walk gives what os.walk gives."""

import contextlib
import gc
import inspect
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import weakref

import pytest
import ringwalk
from processes import TIMEOUT, finished, started


def plain(walked):
    """What was given, in an order that does not depend on the file system's."""
    return [(path, sorted(directories), sorted(files)) for path, directories, files in walked]


def sorted_walk(walk, top, edit=None, **options):
    """A walk from the top down in the order of names, changed on the way by `edit`."""
    result = []
    for path, directories, files in walk(top, **options):
        directories.sort()
        result.append((path, list(directories), sorted(files)))
        if edit is not None:
            edit(path, directories)
    return result


def make_tree(top, seed, directories=60, files=200):
    """A random tree with names of all kinds, links that lead everywhere, and loops."""
    rng = random.Random(seed)
    names = [
        b"a",
        b"b.txt",
        "é".encode(),
        b"\xff\xfe",
        "日本".encode(),
        b"x" * 200,
        b" ",
        b"-n",
        b"a\nb",
    ]
    made = [os.fsencode(top)]
    for number in range(directories):
        path = os.path.join(rng.choice(made), rng.choice(names) + b"%d" % number)
        os.mkdir(path)
        made.append(path)
    for number in range(files):
        path = os.path.join(rng.choice(made), b"f%d" % number + rng.choice(names))
        kind = rng.randrange(8)
        if kind == 0:
            os.symlink(rng.choice(made), path)
        elif kind == 1:
            os.symlink(b"nowhere", path)
        elif kind == 2:
            os.mkfifo(path)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    return made


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("topdown", [True, False])
@pytest.mark.parametrize("kind", [str, os.fsencode, pathlib.Path], ids=["str", "bytes", "path"])
def test_trees_of_all_kinds_are_walked_as_by_os_walk(tmp_path, seed, topdown, kind):
    make_tree(tmp_path, seed, directories=10 * seed)
    top = kind(str(tmp_path))
    # The very same order: nothing but getdents64 has been asked.
    assert list(ringwalk.walk(top, topdown)) == list(os.walk(top, topdown))
    assert sorted_walk(ringwalk.walk, top) == sorted_walk(os.walk, top)


@pytest.mark.smoke
def test_links_are_followed_as_by_os_walk(tmp_path):
    make_tree(tmp_path, 3, directories=12, files=12)
    (tmp_path / "up").symlink_to("..")

    def some(walk):
        return [item for item, _ in zip(walk(tmp_path, followlinks=True), range(300), strict=False)]

    assert some(ringwalk.walk) == some(os.walk)


@pytest.mark.parametrize("topdown", [True, False])
@pytest.mark.parametrize("followlinks", [True, False])
def test_links_without_loops(tmp_path, topdown, followlinks):
    for name in "ab":
        (tmp_path / "top" / name / "below").mkdir(parents=True)
        (tmp_path / "top" / name / "file").touch()
    (tmp_path / "top" / "a" / "below" / "link").symlink_to("../../b")
    (tmp_path / "top" / "link").symlink_to("b/below")
    (tmp_path / "top" / "to file").symlink_to("b/file")
    arguments = tmp_path / "top", topdown, None, followlinks
    assert list(ringwalk.walk(*arguments)) == list(os.walk(*arguments))


def test_a_loop_ends_where_paths_become_too_long(tmp_path):
    (tmp_path / "directory").mkdir()
    os.symlink("..", tmp_path / "directory" / "up")
    walked = {}
    for walk in ringwalk.walk, os.walk:
        errors = []
        walked[walk] = (
            list(walk(tmp_path, followlinks=True, onerror=errors.append)),
            [str(e) for e in errors],
        )
    assert walked[ringwalk.walk] == walked[os.walk]


@pytest.mark.parametrize(
    "top", ["", "nowhere", "file", "link", "link/", "d/", "d//", "./d", ".", "d/../d", "/dev/null"]
)
def test_tops_of_all_kinds(tmp_path, monkeypatch, top):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("d")
    walked = {}
    for walk in ringwalk.walk, os.walk:
        errors = []
        walked[walk] = (
            plain(walk(top, onerror=errors.append)),
            [(type(e), e.args, e.filename) for e in errors],
        )
    assert walked[ringwalk.walk] == walked[os.walk]
    with contextlib.suppress(StopIteration):
        assert next(ringwalk.walk(top))[0] is top


def test_tops_that_are_no_paths():
    for top in 1, None, [], bytearray(b"."):
        with pytest.raises(TypeError):
            next(ringwalk.walk(top))
    with pytest.raises(ValueError, match="null"):
        next(ringwalk.walk("a\0b"))
    with pytest.raises(UnicodeEncodeError):
        next(ringwalk.walk("\ud800"))


def test_it_is_a_generator(tmp_path):
    walked = ringwalk.walk(tmp_path)
    assert inspect.isgenerator(walked)
    walked.close()
    assert list(walked) == []
    for ours, theirs in (ringwalk.walk, os.walk), (ringwalk.fwalk, os.fwalk):
        ours, theirs = (
            [(p.name, p.kind, p.default) for p in inspect.signature(f).parameters.values()]
            for f in (ours, theirs)
        )
        assert ours == theirs
    for keywords in (
        {"top": tmp_path, "topdown": False},
        {"top": tmp_path, "followlinks": 1, "onerror": print},
    ):
        assert list(ringwalk.walk(**keywords)) == list(os.walk(**keywords))


EDITS = {
    "pruned": lambda path, directories: directories.__delitem__(slice(None, None, 2)),
    "all pruned": lambda path, directories: directories.clear(),
    "reversed": lambda path, directories: directories.reverse(),
    "twice": lambda path, directories: (
        directories.extend(directories[:1]) if path.count("/") < 6 else None
    ),
    "replaced by equals": lambda path, directories: directories.__setitem__(
        slice(None), [("" + name + ".")[:-1] for name in directories]
    ),
    "not there": lambda path, directories: directories.append("nowhere"),
    "a file": lambda path, directories: directories.insert(0, "file"),
    "several levels": lambda path, directories: (
        directories.append("0/1") if path.endswith("top") else None
    ),
    "above": lambda path, directories: (
        directories.append("../other") if path.endswith("top") else None
    ),
    "empty name": lambda path, directories: directories.append("") if path.endswith("2") else None,
    "rotated": lambda path, directories: (
        directories.append(directories.pop(0)) if directories else None
    ),
}


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """A tree of three levels, four directories each, with a file in every one."""
    base = tmp_path_factory.mktemp("numbered")
    (base / "other" / "one").mkdir(parents=True)
    top = base / "top"
    for number in range(4**3):
        path = top / str(number % 4) / str(number // 4 % 4) / str(number // 16)
        path.mkdir(parents=True)
        for above in path, path.parent, path.parent.parent:
            (above / "file").touch()
    return str(top)


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("pause", [0, 0.002], ids=["at once", "read ahead"])
def test_edits_of_the_list_decide_what_comes(numbered, edit, pause):
    def paused(path, directories):
        edit(path, directories)
        time.sleep(pause)

    limit = 200
    walked = {}
    for walk in ringwalk.walk, os.walk:
        errors = []
        limited = lambda top, walk=walk, errors=errors: (  # noqa: E731
            item for item, _ in zip(walk(top, onerror=errors.append), range(limit), strict=False)
        )
        walked[walk] = (
            sorted_walk(limited, numbered, paused),
            [(e.errno, e.filename) for e in errors],
        )
    assert walked[ringwalk.walk] == walked[os.walk]


def test_names_that_cannot_be(numbered):
    for name, error in [
        (b"bytes", TypeError),
        (1, TypeError),
        (None, TypeError),
        ("a\0b", ValueError),
    ]:
        for walk in ringwalk.walk, os.walk:
            walked = walk(numbered)
            next(walked)[1][:] = [name]
            with pytest.raises(error):
                list(walked)
            assert list(walked) == []
    walked = ringwalk.walk(numbered)
    next(walked)[1][:] = [pathlib.Path("0/1"), pathlib.PurePath("2")]
    assert [path for path, *_ in walked if path.count("/") == numbered.count("/") + 1] == [
        numbered + "/2"
    ]
    absolute = ringwalk.walk(numbered)
    next(absolute)[1][:] = [os.path.join(os.path.dirname(numbered), "other")]
    assert [path for path, *_ in absolute] == [
        os.path.dirname(numbered) + "/other" + below for below in ("", "/one")
    ]


def test_errors_are_told_with_paths_and_the_walk_goes_on(tmp_path):
    for name in "abc":
        (tmp_path / name / "below").mkdir(parents=True)
    seen = []
    walked = ringwalk.walk(tmp_path, onerror=seen.append)
    next(walked)[1].sort()
    (tmp_path / "b" / "below").rmdir()
    (tmp_path / "b").rmdir()
    assert [os.path.basename(path) for path, *_ in walked] == ["a", "below", "c", "below"]
    (error,) = seen
    assert isinstance(error, FileNotFoundError)
    assert (error.filename, error.strerror) == (str(tmp_path / "b"), "No such file or directory")

    def fail(error):
        raise error

    walked = ringwalk.walk(tmp_path / "nowhere", onerror=fail)
    with pytest.raises(FileNotFoundError):
        next(walked)
    assert list(walked) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
@pytest.mark.parametrize("topdown", [True, False])
def test_directories_that_may_not_be_read(tmp_path, topdown):
    for number in range(40):
        (tmp_path / f"{number:02}" / "below").mkdir(parents=True)
        (tmp_path / f"{number:02}").chmod([0o755, 0o700, 0o711, 0o744][number % 4])
    tmp_path.chmod(0o755)
    program = f"""
import os, ringwalk
os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
os.chdir({str(tmp_path)!r})
out = []
for walk in ringwalk.walk, os.walk:
    errors = []
    walked = list(walk(".", {topdown}, onerror=errors.append))
    out.append((walked, [(e.errno, e.filename) for e in errors]))
assert len(out[0][1]) == 30, out[0]
assert out[0] == out[1], out
"""
    above = tmp_path
    while above != above.parent:
        above.chmod(above.stat().st_mode | 0o111)
        above = above.parent
        if above.stat().st_mode & 0o111 == 0o111:
            break
    finished([sys.executable, "-c", program], check=True, env=os.environ)


def test_names_that_are_not_utf8(tmp_path):
    top = os.fsencode(tmp_path)
    os.makedirs(os.path.join(top, b"\xff\xfe", b"\xe9"))
    os.makedirs(os.path.join(top, "é".encode()))
    assert list(ringwalk.walk(tmp_path)) == list(os.walk(tmp_path))
    assert list(ringwalk.walk(top)) == list(os.walk(top))
    paths = [path for path, *_ in ringwalk.walk(str(tmp_path))]
    assert str(tmp_path) + "/\udcff\udcfe/\udce9" in paths


def test_another_encoding_of_file_names(tmp_path):
    os.makedirs(os.path.join(os.fsencode(tmp_path), b"\xe9", "é".encode()))
    program = f"""
import os, sys, ringwalk
print(sys.getfilesystemencoding())
assert list(ringwalk.walk({str(tmp_path)!r})) == list(os.walk({str(tmp_path)!r}))
names = lambda scandir: sorted(e.path for e in scandir({str(tmp_path)!r}))
assert names(ringwalk.scandir) == names(os.scandir)
"""
    for encoding in "C", "C.UTF-8":
        env = os.environ | {"LC_ALL": encoding, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        finished([sys.executable, "-c", program], check=True, env=env)


def make_deep(path, levels, name="d" * 100):
    """A directory so many levels deep; made from within, as its path is too long."""
    path.mkdir()
    fd = os.open(path, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=fd)
        below = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)


def remove_deep(path):
    """Not by anything that follows paths, or calls itself."""
    finished(["rm", "-rf", path], check=True)


@pytest.mark.parametrize("topdown", [True, False])
def test_deeper_than_paths_can_be(tmp_path, topdown):
    top = tmp_path / "deep"
    make_deep(top, 60)
    try:
        walked = {}
        for walk in ringwalk.walk, os.walk:
            errors = []
            walked[walk] = (
                list(walk(top, topdown, onerror=errors.append)),
                [(e.errno, e.filename) for e in errors],
            )
        assert walked[ringwalk.walk] == walked[os.walk]
        (error,) = walked[ringwalk.walk][1]
        assert "too long" in os.strerror(error[0])
    finally:
        remove_deep(top)


@pytest.mark.parametrize("topdown", [True, False])
def test_deeper_than_calls_can_be(tmp_path, monkeypatch, topdown):
    top = tmp_path / "deep"
    make_deep(top, 1900, "d")
    monkeypatch.chdir(tmp_path)
    try:
        walked = [path.count("/") for path, *_ in ringwalk.walk("deep", topdown)]
        assert walked == sorted(range(1901), reverse=not topdown)
    finally:
        remove_deep(top)


def threads():
    names = []
    for task in os.listdir("/proc/self/task"):
        # One that has been waited for is still listed for a moment.
        with contextlib.suppress(OSError):
            names.append(pathlib.Path(f"/proc/self/task/{task}/comm").read_text().strip())
    return [name for name in names if name.startswith("ringwalk")]


def threads_have_ended():
    until = time.monotonic() + 5
    while threads() and time.monotonic() < until:
        time.sleep(0.001)
    return not threads()


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """400 directories with 20 files and two directories each."""
    top = tmp_path_factory.mktemp("wide")
    for number in range(400):
        for name in "xy":
            (top / str(number) / name).mkdir(parents=True)
        for file in range(20):
            (top / str(number) / str(file)).touch()
    # The clock of change times goes on: what is read ahead now is known to be as it was read.
    time.sleep(0.1)
    return top


@pytest.mark.parametrize("end", ["closed", "dropped", "exhausted", "raised"])
def test_threads_end_with_the_walk(wide, end):
    # Walks of earlier tests have no descriptors left that would count here.
    gc.collect()
    assert threads_have_ended()
    before = len(os.listdir("/proc/self/fd"))
    walked = ringwalk.walk(wide)
    for _ in range(20):
        next(walked)
        time.sleep(0.001)
    assert threads(), "nothing is read ahead"
    if end == "closed":
        walked.close()
    elif end == "dropped":
        del walked
        gc.collect()
    elif end == "exhausted":
        assert sum(1 for _ in walked) == 1201 - 20
    else:
        with pytest.raises(KeyError):
            walked.throw(KeyError)
    assert threads_have_ended()
    assert len(os.listdir("/proc/self/fd")) == before


def test_many_walks_at_once_in_many_threads(wide):
    expected = list(os.walk(wide))
    walked, failed = [], []

    def run():
        try:
            walked.append(list(ringwalk.walk(wide)))
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    running = [threading.Thread(target=run) for _ in range(8)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failed
    assert all(result == expected for result in walked)
    assert threads_have_ended()


def test_one_walk_given_to_many_threads(wide):
    walked, refused, lock = [], [], threading.Lock()
    shared = ringwalk.walk(wide)

    def run():
        while True:
            try:
                with lock:
                    walked.append(next(shared)[0])
            except StopIteration:
                return
            except ValueError as error:
                refused.append(error)

    running = [threading.Thread(target=run) for _ in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not refused
    assert walked == [path for path, *_ in os.walk(wide)]


@pytest.mark.parametrize("after", [1, 50])
def test_a_fork_in_the_middle(wide, after):
    expected = list(os.walk(wide))
    walked = ringwalk.walk(wide)
    before = [next(walked) for _ in range(after)]
    time.sleep(0.01)
    child = os.fork()
    if child == 0:
        # Nothing of pytest's is to run here.
        status = 1
        try:
            signal.alarm(30)
            status = 0 if before + list(walked) == expected else 2
        finally:
            os._exit(status)
    assert before + list(walked) == expected
    assert os.waitpid(child, 0) == (child, 0)


def test_a_fork_whose_child_drops_the_walk(wide):
    walked = ringwalk.walk(wide)
    first = next(walked)
    time.sleep(0.01)
    for _ in range(20):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.alarm(30)
                # Chosen among what a thread may have been at when there still were threads.
                first[1].reverse()
                next(walked)
                walked.close()
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0) == (child, 0)
    assert sum(1 for _ in walked) == 1200


def test_control_c(wide):
    program = f"""
import os, ringwalk, sys
print("ready", flush=True)
try:
    while True:
        for _ in ringwalk.walk({str(wide)!r}):
            pass
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    command = [sys.executable, "-c", program]
    with started(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "ready\n"
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
        assert run.communicate(timeout=TIMEOUT) == ("interrupted\n", None)
        assert run.returncode == 0


def test_signals_are_not_for_the_threads(wide):
    walked = ringwalk.walk(wide)
    for _ in range(20):
        next(walked)
        time.sleep(0.001)
    blocked = []
    for task in os.listdir("/proc/self/task"):
        status = pathlib.Path(f"/proc/self/task/{task}/status").read_text()
        fields = dict(line.split(":\t", 1) for line in status.splitlines())
        if fields["Name"].startswith("ringwalk"):
            blocked.append(int(fields["SigBlk"], 16) >> (signal.SIGINT - 1) & 1)
    assert blocked
    assert all(blocked)


def test_few_descriptors_are_enough(wide):
    program = f"""
import os, resource, ringwalk
held = os.open("/", os.O_RDONLY)
resource.setrlimit(resource.RLIMIT_NOFILE, (held + 2, held + 2))
def fail(error):
    raise error
assert sum(1 for _ in ringwalk.walk({str(wide)!r}, onerror=fail)) == 1201
"""
    finished([sys.executable, "-c", program], check=True)


def test_what_is_sent_is_not_seen(tmp_path):
    (tmp_path / "below").mkdir()
    for walk in os.walk, ringwalk.walk:
        walking = walk(tmp_path)
        next(walking)
        assert walking.send("anything")[0] == str(tmp_path / "below")


@pytest.mark.parametrize("by_list", [False, True], ids=["onerror", "list"])
@pytest.mark.parametrize("walk", [os.walk, ringwalk.walk])
def test_a_walk_that_only_its_own_objects_know_is_collected(tmp_path, walk, by_list):
    (tmp_path / "below").mkdir()

    class Owner:
        pass

    def begin():
        owner = Owner()
        owner.walking = walk(tmp_path, onerror=lambda error, owner=owner: None)
        _, directories, _ = next(owner.walking)
        if by_list:
            directories.append(owner)
        return weakref.ref(owner)

    owner = begin()
    gc.collect()
    assert owner() is None


def test_signals_are_seen_while_there_is_nothing_to_give(tmp_path):
    # Links that are not followed: the walk passes over one after the other.
    for number in range(20_000):
        (tmp_path / str(number)).symlink_to(".")
    walking = ringwalk.walk(tmp_path)
    assert len(next(walking)[1]) == 20_000
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(time.monotonic()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        assert next(walking, None) is None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    # Otherwise all are seen as one, at the end.
    assert len(seen) > 2


def test_fwalk_refuses_what_is_no_name(tmp_path):
    (tmp_path / "below").mkdir()
    for fwalk in os.fwalk, ringwalk.fwalk:
        walking = fwalk(tmp_path)
        next(walking)[1].insert(0, None)
        with pytest.raises(TypeError):
            next(walking)
