"""Every command at a terminal, on a tree whose names try to command it.

The program itself says which commands and which formats it has. A new one fails here until it has a
line in `RUNS`.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from support import tables
from support.run import Program
from support.terminal import converse

# A title, C1 controls as UTF-8 and as bytes, returns, line breaks, deletions, and what only looks
# like the name of a colour.
NAMES = (
    b"title\x1b]0;owned\x07",
    b"c1\xc2\x9b2Jx\xc2\x9d0;x\xc2\x9c",
    b"raw-c1\x9b2J",
    b"return\rx\x0b\x0c\x08\x7f",
    b"line\nbreak",
    b"not-utf8\xff\xfe\xc3",
    b"clear\x1b[2J\x1b[H",
)

# The runs of each command, in a folder with the tree `t`, its snapshot `s`, the older snapshot `e`,
# the hashes `l`, and the damaged file of ncdu `n`. `NAME` is a hostile name that is missing.
RUNS = {
    "browse": ["browse t", "browse t --once ''", "browse s --once ''", "browse NAME --once ''"],
    "count": [
        "count --format table t",
        "count --format json t",
        "count NAME",
        "count --from s NAME",
    ],
    "diff": [
        "diff e t",
        "diff e s --by dir",
        "diff e s --by owner",
        "diff e s --by ext",
        "diff e s --by path --renames off",
        "diff e s --renames inode",
        "diff e s --format table",
        "diff e s --format json",
        "diff e s --format ndjson",
        "diff e s --format parquet",
        "diff e NAME",
    ],
    "doctor": ["doctor t --format table", "doctor t --format json", "doctor NAME"],
    "du": ["du t", "du -a t", "du --time -a t", "du NAME", "du -a --from s"],
    "dupes": [
        "dupes t",
        "dupes --dirs t",
        "dupes t --format table",
        "dupes t --format fdupes",
        "dupes t --format json",
        "dupes t --format csv",
        "dupes t --format parquet",
        "dupes s",
        "dupes t --do dedupe --dry-run",
        "dupes t --do hardlink --dry-run",
        "dupes t --do trash --dry-run",
        "dupes t --do delete",
        "dupes NAME",
        "dupes t --cache NAME/NAME",
        "dupes t -o NAME/NAME",
    ],
    "export": [
        "export s --format ncdu",
        "export s --format ndjson",
        "export s --format csv",
        "export NAME --format csv",
    ],
    "find": [
        "find t",
        "find t -ls",
        "find t -printf '%p %f %h %P %l\\n'",
        "find t -fprint /dev/stdout",
        "find t -name 'title*' -ok true {} ;",
        "find NAME",
        "find t -newer NAME",
        "find t -NAME",
        "find --from s",
    ],
    "hash": [
        "hash t",
        "hash t --algo blake3",
        "hash t --algo sha256",
        "hash t --algo xxh3",
        "hash --check l",
        "hash --check l --quiet",
        "hash --all t --save h",
        "hash NAME",
        "hash --check NAME",
    ],
    "import": ["import n -o i", "import NAME -o i"],
    "report": [
        "report t --by ext,type",
        "report s --by dir,owner,age",
        "report s --by ext --format json",
        "report s --by dir --format csv",
        "report s --format table",
        "report s --format parquet",
        "report s --format html",
        "report s --by dir --under NAME",
        "report NAME --by ext",
    ],
    "snapshot": ["snapshot t -o o", "snapshot NAME -o o", "snapshot t -o NAME/NAME"],
    "sql": ["sql s --views", "sql NAME --views"],
}
ALL = [run for runs in RUNS.values() for run in runs]

# What a terminal that is not dumb may get: colours, bold text, and the line of progress.
SEQUENCES = re.compile(r"\x1b\[[0-9;]*[mK]|\r")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]")


@pytest.fixture(scope="module")
def place(base: Path, ringwalk: Program) -> Path:
    """The folder with what the commands read."""
    place = base / "hostile-names"
    top = os.fsencode(place / "t")
    os.makedirs(top)
    ringwalk("snapshot", "t", "-o", "e", cwd=place).ok()
    for name in NAMES:
        os.mkdir(os.path.join(top, name))
        for path in (
            os.path.join(top, name, name + b".ext" + name),
            os.path.join(top, name + b"f"),
        ):
            with open(path, "wb") as file:
                file.write(b"the same")
    os.symlink(NAMES[0], os.path.join(top, b"link"))
    ringwalk("hash", "--all", "t", "--save", "s", cwd=place).ok()
    lines = ringwalk("hash", "t", cwd=place).ok().out
    # Two more lines: other contents, and a file that is missing.
    others = b"".join(b"0" * 64 + b"  t/" + NAMES[0] + end for end in (b"f\n", b"missing\n"))
    (place / "l").write_bytes(lines + others)
    twice = '{"name":"a\\u001b]0;x\\u0007\\u009b"}'
    (place / "n").write_text(f'[1,2,{{}},[{{"name":"/srv"}},{twice},{twice}]]')
    return place


def shown(ringwalk: Program, run: str, place: Path, term: str | None, **env: str) -> str:
    """Returns what a command writes to a terminal. It answers questions with no."""
    words = [os.fsencode(word) for word in shlex.split(run)]
    words = [word.replace(b"NAME", b"missing" + NAMES[0] + NAMES[1]) for word in words]
    first = [os.fspath(word) for word in ringwalk.first]
    state = {"XDG_STATE_HOME": str(place / "state"), "LC_ALL": "C.UTF-8"}
    if term is None:
        first = ["env", "-u", "TERM", *first]
    else:
        state["TERM"] = term
    answers = [b"n"] * 20
    prompts = (b"? ", b"[y/N] ")
    status, out = converse(
        [*first, *words], answers, prompt=prompts, env=state | env, cwd=place, echo=False
    )
    assert status in (0, 1, 2) and b"panicked" not in out, (run, status, out)
    return out.decode(errors="surrogateescape")


def test_find_has_one_help(ringwalk):
    text = ringwalk("find", "--help").ok().out
    assert ringwalk("help", "find", env={"RINGWALK_WORKERS": "none"}).ok().out == text
    for words in (("--workers=0", "help", "find"), ("help", "find", "more")):
        assert ringwalk(*words).status == 2, words


def test_all_commands_and_formats_are_known(ringwalk):
    """Help names what there is."""
    out = ringwalk("--help").ok().out.decode()
    listed = out.partition("\nOptions")[0]
    commands = re.findall(r"^  ([a-z]+)  ", listed, re.MULTILINE)
    assert len(commands) > 10
    assert set(commands) - {"help"} == set(RUNS), "give each command its runs"
    for command in RUNS:
        if command in ("find", "du"):
            # Their formats are GNU's.
            continue
        text = ringwalk(command, "--help").ok().out.decode()
        own = text.partition("\nCommon options:")[0]
        wanted = set()
        for option in re.split(r"\n(?= +(?:-\w, )?--)", own):
            name = re.search(r"--\w+", option)
            if name and name[0] in ("--format", "--by", "--do", "--algo", "--renames"):
                values = re.findall(r"^ +- (\w+):", option, re.MULTILINE)
                wanted |= {f"{name[0]} {value}" for value in values}
        missing = {each for each in wanted if not any(each in run for run in RUNS[command])}
        assert missing == set(), "give each format a run"


@pytest.mark.parametrize("run", ALL)
def test_no_name_commands_a_dumb_terminal(ringwalk, place, run):
    """Nor does the program itself write escape sequences there."""
    out = shown(ringwalk, run, place, "dumb")
    assert CONTROLS.findall(out) == [], out


@pytest.mark.parametrize(
    "run", ["find t", "diff e s", "report s --by dir", "hash t", "dupes t --format csv"]
)
def test_terminals_with_colours(ringwalk, place, run):
    """Colours of the program's own are all that is written. Without `TERM`, there are none."""
    out = shown(ringwalk, run, place, "xterm-256color")
    assert CONTROLS.findall(SEQUENCES.sub("", out)) == [], out
    assert run.split()[0] not in ("find", "diff", "report") or "\x1b[" in out
    for term in (None, ""):
        out = shown(ringwalk, run, place, term)
        assert CONTROLS.findall(out) == [], out


def test_progress_without_escape_sequences(ringwalk, place):
    for term in ("dumb", None):
        out = shown(ringwalk, "du -s t", place, term, RINGWALK_PROGRESS="always")
        assert CONTROLS.findall(out) == [], out


@pytest.mark.parametrize("kind", ("program", "module"))
@pytest.mark.parametrize("what", ("path", "path::INT"))
def test_results_and_messages_of_duckdb(ringwalk, place, scratch, kind, what):
    tables.needed()
    name, command = {"program": ("duckdb", tables.DUCKDB), "module": ("python3", tables.PYTHON)}[
        kind
    ]
    (scratch / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    (scratch / name).chmod(0o755)
    run = f"sql s \"SELECT {what} AS name FROM files WHERE path LIKE '%c1%'\""
    out = shown(ringwalk, run, place, "dumb", PATH=str(scratch))
    assert CONTROLS.findall(out) == [], out
    assert "c1" in out and ("Error" in out) == ("INT" in what)
