"""The command line of `ringwalk-cluster`.

The project's `docs/scale-out.md` has a table of the exit statuses.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import signal
import sys
from typing import Any

import ringwalk
from ringwalk import cluster
from ringwalk.cluster.driver import Driver
from ringwalk.cluster.problems import ClusterError, Refused, Stopped
from ringwalk.cluster.progress import Progress, give_up, say

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "ms": 0.001}


def duration(text: str) -> float:
    """Returns the seconds of a duration such as `10s`, `500ms` or `2m`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|)", text)
    if found is None or float(found[1]) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration: expected 10s, 500ms or 2m")
    return float(found[1]) * _UNITS[found[2]]


def positive(text: str) -> int:
    """Returns a number above zero."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above zero")
    return int(text)


def _snapshot_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("roots", nargs="+", metavar="ROOT", help="a directory tree to save")
    add("-o", "--output", required=True, metavar="DIR", help="the directory of the snapshot")
    add(
        "--engine",
        default="pool",
        help="what runs the tasks: pool, dask://HOST:PORT, tls://HOST:PORT, mpi or MODULE:CALLABLE "
        "(default: pool). Without TLS, everyone who can connect to a Dask scheduler can run "
        "programs as its user.",
    )
    add(
        "--processes",
        type=positive,
        metavar="N",
        help="number of processes of the pool, up to 4096 (default: one for each CPU)",
    )
    add(
        "--budget",
        type=duration,
        default=10.0,
        metavar="TIME",
        help="the longest time of a task, such as 10s (default: 10s)",
    )
    add(
        "--resume",
        action="store_true",
        help="go on with a run that has ended early, or begin it if DIR does not exist",
    )
    add("--workers", type=positive, metavar="N", help="number of threads of each task")
    add(
        "--in-flight",
        type=positive,
        metavar="N",
        help="the most requests of a task at a time (default: 32, or as many as --workers)",
    )
    add("--rate", type=positive, metavar="N", help="the most entries that a task reads in a second")
    add("--source", choices=cluster.SOURCES, default="auto", help="where directory data come from")
    add("--xattrs", action="store_true", help="save extended attributes")
    add("--atime", action="store_true", help="save times of the last access")
    add(
        "-x",
        "--one-file-system",
        action="store_true",
        help="leave out directories on other file systems",
    )
    add("--json", action="store_true", help="print progress and verdict as JSON lines")


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="ringwalk-cluster",
        description="Saves very large directory trees with many processes or machines.",
        epilog="Exit status: 0 if a snapshot is complete and undamaged, 1 if something is missing "
        "or damaged, or the command failed while it was at work, 2 if it could not begin, 130 and "
        "143 after SIGINT and SIGTERM.",
    )
    version = f"ringwalk-cluster {ringwalk.__version__}"
    top.add_argument("--version", action="version", version=version)
    commands = top.add_subparsers(dest="command", required=True)
    _snapshot_options(commands.add_parser("snapshot", help="save directory trees"))
    for name, text in (
        ("status", "show how much of a run is done"),
        ("verify", "check all files of a snapshot, and remove those that belong to no task"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("directory", metavar="DIR")
        command.add_argument("--json", action="store_true", help="print JSON")
    command = commands.add_parser("compact", help="make one sorted snapshot of a run that is over")
    command.add_argument("directory", metavar="DIR")
    command.add_argument("-o", "--output", required=True, metavar="FILE")
    command.add_argument("--memory", type=positive, metavar="BYTES", help="the most memory to use")
    return top


def main(arguments: list[str] | None = None) -> int:
    """Runs the program, and returns its exit status."""
    _open_standard_files()
    given = parser().parse_args(arguments)
    commands = {"snapshot": _snapshot, "status": _status, "verify": _verify, "compact": _compact}
    try:
        return commands[given.command](given)
    except Stopped as stopped:
        _complain(stopped)
        return 128 + stopped.signal
    except KeyboardInterrupt:
        # `snapshot` raises `Stopped`. The other commands can be repeated.
        _complain(ClusterError("interrupted"))
        return 128 + signal.SIGINT
    except Refused as error:
        _complain(error)
        return 2
    except (ClusterError, ValueError) as error:
        _complain(error)
        return 1
    except OSError as error:
        _complain(error)
        return 1 if _has_begun(given) else 2


def _open_standard_files() -> None:
    """Opens /dev/null in the place of standard files that are closed.

    Processes of the pool cannot be started without them. Other files would get their numbers.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free.
            os.open(os.devnull, os.O_RDWR)
    # They stay open as long as the process.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def _has_begun(given: argparse.Namespace) -> bool:
    """Returns true if a command that has failed was at work.

    A run is at work when it has changed something, so that it can be resumed. The other commands
    refuse what they cannot begin with.
    """
    return given.command != "snapshot" or os.path.isdir(os.path.join(given.output, "log"))


