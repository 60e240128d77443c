"""Every predicate of `ringwalk find` against GNU find, on files of every kind."""

from __future__ import annotations

import itertools
import os

import pytest
from support import trees, zoo
from support.find import LS, assert_same, assert_same_each, words
from support.run import NOBODY

TYPES = ["f", "d", "l", "p", "s", "c", "b", "f,d", "l,p,s", "b,c", "f,l,d,p,s,c,b"]
SIGNS = ("", "+", "-")

# One run each, on all trees: the commonest predicates, alone and with each other.
EXPRESSIONS = (
    "",
    "-true",
    "-false",
    "-not -false",
    "! -true",
    "-name '*.c'",
    "-iname '*.C'",
    "-type f",
    "-type d -o -type l",
    "-type f,d",
    "-xtype l",
    "-xtype f",
    "-empty",
    "-type f -empty",
    "-type d -empty",
    "-links +1",
    "-links 1 -type f",
    "-size +1k -size -1M",
    "-size +2G",
    "-perm -u=r",
    "-perm /022",
    "-perm 644",
    "-newer kinds/file",
    "-newermt 2009-02-14",
    "! -newermt '1970-01-01 UTC'",
    "-mtime +1000",
    "-mtime -1",
    "-user root",
    "-uid +100",
    "-nouser",
    "-nogroup",
    "-nouser -o -nogroup",
    "-readable -writable ! -executable",
    "-samefile links/a/one",
    "-inum 1",
    "-fstype ext4",
    "! -fstype nonsense",
    "-lname '*file*'",
    "-ilname '*TARGET*'",
    "-path '*/dir/*'",
    "-regex '.*/f[0-7]+'",
    "-name '*.c' -size 0",
    "-size 0 -name '*.c'",
    "( -name '*a*' -o -name '*b*' ) -type f",
    "-name '*a*' -type f -o -name '*b*' -type d",
    "-name a -o -name b -o -name c -a -type d",
    "! ( -type f -o -type d ) ! -type l",
    "! ! ! -type f",
    "-type d -prune -o -print",
    "-name a -prune -o -type f -print",
    "-path '*/links/a' -prune -o -print",
    "-name kinds -prune -false -o -print",
    "-maxdepth 0",
    "-maxdepth 1",
    "-maxdepth 2 -type d",
    "-mindepth 1",
    "-mindepth 2 -maxdepth 3",
    "-mindepth 3 -maxdepth 2",
    "-mindepth 1 -name a -prune -o -print",
    "-depth",
    "-d -type d",
    "-depth -name a -prune -o -print",
    "-depth -mindepth 2 -maxdepth 2",
    "-xdev -type f",
    "-mount",
    "-noleaf -type d",
    "-ignore_readdir_race -noignore_readdir_race -type d",
    "-warn -type f -nowarn",
    "-type f , -type d",
    "-name '*.c' -print , -type d",
    "( -type f -print , -type d ) -print",
    "-type f -print , -type d -print",
    "-type f -a -print -o -type d",
    "-false -o -true",
    "-false , -false",
    "-true -o -print",
    "-print -o -print",
    "-print -print",
    "-not -print",
    "-used 0",
    "-used +1",
    "-anewer kinds/file",
    "-cnewer kinds/file",
    "-daystart -mtime 0",
    "-mtime 0 -daystart",
    "-O3 -type f -name '*a'",
    "-newer times/t0 -not -newer times/t1234567890",
)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_same_names_as_gnu(find, gnu_find, menagerie, tree, here, expression):
    line = words(expression)
    before = line.pop(0) if line and line[0] == "-O3" else None
    args = [*([before] if before else []), ".", tree, *line]
    # Records may contain newlines; both programs are split in the same way.
    assert_same(find, gnu_find, *args, **here)


@pytest.mark.parametrize("follow", ("-P", "-H", "-L", "-P -L -H", "-L -P"))
@pytest.mark.parametrize("group", range(6))
def test_with_links_followed(find, gnu_find, here, follow, group):
    """Starting points of every type, most of them links."""
    tops = "kinds names links . " + " ".join(f"kinds/to-{name}" for name in ("file", "dir", "self"))
    tops += " links/dirlink links/dirlink2 kinds/dangling kinds/via-dir kinds/via-emptydir"
    left_out = ("-mount", "-xdev", "-O3", "-newer ")
    usable = [e for e in EXPRESSIONS if e and not e.startswith(left_out) and "depth" not in e]
    # Expressions without actions and without options of the whole line.
    usable = [e for e in usable if "-print" not in e and "daystart" not in e and "-warn" not in e]
    assert_same_each(find, gnu_find, tops, usable[group::6], first=follow, **here)


