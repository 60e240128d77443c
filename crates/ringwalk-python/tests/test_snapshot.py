"""`snapshot` and `open_snapshot` against what the standard library and du find."""

import contextlib
import os
import pathlib
import shutil
import stat
import tempfile

import pytest
import ringwalk
from processes import finished
from ringwalk._snapshot import _groups
from support import listed, run
from test_threads import at_once

LETTERS = {
    stat.S_IFREG: "f",
    stat.S_IFDIR: "d",
    stat.S_IFLNK: "l",
    stat.S_IFIFO: "p",
}


@pytest.fixture
def pq():
    return pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def saved(tmp_path, tree) -> pathlib.Path:
    """A snapshot of the tree, which lies beside it."""
    output = tmp_path / "saved.parquet"
    ringwalk.snapshot(tree, output)
    return output


def raw_path(row) -> bytes:
    return row["path"].encode() if row["path_raw"] is None else row["path_raw"]


def absolute(tree, row) -> str:
    return os.path.join(tree, row["path"]).rstrip("/")


@pytest.mark.smoke
def test_the_rows_are_what_lstat_says(tree, saved, pq):
    table = ringwalk.open_snapshot(saved).to_arrow()
    assert table.equals(pq.read_table(saved))
    found = {absolute(tree, row): row for row in table.to_pylist()}
    expected = listed(tree)
    assert found.keys() == expected.keys()
    times = table.column("mtime").cast("int64").to_pylist()
    for row, mtime in zip(table.to_pylist(), times):
        status = expected[absolute(tree, row)]
        assert (row["type"], row["size"]) == (
            LETTERS[stat.S_IFMT(status.st_mode)],
            status.st_size,
        )
        assert (row["ino"], row["nlink"]) == (status.st_ino, status.st_nlink)
        assert (row["uid"], row["gid"]) == (status.st_uid, status.st_gid)
        assert (row["mode"], row["alloc"]) == (
            stat.S_IMODE(status.st_mode),
            status.st_blocks * 512,
        )
        assert mtime == status.st_mtime_ns
    links = {raw_path(row): row["target"] for row in table.to_pylist() if row["type"] == "l"}
    assert links == {b"link": b"a", b"dangling": b"nowhere"}


def test_a_snapshot_is_a_table_of_all_rows(tree, tmp_path):
    pa = pytest.importorskip("pyarrow")
    for options in {}, {"xattrs": True, "atime": True}:
        ringwalk.snapshot(tree, tmp_path / "saved", **options)
        files = ringwalk.open_snapshot(tmp_path / "saved")
        assert pa.schema(files).names == files.to_arrow().schema.names
        for _ in range(2):
            table = pa.table(files)
            table.validate(full=True)
            assert table.schema.equals(files.to_arrow().schema)
            assert table.to_pylist() == files.to_arrow().to_pylist()


def test_consumers_of_a_table(tree, saved):
    files = ringwalk.open_snapshot(saved)
    duckdb = pytest.importorskip("duckdb")
    query = "select count(*), sum(alloc) filter (charged) from files where path like 'a/%'"
    inside = [row for row in files.to_arrow().to_pylist() if row["path"].startswith("a/")]
    charged = sum(row["alloc"] for row in inside if row["charged"])
    assert duckdb.sql(query).fetchall() == [(len(inside), charged)]
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(files)
    assert frame.filter(pl.col("path").str.starts_with("a/")).height == len(inside)
    pd = pytest.importorskip("pandas")
    assert pd.DataFrame.from_arrow(files)["path"].str.startswith("a/").sum() == len(inside)


def test_damage_is_an_error_of_the_reader(saved):
    pa = pytest.importorskip("pyarrow")
    bytes_ = bytearray(saved.read_bytes())
    files = ringwalk.open_snapshot(saved)
    # The first page begins behind the magic number.
    bytes_[40] ^= 0xFF
    saved.write_bytes(bytes_)
    with pytest.raises((OSError, ValueError), match="damaged"):
        pa.table(files)


