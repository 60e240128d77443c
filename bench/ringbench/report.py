"""Tables for the terminal, JSON for the archive."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from .block_rows import FIXED, LIBAIO, MEDIA, OURS
from .block_rows import key as block_key
from .suites import Result
from .targets import UNIT_NAMES, UNITS, Figures, verdicts

FLOORS = {"names": "floor-names", "stat": "floor-stat"}


def floor_ratio(result: Result, key: str) -> float | None:
    """Returns the wall time of a row as a multiple of its group's floor."""
    floor = result.figures.get(FLOORS.get(result.rows[key].group))
    if not floor or "wall" not in floor:
        return None
    return result.figures[key]["wall"] / floor["wall"]


def disturbed(result: Result) -> bool:
    """Returns whether other programs made the figures worse, as far as the runner can see."""
    return not all(load.is_quiet() for load in result.load or ()) or _shared_a_cpu(result)


def _shared_a_cpu(result: Result) -> bool:
    """Returns whether the floor's two threads often had to share one CPU, where all is in cache.

    On two free CPUs its wall time is 0.53 of its CPU time; both threads on one make it 1.
    """
    floors = (result.figures.get(key) for key in FLOORS.values())
    # One directory is one thread's work.
    several = not result.suite.startswith("async-directory-")
    warm = result.suite in ("warm", "find") or (result.suite.endswith("-warm") and several)
    return warm and any(
        floor["wall"] > 0.62 * (floor["user"] + floor["system"]) for floor in floors if floor
    )


def print_result(result: Result) -> None:
    """Prints a suite: its rows, then its bounds."""
    about = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in result.about.items())
    print(f"\n{result.suite}: {about}")
    if result.suite == "gluster":
        _print_calls(result)
    elif result.suite.startswith("kernel-fuse-"):
        _print_times(result)
        _print_entries(result)
    elif result.suite == "block":
        _print_depths(result)
    elif result.suite == "async-idle":
        _print_memory(result)
    elif result.suite in ("browse-keys", "browse-wide"):
        _print_keys(result)
    elif result.suite == "browse-memory":
        _print_held(result)
    else:
        _print_times(result)
        if result.suite == "contents-memory":
            _print_held(result)
        if result.about["runs"] < result.enough:
            print(f"  (fewer than {result.enough} runs: times are not for publication)")
    if _is_table(result.suite):
        _print_directories(result)
    if _shared_a_cpu(result):
        print("  (the floor's threads shared a CPU: the machine is not quiet, measure again)")
    elif disturbed(result):
        before, after = (load.busy_cpus for load in result.load)
        print(
            f"  (other programs used {before:.1f} CPUs before the suite and {after:.1f} after it:"
            " the machine is not quiet, measure again)"
        )
    for line in result.failures:
        print(f"  FAILED: {line}")
    for line in result.disagreements:
        print(f"  WRONG ANSWER: {line}")
    for verdict in verdicts(result.suite, result.figures):
        bound = verdict.bound
        if verdict.ratio is not None:
            found = bound.shown(verdict.ratio)
        elif verdict.met is not None:
            value = result.figures[bound.row][bound.figure] * UNITS[bound.figure]
            found = f"{value:.1f} {UNIT_NAMES[bound.figure]}"
        else:
            found = "-"
        print(f"  {bound.row:20} {bound.text():48} {found:>18}  {verdict.word()}")


def _is_table(suite: str) -> bool:
    """Returns whether rows are named `WHAT SIZE`."""
    return suite == "readdirplus" or suite.startswith("kernel-directory-")


def _print_times(result: Result) -> None:
    # Where there is no floor there are instructions, or nothing.
    counted = any("instructions" in found for found in result.figures.values())
    print(
        f"  {'':20} {'wall ms':>9} {'quartiles':>17} {'user':>8} {'system':>8}"
        f" {'RSS MiB':>8} {'10^6 ins' if counted else 'x floor':>8}"
    )
    group = None
    for key, row in result.rows.items():
        if group not in (None, row.group):
            print()
        group = row.group
        found = result.figures[key]
        quartiles = (
            f"{found['wall_lower_quartile'] * 1000:.1f}-{found['wall_upper_quartile'] * 1000:.1f}"
        )
        ratio = floor_ratio(result, key)
        last = f"{ratio:.2f}" if ratio else "-"
        if "instructions" in found:
            last = f"{found['instructions'] / 1e6:.1f}"
        print(
            f"  {key:20} {found['wall'] * 1000:9.2f} {quartiles:>17}"
            f" {found['user'] * 1000:8.1f} {found['system'] * 1000:8.1f}"
            f" {found['rss_kib'] / 1024:8.1f} {last:>8}"
        )
    print()


