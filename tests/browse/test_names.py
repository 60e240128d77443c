"""Names of files never command the terminal, nor move what stands behind them."""

from __future__ import annotations

import os
import re

import pytest

HOSTILE = (
    b"title\x1b]0;owned\x07",
    b"clear\x1b[2J\x1b[H",
    b"alternate\x1b[?1049l",
    b"c1\xc2\x9b2Jx\xc2\x9d0;x\xc2\x9c",
    b"raw-c1\x9b2J",
    b"new\nline\rreturn\ttab\x0bx\x0c\x08\x7f",
    b"bidi\xe2\x80\xae\xe2\x81\xa6txt.exe",
    b"marks\xd8\x9c\xe2\x80\x8f",
    b"not-utf8\xff\xfe\xc3",
    b"zero\xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbfwidth",
    b"lines\xe2\x80\xa8\xe2\x80\xa9x",
    b"combining" + b"\xcc\x81" * 60,
    "wide漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字".encode(),
    "emoji👩‍👩‍👧‍👦🏳️‍🌈".encode(),
    b"tags" + "\U000e0041\U000e007f".encode(),
    b"<script>$(id)`id`&;|'\"\\",
    b"-rf",
    b"~",
    b" ",
    b"x" * 255,
)

# What the program itself may write: CSI sequences for colours, cursor and screen; cursor shapes.
ALLOWED = re.compile(rb"\x1b\[[?]?[0-9;]*[ABCDHJKhlm]|\x1b[78]|\x1b\(B|[\r\n]")
# Characters that change the direction of text, hide, or break lines.
FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
                       "\U000e0000-\U000e0fff]")  # fmt: skip
KEYS = ("", "G", "t", "1", "2", "3", "4", "5", "i", "Gi", "d", "vd", "v", "/-name x", "?", "n")


@pytest.fixture
def hostile(scratch):
    """Directories and files with these names, each with a file of the same name below."""
    top = os.fsencode(scratch / "hostile")
    for number, name in enumerate(HOSTILE):
        os.makedirs(os.path.join(top, name))
        with open(os.path.join(top, name, name), "wb") as file:
            file.write(b"x" * (100_000 - number * 4096))
        with open(os.path.join(top, b"f" + name[:250]), "wb") as file:
            file.write(b"x" * (9000 + number * 4096))
    return scratch / "hostile"


def assert_plain(text: str, what: object) -> None:
    found = FORBIDDEN.findall(text.replace("\n", ""))
    assert not found, (what, found)


@pytest.mark.smoke
@pytest.mark.parametrize("size", [(20, 5), (80, 24), (300, 100)])
def test_screens_are_plain(browse, hostile, size):
    for keys in KEYS:
        done = browse.run(hostile, keys=keys, size=size).ok()
        assert_plain(done.out.decode(), keys)
        assert len(done.out.decode().split("\n")) == size[1] + 1


def test_each_name_in_its_own_directory(browse, hostile):
    for line in range(len(HOSTILE) * 2):
        shown = browse.run(hostile, keys="n" + "<down>" * line + "<enter>i").ok().out.decode()
        assert_plain(shown, line)


@pytest.mark.parametrize("size", [(20, 5), (80, 24), (300, 100)])
def test_the_bytes_that_reach_a_terminal(terminal, hostile, size):
    """Everything that the program writes is its own sequences and plain text."""
    screen = terminal(hostile, size=size)
    screen.until(lambda: "/" in screen.text(), "a list")
    screen.still()
    with screen.recorded() as file:
        screen.press("C-l", "G", "g", "t", "t", "1", "1", "2", "2", "v", "?", "q")
        screen.press("d")
        screen.until(lambda: "y/N" in screen.text(), "a question")
        screen.press("n", "n", "Enter", "i", "i", "Enter", "C-l")
        screen.until(lambda: "y/N" not in screen.text(), "the end of the question")
        screen.press("q")
        assert screen.status() == 0
        seen = file.read_bytes()
    assert len(seen) > 500
    text = ALLOWED.sub(b"", seen).decode()
    assert_plain(text, seen)


@pytest.mark.parametrize("size", [(20, 5), (40, 12), (80, 24)])
def test_wide_names_do_not_move_what_is_beside(terminal, hostile, size):
    """tmux and the program agree on the column of everything."""
    columns, lines = size
    screen = terminal(hostile, size=size)
    screen.until(lambda: "/" in screen.text(), "a list")
    screen.still()
    screen.press("n")
    for _ in range(len(HOSTILE)):
        screen.press("PageDown")
    screen.press("t")
    screen.until(lambda: "+" in screen.text(), "a treemap")
    shown = screen.lines()
    assert len(shown) == lines
    screen.press("C-l", "t", "g", "q")
    assert screen.status() == 0


def test_the_title_and_the_screen_stay(terminal, hostile):
    screen = terminal(hostile)
    screen.until(lambda: "/" in screen.text(), "a list")
    screen.still()
    title = screen.ask("pane_title")
    screen.press("n", "G", "g", "v", "t", "t", "1", "1")
    screen.wait("by name")
    assert screen.ask("pane_title") == title and screen.ask("alternate_on") == "1"


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_in_messages(browse, scratch, name):
    missing = os.path.join(os.fsencode(scratch), b"missing-" + name[:200])
    done = browse.run(missing)
    assert done.status == 2 and done.out == b""
    assert_plain(done.err.decode(), name)


def test_hostile_names_are_deleted(browse, hostile):
    top = os.fsencode(hostile)
    shown = browse.text(hostile, keys="vdy")
    assert f"{len(HOSTILE) * 3} entries deleted" in shown
    assert os.listdir(top) == []
    deleted = [line for line in browse.logged() if line["event"] == "deleted"]
    assert len(deleted) == len(HOSTILE) * 3
    raw = [bytes.fromhex(line["path_raw"]) for line in deleted if "path_raw" in line]
    assert os.path.join(top, HOSTILE[8]) in raw
    assert all(byte >= 32 for byte in browse.log.read_bytes().replace(b"\n", b""))
