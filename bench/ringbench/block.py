"""The suite of the block reader, beside fio."""

from __future__ import annotations

import contextlib
import json
import os
import random
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path

from . import block_rows, media
from .measure import Command, CommandFailed, captured
from .rows import Row
from .suites import Result, Session
from .tools import MissingTool

MIB = 1024 * 1024
# Far more than a disk's own cache; and what stays in the page cache whatever else is there.
DIRECT_SIZE, WARM_SIZE = 1024 * MIB, 256 * MIB
RUNS = 10
NEEDED = {
    "fio": "apt-get install fio",
    "block_read": "cargo build --profile dist -p ringwalk --example block_read",
}


def _fill(file: Path, size: int) -> None:
    """Writes bytes that no layer below can store as a hole, and has them on the disk."""
    with open(file, "wb") as output:
        for _ in range(size // MIB):
            output.write(os.urandom(MIB))
        output.flush()
        os.fsync(output.fileno())
        if size == DIRECT_SIZE:
            os.posix_fadvise(output.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@contextlib.contextmanager
def _files(scratch: Path) -> Iterator[dict[str, Path]]:
    """Provides the files to read, by their names in the table.

    `polled` is among them if the disk can be polled for completions.
    """
    cold, warm = scratch / "block-direct.data", scratch / "block-warm.data"
    try:
        _fill(cold, DIRECT_SIZE)
        _fill(warm, WARM_SIZE)
        with media.loop_device(warm, "--read-only") as device:
            polled = {"polled": cold} if _can_be_polled(cold) else {}
            yield {"disk": cold, "warm": warm, "loop": Path(device), **polled}
    finally:
        cold.unlink(missing_ok=True)
        warm.unlink(missing_ok=True)


def _can_be_polled(file: Path) -> bool:
    """Returns whether sysfs says so of the disk of a file."""
    number = file.stat().st_dev
    device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    # A partition uses the queue of its disk, whose folder holds the partition's.
    flags = (folder / "queue/io_poll" for folder in (device, device.parent))
    return any(flag.exists() and flag.read_text().strip() == "1" for flag in flags)


def of_fio(output: bytes) -> dict[str, float]:
    """Reads, seconds, and seconds of CPU of all threads, from fio's JSON."""
    # A warning may stand before it.
    (job,) = json.loads(output[output.index(b"{") :])["jobs"]
    if job["error"]:
        raise ValueError(f"error {job['error']}")
    # Per cent of the time of all jobs together, which is what `job_runtime` is.
    cpu = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1000
    return {
        "reads": job["read"]["total_ios"],
        "seconds": job["read"]["runtime"] / 1000,
        "cpu": cpu,
    }


def of_driver(output: bytes) -> dict[str, float]:
    """Returns the same from what our own driver prints."""
    said = json.loads(output)
    means = said.pop("means")
    if said["reads"] < 1:
        raise ValueError(f"nothing read by {means}")
    return said


PARSERS: dict[str, Callable[[bytes], dict[str, float]]] = {
    "fio": of_fio,
    "block_read": of_driver,
}


def summary(depth: int, samples: list[dict[str, float]]) -> dict[str, float]:
    """Medians: reads a second with their quartiles, microseconds, reads a second of CPU."""
    rates = sorted(sample["reads"] / sample["seconds"] for sample in samples)
    cpu = statistics.median(sample["cpu"] / sample["reads"] for sample in samples)
    iops = statistics.median(rates)
    quartiles = statistics.quantiles(rates, n=4, method="inclusive") if rates[1:] else 3 * [iops]
    return {
        "runs": len(samples),
        "latency_us": depth / iops * 1e6,
        "iops": iops,
        "iops_min": rates[0],
        "iops_max": rates[-1],
        "iops_lower_quartile": quartiles[0],
        "iops_upper_quartile": quartiles[2],
        "cpu_us_a_read": cpu * 1e6,
        "iops_a_cpu_second": 1 / cpu,
    }


def block(session: Session) -> Result:
    """Measures random reads of 4 KiB and 512 bytes: our reader and fio's engines, by depth."""
    for tool, remedy in NEEDED.items():
        if not session.tools.find(tool):
            raise MissingTool(f"no {tool}: {remedy}")
    media.need_root()
    runs = session.runs or RUNS
    with _files(session.scratch) as files:
        media_here = [name for name, medium in block_rows.MEDIA.items() if medium.file in files]
        table = block_rows.all_rows(media_here)
        samples, failures = _interleaved(session, list(table.values()), files, runs)
    present = {key: row for key, row in table.items() if samples[key]}
    figures = {key: summary(int(key.split()[-1]), samples[key]) for key in present}
    about = {
        "tree": "4 KiB (512 bytes) at random places",
        "file_system": f"{DIRECT_SIZE // MIB} MiB on the disk, {WARM_SIZE // MIB} MiB warm",
        "runs": runs,
        "milliseconds_a_run": block_rows.MILLISECONDS,
        "polling": "measured" if "polled" in files else "left out: the disk has no poll queues",
    }
    return Result("block", about, present, figures, failures=failures, enough=RUNS)


def _compared(row: Row) -> tuple[str, str]:
    """Returns medium and depth."""
    return row.group, row.key.rpartition(" ")[2]


def _interleaved(
    session: Session, table: list[Row], files: dict[str, Path], runs: int
) -> tuple[dict[str, list[dict[str, float]]], list[str]]:
    """Runs all rows once a round; a row that fails is left out.

    The interfaces at one depth of one medium, which are compared with each other, run one
    after the other, in an order that is new in each round; so do those groups.
    """
    order = random.Random(1)
    samples: dict[str, list[dict[str, float]]] = {row.key: [] for row in table}
    failures = []
    for _ in range(runs):
        order.shuffle(table)
        turn = {group: order.random() for group in map(_compared, table)}
        for row in sorted(table, key=lambda row: turn[_compared(row)]):
            file = files[block_rows.MEDIA[row.group].file]
            argv = row.argv(session.tools.find(row.tool), str(file))
            try:
                output = captured(session.tools.timed, Command(row.key, argv))
                samples[row.key].append(PARSERS[row.tool](output))
            except (CommandFailed, ValueError) as error:
                # Failures are stored, and the results name no local path.
                failures.append(f"{row.key}: {error}".replace(str(file), "{tree}"))
                samples[row.key].clear()
                table.remove(row)
    return samples, failures


SUITES: dict[str, Callable[[Session], Result]] = {"block": block}
