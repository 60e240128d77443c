"""The two programs of docs/fts.md: one for fts(3), and its port."""

from __future__ import annotations

import pytest
from support import ROOT
from support.run import NOBODY, Program


@pytest.fixture(scope="module")
def programs(library, base) -> list[Program]:
    """The program for fts, and the program for the library."""
    blocks = (ROOT / "docs/fts.md").read_text().split("```c\n")[1:]
    made = []
    for name, block in zip(("with_fts", "ported"), blocks, strict=True):
        source = base / f"{name}.c"
        source.write_text(block.split("```")[0])
        made.append(library.program(source))
    return made


@pytest.fixture
def top(scratch):
    """A tree with links of all kinds, a loop, and a directory that only root may read."""
    top = scratch / "top"
    (top / "a" / "b").mkdir(parents=True)
    for number in range(20):
        (top / "a" / f"file{number}").write_bytes(b"x" * number)
    (top / "a" / "b" / "up").symlink_to("..")
    (top / "a" / "b" / "file").symlink_to("../file7")
    (top / "gone").symlink_to("nowhere")
    (top / "closed").mkdir(mode=0o000)
    (top / "beside").mkdir()
    (top / "into").symlink_to("beside")
    (top / "beside" / "twice").write_bytes(b"12345")
    return top


def test_both_print_the_same(programs, top, needs_root):
    """Runs as another user."""
    roots = [top, top / "a" / "file3", f"{top}/missing"]
    with_fts, ported = (program(*roots, uid=NOBODY) for program in programs)
    assert sorted(ported.lines()) == sorted(with_fts.lines())
    assert sorted(ported.err.splitlines()) == sorted(with_fts.err.splitlines())
    assert ported.status == with_fts.status == 1
    path = bytes(top)
    assert b"5 %s/into/twice" % path in ported.lines() and len(ported.lines()) == 24
    assert sorted(ported.err.splitlines()) == [
        b"%s/a/b/up: a loop" % path,
        b"%s/closed: Permission denied" % path,
        b"%s/missing: No such file or directory" % path,
    ]


def test_both_without_a_path_and_without_errors(programs, scratch):
    (scratch / "file").write_bytes(b"123")
    for program in programs:
        assert program().status == 2
        assert program(scratch).ok().lines() == [b"3 %s/file" % bytes(scratch)]
