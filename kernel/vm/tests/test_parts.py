# SPDX-License-Identifier: GPL-2.0-only
"""What the harness reads and writes, without a guest."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from ringwalk_vm import cache, disks, initramfs, machine, report, stock, tsc
from ringwalk_vm.errors import Failure

FAULTS = """\
[    1.000001] WARNING: CPU: 0 PID: 1 at fs/dcache.c:365 dentry_free+0x1/0x2
[    1.000002] BUG: KASAN: slab-out-of-bounds in vfs_readdirplus+0x1/0x2
[    1.000003] BUG: kernel NULL pointer dereference, address: 0000000000000008
[    1.000004] Oops: general protection fault, probably for non-canonical address 0x1: 0000 [#1]
[    1.000005] kernel BUG at fs/inode.c:1!
[    1.000006] WARNING: possible circular locking dependency detected
[    1.000007] BUG: sleeping function called from invalid context at mm/slab.h:1
[    1.000008] INFO: task ringwalk:7 blocked for more than 120 seconds.
[    1.000009] rcu: INFO: rcu_preempt self-detected stall on CPU
[    1.000010] watchdog: BUG: soft lockup - CPU#0 stuck for 100s! [ringwalk:7]
[    1.000011] BUG kmalloc-64 (Tainted: G           OE     ): Poison overwritten
[    1.000012] refcount_t: underflow; use-after-free.
[    1.000013] ------------[ cut here ]------------
[    1.000014] list_add corruption. prev->next should be next
[    1.000015] EXT4-fs error (device vda): ext4_lookup:1: inode #2
[    1.000016][   T12] XFS (vdb): Metadata corruption detected at xfs_dir3_block_verify
some output without a newline[    1.000017] Kernel panic - not syncing: sysrq triggered crash
""".splitlines()

SOUND = """\
WARNING: said by a program, not by the kernel
[    1.000001] ..MP-BIOS bug: 8254 timer not connected to IO-APIC
[    1.000002] ringwalk: module verification failed: signature and/or required key missing
[    1.000003] rcu: RCU CPU stall warnings timeout set to 100 (rcu_cpu_stall_timeout).
[    1.000004] mtrr: your CPUs had inconsistent fixed MTRR settings
[    1.000005] EXT4-fs error (device dm-0): ext4_wait_block_bitmap:575: Cannot read block bitmap
[    1.000005] EXT4-fs (vda): mounted filesystem with ordered data mode
[    1.000006] NMI watchdog: Perf NMI watchdog permanently disabled
""".splitlines()


class Parts(unittest.TestCase):
    def test_each_fault_is_found(self):
        for line in FAULTS:
            self.assertEqual(report.faults(f"before\n{line}\nafter"), [line])

    def test_a_sound_log_has_none(self):
        self.assertEqual(report.faults("\n".join(SOUND)), [])

    def test_disks_are_read(self):
        here = str(Path(__file__).parent)
        made = disks.parse(f"a=ext4:1G:{here}")
        self.assertEqual((made.name, made.fs, made.size), ("a", "ext4", 1 << 30))
        self.assertEqual(made.folder, Path(here))
        self.assertEqual(disks.parse("t=tmpfs:10M").size, 10 << 20)
        given = disks.parse(f"b={__file__}:rw")
        self.assertEqual((given.image, given.writable, given.fs), (__file__, True, "auto"))
        self.assertFalse(disks.parse(f"b={__file__}").writable)

    def test_wrong_disks_are_refused(self):
        wrong = "a a= =x A=ext4:1G a=ext4:0 a=ext4:1X a=raw:1G:/ a=ext4:1G:/none a=/none "
        wrong += "ringwalk-out=raw:1G a-name-of-16-char=raw:1G a=ext4:"
        for text in wrong.split():
            with self.subTest(text), self.assertRaises(ValueError):
                disks.parse(text)

    def test_the_archive_is_one_that_cpio_reads(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "tree/inner").mkdir(parents=True)
            (folder / "tree/inner/odd").write_bytes(b"12345")
            (folder / "tree/link").symlink_to("inner/odd")
            archive = initramfs.Archive(folder / "archive")
            archive.tree(folder / "tree", "payload/tree")
            archive.data("script", b"#!/bin/sh\n", 0o755)
            with self.assertRaises(Failure):
                archive.data("script", b"")
            archive.close()
            (folder / "out").mkdir()
            with open(folder / "archive", "rb") as file:
                command = ["busybox", "cpio", "-id"]
                subprocess.run(command, cwd=folder / "out", stdin=file, check=True)
            self.assertEqual((folder / "out/payload/tree/link").read_bytes(), b"12345")
            self.assertEqual((folder / "out/script").stat().st_mode & 0o777, 0o755)

    def test_the_dependency_of_a_meta_package(self):
        text = "installed linux-headers-6.1.0-56-cloud-amd64 (= 6.1.192-2)"
        self.assertEqual(stock.dependency(text, "headers"), ("6.1.0-56-cloud-amd64", "6.1.192-2"))
        with self.assertRaises(Failure):
            stock.dependency("installed nothing", "headers")

    def test_folders_of_killed_runs_go_and_those_of_others_stay(self):
        with tempfile.TemporaryDirectory() as name:
            os.environ["RINGWALK_CACHE"] = name
            self.addCleanup(os.environ.pop, "RINGWALK_CACHE")
            killed = cache.root() / "run.killed"
            killed.mkdir()
            (killed / "alive").touch()
            with cache.run_folder() as first, cache.run_folder() as second:
                self.assertFalse(killed.exists())
                self.assertTrue(first.is_dir() and second.is_dir() and first != second)
            self.assertFalse(first.exists() or second.exists())

    def test_a_comma_in_an_image_name_is_no_option(self):
        drive = disks.Drive("a", "/tmp/a,b")
        options = machine.drive_options(machine.Machine(), 0, drive)
        self.assertIn("file=/tmp/a,,b", options[1])

    def test_emulated_processors_start_one_after_the_other(self):
        def options(**settings) -> str:
            line = machine.command(machine.Machine(**settings), Path("image"), Path("archive"))
            return line[line.index("-append") + 1]

        self.assertIn(" maxcpus=1 noreplace-smp", options(accel="tcg", cpus=2))
        self.assertNotIn("maxcpus", options(accel="tcg", cpus=1, icount=True))
        self.assertNotIn("maxcpus", options(accel="kvm", cpus=2))
        self.assertTrue(options(accel="tcg", append="maxcpus=2").endswith(" maxcpus=2"))

    def test_an_emulated_processor_lacks_what_breaks_its_flags(self):
        self.assertIn("-cx16", machine.processor(machine.Machine(accel="tcg")))
        self.assertNotIn("-cx16", machine.processor(machine.Machine(accel="tcg", icount=True)))
        self.assertEqual(machine.processor(machine.Machine(accel="kvm")), "max")

    def test_the_counter_has_a_steady_rate(self):
        first, second = tsc.khz(), tsc.khz()
        self.assertLess(abs(first - second) / first, 0.005)

    def test_an_interrupted_build_ends_with_its_children(self):
        program = """if True:
            import signal, sys
            from ringwalk_vm import cache
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
            cache.run(["make", "-f", sys.argv[1]], what="make")
        """
        with tempfile.TemporaryDirectory() as name:
            written = Path(name) / "pid"
            rules = Path(name) / "rules"
            # As in a kernel's build, the work is done by a make below another.
            inner = f"inner:\n\techo $$$$ >{written}; sleep 300; true\n"
            rules.write_text(f"outer:\n\t$(MAKE) -f {rules} inner; true\n{inner}")
            home = Path(cache.__file__).parents[1]
            run = subprocess.Popen([sys.executable, "-c", program, rules], cwd=home)
            while not (written.exists() and written.read_text().endswith("\n")):
                self.assertIsNone(run.poll())
                time.sleep(0.05)
            worker = int(written.read_text())
            run.send_signal(signal.SIGTERM)
            self.assertEqual(run.wait(), 1)
            for _ in range(100):
                if not Path(f"/proc/{worker}").exists():
                    break
                time.sleep(0.05)
            self.assertFalse(Path(f"/proc/{worker}").exists(), "it goes on")
