"""`ringwalk sql` with the program duckdb, with the Python module, and without either."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path

import pytest
from support import ROOT, tables
from support.run import USER, Program, run
from support.terminal import converse


@pytest.fixture(scope="module")
def sql(ringwalk: Program) -> Program:
    """`ringwalk sql`."""
    return ringwalk.with_args("sql")


@pytest.fixture(scope="module")
def tree(base: Path) -> Path:
    top = base / "sql"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "x.txt").write_bytes(b"x" * 5000)
    (top / "a" / "b" / "it's.log").write_bytes(b"x" * 100)
    os.link(top / "a" / "x.txt", top / "y.txt")
    return top


@pytest.fixture(scope="module")
def snapshot(ringwalk: Program, base: Path, tree: Path) -> Path:
    """A snapshot of that tree."""
    file = base / "sql.parquet"
    ringwalk("snapshot", tree, "-o", file).ok()
    return file


def wrapper(folder: Path, name: str, command: str) -> None:
    """Makes a program that runs another one. Environments of Python must keep their paths."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    (folder / name).chmod(0o755)


@pytest.fixture(scope="module")
def paths(base: Path) -> dict[str, dict[str, str]]:
    """Environments in which there is the program, the module, or neither."""
    tables.needed()
    wrapper(base / "program", "duckdb", str(tables.DUCKDB))
    wrapper(base / "module", "python3", str(tables.PYTHON))
    # Without the packages of the site.
    wrapper(base / "neither", "python3", "/usr/bin/python3 -S")
    (base / "empty").mkdir()
    return {name: {"PATH": str(base / name)} for name in ("program", "module", "neither", "empty")}


@pytest.fixture(params=("program", "module"))
def env(request: pytest.FixtureRequest, paths) -> dict[str, str]:
    """The environment of each kind of DuckDB."""
    return paths[request.param]


def rows(result) -> list[dict]:
    text = result.ok().out.decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_query_gives_csv(sql, snapshot, tree, env):
    query = "SELECT path, type, size, charged, errno FROM snapshot ORDER BY path"
    found = rows(sql(snapshot, query, env=env))
    assert [row["path"] for row in found] == ["", "a", "a/b", "a/b/it's.log", "a/x.txt", "y.txt"]
    assert [row["type"] for row in found] == list("dddfff")
    assert found[4]["size"] == "5000" and found[4]["charged"] == "true"
    assert found[5]["charged"] == "false" and found[5]["errno"] == ""
    total = rows(sql(snapshot, "SELECT sum(alloc) AS x FROM snapshot WHERE charged", env=env))
    assert int(total[0]["x"]) == int(run(["du", "-s", "-B1", tree]).ok().out.split()[0])


def test_the_views(sql, snapshot, tree, env):
    query = "SELECT name, full_path, owner, group_name, mtime > now() - INTERVAL 1 DAY AS new FROM "
    found = {row["full_path"]: row for row in rows(sql(snapshot, query + "entries", env=env))}
    listed = run(["find", tree, "-printf", "%p,%u,%g\n"]).ok().out.decode().splitlines()
    wanted = {tuple(line.rsplit(",", 2)) for line in listed}
    assert {(row["full_path"], row["owner"], row["group_name"]) for row in found.values()} == wanted
    assert found[f"{tree}/a/x.txt"]["name"] == "x.txt"
    assert all(row["new"] == "true" for row in found.values())
    assert len(rows(sql(snapshot, query + "files", env=env))) == 3
    assert len(rows(sql(snapshot, query + "directories", env=env))) == 3
    assert rows(sql(snapshot, query + "errors", env=env)) == []
    assert rows(sql(snapshot, "FROM roots", env=env)) == [{"root": "0", "root_path": str(tree)}]


def test_several_snapshots_have_numbers(sql, ringwalk, snapshot, tree, scratch, env):
    other = scratch / "other.parquet"
    ringwalk("snapshot", tree / "a", "-o", other).ok()
    query = "SELECT (SELECT count(*) FROM snapshot1) a, (SELECT count(*) FROM entries2) b"
    assert rows(sql(snapshot, other, query, env=env)) == [{"a": "6", "b": "4"}]


