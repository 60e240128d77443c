"""A tree that is changed while it is walked: walk gives what os.walk gives all the same."""

import os
import random
import shutil
import time

import pytest
import ringwalk


def make(top, seed):
    rng = random.Random(seed)
    made = [str(top)]
    for number in range(120):
        path = os.path.join(rng.choice(made[-12:]), f"d{number}")
        os.mkdir(path)
        made.append(path)
        for file in range(rng.randrange(4)):
            open(os.path.join(path, f"f{file}"), "w").close()


def change(top, path, rng):
    """Something that a program might do when it has been given `path`; it can be done twice."""
    kind = rng.randrange(9)
    below = sorted(entry for entry in os.listdir(path) if os.path.isdir(os.path.join(path, entry)))
    chosen = os.path.join(path, rng.choice(below)) if below else None
    if kind == 0:
        os.makedirs(os.path.join(path, "new", "newer"), exist_ok=True)
    elif kind == 1 and chosen:
        open(os.path.join(chosen, "added"), "w").close()
    elif kind == 2 and chosen:
        shutil.rmtree(chosen)
    elif kind == 3 and chosen:
        # Something else in its place.
        os.rename(chosen, chosen + ".moved")
        os.symlink(os.path.basename(chosen) + ".moved", chosen)
    elif kind == 4 and len(below) > 1:
        # Two that change places, with all below them.
        first, second = (os.path.join(path, name) for name in below[:2])
        os.rename(first, first + ".t")
        os.rename(second, first)
        os.rename(first + ".t", second)
    elif kind == 5 and chosen:
        deepest = max((p for p, *_ in os.walk(chosen)), key=lambda p: (len(p), p))
        open(os.path.join(deepest, "deep"), "w").close()
    elif kind == 6 and chosen:
        os.rename(chosen, chosen + ".renamed")
    elif kind == 7 and chosen:
        shutil.rmtree(chosen)
        open(chosen, "w").close()
    elif kind == 8 and chosen:
        for name in os.listdir(chosen):
            if not os.path.isdir(os.path.join(chosen, name)):
                os.unlink(os.path.join(chosen, name))


def walk_and_change(walk, top, seed, pause):
    rng = random.Random(seed)
    errors = []
    walked = []
    for path, directories, files in walk(top, onerror=errors.append):
        directories.sort()
        walked.append((path.removeprefix(str(top)), list(directories), sorted(files)))
        if rng.random() < 0.3:
            time.sleep(pause)
            change(top, path, rng)
    return walked, [(error.errno, error.filename.removeprefix(str(top))) for error in errors]


@pytest.mark.parametrize("pause", [0, 0.01], ids=["at once", "read ahead"])
@pytest.mark.parametrize("seed", range(25))
def test_changes_by_the_one_who_walks_are_seen(tmp_path, seed, pause):
    tops = [tmp_path / name for name in ("one", "two")]
    for top in tops:
        top.mkdir()
        make(top, seed)
    # Old enough to be read ahead and kept.
    time.sleep(0.05)
    ours = walk_and_change(ringwalk.walk, tops[0], seed, pause)
    theirs = walk_and_change(os.walk, tops[1], seed, 0)
    assert ours == theirs


def test_a_change_far_ahead_is_seen(tmp_path):
    paths = [tmp_path / f"{number:03}" / "below" for number in range(200)]
    for path in paths:
        path.mkdir(parents=True)
    time.sleep(0.05)
    for number in (3, 50, 199):
        walked = ringwalk.walk(tmp_path)
        next(walked)[1].sort()
        # All has been read by now.
        time.sleep(0.05)
        (paths[number] / f"new{number}").touch()
        given = {path: files for path, _, files in walked}
        assert f"new{number}" in given[str(paths[number])]


def test_a_directory_above_that_was_swapped(tmp_path):
    """What lies below has not been changed itself."""
    for name in "ab":
        (tmp_path / "top" / name / "below" / "far").mkdir(parents=True)
        (tmp_path / "top" / name / "below" / "far" / f"in {name}").touch()
    time.sleep(0.05)
    walked = ringwalk.walk(tmp_path / "top")
    next(walked)[1].sort()
    time.sleep(0.02)
    top = tmp_path / "top"
    (top / "a").rename(top / "c")
    (top / "b").rename(top / "a")
    (top / "c").rename(top / "b")
    given = {os.path.relpath(path, top): files for path, _, files in walked}
    assert given["a/below/far"] == ["in b"]
    assert given["b/below/far"] == ["in a"]


def test_another_working_directory(tmp_path, monkeypatch):
    """Relative paths lead elsewhere, as with os.walk."""
    for name in "ab":
        (tmp_path / name / "top" / "below").mkdir(parents=True)
        (tmp_path / name / "top" / "below" / f"in {name}").touch()
    time.sleep(0.05)
    monkeypatch.chdir(tmp_path / "a")
    walked = ringwalk.walk("top")
    next(walked)
    time.sleep(0.02)
    monkeypatch.chdir(tmp_path / "b")
    assert list(walked) == [("top/below", [], ["in b"])]


def test_a_link_in_the_place_of_a_directory_is_not_followed(tmp_path):
    (tmp_path / "top" / "a" / "below").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").touch()
    time.sleep(0.05)
    walked = ringwalk.walk(tmp_path / "top")
    next(walked)
    time.sleep(0.02)
    shutil.rmtree(tmp_path / "top" / "a")
    (tmp_path / "top" / "a").symlink_to("../elsewhere")
    assert list(walked) == []


def test_proc_is_walked_now():
    """Its directories do not report when they were changed: newer entries are seen."""
    reader, writer = os.pipe()
    try:
        walked = ringwalk.walk("/proc/self")
        directories = next(walked)[1]
        directories[:] = ["fd", "fdinfo"]
        more = [os.dup(reader) for _ in range(10)]
        given = {path: files for path, _, files in walked}
        assert set(map(str, more)) <= set(given["/proc/self/fdinfo"])
        for fd in more:
            os.close(fd)
    finally:
        os.close(reader)
        os.close(writer)
