# SPDX-License-Identifier: GPL-2.0-only
"""The command line of kernel/vm/run, and the order of its steps."""

import argparse
import os
import platform
import shlex
import signal
import sys
import time
from pathlib import Path

from . import accel, cache, disks, guest, initramfs, machine, module, trixie
from .errors import BROKEN, Failure, Impossible
from .kernels import Kernel
from .patched import FLAVOURS, flavour_with, patched
from .stock import SERIES, stock

KERNELS = {
    **dict.fromkeys(SERIES, stock),
    trixie.SERIES: trixie.trixie,
    **dict.fromkeys(FLAVOURS, patched),
}

MOST_CPUS = 8  # CONFIG_NR_CPUS of the kernels built here

EPILOG = """\
COMMAND runs as root in /payload, where the files are, by the guest's shell (busybox): a single
argument is a script, several are a program and its arguments. Disks are mounted at /mnt/NAME and
stand in /dev as disk-NAME; what the command leaves in /out comes back to --share-out.

Exit status: the command's; 125 if the guest broke (an oops, a warning, a report of lockdep, KASAN
or KCSAN in its log, a hang, the time limit); 126 if something could not be built; 77 if this
machine cannot; 2 for a wrong option.
"""


def parser() -> argparse.ArgumentParser:
    """Returns the options, with their help."""
    options = argparse.ArgumentParser(
        prog="kernel/vm/run",
        usage="%(prog)s --kernel NAME [OPTION]... -- COMMAND...",
        description="Boots a kernel in a virtual machine and runs a command in it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = options.add_argument
    add("--kernel", required=True, choices=KERNELS, help="which kernel to boot")
    add("--machine", default="q35", choices=("q35", "microvm"), help="QEMU's machine (q35)")
    add("--cpus", type=number, metavar="N", help="processors (2; 1 with --icount)")
    add("--memory", type=memory, default="1G", metavar="SIZE", help="memory (1G)")
    add("--bus", default="virtio", choices=("virtio", "nvme"), help="of the disks (virtio)")
    add("--icount", action="store_true", help="emulate, so that guest time counts instructions")
    add("--append", default="", metavar="ARGS", help="more for the kernel's command line")
    add("--timeout", type=seconds, default=600.0, metavar="SECONDS", help="time limit (600)")
    add(
        "--disk",
        type=checked(disks.parse),
        action="append",
        default=[],
        metavar="NAME=WHAT",
        help=f"a disk: FS:SIZE[:FOLDER] of FS {', '.join(disks.MADE)}, with FOLDER's content; or "
        "an image, which is not mounted if :raw follows, and stays as it is unless :rw comes last; "
        "or an nbd: address",
    )
    add(
        "--file",
        type=checked(parse_file),
        action="append",
        default=[],
        metavar="SRC[:DEST]",
        help="a file or folder for /payload",
    )
    add(
        "--patches",
        type=count,
        metavar="N",
        help="build a patched kernel with the first N patches of its series only",
    )
    add("--module", action="store_true", help="build ringwalk.ko for this kernel and load it")
    add("--share-out", type=Path, metavar="DIR", help="where /out of the guest comes back to")
    add("command", nargs="+", metavar="COMMAND", help=argparse.SUPPRESS)
    return options


def checked(parse):
    """Returns a parser of options whose ValueError becomes a message to the user."""

    def parse_or_explain(text):
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse_or_explain


def number(text: str) -> int:
    """Parses a number of processors."""
    if not text.isdigit() or not 1 <= int(text) <= MOST_CPUS:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to {MOST_CPUS}")
    return int(text)


def count(text: str) -> int:
    """Parses a number of patches."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of patches")
    return int(text)


def memory(text: str) -> str:
    """Parses a size of memory, as QEMU reads it."""
    size = checked(disks.parse_size)(text)
    if size < 128 << 20:
        raise argparse.ArgumentTypeError(f"'{text}' is less than the 128M a guest needs")
    return f"{size >> 20}M"


def seconds(text: str) -> float:
    """Parses a time limit."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds")
    return value


