"""How the package is used, as a type checker sees it (`test_types.py`); never run."""

import os
import pathlib
from typing import Any

import ringwalk
from typing_extensions import assert_type


def table(top: pathlib.Path) -> int:
    with ringwalk.scan([top, b"/tmp"], ["path", "size"], follow="always", workers=2) as scan:
        rows = sum(len(batch) for batch in scan)
        for path, operation, number, message, vanished in scan.errors:
            assert_type(path, bytes)
            assert_type((operation, number, message, vanished), tuple[str, int, str, bool])
    assert_type(scan.summary, dict[str, Any] | None)
    assert_type(scan.errors[0][0], bytes)
    return rows


async def task() -> list[str]:
    async for batch in ringwalk.scan("."):
        assert_type(batch, ringwalk.Batch)
        return batch.fields
    return []


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
    assert_type(count.bytes, int | None)
    assert_type(ringwalk.doctor()["version"], Any)
    try:
        return usage.apparent_size + usage.allocated + count.types["file"]
    except ringwalk.SearchError as error:
        assert_type(error.messages, list[str])
        return 0


def wrong() -> None:
    ringwalk.scan(".", ["sise"])  # type: ignore[list-item]
    ringwalk.scan(".", follow="all")  # type: ignore[arg-type]
    ringwalk.find(".", 3)  # type: ignore[call-overload]
    ringwalk.du(None)  # type: ignore[arg-type]


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
