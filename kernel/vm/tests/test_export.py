# SPDX-License-Identifier: GPL-2.0-only
"""What kernel/patches/export makes of the tests, without a tree to put it into."""

import importlib.machinery
import importlib.util
import re
import sys
import unittest
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "patches" / "export"
# Headers of the trees themselves.
FOREIGN = {"helpers.h", "kselftest.h", "liburing.h"}


def load():
    """Returns the program as a module. Its name has no ending that import would know."""
    loader = importlib.machinery.SourceFileLoader("export", str(PROGRAM))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    # The decorator of data classes looks for the module there.
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


class Export(unittest.TestCase):
    def setUp(self):
        self.program = load()

    def made(self):
        """Yields the series' name, the programs and the library, for each series and tree."""
        for kind in ("kselftest", "liburing"):
            for number, series in enumerate(self.program.SERIES):
                made = self.program.Exported(kind, number)
                yield series.name, made.sources(), made.library()

    def test_the_library_has_every_header_that_is_included(self):
        for name, sources, library in self.made():
            for text in (*sources.values(), *library.values()):
                included = set(re.findall(r'^#include "(?:lib/)?(.*)"', text, re.MULTILINE))
                self.assertLessEqual(included, {*library, *FOREIGN}, name)

    def test_a_series_has_nothing_of_a_later_one(self):
        for name, sources, library in self.made():
            if name != "readdirplus":
                for text in (*sources.values(), *library.values()):
                    self.assertNotRegex(text, r"(?i)readdirplus")

    def test_sections(self):
        text = "a\n/* @ours */\nb\n/* @end */\nc\n# @readdirplus\nd\n# @end\n"
        last = len(self.program.SERIES) - 1
        self.assertEqual(self.program.Exported("kselftest", 0).sections(text), "a\nc\n")
        self.assertEqual(self.program.Exported("kselftest", last).sections(text), "a\nc\nd\n")

    def test_a_name_of_the_module_is_an_error(self):
        made = self.program.Exported("kselftest", 0)
        with self.assertRaisesRegex(self.program.ExportError, "transport.h"):
            made.translated(self.program.TESTS / "lib" / "transport.h")

    def test_liburing_lists_programs_in_order(self):
        makefile = "test_srcs := \\\n\ta.c \\\n\tz.c \\\n\t# EOL\nrest\n"
        listed = self.program.listed(makefile, ["readdir-b.c", "readdir-a.c"])
        order = ["a.c", "readdir-a.c", "readdir-b.c", "z.c"]
        self.assertEqual(re.findall(r"^\t(\S+) \\", listed, re.MULTILINE), order)
        self.assertEqual(self.program.listed(listed, ["readdir-a.c"]), listed)
