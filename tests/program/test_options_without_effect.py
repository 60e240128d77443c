"""Common options, where a program cannot use them."""

from __future__ import annotations

from pathlib import Path

import pytest

READING = (("--source", "syscall"), ("--prefetch", "never"), ("--sync",))
WALKING = (*READING, ("--explain",))
WORKING = (*WALKING, ("--workers", "2"))
ALL = (*WORKING, ("--progress", "never"))

# The words of a command, the options that it refuses, and its status for a wrong command line.
CASES = (
    (("count", "--from", "{snap}"), READING, 2),
    (("du", "--from", "{snap}"), READING, 1),
    (("find", "--from", "{snap}"), READING, 1),
    (("diff", "{snap}", "{snap}"), WALKING, 2),
    (("report", "{snap}", "--by", "owner"), WALKING, 2),
    (("export", "{snap}", "--format", "csv"), WORKING, 2),
    (("import", "{ncdu}", "-o", "{out}"), WORKING, 2),
    (("sql", "{snap}", "--views"), ALL, 2),
)
NAMES = [words[0] for words, *_ in CASES]


@pytest.fixture
def places(ringwalk, scratch) -> dict[str, Path]:
    """A snapshot of the directory t, the same in ncdu's format, and a place for output."""
    (scratch / "t").mkdir()
    places = {name: scratch / name for name in ("snap", "ncdu", "out")}
    ringwalk("snapshot", scratch / "t", "-o", places["snap"]).ok()
    ringwalk("export", places["snap"], "--format", "ncdu", "-o", places["ncdu"]).ok()
    return places


@pytest.mark.parametrize(("words", "refused", "status"), CASES, ids=NAMES)
def test_an_option_without_effect_is_refused(ringwalk, scratch, places, words, refused, status):
    words = [word.format(**places) for word in words]
    for option in ALL:
        result = ringwalk(*option, *words)
        if option in refused:
            assert (result.status, result.out) == (status, b""), option
            message = f"option {option[0]} has no effect "
            assert message.encode() in result.err
            assert result.err.count(b"\n") == 1
        else:
            assert result.status == 0, (option, result)
    if refused is not READING:
        return
    for option in refused:
        ringwalk(*option, words[0], scratch / "t").ok()


@pytest.mark.parametrize("words", [case[0] for case in CASES], ids=NAMES)
def test_a_variable_without_effect_is_ignored(ringwalk, places, words):
    words = [word.format(**places) for word in words]
    names = ("SOURCE", "WORKERS", "PREFETCH", "SYNC", "PROGRESS")
    values = ("syscall", "2", "never", "1", "never")
    env = {f"RINGWALK_{name}": value for name, value in zip(names, values, strict=True)}
    ringwalk(*words, env=env).ok()
