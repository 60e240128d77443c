"""`scan` against what the standard library finds, and its options."""

import fcntl
import os
import re
import stat
import struct
from pathlib import Path

import pytest
import ringwalk
from support import listed

pa = pytest.importorskip("pyarrow")

ALL = [
    "path", "path_raw", "name", "name_raw", "parent", "parent_raw", "depth", "root", "type", "size",
    "blocks", "mtime", "atime", "ctime", "btime", "mode", "nlink", "uid", "gid", "ino", "dev",
    "rdev", "mnt_id", "projid",
]  # fmt: skip

TYPES = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
}


def rows(scan) -> dict[str, dict]:
    return {row["path"]: row for row in pa.table(scan).to_pylist()}


def ints(scan, column) -> dict[str, int | None]:
    table = pa.table(scan)
    return dict(zip(table["path"].to_pylist(), table[column].cast(pa.int64()).to_pylist()))


def project_id(path) -> int | None:
    """FS_IOC_FSGETXATTR of linux/fs.h."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return struct.unpack_from("=I", fcntl.ioctl(descriptor, 0x801C581F, bytes(28)), 12)[0]
    except OSError:
        return None
    finally:
        os.close(descriptor)


def test_all_columns_are_listed_everywhere():
    """The columns that there are, those of the stub, and those that the tests compare."""
    with pytest.raises(ValueError, match='no field "other"') as error:
        ringwalk.scan(".", ["other"])
    assert str(error.value).partition("there are: ")[2].split(", ") == ALL
    stub = Path(ringwalk.__file__).with_name("_ringwalk.pyi").read_text()
    literal = re.search(r"^_Field: TypeAlias = Literal\[(.*?)\]$", stub, re.M | re.S)[1]
    assert re.findall(r'"(\w+)"', literal) == ALL
    described = re.findall(r"`(\w+)`", ringwalk.scan.__doc__)
    assert set(ALL) <= set(described)


def test_project_ids_are_those_of_open_files(tree):
    scan = ringwalk.scan(tree, ["path", "path_raw", "type", "projid"])
    assert pa.schema(scan).field("projid").type == pa.uint32()
    found = pa.table(scan).to_pylist()
    asked = [row for row in found if row["type"] in ("file", "directory")]
    assert asked
    for row in asked:
        path = row["path"] if row["path_raw"] is None else row["path_raw"]
        assert row["projid"] == project_id(path), row


def test_a_project_id_that_is_not_known_is_null():
    """/proc has no project ids."""
    scan = ringwalk.scan("/proc/self/fdinfo", ["name", "projid", "size"])
    table = pa.table(scan)
    assert table["projid"].null_count == len(table) > 1


@pytest.mark.smoke
def test_all_columns_are_what_lstat_says(tree):
    expected = listed(tree)
    found = rows(ringwalk.scan(tree, ALL))
    assert found.keys() == expected.keys()
    for path, row in found.items():
        is_root = path == str(tree)
        status = expected[path]
        assert row["name"] == (path if is_root else os.path.basename(path))
        assert row["parent"] == ("" if is_root else os.path.dirname(path))
        assert row["depth"] == path.count("/") - str(tree).count("/")
        assert row["root"] == 0
        assert row["type"] == TYPES[stat.S_IFMT(status.st_mode)]
        for field in ("size", "blocks", "mode", "nlink", "uid", "gid", "ino", "dev", "rdev"):
            assert row[field] == getattr(status, f"st_{field}"), (path, field)


def test_names_that_are_not_utf8_are_escaped_and_have_their_bytes(tmp_path):
    top = os.fsencode(tmp_path)
    os.makedirs(top + b"/d\xff/plain")
    # As text the name is that of the directory. Only the bytes are different.
    open(top + b"/d\\xff", "w").close()
    open(top + "/d\u00e9".encode(), "w").close()
    fields = ["path", "path_raw", "name", "name_raw", "parent", "parent_raw"]
    for size in 1, 1000:
        table = pa.table(ringwalk.scan(tmp_path, fields, size, min_depth=1))
        table.validate(full=True)
        found = {(row["path_raw"], row["path"]): tuple(row.values()) for row in table.to_pylist()}
        text, raw = f"{tmp_path}/d\\xff", top + b"/d\xff"
        plain = (f"{text}/plain", raw + b"/plain", "plain", None, text, raw)
        expected = [
            (text, raw, "d\\xff", b"d\xff", str(tmp_path), None),
            (text, None, "d\\xff", None, str(tmp_path), None),
            (f"{tmp_path}/d\u00e9", None, "d\u00e9", None, str(tmp_path), None),
            plain,
        ]
        assert found == {(row[1], row[0]): row for row in expected}
    schema = pa.schema(ringwalk.scan(tmp_path, fields))
    assert schema.field("path_raw").nullable and not schema.field("name").nullable


def test_a_path_is_the_same_as_in_a_snapshot(tree, tmp_path):
    ringwalk.snapshot(tree, tmp_path / "saved")
    saved = ringwalk.open_snapshot(tmp_path / "saved").to_arrow(columns=["path", "path_raw"])
    saved = {row["path"]: row["path_raw"] for row in saved.to_pylist() if row["path"]}
    os.chdir(tree)
    scan = pa.table(ringwalk.scan(os.listdir(os.fsencode(".")), ["path", "path_raw"]))
    assert saved == {row["path"]: row["path_raw"] for row in scan.to_pylist()}
    assert any(saved.values())


@pytest.mark.parametrize("field", ["mtime", "atime", "ctime"])
def test_times_have_all_their_nanoseconds_also_before_1970(tree, field):
    times = ints(ringwalk.scan(tree / "a", ["path", field], max_depth=1), field)
    path = str(tree / "a" / "file1")
    assert times[path] == getattr(os.lstat(path), f"st_{field}_ns")
    if field == "mtime":
        assert times[path] == -5_000_000_003


@pytest.mark.parametrize("field", ["mtime", "atime", "ctime", "btime"])
def test_times_are_in_utc(tree, field):
    scan = ringwalk.scan(tree, [field])
    assert pa.schema(scan).field(field).type == pa.timestamp("ns", tz="UTC")
    for batch in scan:
        column = pa.record_batch(batch)[field]
        assert column.type == pa.timestamp("ns", tz="UTC")
        column.validate(full=True)


def test_a_time_that_does_not_fit_is_null(tmp_path):
    far = tmp_path / "far"
    far.touch()
    os.utime(far, ns=(0, 9_300_000_000 * 10**9))
    if os.stat(far).st_mtime_ns < 9_300_000_000 * 10**9:
        pytest.skip("this file system has no such time")
    assert ints(ringwalk.scan(far, ["path", "mtime"]), "mtime")[str(far)] is None


def test_the_schema_is_known_before_anything_is_read(tmp_path):
    scan = ringwalk.scan(tmp_path / "not there", ["path", "type", "size", "mtime", "ino", "mode"])
    schema = pa.schema(scan)
    assert schema.names == scan.fields == ["path", "type", "size", "mtime", "ino", "mode"]
    assert schema.types == [
        pa.string(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.int64(),
        pa.timestamp("ns", tz="UTC"),
        pa.uint64(),
        pa.uint32(),
    ]
    assert not schema.field("path").nullable
    assert schema.field("size").nullable
    assert pa.schema(ringwalk.scan(tmp_path, ALL)).field("parent").type == pa.dictionary(
        pa.int32(), pa.string()
    )


def test_fields_are_those_asked_for_in_that_order(tree):
    assert ringwalk.scan(tree).fields == ["path", "type", "size", "mtime"]
    assert pa.table(ringwalk.scan(tree, ("mtime", "name"))).column_names == ["mtime", "name"]


def test_without_metadata_nothing_is_asked_for(tree):
    types = rows(ringwalk.scan(tree, ["path", "type"]))
    assert types[str(tree / "link")]["type"] == "symlink"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_batches_have_at_most_so_many_rows(tree, size):
    sizes = [len(batch) for batch in ringwalk.scan(tree, batch_size=size)]
    assert max(sizes) <= size and sum(sizes) == len(listed(tree))
    assert len(sizes) >= len(listed(tree)) / size


def test_a_batch_is_a_record_batch(tree):
    batch = next(ringwalk.scan(tree, ALL))
    taken = pa.record_batch(batch)
    taken.validate(full=True)
    assert taken.num_rows == batch.num_rows == len(batch)
    assert taken.schema.names == batch.fields == ALL
    assert "rows of path, path_raw, name" in repr(batch)


def test_parents_in_many_small_batches(tree):
    paths = [
        os.path.join(row["parent"], row["name"])
        for batch in ringwalk.scan(tree, ["parent", "name"], batch_size=3)
        for row in pa.record_batch(batch).to_pylist()
    ]
    assert sorted(paths) == sorted(listed(tree))


def test_a_root_that_ends_with_a_slash(tree):
    paths = pa.table(ringwalk.scan(f"{tree}/a/", ["path", "parent"])).to_pylist()
    assert {"path": f"{tree}/a/file1", "parent": f"{tree}/a"} in paths
    top = pa.table(ringwalk.scan("/", ["path", "parent"], max_depth=1)).to_pylist()
    assert {"path": "/proc", "parent": "/"} in top


def test_many_roots_of_any_kind(tree):
    paths = [tree / "a" / "b", os.fsencode(tree / "empty"), f"{tree}/pipe"]
    found = rows(ringwalk.scan(paths, ["path", "root"]))
    roots = {path: row["root"] for path, row in found.items()}
    assert roots == {
        str(tree / "a" / "b"): 0,
        str(tree / "a" / "b" / "deep.txt"): 0,
        str(tree / "a" / "b" / "again"): 0,
        str(tree / "empty"): 1,
        str(tree / "pipe"): 2,
    }
    assert rows(ringwalk.scan(iter(paths), ["path", "root"])).keys() == roots.keys()


def test_depths(tree):
    scan = ringwalk.scan(tree, ["depth"], min_depth=1, max_depth=2)
    depths = set(pa.table(scan)["depth"].to_pylist())
    assert depths == {1, 2}


def test_links_are_followed_when_asked_to(tree):
    link = str(tree / "link")
    assert rows(ringwalk.scan(link))[link]["type"] == "symlink"
    followed = rows(ringwalk.scan(link, follow="roots"))
    assert followed[link]["type"] == "directory"
    assert link + "/file7" in followed
    everything = rows(ringwalk.scan(tree, follow="always"))
    assert everything[link + "/file7"]["size"] == 7
    # A link that leads nowhere is an entry of its own.
    assert everything[str(tree / "dangling")]["type"] == "symlink"


def test_one_file_system():
    inside = pa.table(ringwalk.scan("/", ["path"], max_depth=2))["path"].to_pylist()
    assert any(path.startswith("/proc/") for path in inside)
    alone = pa.table(ringwalk.scan("/", ["path"], max_depth=2, one_file_system=True))
    assert not any(path.startswith("/proc/") for path in alone["path"].to_pylist())


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("source", ["auto", "syscall"])
def test_workers_and_sources(tree, workers, source):
    scan = ringwalk.scan(tree, workers=workers, source=source)
    assert rows(scan).keys() == listed(tree).keys()
    assert scan.summary["workers"] <= workers
    assert scan.summary["entries"] == len(listed(tree))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fields": []}, "no fields"),
        ({"fields": ["size", "sise"]}, "no field \"sise\"; there are: path, path_raw, name"),
        ({"fields": ["size", "size"]}, "twice"),
        ({"batch_size": 0}, "batch_size=0: expected a number from 1"),
        ({"batch_size": 1 << 40}, "expected a number from 1"),
        ({"follow": "all"}, "expected 'never', 'roots' or 'always'"),
        ({"source": "tape"}, "source=\"tape\": no source \"tape\" in this version; there are"),
        ({"workers": 0}, "workers=0: expected a number from 1 to 1024"),
        ({"workers": 1025}, "from 1 to 1024"),
        ({"workers": -1}, "-1: expected a number from 0"),
        ({"max_depth": -1}, "-1: expected a number from 0"),
        ({"on_error": "ignore"}, "expected 'raise' or 'collect'"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_at_once(tree, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ringwalk.scan(tree, **options)


@pytest.mark.parametrize("paths", [3, None, [3], [None]])
def test_paths_must_be_paths(paths):
    with pytest.raises(TypeError):
        ringwalk.scan(paths)


def test_no_path_and_paths_that_cannot_be():
    with pytest.raises(ValueError, match="no path"):
        ringwalk.scan([])
    with pytest.raises(ValueError, match="null byte"):
        ringwalk.scan("a\0b")


def test_the_stub_names_every_source():
    with pytest.raises(ValueError, match="there are: ") as refused:
        ringwalk.scan(".", source="tape")
    names = str(refused.value).rpartition("there are: ")[2].split(", ")
    stub = Path(ringwalk.__file__).with_name("_ringwalk.pyi").read_text()
    (listed,) = re.findall(r"^_Source: TypeAlias = Literal\[(.*)\]$", stub, re.MULTILINE)
    assert listed == ", ".join(f'"{name}"' for name in names)


def test_a_source_that_cannot_be_used_here_is_refused_with_its_reason():
    with pytest.raises(OSError, match="proc") as refused:
        ringwalk.scan("/proc", source="ext4")
    assert refused.value.filename == "/proc"
    assert refused.value.strerror


def test_a_summary_comes_with_the_end(tree):
    scan = ringwalk.scan(tree)
    assert scan.summary is None
    assert sum(map(len, scan)) == scan.summary["entries"] == len(listed(tree))
    assert (scan.summary["errors"], scan.summary["source"]) == (0, "syscall")


@pytest.mark.parametrize("fields", ["size", b"size", 5, [5], [b"size"]])
def test_fields_are_names_in_a_list(tree, fields):
    wrong = fields[0] if isinstance(fields, list) else fields
    with pytest.raises(TypeError, match=f"^{re.escape(repr(wrong))}: expected a list of names"):
        ringwalk.scan(tree, fields)
