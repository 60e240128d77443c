"""`ringwalk du --from` against GNU du on the tree that was saved.

A file with several links counts for the directory that comes first. GNU du reads directories in
another order than a snapshot has. So lines of directories are compared with `-l`, or where all
links of a file are in one directory.
"""

from __future__ import annotations

import os
import random
import shutil

import pytest
from support import trees, zoo
from support.du_options import combinations
from support.gnu import assert_same
from support.run import NOBODY
from support.terminal import converse

SEEDS = (31, 32, 33)

OPTIONS = (
    (),
    ("-a",),
    ("-ab",),
    ("-S",),
    ("-aS", "-k"),
    ("-d1",),
    ("-d0",),
    ("--inodes",),
    ("-ch",),
    ("-x",),
    ("-t5000",),
    ("-t-5000", "-a"),
    ("--exclude=*a*",),
    ("--exclude=?", "-a"),
    ("--time", "-a"),
    ("--time=ctime", "--time-style=full-iso"),
    ("--time=atime", "-a"),
    ("-B1", "--apparent-size", "-a"),
)


@pytest.fixture(scope="module")
def saved_trees(base, ringwalk):
    """Random trees, and a snapshot of all of them."""
    tops = []
    for seed in SEEDS:
        top = base / f"from-{seed}"
        trees.RandomTree(top, seed, entries=300, alphabet=trees.LINE_BYTES)
        zoo.settle_access_times(top)
        tops.append(top)
    trees.settle(base)
    snap = base / "from-snapshot"
    ringwalk("snapshot", "--atime", "-o", snap, *tops).ok()
    return tops, snap


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_same_lines_as_gnu(du, gnu_du, saved_trees, options):
    tops, snap = saved_trees
    for top in tops:
        assert_same(du.with_args("--from", snap), gnu_du, "-l", *options, top)


# Reading a directory may change its time of access, so a live answer about it may differ.
RANDOM = [options for options in combinations(60, seed=9) if "--time=atime" not in options]


@pytest.mark.parametrize("options", RANDOM, ids=" ".join)
def test_random_options(du, gnu_du, saved_trees, options):
    """Each combination for a whole tree, and for a random directory of it."""
    tops, snap = saved_trees
    program = du.with_args("--from", snap)
    rng = random.Random(str(options))
    for top in tops:
        inner = sorted(path for path, _, _ in os.walk(os.fsencode(top)))
        for operand in (top, rng.choice(inner)):
            assert_same(program, gnu_du, "-l", *options, operand)


@pytest.mark.parametrize(
    "options", (("-s",), ("-sc",), ("-sb",), ("-sc", "--inodes")), ids=" ".join
)
def test_links_count_once_within_what_is_asked(du, gnu_du, saved_trees, options):
    tops, snap = saved_trees
    program = du.with_args("--from", snap)
    assert_same(program, gnu_du, *options, *tops)
    for top in tops:
        inner = sorted(path for path in top.iterdir() if path.is_dir() and not path.is_symlink())
        for operand in inner:
            assert_same(program, gnu_du, *options, operand)
            # Operands within each other, in both orders.
            assert_same(program, gnu_du, *options, operand, top)
            assert_same(program, gnu_du, *options, top, operand)


def test_all_of_a_snapshot(ringwalk, du, saved_trees):
    tops, snap = saved_trees
    assert du("-s", "--from", snap).ok().out == du("-s", "--from", snap, *tops).ok().out
    counted = ringwalk("count", "--from", snap).ok().out
    assert counted == ringwalk("count", *tops).ok().out
    names = ringwalk("count", "--no-stat", "--from", snap, tops[0]).ok().out
    assert names == ringwalk("count", "--no-stat", tops[0]).ok().out


