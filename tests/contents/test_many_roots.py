"""More roots than a process may have descriptors."""

from __future__ import annotations

import pytest
from support.run import Program

ROOTS = 150
# Each contents is in two files.
PAIRS = ROOTS // 2


@pytest.fixture
def roots(scratch):
    """Directories with a small file each, two of which are equal."""
    for number in range(ROOTS):
        folder = scratch / "roots" / f"{number:03}"
        folder.mkdir(parents=True)
        (folder / "file").write_text(f"{number // 2}")
    return sorted((scratch / "roots").iterdir())


def test_every_file_is_hashed(hashing, ringwalk, scratch, roots):
    lines = hashing(*roots, nofile=64).ok().lines()
    assert lines == hashing(*roots).ok().lines()
    assert len(lines) == ROOTS
    snapshot = scratch / "hashes.parquet"
    hashing("--all", "--save", snapshot, *roots, nofile=64).ok()
    rows = ringwalk("export", "--format", "ndjson", snapshot).ok().out
    assert rows.count(b'"hash":"') == ROOTS


def test_all_copies_are_found_and_deleted(dupes, scratch, roots):
    found = dupes("--format", "fdupes", *roots, nofile=64).ok().out
    assert found.count(b"\n\n") == PAIRS
    act = Program(*dupes.first, env={"HOME": str(scratch / "home")})
    done = act("--do", "delete", *roots, nofile=64)
    assert done.status == 0 and b"75 names done" in done.err, done
    assert sum((root / "file").exists() for root in roots) == PAIRS