def parse_file(text: str) -> tuple[Path, str]:
    """Parses SRC[:DEST]: a path here, and its name in /payload."""
    source, _, name = text.partition(":")
    path = Path(source)
    name = name or path.resolve().name
    if not path.exists():
        raise ValueError(f"'{source}' is not there")
    if name.startswith("/") or ".." in name.split("/"):
        raise ValueError(f"'{name}' leaves /payload")
    return path, name


def main(arguments: list[str]) -> int:
    """Runs what the arguments say; returns the exit status."""
    reader = parser()
    options = reader.parse_args(arguments)
    if wrong := check(options):
        reader.error(wrong)
    # Two processors share one count of instructions, and the one that waits counts as well.
    options.cpus = options.cpus or (1 if options.icount else 2)
    # Ends by the ordinary way, so that temporary folders go.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return boot(options)
    except Failure as error:
        cache.say(str(error))
        return error.status
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        cache.say("nobody reads the console any more")
        return BROKEN


def boot(options: argparse.Namespace) -> int:
    """Prepares the guest, runs it, takes back what it left."""
    if platform.machine() != "x86_64":
        raise Impossible(f"the guests are x86-64; this machine is {platform.machine()}")
    machine.qemu()
    if options.patches is None:
        kernel = KERNELS[options.kernel](options.kernel)
    else:
        kernel = patched(options.kernel, options.patches)
    ringwalk = module.build(kernel) if options.module else None
    kind, reason = (
        ("tcg", "software emulation: --icount") if options.icount else accel.choose(kernel)
    )
    made_of = f"{options.machine}, {options.cpus} processors, {options.memory}"
    cache.say(f"{kernel.release} on {made_of}, {reason}")
    with cache.run_folder() as folder:
        drives, table = disks.prepare(options.disk, folder)
        archive = pack(options, kernel, ringwalk, table, folder / "initramfs")
        settings = machine.Machine(
            kind=options.machine,
            accel=kind,
            cpus=options.cpus,
            memory=options.memory,
            bus=options.bus,
            icount=options.icount,
            append=options.append,
            drives=drives,
        )
        start = time.monotonic()
        text = guest.run(machine.command(settings, kernel.image, archive), options.timeout)
        status = guest.results(folder / f"{disks.OUT}.img", text, share_out(options))
    cache.say(
        f"the command ended with status {status} ({time.monotonic() - start:.1f} s with boot)"
    )
    return status


def check(options: argparse.Namespace) -> str:
    """Returns a message about options that exclude each other, or nothing."""
    if options.machine == "microvm" and options.kernel not in FLAVOURS:
        return f"kernel {options.kernel} cannot boot in microvm: it has virtio-mmio as a module"
    if options.machine == "microvm" and options.bus == "nvme":
        return "microvm has no PCI, so no NVMe"
    if options.patches is not None:
        if options.kernel not in FLAVOURS:
            return f"kernel {options.kernel} has no patches"
        try:
            flavour_with(options.kernel, options.patches)
        except ValueError as error:
            return str(error)
    names = [spec.name for spec in options.disk]
    if len(set(names)) < len(names):
        return "two disks have the same name"
    return ""


def share_out(options: argparse.Namespace) -> Path | None:
    if options.share_out:
        options.share_out.mkdir(parents=True, exist_ok=True)
    return options.share_out


def pack(options, kernel: Kernel, ringwalk: Path | None, table: str, path: Path) -> Path:
    """Writes the archive that the guest boots into."""
    archive = initramfs.Archive(path)
    initramfs.base(archive, kernel)
    command = options.command
    script = command[0] if len(command) == 1 else shlex.join(command)
    archive.data("ringwalk/command", os.fsencode(script + "\n"))
    archive.data("ringwalk/disks", table.encode())
    if ringwalk:
        archive.data("ringwalk/ringwalk.ko", ringwalk.read_bytes())
    for source, name in options.file:
        archive.tree(source, f"payload/{name}")
    archive.close()
    return path