def test_the_charged_rows_are_what_du_says(tree, saved):
    pytest.importorskip("pyarrow")
    rows = ringwalk.open_snapshot(saved).to_arrow(columns=["alloc", "charged"]).to_pylist()
    charged = sum(row["alloc"] for row in rows if row["charged"])
    assert charged == ringwalk.du(tree).allocated_size
    done = finished(["du", "-s", "-B1", tree], capture_output=True, text=True, check=True)
    assert charged == int(done.stdout.split()[0])


def test_what_a_snapshot_says_of_itself(tree, saved):
    files = ringwalk.open_snapshot(saved)
    assert files.path == os.fspath(saved) and len(files) == len(listed(tree))
    assert repr(files) == f"<ringwalk.Snapshot: {files.path!r}, {len(files)} rows>"
    info = files.info
    assert list(info) == ["tool", "roots", "filesystems", "users", "groups", "verdict", "run"]
    assert info["tool"] == {"name": "ringwalk", "version": ringwalk.__version__}
    assert info["roots"] == [os.path.realpath(tree)]
    assert info["verdict"] == {"complete": True, "errors": 0, "entries": len(files)}
    assert [each["device"] for each in info["filesystems"]] == [os.lstat(tree).st_dev]
    assert info["users"].get(0, "root") == "root"
    run = info["run"]
    assert 0 < run["start_ns"] <= run["end_ns"] and run["source"]
    assert ringwalk.snapshot(tree, saved).keys() == info.keys()


@pytest.mark.parametrize("workers", [1, 3])
def test_options_of_the_walk_change_no_row(tree, saved, tmp_path, workers):
    pytest.importorskip("pyarrow")
    other = tmp_path / "other"
    info = ringwalk.snapshot(
        tree, other, workers=workers, source="syscall", memory=0, one_file_system=True
    )
    assert info["run"]["source"] == "syscall"
    tables = [ringwalk.open_snapshot(file).to_arrow() for file in (saved, other)]
    assert tables[0].equals(tables[1])


def test_optional_columns(tree, tmp_path):
    pytest.importorskip("pyarrow")
    try:
        os.setxattr(tree / "a" / "file3", "user.colour", b"\xffred")
    except OSError:
        pytest.skip("no extended attributes here")
    output = tmp_path / "out"
    ringwalk.snapshot(tree, output, xattrs=True, atime=True)
    table = ringwalk.open_snapshot(output).to_arrow(tree / "a" / "file3", ["xattrs", "atime"])
    assert table.column_names == ["xattrs", "atime"]
    assert table["xattrs"].to_pylist() == [[(b"user.colour", b"\xffred")]]
    atime = table["atime"].cast("int64").to_pylist()
    assert atime == [os.lstat(tree / "a" / "file3").st_atime_ns]


def test_project_ids(tree, tmp_path):
    pa = pytest.importorskip("pyarrow")
    with_ids, without = tmp_path / "ids", tmp_path / "none"
    ringwalk.snapshot(tree, with_ids, projid=True)
    ringwalk.snapshot(tree, without)
    table = ringwalk.open_snapshot(with_ids).to_arrow()
    assert table.schema.field("projid").type == pa.uint32()
    scanned = pa.table(ringwalk.scan(tree, ["path", "projid"]))
    assert sorted(table["projid"].to_pylist(), key=str) == sorted(
        scanned["projid"].to_pylist(), key=str
    )
    rows = ringwalk.report(with_ids, "project")["rows"]
    assert {row["projid"] for row in rows} == set(table["projid"].to_pylist())
    # The ids of a directory are read.
    assert ringwalk.report(tree, "project")["rows"] == rows
    assert ringwalk.diff(with_ids, tree).same
    assert "projid" not in ringwalk.open_snapshot(without).to_arrow().column_names
    with pytest.raises(ValueError, match="has no project ids"):
        ringwalk.report(without, "project")


