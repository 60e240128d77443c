"""The debugging option -D."""

from __future__ import annotations

import pytest
from support.find import difference

DEBUG = ("tree", "opt", "rates", "search", "stat", "time", "exec", "all", "tree,rates,stat")


@pytest.mark.parametrize("what", DEBUG)
def test_debugging_changes_no_results(find, gnu_find, text_tree, what):
    line = ("-name", "*a*", "-size", "+1c", "-type", "f", "-newermt", "2000-01-01")
    expected = gnu_find(text_tree, *line).ok()
    got = find("-D", what, text_tree, *line)
    assert got.status == 0 and not difference(expected.lines(), got.lines())
    if what not in ("exec", "search"):
        assert got.err, what


def test_debugging_says_something_sensible(find, text_tree):
    tree_text = find("-D", "tree", text_tree, "-name", "*.c", "-size", "+1k").err
    assert b"-name" in tree_text and b"*.c" in tree_text and b"-size" in tree_text
    rates = find("-D", "rates", text_tree, "-type", "f", "-name", "*a*").err
    assert b"-name" in rates and any(byte in rates for byte in b"123456789")
    counted = len(find(text_tree).lines())
    stat_text = find("-D", "stat", text_tree, "-size", "+1k").err
    assert any(str(counted + delta).encode() in stat_text for delta in (-1, 0, 1)), stat_text
    executed = find("-D", "exec", text_tree, "-maxdepth", 0, "-exec", "true", "{}", ";").err
    assert b"true" in executed
    help_text = find("-D", "help").ok().out + find("-D", "help").err
    for word in (b"tree", b"rates", b"stat", b"exec", b"search", b"time", b"opt"):
        assert word in help_text
