"""The C of README and docs/api.md. The engine tests their Rust, the package their Python."""

from __future__ import annotations

from textwrap import indent

import pytest
from support import ROOT
from support.run import Program

# What the lines of README stand in.
AROUND = """\
#include <ringwalk.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct ringwalk_options options = {.size = sizeof options, .roots = argv + 1};
	struct ringwalk_walk *walk;
	struct ringwalk_batch batch;

	if (argc < 2 || ringwalk_open(&options, &walk) < 0)
		return 2;
%s
	return ringwalk_close(walk) < 0;
}
"""


def block(page: str, language: str) -> str:
    """Returns the first example in a language."""
    return (ROOT / page).read_text().split(f"```{language}\n")[1].split("```")[0]


@pytest.fixture(scope="module")
def large(library, base) -> Program:
    source = base / "large.c"
    source.write_text(block("docs/api.md", "c"))
    return library.program(source)


def test_the_lines_of_the_readme_print_every_name(library, base, scratch):
    source = base / "readme.c"
    source.write_text(AROUND % indent(block("README.md", "c"), "\t"))
    (scratch / "below").mkdir()
    (scratch / "below/file").touch()
    printed = library.program(source)(scratch).ok().lines()
    assert sorted(printed) == sorted([bytes(scratch), b"below", b"file"])


def test_the_rust_of_the_readme_is_the_tested_example_of_the_crate():
    lines = block("README.md", "rust").splitlines()
    documented = (ROOT / "crates/ringwalk/src/lib.rs").read_text()
    assert "".join(f"//! {line}\n" for line in lines) in documented


def test_the_rust_of_the_page_is_tested_by_the_engine():
    assert (ROOT / "crates/ringwalk/api.md").resolve() == ROOT / "docs/api.md"


def test_the_program_ported_from_walkdir_is_the_tested_example():
    example = (ROOT / "crates/ringwalk/examples/largest.rs").read_text()
    program = example.split("\n\n", 1)[1]
    assert f"```rust,no_run\n{program}```" in (ROOT / "docs/api.md").read_text()


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
