# SPDX-License-Identifier: GPL-2.0-only
"""Whether KVM runs guests here.

A device that opens is no proof: hosts that are guests themselves may refuse or hang. So a kernel is
booted once, and the answer kept for this host.
"""

import json
import os
import tempfile
from pathlib import Path

from . import cache, guest, initramfs
from .errors import GuestBroken
from .kernels import Kernel
from .machine import Machine, command, qemu

DEVICE = "/dev/kvm"
# A stock kernel is up in 6 s under emulation; under KVM in 1.
LIMIT = 25.0


def choose(kernel: Kernel) -> tuple[str, str]:
    """Returns `kvm` or `tcg`, and the reason in words."""
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return "tcg", f"software emulation: no access to {DEVICE}"
    with cache.lock("kvm"):
        file = cache.root() / "kvm.json"
        key = identity()
        try:
            known = json.loads(file.read_text())
        except (OSError, ValueError):
            known = {}
        if known.get("host") != key:
            cache.say(f"trying whether KVM boots a guest (at most {LIMIT:g} s, once)")
            known = {"host": key, "reason": attempt(kernel)}
            file.write_text(json.dumps(known))
    if known["reason"]:
        return "tcg", f"software emulation: KVM does not work here ({known['reason']})"
    return "kvm", "KVM"


def identity() -> list:
    """Returns the conditions of the answer: the host's kernel and boot, its device and QEMU."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return [os.uname().release, boot, os.stat(DEVICE).st_rdev, qemu(), os.stat(qemu()).st_mtime]


def attempt(kernel: Kernel) -> str:
    """Boots a guest that switches itself off. Returns why it did not, or nothing."""
    with tempfile.TemporaryDirectory(dir=cache.root()) as folder:
        path = Path(folder) / "initramfs"
        archive = initramfs.Archive(path)
        for name in ("bin", "dev", "proc"):
            archive.folder(name)
        busybox = Path(cache.tool("busybox", "busybox-static")).read_bytes()
        archive.data("bin/busybox", busybox, 0o755)
        script = b"#!/bin/busybox sh\n/bin/busybox echo kvm-is-fine\n/bin/busybox poweroff -f\n"
        archive.data("init", script, 0o755)
        archive.close()
        line = command(Machine(accel="kvm", memory="512M"), kernel.image, path)
        try:
            text = guest.run(line, LIMIT, show=False)
        except GuestBroken as error:
            return f"the trial guest {error}"
    if "kvm-is-fine" in text:
        return ""
    return (text.strip().splitlines() or ["the trial guest stayed silent"])[-1]
