"""The formats of `ringwalk dupes`, as other programs read them."""

from __future__ import annotations

import csv
import io
import json
import os

import pytest
from support import tables
from support.copies import expected, found, names_of, path_of
from support.run import needs_program, run
from support.terminal import converse

NAMES = (
    b"plain",
    b"new\nline",
    b"\xff\xfe",
    b'quote"',
    b"comma,",
    b"tab\t",
    b"\x1b[31m",
    b"-x",
    b" ",
)


@pytest.fixture(scope="module")
def top(base):
    """Copies under odd names, a hard link, and a second group. Not to be changed."""
    top = base / "formats"
    top.mkdir()
    for name in NAMES:
        with open(os.path.join(os.fsencode(top), name), "wb") as file:
            file.write(b"one")
    for name in ("x", "y"):
        (top / name).write_bytes(b"second" * 1000)
    os.link(top / "y", top / "linked\udcff")
    return top


@pytest.fixture(scope="module")
def answer(ringwalk, top):
    """The answer as JSON."""
    return json.loads(ringwalk("dupes", "--format=json", top).ok().out)


def rows(answer):
    """Returns what the table must have, by the JSON."""
    made = []
    for number, group in enumerate(answer["groups"], 1):
        for place, file in enumerate(group["files"], 1):
            for link, name in enumerate(names_of(file), 1):
                one = (number, group["size"], group["hash"], file["keep"], file["reference"])
                made.append((*one, place, file["ino"], link, name))
    return made


def test_json(dupes, top, answer):
    result = dupes("--format=json", top).ok()
    assert result.out.count(b"\n") == 1
    assert not any(byte < 32 for byte in result.out[:-1])
    assert found(result) == expected(top)
    summary = answer["summary"]
    assert (summary["groups"], summary["files"]) == (2, len(NAMES))
    assert summary["bytes"] == 3 * (len(NAMES) - 1) + 6000
    assert summary["freeable"] == summary["bytes"] and summary["without_hash"] == 0
    for group in answer["groups"]:
        for file in group["files"]:
            about = os.stat(path_of(file))
            assert (file["ino"], file["nlink"]) == (about.st_ino, about.st_nlink)


def test_hashes_are_those_of_b3sum(top, answer):
    needs_program("b3sum")
    sums = run(["b3sum", "--no-names", top / "x", top / "plain"]).ok()
    assert [group["hash"].encode() for group in answer["groups"]] == sums.lines()


def test_csv(dupes, top, answer):
    text = dupes("--format=csv", top).ok().out.decode()
    found_rows = []
    for row in csv.DictReader(io.StringIO(text, newline="")):
        raw = row["path_raw"]
        name = bytes.fromhex(raw) if raw else row["path"].encode()
        flags = tuple(row[key] == "true" for key in ("keep", "reference"))
        numbers = tuple(int(row[key]) for key in ("file", "ino", "link"))
        one = (int(row["group"]), int(row["size"]), row["hash"])
        found_rows.append((*one, *flags, *numbers, name))
        assert row["snapshot"] == row["shares_with"] == ""
    assert found_rows == rows(answer)


@pytest.mark.parametrize("reader", tables.READERS)
def test_parquet(ringwalk, top, scratch, answer, reader):
    file = scratch / "dupes.parquet"
    ringwalk("dupes", "--format=parquet", "-o", file, top).ok()
    script = tables.READERS[reader] + (
        "\nfor row in result:"
        "\n    row.update({k: bytes(v).hex() for k, v in row.items()"
        " if isinstance(v, (bytes, bytearray))})"
    )
    found_rows = []
    for row in tables.evaluate(script, file):
        raw = row["path_raw"]
        name = bytes.fromhex(raw) if raw else row["path"].encode()
        one = tuple(row[key] for key in ("group", "size", "hash", "keep", "reference"))
        found_rows.append((*one, row["file"], row["ino"], row["link"], name))
    assert found_rows == rows(answer)


def test_fdupes(dupes, top, answer):
    """One name of each file, and an empty line behind each group."""
    groups = [[path_of(file) for file in group["files"]] for group in answer["groups"]]
    text = b"".join(b"".join(name + b"\n" for name in group) + b"\n" for group in groups)
    assert dupes("--format=fdupes", top).ok().out == text


@pytest.mark.parametrize("style", ("table", "fdupes", "json", "csv", "parquet"))
def test_an_output_file(dupes, top, scratch, style):
    file = scratch / "out"
    assert dupes("--format", style, "-o", file, top).ok().out == b""
    printed = dupes("--format", style, top).ok().out
    assert file.read_bytes() == printed and printed
    # The file appears whole or not at all.
    assert os.listdir(scratch) == ["out"]
    result = dupes("--format", style, "-o", scratch / "missing" / "out", top)
    assert result.status == 2 and b"missing/out" in result.err


@pytest.mark.parametrize("style", ("table", "fdupes", "json", "csv", "parquet"))
def test_nothing_was_found(dupes, scratch, style):
    (scratch / "top").mkdir()
    file = scratch / "out"
    dupes("--format", style, "-o", file, scratch / "top").ok()
    text = file.read_bytes()
    if style == "json":
        assert json.loads(text)["groups"] == []
    elif style == "csv":
        assert text.startswith(b"group,size,hash,") and text.count(b"\r\n") == 1
    elif style == "parquet":
        assert text.startswith(b"PAR1")
    elif style == "fdupes":
        assert text == b""


@pytest.mark.parametrize("style", ("table", "fdupes", "json", "csv", "parquet"))
def test_an_answer_that_cannot_be_written(dupes, top, style):
    words = [*dupes.first, "--format", style, top]
    result = run(["sh", "-c", '"$@" >/dev/full', "sh", *words])
    assert result.status == 1, result
    assert result.err == b"ringwalk: write error: No space left on device\n"


def test_a_parquet_file_is_not_for_terminals(dupes, top):
    status, shown = converse([*dupes.first, "--format=parquet", top])
    assert status == 2 and b"not for terminals" in shown


def test_names_at_a_terminal(dupes, top):
    """No name moves the cursor or sets colours."""
    status, shown = converse([*dupes.first, top], env={"RINGWALK_PROGRESS": "never"})
    assert status == 0 and b"\x1b[31m" not in shown and b"\xff" not in shown
    assert shown.count(b"\n") == len(NAMES) + 3 + 2 + 2 + 1
