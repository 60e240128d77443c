"""An NFS file system for the tests: the kernel mounts what nfs-ganesha serves.

Server and mount are in a network namespace of their own (`tests/shared/ganesha.py`).
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import ganesha
from unavailable import Unavailable

from support import mounts

# The options that mount.nfs would hand to the kernel.
OPTIONS = "vers=4.1,addr=127.0.0.1,clientaddr=127.0.0.1,port=2049,sec=sys"


@contextlib.contextmanager
def mounted(work: Path) -> Iterator[Path]:
    """Gives a new NFS file system."""
    if "nfs4" not in Path("/proc/filesystems").read_text().split():
        # The module is loaded by the first mount, where there is one.
        subprocess.run(["modprobe", "-q", "nfsv4"], check=False)
    if "nfs4" not in Path("/proc/filesystems").read_text().split():
        raise Unavailable("this kernel has no client of NFS 4")
    point = work / "nfs"
    point.mkdir()
    with contextlib.ExitStack() as stack:
        inside = stack.enter_context(ganesha.network(work))
        stack.enter_context(ganesha.serving(work, inside))
        mount = ("mount", "-i", "-t", "nfs4", "-o", OPTIONS)
        mounts.call(*inside, *mount, "127.0.0.1:/export", point)
        stack.callback(mounts.unmount, point)
        yield point
