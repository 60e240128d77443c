# SPDX-License-Identifier: GPL-2.0-only
"""How liburing-tests compares two kernels, without a guest."""

import contextlib
import importlib.machinery
import importlib.util
import io
import unittest
from pathlib import Path
from unittest import mock

PROGRAM = Path(__file__).resolve().parents[1] / "liburing-tests"


def load():
    """Returns the program as a module. Its name has no ending that import would know."""
    loader = importlib.machinery.SourceFileLoader("liburing_tests", str(PROGRAM))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class Liburing(unittest.TestCase):
    def compared(self, *runs: dict[str, int]) -> list[str]:
        """Returns what differs if the kernels, in turn, give these statuses of a.t and b.t."""
        program = load()
        runs = [*runs, *runs[-2:] * program.REPEATS]
        with (
            mock.patch.object(program, "run", side_effect=runs),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            return program.compare([["old"], ["new"]], Path(), ["a.t", "b.t"], 60)

    def test_the_same_status_is_no_difference(self):
        same = {"a.t": 0, "b.t": 1}
        self.assertEqual(self.compared(same, same), [])

    def test_another_status_is_a_difference(self):
        different = self.compared({"a.t": 0, "b.t": 0}, {"a.t": 0, "b.t": 1})
        self.assertEqual(different, ["b.t: 0 unpatched, 1"])

    def test_a_repetition_may_show_the_same_status(self):
        once = {"a.t": 0, "b.t": 0}, {"a.t": 0, "b.t": 1}
        self.assertEqual(self.compared(*once, {"b.t": 1}, {"b.t": 0}), [])

    def test_no_status_on_both_kernels_is_a_difference(self):
        different = self.compared({"a.t": 0}, {"a.t": 0})
        self.assertEqual(different, ["b.t: no status unpatched, no status"])

    def test_no_status_on_one_kernel_is_a_difference(self):
        different = self.compared({"a.t": 0, "b.t": 0}, {"a.t": 0})
        self.assertEqual(different, ["b.t: 0 unpatched, no status"])
