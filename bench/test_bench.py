"""Tests of what the figures stand on: python3 -m unittest discover bench"""

from __future__ import annotations

import io
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from ringbench import (
    api,
    block,
    block_rows,
    browse,
    browse_rows,
    bulk,
    bulk_rows,
    cli,
    cluster,
    contents,
    contents_rows,
    disks,
    headline,
    images,
    kernel,
    machine,
    media,
    nfs,
    report,
    rows,
    saved,
    suites,
    trees,
    worker_rows,
    workers,
)
from ringbench.measure import Command, CommandFailed, captured, interleaved, run_once, summary
from ringbench.targets import BOUNDS, Bound, faster
from ringbench.tools import BENCH, MissingTool, Toolbox, build, linked

FLOOR, TIMED = build("floor"), build("timed")

# A folder for scratch files that no test writes to.
SCRATCH = Path("/somewhere/scratch")

# Where `make python` installs MPICH.
MPI = Path(__file__).resolve().parent.parent / "target/python/venv/bin"


def walked(root: Path) -> tuple[int, int]:
    """Entries and bytes below a directory, the slow way."""
    entries = size = 0
    for folder, directories, files in os.walk(root):
        for name in directories + files:
            entries += 1
            size += os.lstat(os.path.join(folder, name)).st_size
    return entries, size


class Floor(unittest.TestCase):
    def floor(self, mode: str, root: Path) -> str:
        return subprocess.run(
            [FLOOR, mode, root], capture_output=True, text=True, check=True
        ).stdout

    def test_counts_what_lies_below(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            # More than one buffer of names in a directory, a deep chain, every type.
            trees.fill_directory(folder, 3000)
            deep = root
            for number in range(200):
                deep = deep / f"d{number}"
                deep.mkdir()
                (deep / "...").write_bytes(b"x" * number)
            (root / "link").symlink_to(deep)
            (root / "dangling").symlink_to("nowhere")
            os.mkfifo(root / "fifo")
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(root / "socket"))
            os.link(root / "d0" / "...", root / "hard link")
            (root / os.fsdecode(b"\xff\n")).touch()
            entries, size = walked(root)
            for _ in range(50):
                self.assertEqual(self.floor("names", root), f"{entries} entries\n")
                self.assertEqual(self.floor("stat", root), f"{entries} entries, {size} bytes\n")

    def test_empty_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.floor("stat", Path(folder)), "0 entries, 0 bytes\n")

    def test_many_directories(self):
        with tempfile.TemporaryDirectory() as folder:
            entries = trees.synthetic(Path(folder), 150, 20)
            self.assertEqual(entries, 2 + 150 + 150 * 20)
            self.assertEqual(self.floor("names", Path(folder)), f"{entries} entries\n")


class Measuring(unittest.TestCase):
    def test_times_and_peak_memory_are_the_program_s(self):
        sleep = run_once(TIMED, Command("sleep", ["/bin/sleep", "0.2"]))
        self.assertGreater(sleep.wall, 0.2)
        self.assertLess(sleep.wall, 1)
        self.assertLess(sleep.user + sleep.system, 0.1)
        # Less than the interpreter that this runs in takes.
        self.assertLess(sleep.rss, 4096)

    def test_failures_are_not_measured(self):
        for argv in (["/bin/false"], ["/bin/sh", "-c", "kill -9 $$"], ["/nonexistent"]):
            with self.assertRaises(CommandFailed):
                run_once(TIMED, Command("broken", argv))

    def test_every_round_runs_every_command(self):
        with tempfile.NamedTemporaryFile() as log:
            commands = [
                Command(key, ["/bin/sh", "-c", f"printf {key} >> {log.name}"]) for key in "abc"
            ]
            samples = interleaved(TIMED, commands, 6, warm_up=2)
            written = log.read().decode()
        self.assertEqual([len(samples[key]) for key in "abc"], [6, 6, 6])
        rounds = [written[at : at + 3] for at in range(0, len(written), 3)]
        self.assertEqual(len(rounds), 8)
        self.assertTrue(all(sorted(each) == list("abc") for each in rounds))
        self.assertGreater(len(set(rounds)), 1, "the order is shuffled")

    def test_output_is_captured(self):
        self.assertEqual(captured(TIMED, Command("echo", ["/bin/echo", "83 files"])), b"83 files\n")

    def test_output_goes_where_the_row_says(self):
        for piped, expected in ((False, "/dev/null"), (True, "pipe:")):
            with tempfile.NamedTemporaryFile() as log:
                script = f'where=$(readlink /proc/$$/fd/1); echo "$where" > {log.name}'
                command = Command("where", ["/bin/sh", "-c", script], piped=piped)
                run_once(TIMED, command)
                self.assertTrue(log.read().decode().startswith(expected))

    def test_a_pipe_is_emptied_and_what_comes_out_is_captured(self):
        # More than a pipe holds: without a reader this would never end.
        command = Command("long", ["/usr/bin/head", "-c", "1000000", "/dev/zero"], piped=True)
        run_once(TIMED, command)
        self.assertEqual(len(captured(TIMED, command)), 1_000_000)

    def test_the_locale_is_the_row_s(self):
        for locale in ("C", "C.UTF-8"):
            script = Command("locale", ["/bin/sh", "-c", "echo $LC_ALL"], locale=locale)
            self.assertEqual(captured(TIMED, script), f"{locale}\n".encode())