FOLLOWED = (
    "-follow -type f",
    "-type l -follow",
    "-follow -xtype l",
    "-L -type l",
    "-L -xtype f",
    "-L -newer kinds/to-file",
    "-L -samefile kinds/to-file",
    "-H -samefile kinds/to-file",
    "-P -samefile kinds/to-file",
    "-L -lname *",
    "-L -ls",
    "-L -inum +1 -links +0 -size -1",
    "-L -empty",
    "-L -maxdepth 1 -type d",
    "-L -depth",
    "-L -printf '%p %l %y %Y %d %H %P\\n'",
    "-H -printf '%p %l %y %Y %d %H %P\\n'",
    "-follow -printf '%p %l %y %Y %d %H %P\\n'",
)


@pytest.mark.parametrize("line", FOLLOWED)
def test_following(find, gnu_find, here, line):
    line = words(line)
    follow = [line.pop(0)] if line[0] in ("-L", "-H", "-P") else []
    if "-ls" not in line and "-printf" not in line:
        line.append("-print")
    separator = LS if "-ls" in line else b"\n"
    for tops in (["kinds", "links"], ["links/dirlink", "kinds/to-file", "kinds/to-self"]):
        assert_same(find, gnu_find, *follow, *tops, *line, separator=separator, **here)


def test_types(find, gnu_find, here):
    expressions = [f"{test} {kind}" for test in ("-type", "-xtype") for kind in TYPES]
    for follow in ("-P", "-H", "-L"):
        tops = "kinds kinds/to-file kinds/dangling kinds/self kinds/via-dir"
        assert_same_each(find, gnu_find, tops, expressions, first=follow, **here)


def test_sizes(find, gnu_find, here):
    units = ("", "b", "c", "w", "k", "M", "G")
    numbers = (0, 1, 2, 3, 4, 511, 512, 513, 1 << 20, (1 << 30) + 1, 9223372036854775807)
    expressions = [
        f"-size {sign}{number}{unit}" for sign in SIGNS for number in numbers for unit in units
    ]
    for part in range(4):
        assert_same_each(find, gnu_find, "sizes kinds", expressions[part::4], **here)


MODE_WORDS = ("0", "00", "1", "7777", "644", "0644", "4000", "2000", "1000", "111", "22", "u=rwx")
MODE_WORDS += (
    "u+w",
    "g+x,o+r",
    "a=r",
    "a+X",
    "=",
    "+",
    "u=r,g=u",
    "o=g",
    "u+s",
    "g=s",
    "+t",
    "o+t",
)
MODE_WORDS += ("a=rwx,u+s,g-x", "u=rw,go=u-w", "ug=rw,o=", "+rwX", "=r,+X", "u=s,a=X", "777,u-x")
MODE_WORDS += ("u+x,a+X", "a-x,+X", "u=rwx,g=rx,o=")


def test_modes(find, gnu_find, here):
    # A comma after an octal number is an error, which test_bad_input.py tests.
    usable = [mode for mode in MODE_WORDS if mode != "777,u-x"]
    expressions = [["-perm", sign + mode] for sign in ("", "-", "/") for mode in usable]
    # `+t` and similar modes follow rules of their own, so each runs by itself.
    plain = [e for e in expressions if not e[1].startswith("+")]
    # GNU find ignores the file mode creation mask: it takes 0.
    for part in range(3):
        assert_same_each(find, gnu_find, "modes kinds", plain[part::3], umask=0, **here)
    for expression in (e for e in expressions if e[1].startswith("+")):
        assert_same(find, gnu_find, "modes", *expression, umask=0, **here)


def test_every_mode_there_is(find, gnu_find, scratch):
    for mode in range(0o10000):
        path = scratch / f"{mode:04o}"
        path.touch()
        path.chmod(mode)
    expressions = [
        f"-perm {sign}{mode}"
        for sign in ("", "-", "/")
        for mode in ("0", "644", "4111", "7777", "u+s,g+s", "ug+x", "a=rw", "u=r,g=w,o=x")
    ]
    assert_same_each(find, gnu_find, ".", expressions, cwd=scratch)


