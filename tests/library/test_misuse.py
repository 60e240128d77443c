"""Misuse of the C library: each case below `tests/capi`, plainly and under tools."""

from __future__ import annotations

import re

import pytest
from support import ROOT, capi

SOURCES = ROOT / "tests" / "capi"
GROUPS = ("options", "leftovers", "handles", "batches", "threads", "callbacks", "descriptors")
CASES = [
    (group, case)
    for group in GROUPS
    for case in re.findall(r"^\tCASE\((\w+)\),$", (SOURCES / f"{group}.c").read_text(), re.M)
]

# Cases that need something that a tool takes away.
NOT_UNDER_VALGRIND = {
    "the_host_can_open_files": "valgrind does not know openat2",
    "a_reserve_that_is_given": "valgrind does not know openat2",
    "a_reserve_that_there_is_not": "valgrind does not know openat2",
    "few_descriptors": "valgrind takes descriptors of its own",
    "no_descriptors": "valgrind takes descriptors of its own",
    "a_source_that_cannot_be_used": "valgrind knows no ioctl of XFS",
}

# What valgrind says of openat2, which it does not know: the library then does without it.
UNKNOWN_CALL = re.compile(
    rb"--\d+-- WARNING: unhandled \S+ syscall: 437\n"
    rb"--\d+-- You may be able to write your own handler\.\n(?:--\d+-- .*\n){3}"
)

# The allocator of AddressSanitizer does not release its locks in a child of fork(2). If a thread of
# the parent holds one, the child waits for ever.
NOT_UNDER_SANITIZERS = {"forked": "a fork with threads cannot be tried under AddressSanitizer"}

every_case = pytest.mark.parametrize(("group", "case"), CASES, ids=[case for _, case in CASES])


def build(library, group: str, *flags: str):
    return library.program(SOURCES / f"{group}.c", SOURCES / "cases.c", *flags)


def test_every_case_that_forks_is_left_out_of_the_sanitizers():
    texts = "".join((SOURCES / f"{group}.c").read_text() for group in GROUPS)
    bodies = {
        case: re.search(rf"^static void {case}\(void\)\n{{$(.*?)^}}$", texts, re.M | re.S)[1]
        for _, case in CASES
    }
    assert {case for case, body in bodies.items() if "fork(" in body} == set(NOT_UNDER_SANITIZERS)


def check(program, case: str, tree) -> None:
    result = program(case, tree)
    if result.status == 77:
        pytest.skip("cannot be tried here")
    assert result.status == 0, result.err.decode(errors="replace")
    said = UNKNOWN_CALL.sub(b"", result.err)
    assert said == b"", said.decode(errors="replace")


@every_case
def test_plainly(library, library_tree, group, case):
    check(build(library, group), case, library_tree)


# The sanitizers find the same faults in less time; valgrind also sees what Rust does.
@pytest.mark.long
@every_case
def test_under_valgrind(library, library_tree, group, case):
    if case in NOT_UNDER_VALGRIND:
        pytest.skip(NOT_UNDER_VALGRIND[case])
    # A child of fork(2) loses memory that only threads of its parent could reach.
    program = capi.under_valgrind(build(library, group), leaks=case != "forked")
    check(program, case, library_tree)


@every_case
def test_under_sanitizers(library, library_tree, group, case):
    if case in NOT_UNDER_SANITIZERS:
        pytest.skip(NOT_UNDER_SANITIZERS[case])
    check(build(library, group, *capi.SANITIZED), case, library_tree)
