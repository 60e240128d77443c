"""Read errors: reported in full, during the scan and after it."""

import asyncio
import errno
import os

import pytest
import ringwalk
from support import listed, run

pa = pytest.importorskip("pyarrow")


@pytest.fixture
def broken(tree):
    """With links that cannot be followed, which not even root can."""
    for number in range(5):
        (tree / "a" / f"loop{number}").symlink_to(f"loop{number}")
    return tree


def test_errors_are_rows(broken):
    scan = ringwalk.scan(broken / "a", follow="always")
    table = pa.table(scan)
    loops = {str(broken / "a" / f"loop{number}") for number in range(5)}
    errors = pa.table(scan.errors)
    assert errors.schema.names == ["path", "path_raw", "operation", "errno", "message", "vanished"]
    assert {row["path"] for row in errors.to_pylist()} == loops
    for row in errors.to_pylist():
        assert (row["operation"], row["errno"], row["vanished"]) == ("stat", errno.ELOOP, False)
        assert row["message"].startswith("cannot access ")
    # What is known of them has its row all the same.
    sizes = dict(zip(table["path"].to_pylist(), table["size"].to_pylist()))
    assert all(sizes[path] is None for path in loops)
    assert scan.summary["errors"] == 5


def test_errors_as_a_sequence(broken):
    scan = ringwalk.scan(broken, follow="always")
    assert len(scan.errors) == 0
    for _ in scan:
        pass
    errors = list(scan.errors)
    assert len(errors) == len(scan.errors)
    error = scan.errors[0]
    assert isinstance(error, ringwalk.ReadError) and errors[0] == error
    rows = pa.table(scan.errors).to_pylist()
    assert [each._asdict() for each in errors] == rows
    assert (error.operation, error.errno, error.path_raw) == ("stat", errno.ELOOP, None)
    assert scan.errors[-1] == errors[-1]
    for beyond in (len(errors), -len(errors) - 1):
        with pytest.raises(IndexError):
            scan.errors[beyond]
    assert len(scan.errors.batch()) == len(errors)


def test_a_path_that_is_not_there(tmp_path):
    missing = tmp_path / "missing"
    scan = ringwalk.scan([missing, tmp_path], on_error="collect")
    assert pa.table(scan)["path"].to_pylist() == [str(tmp_path)]
    [error] = scan.errors
    assert error[:4] == (str(missing), None, "stat", errno.ENOENT)


def test_a_path_with_bytes_that_are_not_utf8(tmp_path):
    missing = os.fsencode(tmp_path) + b"/\xff"
    scan = ringwalk.scan(missing, on_error="collect")
    assert list(scan) == []
    [error] = scan.errors
    assert (error.path, error.path_raw) == (f"{tmp_path}/\\xff", missing)
    assert pa.table(scan.errors).to_pylist() == [error._asdict()]


def test_errors_are_raised_at_the_end_when_asked_to(broken):
    scan = ringwalk.scan([broken, broken / "missing"], on_error="raise")
    batches = []
    with pytest.raises(FileNotFoundError) as raised:
        batches.extend(scan)
    paths = [path for batch in batches for path in pa.record_batch(batch)["path"].to_pylist()]
    assert raised.value.filename == os.fsencode(broken / "missing")
    assert sorted(paths) == sorted(listed(broken)), "everything else came first"
    with pytest.raises(OSError, match="missing"):
        pa.table(ringwalk.scan(broken / "missing", on_error="raise"))


def test_a_directory_that_may_not_be_read(tree):
    if os.geteuid() == 0:
        pytest.skip("root reads every directory")
    (tree / "a").chmod(0)
    try:
        scan = ringwalk.scan(tree)
        paths = pa.table(scan)["path"].to_pylist()
    finally:
        (tree / "a").chmod(0o755)
    assert str(tree / "a") in paths
    [error] = scan.errors
    assert error[:4] == (str(tree / "a"), None, "open", errno.EACCES)


@pytest.mark.parametrize("how", ["for", "table", "async"])
def test_a_path_that_cannot_be_read_is_raised(tmp_path, how):
    async def read(scan):
        async for _ in scan:
            pass

    take = {"for": list, "table": pa.table, "async": lambda scan: asyncio.run(read(scan))}[how]
    for name in "missing", "missing/", "plain/below":
        (tmp_path / "plain").touch()
        scan = ringwalk.scan(f"{tmp_path}/{name}")
        with pytest.raises(OSError, match="No such file|Not a directory") as raised:
            take(scan)
        [error] = scan.errors
        assert (error.path, error.operation) == (f"{tmp_path}/{name}", "stat")
        if how != "table":
            assert raised.value.errno == error.errno
            assert raised.value.filename == os.fsencode(f"{tmp_path}/{name}")


def test_of_several_paths_the_first_is_raised_after_all_rows(broken):
    paths = [broken / "a", broken / "one", broken / "empty", broken / "two"]
    scan, batches = ringwalk.scan(paths, follow="always"), []
    with pytest.raises(FileNotFoundError) as raised:
        batches.extend(scan)
    found = [path for batch in batches for path in pa.record_batch(batch)["path"].to_pylist()]
    assert raised.value.filename == os.fsencode(broken / "one")
    expected = [*listed(broken / "a"), *listed(broken / "empty")]
    assert sorted(found) == sorted(expected)
    # Five links below that lead to themselves are collected, like the second path.
    assert len(scan.errors) == 7


def test_what_is_below_a_path_is_not_raised(broken):
    scan = ringwalk.scan(broken, follow="always")
    # Five links that lead to themselves, each reached by two paths.
    assert sum(map(len, scan)) and len(scan.errors) == 10


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
@pytest.mark.parametrize("slash", ["", "/", "//"])
def test_a_path_that_may_not_be_read_is_raised_after_its_row(tmp_path, slash):
    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "open" / "closed").mkdir(parents=True, mode=0o755)
    (tmp_path / "open" / "closed").chmod(0o700)
    program = """
import os, sys, ringwalk
os.chdir(sys.argv[1])
os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
scan = ringwalk.scan("closed" + sys.argv[2])
print(len(next(scan)))
try:
    next(scan)
except PermissionError as error:
    print(error.filename.decode(), list(scan.errors)[0][:4])
scan = ringwalk.scan("open")
print(sum(map(len, scan)), [row[0] for row in scan.errors])
"""
    for directory in [tmp_path, *tmp_path.parents]:
        directory.chmod(directory.stat().st_mode | 0o111)
    done = run(program, tmp_path, slash)
    expected = f"1\nclosed{slash} ('closed{slash}', None, 'open', 13)\n2 ['open/closed']\n"
    assert (done.stdout, done.stderr) == (expected, "")
