"""Few file descriptors: the right answer all the same, without a complaint."""

from __future__ import annotations

import pytest
from support import strace, trees
from support.gnu import count_line, find_totals
from support.run import run

FEW = 16


@pytest.fixture(scope="module")
def branching(base):
    """Seven levels with three children each: far more directories at once than descriptors."""
    top = base / "branching"
    made = trees.make_branching(top, levels=7, children=3)
    assert made == 2 * sum(3**level for level in range(1, 8))
    trees.settle(top)
    return top


@pytest.mark.parametrize("workers", (1, 2, 4, 8))
def test_count_on_a_branching_tree(count, branching, workers):
    files, size = find_totals(branching)
    result = count("--workers", workers, branching, nofile=FEW).ok()
    assert result.out == count_line(files, size)


@pytest.mark.parametrize("workers", (1, 2, 4, 8))
def test_du_on_a_branching_tree(du, branching, workers):
    expected = du("-a", branching).ok().out
    assert du("-a", "--workers", workers, branching, nofile=FEW).ok().out == expected


@pytest.mark.parametrize("errno", ("ENOSYS", "EPERM"))
def test_closed_directories_are_found_again_without_openat2(programs, base, branching, errno):
    """A kernel before 5.6 does not have the call, and some seccomp filters refuse it."""
    files, size = find_totals(branching)
    prefix = strace.injecting(base, "openat2", f"error={errno}")
    result = run([*prefix, programs / "ringwalk", "count", branching], nofile=FEW).ok()
    assert result.out == count_line(files, size)
    assert errno in (base / "strace.log").read_text(), "the call was made"


@pytest.mark.parametrize("workers", (1, 8))
def test_count_on_a_chain(count, memory, workers):
    with trees.deep_tree(memory / "chain", 3000) as chain:
        result = count("--no-stat", "--workers", workers, chain, nofile=FEW).ok()
        assert result.out == b"3000 files\n"


def test_many_operands(count, du, gnu_du, branching):
    operands = [branching] * 40
    files, size = find_totals(branching)
    assert count(*operands, nofile=FEW).ok().out == count_line(40 * files, 40 * size)
    expected = gnu_du("-sl", *operands, nofile=FEW).lines()
    assert du("-sl", *operands, nofile=FEW).ok().lines() == expected
