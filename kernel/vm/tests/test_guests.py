# SPDX-License-Identifier: GPL-2.0-only
"""How runs of guests end: one with everything on a stock kernel, the others on the quickest."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUN = Path(__file__).resolve().parent.parent / "run"
SKIPPED = 77
BROKEN = 125


# Up in a second, even under emulation.
QUICKEST = ("--kernel", "patched", "--machine", "microvm", "--memory", "512M")
STOCK = ("--kernel", "6.12")


def run(*arguments: str, **more) -> subprocess.CompletedProcess:
    """A run of the harness, with its console and messages in stdout."""
    return subprocess.run(
        [sys.executable, RUN, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **more,
    )


class Guests(unittest.TestCase):
    def guest(self, status: int, *arguments: str, kernel=QUICKEST) -> str:
        """Runs a guest that has to end with this status; returns what was shown."""
        done = run(*kernel, "--timeout", "300", *arguments)
        if done.returncode == SKIPPED:
            self.skipTest(done.stdout.strip().splitlines()[-1])
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def test_files_disks_and_status_go_in_and_out(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "in/deep").mkdir(parents=True)
            (folder / "in/deep/file").write_text("content")
            (folder / "in/.hidden").write_text("too")
            (folder / "script").write_text("#!/bin/sh\necho ran\n")
            (folder / "script").chmod(0o755)
            (folder / "image").write_bytes(bytes(1 << 20))
            filled = ["ext2:16M", "ext4:16M", "xfs:320M", "btrfs:128M", "tmpfs:1M"]
            disks = [f"{spec.split(':')[0]}={spec}:{folder / 'in'}" for spec in filled]
            image = folder / "image"
            disks += ["raw=raw:1M", f"kept={image}:raw", f"own={image}:raw:rw"]
            options = [part for disk in disks for part in ("--disk", disk)]
            options += ["--file", f"{folder}/script:sub/tool", "--share-out", f"{folder}/out"]
            script = """set -e
                ./sub/tool >/out/ran
                nproc >/out/processors
                for fs in ext2 ext4 xfs btrfs tmpfs; do
                    grep " /mnt/$fs $fs " /proc/mounts >>/out/mounts
                    cat /mnt/$fs/deep/file /mnt/$fs/.hidden >>/out/read
                done
                for disk in raw kept own; do echo $disk | dd of=/dev/disk-$disk conv=sync; done
                mkdir /out/folder && echo x >/out/folder/x && chmod 700 /out/folder/x
                exit 7"""
            shown = self.guest(7, *options, "--", script, kernel=STOCK)
            self.assertRegex(shown, "KVM|software emulation")
            out = folder / "out"
            self.assertEqual((out / "ran").read_text(), "ran\n")
            self.assertEqual((out / "processors").read_text(), "2\n")
            self.assertEqual(len((out / "mounts").read_text().splitlines()), 5)
            self.assertEqual((out / "read").read_text(), "contenttoo" * 5)
            self.assertEqual((out / "folder/x").stat().st_mode & 0o777, 0o700)
            self.assertTrue(image.read_bytes().startswith(b"own\n"))

    def test_several_arguments_are_not_a_script(self):
        shown = self.guest(0, "--", "echo", "a;b", "$HOME", "it's")
        self.assertIn("a;b $HOME it's", shown)

    def test_a_warning_in_the_log_breaks_the_run(self):
        shown = self.guest(BROKEN, "--", "echo 'WARNING: a test of the harness' >/dev/kmsg")
        self.assertIn("1 faults", shown)

    def test_a_kernel_that_dies_breaks_the_run_at_once(self):
        shown = self.guest(BROKEN, "--", "echo c >/proc/sysrq-trigger; sleep 1000")
        self.assertIn("Kernel panic", shown)

    def test_the_time_limit_ends_a_guest(self):
        done = run(*QUICKEST, "--timeout", "3", "--", "sleep 1000")
        self.assertEqual(done.returncode, BROKEN, done.stdout)
        self.assertIn("time limit of 3 s", done.stdout)

    def test_a_status_that_tells_nothing_is_none(self):
        # Switching the guest off is not an end that says how the command went.
        shown = self.guest(BROKEN, "--", "poweroff -f")
        self.assertIn("without handing back a status", shown)

    def test_a_machine_without_qemu_is_skipped(self):
        done = run(*STOCK, "--", "true", env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual(done.returncode, SKIPPED, done.stdout)
        self.assertIn("qemu-system-x86", done.stdout)

    def test_wrong_options_are_refused(self):
        for wrong in (
            ["--cpus", "0"],
            ["--memory", "1M"],
            ["--timeout", "soon"],
            ["--disk", "a=ext9:1G"],
            ["--file", "/nowhere"],
            ["--machine", "pc"],
            ["--machine", "microvm"],
            ["--patches", "1"],
            ["--patches", "-1"],
            ["--disk", "a=raw:1M", "--disk", "a=raw:1M"],
        ):
            with self.subTest(wrong):
                self.assertEqual(run(*STOCK, *wrong, "--", "true").returncode, 2)

    def test_a_series_has_no_more_patches_than_it_has(self):
        for patches in ("999", "-1"):
            with self.subTest(patches):
                done = run("--kernel", "patched", "--patches", patches, "--", "true")
                self.assertEqual(done.returncode, 2)
