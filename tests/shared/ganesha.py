"""An NFS server in a network namespace: nfs-ganesha serves a directory.

No other program can reach the server, and each worker of the tests can have one. The tests mount
it (`tests/support/nfs.py`), and the bench reads it (`bench/ringbench/nfs.py`).
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from processes import finished, started
from unavailable import Unavailable

# NFS 4 needs neither rpcbind nor other servers. Without a grace period clients begin at once.
CONFIGURATION = """
NFS_CORE_PARAM {{ Protocols = 4; NFS_Port = 2049; Enable_NLM = false; Enable_RQUOTA = false; }}
NFSv4 {{ Graceless = true; Minor_Versions = 0, 1; RecoveryRoot = "{work}/nfs-recovery"; }}
EXPORT {{
	Export_Id = 1; Path = "{work}/nfs-source"; Pseudo = "/export"; Protocols = 4;
	Access_Type = RW; Squash = none; SecType = sys; FSAL {{ Name = VFS; }}
}}
"""

# The server says so when clients can come.
READY = b"NFS SERVER INITIALIZED"


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    # The directory that it exports as /export.
    folder: Path
    process: subprocess.Popen


@contextlib.contextmanager
def network(work: Path) -> Iterator[tuple[str, str]]:
    """Gives the words that run a program in a new network namespace, which has only loopback."""
    file = work / "network"
    file.touch()
    _call("unshare", f"--net={file}", "true")
    try:
        inside = ("nsenter", f"--net={file}")
        _call(*inside, "ip", "link", "set", "lo", "up")
        yield inside
    finally:
        subprocess.run(["umount", file], capture_output=True, check=False)


@contextlib.contextmanager
def serving(work: Path, inside: tuple[str, str]) -> Iterator[Server]:
    """Runs the server in a network. Its folder is new and empty."""
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
        assert server.stdout is not None
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
        yield Server(work / "nfs-source", server)


def _call(*command: str | Path) -> None:
    if shutil.which(command[0]) is None:
        raise Unavailable(f"{command[0]} is not installed")
    done = finished(command, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"{command[0]}: {done.stderr.strip()}")
