"""Draws a result file: one panel a suite, one bar a row; directories and block as curves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from .block_rows import MEDIA

COLOURS = {
    "floor": "#9aa0a6",
    **dict.fromkeys(("ringwalk", "ringwalk-link", "traverse", "capi-fts"), "#1a73e8"),
}
PEER_COLOUR = "#e8a33d"

# What is drawn of a suite, the unit, and what one unit of it is in the file's.
DRAWN = {
    "memory": ("rss_kib", "peak memory, MiB", 1024),
    "memory-10M": ("rss_kib", "peak memory, MiB", 1024),
    "find-memory": ("rss_kib", "peak memory, MiB", 1024),
    "gluster": ("entries_per_call", "entries a getdents64 call", 1),
    "python-memory": ("rss_kib", "peak memory of the interpreter, MiB", 1024),
    "browse-keys": ("p95", "from a key to its answer, ms (95th percentile)", 0.001),
    "browse-wide": ("p95", "from a key to its answer, ms (95th percentile)", 0.001),
    "browse-memory": ("bytes_an_entry", "bytes an entry beside its name", 1),
    "async-idle": ("bytes_a_dir", "bytes an open directory (read: with its buffers)", 1),
}
# Suites in guests have a title of their own: the figure's names the machine they ran on.
GUEST = "kernel-"
TIME = ("wall", "wall time, ms (median; line: quartiles)", 0.001)


class NotDrawn(Exception):
    """Why there is no picture, in words for the user."""


def draw(results: Path) -> Path:
    """Writes the picture next to a result file, and returns its path."""
    try:
        document = json.loads(results.read_text())
        suites = dict(_panels(document["suites"]))
        machine = document["machine"]
        title = f"{machine['cpus']} CPUs, {machine['kernel']}, {machine['date'][:10]}"
    except OSError as error:
        raise NotDrawn(f"{results}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotDrawn(f"{results}: not a result of bench/run") from None
    if not suites:
        raise NotDrawn(f"{results}: no suite in it has rows")
    try:
        import matplotlib
    except ImportError:
        raise NotDrawn(
            "a picture needs matplotlib: apt-get install python3-matplotlib,"
            " or pip install matplotlib"
        ) from None
    matplotlib.use("Agg")
    # Text stays text, and the same figures give the same file.
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = "ringwalk"
    from matplotlib import pyplot

    heights = [_height(name, suite) for name, suite in suites.items()]
    figure, panels = pyplot.subplots(
        len(suites),
        1,
        figsize=(9, 0.28 * sum(heights) + 0.5),
        squeeze=False,
        height_ratios=heights,
        layout="constrained",
    )
    for (name, suite), (panel,) in zip(suites.items(), panels):
        _panel(panel, name, suite)
    figure.suptitle(title, fontsize=10)
    picture = results.with_suffix(".svg")
    figure.savefig(picture, metadata={"Date": None})
    pyplot.close(figure)
    return picture


def _panels(suites: dict[str, dict]) -> Iterator[tuple[str, dict]]:
    """Yields the panels: one a suite, and one for each medium of `block`."""
    for name, suite in suites.items():
        if name != "block":
            parts = {name: suite["rows"]}
        else:
            parts = {f"block {medium}": _of_medium(suite["rows"], medium) for medium in MEDIA}
        yield from ((name, {**suite, "rows": rows}) for name, rows in parts.items() if rows)


def _of_medium(rows: dict[str, dict], medium: str) -> dict[str, dict]:
    return {
        key.removeprefix(f"{medium} "): row for key, row in rows.items() if row["group"] == medium
    }


def _height(name: str, suite: dict) -> int:
    """Returns the height of a panel in bars; all panels of curves have the same."""
    return 14 if name.startswith("block ") else len(suite["rows"]) + 2


def _panel(panel, name: str, suite: dict) -> None:
    title = f"{name}: {suite['tree']}, {suite['file_system']}"
    if name.startswith(GUEST):
        title += f", Linux {suite['kernel']}, emulation: {suite['emulation']}"
    panel.set_title(title, fontsize=9, loc="left")
    panel.tick_params(labelsize=8)
    if name == "readdirplus" or name.startswith("kernel-directory-"):
        _curves(panel, suite)
    elif name.startswith("block "):
        _depths(panel, suite)
    else:
        _bars(panel, name, suite)


def _curves(panel, suite: dict) -> None:
    """Rows `WHAT SIZE`: a curve for each what."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for key, row in suite["rows"].items():
        what, _, size = key.rpartition(" ")
        curves.setdefault(what, []).append((int(size), row["wall"]))
    for what, points in curves.items():
        panel.loglog(*zip(*points), marker="o", markersize=3, label=what)
        panel.annotate(
            f"{points[-1][1]:.3g}",
            points[-1],
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
        )
    sizes = sorted({size for points in curves.values() for size, _ in points})
    panel.set_xticks(sizes, [f"{size}" for size in sizes])
    panel.minorticks_off()
    panel.grid(alpha=0.3)
    panel.legend(fontsize=8)
    panel.set_xlabel("files in the directory", fontsize=8)
    panel.set_ylabel("wall time, s (median)", fontsize=8)


