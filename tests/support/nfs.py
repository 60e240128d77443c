"""An NFS file system for the tests: nfs-ganesha serves a directory, and the kernel mounts it.

Server and mount are in a network namespace of their own, so that no other program can reach them,
and each worker of the tests can have one.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

from processes import started

from support import mounts
from support.mounts import Unavailable

# NFS 4 needs neither rpcbind nor other servers. Without a grace period clients begin at once.
CONFIGURATION = """
NFS_CORE_PARAM {{ Protocols = 4; NFS_Port = 2049; Enable_NLM = false; Enable_RQUOTA = false; }}
NFSv4 {{ Graceless = true; Minor_Versions = 1; RecoveryRoot = "{work}/nfs-recovery"; }}
EXPORT {{
	Export_Id = 1; Path = "{work}/nfs-source"; Pseudo = "/export"; Protocols = 4;
	Access_Type = RW; Squash = none; SecType = sys; FSAL {{ Name = VFS; }}
}}
"""

# The server says so when clients can come.
READY = b"NFS SERVER INITIALIZED"

# The options that mount.nfs would hand to the kernel.
OPTIONS = "vers=4.1,addr=127.0.0.1,clientaddr=127.0.0.1,port=2049,sec=sys"


@contextlib.contextmanager
def network(work: Path) -> Iterator[tuple[str, str]]:
    """Gives the words that run a program in a new network namespace, which has only loopback."""
    file = work / "network"
    file.touch()
    mounts.call("unshare", f"--net={file}", "true")
    try:
        inside = ("nsenter", f"--net={file}")
        mounts.call(*inside, "ip", "link", "set", "lo", "up")
        yield inside
    finally:
        mounts.unmount(file)


@contextlib.contextmanager
def serving(work: Path, inside: tuple[str, str]) -> Iterator[Path]:
    """Runs the server in a network. Gives the directory that it exports as /export."""
    if shutil.which("ganesha.nfsd") is None:
        raise Unavailable("ganesha.nfsd is not installed")
    for name in ("nfs-source", "nfs-recovery"):
        (work / name).mkdir()
    configuration = work / "nfs.conf"
    configuration.write_text(CONFIGURATION.format(work=work))
    files = ("-f", configuration, "-p", work / "nfs.pid", "-L", "STDOUT")
    said: list[bytes] = []
    with started(
        [*inside, "ganesha.nfsd", "-F", *files],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as server:
        for line in server.stdout:
            said.append(line)
            if READY in line:
                break
        else:
            text = b"".join(said[-3:]).decode(errors="replace")
            raise Unavailable(f"ganesha.nfsd: {text}")
        # The server must not wait for a reader of its messages.
        reader = threading.Thread(target=server.stdout.read, daemon=True)
        reader.start()
        yield work / "nfs-source"


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
    with network(work) as inside, serving(work, inside):
        mount = ("mount", "-i", "-t", "nfs4", "-o", OPTIONS)
        mounts.call(*inside, *mount, "127.0.0.1:/export", point)
        try:
            yield point
        finally:
            mounts.unmount(point)
