"""Rows measured inside a virtual machine: one boot, the rows interleaved as in `measure`.

A shell script, made here, runs in the guest. It starts every program through `timed`,
which writes its line behind the number of the row; what programs print comes back in
files. With `count` the machine is one in which a nanosecond is an instruction: of one
CPU, so that no program is charged for what another does meanwhile.
"""

from __future__ import annotations

import os
import random
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from .guest_paths import PAYLOAD
from .measure import CommandFailed, Sample, summary
from .rows import Row
from .suites import Result, Session, disagreements
from .tools import BENCH, MissingTool

RUN = BENCH.parent / "kernel/vm/run"

# What kernel/vm/run says with its exit status besides the command's own.
CANNOT, BROKEN = 77, (125, 126)

# Instructions are the same in every run but for what the kernel does beside it.
COUNTED_RUNS = 3


@dataclass(frozen=True)
class Setting:
    """A guest. `disks` are kernel/vm/run's; `prologue` is shell that runs before the first program.

    `cold` is shell that runs before every program, outside its time.
    """

    kernel: str
    disks: tuple[str, ...] = ()
    machine: str = "q35"
    memory: str = "1G"
    module: bool = False
    prologue: str = ""
    cold: str = ""
    cpus: int = 2
    # Arguments added to the kernel's command line, which has mitigations=off.
    append: str = ""

    def options(self) -> list[str]:
        """Returns the beginning of kernel/vm/run's command line."""
        words = ["--kernel", self.kernel, "--machine", self.machine, "--memory", self.memory]
        words += ["--cpus", str(self.cpus), *(["--module"] if self.module else [])]
        words += ["--append", self.append] if self.append else []
        return words + [word for disk in self.disks for word in ("--disk", disk)]


# What dropping caches forgets; programs lie in the first root, which has no disk behind it.
DROP_CACHES = "sync; echo 3 >/proc/sys/vm/drop_caches"


def disk(name: str, *, file_system: str, rotates: bool = False) -> str:
    """Returns shell that mounts a disk again for readers: nothing is written to it."""
    queue = f"/sys/block/$(basename $(readlink /dev/disk-{name}))/queue"
    lines = [
        f"umount /mnt/{name}",
        f"echo {int(rotates)} >{queue}/rotational",
        f"echo 128 >{queue}/read_ahead_kb",
        f"mount -t {file_system} -o ro,noatime /dev/disk-{name} /mnt/{name} || exit 1",
    ]
    return "\n".join(lines)


# Where time is instructions, it flies while nothing but a disk is at work: two minutes are no hang.
NO_HURRY = "echo 0 2>/dev/null >/proc/sys/kernel/hung_task_timeout_secs"


@dataclass(frozen=True)
class Plan:
    """How often the rows run. `warm_up` rounds are thrown away.

    Answers are those of the last run. A row whose key is in `long` prints so much that
    it is kept of one more run only, before all others. Without `keep` nothing is.
    """

    runs: int
    warm_up: int = 1
    long: frozenset[str] = frozenset()
    keep: bool = True
    timeout: float = 14_400.0
    seed: int = 1


