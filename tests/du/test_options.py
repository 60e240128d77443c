"""`ringwalk du` against GNU du over a large matrix of options, to the byte."""

from __future__ import annotations

import itertools

import pytest
from support import trees, zoo
from support.du_options import CHOICES, combinations
from support.gnu import assert_same, messages

SINGLE = [(option,) for option in itertools.chain(*CHOICES) if option]
COMBINED = combinations(150, seed=7)


@pytest.fixture(scope="module")
def trees_to_measure(base, text_tree):
    """Three random trees; each combination runs on all of them."""
    tops = [text_tree]
    for seed in (21, 22):
        top = base / f"du-{seed}"
        trees.RandomTree(top, seed, entries=300, alphabet=trees.LINE_BYTES)
        zoo.settle_access_times(top)
        tops.append(top)
    trees.settle(base)
    return tops


@pytest.mark.parametrize("options", [()] + SINGLE + COMBINED, ids=" ".join)
def test_same_lines_as_gnu(du, gnu_du, trees_to_measure, options):
    for top in trees_to_measure:
        assert_same(du, gnu_du, *options, top)


@pytest.mark.parametrize("options", (("-s",), ("-sc",), ("-sb",), ("-sS",), ("-s", "--inodes")))
def test_summaries(du, gnu_du, trees_to_measure, options):
    result = assert_same(du, gnu_du, *options, *trees_to_measure)
    # Both programs print operands in the given order.
    assert result.out == gnu_du(*options, *trees_to_measure).out


@pytest.mark.parametrize("options", (("-a0",), ("-0",), ("-0bc",), ("-a", "--null", "--inodes")))
def test_records_ending_in_nul(du, gnu_du, tree, options):
    """The tree has names with newlines."""
    assert_same(du, gnu_du, *options, tree, separator=b"\0")


@pytest.fixture(scope="module")
def trees_with_loops(base):
    """Trees with short names: with -L, loops reach PATH_MAX, where GNU du fails."""
    tops = [base / f"loops-{seed}" for seed in (41, 42, 43)]
    for seed, top in zip((41, 42, 43), tops, strict=True):
        trees.RandomTree(top, seed, entries=250, alphabet=trees.LINE_BYTES, lengths=(2, 3, 4))
    trees.settle(base)
    return tops


FOLLOWING = (("-L",), ("-aL",), ("-abL",), ("-aLl",), ("-Lc", "--inodes"), ("-aLx",), ("-LS",))


@pytest.mark.parametrize("options", FOLLOWING, ids=" ".join)
def test_following_every_link(du, gnu_du, trees_with_loops, options):
    for top in trees_with_loops:
        expected, got = gnu_du(*options, top), du(*options, top)
        assert len(expected.lines()) > 20
        assert sorted(got.lines()) == sorted(expected.lines())
        assert messages(got) == messages(expected)
        assert got.status == expected.status


@pytest.mark.parametrize("options", (("-a",), ("-ac", "-L"), ("-b", "-d3"), ("-aS", "--time")))
def test_order_is_the_same_for_every_worker_count(du, trees_to_measure, options):
    for top in trees_to_measure:
        one = du(*options, "--workers", 1, top)
        assert one.out.count(b"\n") > 3
        for workers in range(2, 9):
            assert du(*options, "--workers", workers, top).out == one.out


def test_order_is_the_same_on_every_run(du, trees_to_measure):
    outputs = {du("-a", *trees_to_measure).ok().out for _ in range(10)}
    assert len(outputs) == 1


VARIABLES = (
    {"DU_BLOCK_SIZE": "1"},
    {"DU_BLOCK_SIZE": "1M"},
    {"DU_BLOCK_SIZE": "human-readable"},
    {"DU_BLOCK_SIZE": "'1"},
    {"DU_BLOCK_SIZE": "nonsense"},
    {"BLOCK_SIZE": "512"},
    {"BLOCK_SIZE": "si"},
    {"BLOCKSIZE": "2048"},
    {"BLOCKSIZE": "nonsense"},
    {"DU_BLOCK_SIZE": "3", "BLOCK_SIZE": "5", "BLOCKSIZE": "7"},
    {"BLOCK_SIZE": "5", "BLOCKSIZE": "7"},
    {"POSIXLY_CORRECT": "1"},
    {"POSIXLY_CORRECT": "1", "BLOCKSIZE": "1024"},
    {"DU_BLOCK_SIZE": "nonsense", "BLOCK_SIZE": "1M"},
)


@pytest.mark.parametrize("options", ((), ("-k",), ("-b",), ("-h",), ("-B3",)), ids=" ".join)
@pytest.mark.parametrize("variables", VARIABLES, ids=str)
def test_variables(du, gnu_du, text_tree, variables, options):
    assert_same(du, gnu_du, *options, text_tree, env=variables)


SIZES = ("1K", "1KiB", "1kB", "1KB", "K", "kB", "KiB", "1M", "MB", "1G", "1T", "1P", "1E", "2b")


SIZES += ("1c", "1w", "10", "0x10", "010", "+5", "5k", "5m", "1Y", "1Z", "'1K", "'", "human", "si")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("option", ("-B", "--block-size="))
def test_block_sizes(du, gnu_du, text_tree, option, size):
    assert_same(du, gnu_du, "-s", option + size, text_tree)


@pytest.mark.parametrize("size", SIZES + ("-1K", "-1kB", "-1", "0"))
def test_thresholds(du, gnu_du, text_tree, size):
    assert_same(du, gnu_du, "-a", f"--threshold={size}", text_tree)


@pytest.mark.parametrize("options", (("-a",), ("-c",), ("--time", "-S"), ("-l", "-b")))
def test_a_negative_depth_leaves_the_operands(du, text_tree, options):
    """As in du 9.10. The installed du may be older and refuse it."""
    for depth in ("-1", "-0x5"):
        expected = du(*options, "-d0", text_tree, "/dev/null").ok().out
        assert expected and du(*options, "-d", depth, text_tree, "/dev/null").ok().out == expected


def test_human_sizes_round_up(du, gnu_du, scratch):
    """Sizes around every power at which the unit or the number of digits changes."""
    for power in range(1, 41):
        for delta in (-1, 0, 1, 511):
            path = scratch / f"{power}-{delta}"
            with open(path, "wb") as file:
                file.truncate(max(0, (1 << power) + delta))
    for power in range(1, 13):
        for delta in (-51, -1, 0, 1, 50):
            with open(scratch / f"d{power}-{delta}", "wb") as file:
                file.truncate(max(0, 10**power + delta))
    for option in ("-h", "--si", "-k", "-m", "-BKB", "-BG"):
        assert_same(du, gnu_du, "-a", "--apparent-size", option, scratch)


@pytest.mark.parametrize("size", ("1R", "1Q", "1RB", "-1QiB", "R"))
def test_ronna_and_quetta_are_units_of_thresholds(du, types, size):
    for option, reported in ((f"--threshold={size}", "--threshold"), (f"-t{size}", "-t")):
        got = du(option, "t", cwd=types)
        message = f"du: {reported} argument '{size}' too large\n"
        assert (got.status, got.out, got.err.decode()) == (1, b"", message)
    assert du("--threshold=0Q", "-sb", "t", cwd=types).ok().out == b"1049606\tt\n"


def test_the_help_has_options_and_their_texts_on_one_line(du):
    lines = du("--help").ok().out.decode().splitlines()
    for option in ("--inodes", "-A, --apparent-size", "-s, --summarize", "-k", "--explain"):
        assert any(line.strip().startswith(option + "  ") for line in lines), option
