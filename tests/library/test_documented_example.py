"""The C program of docs/api.md. The engine tests its Rust, the package its Python."""

from __future__ import annotations

import pytest
from support import ROOT
from support.run import Program


@pytest.fixture(scope="module")
def large(library, base) -> Program:
    text = (ROOT / "docs/api.md").read_text()
    source = base / "large.c"
    source.write_text(text.split("```c\n")[1].split("```")[0])
    return library.program(source)


@pytest.mark.smoke
def test_it_prints_what_is_large_and_what_cannot_be_read(large, scratch):
    top = scratch / "top"
    (top / "below").mkdir(parents=True)
    for name, size in {"small": 10, "large": 3 << 20, "below/larger": 5 << 20}.items():
        with open(top / name, "wb") as file:
            file.truncate(size)
    missing = scratch / "missing"
    done = large(top, missing)
    assert set(done.lines()) == {
        b"%d %s/large" % (3 << 20, bytes(top)),
        b"%d %s/below/larger" % (5 << 20, bytes(top)),
    }
    assert done.err.count(b"\n") == 1 and bytes(missing) in done.err
    assert large().status == 2
