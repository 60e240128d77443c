"""Deletion of what a snapshot shows: it is read again, and only what was read then goes."""

from __future__ import annotations

import os
import shutil

import pytest
from support import mounts

WIDE = (160, 30)


@pytest.fixture
def snapshot(ringwalk, top, scratch):
    ringwalk("snapshot", "-o", scratch / "snap", top).ok()
    return scratch / "snap"


def left(top):
    return {str(path.relative_to(top)) for path in top.rglob("*")}


def test_the_default_is_no(browse, top, snapshot):
    before = left(top)
    for keys in ("d", "dn", "d<enter>", "vd<esc>"):
        browse.run(snapshot, keys=keys).ok()
    assert left(top) == before and not browse.log.exists()


def test_what_is_unchanged(browse, top, snapshot):
    shown = browse.text(snapshot, keys="d", size=WIDE)
    assert "5 entries" in shown and "read again now; in the snapshot 5 entries" in shown
    shown = browse.text(snapshot, keys="dy", size=WIDE)
    assert "5 entries deleted" in shown and "the snapshot still lists them" in shown
    assert left(top) == {"small", "small/four.o", "small/five.txt", "six.txt"}
    deleted = {line["path"] for line in browse.logged() if line["event"] == "deleted"}
    assert str(top / "big" / "deep" / "three.o") in deleted and len(deleted) == 5
    # It is gone now.
    again = browse.text(snapshot, keys="d", size=WIDE)
    assert "it is no longer there" in again and "y/N" not in again


def test_what_has_grown(browse, top, snapshot):
    """The question has the numbers of now, and those of the snapshot beside them."""
    for name in ("new", "newer"):
        (top / "big" / name).write_bytes(b"x" * 3_000_000)
    shown = browse.text(snapshot, keys="d", size=WIDE)
    assert "7 entries, frees 7." in shown and "in the snapshot 5 entries, 1.4M" in shown
    assert "7 entries deleted" in browse.text(snapshot, keys="dy", size=WIDE)
    assert not (top / "big").exists()


def test_another_file_with_the_name(browse, top, snapshot):
    os.rename(top / "six.txt", top / "moved")
    (top / "six.txt").write_bytes(b"another one")
    keys = "\\six<enter>d"
    shown = browse.text(snapshot, keys=keys, size=WIDE)
    assert "it is another file than in the snapshot" in shown and "y/N" not in shown
    browse.run(snapshot, keys=f"{keys}y").ok()
    assert (top / "six.txt").read_bytes() == b"another one"


def test_another_directory_at_the_root(browse, top, snapshot, scratch):
    top.rename(scratch / "elsewhere")
    shutil.copytree(scratch / "elsewhere", top)
    shown = browse.text(snapshot, keys="d", size=WIDE)
    assert "is another directory than in the snapshot" in shown
    browse.run(snapshot, keys="dy").ok()
    assert len(left(top)) == 9


def test_a_root_that_is_gone(browse, top, snapshot, scratch):
    top.rename(scratch / "elsewhere")
    shown = browse.text(snapshot, keys="d", size=WIDE)
    assert "cannot delete" in shown and "No such file or directory" in shown


def test_a_link_in_place_of_a_directory(browse, top, snapshot, scratch):
    """Nothing outside of the tree is touched."""
    outside = scratch / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "one.log").write_bytes(b"x")
    (top / "big").rename(scratch / "away")
    (top / "big").symlink_to(outside)
    for keys in ("dy", "g<enter>vdy"):
        shown = browse.text(snapshot, keys=keys, size=WIDE)
        assert "entries deleted" not in shown and "entry deleted" not in shown, shown
    assert (outside / "one.log").exists() and (top / "big").is_symlink()


def test_marks_in_several_directories(browse, top, snapshot):
    keys = "M-name '*.o'<enter> g<enter>\\deep<enter> d"
    shown = browse.text(snapshot, keys="M-name '*.o'<enter>d", size=WIDE)
    assert "2 entries" in shown
    browse.text(snapshot, keys=f"{keys}y", size=WIDE)
    assert not (top / "small" / "four.o").exists() and not (top / "big" / "deep").exists()


