"""Tests of programs in a pseudo-terminal."""

from __future__ import annotations

import time
import unittest

from ringbench.screen import NotShown, Screen, Terminal


class Screens(unittest.TestCase):
    def test_sequences_may_come_in_pieces(self):
        drawn = b"\x1b[2J\x1b[2;3H\x1b[7mab\xc3\xa4\x1b[27mc\x1b[38;5;7mx\x1b]8;;\x1b\\y\x1b[K"
        whole, pieces = Screen(), Screen()
        whole.feed(drawn)
        for byte in drawn:
            pieces.feed(bytes([byte]))
        for screen in (whole, pieces):
            self.assertEqual(screen.line(1), "  abäcxy")
            self.assertEqual(screen.reversed_lines(), [])

    def test_sequences_of_other_programs(self):
        screen = Screen(10, 3)
        screen.feed(b"\x1b(B\x1b[3d-\x1b[4b\x1b[H12345678901\x1b[1;3H\x1b[2X\x1b[1;6H\x1b[K")
        self.assertEqual([screen.line(line) for line in range(3)], ["12  5", "", "-----"])
        screen.feed(b"\x1b[2;1Hx\r\nyz\b!\x1b[A\x1b[J")
        self.assertEqual([screen.line(line) for line in range(3)], ["12  5", "x", ""])

    def test_reversed_lines_are_found(self):
        screen = Screen()
        screen.feed(
            b"\x1b[7mtop\x1b[0m\x1b[5;1H\x1b[48;5;7;7mrow\x1b[27m\x1b[6;1H\x1b[48;2;7;7;7mno"
        )
        self.assertEqual(screen.reversed_lines(), [0, 4])


class Terminals(unittest.TestCase):
    def test_output_is_shown_and_timed(self):
        before = time.monotonic()
        with Terminal(["/bin/sh", "-c", "stty size; read line"]) as terminal:
            came = terminal.wait(lambda screen: screen.line(0) == "24 80")
            self.assertTrue(before < terminal.started < came < time.monotonic())
            self.assertEqual(terminal.end(b"\n"), 0)

    def test_the_peak_is_that_of_the_program_alone(self):
        held = bytearray(100 << 20)
        held[:: 1 << 12] = b"x" * (len(held) >> 12)
        with Terminal(["/bin/cat"]) as terminal:
            terminal.press(b"x")
            terminal.wait(lambda screen: screen.line(0) == "x")
            self.assertLess(terminal.peak(), 50 << 10)

    def test_a_program_that_ends_is_told(self):
        with Terminal(["/bin/true"]) as terminal:
            with self.assertRaisesRegex(NotShown, "has ended"):
                terminal.wait(lambda screen: "never" in screen.line(0))
        with Terminal(["/bin/cat"]) as terminal:
            with self.assertRaisesRegex(NotShown, "not within 0.01 s"):
                terminal.wait(lambda screen: "never" in screen.line(0), limit=0.01)


if __name__ == "__main__":
    unittest.main()
