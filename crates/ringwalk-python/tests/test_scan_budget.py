"""`scan` with a budget, and scans that go on where another one stopped."""

import os
import pickle
import random
import subprocess
import sys
from collections import Counter

import pytest
import ringwalk

pa = pytest.importorskip("pyarrow")


@pytest.fixture
def top(tmp_path):
    for directory in range(30):
        path = tmp_path / f"d{directory}" / "below"
        path.mkdir(parents=True)
        for file in range(directory):
            (path / f"file-{file}").touch()
    (tmp_path / "large").mkdir()
    for file in range(3000):
        (tmp_path / "large" / f"a-file-with-a-long-name-{file}").touch()
    return tmp_path


def paths(scan) -> list[bytes]:
    return pa.table(scan)["path"].to_pylist()


def test_any_budgets_give_each_entry_once(top):
    expected = Counter(paths(ringwalk.scan(top, ["path"])))
    choose = random.Random(5)
    for most in (1, 100, 5000):
        seen = Counter()
        scan = ringwalk.scan(top, ["path", "ino"], entries=choose.randint(1, most))
        assert scan.leftovers is None
        seen.update(paths(scan))
        pool = scan.leftovers
        while pool:
            choose.shuffle(pool)
            taken, pool = pool[:5], pool[5:]
            entries = choose.randint(1, most)
            scan = ringwalk.scan(top, ["path", "size"], resume=taken, entries=entries)
            seen.update(paths(scan))
            pool += scan.leftovers
        assert seen == expected


def test_seconds_are_a_budget(top):
    scan = ringwalk.scan(top, ["path"], seconds=0)
    seen = paths(scan)
    assert 0 < len(seen) < 100
    rest = ringwalk.scan(top, ["path"], resume=scan.leftovers, seconds=1e9)
    assert sorted(seen + paths(rest)) == sorted(paths(ringwalk.scan(top, ["path"])))
    assert rest.leftovers == []


def test_leftovers_go_to_another_process(top):
    scan = ringwalk.scan(top, ["path"], entries=1)
    seen = paths(scan)
    code = (
        "import pickle, sys, ringwalk, pyarrow\n"
        "left = pickle.load(sys.stdin.buffer)\n"
        "scan = ringwalk.scan(sys.argv[1], ['path'], resume=left)\n"
        "pickle.dump(pyarrow.table(scan)['path'].to_pylist(), sys.stdout.buffer)\n"
    )
    given = pickle.dumps(scan.leftovers)
    assert pickle.loads(given) == scan.leftovers
    command = [sys.executable, "-c", code, top]
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True)
    rest = pickle.loads(done.stdout)
    assert sorted(seen + rest) == sorted(paths(ringwalk.scan(top, ["path"])))


def test_what_a_leftover_says(top):
    scan = ringwalk.scan(top, ["path"], entries=1, workers=1)
    paths(scan)
    left = {leftover.path: leftover for leftover in scan.leftovers}
    large = left[b"large"]
    assert (large.root, large.depth, large.position) == (0, 1, None)
    scan = ringwalk.scan(top, ["path"], resume=[large], entries=1, workers=1)
    paths(scan)
    (rest,) = scan.leftovers
    assert rest.path == b"large" and rest.position is not None
    assert repr(rest) == f'<ringwalk.Leftover b"large" position={rest.position}>'


def test_a_directory_that_was_replaced_has_vanished(top):
    scan = ringwalk.scan(top, ["path", "ino"], entries=1, workers=1)
    paths(scan)
    left = [leftover for leftover in scan.leftovers if leftover.path == b"d3"]
    os.rename(top / "d3", top / "other")
    os.mkdir(top / "d3")
    (top / "d3" / "of another tree").touch()
    scan = ringwalk.scan(top, ["path"], resume=left)
    assert paths(scan) == []
    assert scan.summary["vanished"] == 1 and scan.summary["errors"] == 0


def test_a_root_that_was_replaced_is_raised(top):
    root = top / "d3"
    scan = ringwalk.scan(root, ["path"], entries=1)
    paths(scan)
    os.rename(root, top / "other")
    os.mkdir(root)
    scan = ringwalk.scan(root, ["path"], resume=scan.leftovers, on_error="raise")
    with pytest.raises(OSError, match="Stale"):
        list(scan)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"entries": 0}, "at least 1"),
        ({"entries": -1}, "expected a number"),
        ({"in_flight": 0}, "in_flight=0"),
        ({"entries_per_second": 0}, "entries_per_second=0"),
        ({"seconds": -1}, "^seconds: expected a number from 0 to 18446744073709551615$"),
        ({"seconds": float("nan")}, "^seconds: expected a number from 0"),
        ({"seconds": float("inf")}, "^seconds: expected a number from 0"),
        ({"seconds": 1, "follow": "always"}, "cannot stop and go on"),
        ({"resume": [], "follow": "always"}, "cannot stop and go on"),
    ],
)
def test_options_that_cannot_be(top, options, why):
    with pytest.raises(ValueError, match=why):
        ringwalk.scan(top, **options)


def test_limits_of_requests(top):
    expected = sorted(paths(ringwalk.scan(top, ["path"])))
    scan = ringwalk.scan(top, ["path", "size"], in_flight=1, entries_per_second=10**9)
    assert sorted(paths(scan)) == expected
    assert scan.summary["workers"] == 1


@pytest.mark.parametrize("path", [b"/etc", b"a/../..", b"..", b"a//b", b"a/", b"a\0b"])
def test_a_leftover_stays_below_its_root(path):
    with pytest.raises(ValueError, match="relative to its root"):
        ringwalk.Leftover(0, (1, 2), path, 1, None, None, 0)


@pytest.mark.parametrize(
    "depth, position, why", [(1, None, "2 levels"), (3, None, "2 levels"), (2, -1, "from 0")]
)
def test_a_leftover_has_the_depth_of_its_path_and_a_position(depth, position, why):
    with pytest.raises(ValueError, match=why):
        ringwalk.Leftover(0, (1, 2), b"a/b", depth, None, position, 0)
