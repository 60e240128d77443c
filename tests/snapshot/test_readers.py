"""Every kind of file that is written, as pyarrow, polars and DuckDB read it."""

from __future__ import annotations

import datetime
import json
import os
import re
from pathlib import Path

import pytest
from support import ROOT, ncdu, tables, zoo
from support.run import USER

# Far behind the last time of the format, 2262.
LATE = 2**40


def mixed(top: Path) -> None:
    """Makes names of any bytes, hard links, and files of every type."""
    top.mkdir()
    zoo.names(top / "names")
    zoo.links(top / "links")
    zoo.kinds(top / "kinds")
    (top / "empty").mkdir()


@pytest.fixture(scope="module")
def files(ringwalk, base: Path) -> dict[str, Path]:
    """One file of every kind."""
    folder = base / "readers"
    folder.mkdir()
    folder.chmod(0o777)
    top, other, empty, closed = (folder / name for name in ("top", "other", "empty", "closed"))
    mixed(top)
    os.setxattr(top / "kinds" / "file", "user.one", b"value\0\xff")
    zoo.times(other)
    empty.mkdir()
    (closed / "inner").mkdir(parents=True)
    (closed / "inner").chmod(0)
    made = {}

    def take(name: str, *words, status: int = 0, **options) -> None:
        made[name] = folder / f"{name}.parquet"
        result = ringwalk(*words, "-o", made[name], **options)
        assert result.status == status, result

    take("plain", "snapshot", top)
    take("atime", "snapshot", "--atime", top)
    take("xattrs", "snapshot", "--xattrs", top)
    take("roots", "snapshot", "--atime", "--xattrs", other, top, empty)
    take("empty", "snapshot", empty)
    take("errors", "snapshot", closed, status=1, uid=USER)
    late = {"name": "late", "asize": 5, "dsize": 512, "mtime": LATE}
    early = {"name": "early", "asize": 7, "dsize": 1024, "mtime": 2**64 - LATE}
    plain = {"name": "plain", "asize": 0, "mtime": 10**9}
    (folder / "ncdu").write_bytes(ncdu.document([{"name": "/x", "asize": 9}, late, early, plain]))
    take("imported", "import", folder / "ncdu")
    return made


# How each reader reads a file: times as nanoseconds since 1970.
READERS = {
    "pyarrow": """
import pyarrow as pa, pyarrow.parquet as pq
def read(path):
    table = pq.read_table(path)
    for at, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(at, field.name, table[field.name].cast(pa.int64()))
    return table.to_pylist()
""",
    "polars": """
import polars, polars.selectors
def read(path):
    table = polars.read_parquet(path)
    return table.with_columns(polars.selectors.datetime().dt.epoch("ns")).to_dicts()
""",
    "duckdb": """
import duckdb
def read(path):
    table = duckdb.read_parquet(path)
    columns = [
        f'epoch_ns("{name}")' if str(kind).startswith("TIMESTAMP") else f'"{name}"'
        for name, kind in zip(table.columns, table.types)
    ]
    return [dict(zip(table.columns, row)) for row in table.project(", ".join(columns)).fetchall()]
""",
}
# The rows of each file as values of JSON: bytes as hexadecimal digits, a map as pairs.
SCRIPT = """
def plain(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, list):
        pairs = [tuple(pair.values()) if isinstance(pair, dict) else pair for pair in value]
        return sorted([plain(key), plain(of_key)] for key, of_key in pairs)
    return value
result = [
    [{name: plain(value) for name, value in row.items()} for row in read(path)]
    for path in sys.argv[1:]
]
"""


def nanoseconds(text: str | None) -> int | None:
    """Returns the nanoseconds since 1970 of a time in RFC 3339."""
    if text is None:
        return None
    seconds, _, fraction = text.removesuffix("Z").partition(".")
    time = datetime.datetime.fromisoformat(f"{seconds}+00:00")
    since = time - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (since.days * 86400 + since.seconds) * 10**9 + int(fraction)


def ours(ringwalk, file: Path) -> list[dict]:
    """Returns the rows as `ringwalk export` writes them."""
    rows = []
    for line in ringwalk("export", file, "--format", "ndjson").ok().out.splitlines():
        row = json.loads(line)
        for name in row:
            if name.endswith("time"):
                row[name] = nanoseconds(row[name])
        rows.append(row)
    return rows


@pytest.fixture(scope="module", params=READERS)
def read(request: pytest.FixtureRequest, files) -> dict[str, list[dict]]:
    """The rows of each file as one of the readers reads them."""
    rows = tables.evaluate(READERS[request.param] + SCRIPT, *files.values())
    return dict(zip(files, rows))


