"""The examples of the man pages run, with a directory of the test in place of `/`."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from support import ROOT, mounts, tables
from support.run import Result, needs_program, run

PAGES = {page.parent.name: page for page in (ROOT / "crates/ringwalk-cli/src").glob("*/man.md")}


def examples(page: Path) -> list[str]:
    """Returns the lines of the examples, in order."""
    _, _, text = page.read_text().partition("\n## EXAMPLES\n")
    return re.findall(r"(?m)^    (.*)$", text.partition("\n## ")[0])


@pytest.fixture
def shell(programs, scratch):
    """A function that runs a line among the files that the examples name."""
    for name in ("home/ann/letter", "home/bob/letter", "srv/archive/letter", "var/tmp/work/old"):
        (scratch / name).parent.mkdir(parents=True)
        (scratch / name).write_bytes(b"x" * 2_000_000)
        os.utime(scratch / name, (0, 1_000_000_000))
    (scratch / "src").mkdir()
    (scratch / "src" / "main.c").write_text("int main(void) { return 0; }\n")
    env = {
        "HOME": str(scratch / "home" / "ann"),
        "PATH": f"{programs}:{tables.DUCKDB.parent}:{os.environ['PATH']}",
    }

    def enter(line: str) -> Result:
        inside = re.sub(r"(?<= )/(?=[ \w])", f"{scratch}/", line)
        return run(["bash", "-o", "pipefail", "-c", inside], cwd=scratch, env=env)

    enter("ringwalk snapshot /home -o monday.parquet").ok()
    enter("ringwalk export monday.parquet --format ncdu -o home.json").ok()
    (scratch / "home" / "ann" / "new").write_bytes(b"new" * 1000)
    enter("ringwalk snapshot /home -o tuesday.parquet").ok()
    return enter


@pytest.mark.parametrize("page", sorted(PAGES))
def test_the_examples_run(page, shell, scratch, request):
    lines = examples(PAGES[page])
    assert len([line for line in lines if "ringwalk " in line]) >= 3
    if page == "sql":
        tables.needed()
    if any(line.startswith("ncdu") for line in lines):
        needs_program("ncdu")
    if any("/srv/btrfs" in line for line in lines):
        disk = request.getfixturevalue("mount")(mounts.filesystem, "btrfs", scratch / "srv")
        for name in ("one", "two"):
            (disk / name).write_bytes(b"x" * 100_000)
    for line in lines:
        if line.startswith("ncdu") and "|" not in line:
            continue  # only its terminal shows an effect
        if line.startswith("ringwalk browse") and "--once" not in line:
            line += " --once q"
        done = shell(line)
        has_changes = "ringwalk diff" in line and done.status == 1
        assert done.status == 0 or has_changes, (line, done)
        # dupes says there what its actions free, and on which file systems it keeps no hashes.
        assert done.err == b"" or page == "dupes", (line, done)
