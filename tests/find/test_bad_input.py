"""Invalid command lines: GNU find's messages and status, and no action before them."""

from __future__ import annotations

import os

import pytest
from support.find import LOCALES, assert_same, messages, words

LINES = (
    # Missing arguments.
    *(
        f". {word}"
        for word in words(
            "-name -iname -path -ipath -wholename -iwholename -lname -ilname -regex -iregex "
            "-regextype -type -xtype -size -samefile -perm -user -group "
            "-amin -cmin -mmin -atime -ctime -mtime -used -newer -anewer -cnewer -newermt -newerac "
            "-fstype -context -maxdepth -mindepth -printf -fprintf -fls -fprint -fprint0 -exec "
            "-execdir -ok -okdir -files0-from"
        )
    ),
    ". -fprintf x",
    "-O",
    "-D",
    # Operators.
    ". (",
    ". )",
    ". ( )",
    ". ( -type f",
    ". -type f )",
    ". ( ( -type f )",
    ". ( -type f ) )",
    ". !",
    ". -not",
    ". ! !",
    ". -o",
    ". -or -type f",
    ". -a",
    ". -and -type f",
    ". ,",
    ". -type f -o",
    ". -type f -a",
    ". -type f ,",
    ". -type f -o -o -type d",
    ". -type f -a -a -type d",
    ". -type f -a -o -type d",
    ". -type f , , -type d",
    ". -type f ! -o -type d",
    ". ! -a -type f",
    ". ( -o -type f )",
    ". ( -type f -o )",
    ". ! ( )",
    ". -type f -not",
    "( -type f",
    ") -type f",
    ", -type f",
    # Starting points after the beginning of the expression.
    ". -type f kinds",
    ". -name a b",
    ". -name a b c d",
    ". -type f -P",
    ". -type f -L .",
    ". -type f -- .",
    ". -print kinds -type f",
    ". -O2",
    "kinds ! -type f links",
    "kinds/file -name a ./-x",
    # Unknown words.
    ". -",
    ". --",
    ". -nonsense",
    ". --nonsense",
    ". -x",
    ". -typ f",
    ". -nmae x",
    ". -Name x",
    ". -print1",
    ". -printO",
    ". -exce true ;",
    ". -é",
    "-nonsense",
    "-Z .",
    "-E .",
    "-X .",
    "-O4 .",
    "-O5 .",
    "-O9 .",
    "-O10 .",
    "-Ox .",
    "-O-1 .",
    "-O1x .",
    "-O 1 .",
    "-D nonsense kinds/file",
    "-D , kinds/file",
    # Numbers.
    *(
        f". {word} {number}"
        for word in ("-mtime", "-mmin", "-used", "-size")
        for number in words(
            "x 1x 1.5.5 --1 ++1 +-1 + - 0x10 1e3 1e 99999999999999999999 1, é inf "
            "18446744073709551615 18446744073709551616 9223372036854775808"
        )
    ),
    *(
        f". {word} {number}"
        for word in ("-maxdepth", "-mindepth")
        for number in words("x -1 +1 1.5 1x 0x1 99999999999999999999 2147483648 4294967296 - é")
    ),
    ". -size 1kk",
    ". -size k",
    ". -size +k",
    ". -size 1K",
    ". -size 1T",
    ". -size 1.5k",
    ". -size 9223372036854775807G",
    ". -size 18446744073709551615c",
    # Letters.
    ". -type x",
    ". -type ff",
    ". -type f,",
    ". -type ,f",
    ". -type f,,d",
    ". -type f,f",
    ". -type f,x",
    ". -type fd",
    ". -type D",
    ". -type F",
    ". -type é",
    ". -xtype x",
    ". -xtype D",
    ". -xtype f,f",
    # Modes.
    *(
        f". -perm {mode}"
        for mode in words(
            "8 888 9 x 10000 77777 -10000 /10000 +10000 u u+ u+q u+rwxq a+x,  ,a+x a+x,,u+r u=rw,g "
            "-- -/1 /-1 // +- 0x7 -8 /8 u-+ u+r+ ==  u=7 7u é - / + -, u+rw-x ugoa+x +111 +u+x"
        )
    ),
    # Files.
    ". -newer nosuchfile",
    ". -anewer nosuchfile/below",
    ". -samefile nosuchfile",
    ". -samefile kinds/self",
    "-L . -samefile kinds/self",
    "-L . -newer kinds/dangling",
    ". -samefile kinds/dangling",
    "-L . -samefile kinds/dangling",
    ". -fprint nosuchdir/file",
    ". -fprint kinds",
    ". -fls nosuchdir/file",
    ". -fprintf nosuchdir/file %p",
    ". -fprint0 kinds/file/below",
    # Regular expressions and their types.
    ". -regextype nonsense",
    ". -regextype help",
    ". -regextype é -regex a",
    ". -regextype Emacs -regex a",
    ". -regex [",
    ". -regex \\(",
    ". -regextype egrep -regex a{",
    ". -regextype posix-extended -regex (",
    ". -iregex [[:nonsense:]]",
    # Commands.
    ". -exec ;",
    ". -exec true",
    ". -exec true {}",
    ". -exec true {} +x",
    ". -exec true +",
    ". -exec {} +",
    ". -exec + ;",
    ". -exec true {} {} +",
    ". -exec true x{} +",
    ". -exec true {}x +",
    ". -exec true {} x +",
    ". -exec true x + {} +",
    ". -execdir true",
    ". -execdir true {} {} +",
    ". -execdir",
    ". -execdir ;",
    ". -ok true",
    ". -ok true {} +",
    ". -ok ;",
    ". -okdir true {} +",
    ". -okdir true",
    ". -okdir ;",
    # Words that contradict each other.
    "kinds/missing -delete -prune",
    "kinds/missing -prune -delete",
    "kinds/missing -prune -depth -delete",
    ". -context x",
    ". -fstype",
    ". -newerxy kinds",
    ". -newer-t now",
    ". -newermt nonsense",
    ". -newermm",
)


