"""Lists that du reads: --files0-from, --exclude and --exclude-from."""

from __future__ import annotations

import pytest
from support import trees
from support.gnu import assert_same


@pytest.fixture(scope="module")
def place(base):
    top = base / "lists"
    for path in ("a/b/c", "a.o/x", "d/a", "[z]", "-dash", "space here"):
        (top / path).mkdir(parents=True)
        (top / path / "file.o").write_bytes(b"x" * 6000)
        (top / path / "file.c").write_bytes(b"x" * 100)
        (top / path / ".hidden").write_bytes(b"x" * 10)
        (top / path / "new\nline").write_bytes(b"x")
        (top / path / b"\xff\xfe".decode(errors="surrogateescape")).write_bytes(b"")
        (top / path / "back\\slash").write_bytes(b"12")
    trees.settle(top)
    return top


LISTS = (
    b"",
    b"a\0d\0",
    b"a\0d",
    b"a\0a\0a/b\0",
    b"a\0\0d\0",
    b"\0",
    b"missing\0a\0",
    b"-\0a\0",
    b"./-dash\0space here\0",
    b"a/b/c/new\nline\0a/b/c/\xff\xfe\0",
    b"a\n\0",
    b"-dash\0",
)


@pytest.mark.parametrize("options", ((), ("-a",), ("-sc",), ("-al",)))
@pytest.mark.parametrize("names", LISTS, ids=repr)
def test_files0_from_a_file(du, gnu_du, place, scratch, names, options):
    (scratch / "list").write_bytes(names)
    option = f"--files0-from={scratch / 'list'}"
    assert_same(du, gnu_du, *options, option, cwd=place)


@pytest.mark.parametrize("names", LISTS, ids=repr)
def test_files0_from_stdin(du, gnu_du, place, names):
    assert_same(du, gnu_du, "-a", "--files0-from=-", cwd=place, stdin=names)


def test_files0_keeps_the_order_of_the_list(du, gnu_du, place):
    names = b"d\0a\0missing\0space here\0a.o\0"
    expected = gnu_du("-s", "--files0-from=-", cwd=place, stdin=names)
    assert du("-s", "--files0-from=-", cwd=place, stdin=names).out == expected.out


PATTERNS = ("*.o", "a", "b", "a/b", "*/b", "./a", "file.*", ".*", "[[]z]", "\\[z]", "[a-c]", "[!a]")
PATTERNS += ("*", "?", "*c", "new*line", "*\\\\*", "[[:alpha:]]", "-dash", "", "d/", "*.[oc]", "[z")
PATTERNS += ("space*", "**", "a*o", "back\\slash", "back\\\\slash", "x/file.o", "/x", "file.o/")
PATTERNS += ("[[:digit:][:upper:]]*", "[]z]", "[^a-z]*", "[a-", "file.\\o", "..", ".")


@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
def test_exclude(du, gnu_du, place, pattern):
    assert_same(du, gnu_du, "-a", f"--exclude={pattern}", ".", cwd=place)
    assert_same(du, gnu_du, "-a", "--exclude", pattern, "a", "./d", "a.o/", cwd=place)


@pytest.mark.parametrize(
    "text", (b"*.o\n", b"*.o\nb\n", b"*.o", b"", b"\n\n", b"  b\nb  \n", b"#b\nb\r\n", b"c\n[z]\n")
)
def test_exclude_from(du, gnu_du, place, scratch, text):
    (scratch / "patterns").write_bytes(text)
    for option in ("-X", "--exclude-from"):
        assert_same(du, gnu_du, "-a", option, scratch / "patterns", ".", cwd=place)
    assert_same(du, gnu_du, "-a", "-X", "-", ".", cwd=place, stdin=text)


@pytest.mark.smoke
def test_excludes_add_up(du, gnu_du, place, scratch):
    (scratch / "patterns").write_bytes(b"*.c\n")
    options = ("--exclude=b", "-X", scratch / "patterns", "--exclude", ".hidden")
    result = assert_same(du, gnu_du, "-a", *options, ".", cwd=place)
    assert b".c" not in result.out and b"hidden" not in result.out and b"file.o" in result.out
