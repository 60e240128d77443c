"""The list: orders, filter, search, marks and panes, without a terminal."""

from __future__ import annotations

import os

import pytest
from support.browse import names
from support.run import USER, Program

# Keys, and the entries of the top in the order that they ask for.
ORDERS = (
    ("", ["/big", "six.txt", "/small"]),
    ("a", ["/small", "six.txt", "/big"]),
    ("s", ["/big", "six.txt", "/small"]),
    ("ss", ["/small", "six.txt", "/big"]),
    ("f", ["/big", "six.txt", "/small"]),
    ("c", ["/big", "/small", "six.txt"]),
    ("cc", ["six.txt", "/small", "/big"]),
    ("n", ["/big", "six.txt", "/small"]),
    ("nn", ["/small", "six.txt", "/big"]),
    ("m", ["/small", "/big", "six.txt"]),
    ("mm", ["six.txt", "/big", "/small"]),
    ("D", ["/big", "/small", "six.txt"]),
    ("aD", ["/small", "/big", "six.txt"]),
    ("aDD", ["/small", "six.txt", "/big"]),
    ("G<enter><c-u>h", ["/big", "six.txt", "/small"]),
)


@pytest.mark.parametrize("keys,expected", ORDERS, ids=[keys or "none" for keys, _ in ORDERS])
def test_orders(browse, top, keys, expected):
    # A directory is as new as the newest of what it holds.
    for file in top.rglob("*"):
        os.utime(file, (10**8, 10**8))
    for age, name in enumerate(("small/four.o", "big/deep/three.o", "six.txt")):
        os.utime(top / name, (10**9 - age * 10**6,) * 2)
    assert names(browse.lines(top, keys=keys)) == expected


def test_order_by_owner(browse, top, needs_root):
    os.chown(top / "small", 12345, 12345)
    os.chown(top / "six.txt", 54321, 54321)
    owned = names(browse.lines(top, keys="o"))
    assert names(browse.lines(top, keys="oo")) == owned[::-1]
    assert owned.index("/small") < owned.index("six.txt")
    assert "12345" in browse.text(top, keys="o")
    assert "54321" in browse.text(top, keys="3")


@pytest.mark.smoke
def test_a_filter_limits_lists_and_totals(browse, top):
    shown = browse.lines(top, keys="/-name '*.txt'<enter>")
    assert names(shown) == ["six.txt", "/small"]
    assert "2 match" in shown[-2] and "-name '*.txt'" in shown[-2]
    below = browse.lines(top, keys="/-name '*.txt'<enter>G<enter>")
    assert names(below) == ["five.txt"]
    # Escape ends the filter.
    assert names(browse.lines(top, keys="/-name '*.txt'<enter><esc>")) == names(browse.lines(top))


@pytest.mark.parametrize(
    "expression",
    [
        "-name '*.o'",
        "-size +100k",
        "-type f -size -150k",
        "( -name '*.o' -o -name '*.log' )",
        "! -name '*.txt' -type f",
        "-type d",
        "-path '*deep*'",
        "-mtime -1",
        "-newer six.txt",
        "-false",
    ],
)
def test_a_filter_matches_what_find_finds(browse, ringwalk, top, expression):
    os.utime(top / "six.txt", (10**9, 10**9))
    script = f"cd '{top}' && '{ringwalk.first[0]}' find . -mindepth 1 {expression} -printf x"
    script = script.replace("(", "\\(").replace(")", "\\)")
    found = Program("sh", "-c", script)().ok().out.count(b"x")
    shown = browse.lines(".", keys=f"/{expression}<enter>", cwd=top)
    # The top itself may match.
    assert f"{found} match" in shown[-2] or f"{found + 1} match" in shown[-2], shown[-2]


