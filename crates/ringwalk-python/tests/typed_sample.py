"""How the package is used, as a type checker sees it (`test_types.py`); never run."""

import os
import pathlib
from typing import Any

import ringwalk
from typing_extensions import assert_type


def table(top: pathlib.Path) -> int:
    with ringwalk.scan([top, b"/tmp"], ["path", "size"], follow="always", workers=2) as scan:
        rows = sum(len(batch) for batch in scan)
        for error in scan.errors:
            assert_type((error.path, error.path_raw), tuple[str, bytes | None])
            assert_type((error.operation, error.errno), tuple[str, int])
            assert_type((error.message, error.vanished), tuple[str, bool])
    assert_type(scan.summary, dict[str, Any] | None)
    assert_type(scan.errors[0], ringwalk.ReadError)
    return rows


async def task() -> list[str]:
    async with ringwalk.scan(".") as scan:
        async for batch in scan:
            assert_type(batch, ringwalk.Batch)
            return batch.fields
    return []


def contents() -> int:
    hashes = ringwalk.hash([".", b"/tmp"], algo="xxh3", workers=2)
    assert_type(hashes.files[0], ringwalk.FileHash)
    assert_type((hashes.files[0].path, hashes.files[0].hash), tuple[str, bytes])
    copies = ringwalk.dupes(pathlib.Path(), keep_in=["a", "b"], min=1 << 20)
    assert_type(copies.groups[0].files[0], ringwalk.DuplicateFile)
    return sum(group.freeable for group in copies.groups)


def paths() -> None:
    for text in ringwalk.find(".", "-name", b"*.py"):
        assert_type(text, str)
    for raw in ringwalk.find(b".", on_error="collect"):
        assert_type(raw, bytes)
    for text in ringwalk.find(pathlib.Path()):
        assert_type(text, str)


def sums() -> int:
    usage = ringwalk.du(os.curdir, follow="never")
    assert_type(usage.errors, list[OSError])
    count = ringwalk.count(os.curdir, stat=False)
    assert_type((count.apparent_size, count.directories), tuple[int | None, int])
    assert_type(ringwalk.doctor()["version"], Any)
    try:
        return usage.apparent_size + usage.allocated_size + count.types["file"]
    except ringwalk.SearchError as error:
        assert_type(error.messages, list[str])
        return 0


def snapshots(top: pathlib.Path) -> int:
    info = ringwalk.snapshot([top, b"/tmp"], top / "out", xattrs=True, memory=1 << 20)
    ringwalk.snapshot(top, "new", since=top / "out")
    assert_type(info, dict[str, Any])
    files = ringwalk.open_snapshot(b"out")
    assert_type(files, ringwalk.Snapshot)
    assert_type(files.locate(top), int | None)
    files.to_arrow(under=top, columns=["path"])
    diff = ringwalk.diff(files, os.curdir, renames=False)
    for change in diff:
        assert_type(change, ringwalk.Change)
        assert_type(change.new, ringwalk.FileVersion | None)
        assert_type(change.renamed_from, tuple[str, str] | None)
    assert_type(diff.groups("dir", depth=2), list[dict[str, Any]])
    assert_type(ringwalk.report(files, ["owner", "age"], under=b"x"), dict[str, Any])
    return diff[0].growth + len(diff) + len(files)


def wrong() -> None:
    ringwalk.scan(".", ["sise"])  # type: ignore[list-item]
    ringwalk.scan(".", follow="all")  # type: ignore[arg-type]
    ringwalk.find(".", 3)  # type: ignore[call-overload]
    ringwalk.du(None)  # type: ignore[arg-type]
    ringwalk.snapshot(".")  # type: ignore[call-arg]
    ringwalk.report("saved", 3)  # type: ignore[arg-type]


def standard(top: pathlib.Path, raw: bytes) -> None:
    for path, directories, files in ringwalk.walk(top, onerror=print):
        assert_type((path, directories, files), tuple[str, list[str], list[str]])
    for item in ringwalk.walk(raw, topdown=False):
        assert_type(item, tuple[bytes, list[bytes], list[bytes]])
    for _, _, names, fd in ringwalk.fwalk(raw, dir_fd=3):
        assert_type((names, fd), tuple[list[bytes], int])
    with ringwalk.scandir(top) as entries:
        entry: ringwalk.DirEntry[str] = next(entries)
    assert_type(entry.stat(follow_symlinks=False).st_size, int)
    assert_type([found.name for found in ringwalk.scandir(raw)], list[bytes])
    assert_type(os.fspath(next(ringwalk.scandir(3))), str)