class Verdicts(unittest.TestCase):
    figures = {"ours": {"wall": 1.0}, "slow": {"wall": 4.0}, "fast": {"wall": 2.0}}

    def test_the_fastest_counts(self):
        bound = Bound("any", "ours", 0.45, ("slow", "fast", "absent"))
        verdict = bound.judge(self.figures)
        self.assertEqual((verdict.ratio, verdict.word()), (0.5, "not met"))
        looser = Bound("any", "ours", 0.5, ("slow", "fast"))
        self.assertEqual(looser.judge(self.figures).word(), "met")

    def test_what_is_absent_is_not_judged(self):
        self.assertIsNone(Bound("any", "absent", 1, ("fast",)).judge(self.figures).met)
        self.assertIsNone(Bound("any", "ours", 1, ("absent",)).judge(self.figures).met)

    def test_lower_limits(self):
        bound = Bound("any", "ours", 1.5, at_least=True)
        self.assertEqual(bound.judge(self.figures).word(), "not met")

    def test_speed_is_the_inverse_of_the_ratio(self):
        bound = faster("any", "fast", 1.8, "slow", "absent")
        self.assertEqual(bound.text(), "at least 1.8 x as fast as fastest of slow, absent")
        verdict = bound.judge(self.figures)
        self.assertEqual((bound.shown(verdict.ratio), verdict.word()), ("2.00 x", "met"))
        stricter = faster("any", "fast", 2.5, "slow")
        self.assertEqual(stricter.judge(self.figures).word(), "not met")
        self.assertTrue(faster("any", "a", 2, "b", figure="cpu").text().endswith("(CPU time)"))

    def test_different_answers_are_seen_and_shown(self):
        answers = {"entries": {"floor-stat": 3, "count": 4}, "bytes": {"count": 1, "floor-stat": 1}}
        found = suites.disagreements(answers)
        self.assertEqual(found, ["entries: floor-stat says 3, count says 4"])
        taken = summary([run_once(TIMED, Command("true", ["/bin/true"]))])
        result = suites.Result(
            "warm",
            {"tree": "t", "runs": 1},
            {"count": rows.COUNT},
            {"count": taken},
            answers,
            found,
        )
        with redirect_stdout(io.StringIO()) as printed:
            report.print_result(result)
        self.assertIn("WRONG ANSWER: entries: floor-stat says 3", printed.getvalue())
        self.assertEqual(report.to_json(result, SCRATCH)["disagreements"], found)

    def test_the_archive_has_no_local_path(self):
        arguments = ("-c", f"diff {SCRATCH}/old {SCRATCH}/new")
        row = rows.Row("diff", "diff", "sh", arguments)
        taken = summary([run_once(TIMED, Command("true", ["/bin/true"]))])
        result = suites.Result("snapshot-read", {}, {"diff": row}, {"diff": taken})
        found = report.to_json(result, SCRATCH)["rows"]["diff"]["command"]
        self.assertEqual(found, ["sh", "-c", "diff {scratch}/old {scratch}/new"])

    def test_a_floor_on_one_cpu_is_told(self):
        for wall, expected in ((0.053, False), (0.095, True)):
            figures = {"floor-stat": {"wall": wall, "user": 0.01, "system": 0.09}}
            result = suites.Result("warm", {}, {}, figures)
            self.assertEqual(report.disturbed(result), expected)
            result.suite = "find"
            self.assertEqual(report.disturbed(result), expected)
            for suite in ("wide", "async-directory-xfs-warm"):
                result.suite = suite
                self.assertFalse(report.disturbed(result), "one directory is one thread's work")