def test_names_that_mean_something_in_sql(sql, snapshot, scratch, env):
    names = ["it's.parquet", "a*b?[c]{d}.parquet", "'; DROP VIEW x; --", "a\nb", 'q"q', "$1 %s"]
    (scratch / "axbxc{d}.parquet").write_text("what the pattern matches")
    for name in names:
        file = scratch / name
        file.write_bytes(snapshot.read_bytes())
        assert rows(sql(file, "SELECT count(*) n FROM entries", env=env)) == [{"n": "6"}], name
        assert rows(sql(name, "FROM roots", env=env, cwd=scratch))[0]["root"] == "0"
    (scratch / "s3:").mkdir()
    (scratch / "s3:" / "x").write_bytes(snapshot.read_bytes())
    assert len(rows(sql("s3://x", "FROM snapshot", env=env, cwd=scratch))) == 6


def test_queries_from_standard_input(sql, snapshot, env):
    found = rows(sql(snapshot, env=env, stdin=b"SELECT count(*) AS n FROM files;\n"))
    assert found == [{"n": "3"}]


def test_errors_of_duckdb_have_status_1(sql, snapshot, env):
    for query in ("SELECT nosuch FROM snapshot", "SELEC 1;", "FROM nosuch;"):
        result = sql(snapshot, query, env=env)
        assert result.status == 1 and b"Error" in result.err and result.out == b"", result
    result = sql(snapshot, env=env, stdin=b"SELECT nosuch FROM snapshot;\n")
    assert result.status == 1


def test_damaged_pages_have_status_1(sql, snapshot, scratch, env):
    """DuckDB reads the pages. Zeros at their beginning are no header of a page."""
    whole = bytearray(snapshot.read_bytes())
    whole[4:300] = bytes(296)
    (scratch / "damaged").write_bytes(whole)
    result = sql(scratch / "damaged", "SELECT id, dir, path FROM snapshot", env=env)
    assert result.status == 1 and b"Error" in result.err and result.out == b"", result


def test_an_incomplete_snapshot_has_status_1(sql, ringwalk, scratch, env):
    (scratch / "tree" / "closed").mkdir(parents=True)
    (scratch / "tree" / "closed").chmod(0)
    scratch.chmod(0o777)
    file = scratch / "s.parquet"
    assert ringwalk("snapshot", scratch / "tree", "-o", file, uid=USER).status == 1
    result = sql(file, "SELECT path, operation FROM errors", env=env)
    assert result.status == 1 and b"incomplete: 1 error;" in result.err
    assert result.out == b"path,operation\nclosed,open\n"


def test_without_duckdb_it_says_how_to_get_it(sql, snapshot, paths):
    for name in ("neither", "empty"):
        result = sql(snapshot, "FROM snapshot LIMIT 1", env=paths[name])
        assert result.status == 2 and result.out == b""
        assert b"https://duckdb.org" in result.err and b"pip install duckdb" in result.err


def test_a_module_in_the_working_directory_is_not_run(sql, snapshot, scratch, paths):
    (scratch / "duckdb.py").write_text("print('taken')")
    result = sql(snapshot, "SELECT 1 AS x", env=paths["module"], cwd=scratch)
    assert rows(result) == [{"x": "1"}]


def test_a_prompt_at_a_terminal(sql, snapshot, paths):
    """The program shows its prompt and has the views; the module has no prompt."""
    words = [os.fspath(word) for word in (*sql.first, snapshot)]
    answers = [b"SELECT count(*) + 4711 AS n FROM files;", b".quit"]
    env = paths["program"] | {"TERM": "dumb", "HOME": "/nonexistent"}
    status, shown = converse(words, answers, prompt=b"D ", env=env)
    assert status == 0 and b"4714" in shown
    status, shown = converse(words, env=paths["module"])
    assert status == 2 and b"no prompt" in shown
    status, shown = converse(words, env=paths["empty"])
    assert status == 2 and b"pip install duckdb" in shown