def by_size(result: Result) -> dict[int, dict[str, float]]:
    """Returns wall times of rows `WHAT SIZE`, by size, then by what."""
    table: dict[int, dict[str, float]] = {}
    for key, found in result.figures.items():
        what, _, size = key.rpartition(" ")
        table.setdefault(int(size), {})[what] = found["wall"]
    return table


def _print_directories(result: Result) -> None:
    table = by_size(result)
    columns = list(dict.fromkeys(what for row in table.values() for what in row))
    print(f"  {'seconds':>10}" + "".join(f" {what:>14}" for what in columns))
    for size, row in table.items():
        cells = (f"{row[what]:14.3f}" if what in row else f"{'-':>14}" for what in columns)
        print(f"  {size:10}" + "".join(f" {cell}" for cell in cells))
    print()


# Of the table of io_uring: the names of its columns, and the rows they show.
COLUMNS = {"fio io_uring": FIXED, "fio libaio": LIBAIO, "ringwalk": OURS}


def depth_table(figures: Figures, medium: str) -> list[str]:
    """Returns the table of one medium as io_uring's author prints it: a line a queue depth.

    Latency in microseconds and thousands of reads a second, with quartiles, of each interface;
    then ours as a multiple of the others, and its CPU time a read as one of fio's io_uring.
    """
    lines = [
        f"  {medium:>10}" + "".join(f" {name:>26}" for name in COLUMNS) + f" {'ringwalk, x':>20}",
        f"  {'QD':>10}"
        + f" {'us':>8} {'K IOPS':>7} {'quartiles':>9}" * len(COLUMNS)
        + f" {'io_uring':>8} {'libaio':>6} {'CPU':>4}",
    ]
    for depth in MEDIA[medium].depths:
        found = {name: figures.get(block_key(medium, name, depth)) for name in COLUMNS.values()}
        if not found[OURS]:
            continue
        cells = "".join(f" {_depth_cell(each):>26}" for each in found.values())
        ratios = (
            _depth_ratio(found, FIXED, "iops", 8),
            _depth_ratio(found, LIBAIO, "iops", 6),
            _depth_ratio(found, FIXED, "cpu_us_a_read", 4),
        )
        lines.append(f"  {depth:10}{cells} " + " ".join(ratios))
    return lines


def _depth_cell(figures: dict[str, float] | None) -> str:
    if not figures:
        return f"{'-':>8} {'-':>7} {'-':>9}"
    low, high = (figures[f"iops_{side}_quartile"] / 1000 for side in ("lower", "upper"))
    quartiles = f"{low:.0f}-{high:.0f}"
    return f"{figures['latency_us']:8.1f} {figures['iops'] / 1000:7.1f} {quartiles:>9}"


def _depth_ratio(
    found: dict[str, dict[str, float] | None], other: str, figure: str, width: int
) -> str:
    base = found[other]
    return f"{found[OURS][figure] / base[figure]:{width}.2f}" if base else f"{'-':>{width}}"


def _print_depths(result: Result) -> None:
    """The table of each medium; then all rows `MEDIUM INTERFACE DEPTH` with their CPU time."""
    for medium in MEDIA:
        table = depth_table(result.figures, medium)
        if table[2:]:
            print("\n".join(table) + "\n")
    print(
        f"  {'':9} {'interface':19} {'QD':>3} {'latency us':>10} {'IOPS':>8} {'(least-most)':>15}"
        f" {'IOPS/CPU s':>10} {'CPU us/read':>11}"
    )
    last = None
    for key, found in result.figures.items():
        medium, interface, depth = key.split()
        if last not in (None, (medium, depth)):
            print()
        last = (medium, depth)
        spread = f"{found['iops_min']:.0f}-{found['iops_max']:.0f}"
        print(
            f"  {medium:9} {interface:19} {depth:>3} {found['latency_us']:10.1f}"
            f" {found['iops']:8.0f} {spread:>15} {found['iops_a_cpu_second']:10.0f}"
            f" {found['cpu_us_a_read']:11.2f}"
        )
    print()