def script(setting: Setting, rows: list[Row], tree: str, plan: Plan, paths: dict[str, str]) -> str:
    """Returns the script of the guest's shell, with the order of every round."""
    head = [
        "export LC_ALL=C",
        # The libraries of programs that could not be linked statically, where their loader looks.
        f"mkdir -p /lib; ln -s {PAYLOAD}/gnu /lib64; ln -s {PAYLOAD}/gnu /lib/x86_64-linux-gnu",
        "uname -r >/out/kernel; sed -n 's/^model name.*: //p' /proc/cpuinfo >/out/cpu",
        setting.prologue,
        "cold() {",
        f"  {setting.cold or ':'}",
        "}",
        # measure ROW FILE PROGRAM [ARGUMENT...]
        "measure() {",
        "  cold",
        '  row=$1; file=$2; shift 2; printf "%s " $row >&3',
        f'  {PAYLOAD}/timed "$@" >$file 2>/out/error-$row </dev/null || echo not run >&3',
        "}",
    ]
    body = ["exec 3>/dev/null"]
    for number, row in enumerate(rows):
        if plan.keep and row.key in plan.long:
            body.append(_call(number, row, tree, paths, f"/out/answer-{number}"))
    order = random.Random(plan.seed)
    for round_ in range(-plan.warm_up, plan.runs):
        if round_ == 0 or round_ == -plan.warm_up:
            body.append(f"exec 3>{'/out/samples' if round_ >= 0 else '/dev/null'}")
        shuffled = list(enumerate(rows))
        order.shuffle(shuffled)
        for number, row in shuffled:
            kept = plan.keep and row.key not in plan.long
            file = f"/out/answer-{number}" if kept else "/dev/null"
            body.append(_call(number, row, tree, paths, file))
        body.append(f'echo "round {round_ + plan.warm_up + 1} of {plan.runs + plan.warm_up}"')
    return "\n".join([*head, *body, "exec 3>&-", "exit 0"])


def _call(number: int, row: Row, tree: str, paths: dict[str, str], file: str) -> str:
    return f"measure {number} {file} {shlex.join(row.argv(paths[row.tool], tree))}"


def boot(
    setting: Setting,
    text: str,
    files: dict[str, Path],
    out: Path,
    log: Path,
    *options: str,
    timeout: float,
) -> None:
    """Runs a script in a guest; what it left comes to `out`, what the guest said to `log`."""
    shutil.rmtree(out, ignore_errors=True)
    command = [str(RUN), *setting.options(), *options, "--timeout", f"{timeout:g}"]
    for name, path in files.items():
        command += ["--file", f"{path}:{name}"]
    command += ["--share-out", str(out), "--", text]
    with open(log, "wb") as console:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT
        )
    if done.returncode == CANNOT:
        raise MissingTool(f"{RUN.name}: {_last(log)}")
    if done.returncode in BROKEN or done.returncode:
        raise CommandFailed(f"the guest: status {done.returncode}, see {log}: {_last(log)}")


def _last(log: Path) -> str:
    said = log.read_text(errors="replace").strip().splitlines()
    return said[-1] if said else "nothing said"


def samples(out: Path, rows: list[Row], runs: int) -> tuple[dict[str, list[Sample]], list[str]]:
    """Returns the times of each row, and messages about rows that failed."""
    taken: dict[str, list[Sample]] = {row.key: [] for row in rows}
    failed: dict[str, str] = {}
    for line in (out / "samples").read_text().splitlines():
        number, *values = line.split()
        key = rows[int(number)].key
        if len(values) != 5:
            failed[key] = "could not be run"
            continue
        wall, user, system, rss, status = map(int, values)
        if status:
            failed[key] = f"wait status {status}"
        taken[key].append(Sample(wall / 1e9, user / 1e6, system / 1e6, rss))
    for number, row in enumerate(rows):
        if row.key not in failed and len(taken[row.key]) != runs:
            failed[row.key] = f"{len(taken[row.key])} runs of {runs}"
        if row.key in failed:
            says = (out / f"error-{number}").read_text(errors="replace").strip().splitlines()
            failed[row.key] += f": {says[-1]}" if says else ""
            del taken[row.key]
    return taken, [f"{key}: {why}" for key, why in failed.items()]


def answers(out: Path, rows: list[Row]) -> tuple[dict[str, dict[str, int]], list[str]]:
    """Returns the answers of the rows by subject, and messages about unreadable ones."""
    said: dict[str, dict[str, int]] = {}
    failed = []
    for number, row in enumerate(rows):
        try:
            output = (out / f"answer-{number}").read_bytes()
            for subject, parse in row.answers.items():
                said.setdefault(subject, {})[row.key] = parse(output)
        except (OSError, ValueError) as error:
            failed.append(f"{row.key}: {error}")
    return said, failed


