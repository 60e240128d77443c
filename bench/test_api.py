"""Tests of what the figures of the interfaces stand on: python3 -m unittest discover bench"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from ringbench import api, api_rows, api_tools, plot, suites
from ringbench.measure import Command, CommandFailed, interleaved, run_told
from ringbench.targets import BOUNDS
from ringbench.tools import BENCH, MissingTool, Toolbox, build

FLOOR, TIMED, FTS = build("floor"), build("timed"), build("fts")
WALKS = BENCH / "walks.py"

TABLES = {
    "async-warm": api_rows.TRAVERSE,
    "async-cold": api_rows.TRAVERSE,
    **{
        f"async-directory-{kind}-{state}": api_rows.directory("messages")
        for kind in api_rows.DIRECTORY_KINDS
        for state in ("warm", "cold")
    },
    "async-idle": api_rows.IDLE,
    "python-warm": api_rows.PYTHON,
    "python-memory": api_rows.PYTHON_MEMORY,
    "capi-warm": api_rows.C,
}


class Folder(unittest.TestCase):
    """A small tree with every kind of thing in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for number in range(40):
            inner = self.root / f"d{number % 4}" / f"e{number % 3}"
            inner.mkdir(parents=True, exist_ok=True)
            (inner / os.fsdecode(b"\xff%d" % number)).write_bytes(b"x" * number)
        (self.root / "link").symlink_to("d0")
        (self.root / "dangling").symlink_to("nowhere")
        os.mkfifo(self.root / "fifo")
        said = subprocess.run([FLOOR, "stat", self.root], capture_output=True, text=True)
        self.expected = said.stdout


