"""Trees that are read slowly, or that grow while they are read."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading

from slow_server import slow

# The slow server has one directory with this many files.
FILES = 300


def below(top):
    """Returns a directory for a mount. A batch waits for the metadata of all its entries, so the
    mount point itself is not in the top."""
    (top / "net").mkdir()
    return top / "net"


@contextlib.contextmanager
def stopped(server):
    """Stops a server, so that the walk waits for it; lets it go on at the end of the block."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


def test_the_screen_answers_while_the_walk_waits(terminal, top, mount):
    """Sorting, panes, marks, filter, help and sizes work although the tree is not read yet."""
    served = mount(slow, below(top), 1, FILES, 0)
    with stopped(served.server):
        screen = terminal(top)
        screen.wait("reading", "/big", "six.txt", "/net")
        screen.press("n")
        screen.wait("by name", "reading")
        screen.press("t")
        screen.wait("+/big", "reading")
        screen.press("t", "2")
        screen.wait("by extension", "txt")
        screen.press("2", "?")
        screen.wait("Moving")
        screen.press("q", "g", "Space")
        screen.wait("1 marked", "reading")
        screen.press("u")
        screen.wait("by name", without=["marked"])
        screen.resize(20, 5)
        screen.until(lambda: len(screen.lines()) == 5, "5 lines")
        screen.resize(100, 30)
        screen.wait("by name", "/net", "reading")
        screen.press("g", "Down", "Down", "d")
        screen.wait("six.txt", "is still being read")
        screen.press("n")
        screen.wait("nothing was deleted", "reading")
    # With the directory, the mount point, the server and its program, and the top.
    screen.wait(f"{10 + FILES + 4} entries", without=["reading"])
    screen.press("q")
    assert screen.status() == 0


def test_quitting_while_the_walk_waits(shell, top, mount):
    """The terminal is usable at once, even if a server does not answer."""
    served = mount(slow, below(top), 1, FILES, 0)
    with stopped(served.server):
        shell.type(f"ringwalk browse '{top}'")
        shell.wait("reading", "/net")
        shell.press("q")
        shell.until(lambda: shell.ask("alternate_on") == "0", "the screen of the shell")
    shell.type("echo status $?")
    shell.wait("status 0")


def test_the_cursor_stays_at_its_entry(terminal, top, mount):
    """What is read later may move above the entry under the cursor. The cursor goes with it."""
    served = mount(slow, below(top), 0, FILES, 0)
    for number in range(10):
        (top / f"z{number}").mkdir()
    with stopped(served.server):
        screen = terminal(top)
        screen.wait("reading", "/net")
        screen.press("c")
        screen.wait("by number of entries")
        screen.press("g", "Down", "Down", "i")
        found = screen.wait_for("Path +(.*?) *$")[1]
        screen.press("q")
    screen.wait("entries", without=["reading"])
    screen.press("i")
    assert screen.wait_for("Path +(.*?) *$")[1] == found
    screen.press("q", "g", "i")
    screen.wait("Path      net")


class Writer(threading.Thread):
    """Adds directories and files until it is stopped."""

    def __init__(self, top):
        super().__init__()
        self.top, self.made, self.ended = top, 0, threading.Event()

    def run(self):
        while not self.ended.is_set():
            folder = self.top / f"new{self.made // 50}" / "below"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"file{self.made}.new").write_bytes(b"x" * 5000)
            self.made += 1


@contextlib.contextmanager
def writing(top):
    """Adds entries to a tree during the block."""
    writer = Writer(top)
    writer.start()
    try:
        yield writer
        assert writer.is_alive(), "the writer ended by itself"
    finally:
        writer.ended.set()
        writer.join()


def test_a_tree_that_grows(terminal, browse, ringwalk, top):
    with writing(top) as writer:
        screen = terminal(top)
        # What stays is there, whatever else is.
        screen.wait("/big", "/small", "six.txt")
        for key in ("n", "n", "c", "m", "f", "a", "1", "2", "4", "t", "t"):
            screen.press(key)
        screen.wait("by allocated size", "/big", without=["reading"])
        for _ in range(5):
            # Reading again while it grows, the first entry and what has come since.
            screen.press("g", "r")
            screen.wait_for("reading it again|still being read|entry is gone")
        screen.until(lambda: writer.made > 500, "500 files")
    screen.press("q")
    assert screen.status() == 0
    # Now it stands still, and the totals are exact.
    entries = int(re.search(r"^(\d+) entries", browse.text(top), re.M)[1])
    assert entries == len(ringwalk("find", top).ok().lines())


def test_reading_again_sees_what_has_changed(terminal, top):
    screen = terminal(top)
    screen.wait("10 entries", "six.txt", without=["reading"])
    screen.still()
    for number in range(5):
        (top / "big" / f"more{number}").write_bytes(b"x" * 1_000_000)
    (top / "big" / "one.log").unlink()
    screen.press("g", "r")
    screen.wait("14 entries")
    # The cursor is still at the directory.
    screen.press("i")
    screen.wait("Path      big")
    screen.press("q", "Enter")
    screen.wait("more0", "more4", "two.log", without=["one.log"])


def test_a_directory_that_vanishes_is_gone_after_reading_again(terminal, top):
    screen = terminal(top)
    screen.wait("10 entries", "six.txt", without=["reading"])
    screen.still()
    for file in (top / "small").iterdir():
        file.unlink()
    (top / "small").rmdir()
    screen.press("G", "r")
    screen.wait("7 entries", without=["/small"])


def test_keys_typed_ahead_wait_for_a_search(terminal, top):
    """Keys that come before the answer must not act on the entry that the cursor is leaving."""
    for number in range(3000):
        (top / f"empty{number}").touch()
    screen = terminal(top)
    screen.wait("3010 entries", without=["reading"])
    screen.still()
    for _ in range(5):
        screen.press("g", "\\", "f", "i", "v", "e", *(4 * ["BSpace"]), *"empty2999")
        screen.press("Enter", "d")
        # The question, not a line of the list behind it.
        screen.wait("y/N")
        assert re.search(r"^ +empty2999 *$", screen.text(), re.M), screen.text()
        screen.press("n")
        screen.wait("nothing was deleted")
