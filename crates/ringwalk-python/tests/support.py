"""What several tests need."""

import os
import pathlib
import signal
import subprocess
import sys
import time

from processes import finished, started

# Nobody waits longer for anything that is to come at once; a busy machine is allowed for.
PATIENCE = 100.0


def escaped(path: bytes) -> str:
    """A path as tables have it: with escapes in place of bytes that are not UTF-8."""
    return path.decode(errors="backslashreplace")


def listed(top) -> dict[str, os.stat_result]:
    """Everything below and at `top`, as the standard library finds it, by its path in tables."""
    top = os.fsencode(top)
    found = {escaped(top): os.lstat(top)}
    for directory, directories, files in os.walk(top):
        for name in directories + files:
            path = os.path.join(directory, name)
            found[escaped(path)] = os.lstat(path)
    return found


def endless_tree(top: pathlib.Path, levels: int = 40) -> pathlib.Path:
    """Directories with two links each to the next: 2 ** levels of them when links are followed."""
    for level in range(levels):
        directory = top / str(level)
        directory.mkdir(parents=True)
        for name in ("x", "y"):
            (directory / name).symlink_to(f"../{level + 1}")
    (top / str(levels)).mkdir()
    return top / "0"


def run(script: str, *arguments, **keywords) -> subprocess.CompletedProcess[str]:
    """Runs a script in an interpreter of its own."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return finished(command, capture_output=True, text=True, **keywords)


def interrupted(script: str, *arguments) -> tuple[int, str]:
    """Runs a script that would never end until it has said that it is ready, and interrupts it as
    Ctrl-C does. Returns its status and what it has written.
    """
    command = [sys.executable, "-c", script, *map(str, arguments)]
    pipe = subprocess.PIPE
    with started(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        # Most often the script waits by then. Where it does not, it is interrupted all the same.
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        answer, problems = process.communicate(timeout=PATIENCE)
        return process.returncode, answer + problems


def in_child(check) -> int:
    """The exit status of a fork that makes a check; 99 if that takes too long."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            check()
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def threads() -> list[str]:
    """The names of this process's threads that are the engine's."""
    names = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            names.append((task / "comm").read_text().strip())
        except (FileNotFoundError, ProcessLookupError):
            continue  # It has ended meanwhile.
    return [name for name in names if name.startswith("ringwalk")]


def wait_until(condition) -> bool:
    """Whether it becomes true before patience ends."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True
