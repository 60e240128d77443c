"""The suites of the kernel side: each boots guests and measures in them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from . import disks, guest, guest_tools, images, kernel_rows
from .bulk import joined
from .bulk_rows import DIRECTORY_SIZES
from .guest import Bench, Plan, Setting
from .rows import Row
from .suites import Result, Session

# Medians of so many, in one guest.
RUNS = 10

# Where a slow disk takes the time, runs hardly differ.
COLD_RUNS = 3


def bench(
    suite: str,
    setting: Setting,
    rows: list[Row],
    tree: str,
    about: dict[str, object],
    plan: Plan,
    *tools: str,
    **more: object,
) -> Bench:
    """Returns a bench with the programs that its rows need, and others."""
    files = guest_tools.files(*tools, *{row.tool for row in rows})
    return Bench(suite, setting, rows, tree, plan, about, files, guest_tools.PATHS, **more)


def _in_cache(
    suite: str,
    kernel: str,
    rows: list[Row],
    session: Session,
    content: images.Content,
    mitigations: str | None = None,
) -> Result:
    """Measures a content on ext4 in cache. Mitigations are off unless said otherwise."""
    image = images.image(session.scratch, "ext4", content)
    setting = Setting(
        kernel,
        (f"tree={image}:rw",),
        module=kernel in kernel_rows.STOCK,
        prologue=guest.disk("tree", file_system="ext4"),
        append=f"mitigations={mitigations}" if mitigations else "",
    )
    about = {"tree": content.about, "file_system": "ext4", "cache": "warm"}
    about |= {"mitigations": mitigations} if mitigations else {}
    return guest.run(session, bench(suite, setting, rows, "/mnt/tree", about, Plan(RUNS)))


def warm(kernel: str, session: Session) -> Result:
    """Measures everything in cache: each way to read, and `ringwalk count` on it."""
    stock = kernel in kernel_rows.STOCK
    rows = kernel_rows.WARM_STOCK if stock else kernel_rows.WARM_PATCHED
    content = images.copy_of(session.tree())
    return _in_cache(f"kernel-warm-{kernel}", kernel, rows, session, content)


def xattrs(kernel: str, session: Session) -> Result:
    """Measures metadata with extended attributes in cache."""
    rows = kernel_rows.XATTRS[kernel]
    content = images.with_attribute(session.tree())
    return _in_cache(f"kernel-xattrs-{kernel}", kernel, rows, session, content)


def subtrees(session: Session) -> Result:
    """Measures whole subtrees in cache, with the mitigations that this processor asks for."""
    kernel = kernel_rows.SUBTREE_KERNEL
    rows, content = kernel_rows.SUBTREES, images.copy_of(session.tree())
    return _in_cache(f"kernel-subtrees-{kernel}", kernel, rows, session, content, "auto")


# What bringing in an inode takes of an emulated processor is about ten times what it takes here
# (measured: 84 000 entries with metadata from cache, 1.03 s in the guest, 0.10 s outside). With the
# disk as it is that, not the disk, would be compared.
SLOWER = 10

# The whole source would take hours there.
PART = "drivers/net"


def _on_slow_disk(
    suite: str,
    kernel: str,
    disk: disks.Disk,
    content: images.Content,
    rows: list[Row],
    session: Session,
    runs: int,
) -> Result:
    """Measures a content on ext4, each run with nothing in cache."""
    image = images.image(session.scratch, "ext4", content)
    about = {"tree": content.about, "file_system": "ext4", "cache": "cold", "disk": disk.name}
    with disks.exported(disk, image, session.scratch, guest=True) as socket:
        setting = Setting(
            kernel,
            (f"tree=nbd:unix:{socket}",),
            memory="2G",
            module=kernel in kernel_rows.STOCK,
            prologue=guest.disk("tree", file_system="ext4", rotates=disk.rotational),
            cold=guest.DROP_CACHES,
        )
        plan = Plan(runs, warm_up=0)
        made = bench(suite, setting, rows, "/mnt/tree", about, plan, counted=False)
        return guest.run(session, made)


def subtrees_cold(medium: str, session: Session) -> Result:
    """Measures subtrees on a slow disk."""
    kernel = kernel_rows.SUBTREE_KERNEL
    source = images.copy_of(session.tree() / PART)
    content = replace(source, name="part", about=f"{PART} of {session.tree().name}")
    disk = disks.slow(f"{2 * SLOWER}ms") if medium == "2ms" else disks.spinning(slower=SLOWER)
    rows, suite = kernel_rows.WAITING, f"kernel-subtrees-{medium}-{kernel}"
    return _on_slow_disk(suite, kernel, disk, content, rows, session, COLD_RUNS)


def microvm(session: Session) -> Result:
    """Measures the published measurement: cold, a small machine, the host's cache off."""
    content = images.copy_of(session.tree())
    image = images.image(session.scratch, "ext2", content)
    setting = Setting(
        "patched",
        (f"tree={image}:rw",),
        machine="microvm",
        memory="512M",
        prologue=guest.disk("tree", file_system="ext2"),
        cold=guest.DROP_CACHES,
    )
    about = {
        "tree": content.about,
        "file_system": "ext2",
        "cache": "cold",
        "disk": "host's, uncached",
    }
    plan = Plan(RUNS, warm_up=0)
    rows = kernel_rows.MICROVM
    return guest.run(session, bench("kernel-microvm", setting, rows, "/mnt/tree", about, plan))