@dataclass(frozen=True)
class Bench:
    """What a suite in a guest is made of."""

    suite: str
    setting: Setting
    rows: list[Row]
    tree: str
    plan: Plan
    about: dict[str, object]
    # File name in the guest -> here; tool -> path in the guest.
    files: dict[str, Path]
    paths: dict[str, str]
    # Whether instructions are counted: where a program waits, they are not what it is about.
    counted: bool = True
    # More figures of a row, out of what it printed.
    figures: Callable[[bytes], dict[str, float]] | None = None


def run(session: Session, bench: Bench) -> Result:
    """Measures a suite: guest time in one guest, instructions in another."""
    plan = replace(bench.plan, runs=session.runs or bench.plan.runs)
    out = session.scratch / f"{bench.suite}.out"
    log = session.scratch / f"{bench.suite}.log"
    text = script(bench.setting, bench.rows, bench.tree, plan, bench.paths)
    _say(f"{bench.suite}: {plan.runs} runs of {len(bench.rows)} rows; the guest talks to {log}")
    boot(bench.setting, text, bench.files, out, log, timeout=plan.timeout)
    taken, failures = samples(out, bench.rows, plan.runs)
    said, speechless = answers(out, bench.rows)
    broken = {line.partition(":")[0] for line in failures}
    failures += [line for line in speechless if line.partition(":")[0] not in broken]
    for by_row in said.values():
        for key in by_row.keys() - taken.keys():
            del by_row[key]
    figures = {key: summary(each) for key, each in taken.items()}
    rows = {row.key: row for row in bench.rows if row.key in taken}
    about = {**bench.about, **_facts(bench.setting, out), "runs": plan.runs}
    if said.get("entries"):
        about["entries"] = max(said["entries"].values())
    if bench.figures:
        for number, row in enumerate(bench.rows):
            if row.key in figures:
                figures[row.key] |= bench.figures((out / f"answer-{number}").read_bytes())
    if bench.counted and rows:
        about["instructions_from"] = f"{COUNTED_RUNS} runs, -icount shift=0, 1 CPU"
        failures += _count(bench, rows, figures, out, log)
    return Result(bench.suite, about, rows, figures, said, disagreements(said), failures, plan.runs)


def _count(
    bench: Bench, rows: dict[str, Row], figures: dict[str, dict[str, float]], out: Path, log: Path
) -> list[str]:
    """Adds the instructions of each row to its figures: its CPU time, a nanosecond each."""
    setting = replace(bench.setting, cpus=1, prologue=f"{NO_HURRY}\n{bench.setting.prologue}")
    table = list(rows.values())
    plan = replace(bench.plan, runs=COUNTED_RUNS, keep=False)
    text = script(setting, table, bench.tree, plan, bench.paths)
    try:
        boot(setting, text, bench.files, out, log, "--icount", timeout=plan.timeout)
    except CommandFailed as error:
        # What was measured before is worth no less.
        return [f"counting instructions: {error}"]
    taken, failures = samples(out, table, COUNTED_RUNS)
    for key, each in taken.items():
        figures[key]["instructions"] = summary(each)["cpu"] * 1e9
    return [f"counting instructions of {line}" for line in failures]


def _facts(setting: Setting, out: Path) -> dict[str, object]:
    """Returns kernel, machine and emulation, as the guest saw them."""
    cpu = (out / "cpu").read_text().splitlines()
    emulated = bool(cpu) and "TCG" in cpu[0]
    return {
        "kernel": (out / "kernel").read_text().strip(),
        "machine": f"{setting.machine}, {len(cpu)} CPUs, {setting.memory}",
        "emulation": "software (TCG)" if emulated else "none (KVM)",
        "qemu": _qemu_version(),
    }


def _qemu_version() -> str:
    done = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True)
    words = done.stdout.split()
    return words[3] if len(words) > 3 else "unknown"


def _say(text: str) -> None:
    if sys.stderr.isatty() or os.environ.get("CI"):
        print(f"  {text}", file=sys.stderr, flush=True)
