"""The examples fts.c and nftw.c against fts(3) and nftw(3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import ROOT, capi, trees
from support.find import difference
from support.run import NOBODY, Program

VARIANTS = ("plain", "static", "sanitized")


@pytest.fixture(params=VARIANTS)
def build(request, library):
    """A function that builds a program in one of the variants."""
    kind = request.param

    def make(source: Path) -> Program:
        flags = capi.SANITIZED if kind == "sanitized" else ()
        return library.program(source, *flags, static=kind == "static")

    return make


FTS = capi.SOURCE / "examples" / "fts.c"


NFTW = capi.SOURCE / "examples" / "nftw.c"


GLIBC_FTS = ROOT / "tests" / "capi" / "fts.c"


GLIBC_NFTW = ROOT / "tests" / "capi" / "nftw.c"


def same(expected, got, *, keep=lambda record: True) -> None:
    """Checks that two programs have printed the same entries."""
    wrong = difference(filter(keep, expected.lines(b"\0")), filter(keep, got.lines(b"\0")))
    assert not wrong, wrong
    assert expected.status == got.status
    assert len(expected.lines(b"\0")) > 0


@pytest.mark.parametrize("top", ["menagerie", "tree"])
def test_fts_tells_what_fts_of_the_c_library_tells(build, library, request, top):
    top = request.getfixturevalue(top)
    expected = library.program(GLIBC_FTS)(top)
    same(expected, build(FTS)("-l", top))


def test_fts_of_several_paths_and_none(build, library, scratch):
    (scratch / "a").mkdir()
    (scratch / "a" / "b").write_bytes(b"bb")
    (scratch / "c").symlink_to("nowhere")
    paths = [scratch / "a", scratch / "a" / "b", scratch / "c", "/nonexistent", f"{scratch}/a/"]
    expected = library.program(GLIBC_FTS)(*paths)
    got = build(FTS)("-l", *paths)
    # fts(3) drops the slash.
    wrong = difference(
        expected.lines(b"\0"), [line.replace(b"//", b"/") for line in got.lines(b"\0")]
    )
    assert not wrong, wrong
    assert build(FTS)("-l").err == b"fts: there is no root\n"


def test_fts_follows_links(build, library, scratch):
    top = scratch / "top"
    (top / "below").mkdir(parents=True)
    (top / "below" / "up").symlink_to("..")
    (top / "file").write_bytes(b"12345")
    (top / "link").symlink_to("file")
    (top / "gone").symlink_to("nowhere")
    expected = library.program(GLIBC_FTS)("-L", top)
    got = build(FTS)("-l", "-L", top)
    # fts(3) reports a directory in a loop once, as FTS_DC; the library first reports an entry.
    again = bytes(top / "below" / "up")
    same(expected, got, keep=lambda record: not record.endswith(again))
    assert [r[:1] for r in got.lines(b"\0") if r.endswith(again)] == [b"D", b"C"]
    assert [r[:1] for r in expected.lines(b"\0") if r.endswith(again)] == [b"C"]


@pytest.mark.smoke
def test_fts_counts(library, tree):
    records = library.program(GLIBC_FTS)(tree).lines(b"\0")[1:]
    sizes = sum(int(record.split()[1]) for record in records)
    for source in ("auto", "syscall"):
        counted = library.program(FTS)("--source", source, tree).ok()
        assert counted.out == b"%d entries, %d bytes\n" % (len(records), sizes)
    refused = library.program(FTS)("--source", "tape", tree)
    assert refused.status == 2 and b'no source "tape"' in refused.err


def test_directories_that_cannot_be_read(library, scratch, needs_root):
    """Runs as another user."""
    modes = {"open": 0o755, "closed": 0o000, "searched": 0o711}
    for name, mode in modes.items():
        (scratch / name).mkdir()
        (scratch / name / "file").write_bytes(b"x")
        (scratch / name).chmod(mode)
    ours = library.program(FTS)("-l", scratch, uid=NOBODY)
    theirs = library.program(GLIBC_FTS)(scratch, uid=NOBODY)
    # Both report them as directories and then as unreadable; there size and level differ.
    unreadable = [line for line in theirs.lines(b"\0") if line.startswith(b"R ")]
    assert len(unreadable) == 2
    paths = {line.split(b" ")[3] for line in unreadable}
    assert {b"R 0 -1 " + path for path in paths} == {
        line for line in ours.lines(b"\0") if line.startswith(b"R ")
    }
    same(theirs, ours, keep=lambda record: not record.startswith(b"R "))
    assert ours.status == 1


NFTW_OPTIONS = [(), ("-d",), ("-x",), ("-d", "-x")]


@pytest.mark.parametrize("options", NFTW_OPTIONS, ids="".join)
@pytest.mark.parametrize("top", ["menagerie", "tree"])
def test_nftw_tells_what_nftw_of_the_c_library_tells(build, library, request, top, options):
    """With one worker both programs have the order in which the kernel lists directories."""
    top = request.getfixturevalue(top)
    expected = library.program(GLIBC_NFTW)(*options, top)
    got = build(NFTW)("-l", *options, top)
    same(expected, got)
    if "-L" not in options:
        assert got.out == expected.out


@pytest.mark.parametrize(
    "options", [("-s", "branch1"), ("-q", "branch3"), ("-s", "file"), ("-d", "-q", "below3")]
)
def test_nftw_skips_and_stops(build, library, library_tree, options):
    expected = library.program(GLIBC_NFTW)(*options, library_tree)
    got = build(NFTW)("-l", *options, library_tree)
    assert got.out == expected.out
    assert got.status == expected.status == 0


def test_nftw_by_several_workers(build, library, library_tree):
    expected = library.program(GLIBC_NFTW)(library_tree)
    same(expected, build(NFTW)("-l", "-j", "4", library_tree))
    counted = build(NFTW)("-j", "4", library_tree).ok()
    records = expected.lines(b"\0")
    sizes = sum(int(record.split()[1]) for record in records)
    assert counted.out == b"%d entries, %d bytes\n" % (len(records), sizes)


def test_what_can_be_listed_only_is_told_without_sizes(library, scratch, needs_root):
    """fts(3) changes into each directory, and so does not report these."""
    (scratch / "listed").mkdir()
    (scratch / "listed" / "file").write_bytes(b"x")
    (scratch / "listed").chmod(0o744)
    reported = library.program(FTS)("-l", scratch, uid=NOBODY)
    assert reported.lines(b"\0")[2:] == [b"N 0 2 %s/listed/file" % bytes(scratch)]
    assert reported.status == 1 and b"Permission denied" in reported.err


@pytest.mark.long
def test_examples_under_valgrind(library, library_tree):
    for words in ((FTS, "-l"), (NFTW, "-d", "-x"), (NFTW, "-j", "4")):
        program = library.program(words[0])
        expected = program(*words[1:], library_tree).ok()
        got = capi.under_valgrind(program)(*words[1:], library_tree).ok()
        assert not difference(expected.lines(b"\0"), got.lines(b"\0"))


def test_a_tree_deeper_than_paths_go(library, scratch):
    with trees.deep_tree(scratch / "deep", 300, b"d" * 20) as top:
        counted = library.program(FTS)(top).ok()
        assert counted.out.startswith(b"300 entries, ")
        counted = library.program(NFTW)("-j", "3", top).ok()
        assert counted.out.startswith(b"301 entries, ")