# Copies of the kernel's source: about a million entries.
COPIES = 12

# As the published case has it.
RAID = 6


def find(state: str, session: Session) -> Result:
    """Measures a million names by one thread and the operations, beside GNU find."""
    content = images.copies_of(session.tree(), COPIES)
    image = images.image(session.scratch, "ext4", content)
    cold = state == "cold"
    disk = disks.spinning(RAID)
    about = {"tree": content.about, "file_system": "ext4", "cache": state}
    with ExitStack() as stack:
        what = f"{image}:rw"
        if cold:
            export = disks.exported(disk, image, session.scratch, guest=True)
            what = f"nbd:unix:{stack.enter_context(export)}"
            about["disk"] = disk.name
        setting = Setting(
            "patched",
            (f"tree={what}",),
            memory="2G",
            prologue=guest.disk("tree", file_system="ext4", rotates=cold),
            cold=guest.DROP_CACHES if cold else "",
        )
        plan = Plan(RUNS, warm_up=0 if cold else 1, long=kernel_rows.FIND_LONG)
        rows = kernel_rows.FIND
        made = bench(
            f"kernel-find-{state}", setting, rows, "/mnt/tree", about, plan, counted=not cold
        )
        return guest.run(session, made)


def directory(kernel: str, session: Session) -> Result:
    """Measures READAHEAD, then names and metadata, by size of directory, on a rotating disk."""
    suite = f"kernel-directory-{kernel}"
    rows = kernel_rows.directory(opcode=kernel not in kernel_rows.STOCK)
    disk = disks.spinning(slower=SLOWER)
    whole: Result | None = None
    for files in DIRECTORY_SIZES:
        content = images.one_directory(files)
        part = _on_slow_disk(suite, kernel, disk, content, rows, session, COLD_RUNS)
        whole = joined(whole, part, files)
    assert whole is not None
    whole.about["tree"] = "one directory of files made in random order"
    return whole


def fuse(kernel: str, session: Session) -> Result:
    """Entries a call on a FUSE file system, whose server is near or far away."""
    point = "/tmp/fuse"
    setting = Setting(kernel, cold=kernel_rows.serve(point))
    about = {
        "tree": f"{kernel_rows.FUSE_ENTRIES} names of 84 bytes",
        "file_system": "FUSE",
        "cache": "cold",
        "buffer": kernel_rows.FUSE_BUFFER,
    }
    made = bench(
        f"kernel-fuse-{kernel}",
        setting,
        kernel_rows.FUSE,
        point,
        about,
        Plan(RUNS, warm_up=0),
        "fuse_readdir",
        counted=False,
        figures=kernel_rows.calls,
    )
    return guest.run(session, made)


SUITES: dict[str, Callable[[Session], Result]] = {
    **{
        f"kernel-warm-{kernel}": functools.partial(warm, kernel)
        for kernel in (*kernel_rows.STOCK, "patched")
    },
    **{
        f"kernel-xattrs-{kernel}": functools.partial(xattrs, kernel)
        for kernel in kernel_rows.XATTRS
    },
    f"kernel-subtrees-{kernel_rows.SUBTREE_KERNEL}": subtrees,
    **{
        f"kernel-subtrees-{medium}-{kernel_rows.SUBTREE_KERNEL}": functools.partial(
            subtrees_cold, medium
        )
        for medium in kernel_rows.SLOW_DISKS
    },
    "kernel-microvm": microvm,
    **{f"kernel-find-{state}": functools.partial(find, state) for state in ("cold", "cached")},
    **{
        f"kernel-directory-{kernel}": functools.partial(directory, kernel)
        for kernel in kernel_rows.DIRECTORY_KERNELS
    },
    **{
        f"kernel-fuse-{kernel}": functools.partial(fuse, kernel)
        for kernel in (kernel_rows.FUSE_PAGES, *kernel_rows.FUSE_LARGE)
    },
}
