"""Tests of what is recognised on the screen of the browser, and of keys."""

from __future__ import annotations

import sys
import time
import unittest

from ringbench import browse_screen
from ringbench.browse_keys import Hand, percentile, repeated
from ringbench.browse_rows import CAT
from ringbench.screen import Screen, Terminal

# Shows what the browser shows, and answers some of its keys. It reads for so many keys.
FAKE = r"""
import os, sys, tty
tty.setraw(0)
keys, path, at, order, is_help = int(sys.argv[1]), "/tree", 0, "by allocated size", False
names = ["/b", "/a", "c"]
def show():
    last = "any other key closes the help" if is_help else "? keys  q quit"
    lines = [f"{path}  {order}", "5 entries  8K allocated" + ("  reading" if keys > 0 else "")]
    out = f"\x1b[1;1H\x1b[7m{lines[0]}\x1b[K\x1b[2;1H\x1b[27m{lines[1]}\x1b[K\x1b[3;1H   alloc name"
    for line, name in enumerate(names):
        out += f"\x1b[{4 + line};1H\x1b[{7 if line == at else 27}m      8K {name}\x1b[27m"
    os.write(1, f"{out}\x1b[24;1H{last}\x1b[K".encode())
os.write(1, b"\x1b[?1049h\x1b[2J")
show()
while (key := os.read(0, 1)) != b"q":
    keys -= 1
    is_help = key == b"?"
    at += (key == b"j") - (key == b"k")
    if key == b"n":
        order, names = "by name", sorted(names, key=lambda name: name.lstrip("/"))
    if key == b"s":
        order = "by apparent size"
    if key == b"\r":
        path = "/tree" + names[at]
    if key == b"\x7f":
        path = "/tree"
    show()
"""


def fake(keys: int) -> list[str]:
    return [sys.executable, "-c", FAKE, str(keys)]


class Screens(unittest.TestCase):
    def test_numbers_of_entries_are_read(self):
        first = b"\x1b[Hncdu 1.18 ~ Use the arrow keys to navigate"
        for tool, line, text in (
            ("ringwalk", 2, "1004773 entries  1.4G allocated"),
            ("ncdu", 24, " Total disk usage:  1.1 MiB   Items: 1004772"),
            ("gdu", 24, "Total disk usage: 1.1 MiB Items: 1,004,772 Sorting by: size"),
        ):
            screen = Screen()
            screen.feed(first + f"\x1b[{line};1H{text}".encode())
            self.assertTrue(browse_screen.IS_READ[tool](screen))
            self.assertEqual(browse_screen.shown_entries(tool, screen), 1_004_772)

    def test_an_empty_directory_has_one_entry(self):
        screen = Screen()
        screen.feed(b"\x1b[2;1H1 entry  4.0K allocated  reading")
        self.assertFalse(browse_screen.is_read(screen))
        screen.feed(b"\x1b[2;1H1 entry  4.0K allocated\x1b[K")
        self.assertTrue(browse_screen.is_read(screen))
        self.assertEqual(browse_screen.shown_entries("ringwalk", screen), 0)
        ncdu = Screen()
        ncdu.feed(b"ncdu 1.18 ~ Use the arrow keys to navigate\x1b[3;1H No items to display.")
        self.assertTrue(browse_screen.IS_READ["ncdu"](ncdu))
        self.assertEqual(browse_screen.shown_entries("ncdu", ncdu), 0)


class Terminals(unittest.TestCase):
    def test_a_frame_is_recognised_and_timed(self):
        before = time.monotonic()
        with Terminal(fake(9)) as terminal:
            came = terminal.wait(browse_screen.is_framed)
            self.assertTrue(before < terminal.started < came < time.monotonic())
            self.assertFalse(browse_screen.is_read(terminal.screen))
            self.assertEqual(browse_screen.path_of(terminal.screen), "/tree")
            self.assertGreater(terminal.peak(), 1000)
            self.assertEqual(terminal.end(b"q"), 0)

    def test_every_step_is_answered_until_the_tree_is_read(self):
        hand = Hand()
        hand.browse(fake(13), browse_screen.IN_TREE)
        kinds = [name for name, _ in hand.waits]
        self.assertEqual(
            kinds,
            ["sort", "move", "help", "close", "move", "open", "move", "above", "move"]
            + ["sort", "help", "close", "sort"],
        )
        self.assertTrue(all(0 < wait < 5 for _, wait in hand.waits))
        self.assertEqual(hand.figures()["presses"], 13)

    def test_repeated_input_is_recognised(self):
        figures = repeated(["/bin/sh", *CAT.arguments, "/bin/true", "tree"], presses=4)
        self.assertEqual(figures["presses"], 4)


class Percentiles(unittest.TestCase):
    def test_so_many_values_are_not_larger(self):
        values = [float(value) for value in range(1, 101)]
        self.assertEqual(percentile(values, 95), 95)
        self.assertEqual(percentile(values[:10], 95), 10)
        self.assertEqual(percentile(values[:1], 95), 1)


if __name__ == "__main__":
    unittest.main()
