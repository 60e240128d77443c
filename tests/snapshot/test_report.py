"""`ringwalk report` against find, du, and DuckDB."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
import time
from collections import defaultdict
from pathlib import Path

import pytest
from support import tables, trees
from support.run import USER, Program, run
from support.terminal import converse

KEYS = ("owner", "group", "age", "size", "type", "dir", "ext")
DAY = 24 * 60 * 60
AGES = {"< 1 day": 1, "< 1 week": 7, "< 1 month": 30, "< 3 months": 90, "< 1 year": 365}
AGES |= {"< 2 years": 730, "< 5 years": 1825}
SIZES = {"0": 1, "< 4K": 1 << 12, "< 64K": 1 << 16, "< 1M": 1 << 20, "< 16M": 1 << 24}
SIZES |= {"< 256M": 1 << 28, "< 4G": 1 << 32, "< 64G": 1 << 36, "< 1T": 1 << 40}
TYPES = {stat.S_IFREG: "f", stat.S_IFDIR: "d", stat.S_IFLNK: "l", stat.S_IFBLK: "b"}
TYPES |= {stat.S_IFCHR: "c", stat.S_IFIFO: "p", stat.S_IFSOCK: "s"}


@pytest.fixture(scope="module")
def report(ringwalk: Program) -> Program:
    """`ringwalk report`."""
    return ringwalk.with_args("report")


@pytest.fixture(scope="module")
def top(base: Path) -> Path:
    """A random tree with hard links across directories, extensions, and times of every class."""
    top = base / "report"
    random = trees.RandomTree(top, seed=15, entries=500)
    for number, days in enumerate((0.1, 2, 20, 60, 200, 500, 1000, 5000, -50, 90000)):
        file = top / f"aged-{number}.T{number % 3}"
        file.write_bytes(b"x" * (number * 3000))
        moment = time.time() - days * DAY
        os.utime(file, (moment, moment))
        for directory in random.rng.sample(random.directories, 2):
            os.link(file, os.fsencode(directory) + b"/link-%d.tar" % number)
    trees.settle(top)
    return top


@pytest.fixture(scope="module")
def snapshot(ringwalk: Program, base: Path, top: Path) -> Path:
    """A snapshot of that tree."""
    file = base / "report.parquet"
    ringwalk("snapshot", top, "-o", file).ok()
    return file


def parsed(result) -> dict:
    return json.loads(result.ok().out)


def rows(path: bytes, relative: bytes = b""):
    """Yields each entry with its path in sorted post-order: listings below before the own one."""
    names = sorted(os.listdir(path))
    found = [(name, os.lstat(os.path.join(path, name))) for name in names]
    for name, status in found:
        if stat.S_ISDIR(status.st_mode):
            yield from rows(os.path.join(path, name), os.path.join(relative, name))
    for name, status in found:
        yield os.path.join(relative, name), status
    if not relative:
        yield b"", os.lstat(path)


def age_of(status: os.stat_result, start: int) -> str:
    age = start - status.st_mtime_ns / 1e9
    if age < -DAY:
        return "in the future"
    return next((name for name, days in AGES.items() if age < days * DAY), "older")


def values_of(path: bytes, status: os.stat_result, start: int) -> dict:
    """Returns the value of each key."""
    is_directory = stat.S_ISDIR(status.st_mode)
    first, _, deeper = path.partition(b"/")
    name = path.rpartition(b"/")[2]
    dot = name.rfind(b".")
    ext = name[dot + 1 :] if dot > 0 else b""
    try:
        text = ext.decode()
    except UnicodeDecodeError:
        text = ""
    if not stat.S_ISREG(status.st_mode) or not 1 <= len(ext) <= 16:
        text = ""
    return {
        "owner": status.st_uid,
        "group": status.st_gid,
        "age": age_of(status, start),
        "size": next((name for name, end in SIZES.items() if status.st_size < end), "1T and more"),
        "type": TYPES[stat.S_IFMT(status.st_mode)],
        "dir": first.hex() if deeper or (is_directory and path) else b".".hex(),
        "ext": text or None,
    }


def expected(top: Path, by: tuple[str, ...], start: int) -> dict:
    """Returns entries, size and allocated size of each group; a file counts at its first name."""
    groups, seen = defaultdict(lambda: [0, 0, 0]), set()
    for path, status in rows(os.fsencode(top)):
        values = values_of(path, status, start)
        sums = groups[tuple(values[key] for key in by)]
        sums[0] += 1
        inode = (status.st_dev, status.st_ino)
        if stat.S_ISDIR(status.st_mode) or status.st_nlink == 1 or inode not in seen:
            seen.add(inode)
            sums[1] += status.st_size
            sums[2] += status.st_blocks * 512
    return dict(groups)


COLUMNS = {"owner": "uid", "group": "gid", "size": "size_class"}


def groups_of(answer: dict) -> dict:
    """Returns the rows of JSON in the form of `expected`."""

    def value(row: dict, key: str):
        if key == "dir":
            return row.get("dir_hex", row["dir"].encode().hex())
        return row[COLUMNS.get(key, key)]

    return {
        tuple(value(row, key) for key in answer["by"]): [row["entries"], row["size"], row["alloc"]]
        for row in answer["rows"]
    }


@pytest.mark.parametrize("by", [*KEYS, "owner,age", "type,size", "ext,dir", ",".join(KEYS)])
def test_groups_are_those_of_a_simple_loop(report, snapshot, top, by):
    answer = parsed(report(snapshot, "--by", by, "--format=json"))
    assert answer["by"] == by.split(",")
    assert groups_of(answer) == expected(top, tuple(by.split(",")), answer["start"])
    assert answer["others"] is None and answer["complete"] and answer["errors"] == 0
    for sums in ("entries", "size", "alloc"):
        assert answer["total"][sums] == sum(row[sums] for row in answer["rows"])


@pytest.mark.smoke
def test_a_directory_is_read_now(report, scratch):
    (scratch / "d").mkdir()
    (scratch / "d" / "a.txt").write_bytes(b"x" * 5000)
    os.link(scratch / "d" / "a.txt", scratch / "b.txt")
    answer = parsed(report(scratch, "--by", "ext", "--format=json"))
    assert groups_of(answer) == expected(scratch, ("ext",), answer["start"])


@pytest.mark.parametrize("workers", (1, 2, 8))
def test_a_directory_gives_the_answer_of_its_snapshot(report, snapshot, top, workers):
    options = ("--by", "owner,dir", "--format=csv", "--workers", workers)
    assert report(top, *options).ok().out == report(snapshot, *options).ok().out


def test_sizes_are_those_of_du_for_every_directory(report, snapshot, top):
    found = run(["find", top, "-maxdepth", "6", "-type", "d", "-print0"]).ok().out.split(b"\0")[:-1]
    assert len(found) > 20
    for directory in found:
        total = parsed(report(snapshot, "--by", "type", "--format=json", "--under", directory))[
            "total"
        ]
        line = run(["du", "-s", "-B1", directory]).ok().out
        assert total["alloc"] == int(line.split(b"\t")[0]), directory
        count = run(["find", directory, "-printf", "x"]).ok().out
        assert total["entries"] == len(count)


def test_under_divides_by_the_directories_below(report, snapshot, top):
    for directory in [path for path in os.scandir(os.fsencode(top)) if path.is_dir()][:8]:
        options = ("--by", "dir,owner", "--format=json", "--under", directory.path)
        answer = parsed(report(snapshot, *options))
        wanted = expected(Path(os.fsdecode(directory.path)), ("dir", "owner"), answer["start"])
        assert groups_of(answer) == wanted


def test_under_takes_relative_paths_and_follows_links(report, snapshot, top, scratch):
    def of(path, cwd):
        options = ("--by", "type", "--format=csv", "--under", path)
        return report(snapshot, *options, cwd=cwd).ok().out

    name = next(path.name for path in top.iterdir() if path.is_dir() and not path.is_symlink())
    wanted = of(top / name, scratch)
    assert of(name, top) == of(f"./{name}/../{name}/", top) == wanted
    (scratch / "link").symlink_to(top)
    assert of(scratch / "link" / name, scratch) == wanted


def test_under_finds_what_is_gone(ringwalk, report, scratch):
    (scratch / "tree" / "gone").mkdir(parents=True)
    (scratch / "tree" / "gone" / "file").write_bytes(b"x")
    ringwalk("snapshot", scratch / "tree", "-o", scratch / "s").ok()
    (scratch / "tree").rename(scratch / "elsewhere")
    options = ("--by", "type", "--format=json", "--under", scratch / "tree" / "gone")
    assert parsed(report(scratch / "s", *options))["total"]["entries"] == 2


SQL = """
WITH footer AS (
  SELECT json_extract(decode(value), '$.start.seconds')::BIGINT AS start
  FROM parquet_kv_metadata($1) WHERE decode(key) = 'ringwalk.run'
), aged AS (
  SELECT uid, charged, size, alloc, (start - epoch(CAST(mtime AS TIMESTAMPTZ))) / 86400 AS days
  FROM read_parquet($1), footer
)
SELECT uid, CASE WHEN days < -1 THEN 'in the future' WHEN days < 1 THEN '< 1 day'
  WHEN days < 7 THEN '< 1 week' WHEN days < 30 THEN '< 1 month' WHEN days < 90 THEN '< 3 months'
  WHEN days < 365 THEN '< 1 year' WHEN days < 730 THEN '< 2 years'
  WHEN days < 1825 THEN '< 5 years' ELSE 'older' END AS age,
  count(*) AS entries, sum(size) FILTER (charged) AS size, sum(alloc) FILTER (charged) AS alloc