def _print_calls(result: Result) -> None:
    print(f"  {'':20} {'calls':>6} {'with entries':>13} {'largest':>8} {'entries/call':>13}")
    for key, found in result.figures.items():
        print(
            f"  {key:20} {found['calls']:6.0f} {found['calls_with_entries']:13.0f}"
            f" {found['largest_call']:8.0f} {found['entries_per_call']:13.1f}"
        )
    print()


def _print_entries(result: Result) -> None:
    print(f"  {'':20} {'calls':>6} {'entries/call':>13}")
    for key, found in result.figures.items():
        print(f"  {key:20} {found['calls']:6.0f} {found['entries_per_call']:13.1f}")
    print()


def _print_memory(result: Result) -> None:
    print(f"  {'':20} {'bytes a directory':>17}")
    for key, found in result.figures.items():
        print(f"  {key:20} {found['bytes_a_dir']:17.0f}")
    print()


def _print_keys(result: Result) -> None:
    """Milliseconds from a key to its answer, and the 95th percentile of each kind of key."""
    print(f"  {'':20} {'keys':>5} {'runs':>5} {'median':>8} {'95 %':>8} {'slowest':>8}  95 % of:")
    for key, found in result.figures.items():
        kinds = ", ".join(
            f"{name.removeprefix('p95_')} {value * 1000:.1f}"
            for name, value in found.items()
            if name.startswith("p95_")
        )
        print(
            f"  {key:20} {found['presses']:5.0f} {found['runs']:5.0f}"
            f" {found['median'] * 1000:8.1f} {found['p95'] * 1000:8.1f}"
            f" {found['max'] * 1000:8.1f}  {kinds}"
        )
    print()


def _print_held(result: Result) -> None:
    print(f"  {'':20} {'RSS MiB':>8} {'empty MiB':>10} {'bytes an entry':>15}")
    for key, found in result.figures.items():
        # Without it the empty directory could not be read.
        if "empty_kib" not in found:
            continue
        print(
            f"  {key:20} {found['rss_kib'] / 1024:8.1f} {found['empty_kib'] / 1024:10.1f}"
            f" {found['bytes_an_entry']:15.1f}"
        )
    print()


def to_json(result: Result, scratch: Path) -> dict[str, object]:
    """Returns a suite as JSON: seconds, KiB; commands as in the table, without local paths.

    Paths in the folder for scratch files begin with `{scratch}`.
    """
    table = {}
    for key, row in result.rows.items():
        figures = {name: round(value, 6) for name, value in result.figures[key].items()}
        ratio = floor_ratio(result, key)
        if ratio is not None:
            figures["times_floor"] = round(ratio, 3)
        table[key] = {
            "command": [
                row.tool,
                *(word.replace(str(scratch), "{scratch}") for word in row.arguments),
            ],
            "group": row.group,
            **({"locale": row.locale} if row.locale != "C" else {}),
            **({"output": "a pipe to cat"} if row.piped else {}),
            **figures,
        }
    return {
        **result.about,
        "disturbed": disturbed(result),
        **({"load": dict(zip(("begin", "end"), map(asdict, result.load)))} if result.load else {}),
        "rows": table,
        "answers": result.answers,
        "disagreements": result.disagreements,
        "failures": result.failures,
        "bounds": [
            {
                "row": verdict.bound.row,
                "bound": verdict.bound.text(),
                "ratio": None if verdict.ratio is None else round(verdict.ratio, 3),
                "verdict": verdict.word(),
            }
            for verdict in verdicts(result.suite, result.figures)
        ],
    }


# The levels of a result that have lines of their own: document, suites, suite, rows.
LEVELS = 4


def layout(value: object, levels: int = LEVELS, indent: str = "") -> str:
    """Returns JSON in which only the outer `levels` are divided into lines.

    So each row of a suite is one line, and a difference of two results shows the rows that differ.
    """
    if not value or not levels or not isinstance(value, (dict, list)):
        return json.dumps(value)
    inner = indent + " "
    if isinstance(value, dict):
        items = [f"{json.dumps(k)}: {layout(v, levels - 1, inner)}" for k, v in value.items()]
    else:
        items = [layout(each, levels - 1, inner) for each in value]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{end}"


def write(path: Path, document: dict[str, object]) -> None:
    """Writes a whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(layout(document) + "\n")
    partial.rename(path)
