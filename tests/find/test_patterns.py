"""Patterns and regular expressions against GNU find, in the C locale and in one with UTF-8."""

from __future__ import annotations

import itertools
import os

import pytest
from support import trees, zoo
from support.find import LOCALES, assert_alike, assert_pinned, assert_same, assert_same_each

PATTERNS = (
    "*",
    "",
    "a",
    "*a*",
    "*.c",
    "*.C",
    "?",
    "??",
    "???",
    ".*",
    "..*",
    "[!.]*",
    "[^.]*",
    "[a-c]",
    "[A-C]",
    "[a-z]*",
    "[A-Z]*",
    "[[:alpha:]]",
    "[[:upper:]]*",
    "[[:lower:]]*",
    "[[:digit:]]*",
    "[[:alnum:]]",
    "[[:punct:]]",
    "[[:space:]]",
    "[[:blank:]]",
    "[[:cntrl:]]",
    "[[:print:]]",
    "[[:graph:]]",
    "[[:xdigit:]]",
    "[![:alpha:]]",
    "[[:nonsense:]]",
    "[[:alpha:]",
    "[[.a.]]",
    "[[.-.]]",
    "[[=a=]]",
    "[]]",
    "[!]]",
    "[]a]",
    "[a-]",
    "[-a]",
    "[z-a]",
    "[a",
    "[",
    "]",
    "[]",
    "[!]",
    "a[",
    "[\\a]",
    "[\\]]",
    "\\*",
    "\\",
    "*\\",
    "\\a",
    "\\?*",
    "\\[*",
    "star\\*",
    "star*",
    "*\\**",
    "x?y",
    "x*y",
    "x[é]y",
    "*é*",
    "?t?",
    "é*",
    "É*",
    "[é]*",
    "[à-ü]*",
    "漢?",
    "😀",
    "*σ*",
    "Σ*",
    "İi",
    "i*",
    "new\nline",
    "*\n*",
    "\n",
    " ",
    "a b",
    "{}",
    "{a,b}",
    "@(a|b)",
    "!(a)",
    "~",
    "main.c",
    "m*n.?",
    "makefile",
    "Make*",
    "*file",
    "*akefil*",
    "n" * 255,
    "n*n",
    "*n*n*n*n*n*n*n*n*n*x",
    "**",
    "***a***",
    "*?*",
    "?*?",
    "-*",
    "--",
    "-x",
)

# Words that are not UTF-8, as patterns and in sets.
RAW = (
    b"\xff*",
    b"*\xff*",
    b"\xff\xfe",
    b"caf\xe9",
    b"caf?",
    b"caf*",
    b"[\xff]",
    b"[\xe0-\xff]",
    b"x\xe9y",
    b"x[\xe9]y",
    b"\xc3",
    b"\xc3*",
    b"\xed\xa0\x80",
    b"???",
    b"x?y",
    b"\\\xff*",
)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("test", ("-name", "-iname"))
def test_names(find, gnu_find, menagerie, locale, test):
    expressions = [[test, pattern] for pattern in PATTERNS + RAW]
    if test == "-iname":
        # glibc does not fold case in these two.
        expressions = [e for e in expressions if e[1] not in ("[[.a.]]", "[[=a=]]")]
    # GNU find warns of a slash in a pattern; no pattern here has one.
    env = {"LC_ALL": locale}
    assert_same_each(find, gnu_find, ". kinds/ names", expressions, cwd=menagerie, env=env)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("pattern", [".*", "[[:upper:]]*", "*é*", "é", "\\", "[", "x?y", "*.C"])
def test_names_alone(find, gnu_find, menagerie, locale, pattern):
    """A single predicate may take another path through the code than many in a list."""
    for test in ("-name", "-iname"):
        args = ("names", test, pattern, "-print0")
        options = {"cwd": menagerie, "env": {"LC_ALL": locale}}
        assert_same(find, gnu_find, *args, separator=b"\0", **options)


