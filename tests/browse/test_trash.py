"""Deletion into the trash, by the rules of freedesktop.org."""

from __future__ import annotations

import os
import urllib.parse

import pytest
from support import mounts


@pytest.fixture
def trash(browse):
    """The trash of the home of the test."""
    return browse.home / "data" / "Trash"


def recorded(trash, name):
    """Returns the path in the record of a name."""
    lines = (trash / "info" / f"{name}.trashinfo").read_text().splitlines()
    assert lines[0] == "[Trash Info]"
    fields = dict(line.split("=", 1) for line in lines[1:])
    assert len(fields["DeletionDate"]) == len("2001-09-09T01:46:40")
    return os.fsencode(urllib.parse.unquote(fields["Path"], errors="surrogateescape"))


@pytest.mark.smoke
def test_entries_are_moved_with_their_path(browse, top, trash):
    before = os.stat(top / "big" / "one.log")
    shown = browse.text(top, "--trash", keys="d")
    assert "Move into the trash" in shown and "y/N" in shown
    shown = browse.text(top, "--trash", keys="dy")
    assert "moved into the trash" in shown and "/big" not in shown
    assert not (top / "big").exists()
    assert os.stat(trash / "files" / "big" / "one.log").st_ino == before.st_ino
    assert (trash / "files" / "big" / "deep" / "three.o").exists()
    assert recorded(trash, "big") == os.fsencode(top / "big")
    begin, *rest = browse.logged()
    assert (begin["event"], begin["action"]) == ("begin", "trash")
    assert rest[0]["event"] == "trashed" and rest[0]["to"] == str(trash / "files" / "big")
    for folder in (trash, trash / "files", trash / "info"):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_nothing_is_moved_without_yes(browse, top, trash):
    for keys in ("d", "dn", "d<enter>", "d<esc>"):
        browse.run(top, "--trash", keys=keys).ok()
    assert (top / "big").exists() and not trash.exists()


def test_equal_names(browse, top, trash):
    for folder in ("big", "small"):
        (top / folder / "same.txt").write_text(folder)
    shown = browse.text(top, "--trash", keys="M-name same.txt<enter>dy")
    assert "2 entries moved into the trash" in shown
    files = sorted(os.listdir(trash / "files"))
    assert len(files) == 2 and files == sorted(
        name.removesuffix(".trashinfo") for name in os.listdir(trash / "info")
    )
    for name in files:
        folder = (trash / "files" / name).read_text()
        assert recorded(trash, name) == os.fsencode(top / folder / "same.txt")


def test_hostile_names_are_recorded_exactly(browse, top, trash):
    name = b"zz\x1b]0;x\x07\n\xff\xe2\x80\xae%41"
    with open(os.path.join(os.fsencode(top), name), "wb") as file:
        file.write(b"x")
    shown = browse.text(top, "--trash", keys="\\zz<enter>dy")
    assert "1 entry moved into the trash" in shown
    assert os.listdir(os.fsencode(trash / "files")) == [name]
    (info,) = os.listdir(trash / "info")
    assert recorded(trash, info.removesuffix(".trashinfo")) == os.path.join(os.fsencode(top), name)


def test_another_file_system_has_its_own_trash(browse, scratch, mount, trash):
    point = mount(mounts.tmpfs, scratch)
    (point / "tree" / "folder").mkdir(parents=True)
    (point / "tree" / "folder" / "file").write_bytes(b"x" * 5000)
    shown = browse.text(point / "tree", "--trash", keys="dy")
    assert "moved into the trash" in shown
    own = point / f".Trash-{os.geteuid()}"
    assert (own / "files" / "folder" / "file").exists() and not (trash / "files").exists()
    # A path in the record of such a trash is relative to the mount point.
    assert recorded(own, "folder") == b"tree/folder"


@pytest.mark.parametrize("how", ["link", "open"])
def test_a_trash_that_is_not_safe(browse, top, scratch, trash, how):
    trash.parent.mkdir(parents=True)
    (scratch / "elsewhere").mkdir()
    if how == "link":
        trash.symlink_to(scratch / "elsewhere")
    else:
        trash.mkdir()
        trash.chmod(0o777)
    shown = browse.text(top, "--trash", keys="dy", size=(200, 24))
    assert "the trash is not a directory of this user alone" in shown
    assert (top / "big" / "one.log").exists() and not list((scratch / "elsewhere").iterdir())


def test_a_swapped_directory(terminal, top, scratch, trash):
    outside = scratch / "outside"
    outside.mkdir()
    (outside / "precious").touch()
    screen = terminal(top, "--trash")
    screen.wait("/big", without=["reading"])
    screen.still()
    (top / "big").rename(scratch / "moved")
    (top / "big").symlink_to(outside)
    screen.press("g", "d")
    screen.wait("y/N")
    screen.press("y")
    screen.wait("could not be")
    screen.press("i")
    screen.wait("Not deleted: is another file than the one shown")
    assert (outside / "precious").exists() and (scratch / "moved" / "one.log").exists()
    assert (top / "big").is_symlink()
    assert not (trash / "files").exists() or not list((trash / "files").iterdir())