def test_nothing_live_is_looked_at(ringwalk, du, scratch):
    top = scratch / "t"
    (top / "d").mkdir(parents=True)
    (top / "d" / "file").write_bytes(b"x" * 9000)
    os.link(top / "d" / "file", top / "link")
    snap = scratch / "snapshot"
    ringwalk("snapshot", top, "-o", snap).ok()
    commands = (
        ("du", "-a", top),
        ("du", top / "d", top),
        ("count", top),
        ("du", "-D", top / "link"),
    )
    before = [ringwalk(*command).ok().out for command in commands]
    shutil.rmtree(top)
    for (name, *args), expected in zip(commands, before, strict=True):
        got = ringwalk(name, "--from", snap, *args).ok().out
        if name == "du" and args[0] == "-a":
            assert got.splitlines()[-1] == expected.splitlines()[-1]
        else:
            assert got == expected


def test_errors_are_saved(ringwalk, scratch):
    top = scratch / "t"
    (top / "closed").mkdir(parents=True)
    (top / "file").touch()
    (top / "closed").chmod(0)
    scratch.chmod(0o777)
    snap = scratch / "snapshot"
    assert ringwalk("snapshot", "t", "-o", snap, cwd=scratch, uid=NOBODY).status == 1
    for name in ("du", "count"):
        live = ringwalk(name, "t", cwd=scratch, uid=NOBODY)
        saved = ringwalk(name, "--from", snap, "t", cwd=scratch)
        assert live.status == saved.status == 1
        assert (saved.out, saved.err) == (live.out, live.err)


@pytest.mark.parametrize(
    ("words", "reason"),
    (
        (("-L",), b"links in a snapshot cannot be followed"),
        (("--exclusive",), b"which space is shared"),
        (("--time=atime",), b"no times of access"),
    ),
)
def test_what_a_snapshot_does_not_say(ringwalk, du, scratch, words, reason):
    (scratch / "t").mkdir()
    snap = scratch / "snapshot"
    ringwalk("snapshot", scratch / "t", "-o", snap).ok()
    result = du("--from", snap, *words)
    assert result.status == 1 and result.out == b"" and reason in result.err


def test_operands_that_are_not_in_the_snapshot(ringwalk, du, scratch):
    (scratch / "t").mkdir()
    snap = scratch / "snapshot"
    ringwalk("snapshot", scratch / "t", "-o", snap).ok()
    for name in ("du", "count"):
        result = ringwalk(name, "--from", snap, "/etc", scratch / "t")
        assert result.status == 1 and b"/etc" in result.err and b"not in snapshot" in result.err
        assert result.out
        only = ringwalk(name, "--from", snap, "/etc")
        assert only.status == 1
    file = ringwalk("count", "--from", scratch / "missing")
    assert file.status == 2 and b"missing" in file.err
    assert du("--from", scratch / "missing").status == 1


def test_a_forgotten_option_is_named(ringwalk, du, scratch):
    """For du a snapshot is a file like any other, so only a person at a terminal gets advice."""
    (scratch / "t").mkdir()
    snap = scratch / "s.parquet"
    ringwalk("snapshot", scratch / "t", "-o", snap).ok()
    advice = f"--from '{snap}'".encode()
    counted = ringwalk("count", snap)
    assert counted.status == 1 and advice in counted.err
    assert advice not in ringwalk("count", "--from", snap).ok().err
    other = scratch / "other.parquet"
    ringwalk("report", snap, "--format=parquet", "-o", other).ok()
    assert b"Not a directory" in ringwalk("count", other).err
    assert du("-s", snap).ok().err == b""
    status, shown = converse([*du.first, "-s", snap])
    assert status == 0 and shown.count(advice) == 1
    for words in ([other], [snap, other], ["--from", snap]):
        status, shown = converse([*du.first, "-s", *words])
        assert status == 0 and b"--from" not in shown, words
    os.rename(snap, scratch / "-s.parquet")
    assert ringwalk("count", "--from", "-s.parquet", cwd=scratch).ok().out


def test_abbreviations_are_those_of_gnu(gnu_du, du, scratch):
    """`--f` means --files0-from, as --from is no option of GNU du."""
    (scratch / "list").write_bytes(b".\0")
    for word in ("--f", "--fi", "--files0"):
        assert_same(du, gnu_du, "-s", f"{word}=list", cwd=scratch)