class Quiet(unittest.TestCase):
    """Each suite says whether other programs were at work before or after it."""

    QUIET, BUSY = machine.Load(9.0, 0.05), machine.Load(0.1, 1.7)

    def run_one(self, *loads: machine.Load) -> tuple[suites.Result, str]:
        """Runs a suite, with loads that are found before and after it."""
        result = suites.Result("block", {"runs": 1}, {}, {})
        with (
            mock.patch.dict(cli.SUITES, {"block": lambda session: result}),
            mock.patch.object(machine, "load", side_effect=loads),
            redirect_stdout(io.StringIO()) as printed,
            redirect_stderr(printed),
        ):
            results, failed = cli._run(SimpleNamespace(), ["block"])
        self.assertEqual((results, failed), ([result], False))
        return result, printed.getvalue()

    def test_a_busy_machine_marks_any_suite(self):
        for loads in ((self.BUSY, self.QUIET), (self.QUIET, self.BUSY)):
            result, printed = self.run_one(*loads)
            found = report.to_json(result, SCRATCH)
            self.assertTrue(found["disturbed"])
            self.assertEqual(found["load"]["begin"]["busy_cpus"], loads[0].busy_cpus)
            self.assertEqual(found["load"]["end"]["busy_cpus"], loads[1].busy_cpus)
            self.assertIn("the machine is not quiet, measure again", printed)

    def test_the_load_that_a_suite_leaves_behind_marks_none(self):
        result, printed = self.run_one(self.QUIET, self.QUIET)
        self.assertFalse(report.to_json(result, SCRATCH)["disturbed"])
        self.assertNotIn("quiet", printed)

    def test_other_programs_are_seen(self):
        before = "cpu  100 10 50 9000 7 1 2 3 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n"
        # 17 ticks of each kind but idle time and waiting for disks.
        after = "cpu  117 27 67 9999 99 18 19 20 0 0\n"
        used = machine.cpu_time(after) - machine.cpu_time(before)
        self.assertAlmostEqual(used, 6 * 17 / os.sysconf("SC_CLK_TCK"))

    def test_a_program_that_computes_is_a_load(self):
        spin = [sys.executable, "-c", "while True: pass"]
        with subprocess.Popen(spin) as process, mock.patch.object(machine, "REST", 0.2):
            try:
                # It may have to wait for a CPU, but then others have them.
                self.assertGreater(machine.load().busy_cpus, machine.QUIET)
            finally:
                process.kill()


class Layout(unittest.TestCase):
    def test_a_row_is_a_line(self):
        rows = {"count": {"command": ["ringwalk", "{tree}"], "wall": 0.5}, "empty": {}}
        document = {"suites": {"warm": {"runs": 1, "rows": rows, "failures": []}}, "none": None}
        text = report.layout(document)
        self.assertEqual(json.loads(text), document)
        line = '    "count": {"command": ["ringwalk", "{tree}"], "wall": 0.5},'
        self.assertIn(line, text.split("\n"))

    def test_committed_results_have_it(self):
        for path in (BENCH / "results").glob("*.json"):
            text = path.read_text()
            self.assertEqual(report.layout(json.loads(text)) + "\n", text, path)


