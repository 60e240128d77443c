"""What GNU find does not have: words taken from bfs, options of the engine, -D, colours."""

from __future__ import annotations

import os

import pytest
from support import trees
from support.find import assert_parents_first, difference
from support.run import run
from support.terminal import converse


@pytest.fixture
def hidden(scratch):
    for folder in ("a/.git/objects", "a/.cache", "b/c/.hidden", ".top"):
        (scratch / "t" / folder).mkdir(parents=True)
    for file in ("a/file", "a/.git/config", "a/.cache/x", "b/c/.hidden/y", "b/.dot", ".top/z"):
        (scratch / "t" / file).write_bytes(b"1234")
    return scratch


def listed(find, *args, **options) -> list[str]:
    """What is printed, sorted."""
    return sorted(os.fsdecode(line) for line in find(*args, **options).ok().lines())


def test_hidden(find, gnu_find, hidden):
    for ours, theirs in (
        ("-hidden", "-name .* ! -name . ! -name .."),
        ("! -hidden", "! ( -name .* ! -name . ! -name .. )"),
        ("-hidden -type f", "-name .* -type f"),
        ("-nohidden", "-name .?* -prune -o -print"),
        ("-type f -nohidden", "-name .?* -prune -o -type f -print"),
        ("-nohidden -type f", "-name .?* -prune -o -type f -print"),
    ):
        for top in ("t", "t/", "t/a", "t/b"):
            expected = listed(gnu_find, top, *theirs.split(), cwd=hidden)
            assert listed(find, top, *ours.split(), cwd=hidden) == expected, ours


def test_starting_points_with_dots_are_not_hidden(find, hidden):
    assert "." in listed(find, ".", "-nohidden", cwd=hidden)
    assert ".." in listed(find, "..", "-maxdepth", 0, "-nohidden", cwd=hidden / "t")


def test_exclude(find, gnu_find, hidden):
    for ours, theirs in (
        ("-exclude -name .git", "-name .git -prune -o -print"),
        ("-exclude ( -name .git -o -name c )", "( -name .git -o -name c ) -prune -o -print"),
        ("-type f -exclude -name .git", "-name .git -prune -o -type f -print"),
        ("-exclude -name .git -type f", "-name .git -prune -o -type f -print"),
        ("-exclude -type f", "! -type f"),
        ("-exclude -size 1", "! -size 1 -o -size 1 -prune -false"),
        ("-exclude -name a -exclude -name c", "( -name a -o -name c ) -prune -o -print"),
        ("-exclude ! -type d", "-type d"),
        (
            "-name x -o -type d -exclude -name .git",
            "-name .git -prune -o ( -name x -o -type d ) -print",
        ),
    ):
        expected = listed(gnu_find, "t", *theirs.split(), cwd=hidden)
        if "size" in ours:
            # Directories of one block are excluded too, with what is in them.
            assert "t/a/file" not in listed(find, "t", *ours.split(), cwd=hidden)
            continue
        assert listed(find, "t", *ours.split(), cwd=hidden) == expected, ours


def test_exclude_reaches_where_prune_does_not(find, hidden):
    """With -depth, and above -mindepth, -prune is without effect; -exclude is not."""
    plain = listed(find, "t", "-exclude", "-name", "a", cwd=hidden)
    assert listed(find, "t", "-depth", "-exclude", "-name", "a", cwd=hidden) == plain
    deeper = listed(find, "t", "-mindepth", 3, "-exclude", "-name", "a", cwd=hidden)
    assert deeper == [path for path in plain if path.count("/") >= 3]
    assert listed(find, "t", "-exclude", "-name", "t", cwd=hidden) == []


@pytest.mark.parametrize("line", ("-exclude", "-exclude -print", "-exclude -prune", "-exclude ( "))
def test_exclude_takes_tests_only(find, hidden, line):
    result = find("t", *line.split(), cwd=hidden)
    assert result.status == 1 and result.out == b"" and result.err


def test_excluded_directories_are_not_read(find, hidden, needs_root):
    (hidden / "t" / "a").chmod(0)
    result = find("t", "-exclude", "-name", "a", "-type", "f", cwd=hidden, uid=65534)
    assert (result.status, result.err) == (0, b"")
    (hidden / "t" / "a").chmod(0o755)


