"""Tests of the suites in guests, as far as they need no guest."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import unittest
from collections.abc import Iterator
from pathlib import Path

from ringbench import bulk_rows, disks, guest, kernel, kernel_rows, targets, trees
from ringbench.guest import Plan, Setting
from ringbench.rows import ENTRIES, Row
from ringbench.tools import MissingTool

ROWS = [
    Row("short", "names", "tool", ("one", "{tree}"), ENTRIES),
    Row("long", "names", "tool", ("two's", "{tree}"), ENTRIES),
]
PATHS = {"tool": "/payload/tool"}


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Scripts(Scratch):
    def script(self, plan: Plan, setting: Setting | None = None) -> str:
        return guest.script(setting or Setting("6.12"), ROWS, "/mnt/t", plan, PATHS)

    def run_here(self, plan: Plan, cold: str = ":") -> Path:
        """Runs a script on this machine, with /out and /payload in a folder."""
        out, payload = self.folder / "out", self.folder / "payload"
        out.mkdir()
        payload.mkdir()
        (payload / "tool").write_text('#!/bin/sh\necho "7 entries of $1"\n[ "$1" != fail ]\n')
        (payload / "timed").write_text('#!/bin/sh\n"$@"; echo "5 4 3 2 $(($? * 256))" >&3\n')
        for file in payload.iterdir():
            file.chmod(0o755)
        text = self.script(plan, Setting("6.12", cold=cold))
        kept = [line for line in text.splitlines() if "ln -s" not in line]
        text = "\n".join(kept).replace("/out/", f"{out}/").replace("/payload/", f"{payload}/")
        subprocess.run(["sh", "-c", text], check=True, stdout=subprocess.DEVNULL)
        return out

    def test_rows_run_interleaved_and_warm_up_is_not_kept(self):
        out = self.run_here(Plan(runs=3, warm_up=2))
        numbers = [line.split()[0] for line in (out / "samples").read_text().splitlines()]
        self.assertEqual(len(numbers), 6)
        for start in (0, 2, 4):
            self.assertEqual(sorted(numbers[start : start + 2]), ["0", "1"])
        taken, failed = guest.samples(out, ROWS, 3)
        self.assertEqual(failed, [])
        self.assertEqual([sample.wall for sample in taken["long"]], [5e-9] * 3)

    def test_answers_come_back_with_their_words_whole(self):
        out = self.run_here(Plan(runs=1, long=frozenset({"long"})))
        self.assertEqual((out / "answer-1").read_text(), "7 entries of two's\n")
        said, failed = guest.answers(out, ROWS)
        self.assertEqual((said, failed), ({"entries": {"short": 7, "long": 7}}, []))

    def test_a_long_answer_is_taken_once(self):
        text = self.script(Plan(runs=4, long=frozenset({"long"})))
        self.assertEqual(text.count("measure 1 /out/answer-1"), 1)
        self.assertEqual(text.count("measure 1 /dev/null"), 5)
        counting = self.script(Plan(runs=4, long=frozenset({"long"}), keep=False))
        self.assertNotIn("/out/answer", counting)

    def test_caches_are_dropped_before_every_program(self):
        out = self.run_here(Plan(runs=2), cold="echo x >>/out/drops")
        self.assertEqual((out / "drops").read_text().count("x"), 6)

    def test_failures_are_told(self):
        out = self.folder
        (out / "samples").write_text("0 5 4 3 2 0\n1 5 4 3 2 256\n0 not run\n1 5 4 3 2 0\n")
        (out / "error-0").write_text("no such file\n")
        (out / "error-1").write_text("")
        taken, failed = guest.samples(out, ROWS, 2)
        self.assertEqual(taken, {})
        self.assertEqual(
            sorted(failed), ["long: wait status 256", "short: could not be run: no such file"]
        )

    def test_missing_runs_are_told(self):
        (self.folder / "samples").write_text("0 5 4 3 2 0\n1 5 4 3 2 0\n1 5 4 3 2 0\n")
        (self.folder / "error-0").write_text("")
        taken, failed = guest.samples(self.folder, ROWS, 2)
        self.assertEqual((list(taken), failed), (["long"], ["short: 1 runs of 2"]))


class Tables(unittest.TestCase):
    def test_every_bound_is_about_rows_that_are_there(self):
        tables = {
            **{f"kernel-warm-{name}": kernel_rows.WARM_STOCK for name in kernel_rows.STOCK},
            "kernel-warm-patched": kernel_rows.WARM_PATCHED,
            "kernel-subtrees-6.12": kernel_rows.SUBTREES,
            **{
                f"kernel-subtrees-{disk}-6.12": kernel_rows.WAITING
                for disk in kernel_rows.SLOW_DISKS
            },
            "kernel-microvm": kernel_rows.MICROVM,
            "kernel-find-cold": kernel_rows.FIND,
            "kernel-find-cached": kernel_rows.FIND,
            **{f"kernel-fuse-{name}": kernel_rows.FUSE for name in kernel_rows.FUSE_LARGE},
        }
        keys = {suite: {row.key for row in table} for suite, table in tables.items()}
        for name in kernel_rows.DIRECTORY_KERNELS:
            table = kernel_rows.directory(opcode=name == "patched")
            keys[f"kernel-directory-{name}"] = {
                f"{row.key} {size}" for row in table for size in bulk_rows.DIRECTORY_SIZES
            }
        bounds = [bound for bound in targets.BOUNDS if bound.suite.startswith("kernel-")]
        self.assertEqual({bound.suite for bound in bounds}, set(keys))
        self.assertLessEqual(set(keys), set(kernel.SUITES))
        for bound in bounds:
            self.assertLessEqual({bound.row, *bound.of}, keys[bound.suite], bound)

    def test_a_figure_that_was_not_counted_is_not_judged(self):
        bound = targets.faster("s", "a", 2, "b", figure="instructions")
        figures = {"a": {"wall": 1.0, "instructions": 1.0}, "b": {"wall": 2.0}}
        self.assertEqual(bound.judge(figures).word(), "not measured: no b")
        figures["b"]["instructions"] = 2.0
        self.assertTrue(bound.judge(figures).met)

    def test_calls_that_found_something_are_counted(self):
        line = b"10000 entries, 0 bytes, 1 directories, 590 calls, 1.0 s real"
        self.assertEqual(kernel_rows.calls(line)["entries_per_call"], 10000 / 589)


class Sketches(Scratch):
    def test_names_types_and_sizes_are_those_of_the_tree(self):
        tree, copy = self.folder / "tree", self.folder / "copy"
        (tree / "a/b").mkdir(parents=True)
        (tree / "a/file").write_bytes(b"x" * 5000)
        (tree / "a/empty").touch()
        (tree / "link").symlink_to("a/file")
        trees.sketch(tree, copy)

        def listed(root: Path) -> list[tuple[str, int, int]]:
            return sorted(
                (str(path.relative_to(root)), path.lstat().st_mode >> 12, path.lstat().st_size)
                for path in root.rglob("*")
                if not path.is_dir() or path.is_symlink()
            )

        self.assertEqual(listed(tree), listed(copy))
        self.assertTrue((copy / "a/b").is_dir())
        self.assertEqual((copy / "a/file").read_bytes(), bytes(5000))


class Nbd:
    """The least of a client: the protocol's transmission phase, one request at a time."""

    def __init__(self, path: Path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._take(18)
        # The flag of a fixed handshake, then option 1: the export of this (no) name.
        self._socket.sendall(struct.pack(">I8sII", 1, b"IHAVEOPT", 1, 0))
        self._take(8 + 2 + 124)

    def _take(self, length: int) -> bytes:
        data = self._socket.recv(length, socket.MSG_WAITALL)
        if len(data) != length:
            raise OSError("the server hung up")
        return data

    def _ask(self, command: int, offset: int, length: int, data: bytes = b"") -> None:
        head = struct.pack(">IHHQQI", 0x25609513, 0, command, 7, offset, length)
        self._socket.sendall(head + data)
        _, error, _ = struct.unpack(">IIQ", self._take(16))
        if error:
            raise OSError(error, "the server refused")

    def read(self, offset: int, length: int) -> bytes:
        self._ask(0, offset, length)
        return self._take(length)

    def write(self, offset: int, data: bytes) -> None:
        self._ask(1, offset, len(data), data)

    def close(self) -> None:
        self._socket.close()


@unittest.skipUnless(shutil.which("nbdkit"), "needs nbdkit")
class Spindle(Scratch):
    def setUp(self):
        super().setUp()
        try:
            disks.spindle()
        except MissingTool as error:
            self.skipTest(str(error))
        self.image = self.folder / "image"

    @contextlib.contextmanager
    def client(self, disk: disks.Disk, **options: bool) -> Iterator[Nbd]:
        with disks.exported(disk, self.image, self.folder, **options) as path:
            # The server ends after its last client.
            with contextlib.closing(Nbd(path)) as client:
                yield client

    def seconds(self, disk: disks.Disk) -> float:
        """How long twenty reads here and there take."""
        size = 256 << 20
        self.image.touch()
        os.truncate(self.image, size)
        with self.client(disk) as client:
            start = time.monotonic()
            for number in range(20):
                client.read(number * 7919 * 31 * 4096 % size, 4096)
            return time.monotonic() - start

    def test_a_slower_disk_takes_as_many_times_as_long(self):
        once, five = (self.seconds(disks.spinning(1, slower)) for slower in (1, 5))
        # From 4.7 ms a read, next to the last one, to 11.7 ms, from end to end.
        self.assertGreater(once, 20 * 0.0047)
        self.assertGreater(five, 20 * 0.0047 * 5)

    def test_the_content_is_whole_on_several_disks(self):
        self.image.write_bytes(os.urandom(3 << 20))
        with self.client(disks.spinning(4)) as client:
            self.assertEqual(client.read(0, 3 << 20), self.image.read_bytes())

    def test_a_guest_may_write_and_the_image_stays(self):
        self.image.write_bytes(bytes(1 << 20))
        with self.client(disks.spinning(), guest=True) as client:
            client.write(8192, b"x" * 4096)
            self.assertEqual(client.read(8192, 4096), b"x" * 4096)
        self.assertEqual(self.image.read_bytes(), bytes(1 << 20))


class Json(unittest.TestCase):
    def test_commands_are_told_without_local_paths(self):
        words = json.dumps([row.arguments for row in kernel_rows.MICROVM + kernel_rows.FIND])
        self.assertNotIn(str(Path.home()), words)
        self.assertIn("{tree}", words)


if __name__ == "__main__":
    unittest.main()