@pytest.mark.parametrize("convert", [os.fspath, os.fsencode, pathlib.Path])
def test_paths_of_any_type(tree, tmp_path, convert):
    output = convert(os.fspath(tmp_path / "out"))
    roots = (convert(os.fspath(tree / name)) for name in ("a", "empty"))
    info = ringwalk.snapshot(roots, output)
    assert info["roots"] == [os.path.realpath(tree / name) for name in ("a", "empty")]
    files = ringwalk.open_snapshot(output)
    assert files.path == (os.fspath(output))
    row = files.locate(convert(os.fspath(tree / "a" / "b")))
    assert row is not None and files.locate(tree / "a" / "nothing") is None
    assert files.locate(tree) is None


def test_a_subtree(tree, saved, monkeypatch):
    pytest.importorskip("pyarrow")
    files = ringwalk.open_snapshot(saved)
    everything = files.to_arrow().to_pylist()

    def of(under):
        return files.to_arrow(under=under).to_pylist()

    expected = [row for row in everything if row["path"] == "a" or row["path"].startswith("a/")]
    assert len(expected) == 54
    assert of(tree / "a") == of(os.fsencode(tree) + b"/a") == expected
    # By a link that is there, and from the working directory.
    assert of(tree / "link" / "b") == of(tree / "a" / "b")
    monkeypatch.chdir(tree / "empty")
    assert of("../a") == expected and of(".") == of(tree / "empty")
    assert [row["path"] for row in of("../pipe")] == ["pipe"]
    assert of(tree) == everything
    assert [raw_path(row) for row in of(os.fsencode(tree) + b"/\xff\xfe.dat")] == [b"\xff\xfe.dat"]
    # The snapshot has what is gone.
    shutil.rmtree(tree / "a")
    assert of(tree / "a") == expected
    for missing in (tree / "none", tree.parent, ""):
        with pytest.raises(FileNotFoundError, match="not in the snapshot") as raised:
            of(missing)
        assert raised.value.filename == os.fspath(missing)


def test_columns(saved):
    pytest.importorskip("pyarrow")
    files = ringwalk.open_snapshot(saved)
    table = files.to_arrow(columns=("size", "path"))
    assert table.column_names == ["size", "path"] and len(table) == len(files)
    with pytest.raises(ValueError, match=r"unknown column 'sise': expected one of id, root, dir"):
        files.to_arrow(columns=["path", "sise"])


def test_row_groups_of_ranges():
    groups = [(0, 10), (10, 20), (20, 25)]
    assert _groups(groups, [(0, 25)]) == [(0, 0, 10), (1, 10, 20), (2, 20, 25)]
    assert _groups(groups, [(10, 20)]) == [(1, 10, 20)]
    assert _groups(groups, [(9, 10), (24, 25)]) == [(0, 0, 10), (2, 20, 25)]
    assert _groups([], [(0, 0)]) == []


