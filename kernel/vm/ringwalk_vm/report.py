# SPDX-License-Identifier: GPL-2.0-only
"""What counts as a broken kernel: lines of its log that nothing but a fault writes.

Messages of the kernel carry its time stamp, which tells them from what the command prints.
"""

import re

# CONFIG_PRINTK_TIME, and CONFIG_PRINTK_CALLER's [T123] or [C1] where it is on.
STAMP = r"\[ *\d+\.\d{6}\](?:\[ *[TC]\d+\])? "

# lib/bug.c, kernel/panic.c, mm/kasan, kernel/kcsan, kernel/locking/lockdep.c, kernel/hung_task.c,
# kernel/watchdog.c, kernel/rcu/tree_stall.h, lib/ubsan.c, arch/x86/kernel/traps.c, lib/list_debug.c,
# lib/debugobjects.c, lib/refcount.c, mm/page_alloc.c, mm/kmemleak.c and kernel/workqueue.c write these.
FAULTS = (
    r"BUG: ",
    r"WARNING: ",
    r"kernel BUG at ",
    r"Oops: ",
    r"Oops\b",
    r"Kernel panic ",
    r"general protection fault",
    r"stack segment: ",
    r"invalid opcode: ",
    r"divide error: ",
    r"double fault",
    r"INFO: task .* blocked for more than",
    r"INFO: (?:trying to register non-static key|possible .*deadlock)",
    r"rcu: INFO: rcu.* (?:detected|self-detected)",
    r"(?:watchdog: )?BUG: soft lockup",
    r"UBSAN: ",
    r"KCSAN: ",
    r"list_(?:add|del) corruption",
    r"ODEBUG: ",
    r"refcount_t: ",
    r"SLUB: .*|=+\[ cut here \]=+",
    r"-+\[ cut here \]-+",
    r"Bad page (?:state|map)",
    r"kmemleak: \d+ new suspected",
    r"workqueue: .* hogged CPU .*deadlock",
    r"INFO: lockdep is turned off",
    r"VFS: Busy inodes after unmount",
    r"unchecked MSR access error",
)
FAULT = re.compile(STAMP + r"(?:\S+: )?(?:" + "|".join(FAULTS) + ")")

# Said by sound kernels in this machine: of QEMU's tables, and of a module built outside the tree.
HARMLESS = re.compile(STAMP + r"(?:\S+: )?(?:SLUB: HWalign=|BUG: unused)")


def faults(log: str) -> list[str]:
    """The lines that report a fault, in their order."""
    return [
        line for line in log.splitlines() if FAULT.search(line) and not HARMLESS.search(line)
    ]
