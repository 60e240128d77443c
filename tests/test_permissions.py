"""Directories that may not be read, seen by a user without privileges, owner or not."""

from __future__ import annotations

import errno as err
import json
import os

import pytest
from support import strace, trees
from support.gnu import assert_same, find_totals
from support.run import NOBODY, run

# Root may read everything, so it becomes nobody; another user is kept out as it is.
USER = NOBODY if os.geteuid() == 0 else None


@pytest.fixture(scope="module")
def closed(base):
    """A tree with a directory closed to reading, one closed to searching, and open ones."""
    top = base / "closed"
    for path in ("open/a", "unreadable/hidden", "unsearchable/a", "open/nothing"):
        (top / path).mkdir(parents=True)
    for path in ("open/a", "open", "unreadable", "unreadable/hidden", "unsearchable"):
        for number in range(3):
            (top / path / f"file{number}").write_bytes(b"x" * 5000)
    trees.settle(top)
    modes = {"unreadable": 0o311, "unsearchable": 0o444, "open/nothing": 0}
    for path, mode in modes.items():
        (top / path).chmod(mode)
    yield top
    for path in modes:
        (top / path).chmod(0o755)


@pytest.mark.parametrize("options", (("-a",), ("-s",), ("-ab",), ("--inodes",), ("-d1",)))
def test_du_reports_like_gnu(du, gnu_du, closed, options):
    assert_same(du, gnu_du, *options, closed, uid=USER)
    assert_same(du, gnu_du, *options, closed / "unreadable", uid=USER)
    assert_same(du, gnu_du, *options, closed / "unreadable" / "hidden", uid=USER)


def test_du_does_not_complain_of_what_is_left_out(du, gnu_du, closed):
    """What cannot be looked at, but is excluded, is no error."""
    result = assert_same(du, gnu_du, "-a", "--exclude=file*", closed / "unsearchable", uid=USER)
    assert b"file" not in result.err
    assert_same(du, gnu_du, "--exclude=*unreadable", closed, uid=USER)
    assert_same(du, gnu_du, "--exclude=missing", "missing", ".", cwd=closed / "open" / "a")


@pytest.mark.parametrize("workers", (1, 4))
def test_count_names_what_it_could_not_read(count, closed, workers):
    result = count("--workers", workers, closed, uid=USER)
    assert result.status == 1
    for name in (b"unreadable", b"nothing"):
        assert name in result.err
    assert result.err.count(b"Permission denied") >= 2
    # Names alone need no permission on the entries themselves, only on the directories.
    names = count("--no-stat", "--workers", workers, closed, uid=USER)
    found = run(["find", closed, "-mindepth", "1", "-printf", "x"], uid=USER)
    assert names.out == b"%d files\n" % len(found.out)


def test_count_json_says_how_many_errors(count, closed):
    result = count("--json", "--no-stat", closed, uid=USER)
    assert result.status == 1
    assert json.loads(result.out)["errors"] == result.err.count(b"Permission denied") == 3


def test_an_unreadable_operand(count, du, gnu_du, closed):
    result = count(closed / "open" / "nothing", closed / "open" / "a", uid=USER)
    assert result.status == 1
    assert b"nothing" in result.err and b"Permission denied" in result.err
    assert result.out == b"3 files, 15000 bytes\n"
    assert_same(du, gnu_du, closed / "open" / "nothing", uid=USER)


def test_an_open_tree_needs_no_privileges(count, du, gnu_du, closed):
    files, size = find_totals(closed / "open" / "a")
    assert count(closed / "open" / "a", uid=USER).ok().out == b"%d files, %d bytes\n" % (
        files,
        size,
    )
    assert_same(du, gnu_du, "-a", closed / "open" / "a", uid=USER)


def test_a_parent_that_may_not_be_read(count, du, gnu_du, closed):
    """The current directory's own parents may be closed: relative operands still work."""
    folder = closed / "unreadable" / "hidden"
    assert os.stat(folder.parent).st_mode & 0o777 == 0o311
    assert count(".", cwd=folder, uid=USER).ok().out == b"3 files, 15000 bytes\n"
    assert_same(du, gnu_du, "-a", cwd=folder, uid=USER)


@pytest.mark.parametrize("test", ("-readable", "-writable", "-executable"))
@pytest.mark.parametrize("errno", ("EIO", "EMFILE", "ENOMEM"))
def test_find_tells_of_access_that_it_could_not_ask_for(find, base, scratch, test, errno):
    """A call that fails for another reason than the permissions of the file is no answer."""
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