def test_owners(find, gnu_find, here):
    expressions = [["-nouser"], ["-nogroup"]]
    for test, sign, number in itertools.product(
        ("-uid", "-gid"), SIGNS, (0, 1, 2, 7, 12345, 65534, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
    ):
        expressions.append([test, f"{sign}{number}"])
    for test in ("-user", "-group"):
        expressions += [[test, name] for name in ("root", "daemon", "bin", "0", "7", "12345")]
    expressions += [["-user", "nobody"], ["-group", "nogroup"], ["-user", "2147483647"]]
    assert_same_each(find, gnu_find, "owners kinds", expressions, **here)


def test_numbers(find, gnu_find, here, menagerie):
    """Predicates with numbers, links and inodes: signs and other characters in the number."""
    inode = os.stat(menagerie / "kinds" / "file").st_ino
    expressions = []
    for sign in SIGNS:
        expressions += [f"-links {sign}{number}" for number in (0, 1, 2, 3, 4, 10)]
        expressions += [f"-inum {sign}{number}" for number in (0, 1, inode, 1 << 40)]
    expressions += [f"-samefile {path}" for path in ("kinds", "links/a/one", "kinds/to-file")]
    for follow in ("-P", "-H", "-L"):
        assert_same_each(
            find, gnu_find, "links kinds links/dirlink", expressions, first=follow, **here
        )


@pytest.mark.parametrize("user", (None, NOBODY, 1), ids=("root", "nobody", "daemon"))
def test_what_the_caller_may_do(find, gnu_find, here, needs_root, user):
    """`-readable`, `-writable` and `-executable` ask the kernel, which treats root specially."""
    expressions = ["-readable", "-writable", "-executable", "-readable -writable -executable"]
    expressions += ["-executable -type f", "! -readable", "-writable ! -readable"]
    for follow in ("-P", "-L"):
        tops = "modes owners kinds"
        assert_same_each(find, gnu_find, tops, expressions, first=follow, uid=user, **here)


def test_empty_of_directories_that_may_not_be_read(find, gnu_find, here, needs_root):
    result = assert_same(find, gnu_find, "modes", "-empty", uid=NOBODY, **here)
    assert b"Permission denied" in result.err and result.status == 1


def test_context_without_selinux(find, gnu_find, here):
    if os.path.exists("/sys/fs/selinux/enforce"):
        pytest.skip("SELinux is enabled here")
    for pattern in ("*", "system_u:*"):
        assert_same(find, gnu_find, ".", "-context", pattern, **here)
    assert_same(find, gnu_find, ".", "-printf", "%p %Z\n", **here)


OPERATORS = (
    "-name a -and -type d",
    "-name a -or -name b",
    "-not -name a -and -not -name b -or -type l",
    "( -name a )",
    "( ( ( -type d ) ) )",
    "! ( ! ( -type d ) )",
    "-type d , -type f , -type l",
    "( -type d , -type f ) -o -type l",
    "( -type d -o -type f ) , ( -type l -o -false )",
    "-false -a ( -true -o -true )",
    "-true -a ( -false , -true ) -a -type f",
    "-type f -o -type d -a -false , -type l",
    "! -false -o -false",
    "-not ( -type f -a -name '*e*' -o -type d )",
    "-type f -type d -o -type l -type l",
)


@pytest.mark.parametrize("optimization", ("", "-O0", "-O1", "-O2", "-O3"))
def test_operators(find, gnu_find, here, optimization):
    assert_same_each(find, gnu_find, ".", OPERATORS, first=optimization, **here)
    for expression in OPERATORS[:6]:
        assert_same(find, gnu_find, *words(optimization), ".", *words(expression), **here)


# Options in unusual places, and their warnings.
OPTIONS = (
    "-name a -maxdepth 1",
    "-type f -mindepth 2 -depth",
    "-name a -o -maxdepth 1",
    "( -maxdepth 1 )",
    "! -maxdepth 1",
    "-false -maxdepth 1",
    "-maxdepth 1 -maxdepth 2",
    "-mindepth 3 -mindepth 1",
    "-nowarn -name a -maxdepth 1",
    "-name a -nowarn -maxdepth 1",
    "-warn -name a/b",
    "-nowarn -name a/b",
    "-name /",
    "-name a/",
    "-iname a/b",
    "-d -print",
    "-depth -prune",
    "-name a -depth -type d",
    "-daystart -nowarn",
    "-depth -prune -o -name x",
    "-type f -follow",
    "-name a -noleaf",
    "-name a -ignore_readdir_race",
    "-name a -regextype sed -regex '.*'",
    "-name a -xdev",
    "-name a -mount",
    "-name a -daystart -mtime 1",
    "-ipath '*/A/*'",
    "-wholename './kinds/*'",
    "-iwholename './KINDS/*'",
    "-path kinds/",
    "-path './kinds/dir/'",
    "-perm +111",
    "-perm +x",
    "-true -true",
)


@pytest.mark.parametrize("expression", OPTIONS)
def test_options_anywhere_and_warnings(find, gnu_find, here, expression):
    assert_same(find, gnu_find, ".", *words(expression), **here)
    # With POSIXLY_CORRECT warnings are off.
    variables = {"POSIXLY_CORRECT": "1"}
    assert_same(find, gnu_find, ".", *words(expression), env=variables, **here)


SMALL = ("-empty", "-type f -size +4k", "-links 2", "-printf %s%p\\\\0", "-depth", "-xtype d")


@pytest.mark.parametrize("seed", range(4))
def test_random_trees(find, gnu_find, scratch, seed):
    top = scratch / "tree"
    trees.RandomTree(top, seed=100 + seed, entries=250)
    zoo.settle_access_times(top)
    trees.settle(top)
    for expression in SMALL:
        separator = b"\0" if "printf" in expression else b"\n"
        assert_same(find, gnu_find, top, *words(expression), separator=separator)
    assert_same(find, gnu_find, top, "-ls", separator=LS)
    if seed < 2:
        # Links to directories show the same files many times.
        assert_same(find, gnu_find, "-L", top, "-maxdepth", 4, "-type", "f")