@pytest.mark.parametrize("line", LINES)
def test_same_words_and_status(find, gnu_find, menagerie, line):
    """Messages and quotes in both kinds of locale; the output where there is no error."""
    for locale in LOCALES if "é" in line or "nonsense" in line else ("C.UTF-8",):
        options = {"cwd": menagerie, "env": {"LC_ALL": locale}, "stdin": b"n\n"}
        expected, got = gnu_find(*line.split(), **options), find(*line.split(), **options)
        reported, wanted = messages(got), messages(expected)
        # For an unknown predicate there may be a proposal after GNU's message.
        if any("unknown predicate" in text for text in wanted):
            reported = [
                text for text in reported if text in wanted or "must stand before" not in text
            ]
            reported = [text for text in reported if not text.startswith("did you mean")]
        assert reported == wanted
        assert got.status == expected.status
        assert sorted(got.lines()) == sorted(expected.lines())


EMPTY = ("-name", "-type", "-size", "-perm", "-newer", "-mtime", "-maxdepth")
EMPTY += ("-regextype", "-printf", "-newermt", "-fstype", "-samefile", "-fprint", "-regex")
EMPTY += ("-xtype", "-used", "-lname", "-path")


@pytest.mark.parametrize("word", EMPTY)
def test_empty_arguments(find, gnu_find, menagerie, word):
    assert_same(find, gnu_find, "kinds", word, "", cwd=menagerie)


@pytest.mark.parametrize(
    "line",
    (
        ["-exec", ""],
        ["-exec", "", ";"],
        ["-execdir", "", ";"],
        ["-type", "f "],
        ["-size", " 1"],
        ["-size", "1 "],
        ["-mtime", " 1"],
        ["-perm", " 644"],
        ["-maxdepth", " 1"],
        ["-links", " 1"],
        [" -type", "f"],
        ["-type f"],
        ["\n"],
        ["-\udcff"],
        ["-name", "a", "\udcff"],
        ["-newer", "a'b"],
        ["-newer", "new\nline"],
        ["-newermt", "a'b\n"],
        ["-regextype", "a'b"],
        ["-fprint", "no/such\n"],
    ),
)
@pytest.mark.parametrize("locale", LOCALES)
def test_odd_words(find, gnu_find, menagerie, line, locale):
    line = [os.fsencode(word) for word in line]
    expected, got = (
        program("kinds", *line, cwd=menagerie, env={"LC_ALL": locale})
        for program in (gnu_find, find)
    )
    reported = [text for text in messages(got) if not text.startswith("did you mean")]
    assert reported == messages(expected)
    assert (got.status, sorted(got.lines())) == (expected.status, sorted(expected.lines()))