def test_rows_are_those_of_an_export(ringwalk, files, read):
    for name, file in files.items():
        expected = ours(ringwalk, file)
        assert len(read[name]) == len(expected), name
        for found, row in zip(read[name], expected):
            # Not a column of an export.
            found = {name: value for name, value in found.items() if name != "xattrs"}
            del row["root_path"]
            raw, target = row.pop("target_raw"), row["target"]
            row["target"] = raw if raw or target is None else target.encode().hex()
            assert found == row, name


def test_sums_are_those_of_du(ringwalk, files, read):
    for name, file in files.items():
        result = ringwalk("du", "--from", file, "-s", "-B1")
        assert result.status == (1 if name == "errors" else 0), result
        expected = sum(int(line.split()[0]) for line in result.lines())
        assert sum(row["alloc"] or 0 for row in read[name] if row["charged"]) == expected, name


def test_every_kind_has_what_it_is_for(read):
    """So that no test above is empty."""
    plain, roots = read["plain"], read["roots"]
    assert "atime" not in plain[0] and all(row["atime"] for row in read["atime"])
    raw = {row["path_raw"]: row["path"] for row in plain if row["path_raw"]}
    assert raw[b"names/caf\xe9".hex()] == "names/caf\\xe9"
    assert not all(row["charged"] for row in plain)
    assert {row["type"] for row in plain} >= set("fdlps")
    assert {row["root"] for row in roots} == {0, 1, 2}
    assert any(row["mtime"] < 0 for row in roots)
    (row,) = read["empty"]
    assert row["path"] == "" and row["tree_entries"] == 1 and row["tree_first"] is None
    assert [row["operation"] for row in read["errors"] if row["errno"]] == ["open"]
    clamped = {row["path"]: row["mtime"] for row in read["imported"] if row["clamped"]}
    end = 9_223_372_036 * 10**9
    assert clamped == {"late": end, "early": -end}
    assert len(read["imported"]) == 4


def test_extended_attributes(read):
    for name in ("xattrs", "roots"):
        found = {row["path"]: row["xattrs"] for row in read[name] if row["xattrs"]}
        assert found["kinds/file"] == [[b"user.one".hex(), b"value\0\xff".hex()]], name


def test_changes_are_the_same_for_every_reader(ringwalk, files, scratch):
    changes = scratch / "changes.parquet"
    old, new = scratch / "old", scratch / "new"
    top = scratch / "top"
    mixed(top)
    ringwalk("snapshot", top, "-o", old).ok()
    (top / "links" / "soft").unlink()
    (top / "links" / "soft2").unlink()
    (top / "kinds" / "file").write_bytes(b"x" * 70_000)
    os.rename(os.fsencode(top) + b"/names/caf\xe9", os.fsencode(top) + b"/names/\xff\xfd")
    (top / "kinds" / "emptydir" / "new").touch()
    ringwalk("snapshot", top, "-o", new).ok()
    lines = ringwalk("diff", "--format=ndjson", old, new).lines()
    expected = [json.loads(line) for line in lines]
    assert ringwalk("diff", old, new, "--format=parquet", "-o", changes).status == 1
    found = [tables.evaluate(script + SCRIPT, changes)[0] for script in READERS.values()]
    assert found[0] == found[1] == found[2]
    names = ("change", "path", "growth", "type")
    assert [[row[name] for name in names] for row in found[0]] == [
        [change[name] for name in names] for change in expected
    ]
    assert {change["change"] for change in expected} >= {"added", "removed", "renamed", "modified"}


def test_the_examples_of_the_documentation(ringwalk, scratch):
    home = scratch / "home"
    for name, size in (("ann/a", 5000), ("ann/b/c", 90000), ("ann.old", 7), ("bert/d", 100)):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(b"x" * size)
    ringwalk("snapshot", home, "-o", scratch / "home.parquet").ok()
    text = (ROOT / "docs" / "snapshot.md").read_text()
    part = text.split("\n## Reading with other programs\n")[1].split("\n## ")[0]
    queries, *scripts = (
        block.split("```")[0] for block in re.split("```(?:sql|python)\n", part)[1:]
    )
    run = f"import os, duckdb; os.chdir({str(scratch)!r})\n"
    run += "result = [duckdb.sql(query).fetchall() for query in json.loads(sys.argv[1])]"
    (total,), largest = tables.evaluate(run, json.dumps(queries.split(";")[:2]))
    used = int(ringwalk("du", "-s", "-B1", home).ok().out.split()[0])
    assert total == [used]
    assert largest[0] == ["ann/b/c", 90000] and len(largest) == 4
    answers = ("below.to_pydict()['path']", "verdict", "space.to_dicts()")
    found = [
        tables.evaluate(f"import os; os.chdir({str(scratch)!r})\n{script}\nresult = {answer}")
        for script, answer in zip(scripts, answers, strict=True)
    ]
    below, verdict, space = found
    assert sorted(below) == ["ann/a", "ann/b", "ann/b/c"]
    assert verdict == {"complete": True, "errors": 0, "entries": 8}
    assert space == [{"uid": os.getuid(), "alloc": used}]