PATHS = ("*", "./*", "./names/*", "*/names/*", "./*/*", "./*/*/*", "./kinds/dir", "./kinds/dir/")
PATHS += ("kinds", "./", ".", "*/a", "*/a/*", "./[k-n]*", "./?inds/*", "./links/[ab]/*", "*[/]a*")
PATHS += ("./links/a\\/*", "*.[ch]", "./NAMES/*", "*é*", "*/É*", "*\n*", "*/.*", "./kinds/../*", "")


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("test", ("-path", "-ipath", "-wholename", "-iwholename"))
def test_paths(find, gnu_find, menagerie, locale, test):
    expressions = [[test, pattern] for pattern in PATHS + RAW]
    env = {"LC_ALL": locale}
    for tops in (". ./ kinds kinds/", [menagerie, f"{menagerie}/names//"]):
        assert_same_each(find, gnu_find, tops, expressions, cwd=menagerie, env=env)


@pytest.mark.parametrize("locale", LOCALES)
def test_link_contents(find, gnu_find, menagerie, locale):
    patterns = ("*", "file", "FILE", "to-*", "*/*", "..", "[.]*", "x*x", b"caf\xe9*", "caf?\n")
    patterns += ("some/target.c", "Some*", "*\n", "dirlink/", "")
    expressions = [[test, p] for test in ("-lname", "-ilname") for p in patterns]
    env = {"LC_ALL": locale}
    for follow in ("-P", "-H", "-L"):
        tops = "kinds names links kinds/to-file kinds/dangling"
        assert_same_each(find, gnu_find, tops, expressions, first=follow, cwd=menagerie, env=env)


REGEX_TYPES = ("findutils-default", "ed", "emacs", "gnu-awk", "grep", "posix-awk", "awk")
REGEX_TYPES += ("posix-basic", "posix-egrep", "egrep", "posix-extended", "posix-minimal-basic")
REGEX_TYPES += ("sed",)

# Expressions whose meaning differs between syntaxes, by character and by place. Every syntax
# accepts them; REFUSED has the others.
REGEXES = (
    ".*",
    "./names/.*",
    "./names",
    "names",
    ".*\\.c",
    ".*/[^/]*\\.c",
    ".*/x.y",
    ".*/[a-c]",
    ".*/[[:digit:]]+",
    ".*/[[:digit:]]\\+",
    ".*/[[:upper:]]*",
    ".*/[0-9]*",
    ".*/a?b?c?",
    ".*/a\\?b\\?c\\?",
    ".*/(a|b)",
    ".*/\\(a\\|b\\)",
    ".*/\\(a\\)",
    ".*/(a)",
    ".*/a|.*/b",
    ".*/a\\|.*/b",
    ".*/n{255}",
    ".*/n\\{255\\}",
    ".*/a{1,2}",
    ".*/a\\{1,2\\}",
    ".*/[.]hidden",
    ".*/\\.hidden",
    ".*/\\w+",
    ".*/\\w*",
    ".*/\\W",
    ".*/\\s",
    ".*/\\S",
    ".*/\\bmain.*",
    ".*\\bc",
    ".*\\Bc",
    ".*/\\<c\\>",
    ".*\\<hidden",
    ".*/\\`a",
    "\\`.*/a",
    ".*/a\\'",
    "^.*/a$",
    ".*/^a",
    ".*/a$b",
    ".*/[]]",
    ".*/[^]a]",
    ".*/[a-]",
    ".*/[\\n]",
    ".*/\\n",
    ".*/new.line",
    ".*/new\nline",
    ".*new[^x]line",
    ".*/[{][}]",
    ".*/\\*",
    ".*/star\\*",
    ".*/+",
    ".*/\\+",
    ".*/\\?",
    ".*/-+",
    ".*/([a-z]+)\\.c",
    ".*/é.*",
    ".*/[é].*",
    ".*/.t.",
    ".*/..t..",
    ".*/[[:alpha:]]t[[:alpha:]]",
    ".*/σ.*",
    ".*/İ.",
    ".*/漢.",
    ".*/[[.a.]]",
    ".*/[[=a=]]",
    ".*/a*b*",
    ".*/x.*x",
    ".*(hidden|file)",
    ".*\\(hidden\\|file\\)",
    ".*/(ma|MA)[[:alpha:]]*\\.[cC]",
    ".*/\\(ma\\|MA\\)[[:alpha:]]*\\.[cC]",
    "\\./names/\\(Makefile\\|makefile\\)",
    ".*/[^a-zA-Z0-9._-].*",
    ".*/k[a-z]*",
    "",
)
RAW_REGEXES = (b".*/\xff.*", b".*/caf\xe9", b".*/[\xe9].*", b".*/caf.", b".*\xc3")


