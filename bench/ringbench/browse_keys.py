"""Keys at random moments, and the time until a screen answers them."""

from __future__ import annotations

import random
import statistics

from .browse_rows import READING
from .browse_screen import Press, Step, is_framed, path_of
from .screen import NotShown, Terminal

# Keys that are pressed for a figure, and the longest pause before one, in seconds.
PRESSES = 200
LONGEST_PAUSE = 0.04
MOST_RUNS = 200


class Hand:
    """Presses keys at random moments while a tree is being read."""

    def __init__(self) -> None:
        self.waits: list[tuple[str, float]] = []
        self.runs = 0
        self._random = random.Random(1)

    def pause(self, terminal: Terminal) -> None:
        terminal.follow(self._random.uniform(0, LONGEST_PAUSE))

    def press(self, terminal: Terminal, press: Press) -> None:
        pressed = terminal.press(press.key)
        self.waits.append((press.name, terminal.wait(press.answers, limit=5) - pressed))

    def browse(self, argv: list[str], steps: tuple[Step, ...]) -> None:
        """Presses keys while the program reads its tree once, until there are enough."""
        self.runs += 1
        with Terminal(argv) as terminal:
            terminal.wait(is_framed)
            top, number = path_of(terminal.screen), 0
            while True:
                self.pause(terminal)
                if READING not in terminal.screen.line(1) or self.has_enough():
                    return
                press = steps[number % len(steps)](terminal.screen, top)
                number += 1
                if press and press.answers(terminal.screen):
                    raise NotShown(f"{press.name}: the screen answers before the key")
                if press:
                    self.press(terminal, press)

    def has_enough(self) -> bool:
        """Returns whether no further run is needed, or there were too many."""
        return len(self.waits) >= PRESSES or self.runs >= MOST_RUNS

    def figures(self) -> dict[str, float]:
        """Returns seconds of all keys, and the 95th percentile of each kind."""
        kinds = sorted({name for name, _ in self.waits})
        waits = {name: sorted(wait for each, wait in self.waits if each == name) for name in kinds}
        every = sorted(wait for _, wait in self.waits)
        return {
            "presses": len(every),
            "runs": self.runs,
            "median": statistics.median(every),
            "p95": percentile(every, 95),
            "max": every[-1],
            **{f"p95_{name}": percentile(waits[name], 95) for name in kinds},
        }


def percentile(ordered: list[float], percent: int) -> float:
    """Returns the smallest value that so many percent of the values do not exceed."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def repeated(argv: list[str], presses: int = PRESSES) -> dict[str, float]:
    """Measures the time until a program repeats a key. The program first writes `ready`."""
    hand = Hand()
    hand.runs = 1
    with Terminal(argv) as terminal:
        terminal.wait(lambda screen: "ready" in screen.line(0))
        for number in range(presses):
            hand.pause(terminal)
            # The control sequence before it puts each letter into the same place.
            shown = "ab"[number % 2]
            key = f"\x1b[1;1H{shown}".encode()
            press = Press("repeat", key, lambda screen, shown=shown: screen.line(0)[:1] == shown)
            hand.press(terminal, press)
    return hand.figures()