class Pictures(unittest.TestCase):
    """The options of a picture, given what cannot be drawn."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "some.json"

    def complaint(self, *options: object) -> str:
        with redirect_stderr(io.StringIO()) as printed:
            self.assertEqual(cli.main(["--plot", str(self.file), *options]), 1)
        return printed.getvalue()

    def test_a_file_without_results_is_told(self):
        self.assertIn("some.json: No such file or directory", self.complaint())
        for text in ("", "[]", '{"suites": {}}', '{"suites": {"warm": {}}, "machine": {}}'):
            self.file.write_text(text)
            self.assertIn("some.json: not a result of bench/run", self.complaint(), text)
        machine = '{"cpus": 2, "kernel": "Linux", "date": "2026-11-26"}'
        self.file.write_text(f'{{"suites": {{}}, "machine": {machine}}}')
        self.assertIn("some.json: no suite in it has rows", self.complaint())

    def test_without_matplotlib_it_says_how_to_get_it(self):
        shutil.copy(BENCH / "results/warm.json", self.file)
        with mock.patch.dict("sys.modules", {"matplotlib": None}):
            self.assertIn("apt-get install python3-matplotlib", self.complaint())
        self.assertFalse(self.file.with_suffix(".svg").exists())

    def test_a_suite_and_a_picture_are_two_commands(self):
        for options in ([], ["warm", "--plot", "some.json"]):
            with redirect_stderr(io.StringIO()) as printed, self.assertRaises(SystemExit):
                cli.main(options)
            self.assertIn("expected the name of a suite, or --plot", printed.getvalue())


class Rows(unittest.TestCase):
    def test_answers_are_parsed(self):
        self.assertEqual(rows.first_number(b"83675 entries, 12 bytes\n"), 83675)
        self.assertEqual(rows.second_number(b"83675 entries, 12 bytes\n"), 12)
        counted = b"entries  9\nfiles  8\ndirectories  1\napparent size  12\nallocated size  16\n"
        self.assertEqual((rows.first_number(counted), rows.apparent_size(counted)), (9, 12))
        self.assertEqual(rows.lines(b"a\nb\n"), 2)
        with self.assertRaises(ValueError):
            rows.second_number(b"83675 entries\n")

    def test_a_broken_program_costs_only_its_own_row(self):
        paths = {"good": "/bin/echo", "bad": "/bin/false"}
        tools = SimpleNamespace(timed=TIMED, find=paths.get)
        session = suites.Session(tools, Path("."), lambda: Path("."))
        table = [
            rows.Row("good", "stat", "good", ("7 files",), rows.ENTRIES),
            rows.Row("bad", "stat", "bad", ()),
            rows.Row("mute", "stat", "good", ("none",), rows.ENTRIES),
        ]
        working, answers, failures = suites._try_out(session, table, Path("."))
        self.assertEqual([row.key for row in working], ["good"])
        self.assertEqual(answers, {"entries": {"good": 7}})
        self.assertEqual([failure.split(":")[0] for failure in failures], ["bad", "mute"])

    def test_the_order_of_lines_is_no_difference(self):
        self.assertEqual(rows.checksum(b"a\nb\n"), rows.checksum(b"b\na\n"))
        self.assertNotEqual(rows.checksum(b"a\nb\n"), rows.checksum(b"a\nc\n"))
        self.assertNotEqual(rows.checksum(b"a\nb\n"), rows.checksum(b"a\nb\nb\n"))
        self.assertEqual(rows.lines_below(b"t\nt/a\n"), 1)

    def test_rows_have_keys_of_their_own_and_bounds_have_rows(self):
        tables = {
            "find": rows.FIND,
            "find-empty": rows.FIND_EMPTY,
            "find-memory": rows.FIND_MEMORY,
            "warm": rows.WARM,
            "ext4-warm": [*bulk_rows.whole("ext4"), *bulk_rows.EXT4_FIND],
            "ext4-slow": [*bulk_rows.cold("ext4"), *bulk_rows.TWO_WORKERS],
            "ext4-part": bulk_rows.parts("ext4", ["one", "two", "three"]),
            "block": list(block_rows.all_rows().values()),
        }
        tables["snapshot"] = saved.WRITE
        tables["cluster"] = cluster.POOLS
        tables["cluster-slow"], tables["cluster-directory"] = cluster.SLOW, cluster.DIRECTORY
        tables["cluster-nfs"] = cluster.NFS
        tables["browse-start"] = [browse_rows.EMPTY, *browse_rows.START]
        tables["browse-keys"] = [*browse_rows.KEYS, browse_rows.CAT]
        tables["browse-wide"], tables["browse-10M"] = browse_rows.WIDE, browse_rows.OPEN
        tables["browse-memory"] = [*browse_rows.HELD, browse_rows.ONCE]
        tables |= dict.fromkeys(worker_rows.TREES, worker_rows.ROWS)
        tables["contents-hash"], tables["contents-cached"] = (
            contents_rows.HASH,
            contents_rows.cached(),
        )
        tables["contents-file-warm"] = [contents_rows.HASH_FILE, contents_rows.B3SUM_FILE]
        tables["contents-file-cold"] = [contents_rows.HASH_FILE, *contents_rows.fio_rows(1)]
        tables["contents-memory"] = contents_rows.memory_finders()
        for state in ("cold", "warm", "slow"):
            tables[f"contents-dupes-{state}"] = contents_rows.finders()
        tables["snapshot-read"] = saved.read_rows(*map(Path, ("old", "new", "small", "large")))
        for kind in images.MAKERS:
            tables[f"{kind}-million-warm"] = bulk_rows.whole(kind)
            tables[f"{kind}-cold"] = bulk_rows.cold(kind)
        shared = {row.key for row in bulk_rows.whole("ext4")}
        repeated = [row for row in bulk_rows.EXT4_FIND if row.key in shared]
        for row in repeated:
            tables["ext4-warm"].remove(row)
        for suite, table in tables.items():
            keys = [row.key for row in table]
            self.assertEqual(len(keys), len(set(keys)), suite)
            for bound in (bound for bound in BOUNDS if bound.suite == suite):
                self.assertLessEqual({bound.row, *bound.of}, set(keys), bound)

    def test_filled_buffers_are_counted(self):
        line = b"7 getdents64(3, 0x55 /* 125 entries */, 32768) = 4000\n"
        self.assertEqual(suites.FILLED.findall(line), [b"125"])


class Images(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_an_image_of_another_recipe_is_stale(self):
        image, recipe = self.folder / "tree.ext4", {"version": 1, "maker": ["mke2fs"]}
        self.assertFalse(images.is_current(image, recipe))
        image.touch()
        self.assertFalse(images.is_current(image, recipe), "nothing says what it is")
        note = self.folder / "tree.ext4.json"
        for text, expected in (
            ('{"version": 1, "maker": ["mke2fs"]}', True),
            ('{"version": 2, "maker": ["mke2fs"]}', False),
            ('{"version": 1, "mak', False),
        ):
            note.write_text(text)
            self.assertEqual(images.is_current(image, recipe), expected, text)
        note.write_text('{"version": 1, "maker": ["mke2fs"]}')
        image.unlink()
        self.assertFalse(images.is_current(image, recipe))

    def test_a_tree_that_changed_is_another_content(self):
        (self.folder / "a").write_bytes(b"12")
        before = images.copy_of(self.folder)
        self.assertEqual(images.copy_of(self.folder).recipe, before.recipe)
        (self.folder / "a").write_bytes(b"123")
        self.assertNotEqual(images.copy_of(self.folder).recipe, before.recipe)

    def test_files_are_made_in_random_order_with_blocks_of_their_own(self):
        trees.shuffled(self.folder, 200)
        made = sorted(os.scandir(self.folder), key=lambda entry: entry.inode())
        names = [entry.name for entry in made]
        self.assertEqual(len(names), 200)
        self.assertNotEqual(names, sorted(names))
        self.assertTrue(all(entry.stat().st_size == 4096 for entry in made))

    def test_tenths_are_the_nearest_to_a_tenth_and_not_nested(self):
        def made(path: str, files: int) -> None:
            directory = self.folder / path
            directory.mkdir(parents=True)
            trees.fill_directory(str(directory), files)

        # 1000 entries in all: the rest, and what lies above the others, are too large.
        made("tenth", 98)
        made("less/inner", 80)
        made("more", 128)
        made("small", 60)
        made("rest", 628)
        (self.folder / "less/link").symlink_to(self.folder / "rest")
        self.assertEqual(bulk.tenths(self.folder), ["tenth", "less", "more"])
        self.assertEqual(bulk.tenths(self.folder, 1), ["tenth"])


class Directories(unittest.TestCase):
    def part(self, seconds: float) -> suites.Result:
        taken = {
            "wall": seconds,
            "wall_lower_quartile": seconds,
            "wall_upper_quartile": seconds,
            **{"user": 0.0, "system": 0.0, "rss_kib": 1.0},
        }
        row = rows.Row("ls -l", "stat", "ls", ("-l",))
        about = {"tree": "t", "runs": 5}
        said = {"entries": {"ls -l": 7}}
        return suites.Result("readdirplus", about, {"ls -l": row}, {"ls -l": taken}, said)

    def test_sizes_become_lines_of_one_table(self):
        whole = bulk.joined(None, self.part(0.25), 10)
        whole = bulk.joined(whole, self.part(2.5), 500)
        self.assertEqual(report.by_size(whole), {10: {"ls -l": 0.25}, 500: {"ls -l": 2.5}})
        self.assertEqual(whole.answers, {f"entries {size}": {"ls -l": 7} for size in (10, 500)})
        with redirect_stdout(io.StringIO()) as printed:
            report.print_result(whole)
        self.assertRegex(printed.getvalue(), r"seconds +ls -l\n +10 +0.250\n +500 +2.500\n")
        self.assertEqual(list(report.to_json(whole, SCRATCH)["rows"]), ["ls -l 10", "ls -l 500"])

    def test_every_bound_has_its_rows(self):
        keys = {
            f"{row.key} {size}"
            for size in bulk_rows.DIRECTORY_SIZES
            for row in bulk_rows.readdirplus(size)
        }
        bounds = [bound for bound in BOUNDS if bound.suite == "readdirplus"]
        self.assertEqual(len(bounds), 2)
        for bound in bounds:
            self.assertLessEqual({bound.row, *bound.of}, keys)

    def test_every_bound_has_its_suite(self):
        modules = (browse, suites, bulk, block, contents, kernel, api, saved, cluster, workers)
        known = {name for module in modules for name in module.SUITES}
        self.assertLessEqual({bound.suite for bound in BOUNDS}, known)


class MpiWalk(unittest.TestCase):
    def test_without_mpi_it_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder, "bin/python")
            with self.assertRaisesRegex(MissingTool, r"no /.*/bin/mpicc: .* pip install mpich"):
                cluster.mpi_walk(python, Path(folder, "work"))

    def test_every_entry_is_counted_once(self):
        found = shutil.which("mpicc", path=f"{MPI}:{os.environ['PATH']}")
        if not found:
            self.skipTest("no mpicc in target/python/venv or PATH")
        with tempfile.TemporaryDirectory() as folder:
            root, work = Path(folder, "tree"), Path(folder, "work")
            for number in range(300):
                (root / f"{number % 7}/{number % 50}/{number}").mkdir(parents=True)
                (root / f"{number % 7}/file{number}").touch()
            (root / "0/link").symlink_to("..")
            program = cluster.mpi_walk(Path(found).parent / "python", work)
            for ranks in ("2", "5"):
                done = subprocess.run(
                    [program, ranks, root], capture_output=True, text=True, check=True
                )
                self.assertEqual(rows.first_number(done.stdout.encode()), walked(root)[0])
            done = subprocess.run([program, "2", root / "none"], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("none: No such file or directory", done.stderr)


@unittest.skipIf(os.geteuid(), "mounts need root")
@unittest.skipUnless(shutil.which("ganesha.nfsd"), "ganesha.nfsd is not installed")
class Nfs(unittest.TestCase):
    def test_the_client_shows_what_the_server_has(self):
        with tempfile.TemporaryDirectory() as folder:
            with nfs.mounted(Path(folder), (3, 2000), 200) as mount:
                source = mount.point.parent / "nfs-source"
                (source / "link").symlink_to("dir-00000")
                os.mkfifo(source / "dir-00001/fifo")
                (source / "dir-00001" / ("x" * 255)).write_bytes(b"x" * 70_000)
                self.assertEqual(self.listed(mount.point), self.listed(source))
                self.assertFalse((mount.point / "none").exists())
                with self.assertRaises(NotADirectoryError):
                    os.stat(mount.point / "dir-00001/fifo/none")
            entries = 3 * 2000 + 3 + 3
            self.assertGreaterEqual(mount.counts["lookups"], entries)
            self.assertGreater(mount.requests(), mount.counts["lookups"])
            self.assertGreater(mount.server_cpu, 0)

    def listed(self, root: Path) -> dict[str, tuple]:
        """Returns the metadata of all entries below a directory, by their paths."""
        found = {}
        for folder, directories, files in os.walk(root):
            for name in directories + files:
                path = os.path.join(folder, name)
                about = os.lstat(path)
                mode, links, size = about.st_mode, about.st_nlink, about.st_size
                times = about.st_mtime_ns, about.st_ctime_ns
                found[os.path.relpath(path, root)] = (mode, links, size, about.st_blocks, times)
        return found

    def test_without_a_server_it_says_so(self):
        program = build("nfs_client")
        words = [program, "/nowhere", "127.0.0.1", "1", "export", "0"]
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "nfs_client: no connection to the server\n")


class Mounts(unittest.TestCase):
    def test_the_innermost_mount_is_the_one(self):
        self.assertEqual(machine.file_system(Path("/proc/self"))["type"], "proc")
        self.assertNotIn(machine.file_system(Path("/"))["type"], ("proc", "unknown"))

    @unittest.skipIf(os.geteuid(), "loop devices need root")
    def test_a_mounted_device_is_not_free(self):
        with tempfile.TemporaryDirectory() as name:
            image, point = Path(name, "image"), Path(name, "point")
            with open(image, "wb") as file:
                file.truncate(8 << 20)
            media.call("mke2fs", "-q", "-F", image)
            with media.loop_device(image) as device:
                self.assertTrue(media.is_free(device))
                with media.mounted(device, point):
                    self.assertFalse(media.is_free(device))
                    self.assertEqual(machine.file_system(point)["source"], device)
                mount = media.ColdMount(device, point)
                # A mount of the same device elsewhere stands for one in another namespace.
                with media.mounted(device, Path(name, "elsewhere")):
                    with mock.patch.object(media, "PATIENCE", 0.2):
                        self.assertRaisesRegex(OSError, "without any mount", mount.renew)
                mount.renew()
                mount.close()


@unittest.skipUnless(
    shutil.which("nbdkit") and shutil.which("nbdcopy"), "nbdkit or nbdcopy is not installed"
)
class Spindle(unittest.TestCase):
    def test_what_it_reads_and_how_long_it_takes(self):
        with tempfile.TemporaryDirectory() as folder:
            image, copy = Path(folder, "image"), Path(folder, "copy")
            image.write_bytes(os.urandom(1 << 20) * 30)
            try:
                plugin = disks.spindle(Path(folder))
            except MissingTool as error:
                self.skipTest(str(error))
            command = ["nbdkit", "--unix", "-", plugin, f"file={image}"]
            run = ["--run", f"nbdcopy --connections=1 --requests=1 $uri {copy}"]
            start = time.monotonic()
            subprocess.run([*command, *run], check=True)
            taken = time.monotonic() - start
            self.assertEqual(copy.read_bytes(), image.read_bytes())
        # 30 MiB at 150 MB/s.
        self.assertGreater(taken, 0.21)


class Block(unittest.TestCase):
    def test_fio_is_understood(self):
        output = b"""fio: a warning
            {"jobs": [{"error": 0, "usr_cpu": 5.0, "sys_cpu": 20.0, "job_runtime": 400,
            "read": {"total_ios": 3000, "runtime": 200}}]}"""
        found = block.of_fio(output)
        self.assertEqual((found["reads"], found["seconds"]), (3000, 0.2))
        self.assertAlmostEqual(found["cpu"], 0.1)
        with self.assertRaises(ValueError):
            block.of_fio(output.replace(b'"error": 0', b'"error": 5'))

    def test_latency_and_rates_are_medians(self):
        samples = [{"reads": reads, "seconds": 0.5, "cpu": 0.25} for reads in (1000, 4000, 2000)]
        found = block.summary(8, samples)
        self.assertEqual((found["iops_min"], found["iops"], found["iops_max"]), (2000, 4000, 8000))
        self.assertAlmostEqual(found["latency_us"], 2000)
        self.assertAlmostEqual(found["cpu_us_a_read"], 125)
        self.assertAlmostEqual(found["iops_a_cpu_second"], 8000)

    def test_the_driver_and_fio_read_the_same_way(self):
        for name, medium in block_rows.MEDIA.items():
            for row in block_rows.rows(name):
                words = row.argv(row.tool, "/file")
                ours = row.tool == "block_read"
                direct, polled, size = (
                    ("direct", "iopoll", f"block={medium.size}")
                    if ours
                    else ("--direct=1", "--hipri", f"--bs={medium.size}")
                )
                self.assertEqual(direct in words, medium.direct, words)
                self.assertEqual(polled in words, medium.polled, words)
                self.assertIn(size, words)
                self.assertFalse([word for word in words if "{" in word], words)

    def test_the_table_has_a_line_a_depth(self):
        def figures(iops: int, cpu: float) -> dict[str, float]:
            sample = {"reads": iops, "seconds": 1, "cpu": cpu}
            return block.summary(4, [sample])

        found = {
            block_rows.key("direct", block_rows.FIXED, 4): figures(100_000, 0.5),
            block_rows.key("direct", block_rows.OURS, 4): figures(110_000, 0.44),
        }
        head, units, *lines = report.depth_table(found, "direct")
        self.assertEqual(len({len(line) for line in (head, units, *lines)}), 1)
        words = lines[0].split()
        self.assertEqual(words[:4], ["4", "40.0", "100.0", "100-100"])
        self.assertEqual(words[4:7], ["-", "-", "-"])
        self.assertEqual(words[-3:], ["1.10", "-", "0.80"])
        self.assertEqual(report.depth_table(found, "polled")[2:], [])

    def test_what_is_compared_runs_side_by_side(self):
        table = list(block_rows.all_rows().values())
        order = []
        tools = SimpleNamespace(timed=None, find=lambda tool: tool)
        session = suites.Session(tools, Path("."), lambda: Path("."))
        read = {"reads": 1, "seconds": 1, "cpu": 1}
        with (
            mock.patch.object(block, "captured", lambda _, command: order.append(command.key)),
            mock.patch.dict(block.PARSERS, dict.fromkeys(block.PARSERS, lambda _: read)),
        ):
            files = {medium.file: Path("/file") for medium in block_rows.MEDIA.values()}
            samples, failures = block._interleaved(session, table, files, 2)
        self.assertEqual(failures, [])
        self.assertEqual({len(each) for each in samples.values()}, {2})
        self.assertEqual(len(order), 2 * len(samples))
        groups = itertools.groupby(order, lambda key: key.split()[::2])
        for (medium, _), keys in groups:
            self.assertEqual(len(list(keys)), len(block_rows.MEDIA[medium].interfaces))


FDUPES = b"/t/b\n/t/a\n\n/t/c d\n/t/e\n/t/f\n"
CZKAWKA = b"""Found 3 duplicated files which in 2 groups which takes 17 B.