def test_the_nearest_known_word_is_proposed(find, scratch):
    near = {"-nmae": "-name", "-typ": "-type", "-maxdept": "-maxdepth", "-printt": "-print"}
    for wrong, right in near.items():
        result = find(".", wrong, "x", cwd=scratch)
        assert result.status == 1 and result.out == b""
        assert f"unknown predicate `{wrong}'".encode() in result.err
        assert right.encode() in result.err.splitlines()[-1], result
    # A word that resembles no predicate gets no proposal.
    assert find(".", "-qqqqqqqqqq", cwd=scratch).err == b"find: unknown predicate `-qqqqqqqqqq'\n"


WRONG_ENDS = (
    "-nonsense",
    "-type x",
    "-size",
    "(",
    "-newermt nonsense",
    "-printf",
    "-exec true",
    ")",
)


@pytest.mark.parametrize("end", WRONG_ENDS)
def test_nothing_is_done_before_all_is_understood(find, scratch, end):
    (scratch / "file").write_bytes(b"kept")
    (scratch / "out").write_bytes(b"kept")
    for action in (
        "-delete",
        "-exec rm {} ;",
        "-exec rm {} +",
        "-fprint out",
        "-fls out",
        "-print",
    ):
        result = find(".", *action.split(), *end.split(), cwd=scratch)
        assert result.status == 1 and result.out == b"" and result.err, result
        assert (scratch / "file").read_bytes() == b"kept"
        assert (scratch / "out").read_bytes() == b"kept"


@pytest.mark.parametrize("word", ("-help", "--help", "-version", "--version"))
def test_help_and_version(find, ringwalk_find, scratch, word):
    """Both options print their text and do nothing else, at each place of the line."""
    (scratch / "file").touch()
    for program in (find, ringwalk_find):
        for args in ((word,), (".", word), (".", "-type", "f", word, "-delete")):
            result = program(*args, cwd=scratch).ok()
            assert b"find" in result.out and b"./file" not in result.out
    assert (scratch / "file").exists()


def test_help_names_every_word(find, scratch):
    text = find("-help", cwd=scratch).ok().out.decode()
    for word in words(
        "-name -iname -path -regex -regextype -type -xtype -size -empty -links -inum "
        "-samefile -perm -user -group -uid -gid -nouser -nogroup -readable -writable "
        "-executable -amin -atime -used -newer -anewer -cnewer -daystart -fstype -true "
        "-false -context -depth -maxdepth -mindepth -mount -xdev -noleaf "
        "-ignore_readdir_race -follow -files0-from -warn -nowarn -print -print0 -printf "
        "-fprintf -ls -fls -fprint -fprint0 -exec -execdir -ok -okdir -delete -prune "
        "-quit "
    ):
        assert word in text, word


def test_by_its_long_name_it_says_the_same(find, ringwalk_find, menagerie):
    for line in (".", "missing", ". -nonsense", ". -type x", ". -name", "-L kinds/self -ls"):
        by_link = find(*line.split(), cwd=menagerie)
        by_name = ringwalk_find(*line.split(), cwd=menagerie)
        assert sorted(by_name.lines()) == sorted(by_link.lines())
        assert (messages(by_name), by_name.status) == (messages(by_link), by_link.status)


def test_bad_variables(find, ringwalk_find, scratch):
    for variables, word in (
        ({"RINGWALK_WORKERS": "0"}, b"RINGWALK_WORKERS"),
        ({"RINGWALK_WORKERS": "many"}, b"RINGWALK_WORKERS"),
        ({"RINGWALK_SOURCE": "nonsense"}, b"RINGWALK_SOURCE"),
    ):
        for program in (find, ringwalk_find):
            result = program(scratch, env=variables)
            assert result.status in (1, 2) and result.out == b""
            assert word in result.err, result