def _depths(panel, suite: dict) -> None:
    """Rows `INTERFACE DEPTH`: reads a second, ours as thick lines."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for key, row in suite["rows"].items():
        interface, _, depth = key.rpartition(" ")
        curves.setdefault(interface, []).append((int(depth), row["iops"] / 1000))
    for interface, points in curves.items():
        width = 2.5 if interface.startswith("ringwalk") else 1
        panel.semilogx(*zip(*points), marker="o", markersize=3, linewidth=width, label=interface)
    depths = sorted({depth for points in curves.values() for depth, _ in points})
    panel.set_xticks(depths, [f"{depth}" for depth in depths])
    panel.minorticks_off()
    panel.set_ylim(bottom=0)
    panel.grid(alpha=0.3)
    panel.legend(fontsize=7)
    panel.set_xlabel("queue depth", fontsize=8)
    panel.set_ylabel("1000 reads a second (median)", fontsize=8)


# Programs that read by Ringwalk and in other ways; the name of the row shows which.
MIXED = ("listing", "walks")
OURS = ("next", "idle", "walk", "scan-", "table-")


def _colour(suite: str, key: str, tool: str) -> str:
    """Returns the colour of a row. In guests one program reads in every way, so the way decides."""
    if tool in MIXED:
        return COLOURS["ringwalk"] if key.startswith(OURS) else PEER_COLOUR
    if suite.startswith(GUEST):
        peer = key.endswith("syscall") or key.startswith(("gnu-", "tokio-"))
        return PEER_COLOUR if peer else COLOURS["ringwalk"]
    return COLOURS.get(tool, PEER_COLOUR)


def _bars(panel, name: str, suite: dict) -> None:
    figure, label, unit = DRAWN.get(name, TIME)
    table = suite["rows"]
    keys = list(table)
    values = [table[key][figure] / unit for key in keys]
    colours = [_colour(name, key, table[key]["command"][0]) for key in keys]
    panel.barh(keys, values, color=colours)
    if figure == "wall":
        for place, key in enumerate(keys):
            low, high = (table[key][f"wall_{side}_quartile"] / unit for side in ("lower", "upper"))
            panel.plot([low, high], [place, place], color="black", linewidth=1)
    for place, (key, value) in enumerate(zip(keys, values)):
        text = f"{value:.3g}" if value < 1000 else f"{value:.0f}"
        if "instructions" in table[key]:
            text += f" ({table[key]['instructions'] / 1e6:.3g} million instructions)"
        panel.annotate(
            text,
            (value, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
        )
    panel.invert_yaxis()
    panel.margins(x=0.1)
    panel.set_xlabel(label, fontsize=8)