---- Size 9 B (9) - 3 files
"/t/f"
"/t/c d"
"/t/e"

---- Size 8 B (8) - 2 files
"/t/a"
"/t/b"

"""


class Contents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def test_all_finders_answer_in_the_same_terms(self):
        answers = [
            {subject: parse(output) for subject, parse in said.items()}
            for said, output in (
                (contents_rows.FDUPES, FDUPES),
                # rmlint begins with an empty line and ends with one.
                (contents_rows.FDUPES, b"\n" + FDUPES + b"\n"),
                (contents_rows.CZKAWKA, CZKAWKA),
            )
        ]
        self.assertEqual((answers[0]["groups"], answers[0]["files in groups"]), (2, 5))
        self.assertEqual(answers[1:], answers[:1] * 2)

    def test_other_groups_of_the_same_paths_are_another_answer(self):
        checksum = contents_rows.FDUPES["checksum of groups"]
        self.assertNotEqual(checksum(FDUPES), checksum(FDUPES.replace(b"\n\n", b"\n")))
        self.assertNotEqual(checksum(b"a\nb\n\nc\nd\n"), checksum(b"a\nc\n\nb\nd\n"))

    def test_no_groups(self):
        for said in (contents_rows.FDUPES, contents_rows.CZKAWKA):
            self.assertEqual([parse(b"\n") for parse in said.values()], [0, 0, 0])

    def test_the_time_of_fio_is_that_of_its_reads(self):
        output = b'fio: warning\n{"jobs": [{"error": 0, "read": {"runtime": 1250}}]}'
        self.assertEqual(contents_rows.fio_seconds(output), 1.25)
        for broken in (output.replace(b'"error": 0', b'"error": 5'), b"", b"{"):
            with self.assertRaises(ValueError):
                contents_rows.fio_seconds(broken)

    def test_one_file_in_some_changes_and_keeps_its_size(self):
        (self.root / "folder").mkdir()
        for number in range(40):
            path = self.root / ("folder" if number % 2 else ".") / f"{number:02}"
            path.write_bytes(b"x" * (number + 1))
        (self.root / "empty").touch()
        (self.root / "link").symlink_to("00")
        before = {path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}
        self.assertEqual(contents.change(self.root, 10), 4)
        after = {path: path.read_bytes() for path in before}
        changed = [path for path in before if before[path] != after[path]]
        self.assertEqual(len([path for path in changed if not path.is_symlink()]), 4)
        for path, text in before.items():
            differs = [place for place, byte in enumerate(text) if byte != after[path][place]]
            self.assertEqual(len(after[path]), len(text))
            self.assertEqual(differs, [len(text) // 2] if path in changed else [])

    def test_candidates_are_pairs_of_one_size(self):
        contents.candidates(self.root, 3, 6)
        texts = [path.read_bytes() for path in self.root.rglob("*.dat")]
        self.assertEqual({len(text) for text in texts}, {16})
        self.assertEqual([texts.count(text) for text in texts], [2] * 18)

    def test_the_floor_reads_every_regular_file(self):
        sizes = [0, 1, 128 * 1024 - 1, 128 * 1024, 128 * 1024 + 1, 256 * 1024]
        deep = self.root
        for number, size in enumerate(sizes):
            deep = deep / f"d{number}"
            deep.mkdir()
            (deep / ".file").write_bytes(b"x" * size)
        (self.root / "link").symlink_to("d0/.file")
        os.mkfifo(self.root / "fifo")
        said = subprocess.run(
            [build("read_floor"), self.root], capture_output=True, text=True, check=True
        ).stdout
        self.assertEqual(said, f"{len(sizes)} files, {sum(sizes)} bytes\n")

    def test_a_file_that_finds_no_room_is_not_made(self):
        full = SimpleNamespace(free=10 << 20)
        with mock.patch.object(contents.shutil, "disk_usage", return_value=full):
            with self.assertRaises(MissingTool):
                with contents.large_file(self.root, 2 << 20):
                    self.fail("made")
        with contents.large_file(self.root, 2 << 20) as file:
            self.assertEqual(file.stat().st_size, 2 << 20)
        self.assertEqual(list(self.root.iterdir()), [])


class Headline(unittest.TestCase):
    """README's figures are those of the results; `bench/run --readme` writes them."""

    def test_readme_and_picture_are_of_the_committed_results(self):
        found = headline.figures()
        lines = headline.README.read_text().splitlines()
        for row in headline.table(found):
            self.assertIn(row, lines)
        self.assertEqual(headline.PICTURE.read_text(), headline.picture(found))

    def test_old_figures_are_replaced_and_nothing_else(self):
        found = headline.figures()
        new = "\n".join(["text", *headline.table(found), "| other | row |", ""])
        old = new.replace("**0.", "**9.")
        self.assertNotEqual(old, new)
        self.assertEqual(headline.renewed(old, found), new)

    def test_it_is_a_command_of_its_own(self):
        for options in ([], ["warm", "--readme"], ["--readme", "--plot", "some.json"]):
            with redirect_stderr(io.StringIO()) as printed, self.assertRaises(SystemExit):
                cli.main(options)
            self.assertIn("or --readme", printed.getvalue())

    def test_a_row_that_readme_lacks_is_named(self):
        found = headline.figures()
        with self.assertRaisesRegex(LookupError, found[0].task.words):
            headline.renewed("text\n", found)

    def test_results_without_good_figures_are_named(self):
        task = headline.TASKS[0]
        keys = (task.ours, *task.others)
        good = {"disturbed": False, "rows": {key: {"wall": 1} for key in keys}}
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = Path(folder.name) / f"results/{task.file}.json"
        file.parent.mkdir()
        for suite, why in (
            (good | {"disturbed": True}, "measure it again"),
            (good | {"rows": {task.ours: {"wall": 1}}}, "KeyError"),
            (None, "TypeError"),
            ("{", "JSONDecodeError"),
        ):
            text = suite if suite == "{" else json.dumps({"suites": {task.suite: suite}})
            file.write_text(text)
            with (
                self.subTest(why),
                mock.patch.object(headline, "BENCH", Path(folder.name)),
                self.assertRaisesRegex(LookupError, f"{file}.*{task.suite}.*{why}"),
            ):
                headline.figures()


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def toolbox(self, script: str) -> Toolbox:
        """A toolbox that knows of one program, which is this script."""
        program = self.folder / "ringwalk"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        tools = Toolbox.__new__(Toolbox)
        tools._paths, tools.missing = {"ringwalk": str(program)}, {}
        return tools

    def test_a_command_that_is_missing_is_told(self):
        self.toolbox('test "$1 $2" = "find ."').need_command("find", ".")
        with self.assertRaisesRegex(MissingTool, "`ringwalk find`.*status 2.*says no such"):
            self.toolbox("echo no such >&2; exit 2").need_command("find", ".")
        absent = self.toolbox("")
        absent._paths, absent.missing = {}, {"ringwalk": "not built"}
        with self.assertRaisesRegex(MissingTool, "not built"):
            absent.need_command("find", ".")

    def test_a_link_has_the_name_asked_for(self):
        program = self.folder / "ringwalk"
        program.write_text('#!/bin/sh\necho "${0##*/}"\n')
        program.chmod(0o755)
        for _ in range(2):
            link = linked(program, "find", self.folder)
            found = captured(TIMED, Command("link", [str(link)]))
            self.assertEqual(found, b"find\n")


if __name__ == "__main__":
    unittest.main()
