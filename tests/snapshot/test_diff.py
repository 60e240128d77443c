"""`ringwalk diff` on live trees: every kind of change, sums, output, and bad input."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from pathlib import Path

import pytest
from support import tables, trees
from support.run import USER, Program, run
from support.terminal import converse

SAME, DIFFERENT, TROUBLE = 0, 1, 2


@pytest.fixture
def diff(ringwalk: Program) -> Program:
    """`ringwalk diff`."""
    return ringwalk.with_args("diff")


@pytest.fixture
def top(scratch: Path) -> Path:
    """A tree with directories, links, and a name that is not UTF-8."""
    top = scratch / "top"
    for folder in ("a/deep/er", "b", "empty"):
        (top / folder).mkdir(parents=True)
    for number, name in enumerate(("a/one.log", "a/deep/two.log", "a/deep/er/three", "b/four")):
        (top / name).write_bytes(b"x" * (number + 1) * 5000)
    os.link(top / "a/one.log", top / "b/linked")
    (top / "link").symlink_to("a")
    (top / os.fsdecode(b"b/caf\xe9\n")).write_bytes(b"y" * 9000)
    return top


class Taker:
    """Takes snapshots of a tree, and compares them."""

    def __init__(self, ringwalk: Program, top: Path, folder: Path) -> None:
        self.ringwalk, self.top, self.folder = ringwalk, top, folder
        self.number = 0

    def __call__(self) -> Path:
        # Sizes on the disk change when data are written back.
        os.sync()
        self.number += 1
        file = self.folder / f"{self.number}.parquet"
        self.ringwalk("snapshot", self.top, "-o", file).ok()
        return file


@pytest.fixture
def take(ringwalk: Program, top: Path, scratch: Path) -> Taker:
    """Takes snapshots of the tree."""
    return Taker(ringwalk, top, scratch)


def listed(result) -> list[dict]:
    """Returns the changes that --format ndjson printed."""
    assert result.err == b"", result
    changes = [json.loads(line) for line in result.lines()]
    assert result.status == (DIFFERENT if changes else SAME), result
    return changes


def kinds(changes: list[dict]) -> dict[str, str]:
    """Returns the kind of change by path."""
    return {change["path"]: change["change"] for change in changes}


@pytest.mark.smoke
def test_nothing_changed(diff, take, top):
    old = take()
    assert diff(old, take()).ok().out == b""
    result = diff("--format=json", old, top).ok()
    report = json.loads(result.out)
    assert report["same"] is report["complete"] is True
    assert report["changes"] == [] and report["growth"] == 0


def test_every_kind_of_change(diff, take, top):
    old = take()
    (top / "a/new").write_bytes(b"z" * 20000)
    (top / "b/four").unlink()
    with (top / "a/deep/two.log").open("ab") as file:
        file.write(b"more" * 5000)
    editor = top / "a/deep/er/.three.swp"
    editor.write_bytes(b"x" * 30000)
    editor.rename(top / "a/deep/er/three")
    (top / "empty").rmdir()
    (top / "empty").write_bytes(b"")
    (top / "link").unlink()
    (top / "link").symlink_to("b")
    os.link(top / "a/one.log", top / "a/again")
    changes = listed(diff("--format=ndjson", old, take()))
    assert kinds(changes) == {
        "a/new": "added",
        "b/four": "removed",
        "a/deep/two.log": "modified",
        "a/deep/er/three": "replaced",
        "empty": "retyped",
        "link": "replaced",
        "a/again": "link-added",
    }
    by_path = {change["path"]: change for change in changes}
    assert by_path["link"]["old"]["target"] == "a"
    assert by_path["link"]["new"]["target"] == "b"
    assert "target" in by_path["link"]["changed"]
    assert {"size", "mtime"} <= set(by_path["a/deep/two.log"]["changed"])
    assert by_path["a/again"]["link_to"]["path"] in ("a/one.log", "b/linked")
    assert by_path["a/again"]["growth"] == 0


@pytest.mark.smoke
def test_a_moved_directory_is_one_line(diff, take, top):
    old = take()
    (top / "a/deep").rename(top / "b/moved")
    new = take()
    (change,) = listed(diff("--format=ndjson", old, new))
    assert (change["change"], change["path"], change["from"]["path"]) == (
        "renamed",
        "b/moved",
        "a/deep",
    )
    assert change["growth"] == 0
    flat = listed(diff("--format=ndjson", "--renames=off", old, new))
    assert {change["change"] for change in flat} == {"added", "removed"}
    assert len(flat) == 8
    (top / "b/moved/two.log").write_bytes(b"")
    changes = listed(diff("--format=ndjson", old, take()))
    assert kinds(changes) == {"b/moved": "renamed", "b/moved/two.log": "modified"}


def test_links(diff, take, top):
    old = take()
    (top / "a/one.log").unlink()
    (change,) = listed(diff("--format=ndjson", old, take()))
    assert (change["change"], change["path"]) == ("link-removed", "a/one.log")
    assert change["link_to"]["path"] == "b/linked"
    assert change["growth"] == 0, "the file is charged to its other name"
    (top / "b/linked").unlink()
    changes = listed(diff("--format=ndjson", old, top))
    assert {change["change"] for change in changes} == {"removed"}
    freed = -sum(change["growth"] for change in changes)
    assert 5000 <= freed < 50000


def test_metadata(diff, take, top):
    old = take()
    (top / "b/four").chmod(0o600)
    os.utime(top / "a/one.log", (1, 1))
    os.utime(top / "empty", (1, 1))
    changes = listed(diff("--format=ndjson", old, take()))
    assert {(change["path"], *change["changed"]) for change in changes} == {
        ("b/four", "mode"),
        ("a/one.log", "mtime"),
        ("b/linked", "mtime"),
    }


def used(top: Path) -> dict[str, int]:
    """Returns the bytes of directories.

    A file with several names is charged to the first one in the order of a snapshot: what lies
    deeper comes first. GNU du takes the order of the directories, so only its total is the same.
    """
    charged: set[int] = set()

    def total(folder: bytes) -> int:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        size = os.lstat(folder).st_blocks * 512 + sum(total(entry.path) for entry in folders)
        for entry in entries:
            stat = entry.stat(follow_symlinks=False)
            if entry not in folders and stat.st_ino not in charged:
                charged.add(stat.st_ino)
                size += stat.st_blocks * 512
        sizes[os.path.relpath(os.fsdecode(folder), top)] = size
        return size

    sizes: dict[str, int] = {}
    total(os.fsencode(top))
    (line,) = run(["du", "-s0B1", top]).ok().lines(b"\0")
    assert int(line.split(b"\t")[0]) == sizes["."]
    return sizes


def path_of(group: dict) -> str:
    """Returns the path relative to the root, as Python has it."""
    if "path_raw" in group:
        return os.fsdecode(bytes.fromhex(group["path_raw"]))
    return group["path"] or "."


def edit(top: Path, rng: random.Random) -> None:
    """Makes a random change."""
    paths = [Path(os.fsdecode(path)) for path in map(os.fsencode, top.rglob("*"))]
    directories = [top, *(path for path in paths if path.is_dir() and not path.is_symlink())]
    files = [path for path in paths if path.is_file() and not path.is_symlink()]
    target = rng.choice(directories) / f"n{rng.randrange(10**9)}"
    kind = rng.randrange(8)
    if kind == 0:
        target.mkdir()
    elif kind == 1 or not files:
        target.write_bytes(b"n" * rng.randrange(30000))
    elif kind == 2:
        rng.choice(files).write_bytes(b"w" * rng.randrange(60000))
    elif kind == 3:
        os.link(rng.choice(files), target)
    elif kind == 4:
        rng.choice(files).unlink()
    elif kind == 5:
        target.write_bytes(b"r" * rng.randrange(9000))
        target.rename(rng.choice(files))
    elif kind == 6:
        rng.choice(files).rename(target)
    else:
        source = rng.choice(directories[1:] or [top])
        if source != top and source not in target.parents:
            source.rename(target)


@pytest.mark.parametrize("seed", range(6))
def test_growth_is_the_difference_of_du(diff, ringwalk, scratch, seed):
    top = scratch / "random"
    trees.RandomTree(top, seed, entries=150, alphabet=trees.LINE_BYTES)
    rng = random.Random(seed)
    take = Taker(ringwalk, top, scratch)
    old, before = take(), used(top)
    for _ in range(40):
        edit(top, rng)
    new, after = take(), used(top)
    report = json.loads(diff("--format=json", old, new).out)
    assert report["complete"]
    assert report["growth"] == after["."] - before["."]
    assert sum(change["growth"] for change in report["changes"]) == report["growth"]
    groups = json.loads(diff("--format=json", "--by=dir", "--depth=99", old, new).out)["groups"]
    growth = {path_of(group): group["growth"] for group in groups}
    both = before.keys() & after.keys()
    assert {path: growth.get(path, 0) for path in both} == {
        path: after[path] - before[path] for path in both
    }
    for by in ("owner", "ext"):
        sums = json.loads(diff("--format=json", f"--by={by}", old, new).out)["groups"]
        assert sum(group["growth"] for group in sums) == report["growth"]
    back = json.loads(diff("--format=json", new, old).out)
    assert back["growth"] == -report["growth"]
    for workers in (1, 3):
        again = diff("--format=json", "--workers", workers, old, new)
        assert json.loads(again.out) == report


def test_names_of_any_bytes(diff, take, top):
    old = take()
    (top / os.fsdecode(b"b/caf\xe9\n")).unlink()
    new = take()
    (change,) = listed(diff("--format=ndjson", old, new))
    assert change["path"] == "b/caf\\xe9\n"
    assert bytes.fromhex(change["path_raw"]) == b"b/caf\xe9\n"
    plain = diff(old, new)
    assert plain.status == DIFFERENT
    assert plain.out.endswith(b"\tremoved\t" + os.fsencode(top) + b"/b/caf\xe9\n\n")


def test_parquet(diff, take, top, scratch):
    tables.needed()
    old = take()
    (top / "a/new").write_bytes(b"z" * 20000)
    (top / os.fsdecode(b"b/caf\xe9\n")).rename(top / "b/tea")
    new = take()
    file = scratch / "changes.parquet"
    result = diff(old, new, "--format=parquet", "-o", file)
    assert (result.status, result.out, result.err) == (DIFFERENT, b"", b"")
    expected = listed(diff("--format=ndjson", old, new))
    rows = tables.evaluate(
        """
