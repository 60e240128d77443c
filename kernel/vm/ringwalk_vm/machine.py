# SPDX-License-Identifier: GPL-2.0-only
"""QEMU's command line for the two machines: q35 with PCI, microvm with virtio-mmio."""

from dataclasses import dataclass, field
from pathlib import Path

from . import cache, tsc
from .disks import OUT, Drive

QEMU = "qemu-system-x86_64"

# The serial console carries errors, and warnings once guest/init runs; the whole log comes back. A
# dead kernel restarts at once, which ends QEMU. Mitigations cost system calls more than anything
# else: without them a saved system call is not worth too much.
APPEND = (
    "console=ttyS0 loglevel=4 panic=-1 oops=panic log_buf_len=4M mitigations=off reboot=t "
    "rdinit=/init"
)


# An emulated processor stands still while the host does something else: a stall is one that lasts.
PATIENCE = "rcupdate.rcu_cpu_stall_timeout=100 watchdog_thresh=50 workqueue.watchdog_thresh=100"


@dataclass(frozen=True)
class Machine:
    """What the guest's machine is made of."""

    kind: str = "q35"  # or microvm
    accel: str = "tcg"  # or kvm
    cpus: int = 2
    memory: str = "1G"
    bus: str = "virtio"  # or nvme, which needs q35
    icount: bool = False
    append: str = ""
    drives: list[Drive] = field(default_factory=list)


def qemu() -> str:
    """Returns the path of QEMU."""
    return cache.tool(QEMU, "qemu-system-x86")


def command(machine: Machine, image: Path, initramfs: Path) -> list[str]:
    """Returns the whole command line; the console is QEMU's standard output."""
    line = [qemu(), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    line += ["-machine", kind(machine), "-cpu", processor(machine)]
    line += ["-smp", str(machine.cpus)]
    line += ["-m", machine.memory, "-kernel", str(image), "-initrd", str(initramfs)]
    if machine.icount:
        # One instruction is one nanosecond of the guest's clock and one count of rdtsc.
        line += ["-icount", "shift=0,sleep=off"]
    append = f"{APPEND}{clock(machine)}{one_at_first(machine)} {machine.append}".strip()
    line += ["-append", append, "-chardev", "stdio,id=console,signal=off"]
    line += ["-serial", "chardev:console"]
    for number, drive in enumerate(machine.drives):
        line += drive_options(machine, number, drive)
    return line


def processor(machine: Machine) -> str:
    """Returns the processor with what it leaves out.

    Processors that fill and copy memory fast by one instruction for a string of bytes say so (erms,
    fsrm). An emulated one takes a step for each byte: Linux 6.1, where statx() clears a page, spent
    two fifths of it so, which is true of no real processor.

    QEMU before 8.0 may take other bytes for the flags after `cmpxchg16b`, which Linux's allocator
    uses (cx16): its translation (target/i386/tcg/translate.c, case 0x1c7) calls a function that
    needs the state of the flags, and does not store that state before. An interrupt in the next
    instructions then saves and restores these bytes, and the guest dies of a double fault now and
    then. Where instructions are counted, the processor has this instruction, as all real ones do:
    without it Linux takes a longer way. Such a guest can still die, and must be run again.
    """
    if machine.accel != "tcg":
        return "max"
    return "max,-erms,-fsrm" if machine.icount else "max,-erms,-fsrm,-cx16"


def clock(machine: Machine) -> str:
    """Returns kernel options for an emulated guest's clock: its counter is the host's (tsc.py)."""
    if machine.accel != "tcg":
        return ""
    khz = 1_000_000 if machine.icount else tsc.khz()
    # Without lpj a second processor measures how many loops a jiffy takes: seconds on a busy host.
    # All kernels here have 250 jiffies a second.
    return f" tsc=reliable tsc_early_khz={khz} lpj={khz * 1000 // 250} {PATIENCE}"


def one_at_first(machine: Machine) -> str:
    """Returns kernel options that let an emulated guest boot on one of its processors.

    guest/init starts the others before the command. Linux puts a breakpoint into its own code for a
    moment when it changes the code. QEMU before 8.1 may keep what it translates for another
    processor in that moment, and the guest later dies of that breakpoint (`Oops: int3`). QEMU's
    commit deba78709ae8 mends this. Linux 6.12 changed its code 420 times while a guest of two
    processors booted and loaded modules; so it does that once while the second processor is there.
    """
    if machine.accel != "tcg" or machine.cpus == 1:
        return ""
    # noreplace-smp: otherwise the kernel takes its locks out here, and puts them in again later.
    return " maxcpus=1 noreplace-smp"


def kind(machine: Machine) -> str:
    """Returns the machine with its properties."""
    if machine.kind == "microvm":
        # Without these clocks and interrupts an emulated guest waits for its timer for ever; KVM
        # brings its own.
        clocks = ",pit=on,pic=on,rtc=on" if machine.accel == "tcg" else ""
        return f"microvm,accel={machine.accel}{clocks}"
    return f"q35,accel={machine.accel}"


def drive_options(machine: Machine, number: int, drive: Drive) -> list[str]:
    """Returns options for one disk. The host caches nothing of it, so that cold is cold."""
    # A comma in an option's value is written twice.
    image = drive.image.replace(",", ",,")
    caching = "unsafe" if drive.cached else "none"
    options = f"if=none,id=drive{number},format=raw,cache={caching},discard=unmap,file={image}"
    device = {"q35": "virtio-blk-pci", "microvm": "virtio-blk-device"}[machine.kind]
    if machine.bus == "nvme" and drive.name != OUT:
        device = "nvme"
    return ["-drive", options, "-device", f"{device},drive=drive{number},serial={drive.name}"]