FROM aged GROUP BY ALL
"""


def test_duckdb_gives_the_same_answer(report, snapshot):
    answer = parsed(report(snapshot, "--by", "owner,age", "--format=json"))
    by_duckdb = {
        (row["uid"], row["age"]): [int(row[sums] or 0) for sums in ("entries", "size", "alloc")]
        for row in tables.duckdb(SQL, snapshot)
    }
    assert groups_of(answer) == by_duckdb


@pytest.mark.parametrize("reader", tables.READERS)
@pytest.mark.parametrize("top_rows", (None, 3))
def test_parquet_has_the_rows_of_csv(report, snapshot, scratch, reader, top_rows):
    options = ["--by", ",".join(KEYS)] + (["--top", top_rows] if top_rows else [])
    text = report(snapshot, *options, "--format=csv").ok().out.decode()
    file = scratch / "report.parquet"
    assert report(snapshot, *options, "--format=parquet", "-o", file).ok().out == b""
    wanted = list(csv.DictReader(io.StringIO(text, newline="")))
    found = tables.parquet(file, reader)
    assert len(found) == len(wanted) and (top_rows is None or len(found) == 4)
    for row, other in zip(found, wanted):
        assert row.pop("share") == float(other.pop("share"))
        assert {name: "" if value is None else str(value) for name, value in row.items()} == other


def test_csv_has_the_rows_of_json(report, snapshot):
    for by in ("owner,age", "dir", "ext", "type"):
        text = report(snapshot, "--by", by, "--format=csv", "--top", 2).ok().out.decode()
        answer = parsed(report(snapshot, "--by", by, "--format=json", "--top", 2))
        found = list(csv.DictReader(io.StringIO(text, newline="")))
        others = found.pop() if answer["others"] else None
        assert len(found) == len(answer["rows"])
        for row, other in zip(found, answer["rows"]):
            for name, value in other.items():
                shown = str(value).removesuffix(".0") if name == "share" else str(value)
                assert row[name] == ("" if value is None else shown), name
        if others:
            assert int(others["others"]) == answer["others"]["groups"]
            assert int(others["alloc"]) == answer["others"]["alloc"]


def test_others_and_total(report, snapshot):
    answer = parsed(report(snapshot, "--by", "ext", "--format=json", "--top", 1))
    everything = parsed(report(snapshot, "--by", "ext", "--format=json"))
    assert answer["rows"] == everything["rows"][:1]
    assert answer["others"]["groups"] == len(everything["rows"]) - 1
    for sums in ("entries", "size", "alloc"):
        assert answer["others"][sums] + answer["rows"][0][sums] == answer["total"][sums]
    lines = report(snapshot, "--by", "ext", "--top", 1).ok().out.decode().splitlines()
    assert lines[0].split() == ["extension", "entries", "size", "alloc", "share"]
    assert lines[2].startswith(f"others ({answer['others']['groups']}) ")
    assert lines[3].split()[:2] == ["total", str(answer["total"]["entries"])]
    assert lines[3].split()[-1] == "100.0%"


def test_owners_have_their_names_and_unknown_ones_their_numbers(ringwalk, report, scratch):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    for name, uid in (("a", 0), ("b", 4_000_000_000)):
        (scratch / name).write_bytes(b"x" * 5000)
        os.chown(scratch / name, uid, uid)
    answer = parsed(report(scratch, "--by", "owner,group", "--format=json"))
    owners = {(row["owner"], row["uid"], row["group"], row["gid"]) for row in answer["rows"]}
    assert owners == {("root", 0, "root", 0), (None, 4_000_000_000, None, 4_000_000_000)}
    text = report(scratch, "--by", "owner").ok().out
    assert b"\n4000000000 " in text and b"\nroot " in text


def test_without_keys_the_answer_is_by_directory(report, snapshot):
    assert report(snapshot).ok().out == report(snapshot, "--by", "dir").ok().out


def test_sizes_as_the_user_wants_them(report, scratch):
    """The numbers are those of JSON: as they are, or rounded up as by `du --si`."""
    tree = scratch / "tree"
    tree.mkdir()
    (tree / "file").write_bytes(b"x" * 1_234_567)
    (group,) = json.loads(report(tree, "--by", "type", "--format=json").ok().out)["rows"][:1]
    assert group["size"] == 1_234_567
    for option, shown in ((), "1.2M"), (("--si",), "1.3M"), (("--bytes",), "1234567"):
        line = report(tree, "--by", "type", *option).ok().out.decode().splitlines()[1]
        assert line.split()[-3] == shown, (option, line)
    for option in ("--format=json",), ("--format=csv",), ("--format=parquet", "-o", scratch / "p"):
        refused(report(tree, "--si", *option), "--si has no effect", option[0].replace("=", " "))
    refused(report(tree, "--si", "--bytes"), "--si", "--bytes")


def test_names_of_any_bytes(report, scratch):
    for name in (b"a\xff", b"b\n\x1b[2J", "é".encode(), b"-,\"'"):
        os.mkdir(os.fsencode(scratch) + b"/" + name)
    answer = parsed(report(scratch, "--by", "dir", "--format=json"))
    names = {row["dir"]: row.get("dir_hex") for row in answer["rows"]}
    wanted = {"a\\xff": "61ff", "b\n\x1b[2J": None, "é": None, "-,\"'": None, ".": None}
    assert names == wanted
    for option in ("--format=json", "--format=csv"):
        out = report(scratch, "--by", "dir", option).ok().out
        assert option == "--format=csv" or b"\x1b" not in out
    text = report(scratch, "--by", "dir").ok().out
    assert b"\x1b" not in text and len(text.splitlines()) == 7
    _, shown = at_terminal(report, scratch, "--by", "dir", env={"LC_ALL": "C.UTF-8"})
    assert b"\x1b[2J" not in shown and "é".encode() in shown and b"b??[2J" in shown


def at_terminal(report, *args, columns: int = 80, env: dict | None = None) -> tuple[int, bytes]:
    """Returns status and output at a terminal of that width."""
    script = f'stty cols {columns} 2>/dev/null; exec "$@"'
    env = {"RINGWALK_PROGRESS": "never", "TERM": "xterm"} | (env or {})
    words = [str(arg) if isinstance(arg, int) else arg for arg in args]
    return converse(["sh", "-c", script, "sh", *report.first, *words], env=env)


def widths(shown: bytes) -> set[int]:
    plain = re.sub(rb"\x1b\[[0-9;]*m", b"", shown).decode()
    return {len(line) for line in plain.splitlines()}


def test_a_terminal_has_bars_if_it_is_wide_enough(report, scratch):
    for name, size in (("large", 400_000), ("half", 200_000), ("small", 4096)):
        (scratch / name).mkdir()
        (scratch / name / "file").write_bytes(b"x" * size)
    status, shown = at_terminal(report, scratch, "--by", "dir", env={"LC_ALL": "C.UTF-8"})
    lines = shown.decode().splitlines()
    bars = [line.count("█") for line in lines]
    assert status == 0 and bars[0] == bars[-1] == 0
    assert bars[1] > 15 and abs(bars[1] - 2 * bars[2]) <= 2
    assert max(widths(shown)) < 80
    _, shown = at_terminal(report, scratch, "--by", "dir")
    assert b"####" in shown and max(widths(shown)) < 80
    _, narrow = at_terminal(report, scratch, "--by", "dir", columns=44)
    assert b"#" not in narrow and max(widths(narrow)) <= 44
    assert b"#" not in report(scratch, "--by", "dir").ok().out


@pytest.mark.parametrize("env", ({"NO_COLOR": "1"}, {"TERM": "dumb"}))
def test_bold_heads_can_be_turned_off(report, top, env):
    assert b"\x1b[1m" in at_terminal(report, top, "--by", "type")[1]
    assert b"\x1b" not in at_terminal(report, top, "--by", "type", env=env)[1]


def test_a_terminal_shows_the_twenty_largest(report, scratch):
    for number in range(30):
        (scratch / f"d{number:02}").mkdir()
    _, shown = at_terminal(report, scratch, "--by", "dir")
    lines = shown.decode().splitlines()
    assert len(lines) == 1 + 20 + 1 + 1
    assert lines[-2].startswith("others (11) ") and "total" in lines[-1]
    _, shown = at_terminal(report, scratch, "--by", "dir", "--top", 30)
    assert b"others (1) " in shown
    assert len(report(scratch, "--by", "dir").ok().lines()) == 33


def test_two_keys_are_a_cross_table_on_a_terminal(report, snapshot):
    _, shown = at_terminal(report, snapshot, "--by", "type,age", columns=120, env={"NO_COLOR": "1"})
    lines = [line.split() for line in shown.decode().splitlines()]
    assert lines[0][0] == "type" and lines[0][-3:] == ["future", "alloc", "share"]
    assert "<1d" in lines[0] and "older" in lines[0]
    answer = parsed(report(snapshot, "--by", "type,age", "--format=json"))
    assert len(lines) == len({row["type"] for row in answer["rows"]}) + 2
    # A narrow terminal has a line for each pair.
    _, shown = at_terminal(report, snapshot, "--by", "type,age", columns=60, env={"NO_COLOR": "1"})
    lines = [line.split() for line in shown.decode().splitlines()]
    assert lines[0] == ["type", "age", "entries", "size", "alloc", "share"]


def test_long_names_are_cut_on_a_terminal_only(report, scratch):
    (scratch / ("x" * 200)).mkdir()
    _, shown = at_terminal(report, scratch, "--by", "dir", columns=60)
    assert b"xxx~ " in shown and max(widths(shown)) <= 60
    assert b"x" * 200 in report(scratch, "--by", "dir").ok().out


def test_an_incomplete_answer_has_status_1(ringwalk, report, scratch):
    tree = scratch / "tree"
    (tree / "closed").mkdir(parents=True)
    (tree / "open").mkdir()
    (tree / "closed" / "file").write_bytes(b"x")
    (tree / "closed").chmod(0)
    scratch.chmod(0o777)
    result = report(tree, "--by", "type", "--format=json", uid=USER)
    assert result.status == 1 and b"1 error" in result.err and b"tree" in result.err
    answer = json.loads(result.out)
    assert answer["errors"] == 1 and not answer["complete"]
    file = scratch / "s.parquet"
    assert ringwalk("snapshot", tree, "-o", file, uid=USER).status == 1
    for options in ((), ("--under", tree), ("--under", tree / "closed")):
        result = report(file, "--by", "type", *options)
        assert result.status == 1 and b"incomplete: 1 error;" in result.err
        assert b"directory" in result.out
    report(file, "--by", "type", "--under", tree / "open").ok()


def refused(result, *words: str) -> None:
    assert result.status == 2 and result.out == b"", result
    for word in words:
        assert word.encode() in result.err, result


def test_bad_input(report, snapshot, scratch):
    refused(report(snapshot, "--by", "colour"), "'colour'", "owner, group, project, age")
    refused(report(snapshot, "--by", "owner,owner"), "'owner'", "twice")
    refused(report(snapshot, "--by", "age", "--top", "-1"), "'-1'")
    refused(report(snapshot, "--by", "age", "--top", "x"), "'x'", "--top")
    refused(
        report(snapshot, "--format=ndjson"), "[possible values: table, json, csv, parquet, html]"
    )
    refused(report(snapshot, "-o", snapshot), "it is an input, and --output would replace it")
    refused(report(snapshot, "--by", "age", "--under", "/nowhere"), "'/nowhere'", "snapshot of")
    refused(report(snapshot, "--by", "age", "--under", ""), "''")
    refused(report(scratch / "missing", "--by", "age"), "missing", "No such file")
    (scratch / "text").write_text("no snapshot")
    refused(report(scratch / "text", "--by", "age"), "text", "no snapshot")
    (scratch / "cut").write_bytes(snapshot.read_bytes()[:-1000])
    refused(report(scratch / "cut", "--by", "age"), "cut")


def test_a_damaged_page_names_the_file_once(report, snapshot, scratch):
    data, bad = bytearray(snapshot.read_bytes()), scratch / "bad"
    # The pages come before the footer.
    for at in range(4, len(data) // 2):
        data[at] ^= 0x55
    bad.write_bytes(data)
    result = report(bad, "--by", "owner")
    refused(result, "row group 0")
    assert result.err.count(os.fsencode(bad)) == 1, result


def test_a_parquet_file_replaces_another_one_or_stays(report, snapshot, scratch):
    file = scratch / "out.parquet"
    file.write_text("old")
    refused(report(scratch / "missing", "--by", "age", "--format=parquet", "-o", file), "missing")
    assert file.read_text() == "old"
    report(snapshot, "--by", "age", "--format=parquet", "-o", file).ok()
    assert file.read_bytes()[:4] == b"PAR1"
    refused(
        report(snapshot, "--by", "age", "--format=parquet", "-o", scratch / "no" / "file"),
        "no/file",
    )
    refused(report(snapshot, "--by", "age", "--format=parquet", "-o", scratch), "directory")
    assert {path.name for path in scratch.iterdir()} == {"out.parquet"}


def test_a_closed_output_is_an_error(report, snapshot):
    words = [os.fsdecode(word) for word in (*report.first, snapshot, "--by", "ext", "--format=csv")]
    result = run(["sh", "-c", 'exec "$@" >&-', "sh", *words])
    assert result.status == 1 and b"write error" in result.err
    result = run(["sh", "-c", 'exec "$@" >/dev/full', "sh", *words])
    assert result.status == 1 and b"No space left" in result.err
