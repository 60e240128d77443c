"""Directories and files that the user may not read, search or access."""

from __future__ import annotations

import errno as err
import os
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from support import strace
from support.find import LOCALES, assert_alike, assert_same, messages
from support.run import NOBODY, USER, run


@pytest.fixture(scope="module")
def closed(base):
    """A tree with directories that may not be read, not be searched, and neither."""
    top = base / "find-closed"
    for path in ("open/a", "unreadable/hidden", "unsearchable/a", "shut", "open/shut"):
        (top / path).mkdir(parents=True)
    for path in ("open/a", "open", "unreadable", "unreadable/hidden", "unsearchable"):
        for number in range(3):
            (top / path / f"file{number}").write_bytes(b"x" * 5000)
        (top / path / "link").symlink_to("file0")
    top.chmod(0o755)
    modes = {"unreadable": 0o311, "unsearchable": 0o444, "shut": 0, "open/shut": 0}
    for path, mode in modes.items():
        (top / path).chmod(mode)
    yield top
    for path in modes:
        (top / path).chmod(0o755)


UNASKED = ("-maxdepth 1", "-type d ! -readable -prune -o -type f -print")


@pytest.mark.parametrize(
    "expression",
    (
        "-true",
        "-name file*",
        "-depth",
        "-maxdepth 1",
        "-prune",
        "-name shut -prune -o -print",
        "-type d ! -readable -prune -o -type f -print",
        "-empty",
        "-exec echo {} ;",
        "-size +1 -o -size -2",
        "-ignore_readdir_race",
        "-name shut -quit",
        "-path */open/*",
    ),
)
@pytest.mark.parametrize("locale", LOCALES)
def test_directories_that_may_not_be_read(find, gnu_find, closed, expression, locale):
    options = {"uid": USER, "cwd": closed, "env": {"LC_ALL": locale}}
    for tops in (["."], ["unreadable", "shut", "open"], ["unreadable/hidden", "unsearchable"]):
        if expression == "-name shut -quit" and "shut" not in tops:
            continue
        expected = gnu_find(*tops, *expression.split(), **options)
        result = find(*tops, *expression.split(), **options)
        if expression in UNASKED and result.err != expected.err:
            # GNU find reads the metadata of every directory, which this expression does not need.
            reported = set(messages(expected)) - set(messages(result))
            assert {text.strip("‘'.").partition("a")[0] for text in reported} <= {"/unse", "unse"}
            expected = replace(expected, err=result.err, status=result.status)
        assert_alike(expected, result)
        assert "-prune" in expression or "max" in expression or result.status in (0, 1)


@pytest.mark.parametrize("follow", ("-P", "-L", "-H"))
def test_what_may_not_be_looked_at(find, gnu_find, closed, follow):
    """A directory that can be read but not searched gives names and no metadata."""
    for expression in ("-size 1", "-links 1 -print", "-perm 644", "-newermt yesterday"):
        args = (follow, "unsearchable", *expression.split())
        result = assert_same(find, gnu_find, *args, cwd=closed, uid=USER)
        assert result.status == 1 and messages(result)


def test_a_current_directory_that_may_not_be_read(find, gnu_find, closed):
    for start in (".", "hidden", "hidden/file0"):
        assert_same(find, gnu_find, start, cwd=closed / "unreadable", uid=USER)
        assert_same(find, gnu_find, start, "-type", "f", cwd=closed / "unreadable", uid=USER)


def fill_unsearchable(top: Path) -> None:
    """Makes a directory whose names can be read, but not the metadata of its entries."""
    (top / "tree" / "listed" / "sub").mkdir(parents=True)
    (top / "tree" / "listed" / "file").write_bytes(b"1")
    (top / "tree" / "listed" / "link").symlink_to("file")
    (top / "tree" / "hidden").mkdir()
    (top / "tree" / "hidden" / "file").touch()
    (top / "tree" / "open").mkdir()
    (top / "tree" / "open" / "to_hidden").symlink_to("../hidden/file")
    (top / "tree" / "open" / "dangling").symlink_to("nowhere")
    (top / "tree" / "open" / "to_itself").symlink_to("to_itself")
    (top / "tree" / "open" / "file").touch()
    (top / "tree" / "listed").chmod(0o444)
    (top / "tree" / "hidden").chmod(0o000)


@pytest.mark.parametrize(
    "line",
    (
        "tree -size 1 -o -print",
        "tree ! -size 1",
        "tree -size 1 , -print",
        "tree ! -empty",
        "tree ( -name file -o -name link ) ( -size 1 -o -print )",
        "tree -xdev",
        "tree -depth ( -size 1 -o -print )",
        "tree ( -ls -false -o -print )",
        "tree ( -printf '%s\\n' -false -o -name file -print )",
        "tree -printf '%s\\n' -print",
        "-L tree",
        "-L tree -depth",
        "-L tree -type l",
        "-L tree ! -type l",
        "-L tree ! -size 1",
        "tree/hidden/file tree/open -print",
    ),
)
def test_what_cannot_be_looked_at_is_still_tested_by_name(
    find, gnu_find, scratch, needs_root, line
):
    fill_unsearchable(scratch)
    words = shlex.split(line)
    expected = gnu_find(*words, cwd=scratch, uid=NOBODY)
    got = find(*words, cwd=scratch, uid=NOBODY)
    assert sorted(got.lines()) == sorted(expected.lines())
    assert got.status == expected.status == 1 and b"Permission denied" in got.err


def test_links_that_may_not_be_followed_are_not_dangling(find, gnu_find, scratch, needs_root):
    """`-L -type l -delete` removes broken links and no others."""
    fill_unsearchable(scratch)
    os.chown(scratch / "tree" / "open", NOBODY, NOBODY)
    find("-L", "tree/open", "-type", "l", "-delete", cwd=scratch, uid=NOBODY)
    left = sorted(os.listdir(scratch / "tree" / "open"))
    assert left == ["file", "to_hidden", "to_itself"]


@pytest.mark.parametrize("test", ("-readable", "-writable", "-executable"))
@pytest.mark.parametrize("errno", ("EIO", "EMFILE", "ENOMEM"))
def test_find_tells_of_access_that_it_could_not_ask_for(find, base, scratch, test, errno):
    """faccessat(2) that fails for another reason than permissions is an error, not an answer."""
    (scratch / "file").touch()
    prefix = strace.injecting(base, "faccessat", f"error={errno}")
    result = run([*prefix, *find.first, scratch, "-type", "f", test])
    assert (result.status, result.out) == (1, b"")
    assert b"file" in result.err and os.strerror(getattr(err, errno)).encode() in result.err


@pytest.mark.parametrize("errno", ("EACCES", "EPERM", "EROFS", "ETXTBSY", "ENOENT", "ELOOP"))
def test_find_has_no_message_for_access_denied(find, base, scratch, errno):
    (scratch / "file").touch()
    prefix = strace.injecting(base, "faccessat", f"error={errno}")
    result = run([*prefix, *find.first, scratch, "-type", "f", "-readable"]).ok()
    assert (result.out, result.err) == (b"", b"")
