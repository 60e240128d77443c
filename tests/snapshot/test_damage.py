"""Files that are no snapshots, or damaged ones, given to every command that reads snapshots."""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path

import pytest
from support import tables
from support.constant import sealed
from support.run import Result

# The words of each command before and behind the snapshot, and the status of one that is refused.
COMMANDS = {
    "find": (("find", "--from"), ("-ls",), 1),
    "du": (("du", "-a", "--from"), (), 1),
    "count": (("count", "--from"), (), 2),
    "diff": (("diff",), None, 2),
    "report": (("report",), ("--by", "owner,dir"), 2),
    "export": (("export",), ("--format", "ndjson"), 2),
    "sql": (("sql", "--views"), (), 2),
}


@pytest.fixture(params=COMMANDS)
def command(request: pytest.FixtureRequest) -> str:
    """The name of a command."""
    return request.param


@pytest.fixture(scope="module")
def good(ringwalk, base: Path) -> Path:
    """A snapshot of a small tree."""
    top = base / "damage"
    (top / "d" / "e").mkdir(parents=True)
    for number in range(20):
        (top / "d" / f"file-{number}.txt").write_bytes(b"x" * number)
    os.link(top / "d" / "file-7.txt", top / "d" / "e" / "link")
    (top / "symlink").symlink_to("d")
    file = base / "damage.parquet"
    ringwalk("snapshot", top, "-o", file).ok()
    return file


@pytest.fixture
def read(ringwalk, good, command):
    """Runs the command on a file. None of its answers may be a crash."""

    def read(file: Path) -> Result:
        before, after, _ = COMMANDS[command]
        words = (file, good) if after is None else (file, *after)
        result = ringwalk(*before, *words)
        assert result.status in (0, 1, 2) and b"panicked" not in result.err, result
        return result

    return read


@pytest.fixture
def refused(read, command):
    """Runs the command on a file that it must refuse, before it writes anything."""

    def refused(file: Path, says: str = "") -> None:
        result = read(file)
        assert result.status == COMMANDS[command][2] and result.out == b"", result
        assert result.err.count(b"\n") == 1, result
        assert os.fsencode(file.name) in result.err and says.encode() in result.err, result

    return refused


def test_files_that_are_no_snapshots(ringwalk, refused, command, good, scratch):
    data = good.read_bytes()
    refused(scratch / "missing", "No such file")
    # Other commands read a directory as it is now.
    if command not in ("diff", "report"):
        refused(scratch, "no regular file")
    for name, contents, says in (
        ("empty", b"", "no snapshot"),
        ("text", b"no snapshot at all\n" * 100, "no snapshot: it does not end like a Parquet file"),
        ("begin", b"PARX" + data[4:], "no snapshot: it does not begin like a Parquet file"),
        ("end", data[:-4] + b"PARX", "no snapshot: it does not end like a Parquet file"),
        ("encrypted", data[:-4] + b"PARE", "no snapshot: its footer is encrypted"),
        ("length", data[:-8] + b"\xff\xff\xff\x7f" + data[-4:], "damaged: its footer is said"),
    ):
        (scratch / name).write_bytes(contents)
        refused(scratch / name, says)
    foreign = scratch / "foreign"
    ringwalk("report", good, "--by", "owner", "--format=parquet", "-o", foreign).ok()
    refused(foreign, "its footer has no key ringwalk.schema")


def test_other_versions_of_the_schema(refused, good, scratch):
    key, file = re.compile(rb'(ringwalk\.schema\x18\x03)"1"'), scratch / "other"
    for version in (b"0", b"2", b"9"):
        data, found = key.subn(rb'\1"%s"' % version, good.read_bytes())
        assert found == 1
        file.write_bytes(sealed(data))
        says = f"its schema has version {version.decode()}, and this program reads version 1"
        refused(file, says)


def test_files_that_are_cut_off(refused, command, good, scratch):
    data, cut = good.read_bytes(), scratch / "cut"
    # The other commands open files in the same way.
    last = 1 if command == "find" else 25
    for length in {*range(0, len(data), 1000), *range(len(data) - 200, len(data), last)}:
        cut.write_bytes(data[:length])
        refused(cut)


def test_damaged_bytes_never_pass_for_an_answer(read, command, good, scratch):
    data, bad = good.read_bytes(), scratch / "bad"
    bad.write_bytes(data)
    expected = read(bad)
    for at in range(0, len(data), 499):
        bad.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        result = read(bad)
        if result.status == expected.status:
            assert result.out == expected.out, (at, result)
        else:
            assert bad.name.encode() in result.err, (at, result)


def test_footers_without_an_end(refused, good, scratch):
    """Lists with very many elements, and values within each other: no memory, no stack."""
    data = good.read_bytes()
    (length,) = struct.unpack("<I", data[-8:-4])
    begin = len(data) - 8 - length
    column = b"\x15\x02\x25\x00\x18\x01b\x00"
    for name, text in {
        # Schema, row groups and keys with 2^31 - 1 elements.
        "schema": b"\x19\xfc\xff\xff\xff\xff\x07",
        "groups": b"\x39\xfc\xff\xff\xff\xff\x07",
        "keys": b"\x49\xfc\xff\xff\xff\xff\x07",
        # An unknown field with as many truth values.
        "truths": b"\xf9\xf1\xff\xff\xff\xff\x07",
        # A group that has 2^31 - 1 columns.
        "children": b"\x19\x2c\x48\x01a\x15\xfe\xff\xff\xff\x0f\x00" + column + b"\x00",
        # 100 000 groups within each other.
        "nested": b"\x19\xfc\xa0\x8d\x06" + b"\x35\x00\x18\x01a\x15\x02\x00" * 100_000 + b"\x00",
        # An unknown field of lists within each other.
        "skipped": b"\xf9" + b"\x19" * 500_000,
    }.items():
        text = b"\x15\x02" + text
        file = scratch / name
        file.write_bytes(data[:begin] + text + struct.pack("<I", len(text)) + b"PAR1")
        refused(file, "malformed")


def test_a_snapshot_that_another_program_has_written_anew(refused, good, scratch):
    tables.needed()
    file = scratch / "rewritten"
    script = """
import pyarrow.parquet as pq
table = pq.read_table(sys.argv[1])
options = json.loads(sys.argv[3])
pq.write_table(table, sys.argv[2], **options)
result = None
"""
    for options in (
        '{"compression": "snappy"}',
        '{"compression": "zstd"}',
        # With pages at other rows.
        '{"compression": "zstd", "write_page_index": true, "data_page_size": 1, '
        '"write_batch_size": 4}',
    ):
        tables.evaluate(script, good, file, options)
        refused(file, "another program has written it anew")
