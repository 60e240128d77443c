"""Numbers as arguments of predicates. Messages are those of findutils 4.11."""

from __future__ import annotations

import os

import pytest
from support.find import assert_pinned, assert_same

UTF8 = {"LC_ALL": "C.UTF-8"}

COUNTS = ("-links", "-inum", "-uid", "-gid")
TIMES = ("-amin", "-cmin", "-mmin", "-atime", "-ctime", "-mtime")
NO_NUMBERS = ("x", "1x", "1.5", "--1", "+-1", "+", "-", "0x10", "1e3", "1,", "inf", "NaN", "é", "")
NO_NUMBERS += ("-uid", "!", " ", "5 ", "99999999999999999999", "18446744073709551616")


@pytest.mark.parametrize("test", COUNTS)
def test_counts(find, gnu_find, menagerie, test):
    here = {"cwd": menagerie, "env": UTF8}
    assert_pinned(
        find, gnu_find, ".", test, reported=[f"missing argument to `{test}'"], status=1, **here
    )
    for text in NO_NUMBERS:
        reported = [f"non-numeric argument to {test}: ‘{text}’"]
        assert_pinned(find, gnu_find, ".", test, text, reported=reported, status=1, **here)
    plain = {"cwd": menagerie, "env": {"LC_ALL": "C"}}
    reported = [f"non-numeric argument to {test}: '\\303\\251'"]
    assert_pinned(find, gnu_find, ".", test, "é", reported=reported, status=1, **plain)
    for text in ("++1", "+ 1", " 1", "18446744073709551615", "+9223372036854775808"):
        assert_same(find, gnu_find, ".", test, text, **here)


ACCOUNTS = {
    "-user": "invalid user name or UID argument to -user",
    "-group": "invalid group name or GID argument to -group",
}


@pytest.mark.parametrize("test", ACCOUNTS)
def test_accounts(find, gnu_find, menagerie, test):
    here = {"cwd": menagerie, "env": UTF8}
    for text in ("nosuch", "1x", "-1", "+-1", "0x1", "1.0", "é", "", " ", "1 ", "+ 1", "-user"):
        reported = [f"{ACCOUNTS[test]}: ‘{text}’"]
        assert_pinned(find, gnu_find, ".", test, text, reported=reported, status=1, **here)
    for text in ("4294967296", "18446744073709551616", "99999999999999999999"):
        reported = [f"{ACCOUNTS[test]}: ‘{text}’"]
        assert_pinned(find, gnu_find, ".", test, text, reported=reported, status=1, **here)
    word = os.fsencode("\udcff\n")
    reported = [f"{ACCOUNTS[test]}: '\\377\\n'"]
    assert_pinned(find, gnu_find, ".", test, word, reported=reported, status=1, cwd=menagerie)
    assert_same(find, gnu_find, ".", test, **here)


@pytest.mark.parametrize(("test", "number"), (("-user", "-uid"), ("-group", "-gid")))
def test_numbers_of_accounts(find, gnu_find, menagerie, test, number):
    """A number means the same for -user and -uid, -group and -gid, up to the largest number."""
    here = {"cwd": menagerie, "env": UTF8}
    for text in ("7", "+7", " 7", "2147483648", "3221225472", "4294967294", "4294967295"):
        got = assert_pinned(find, gnu_find, ".", test, text, reported=[], status=0, **here)
        expected = gnu_find(".", number, text.strip(" +"), **here).ok()
        assert sorted(got.lines()) == sorted(expected.lines())


@pytest.mark.parametrize("test", (*TIMES, "-used"))
def test_times(find, gnu_find, menagerie, test):
    """Words that are no numbers are refused, and times too far in the future, too."""
    here = {"cwd": menagerie, "env": UTF8}
    for text in ("NaN", "nan", "+nan", "-NAN", "nan(1)", "+nan()", "--nan"):
        reported = [f"invalid not-a-number argument: `{text[1:] if text[0] in '+-' else text}'"]
        assert_pinned(find, gnu_find, ".", test, text, reported=reported, status=1, **here)
    unit = "minutes" if test.endswith("min") else "days"
    for text in ("--1e30", "+-1e300", "--inf", "--1e18"):
        reported = [
            f"arithmetic overflow while converting {text[1:]} {unit} to a number of seconds"
        ]
        assert_pinned(find, gnu_find, ".", test, text, reported=reported, status=1, **here)
    for text in ("inf", "-inf", "+infinity", "1e30", "nanx", "nan(", "nan(-)", "1e400", "-1e400"):
        assert_same(find, gnu_find, ".", test, text, **here)


def test_depths(find, gnu_find, menagerie):
    for option in ("-maxdepth", "-mindepth"):
        for text in ("NaN", "inf", "-uid", "", " 1", "1 ", "+1", "é"):
            assert_same(find, gnu_find, ".", option, text, cwd=menagerie, env=UTF8)