def test_a_table_at_a_terminal(sql, snapshot, env):
    words = [os.fspath(word) for word in (*sql.first, snapshot)]
    query = "SELECT path, 4711 AS number FROM files ORDER BY path"
    status, shown = converse([*words, query], env=env | {"LC_ALL": "C.UTF-8"})
    assert status == 0 and "│".encode() in shown and b"4711" in shown and b"a/x.txt" in shown


@pytest.mark.smoke
def test_views_are_printed_without_duckdb(sql, snapshot):
    out = sql(snapshot, "--views", env={"PATH": "/nonexistent"}).ok().out.decode()
    assert out.count("CREATE OR REPLACE VIEW ") == 8
    assert f"read_parquet('{snapshot}')" in out
    result = sql(snapshot, "SELECT 1", "--views")
    assert result.status == 2 and b"--views" in result.err


def test_printed_views_are_sql(sql, snapshot):
    views = sql(snapshot, "--views").ok().out.decode()
    script = """
import duckdb
connection = duckdb.connect()
connection.execute(sys.argv[1])
result = connection.execute("SELECT count(*), sum(size) FROM files").fetchall()
"""
    assert tables.evaluate(script, views) == [[3, 10100]]


def test_bad_input(sql, snapshot, scratch, paths):
    def refused(*words, says: str) -> None:
        result = sql(*words, env=paths["program"], cwd=scratch)
        assert result.status == 2 and result.out == b"" and says.encode() in result.err, result

    refused("missing.parquet", "SELECT 1", says="missing.parquet")
    refused(snapshot, "missing.parquet", says="missing.parquet")
    refused("SELECT 1", says="'SELECT 1'")
    refused(says="SNAP")
    (scratch / "text").write_text("no snapshot")
    refused("text", "SELECT 1", says="no snapshot")
    whole = snapshot.read_bytes()
    (scratch / "cut").write_bytes(whole[: len(whole) // 2])
    refused("cut", "SELECT 1", says="'cut': this is no snapshot")
    # The last eight bytes are the length of the footer and the magic.
    (scratch / "footer").write_bytes(whole[:-200] + bytes(192) + whole[-8:])
    refused("footer", "SELECT 1", says="'footer': the snapshot is damaged")
    (scratch / "a\\*").write_bytes(snapshot.read_bytes())
    refused("a\\*", "SELECT 1", says="backslash")
    os.rename(scratch / "a\\*", os.fsencode(scratch) + b"/a\xff")
    refused(b"a\xff", "SELECT 1", says="UTF-8")


def nodes(plan: dict | list):
    """Yields the nodes of a query plan."""
    if isinstance(plan, list):
        for each in plan:
            yield from nodes(each)
        return
    yield plan
    yield from nodes(plan.get("children", []))


@pytest.mark.parametrize("view", ("snapshot", "entries", "directories"))
def test_conditions_on_paths_reach_the_reader_of_the_file(sql, snapshot, paths, view):
    """So DuckDB can leave out row groups, also in the views that join owners."""
    plan = f"EXPLAIN (FORMAT json) SELECT uid FROM {view} WHERE starts_with(path, 'a/b/')"
    out = sql(snapshot, plan, env=paths["program"]).ok().out
    plan = json.loads(out[out.index(b"[") :])
    scans = [node for node in nodes(plan) if "READ_PARQUET" in node["name"]]
    filters = [str(node["extra_info"].get("Filters")) for node in scans]
    assert any("starts_with(path, 'a/b/')" in each or "path>='a/b/'" in each for each in filters)


def test_the_queries_of_the_documentation_run(sql, snapshot, env):
    text = (ROOT / "docs" / "sql.md").read_text()
    queries = [part.partition("```")[0] for part in text.split("```sql\n")[1:]]
    assert len(queries) >= 6
    for query in queries:
        several = re.search(r"\b(snapshot|entries|files|directories)1\b", query)
        files = (snapshot, snapshot) if several else (snapshot,)
        result = sql(*files, query, env=env).ok()
        assert result.out, query
