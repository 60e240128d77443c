"""Those that are to take a scan without anything between."""

import stat

import pytest
import ringwalk
from support import listed


def test_pyarrow(tree):
    pa = pytest.importorskip("pyarrow")
    expected = sorted(listed(tree))
    assert sorted(pa.table(ringwalk.scan(tree))["path"].to_pylist()) == expected
    reader = pa.RecordBatchReader.from_stream(ringwalk.scan(tree, batch_size=10))
    assert sorted(path for batch in reader for path in batch["path"].to_pylist()) == expected


def test_polars(tree):
    pl = pytest.importorskip("polars")
    fields = ["path", "parent", "type", "size", "mtime"]
    frame = pl.DataFrame(ringwalk.scan(tree, fields))
    assert sorted(frame["path"].to_list()) == sorted(listed(tree))
    sizes = dict(zip(frame["path"], frame["size"]))
    assert sizes[str(tree / "a" / "file9")] == 9
    assert frame.filter(pl.col("type") == "fifo").height == 1
    assert frame.filter(pl.col("path").str.ends_with(".txt"))["size"].to_list() == [4]
    batches = [pl.DataFrame(batch) for batch in ringwalk.scan(tree, fields, batch_size=10)]
    assert pl.concat(batches).height == frame.height


def test_pandas(tree):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame.from_arrow(ringwalk.scan(tree))
    assert sorted(frame["path"]) == sorted(listed(tree))
    assert frame["mtime"].min().nanosecond == 997
    assert frame[frame["path"].str.endswith(".txt")]["size"].to_list() == [4]


def test_duckdb(tree):
    duckdb = pytest.importorskip("duckdb")
    entries = ringwalk.scan(tree, ["path", "type", "size"])
    found = duckdb.sql("select count(*), sum(size) from entries where type = 'file'").fetchall()
    files = [row for row in listed(tree).values() if stat.S_ISREG(row.st_mode)]
    assert found == [(len(files), sum(row.st_size for row in files))]
    assert entries.summary["entries"] == len(listed(tree))
    entries = ringwalk.scan(tree, ["path", "path_raw", "size"])
    found = duckdb.sql("select size from entries where path like '%.txt'").fetchall()
    assert found == [(4,)]


def test_capsules_that_nobody_takes_are_released(tree):
    scan = ringwalk.scan(tree)
    for _ in range(100):
        scan.__arrow_c_schema__()
        scan.__arrow_c_stream__()
    # None of them has begun it.
    batch = next(scan)
    for _ in range(100):
        batch.__arrow_c_array__()
    assert len(batch) + sum(map(len, scan)) == len(listed(tree))