def test_row_groups_of_a_subtree_and_of_a_table(tmp_path, pq, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    top = tmp_path / "top"
    for name, number in {"first": 131_100, "second": 5}.items():
        (top / name).mkdir(parents=True)
        for file in range(number):
            os.mknod(top / name / f"file{file}")
    ringwalk.snapshot(top, tmp_path / "saved")
    read, original = [], pq.ParquetFile.read_row_groups

    def read_row_groups(self, groups, **options):
        read.append(groups)
        return original(self, groups, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", read_row_groups)
    files = ringwalk.open_snapshot(tmp_path / "saved")
    below = files.to_arrow(under=top / "second", columns=["path"])["path"].to_pylist()
    assert below == [f"second/file{number}" for number in range(5)] + ["second"]
    assert files.to_arrow(under=top / "first" / "file0", columns=["id"]).num_rows == 1
    # The directory itself is not beside its last file.
    assert len(files.to_arrow(under=top / "first", columns=["id"])) == 131_101
    assert read == [[1], [0], [0, 1]]
    monkeypatch.undo()
    stream = pyarrow.RecordBatchReader.from_stream(files)
    assert [len(batch) for batch in stream] == [131_072, 131_108 - 131_072]
    assert pyarrow.table(files).equals(files.to_arrow())


def test_without_pyarrow(saved):
    script = """
import sys
sys.modules["pyarrow"] = None
import ringwalk
files = ringwalk.open_snapshot(sys.argv[1])
print(len(files) > 50, files.locate("/") is None)
try:
    files.to_arrow()
except ImportError as error:
    print(error)
"""
    lines = run(script, saved).stdout.splitlines()
    assert lines[0] == "True True"
    assert lines[1].startswith("Snapshot.to_arrow needs pyarrow (pip install pyarrow): ")


def test_the_output_is_not_in_the_snapshot_and_is_replaced(tree):
    entries = len(listed(tree))
    output = tree / "saved"
    for _ in range(2):
        info = ringwalk.snapshot(tree, output)
        assert info["verdict"]["entries"] == entries
    assert ringwalk.open_snapshot(output).locate(output) is None
    assert len(listed(tree)) == entries + 1, "nothing else stays behind"


def test_an_update_is_the_same_as_a_full_snapshot(tree, saved, tmp_path):
    pytest.importorskip("pyarrow")
    (tree / "a" / "new").touch()
    (tree / "a" / "file1").unlink()
    full, update = tmp_path / "full", tmp_path / "update"
    infos = [ringwalk.snapshot(tree, full), ringwalk.snapshot(tree, update, since=saved)]
    assert infos[0]["verdict"] == infos[1]["verdict"]
    # The older snapshot may be replaced.
    ringwalk.snapshot(tree, saved, since=os.fsencode(saved))
    tables = [ringwalk.open_snapshot(file).to_arrow() for file in (full, update, saved)]
    assert tables[0].equals(tables[1]) and tables[0].equals(tables[2])


def test_an_older_snapshot_that_is_none(tree, saved, tmp_path):
    before = saved.read_bytes()
    missing, foreign = tmp_path / "missing", tree / "a" / "file9"
    with pytest.raises(FileNotFoundError) as raised:
        ringwalk.snapshot(tree, saved, since=missing)
    assert raised.value.filename == os.fspath(missing)
    with pytest.raises(ValueError, match="no snapshot") as raised:
        ringwalk.snapshot(tree, saved, since=foreign)
    assert os.fspath(foreign) in str(raised.value)
    with pytest.raises(TypeError):
        ringwalk.snapshot(tree, saved, since=1.5)
    assert saved.read_bytes() == before, "no failure changes what was there"


def test_an_open_snapshot_stays_as_it_is(tree, saved):
    pytest.importorskip("pyarrow")
    files = ringwalk.open_snapshot(saved)
    before = files.to_arrow()
    (tree / "new").touch()
    ringwalk.snapshot(tree, saved)
    assert len(ringwalk.open_snapshot(saved)) == len(files) + 1
    assert files.to_arrow().equals(before)
    saved.unlink()
    assert files.to_arrow().equals(before) and files.locate(tree / "new") is None


def test_what_cannot_be_written_or_read_is_an_exception_with_its_path(tree, saved):
    old = saved.read_bytes()
    with pytest.raises(FileNotFoundError) as raised:
        ringwalk.snapshot([tree, os.fsencode(tree / "none")], saved)
    assert os.fsencode(raised.value.filename) == os.fsencode(tree / "none")
    for output, kind in {
        tree / "none" / "out": FileNotFoundError,
        tree / "a" / "file1" / "out": NotADirectoryError,
        tree / "a": IsADirectoryError,
    }.items():
        with pytest.raises(kind) as raised:
            ringwalk.snapshot(tree, output)
        assert raised.value.filename == os.fspath(output)
    with pytest.raises(OSError, match="not a regular file"):
        ringwalk.snapshot(tree, tree / "pipe")
    with pytest.raises(ValueError, match="lies within"):
        ringwalk.snapshot([tree, tree / "a"], saved)
    for wrong in ({"source": "tape"}, {"workers": 0}, {"memory": -1}):
        with pytest.raises(ValueError, match="tape|workers|-1"):
            ringwalk.snapshot(tree, saved, **wrong)
    with pytest.raises(ValueError, match="no path"):
        ringwalk.snapshot([], saved)
    with pytest.raises(TypeError):
        ringwalk.snapshot(None, saved)
    assert saved.read_bytes() == old, "no failure changes what was there"


def test_files_that_are_no_snapshots(tree, saved, tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    missing = tmp_path / "missing"
    with pytest.raises(FileNotFoundError) as raised:
        ringwalk.open_snapshot(missing)
    assert raised.value.filename == os.fspath(missing)
    foreign, cut = tmp_path / "foreign", tmp_path / "cut"
    parquet.write_table(pa.table({"path": ["a"]}), foreign)
    cut.write_bytes(saved.read_bytes()[:-100])
    for file in (tree / "a" / "file9", foreign, cut, tree):
        with pytest.raises(ValueError, match="no snapshot") as raised:
            ringwalk.open_snapshot(file)
        assert os.fspath(file) in str(raised.value)


def test_what_cannot_be_read_counts_in_the_verdict():
    with contextlib.ExitStack() as after:
        # Not below pytest's own folder, which only its user may enter.
        folder = tempfile.mkdtemp()
        after.callback(shutil.rmtree, folder)
        os.chmod(folder, 0o777)
        os.makedirs(f"{folder}/top/closed/inner")
        os.chmod(f"{folder}/top/closed", 0)
        if os.geteuid() == 0:
            after.callback(os.seteuid, 0)
            os.seteuid(65534)
        else:
            after.callback(os.chmod, f"{folder}/top/closed", 0o700)
        info = ringwalk.snapshot(f"{folder}/top", f"{folder}/saved")
        assert info["verdict"] == {"complete": False, "errors": 1, "entries": 2}
        rows = ringwalk.report(f"{folder}/saved", "type")
        assert (rows["complete"], rows["errors"]) == (False, 1)
        diff = ringwalk.diff(f"{folder}/saved", f"{folder}/saved")
        assert diff.same and not diff.complete
        assert {(each["path"], each["errno"]) for each in diff.unread} == {("closed", 13)}


def test_by_many_threads(tree, saved):
    pytest.importorskip("pyarrow")
    files = ringwalk.open_snapshot(saved)
    expected = files.to_arrow(under=tree / "a")

    def work():
        for _ in range(5):
            assert files.to_arrow(under=tree / "a").equals(expected)
            assert files.locate(tree / "none") is None
            assert ringwalk.diff(files, saved).same
            assert ringwalk.report(files, "ext")["total"]["entries"] == len(files)

    at_once(work)


def test_in_a_fork(tree, saved):
    script = """
import os, sys
import ringwalk
tree, saved = sys.argv[1:]
files = ringwalk.open_snapshot(saved)
child = os.fork()
if child == 0:
    same = ringwalk.diff(files, tree).same and files.locate(tree) == len(files) - 1
    ringwalk.snapshot(tree, saved + ".child")
    os._exit(0 if same else 1)
_, status = os.waitpid(child, 0)
print(status, files.locate(tree) == len(files) - 1, len(ringwalk.open_snapshot(saved + ".child")))
"""
    done = run(script, tree, saved)
    assert (done.stdout, done.stderr) == (f"0 True {len(listed(tree))}\n", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_rights_that_cannot_be_kept_are_a_warning():
    script = """
import os, tempfile, warnings
import ringwalk
with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o777)
    os.mkdir(f"{folder}/tree")
    saved = f"{folder}/saved"
    os.close(os.open(saved, os.O_CREAT))
    os.chmod(saved, 0o664)
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ringwalk.snapshot(f"{folder}/tree", saved)
        for each in caught:
            print(each.category.__name__, str(each.message).removeprefix(saved), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print(oct(os.stat(saved).st_mode))
"""
    done = run(script)
    text = "the new file cannot keep the owner and the group of the old one: its permissions are"
    assert done.stdout == f"RuntimeWarning : {text} 0644\n0o100644\n", done.stderr