@pytest.fixture(scope="module")
def odd_names(base):
    """A directory with odd names, but without every byte, as many tests search it."""
    folder = base / "odd-names" / "names"
    folder.mkdir(parents=True)
    singles = [bytes([byte]) for byte in b"abcnxABN0129+-*?]\\|(){}^$\t\x01\xe9\xc3"]
    for name in {
        *zoo.NAMES,
        *singles,
        b"xby",
        b"xay",
        b"x\xe9y",
        b"aa",
        b"abab",
        b"a$b",
        b"t\xc3\xa9",
    }:
        (folder / os.fsdecode(name)).touch()
    return folder.parent


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("syntax", REGEX_TYPES)
def test_regular_expressions(find, gnu_find, odd_names, locale, syntax):
    patterns = REGEXES + RAW_REGEXES
    expressions = [[test, p] for test in ("-regex", "-iregex") for p in patterns]
    options = {"cwd": odd_names, "env": {"LC_ALL": locale}}
    lead = ("-regextype", syntax)
    assert_same_each(find, gnu_find, "./names names", expressions, lead=lead, **options)


REFUSED = (
    "(",
    ")",
    "a)",
    "\\(",
    "\\)",
    "[",
    "[a",
    "[[:nonsense:]]",
    "[z-a]",
    "a{",
    "a{1",
    "a{2,1}",
)
REFUSED += ("a\\{", "a\\{1", "a\\{2,1\\}", "*", "*a", "+", "?", "|", "a||b", "(|a)", "\\", "a\\")
REFUSED += (
    "\\1",
    "(a)\\2",
    "\\(a\\)\\2",
    "{1}",
    "a{99999}",
    "a\\{99999\\}",
    "[[.nonsense.]]",
    "()",
)
REFUSED += ("[[=ab=]]", "[a-[:digit:]]", "(*a)", "\\(*a\\)", "^*", "a{,2}", "a{1a}", "[]", "[^]")
# Some syntaxes refuse these, others accept them.
REFUSED += (
    ".*/[a\\]",
    ".*/\\{\\}",
    ".*/{}",
    ".*/(.)\\1",
    ".*/\\(.\\)\\1",
    ".*/\\(.\\).*\\1",
    ".*/a**",
)


@pytest.mark.parametrize("syntax", REGEX_TYPES)
def test_what_a_syntax_refuses(find, gnu_find, scratch, syntax):
    """Each syntax refuses the expression with GNU's message, or matches the same files."""
    for name in (
        "a",
        "ab",
        "aa",
        "*",
        "*a",
        "+",
        "?",
        "|",
        "(",
        ")",
        "a)",
        "a{",
        "{1}",
        "a{1",
        "1",
    ):
        (scratch / name).touch()
    for name in ("a||b", "()", "[", "a{99999}", "^a", "a{,2}", "a{1a}", "(*a)", "a{2,1}", "\\"):
        (scratch / name).touch()
    for pattern in REFUSED:
        # Some characters have another meaning at the beginning.
        at_start = pattern.startswith(("*", "+", "?", "|", "{", ".*"))
        for whole in [pattern] if at_start else ["\\./" + pattern]:
            args = (".", "-regextype", syntax, "-regex", whole)
            assert_same(find, gnu_find, *args, cwd=scratch)


def test_the_syntax_counts_from_where_it_is_given(find, gnu_find, menagerie):
    lines = (
        ("-regex", ".*/(a|b)", "-o", "-regextype", "egrep", "-regex", ".*/(c|d)"),
        ("-regextype", "egrep", "-regex", ".*/(a|b)", "-regextype", "sed", "-regex", ".*/(a)"),
        ("(", "-regextype", "egrep", "-false", ")", "-o", "-regex", ".*/(a|b)"),
        ("-type", "f", "-regextype", "posix-extended", "-iregex", ".*/(A|B)"),
    )
    for line in lines:
        assert_same(find, gnu_find, "names", *line, cwd=menagerie)