@pytest.mark.parametrize(
    "expression", ["-nome x", "-name", "( -name x", "'x", "-delete", "-exec rm {} ;", "-fprint x"]
)
def test_wrong_expressions_stay_to_be_corrected(browse, top, expression):
    """Actions are no tests: nothing is run, written or deleted by a filter."""
    for key, prompt in (("/", "Filter: "), ("M", "Mark: ")):
        typed = browse.lines(top, keys=f"{key}{expression}", size=(200, 24))
        shown = browse.lines(top, keys=f"{key}{expression}<enter>", size=(200, 24))
        assert shown[-1].startswith(f"{prompt}{expression}"), shown[-1]
        # There is a message, too.
        assert shown != typed
        assert names(browse.lines(top, keys=f"{key}{expression}<enter><esc>"))[0] == "/big"
    assert sorted(os.listdir(top)) == ["big", "six.txt", "small"]


def test_search(browse, top):
    def under_cursor(keys):
        details = browse.lines(top, keys=f"{keys}i")
        return next(line.split()[1] for line in details if line.strip().startswith("Path"))

    assert under_cursor("\\mal<enter>") == "small"
    # Small letters stand for both, capital ones for themselves.
    assert under_cursor("\\SIX<enter>") == "big"
    assert under_cursor("\\i<enter>") == "six.txt"
    assert under_cursor("\\i<enter><c-n>") == "big"
    assert "no name here holds x\\y" in browse.text(top, keys="\\x\\y<enter>")


def test_marks(browse, top):
    assert "* 1 marked with 5 entries" in browse.text(top, keys=" ")
    assert "marked" not in browse.text(top, keys=" g ")
    assert "* 3 marked with 9 entries" in browse.text(top, keys="v")
    assert "* 2 marked with 4 entries" in browse.text(top, keys=" v")
    assert "marked" not in browse.text(top, keys="vu")
    # Marks stay in other directories and panes. An entry below a marked one counts once.
    assert "* 2 marked with 5 entries" in browse.text(top, keys=" g<enter> h")
    lines = browse.lines(top, keys=" ")
    assert lines[3].startswith("*") and not lines[4].startswith("*")


def test_marks_by_expression(browse, top):
    assert "2 marked" in browse.text(top, keys="M-name '*.o'<enter>")
    assert "* 2 marked" in browse.text(top, keys="M-name '*.o'<enter>h")
    # A directory that holds something that does not match is not marked.
    partial = browse.text(top, keys="M-name 'big*'<enter>", size=(200, 24))
    assert "0 marked" in partial and "hold something that does not" in partial


def test_panes(browse, top):
    largest = browse.lines(top, keys="1")
    files = ["one.log", "two.log", "three.o", "six.txt", "four.o", "five.txt"]
    where = [next(n for n, line in enumerate(largest) if file in line) for file in files]
    assert where == sorted(where)
    extensions = browse.lines(top, keys="2")
    where = [
        next(n for n, line in enumerate(extensions) if line.endswith(f"{kind}"))
        for kind in ("log", "o", "txt")
    ]
    assert where == sorted(where)
    # A pane is about the directory that is shown.
    assert "one.log" not in browse.text(top, keys="\\small<enter><enter>1")
    # From the pane to the file in its directory.
    shown = browse.lines(top, keys="1<enter>")
    assert shown[0].startswith(f"{top}/big ") and names(shown)[0] == "one.log"


def test_what_could_not_be_read(browse, top):
    (top / "small").chmod(0)
    (top / "big").chmod(0o755)
    top.chmod(0o755)
    done = browse.run(top, keys="5", uid=USER)
    (top / "small").chmod(0o755)
    shown = done.out.decode()
    assert "small" in shown and "Permission denied" in shown and "1 error" in shown
    # A screen that lacks something is not the whole answer.
    assert done.status == 1
    assert f"'{top}/small': Permission denied" in done.err.decode()


def test_apparent_and_allocated_sizes(browse, top):
    with open(top / "sparse", "wb") as file:
        file.truncate(1 << 30)
    assert names(browse.lines(top))[-1] == "sparse"
    assert names(browse.lines(top, keys="A"))[0] == "sparse"
    assert names(browse.lines(top, keys="AA"))[-1] == "sparse"
    assert "treemap of apparent sizes" in browse.text(top, keys="At")
    assert "+sparse" in browse.text(top, keys="At")
