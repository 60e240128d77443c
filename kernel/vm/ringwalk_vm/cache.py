# SPDX-License-Identifier: GPL-2.0-only
"""The cache between runs: $RINGWALK_CACHE, else ringwalk in the user's cache folder.

Several checkouts share it, and several runs may use it at once. The run that makes a folder holds
its lock, and a finished folder appears by renaming.
"""

import contextlib
import ctypes
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from .errors import Failure, Impossible

PR_SET_PDEATHSIG = 1  # prctl(2)


def root() -> Path:
    """Returns the cache folder, made when it is not there."""
    chosen = os.environ.get("RINGWALK_CACHE")
    if not chosen:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        chosen = str(Path(base) / "ringwalk")
    path = Path(chosen).resolve() / "kernel"
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def lock(name: str, shared: bool = False):
    """Holds the cache's lock of that name, alone or with others; says so when it has to wait."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with open(root() / f"{name}.lock", "w") as file:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another run that holds {name}")
            fcntl.flock(file, kind)
        yield


@contextlib.contextmanager
def folder_in_the_making(target: Path):
    """Provides an empty folder, which becomes `target` when the block ends without an error."""
    target.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield making
        making.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        making.rename(target)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise


@contextlib.contextmanager
def run_folder():
    """Provides a folder for one run, and removes it, and those of killed runs, afterwards."""
    with lock("runs"):
        for old in root().glob("run.*"):
            with contextlib.suppress(OSError), open(old / "alive") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                shutil.rmtree(old)
        folder = tempfile.TemporaryDirectory(prefix="run.", dir=root())
        alive = open(Path(folder.name) / "alive", "w")  # noqa: SIM115 - closed below
        fcntl.flock(alive, fcntl.LOCK_EX)
    with folder as name, alive:
        yield Path(name)


def digest(*parts: bytes | str) -> str:
    """Returns a short name for these inputs: any difference in or between them changes it."""
    hasher = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hasher.update(len(data).to_bytes(8, "little") + data)
    return hasher.hexdigest()[:20]


def say(message: str) -> None:
    """Prints a message of the harness; the guest's console goes to standard output."""
    print(f"vm: {message}", file=sys.stderr, flush=True)


def tool(name: str, package: str) -> str:
    """Returns the path of a program, also where only root's PATH has it."""
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    found = shutil.which(name, path=path)
    if not found:
        raise Impossible(f"{name} is not there: it comes with Debian's package {package}")
    return found


def ends_with_us(number: int):
    """Returns a `preexec_fn`: the child gets this signal when the harness has ended in any way.

    A guest must not outlive its run, nor a build its lock.
    """
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(PR_SET_PDEATHSIG, number)


def complete(command: list, **more) -> subprocess.CompletedProcess:
    """Runs a command to its end as subprocess.run does, and ends it when this run is interrupted.

    All processes of the command end then. subprocess.run would kill the first of them only, and a
    build would go on in the folder of the next one.
    """
    with subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        preexec_fn=ends_with_us(signal.SIGTERM),
        process_group=0,
        **more,
    ) as process:
        try:
            output, _ = process.communicate()
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, output)


def run(command: list, *, what: str, **more) -> str:
    """Runs a command and returns its output; its last lines show why it failed."""
    done = complete(command, stdout=subprocess.PIPE, text=True, errors="replace", **more)
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-40:])
        raise Failure(f"{what} failed with status {done.returncode}:\n{tail}")
    return done.stdout