@pytest.mark.parametrize("locale", LOCALES)
def test_names_of_every_pair_of_bytes(find, gnu_find, scratch, locale):
    """`?` and `.` show whether two bytes are one character, two, or none."""
    folder = os.fsencode(scratch)
    for pair in itertools.product((0x41, 0x80, 0xA9, 0xC3, 0xE9, 0xF0, 0xFF), repeat=2):
        for tail in (b"", b"\xa9"):
            os.mkdir(os.path.join(folder, bytes(pair) + tail))
    expressions = [["-name", p] for p in ("?", "??", "???", "[!A]", "[!A]?", "*?A", "?[!x]")]
    expressions += [["-regex", p] for p in ("./.", "./..", "./...", "./[^A]", ".*A", "./[^A].")]
    assert_same_each(find, gnu_find, ".", expressions, cwd=scratch, env={"LC_ALL": locale})


@pytest.mark.parametrize("locale", LOCALES)
def test_random_names(find, gnu_find, scratch, locale):
    trees.RandomTree(scratch / "t", 77, 300, lengths=(1, 1, 2, 2, 3))
    zoo.settle_access_times(scratch / "t")
    expressions = [["-name", p] for p in ("?", "??", "[[:alpha:]]*", "*[[:punct:]]", "[!a-z]?")]
    expressions += [["-iname", p] for p in ("[a-m]*", "*Z*", b"\xe9*")]
    expressions += [["-regex", p] for p in (".*/.", ".*/..", ".*[^a-z]", "[^a-z]*", ".*/[a-z].*")]
    assert_same_each(find, gnu_find, "t", expressions, cwd=scratch, env={"LC_ALL": locale})


def test_the_name_of_the_root_directory(find, gnu_find, menagerie):
    """The name of / is a slash. Other patterns with a slash cause a warning."""
    here = {"cwd": menagerie, "env": {"LC_ALL": "C.UTF-8"}}
    for test in ("-name", "-iname"):
        assert_pinned(find, gnu_find, ".", "-warn", test, "/", reported=[], status=0, **here)
        for pattern in ("//", "a/b", "/a", "[/]", "*/", "./"):
            assert_same(find, gnu_find, ".", "-warn", test, pattern, **here)
        assert_same(find, gnu_find, "/", "-maxdepth", 0, test, "/", **here)


def test_shy_groups(find, gnu_find, scratch):
    """Emacs has groups without a number; the syntax `emacs` of GNU find has none."""
    for name in ("f", "foo", "fooo", "bar", "?:foo", "xyx", "xyy"):
        (scratch / name).touch()
    here = {"cwd": scratch}
    for options in ([], ["-regextype", "emacs"], ["-regextype", "findutils-default"]):
        for shy, plain in (
            (r".*/\(?:f+o?o?\|bar\)", r".*/\(f+o?o?\|bar\)"),
            (r".*/\(?:x\)\(y\)\1", r".*/\(x\)\(y\)\2"),
            (r".*/\(?:\(x\)y\)\1", r".*/\(\(x\)y\)\2"),
        ):
            expected = gnu_find(".", *options, "-regex", plain, **here)
            got = find(".", *options, "-regex", shy, **here)
            assert assert_alike(expected, got).lines(), shy
        # In brackets these are four characters.
        line = (".", *options, "-regex", r".*[\(?:]foo")
        assert assert_same(find, gnu_find, *line, **here).lines() == [b"./?:foo"]
    for syntax in ("grep", "posix-basic", "ed", "sed", "posix-minimal-basic"):
        line = (".", "-regextype", syntax, "-regex", r".*/\(?:foo\)")
        assert assert_same(find, gnu_find, *line, **here).lines() == [b"./?:foo"]
    for syntax in ("awk", "egrep", "posix-extended", "gnu-awk", "posix-awk", "posix-egrep"):
        for regex in (r".*/\(?:foo\)", r".*/(?:foo)"):
            assert_same(find, gnu_find, ".", "-regextype", syntax, "-regex", regex, **here)
