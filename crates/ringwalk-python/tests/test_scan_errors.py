"""What could not be read: told, whole, while and after."""

import errno
import os

import pytest
import ringwalk
from support import listed

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
    loops = {os.fsencode(broken / "a" / f"loop{number}") for number in range(5)}
    errors = pa.table(scan.errors)
    assert errors.schema.names == ["path", "operation", "errno", "message", "vanished"]
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
    path, operation, number, message, vanished = scan.errors[0]
    assert errors[0] == (path, operation, number, message, vanished)
    assert scan.errors[-1] == errors[-1]
    for beyond in (len(errors), -len(errors) - 1):
        with pytest.raises(IndexError):
            scan.errors[beyond]
    assert len(scan.errors.batch()) == len(errors)


def test_a_path_that_is_not_there(tmp_path):
    missing = tmp_path / "missing"
    scan = ringwalk.scan([missing, tmp_path])
    assert pa.table(scan)["path"].to_pylist() == [os.fsencode(tmp_path)]
    assert [row[:3] for row in scan.errors] == [(os.fsencode(missing), "stat", errno.ENOENT)]


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
    assert os.fsencode(tree / "a") in paths
    assert [row[:3] for row in scan.errors] == [(os.fsencode(tree / "a"), "open", errno.EACCES)]
