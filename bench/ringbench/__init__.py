"""The benchmark runner of Ringwalk.

Map of the files:

    cli.py       options; runs the suites asked for and writes what they found
    rows.py      the table of programs and commands that are measured: add rows here
    targets.py   the table of bounds that the project holds itself to, and the verdicts
    suites.py    one function a suite: makes what is measured, runs the rows on it
    bulk_rows.py the same of the sources: whole file systems, parts, one large directory
    bulk.py      the suites of the sources, on images and on models of disks
    measure.py   interleaved runs of commands; medians
    tools.py     builds floor.c and timed.c, finds the peers, asks for their versions
    machine.py   kernel, CPU, file system, commit: what a figure depends on
    trees.py     the directory trees that are measured
    media.py     images, mounts, servers: set up and always taken down
    images.py    images of file systems that are made once and kept
    disks.py     a loop device as it is, as a slow disk, as a spinning one
    nfs.py       a tree on nfs-ganesha, which nfs_client.c reads
    block.py     the block reader beside fio; its rows are in block_rows.py
    contents.py  hashes of files and duplicates; its rows are in contents_rows.py
    report.py    tables for the terminal, JSON for the archive
    plot.py      pictures of results, by `--plot`
    headline.py  the few figures of README, from the archive

Beside it lie floor.c, read_floor.c and timed.c, which tools.py compiles, and spindle.c,
the spinning disk, which disks.py does.

It does not hold results (bench/results does) and needs nothing outside the standard
library, apart from matplotlib for the picture.
"""

from __future__ import annotations

import sys
from pathlib import Path

# Helpers that the tests have too: servers, programs at a terminal.
sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/shared"))
