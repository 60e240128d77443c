# SPDX-License-Identifier: GPL-2.0-only
"""The rate of this processor's time stamp counter.

An emulated guest reads the host's counter, and measures its rate against emulated clocks. On a
busy host that goes wrong, and microvm, which has no other clock, then waits for ever (4 of 30
boots). So the harness passes the rate to the guest.
"""

import ctypes
import mmap
import time

# rdtsc; shl rdx, 32; or rax, rdx; ret
READ = bytes.fromhex("0f31 48c1e220 4809d0 c3")
SPAN = 0.1  # seconds; the clock is read within microseconds, so the error is below 1 in 10000


def khz() -> int:
    """Counts a millisecond."""
    with mmap.mmap(
        -1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    ) as code:
        code.write(READ)
        place = ctypes.c_char.from_buffer(code)
        read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(place))
        # The middle one of several: another program may run between the two readings.
        read()  # the first call takes longer
        spans = [span(read, SPAN / 5) for _ in range(5)]
        del read, place
    return sorted(spans)[len(spans) // 2]


def span(read, length: float) -> int:
    """Returns the rate over one span of time."""
    start, first = time.monotonic_ns(), read()
    time.sleep(length)
    end, last = time.monotonic_ns(), read()
    return round((last - first) * 1_000_000 / (end - start))