class Walks(Folder):
    def walk(self, *arguments: str, python: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
        command = [sys.executable, *python, WALKS, *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def test_the_standard_library_s_answers_are_the_floor_s(self):
        said = json.loads(self.walk("os-walk-stat", str(self.root)).stdout)
        self.assertEqual(f"{said['entries']} entries, {said['bytes']} bytes\n", self.expected)
        newest = max(path.lstat().st_mtime_ns for path in self.root.rglob("*"))
        self.assertEqual(said["newest"], newest)
        names = json.loads(self.walk("os-walk", str(self.root)).stdout)
        self.assertEqual(names["entries"], said["entries"])
        self.assertLess(names["wall"], 1)

    def test_what_is_not_installed_is_named(self):
        # Without site packages.
        for what in ("walk", "scan-syscall", "scandir-rs"):
            done = self.walk(what, str(self.root), python=("-I", "-S"))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, "No module named '(ringwalk|scandir_rs)'")

    def test_a_walk_that_is_not_known_is_refused(self):
        done = self.walk("os-walks", str(self.root))
        self.assertEqual(done.returncode, 2)
        self.assertIn("os-walk-stat", done.stderr)

    def test_every_row_is_known_and_its_modules_imported_before(self):
        rows = [*api_rows.PYTHON, *api_rows.PYTHON_MEMORY]
        with mock.patch.object(sys, "path", [str(BENCH), *sys.path]):
            import walks
        self.assertEqual({row.key for row in rows}, set(walks.WALKS))
        ours = {row.key for row in rows if not row.key.startswith("os-")}
        self.assertEqual(set(walks.IMPORTS), ours)


class Told(unittest.TestCase):
    def command(self, output: str) -> Command:
        return Command("program", ["/bin/echo", output])

    def test_times_are_those_told_and_the_memory_is_the_process_s(self):
        said = '{"wall": 2.5, "user": 1.5, "system": 0.25, "entries": 3}'
        sample = run_told(TIMED, self.command(said))
        self.assertEqual((sample.wall, sample.user, sample.system), (2.5, 1.5, 0.25))
        self.assertGreater(sample.rss, 100)
        samples = interleaved(TIMED, [self.command(said)], 2, run=run_told)
        self.assertEqual([each.wall for each in samples["program"]], [2.5, 2.5])

    def test_a_program_that_tells_none_has_failed(self):
        for output in ("83675 files", '{"wall": 1}', "[1]", ""):
            with self.assertRaisesRegex(CommandFailed, "program: reported no times"):
                run_told(TIMED, self.command(output))

    def test_answers_are_taken_by_name(self):
        self.assertEqual(api_rows.reported("entries")(b'{"entries": 7, "wall": 1}'), 7)
        for output in (b'{"wall": 1}', b"[]", b"nothing"):
            with self.assertRaises(ValueError):
                api_rows.reported("entries")(output)


class Fts(Folder):
    def test_it_finds_what_the_floor_finds(self):
        done = subprocess.run([FTS, self.root], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, self.expected))

    def test_a_directory_that_is_not_there_is_an_error(self):
        done = subprocess.run([FTS, self.root / "none"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("none: No such file or directory", done.stderr)


class Tables(unittest.TestCase):
    def test_rows_have_keys_of_their_own_and_bounds_have_rows(self):
        self.assertEqual(set(TABLES), set(api.SUITES))
        for suite, table in TABLES.items():
            keys = [row.key for row in table]
            self.assertEqual(len(keys), len(set(keys)), suite)
            bounds = [bound for bound in BOUNDS if bound.suite == suite]
            self.assertTrue(bounds, suite)
            for bound in bounds:
                self.assertLessEqual({bound.row, *bound.of}, set(keys), bound)

    def test_ours_are_drawn_as_ours(self):
        colours = {
            row.key: plot._colour(suite, row.key, row.tool)
            for suite, table in TABLES.items()
            for row in table
        }
        for key, colour in colours.items():
            peer = key.startswith(("tokio", "std", "os-", "scandir-rs", "glibc"))
            floor = key.startswith("floor")
            expected = plot.PEER_COLOUR if peer else plot.COLOURS["floor" if floor else "ringwalk"]
            self.assertEqual(colour, expected, key)


class Idle(unittest.TestCase):
    def test_bytes_are_those_of_one(self):
        self.assertEqual(api.of_idle(b'{"dirs": 1000, "grown": 832000}'), 832)
        with self.assertRaises(ValueError):
            api.of_idle(b'{"dirs": 1000}')

    def test_descriptors_are_allowed_for_a_while(self):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        with api.descriptors(before[0] + 1) if before[0] < before[1] else api.descriptors(1):
            self.assertGreaterEqual(resource.getrlimit(resource.RLIMIT_NOFILE)[0], before[0])
        self.assertEqual(resource.getrlimit(resource.RLIMIT_NOFILE), before)
        with (
            mock.patch.object(resource, "getrlimit", lambda _: (10, 20)),
            self.assertRaisesRegex(OSError, "21 descriptors are needed, and 20 allowed"),
            api.descriptors(21),
        ):
            self.fail("not allowed")


class Programs(Folder):
    def toolbox(self) -> Toolbox:
        tools = Toolbox.__new__(Toolbox)
        tools._paths, tools.missing, tools.versions = {}, {}, {}
        return tools

    def python(self, says: str) -> Path:
        program = self.root / "bin"
        program.mkdir(exist_ok=True)
        program /= "python3"
        program.write_text(f"#!/bin/sh\necho '{says}'\n")
        program.chmod(0o755)
        return program

    def test_an_interpreter_without_the_package_is_refused(self):
        tools = self.toolbox()
        with mock.patch.object(api_tools, "WORK", self.root):
            with self.assertRaisesRegex(MissingTool, "no package ringwalk .it says CPython 3"):
                api_tools.provide_python(tools, self.python("CPython 3.11, pyarrow 1"))
            with self.assertRaisesRegex(MissingTool, "absent is not a program"):
                api_tools.provide_python(tools, self.root / "absent")
            api_tools.provide_python(tools, self.python("CPython 3.11, ringwalk 0.1"))
        self.assertEqual(tools.versions, {"walks": "CPython 3.11, ringwalk 0.1"})
        self.assertEqual(tools.find("walks"), str(self.root / "api/walks"))

    def test_a_launcher_passes_its_arguments_on(self):
        script = self.root / "a script.py"
        script.write_text("import sys; print(sys.argv[1:])")
        with mock.patch.object(api_tools, "WORK", self.root):
            program = api_tools.launcher(Path(sys.executable), script)
        said = subprocess.run([program, "a b", "*"], capture_output=True, text=True).stdout
        self.assertEqual(said, "['a b', '*']\n")

    def test_tokio_s_version_is_the_lock_file_s(self):
        lock = self.root / "Cargo.lock"
        lock.write_text('[[package]]\nname = "tokio"\nversion = "1.54.1"\nsource = "x"\n')
        self.assertEqual(api_tools.tokio_version(self.root / "Cargo.toml"), "tokio 1.54.1")
        lock.write_text("")
        self.assertEqual(api_tools.tokio_version(self.root / "Cargo.toml"), "tokio unknown")

    def test_without_the_example_the_suite_says_how_to_build_it(self):
        session = suites.Session(self.toolbox(), self.root, lambda: self.root)
        with self.assertRaisesRegex(MissingTool, "--example traverse"):
            api.traverse("warm", session)

    def test_every_program_of_the_tables_can_be_provided(self):
        tools = self.toolbox()
        tools.provide("traverse", self.root)
        tools.provide("floor", FLOOR)
        with (
            mock.patch.object(api_tools, "WORK", self.root),
            mock.patch.object(api_tools, "cargo", lambda program, _: self.root / program),
        ):
            api_tools.provide_async(tools)
            api_tools.provide_python(tools, self.python("ringwalk 0.1"))
            with mock.patch.object(api_tools, "capi_fts", lambda: self.root / "fts"):
                api_tools.provide_c(tools)
        for suite, table in TABLES.items():
            for row in table:
                self.assertTrue(tools.find(row.tool), f"{suite}: {row.key}")


class Measured(Folder):
    def test_a_program_that_fails_costs_its_row_only(self):
        idle = self.root / "idle"
        idle.write_text(
            '#!/bin/sh\n[ "$1" = idle-read ] && exit 1\n'
            'echo "{\\"dirs\\": $3, \\"grown\\": 5000}"\n'
        )
        idle.chmod(0o755)
        tools = SimpleNamespace(timed=TIMED, find=lambda _: str(idle))
        session = suites.Session(tools, self.root, lambda: self.root)
        with mock.patch.object(api_tools, "provide_async", lambda _: None):
            result = api.idle(session)
        self.assertEqual(list(result.figures), ["idle-opened", "idle-ended"])
        self.assertEqual(result.figures["idle-opened"]["bytes_a_dir"], 5000 / api_rows.IDLE_DIRS)
        self.assertEqual([line.split(":")[0] for line in result.failures], ["idle-read"])


if __name__ == "__main__":
    unittest.main()
