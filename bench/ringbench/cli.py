"""Options; runs the suites asked for and writes what they found."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from . import (
    api,
    block,
    browse,
    bulk,
    cluster,
    contents,
    headline,
    kernel,
    machine,
    plot,
    report,
    saved,
    suites,
    trees,
    workers,
)
from .measure import CommandFailed
from .suites import Result, Session
from .tools import BENCH, PYTHON, WORK, MissingTool, Toolbox

SUITES = (
    suites.SUITES
    | bulk.SUITES
    | block.SUITES
    | kernel.SUITES
    | api.SUITES
    | saved.SUITES
    | cluster.SUITES
    | workers.SUITES
    | browse.SUITES
    | contents.SUITES
)

# What one name on the command line stands for: ten million entries only on request, and
# the sources and the kernel side, which take longer than all the others, by names of their own,
# as have the interfaces, whose peers are other programs.
GROUPS = {
    "all": [name for name in suites.SUITES if name != "memory-10M"],
    "bulk": list(bulk.SUITES),
    "kernel": list(kernel.SUITES),
    "async": list(api.ASYNC),
    "python": list(api.PYTHON),
    "capi": list(api.C),
    "clusters": list(cluster.SUITES),
    "workers": list(workers.SUITES),
    "browse": list(browse.SUITES),
    "contents": list(contents.SUITES),
}


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected a number of at least 1")
    return number


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run",
        description="Measures Ringwalk, its peers and the two floors side by side.",
        epilog="Suites are described in docs/benchmarks.md. Exit status: 0, or 1 when a "
        "suite could not be run or rows gave different answers; bounds that are not met "
        "are printed and do not change it.",
    )
    parser.add_argument(
        "suites",
        nargs="*",
        metavar="SUITE",
        help="; ".join(
            [", ".join(SUITES), *(f"{word}: {', '.join(each)}" for word, each in GROUPS.items())]
        ),
    )
    parser.add_argument("--tree", type=Path, help="measure this directory (default: Linux 6.1)")
    parser.add_argument(
        "--ringwalk",
        type=Path,
        default=BENCH.parent / "target/dist/ringwalk",
        help="the program (default: target/dist/ringwalk)",
    )
    parser.add_argument(
        "--peers",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="look for peers here before PATH; may be repeated",
    )
    parser.add_argument(
        "--python",
        type=Path,
        default=PYTHON,
        help="the interpreter with the packages that `python` measures "
        "(default: bench/work/python/bin/python3)",
    )
    parser.add_argument("--runs", type=_positive, help="rounds (default: as the suite says)")
    parser.add_argument(
        "--delay", default="2ms", help="of a read in `slow` and `ext4-slow` (default: 2ms)"
    )
    parser.add_argument(
        "--scratch", type=Path, default=WORK, help="for images and sockets (default: bench/work)"
    )
    parser.add_argument(
        "--ten-million", action="store_true", help="`memory` measures ten million entries too"
    )
    parser.add_argument(
        "--name", help="write bench/results/NAME.json (default: bench/work/last.json)"
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE.json", help="measure nothing, draw this as FILE.svg"
    )
    parser.add_argument(
        "--readme",
        action="store_true",
        help="only write README's figures and docs/figures.svg anew, from bench/results",
    )
    options = parser.parse_args(arguments)
    if [bool(options.suites), bool(options.plot), options.readme].count(True) != 1:
        parser.error("expected the name of a suite, or --plot FILE.json, or --readme")
    for suite in options.suites:
        if suite not in SUITES and suite not in GROUPS:
            known = [*GROUPS, *SUITES]
            parser.error(f"{suite}: expected one of {', '.join(known)}")
    if options.tree and not options.tree.is_dir():
        parser.error(f"{options.tree}: not a directory")
    return options


def _wanted(options: argparse.Namespace) -> list[str]:
    names = [name for word in options.suites for name in GROUPS.get(word, [word])]
    if options.ten_million and "memory" in names:
        names.append("memory-10M")
    return list(dict.fromkeys(names))


def _unwind(number: int, _frame: object) -> None:
    # A second signal must not interrupt the unmounting that this one starts. Not
    # SIG_IGN: one that is already pending would then be reported as an error.
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(each, lambda _number, _frame: None)
    raise SystemExit(128 + number)


def _draw(results: Path) -> int:
    try:
        print(f"drawn: {plot.draw(results)}")
    except plot.NotDrawn as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Runs the program; returns its exit status."""
    options = _options(arguments)
    if options.plot:
        return _draw(options.plot)
    if options.readme:
        try:
            headline.write()
        except (OSError, LookupError) as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
        return 0
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _unwind)
    options.scratch.mkdir(parents=True, exist_ok=True)
    try:
        tools = Toolbox(options.ringwalk, options.peers)
    except MissingTool as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    for name, reason in tools.missing.items():
        print(f"bench: without {name}: {reason}", file=sys.stderr)
    about = machine.describe()
    session = Session(
        tools,
        options.scratch.resolve(),
        lambda: options.tree.resolve() if options.tree else trees.kernel(WORK),
        options.runs,
        options.delay,
        options.python,
    )
    results, failed = _run(session, _wanted(options))
    if results:
        path = BENCH / f"results/{options.name}.json" if options.name else WORK / "last.json"
        document = {
            "machine": about | {"load_average_at_end": os.getloadavg()[0]},
            "tools": tools.versions,
            "not_installed": sorted(tools.missing),
            "suites": {result.suite: report.to_json(result, session.scratch) for result in results},
        }
        report.write(path, document)
        print(f"\nwritten: {path}")
    wrong = any(result.disagreements or result.failures for result in results)
    return 1 if failed or wrong else 0


def _run(session: Session, names: list[str]) -> tuple[list[Result], bool]:
    """Runs suites one after the other; one that cannot be run does not stop the others."""
    results, failed = [], False
    load = machine.load()
    if not load.is_quiet():
        print(f"bench: other programs use {load.busy_cpus:.1f} CPUs: not quiet", file=sys.stderr)
    for name in names:
        try:
            result = SUITES[name](session)
        except (MissingTool, CommandFailed, OSError) as error:
            print(f"bench: {name}: {error}", file=sys.stderr)
            failed = True
            continue
        before, load = load, machine.load()
        result.load = before, load
        report.print_result(result)
        sys.stdout.flush()
        results.append(result)
    return results, failed
