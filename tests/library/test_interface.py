"""The interface of the C library: its header, its symbols and its version."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from support import ROOT, capi
from support.run import Program

FUNCTIONS = set(
    re.findall(
        r"^(?:int|ssize_t|ptrdiff_t|intptr_t|const char \*) ?(ringwalk_\w+)\(",
        capi.HEADER.read_text(),
        re.M,
    )
)


def output(*words) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


INCLUDES = """
#include <ringwalk.h>
#include <ringwalk.h>
int main() { return ringwalk_version() == 0; }
"""


def test_the_header_is_c_and_cplusplus(scratch):
    for compiler, suffix, standards in (
        ("cc", ".c", ("c99", "c11", "c17")),
        ("c++", ".cpp", ("c++11", "c++17", "c++20")),
    ):
        source = scratch / f"includes{suffix}"
        source.write_text(INCLUDES)
        for standard in standards:
            args = (f"-std={standard}", "-pedantic", "-fsyntax-only")
            capi.compile_c(source, *args, compiler=compiler)


@pytest.mark.smoke
def test_a_program_in_cplusplus(library, scratch):
    source = scratch / "count.cpp"
    source.write_text(
        """
#include <ringwalk.h>
int main(int, char **argv)
{
	ringwalk_options options = {};
	ringwalk_walk *walk;
	ringwalk_batch batch;
	size_t entries = 0;
	options.size = sizeof options;
	options.roots = argv + 1;
	if (ringwalk_open(&options, &walk))
		return 2;
	for (; ringwalk_next_batch(walk, &batch, sizeof batch) > 0; ringwalk_release(&batch))
		entries += batch.entry_count;
	return ringwalk_close(walk) || entries != 4;
}
"""
    )
    capi.compile_c(source, *library.link(static=False), "-o", scratch / "count", compiler="c++")
    for name in ("a", "b", "c"):
        (scratch / "tree" / name).mkdir(parents=True)
    Program(scratch / "count")(scratch / "tree").ok()


def test_only_versioned_functions_are_exported(library):
    reported = output("nm", "-D", "--defined-only", library.shared).split("\n")
    symbols = {line.split()[2] for line in reported if line}
    assert len(FUNCTIONS) == 13
    expected = {f"{name}@@RINGWALK_0.1" for name in FUNCTIONS}
    assert symbols == expected | {"RINGWALK_0.1"}


def test_the_shared_library_says_what_it_is(library):
    dynamic = output("readelf", "-dW", library.shared)
    assert "[libringwalk.so.0]" in dynamic
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
    assert needed <= {
        "libc.so.6",
        "libgcc_s.so.1",
        "libm.so.6",
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
    }
    assert re.search(r"FLAGS_1.*NOW.*NODELETE", dynamic)
    stack = next(
        line for line in output("readelf", "-lW", library.shared).split("\n") if "GNU_STACK" in line
    )
    assert "RWE" not in stack
    assert os.readlink(library.shared) == "libringwalk.so.0"


VERSION = """
#include <ringwalk.h>
#include <stdio.h>
int main(void) { puts(ringwalk_version()); return 0; }
"""


@pytest.mark.smoke
def test_the_version_is_the_one_of_the_package(library, scratch):
    source = scratch / "version.c"
    source.write_text(VERSION)
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]
    assert library.program(source)().ok().out.decode() == f"{version}\n"