@pytest.mark.parametrize("workers", ("1", "4"))
def test_unique(find, scratch, workers):
    """A file once, whatever the number of its names; with -L also what links lead to."""
    env = {"RINGWALK_WORKERS": workers}
    (scratch / "t" / "d").mkdir(parents=True)
    (scratch / "t" / "one").write_bytes(b"1")
    for name in ("two", "d/three"):
        os.link(scratch / "t" / "one", scratch / "t" / name)
    (scratch / "t" / "link").symlink_to("one")
    (scratch / "t" / "dirlink").symlink_to("d")
    (scratch / "t" / "other").touch()
    options = {"cwd": scratch, "env": env}
    kinds = lambda *args: sorted(find(*args, "-printf", "%i\\n", **options).ok().lines())  # noqa: E731
    inodes = kinds("t")
    assert kinds("t", "-unique") == sorted(set(inodes)) and len(inodes) == 8
    assert kinds("-L", "t", "-unique") == sorted(set(kinds("-L", "t")))
    assert kinds("t", "t", "-unique") == sorted(set(inodes))
    assert len(find("-L", "t", "-unique", **options).ok().lines()) == 4
    # A file that a test turned down has been looked at nevertheless: it does not come again.
    assert len(find("t", "-unique", "-type", "f", **options).ok().lines()) == 2


def test_unique_ends_loops(find, scratch):
    (scratch / "t" / "d").mkdir(parents=True)
    (scratch / "t" / "d" / "up").symlink_to("..")
    (scratch / "t" / "d" / "twice").symlink_to(".")
    result = find("-L", "t", "-unique", cwd=scratch)
    assert sorted(result.lines()) == [b"t", b"t/d"]


def expected_order(top: bytes, above: bytes) -> list[bytes]:
    """The order of -s: a directory, then its entries by name, each with what is below it."""
    lines = [above]
    if os.path.isdir(top) and not os.path.islink(top):
        for name in sorted(os.listdir(top)):
            lines += expected_order(os.path.join(top, name), above + b"/" + name)
    return lines


@pytest.mark.parametrize("workers", ("1", "2", "8"))
def test_sorted(find, text_tree, workers):
    env = {"RINGWALK_WORKERS": workers}
    top = os.fsencode(text_tree)
    expected = expected_order(top, top)
    assert find(text_tree, "-s", env=env).ok().lines() == expected
    types = find(text_tree, "-type", "d", "-s", env=env).ok().lines()
    assert types == [path for path in expected if os.path.isdir(path) and not os.path.islink(path)]
    printed = find(text_tree, "-s", "-printf", "%p\\n", "-size", "+1k", "-print", env=env).ok()
    assert len(printed.lines()) > len(expected)


def test_sorted_starting_points(find, text_tree, scratch):
    for name in ("b", "a", "c"):
        (scratch / name / "x").mkdir(parents=True)
    lines = find("c", "a", "b", "-s", cwd=scratch).ok().lines()
    assert lines in (
        [b"c", b"c/x", b"a", b"a/x", b"b", b"b/x"],
        [b"a", b"a/x", b"b", b"b/x", b"c", b"c/x"],
    )
    depth = find(scratch, "-s", "-depth", "-printf", "%P\\n").ok().lines()
    assert depth == [b"a/x", b"a", b"b/x", b"b", b"c/x", b"c", b""]


def test_sorted_with_commands(find, text_tree):
    plain = find(text_tree, "-s").ok().lines()
    line = ("-exec", "printf", "%s\\n", "{}", ";")
    for number, path in enumerate(find(text_tree, "-s", *line).ok().lines()):
        assert path == plain[number]


@pytest.fixture
def colourful(scratch):
    (scratch / "t" / "dir").mkdir(parents=True)
    (scratch / "t" / "dir" / "file.zip").touch()
    (scratch / "t" / "plain").touch()
    (scratch / "t" / "link").symlink_to("plain")
    (scratch / "t" / "script").touch(mode=0o755)
    return scratch


COLORS = {"LS_COLORS": "rs=0:di=01;34:ln=01;36:ex=01;32:*.zip=01;31:or=01;35", "TERM": "xterm"}


def test_colours_at_a_terminal_and_elsewhere(find, programs, colourful):
    program = programs / "find"
    plain = sorted(find("t", cwd=colourful).ok().lines())
    assert len(plain) == 6
    _, shown = converse([program, "t"], cwd=colourful, env=COLORS)
    assert b"\x1b[01;34m" in shown and b"\x1b[01;31m" in shown and b"\x1b[01;32m" in shown
    assert sorted(strip(shown).splitlines()) == plain
    for words in (["-nocolor"], ["-print0"], ["-printf", "%p\\n"]):
        _, shown = converse([program, "t", *words], cwd=colourful, env=COLORS)
        assert b"\x1b[" not in shown
    assert b"\x1b[" not in find("t", cwd=colourful, env=COLORS).ok().out
    coloured = find("t", "-color", cwd=colourful, env=COLORS).ok().out
    assert b"\x1b[01;34m" in coloured
    assert sorted(strip(coloured).splitlines()) == plain


