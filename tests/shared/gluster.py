"""A GlusterFS file system for the tests and the bench: a server, and mounts by its client, which
uses FUSE.

Everything runs in namespaces of its own: mounts, network, processes. They end with their first
process, which ends with the test: by the end of its block, or by the end of its standard input. So
no daemon and no mount is left behind, even if the tests are killed. What uses the mount runs in the
namespaces too.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from processes import TIMEOUT, finished, started
from unavailable import Unavailable

# GlusterFS refuses a loopback address for a volume.
ADDRESS = "10.231.77.2"
NEEDED = ("glusterd", "gluster", "mount.glusterfs", "ip", "unshare", "nsenter")

CONFIGURATION = """\
volume management
    type mgmt/glusterd
    option working-directory {folder}/state
    option run-directory {folder}/run
    option glusterd-sockfile {folder}/socket
    option transport-type socket
    option transport.address-family inet
    option transport.socket.listen-port 24007
end-volume
"""

# The first process of the namespaces. It prints its number in the namespace of the tests, so the
# new /proc comes after that. Servers and clients write into folders of the system, which are hidden
# here by empty ones.
FIRST = f"""\
set -e
read -r number rest </proc/self/stat
mount -t proc proc /proc
mkdir -p /var/log/glusterfs /run/gluster
mount -t tmpfs tmpfs /var/log/glusterfs
mount -t tmpfs tmpfs /run/gluster
ip link set lo up
ip address add {ADDRESS}/24 dev lo
echo "$number"
exec cat
"""


@dataclass(frozen=True)
class Mount:
    """A mounted volume."""

    # Where it is mounted. Only programs in the namespaces see it.
    point: Path
    # The words before a command that run it in the namespaces.
    inside: tuple[str, ...]


@contextlib.contextmanager
def mounted(folder: Path) -> Iterator[Mount]:
    """Gives a new volume with a mount, as `volume` does."""
    with volume(folder) as mount, mount() as mounted:
        yield mounted


@contextlib.contextmanager
def volume(folder: Path) -> Iterator[Callable[[], contextlib.AbstractContextManager[Mount]]]:
    """Gives a function that mounts a new volume anew. All files of it lie in the folder.

    Raises `Unavailable` if this process may not mount, or if GlusterFS is not installed.
    """
    _check()
    for name in ("state", "run", "brick", "mount"):
        (folder / name).mkdir(parents=True)
    configuration = folder / "glusterd.vol"
    configuration.write_text(CONFIGURATION.format(folder=folder))
    with _namespaces() as inside:
        log = folder / "glusterd.log"
        files = ("--volfile", configuration, "--log-file", log, "--pid-file", folder / "pid")
        with started([*inside, "glusterd", "--no-daemon", *files]) as server:
            client = (*inside, "gluster", "--mode=script", f"--glusterd-sock={folder}/socket")
            _wait_for((*client, "volume", "list"), server, log)
            _call(*client, "volume", "create", "tests", f"{ADDRESS}:{folder}/brick", "force")
            _call(*client, "volume", "start", "tests")

            @contextlib.contextmanager
            def mount() -> Iterator[Mount]:
                point = folder / "mount"
                _call(*inside, "mount", "-t", "glusterfs", f"{ADDRESS}:/tests", point)
                try:
                    yield Mount(point, inside)
                finally:
                    _call(*inside, "umount", point)

            yield mount


def _check() -> None:
    if os.geteuid() != 0:
        raise Unavailable("needs root")
    if not os.path.exists("/dev/fuse"):
        raise Unavailable("there is no /dev/fuse")
    for program in NEEDED:
        if shutil.which(program) is None:
            raise Unavailable(f"{program} is not installed")


@contextlib.contextmanager
def _namespaces() -> Iterator[tuple[str, ...]]:
    """Makes the namespaces. Gives the words that run a command in them."""
    flags = ("--mount", "--net", "--pid", "--fork", "--kill-child")
    refused = subprocess.run(["unshare", *flags, "true"], capture_output=True, text=True)
    if refused.returncode != 0:
        raise Unavailable(refused.stderr.strip())
    pipe = subprocess.PIPE
    command = ["unshare", *flags, "sh", "-c", FIRST]
    with started(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline().strip()
        if not first:
            raise Unavailable("the namespaces cannot be set up")
        yield "nsenter", "--target", first, "--mount", "--net", "--pid", "--"


def _wait_for(command: tuple[str, ...], server: subprocess.Popen, log: Path) -> None:
    """Returns when the server answers a command."""
    end = time.monotonic() + TIMEOUT
    while subprocess.run(command, capture_output=True).returncode != 0:
        if server.poll() is not None or time.monotonic() > end:
            raise OSError(f"glusterd does not answer:\n{log.read_text()[-2000:]}")


def _call(*command: str | Path) -> None:
    done = finished(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