def _complain(error: BaseException) -> None:
    text = str(error)
    if isinstance(error, OSError) and error.strerror is not None:
        text = error.strerror
        if error.filename is not None:
            text = f"'{os.fsdecode(error.filename)}': {text}"
    try:
        print(f"ringwalk-cluster: {_printable(text)}", file=sys.stderr, flush=True)
    except OSError:
        # The exit status remains.
        give_up(sys.stderr)


def _printable(text: str) -> str:
    """Returns a text without control characters: names of files must not command a terminal."""
    return "".join(each if each.isprintable() else "?" for each in text)


def _snapshot(given: argparse.Namespace) -> int:
    if not getattr(sys.flags, "safe_path", False):
        # For MODULE:CALLABLE. `python -m` has it, and the installed program has not.
        sys.path.append(os.getcwd())
    # A terminal without escape sequences gets no line of progress, as from `ringwalk`.
    is_dumb = os.environ.get("TERM", "") in ("", "dumb")
    terminal = sys.stderr if sys.stderr.isatty() and not is_dumb else None
    progress = Progress(terminal, given.json)
    drivers: list[Driver] = []

    def stop(number: int, frame: Any) -> None:
        if not drivers:
            raise Stopped(number)
        drivers[0].stop(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        verdict = cluster.snapshot(
            given.roots,
            given.output,
            engine=given.engine,
            processes=given.processes,
            budget=given.budget,
            resume=given.resume,
            workers=given.workers,
            in_flight=given.in_flight,
            rate=given.rate,
            source=given.source,
            xattrs=given.xattrs,
            atime=given.atime,
            one_file_system=given.one_file_system,
            watch=progress,
            ready=drivers.append,
        )
    finally:
        progress.end()
        for number, handler in before.items():
            signal.signal(number, handler)
    if given.json:
        say(json.dumps({"event": "verdict", **verdict}))
    else:
        say(_summary(verdict))
    for missing in verdict["missing"] + verdict.get("changing", []):
        _complain(ClusterError(missing))
    if progress.problem is not None:
        raise progress.problem
    return 0 if verdict["complete"] else 1


def _summary(verdict: dict[str, Any]) -> str:
    state = "complete" if verdict["complete"] else "incomplete"
    return (
        f"{state}: {verdict['rows']} entries in {verdict['parts']} parts, "
        f"{verdict['errors']} errors, {verdict['vanished']} vanished"
    )


def _status(given: argparse.Namespace) -> int:
    found = cluster.status(given.directory)
    if given.json:
        say(json.dumps(found))
    else:
        for name, value in found.items():
            shown = "; ".join(value) if isinstance(value, list) else value
            say(f"{name.replace('_', ' ')}: {_printable(str(shown))}")
    return 0


def _verify(given: argparse.Namespace) -> int:
    found = cluster.verify(given.directory)
    if given.json:
        say(json.dumps(found))
    else:
        for each in found["damaged"]:
            say(f"damaged: {each['file']}: {each['why']}")
        for name in found["removed"]:
            say(f"removed: {_printable(name)}")
        say(f"{found['parts']} parts, {found['bytes']} bytes, {len(found['damaged'])} damaged")
    if found["damaged"] and not found["kept"]:
        why = "cannot be changed: verify it again where it can be, before 'snapshot --resume'"
        _complain(ClusterError(f"{given.directory}: {why}"))
    return 1 if found["damaged"] else 0


def _check_output(path: str) -> None:
    """Raises `Refused` if no file can be made at a path."""
    folder = os.path.dirname(os.path.realpath(path))
    try:
        if os.access(folder, os.W_OK):
            return
        is_read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
        why = os.strerror(errno.EROFS if is_read_only else errno.EACCES)
    except OSError as error:
        why = str(error.strerror)
    raise Refused(f"'{path}': {why}")


def _compact(given: argparse.Namespace) -> int:
    _check_output(given.output)
    found = cluster.compact(given.directory, given.output, memory=given.memory)["verdict"]
    if found["complete"]:
        return 0
    _complain(ClusterError(f"{given.output}: incomplete: {found['errors']} errors"))
    return 1