def strip(text: bytes) -> bytes:
    """The text without colours."""
    pieces = text.split(b"\x1b[")
    return pieces[0] + b"".join(piece.lstrip(b"0123456789;").lstrip(b"mK") for piece in pieces[1:])


def test_control_characters_at_a_terminal(programs, scratch):
    """Names cannot command a terminal, with or without colours; a pipe gets them as they are."""
    (scratch / "t").mkdir()
    (scratch / "t" / "evil\x1b]0;x\x07\nname").touch()
    for words in (["-nocolor"], ["-color"], ["-nocolor", "-ls"], ["-nocolor", "-printf", "%p\\n"]):
        _, shown = converse([programs / "find", "t", *words], cwd=scratch, env=COLORS)
        assert b"\x1b]" not in shown and b"\x07" not in shown, words
    out = run([programs / "find", "t"], cwd=scratch).ok().out
    assert b"\x1b]0;x\x07\nname" in out


def test_as_gnu_shows_names_at_a_terminal(programs, scratch):
    for name in ("a\nb", "c\td", "\udcff", "é", "plain", "q'", 'd"', "b\\"):
        (scratch / name).touch()
    for locale in ("C", "C.UTF-8"):
        for words in ([], ["-ls"], ["-printf", "%p|%f|%h\\n"], ["-print0"]):
            seen = []
            for program in ("/usr/bin/find", programs / "find"):
                args = [program, ".", *(["-nocolor"] if seen else [])]
                args += ["-maxdepth", "1", "-name", "?*", *words]
                env = {"LC_ALL": locale, "TERM": "xterm"}
                _, shown = converse(args, cwd=scratch, env=env)
                seen.append(sorted(shown.split(b"\0" if "-print0" in words else b"\n")))
            assert seen[0] == seen[1], (locale, words)


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


def test_options_of_the_engine(ringwalk, find, text_tree):
    expected = sorted(find(text_tree).ok().lines())
    for options in (
        ("--workers", 3),
        ("--workers=1",),
        ("--source", "syscall"),
        ("--source=auto", "--workers", 2),
        ("--prefetch", "never", "--sync"),
    ):
        got = ringwalk(*options, "find", text_tree).ok()
        assert sorted(got.lines()) == expected
    explained = ringwalk("--explain", "--workers", 3, "find", text_tree, "-name", "*.c")
    assert explained.status == 0 and b"-name" in explained.err and b"syscall" in explained.err
    for env in ({"RINGWALK_WORKERS": "3"}, {"RINGWALK_SOURCE": "syscall"}, {"RINGWALK_SYNC": "1"}):
        assert sorted(find(text_tree, env=env).ok().lines()) == expected
    # An option before the word overrides the variable.
    env = {"RINGWALK_WORKERS": "nonsense", "RINGWALK_SOURCE": "nonsense"}
    got = ringwalk("--workers", 2, "--source", "syscall", "find", text_tree, env=env).ok()
    assert sorted(got.lines()) == expected


def test_options_of_the_engine_are_none_of_find(find, ringwalk_find, scratch):
    for program in (find, ringwalk_find):
        for option in ("--workers", "--source", "--prefetch", "--sync", "--explain", "--progress"):
            result = program(".", option, "1", cwd=scratch)
            assert result.status == 1 and b"unknown predicate" in result.err
    for words in (["--workers", "0"], ["--workers", "x"], ["--source", "nonsense"]):
        result = run([ringwalk_find.first[0], *words, "find", "."], cwd=scratch)
        assert result.status in (1, 2) and result.out == b"" and result.err


def test_progress_leaves_the_output_alone(ringwalk, find, text_tree):
    got = ringwalk("--progress", "always", "find", text_tree)
    assert got.status == 0
    assert not difference(find(text_tree).lines(), got.lines())


def test_any_other_name_of_the_link(programs, scratch):
    """Only a link named find is find."""
    (scratch / "f").touch()
    os.symlink(programs / "ringwalk", scratch / "find")
    assert sorted(run([scratch / "find", "."], cwd=scratch).ok().lines())[0] == b"."
    os.symlink(programs / "ringwalk", scratch / "finder")
    assert run([scratch / "finder", "."], cwd=scratch).status == 2


def test_parents_first_in_wide_trees(find, scratch):
    trees.make_branching(scratch / "t", levels=7, children=2)
    for workers in ("2", "8"):
        lines = find("t", cwd=scratch, env={"RINGWALK_WORKERS": workers}).ok().lines()
        assert len(lines) == 509
        assert_parents_first(lines)
