# SPDX-License-Identifier: GPL-2.0-only
"""Patches go onto the kernel's tree by content: what they do not change keeps its time."""

import dataclasses
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from ringwalk_vm import source
from ringwalk_vm.errors import Failure

CHANGE = """\
--- a/fs/readdir.c
+++ b/fs/readdir.c
@@ -1 +1 @@
-one
+two
"""
ADDITION = """\
diff --git a/fs/new.c b/fs/new.c
new file mode 100644
--- /dev/null
+++ b/fs/new.c
@@ -0,0 +1 @@
+new
"""
AGAIN = CHANGE.replace("+two", "+three").replace("-one", "-two")


def packed(package: str, into: Path) -> Path:
    """Makes the package where it would be downloaded."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in ("linux/fs", "package/DEBIAN", "package/usr/src"):
            (folder / path).mkdir(parents=True)
        (folder / "linux/fs/readdir.c").write_text("one\n")
        control = f"Package: {package}\nVersion: 2\nArchitecture: all\n"
        control += "Maintainer: nobody\nDescription: none\n"
        (folder / "package/DEBIAN/control").write_text(control)
        archive = folder / "package/usr/src" / f"{package}.tar.xz"
        subprocess.run(["tar", "-cJf", archive, "-C", folder, "linux"], check=True)
        made = into / f"{package}.deb"
        command = ["dpkg-deb", "--root-owner-group", "-b", folder / "package", made]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return made


class Source(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        os.environ["RINGWALK_CACHE"] = str(self.folder / "cache")
        self.addCleanup(os.environ.pop, "RINGWALK_CACHE")
        patcher = mock.patch.object(source, "PATCHES", self.folder / "patches")
        patcher.start()
        self.addCleanup(patcher.stop)
        self.fetch = mock.Mock(side_effect=packed)
        self.source = source.Source("1.0", "1.0-series", self.fetch)
        for path in ("first", "second"):
            (self.folder / "patches/1.0-series" / path).mkdir(parents=True)
        (self.folder / "patches/1.0-series/series").write_text("first\nsecond\n")
        self.tree = self.source.home() / "src"
        (self.tree / "fs").mkdir(parents=True)
        self.write("fs/readdir.c", "one\n")
        self.write("fs/other.c", "other\n")
        self.source.write_state({"version": "1", "paths": {}})

    def write(self, path: str, text: str):
        (self.tree / path).write_text(text)
        os.utime(self.tree / path, (1000, 1000))

    def read(self, path: str) -> str:
        return (self.tree / path).read_text()

    def time(self, path: str) -> float:
        return (self.tree / path).stat().st_mtime

    def series(self, *patches: str):
        """Makes these the first series and has the tree follow."""
        self.write_series("first", *patches)
        self.follow()

    def write_series(self, name: str, *patches: str):
        folder = self.folder / "patches/1.0-series" / name
        for old in folder.iterdir():
            old.unlink()
        for number, patch in enumerate(patches, 1):
            (folder / f"{number:04}-patch.patch").write_text(patch)

    def follow(self):
        with self.source.patched_tree() as tree:
            self.assertEqual(tree, self.tree)

    def test_patches_are_applied_in_order_and_taken_back(self):
        self.series(CHANGE, ADDITION, AGAIN)
        self.assertEqual(self.read("fs/readdir.c"), "three\n")
        self.assertEqual(self.read("fs/new.c"), "new\n")
        self.series(CHANGE)
        self.assertEqual(self.read("fs/readdir.c"), "two\n")
        self.assertFalse((self.tree / "fs/new.c").exists())
        self.series()
        self.assertEqual(self.read("fs/readdir.c"), "one\n")

    def test_a_number_of_patches_leaves_the_later_ones_out(self):
        self.write_series("second", AGAIN)
        self.source = dataclasses.replace(self.source, most=1)
        self.series(CHANGE)
        self.assertEqual(self.read("fs/readdir.c"), "two\n")

    def test_what_does_not_change_keeps_its_time(self):
        self.series(CHANGE)
        self.assertNotEqual(self.time("fs/readdir.c"), 1000)
        self.assertEqual(self.time("fs/other.c"), 1000)
        os.utime(self.tree / "fs/readdir.c", (2000, 2000))
        self.series(CHANGE, ADDITION)
        self.assertEqual(self.time("fs/readdir.c"), 2000)

    def test_the_cover_letter_is_no_patch(self):
        cover = self.folder / "patches/1.0-series/first/0000-cover-letter.patch"
        cover.write_text("Subject: none\n")
        self.assertEqual(self.source.patches(), [])

    def test_a_series_follows_the_one_before_it(self):
        self.write_series("second", AGAIN)
        self.series(CHANGE)
        self.assertEqual(self.read("fs/readdir.c"), "three\n")
        self.write_series("second")
        self.follow()
        self.assertEqual(self.read("fs/readdir.c"), "two\n")

    def test_a_patch_that_does_not_fit_fails_and_says_which(self):
        with self.assertRaisesRegex(Failure, "0001-patch.patch"):
            self.series(AGAIN)
        self.series(CHANGE)
        self.assertEqual(self.read("fs/readdir.c"), "two\n")

    def test_a_patch_cannot_leave_the_tree(self):
        with self.assertRaisesRegex(Failure, "outside"):
            self.series(CHANGE.replace("fs/readdir.c", "../../escaped"))

    def test_the_sources_are_fetched_once(self):
        shutil.rmtree(self.source.home())
        self.series(CHANGE)
        self.assertEqual(self.read("fs/readdir.c"), "two\n")
        self.series(CHANGE, ADDITION)
        self.assertEqual(self.source.version(), "2")
        self.fetch.assert_called_once()
        self.assertFalse((self.source.home() / "package").exists())

    def test_a_tree_that_is_there_needs_no_package(self):
        self.series(CHANGE)
        self.assertEqual(self.source.version(), "1")
        self.fetch.assert_not_called()

    def test_the_folders_apply_in_the_order_of_the_list(self):
        self.write_series("second", CHANGE)
        (self.folder / "patches/1.0-series/series").write_text("second\nfirst\n")
        self.series(AGAIN)
        self.assertEqual(self.read("fs/readdir.c"), "three\n")