@pytest.mark.parametrize("options", [(), ("--trash",)])
def test_two_directories(browse, top, snapshot, options):
    """Each is read again to its end before the question."""
    shown = browse.text(snapshot, *options, keys="\\big<enter> \\small<enter> d", size=WIDE)
    assert "8 entries" in shown and "in the snapshot 8 entries" in shown, shown
    browse.text(snapshot, *options, keys="\\big<enter> \\small<enter> dy", size=WIDE)
    assert left(top) == {"six.txt"}


def test_marks_within_each_other(browse, top, snapshot):
    keys = "g g<enter>\\deep<enter> <backspace>d"
    shown = browse.text(snapshot, keys=keys, size=WIDE)
    assert "5 entries" in shown and "refused" not in shown, shown
    shown = browse.text(snapshot, keys=f"{keys}y", size=WIDE)
    assert "5 entries deleted" in shown and "marked" not in shown
    (top / "big").write_bytes(b"a file now")
    shown = browse.text(snapshot, keys=keys, size=WIDE)
    assert "All of it is refused" in shown, shown


def test_something_in_it_that_cannot_be_read(browse, top, snapshot, needs_root):
    for path in (top, top / "big"):
        path.chmod(0o777)
    (top / "big" / "deep").chmod(0o700)
    browse.home.chmod(0o777)
    for options in ((), ("--trash",)):
        done = browse.run(snapshot, *options, keys="d", uid=65534, size=WIDE).ok()
        assert b"something in it cannot be read" in done.out, done
        browse.run(snapshot, *options, keys="dy", uid=65534, size=WIDE).ok()
    assert (top / "big" / "one.log").exists()


def test_links_outside_of_the_selection(browse, top, scratch, ringwalk):
    os.link(top / "big" / "one.log", top / "six.link")
    ringwalk("snapshot", "-o", scratch / "links", top).ok()
    shown = browse.text(scratch / "links", keys="\\big<enter>d", size=WIDE)
    assert "frees 500K" in shown or "frees 50" in shown or "frees 51" in shown, shown


def test_a_mount_point(browse, top, snapshot, mount):
    point = mount(mounts.tmpfs, top / "big")
    (point / "precious").write_bytes(b"x")
    shown = browse.text(snapshot, keys="\\big<enter>d", size=WIDE)
    assert "a mount point" in shown and "refused" in shown, shown
    browse.run(snapshot, keys="\\big<enter>dy").ok()
    assert (point / "precious").exists()


def test_several_trees(browse, top, scratch, ringwalk):
    ringwalk("snapshot", "-o", scratch / "two", top / "big", top / "small").ok()
    shown = browse.text(scratch / "two", keys="vd", size=WIDE)
    assert "the entries are in several trees" in shown
    shown = browse.text(scratch / "two", keys="gd", size=WIDE)
    assert "All of it is refused" in shown
    shown = browse.text(scratch / "two", keys="\\small<enter><enter>vdy", size=WIDE)
    assert "2 entries deleted" in shown
    assert left(top / "small") == set() and (top / "big" / "one.log").exists()


def test_a_file_of_ncdu(browse, top, scratch, ringwalk, snapshot):
    """It has no inode numbers of most files, so nothing says that they are the same."""
    ringwalk("export", "--format", "ncdu", "-o", scratch / "ncdu.json", snapshot).ok()
    shown = browse.text(scratch / "ncdu.json", keys="\\six<enter>d", size=WIDE)
    assert "does not know which file it was" in shown and "y/N" not in shown, shown
    browse.run(scratch / "ncdu.json", keys="vdy").ok()
    assert len(left(top)) == 9


def test_into_the_trash(browse, top, snapshot):
    shown = browse.text(snapshot, "--trash", keys="dy", size=WIDE)
    assert "moved into the trash" in shown and not (top / "big").exists()
    assert list((browse.home / "data" / "Trash" / "files").iterdir()) or list(
        top.parent.rglob(".Trash-*")
    )
