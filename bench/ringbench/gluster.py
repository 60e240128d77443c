"""A GlusterFS server in a network namespace of its own, and its mount.

The namespace gives the server an address that is not loopback, which GlusterFS
refuses for a volume, and keeps its ports from everything else on the machine. State,
socket and volume lie in the scratch folder; only the logs of bricks and clients go
where Debian's packages put them, /var/log/glusterfs.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .media import attempt, background, call, need_root, unmount, wait_until
from .tools import need

ADDRESS = "10.231.77.2"
VOLUME = "ringwalk-bench"

MANAGEMENT = """\
volume management
    type mgmt/glusterd
    option working-directory {folder}/state
    option run-directory {folder}/run
    option glusterd-sockfile {folder}/glusterd.socket
    option transport-type socket
    option transport.address-family inet
    option transport.socket.listen-port 24007
end-volume
"""


@contextlib.contextmanager
def _namespace(name: str) -> Iterator[str]:
    call("ip", "netns", "add", name)
    try:
        call("ip", "-n", name, "link", "set", "lo", "up")
        call("ip", "-n", name, "link", "add", "rw0", "type", "veth", "peer", "name", "rw1")
        call("ip", "-n", name, "address", "add", f"{ADDRESS}/24", "dev", "rw0")
        call("ip", "-n", name, "link", "set", "rw0", "up")
        call("ip", "-n", name, "link", "set", "rw1", "up")
        yield f"--net=/run/netns/{name}"
    finally:
        _end_all(name)
        attempt("ip", "netns", "delete", name)


def _end_all(name: str) -> None:
    """Ends what still runs in the namespace: bricks and helpers that glusterd started."""
    for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
        pids = subprocess.run(
            ["ip", "netns", "pids", name], capture_output=True, text=True
        ).stdout.split()
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), number)
        time.sleep(1)


@contextlib.contextmanager
def volume(scratch: Path, fill: Callable[[Path], None]) -> Iterator[Callable]:
    """Provides a volume whose content `fill` made; gives a context manager that mounts it anew."""
    need("glusterd", "gluster", "mount.glusterfs", "ip", "nsenter")
    need_root()
    folder = scratch / "gluster"
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("state", "run", "brick"):
        (folder / part).mkdir(parents=True)
    management = folder / "glusterd.vol"
    management.write_text(MANAGEMENT.format(folder=folder))
    log = folder / "glusterd.log"
    name = f"ringwalk-bench-{os.getpid()}"
    point = folder / "mount"
    try:
        with contextlib.ExitStack() as stack:
            network = stack.enter_context(_namespace(name))
            server = ("nsenter", network, "glusterd", "--no-daemon", "--volfile", management)
            stack.enter_context(
                background(*server, "--log-file", log, "-p", folder / "pid", log=log)
            )
            client = (
                "nsenter",
                network,
                "gluster",
                "--mode=script",
                f"--glusterd-sock={folder}/glusterd.socket",
            )

            def answers() -> bool:
                command = [*client, "volume", "list"]
                return subprocess.run(command, capture_output=True).returncode == 0

            wait_until(answers, f"glusterd (see {log})")
            brick = f"{ADDRESS}:{folder}/brick"
            call(*client, "volume", "create", VOLUME, brick, "force")
            call(*client, "volume", "start", VOLUME)
            stack.callback(attempt, *client, "volume", "stop", VOLUME, "force")

            @contextlib.contextmanager
            def fresh_mount() -> Iterator[Path]:
                point.mkdir(exist_ok=True)
                source = f"{ADDRESS}:/{VOLUME}"
                call("nsenter", network, "mount", "-t", "glusterfs", source, point)
                try:
                    yield point
                finally:
                    unmount(point)

            with fresh_mount() as filled:
                fill(filled)
            yield fresh_mount
    finally:
        shutil.rmtree(folder, ignore_errors=True)
