"""Servers that take long to answer: many requests at a time, and no more than allowed."""

from __future__ import annotations

import json

import pytest
from slow_server import slow
from support.gnu import counted

pytestmark = pytest.mark.usefixtures("needs_root")

# More than fit into one buffer of 256 KiB.
FILES = 10_000

# Each file has the size of its node's number, modulo 1000; the root is number 1.
ANSWER = (FILES, sum(node % 1000 for node in range(2, FILES + 2)))


@pytest.mark.parametrize("workers", (("--workers", 64), ()))
def test_one_large_directory_is_read_by_many_workers(count, mount, scratch, workers):
    # A worker that keeps the 6500 entries of a buffer for itself needs 13 seconds for them.
    server = mount(slow, scratch, 0, FILES, 2000)
    assert counted(count(*workers, server.point).ok()) == ANSWER
    counts = server.counts()
    assert counts["lookups"] == FILES
    # Three, if batches are not cut again. A busy machine starts threads slowly.
    assert counts["most"] > 8


def test_order_of_directories_that_are_cut(du, mount, scratch):
    server = mount(slow, scratch, 3, 500, 500)
    one = du("-a", "--workers", 1, server.point).ok()
    assert len(one.lines()) == 3 * 500 + 4
    assert du("-a", "--workers", 64, server.point).ok().out == one.out
    assert server.counts()["most"] > 8


@pytest.mark.parametrize("options", ((), ("--workers", 64)))
def test_no_more_requests_are_in_flight_than_allowed(count, mount, scratch, options):
    server = mount(slow, scratch, 20, 100, 500)
    result = count("--in-flight", 8, *options, "--format=json", server.point).ok()
    assert json.loads(result.out)["entries"] == 20 * 101
    assert server.counts()["most"] <= 8
