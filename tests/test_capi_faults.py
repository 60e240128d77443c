"""Misuse of the C library: each case of `tests/capi/faults.c`, plainly and under tools."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT
from support import capi

SOURCE = ROOT / "tests" / "capi" / "faults.c"
CASES = re.findall(r"^\tCASE\((\w+)\),$", SOURCE.read_text(), re.M)

# Where a tool is too slow, or takes what the case needs.
NOT_UNDER_VALGRIND = {
    "few_descriptors": "valgrind takes descriptors of its own",
    "no_descriptors": "valgrind takes descriptors of its own",
    "a_source_that_cannot_be_used": "valgrind knows no ioctl of XFS",
}


def check(program, case: str, tree, **options) -> None:
    result = program(case, tree, **options)
    if result.status == 77:
        pytest.skip("cannot be tried here")
    assert result.status == 0, result.err.decode(errors="replace")
    assert result.err == b"", result.err.decode(errors="replace")


@pytest.mark.parametrize("case", CASES)
def test_plainly(library, library_tree, case):
    check(library.program(SOURCE), case, library_tree)


@pytest.mark.parametrize("case", CASES)
def test_under_valgrind(library, library_tree, case):
    if case in NOT_UNDER_VALGRIND:
        pytest.skip(NOT_UNDER_VALGRIND[case])
    # In a child of fork(2), what only threads of its parent knew of is lost: they are not there.
    program = capi.under_valgrind(library.program(SOURCE), leaks=case != "forked")
    check(program, case, library_tree)


@pytest.mark.parametrize("case", CASES)
def test_under_sanitizers(library, library_tree, case):
    check(library.program(SOURCE, *capi.SANITIZED), case, library_tree)