import sys, pyarrow.parquet
columns = ["change", "path", "type", "growth", "from_path", "new_size", "new_row"]
result = pyarrow.parquet.read_table(sys.argv[1], columns=columns).to_pylist()
""",
        file,
    )
    assert rows == [
        {
            "change": change["change"],
            "path": change["path"],
            "type": change["type"],
            "growth": change["growth"],
            "from_path": change.get("from", {}).get("path"),
            "new_size": change["new"]["size"],
            "new_row": change["new"]["row"],
        }
        for change in expected
    ]
    assert diff(old, new, "--by=dir", "--format=parquet", "-o", file).status == DIFFERENT
    assert diff(old, old, "--by=owner", "--format=parquet", "-o", file).ok()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_unread_directories_are_never_removed(diff, ringwalk, take, top, scratch):
    old = take()
    (top / "a").chmod(0)
    scratch.chmod(0o777)
    new = scratch / "incomplete.parquet"
    assert ringwalk("snapshot", top, "-o", new, uid=USER).status == 1
    result = diff("--format=json", old, new)
    assert result.status == TROUBLE
    assert b"/a'" in result.err and b"Permission denied" in result.err, result
    report = json.loads(result.out)
    assert not report["complete"]
    assert kinds(report["changes"]) == {"a": "modified"}, "its mode"
    assert report["unknown"] == 5
    assert [(each["snapshot"], each["path"]) for each in report["unread"]] == [("new", "a")]
    back = diff("--format=ndjson", new, old)
    assert back.status == TROUBLE
    assert b"added" not in back.out


def test_on_a_terminal_there_is_a_table(diff, take, top):
    old = take()
    for number in range(25):
        (top / f"a/n{number}\x1b[2J").write_bytes(b"n" * 5000 * (number + 1))
    (top / "whole").mkdir()
    for number in range(5):
        (top / f"whole/{number}").write_bytes(b"n" * 500000)
    words = [*diff.first, old, take()]
    status, shown = converse(words, env={"NO_COLOR": "1"})
    assert status == DIFFERENT
    period, *lines = shown.decode().splitlines()
    assert re.fullmatch(r"from (\S+ \d\d:\d\d) to (\S+ \d\d:\d\d)", period), period
    assert lines[0].split() == ["growth", "size", "change", "path"]
    assert lines[1].endswith(f"{top}/whole  (with 5 entries)")
    assert len(lines) == 1 + 20 + 2
    assert lines[21].startswith("... 6 more changes") and "--by dir" in lines[21]
    assert lines[22].startswith("total +") and lines[22].endswith("31 added")
    assert "\x1b" not in shown.decode()
    grown = next(line for line in diff(*words[-2:]).out.decode().splitlines() if "/whole" in line)
    growth = int(grown.split("\t")[0])
    for option, size in ("--bytes", str(growth)), ("--si", f"{-(-growth // 100_000) / 10}M"):
        shown = converse([*words, option], env={"NO_COLOR": "1"})[1].decode()
        line = next(line for line in shown.splitlines() if "/whole" in line)
        assert line.split()[:2] == [f"+{size}", size], (option, line)
    assert f"+{size}\t" in diff("--si", *words[-2:]).out.decode()
    assert (
        b"--si has no effect with --format json" in diff("--si", "--format=json", *words[-2:]).err
    )
    status, shown = converse([*words, "--top=3"], env={"TERM": "xterm"})
    assert b"\x1b[31m" in shown and b"\x1b[2J" not in shown


def test_top_and_order(diff, take, top):
    old = take()
    for number in range(5):
        (top / f"n{number}").write_bytes(b"n" * 50000 * (number + 1))
    new = take()
    changes = listed(diff("--format=ndjson", "--top=2", old, new))
    assert [change["path"] for change in changes] == ["n4", "n3"]
    report = json.loads(diff("--format=json", "--top=2", old, new).out)
    assert len(report["changes"]) == 2 and report["counts"]["added"] == 5
    assert len(diff("--top=2", old, new).lines()) == 2
    assert len(diff(old, new).lines()) == 5


@pytest.mark.parametrize(
    ("words", "expected"),
    (
        (("missing", "OLD"), b"'missing': No such file or directory"),
        (("OLD", "missing"), b"'missing': No such file or directory"),
        (("OLD", "TEXT"), b"no snapshot"),
        (("OLD", "OTHER"), b"has no root"),
        (("OTHER", "OLD"), b"has no root"),
        (("OLD", "DIR"), b"has no root"),
        (("DIR", "OLD"), b"is a directory, and OLD must be a snapshot"),
        (("OLD", "OLD", "--by=size"), b"invalid value 'size' for '--by <KEY>'"),
        (("OLD", "OLD", "--depth=2"), b"--depth needs --by dir"),
        (("OLD", "OLD", "--top=0"), b"--top"),
        (("OLD",), b"<NEW|DIR>"),
        (("OLD", "OLD", "--output=missing/f"), b"cannot write 'missing/f': No such file"),
        (("OLD", "OLD", "--format=csv"), b"[possible values: table, json, ndjson, parquet]"),
        (("OLD", "OLD", "-o", "OLD"), b"it is an input, and --output would replace it"),
    ),
)
def test_bad_input(diff, ringwalk, take, top, scratch, words, expected):
    (scratch / "text").write_bytes(b"no Parquet at all\n" * 10)
    other = scratch / "other.parquet"
    ringwalk("snapshot", top / "b", "-o", other).ok()
    names = {"OLD": take(), "TEXT": scratch / "text", "OTHER": other, "DIR": top / "b"}
    before = sorted(os.listdir(scratch))
    result = diff(*(names.get(word, word) for word in words), cwd=scratch)
    assert (result.status, result.out) == (TROUBLE, b""), result
    assert expected in result.err, result
    assert sorted(os.listdir(scratch)) == before


def test_closed_output_is_trouble(diff, take, top):
    old = take()
    (top / "new").mkdir()
    result = run(["sh", "-c", '"$@" >/dev/full', "sh", *diff.first, old, top])
    assert result.status == TROUBLE
    assert b"No space left on device" in result.err


def test_cut_snapshots(diff, take, scratch):
    old = take()
    data = old.read_bytes()
    cut = scratch / "cut"
    for length in range(0, len(data), 1000):
        cut.write_bytes(data[:length])
        result = diff(old, cut)
        assert result.status == TROUBLE, length
        assert b"panicked" not in result.err and result.err.count(b"\n") == 1, result
    shutil.copy(old, cut)
    assert diff(old, cut).ok()
