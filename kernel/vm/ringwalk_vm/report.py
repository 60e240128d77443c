# SPDX-License-Identifier: GPL-2.0-only
"""Signs of a broken kernel: lines of its log that only a fault writes.

Messages of the kernel have a time stamp, which distinguishes them from the command's output.
"""

import re

# CONFIG_PRINTK_TIME, and CONFIG_PRINTK_CALLER's [T123] or [C1] where it is on.
STAMP = r"\[ *\d+\.\d{6}\](?:\[ *[TC]\d+\])? "

# Written by kernel/panic.c, lib/bug.c, arch/x86/kernel/{traps,dumpstack}.c, mm/kasan, kernel/kcsan;
# lockdep.c, hung_task.c, watchdog.c, rcu/tree_stall.h and workqueue.c of kernel/; slub.c, bad pages
# of mm/; list_debug.c, debugobjects.c, refcount.c and ubsan.c of lib/; the file systems.
FAULTS = (
    r"BUG\b",
    r"WARNING\b",
    r"Oops\b",
    r"kernel BUG at ",
    r"Kernel panic ",
    r"-+\[ cut here \]-+",
    r"general protection fault",
    r"(?:stack segment|invalid opcode|divide error|double fault)\b",
    r"unchecked MSR access error",
    r"INFO: task .* blocked for more than",
    r"INFO: trying to register non-static key",
    r"INFO: lockdep is turned off",
    r"INFO: rcu.* (?:self-)?detected",
    r"(?:UBSAN|KCSAN|ODEBUG|refcount_t): ",
    r"list_(?:add|del) corruption",
    r"Bad page (?:state|map)",
    r"VFS: Busy inodes after unmount",
    # Tests make mapped devices fail (kernel/tests/lib/scratch.h).
    r"EXT4-fs error (?!\(device dm-)",
    r"XFS \(\S+\): (?:.*[Cc]orruption|Internal error)",
    r"BTRFS critical",
)
FAULT = re.compile(STAMP + r"(?:\w+: )?(?:" + "|".join(FAULTS) + ")")


def faults(log: str) -> list[str]:
    """Returns the lines that report a fault, in their order."""
    return [line for line in log.splitlines() if FAULT.search(line)]
