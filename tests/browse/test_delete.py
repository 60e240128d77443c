"""Deletion: the question, what is freed, and the log."""

from __future__ import annotations

import os

import pytest
from support import mounts

MEGABYTE = 1 << 20


@pytest.mark.smoke
def test_the_default_is_no(browse, top):
    for keys in ("d", "dn", "d<enter>", "d<esc>", "dY", "dx", "d ", "dq", "dd"):
        browse.run(top, keys=keys).ok()
    assert (top / "big" / "deep" / "three.o").exists()
    assert not browse.log.exists()
    assert "nothing was deleted" in browse.text(top, keys="dn")


def test_the_question(browse, top):
    for age, name in enumerate(("big/one.log", "big/two.log", "big/deep/three.o")):
        os.utime(top / name, (10**9 + age * 10**8,) * 2)
    for name in ("big/deep", "big"):
        os.utime(top / name, (10**9 + 10**7,) * 2)
    freed = browse.details(top, name="big")["Freeable"].split()[0]
    shown = browse.text(top, keys="d")
    assert "Delete for ever" in shown and "5 entries" in shown and f"frees {freed}" in shown
    assert "oldest 2001-09-09, newest 2008-01-10" in shown
    assert "Sure? y/N" in shown
    marked = browse.text(top, keys="vd")
    assert "9 entries" in marked and "big" in marked and "six.txt" in marked


def test_yes_deletes_and_logs(browse, top):
    files = {path: os.lstat(path) for path in ((top / "big").rglob("*"))}
    files[top / "big"] = os.lstat(top / "big")
    shown = browse.text(top, keys="dy")
    assert not (top / "big").exists() and (top / "six.txt").exists()
    assert "5 entries deleted" in shown and "/big" not in shown
    begin, *rest = browse.logged()
    assert begin["event"] == "begin" and begin["action"] == "delete"
    assert begin["path"] == str(top / "big")
    assert {line["event"] for line in rest} == {"deleted"}
    assert {line["path"] for line in rest} == {str(path) for path in files}
    for line in rest:
        stat = files[top / line["path"]]
        assert (line["inode"], line["size"]) == (stat.st_ino, stat.st_size)
    assert browse.log.stat().st_mode & 0o777 == 0o600
    # Another deletion appends.
    browse.run(top, keys="dy").ok()
    assert len(browse.logged()) == 6 + 2


def test_marks_of_several_directories(browse, top):
    keys = "M-name '*.o'<enter>d"
    assert "2 entries" in browse.text(top, keys=keys)
    assert "2 entries deleted" in browse.text(top, keys=f"{keys}y")
    assert not (top / "small" / "four.o").exists() and not (top / "big/deep/three.o").exists()
    assert (top / "small" / "five.txt").exists() and (top / "big" / "deep").is_dir()


def test_a_filter_does_not_limit_a_deletion(browse, top):
    """The question says so, as totals with a filter show less."""
    shown = browse.text(top, keys="/-name one.log<enter>d")
    assert "The filter does not limit this" in shown and "5 entries" in shown


def many(top, number):
    folder = top / "many"
    folder.mkdir()
    for file in range(number - 1):
        (folder / str(file)).touch()
    return folder


def test_a_thousand_entries_need_a_key(browse, scratch):
    folder = many(scratch, 1000)
    top = scratch / "tree"
    top.mkdir()
    folder = folder.rename(top / "many")
    assert "1000 entries" in browse.text(top, keys="d")
    assert "1000 entries deleted" in browse.text(top, keys="dy")
    assert not folder.exists()


@pytest.mark.parametrize(
    "typed", ["y", "<enter>", "1000<enter>", "10011<enter>", "1001", "1001<esc>", "yes<enter>"]
)
def test_more_entries_need_their_number(browse, top, typed):
    folder = many(top, 1001)
    shown = browse.text(top, keys="\\many<enter>d")
    assert "1001 entries" in shown and "Type 1001 and Enter" in shown and "y/N" not in shown
    browse.run(top, keys=f"\\many<enter>d{typed}").ok()
    assert len(list(folder.iterdir())) == 1000


def test_the_number_deletes(browse, top):
    folder = many(top, 1001)
    small = browse.text(top, keys="\\many<enter>d", size=(20, 5))
    assert "1001" in small.split("Type")[-1]
    assert "1001 entries deleted" in browse.text(top, keys="\\many<enter>d1002<backspace>1<enter>")
    assert not folder.exists()


@pytest.mark.parametrize("kind", ["tmpfs", "ext4"])
def test_freed_is_what_the_file_system_gains(browse, scratch, mount, kind):
    """With sparse files, and hard links inside and outside of what is deleted."""
    point = mount(mounts.filesystem, kind, scratch)
    tree = point / "tree"
    (tree / "doomed").mkdir(parents=True)
    (tree / "doomed" / "plain").write_bytes(b"x" * 4 * MEGABYTE)
    (tree / "doomed" / "twice").write_bytes(b"x" * 2 * MEGABYTE)
    os.link(tree / "doomed" / "twice", tree / "doomed" / "again")
    (tree / "kept").write_bytes(b"x" * 8 * MEGABYTE)
    os.link(tree / "kept", tree / "doomed" / "link")
    with open(tree / "doomed" / "sparse", "wb") as file:
        file.truncate(64 * MEGABYTE)
    os.sync()
    promised = browse.bytes(tree, name="doomed")["Freeable"]
    before = os.statvfs(point)
    assert "6 entries deleted" in browse.text(tree, keys="\\doomed<enter>dy")
    os.sync()
    after = os.statvfs(point)
    gained = (after.f_bfree - before.f_bfree) * before.f_frsize
    assert gained == promised
    assert 6 * MEGABYTE <= gained < 6 * MEGABYTE + 65536
    assert os.stat(tree / "kept").st_nlink == 1


def test_hard_links_free_nothing_before_the_last(browse, scratch):
    tree = scratch / "tree"
    (tree / "a").mkdir(parents=True)
    (tree / "b").mkdir()
    (tree / "a" / "file").write_bytes(b"x" * MEGABYTE)
    os.link(tree / "a" / "file", tree / "b" / "file")
    os.link(tree / "a" / "file", scratch / "outside")
    assert browse.bytes(tree, name="a")["Freeable"] < MEGABYTE
    assert "frees 1.0M" not in browse.text(tree, keys="vd")
    (scratch / "outside").unlink()
    both = browse.text(tree, keys="vd")
    assert "frees 1.0M" in both or "frees 1.1M" in both
    assert browse.bytes(tree, name="a")["Freeable"] < MEGABYTE
    shown = browse.text(tree, keys="\\b<enter>dy")
    assert "2 entries deleted" in shown and "1.0M freed" not in shown
    # Now the other name is the last one.
    assert browse.bytes(tree, name="a")["Freeable"] >= MEGABYTE


def test_a_log_that_cannot_be_written(browse, top):
    browse.log.parent.mkdir(parents=True)
    browse.log.symlink_to(top / "six.txt")
    shown = browse.text(top, keys="dy", size=(200, 24))
    assert "cannot delete" in shown and "deletions.jsonl" in shown
    assert (top / "big").exists() and (top / "six.txt").stat().st_size == 100_000


def test_the_log_itself_is_kept(browse, top):
    browse.run(top, keys="\\six<enter>dy").ok()
    shown = browse.text(browse.home, keys="vdy", size=(200, 24))
    assert "is the log of deletions" in shown or "contains entries that were kept" in shown
    assert browse.log.exists()
