"""Deletion where the file system does not keep what names a file."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest
from support import mounts

WIDE = (160, 30)
FIND = "\\file<enter>"


@contextlib.contextmanager
def birthless(work: Path):
    """Gives an ext4 with inodes of 128 bytes, which have no time of birth."""
    work.mkdir()
    with open(work / "img", "wb") as handle:
        handle.truncate(64 << 20)
    mounts.call("mkfs.ext4", "-q", "-I", "128", work / "img")
    with mounts.mounted(work / "ext4", "-o", "loop", work / "img") as point:
        yield point


@contextlib.contextmanager
def birthless_fuse(work: Path):
    """Gives a FUSE file system above it."""
    with birthless(work) as point, mounts.fuse(work) as fuse:
        mounts.unmount(fuse)
        mounts.call("bindfs", "-o", "attr_timeout=0,entry_timeout=0", point, fuse)
        yield fuse


def age(file: Path) -> None:
    """Waits until another change of the file would show, where times have whole seconds."""
    while time.time() < file.stat().st_ctime + 3:
        time.sleep(0.1)


def replace(file: Path) -> None:
    """Removes a file, and creates another one with its name and inode number."""
    before = file.stat().st_ino
    file.unlink()
    file.write_bytes(b"never shown")
    assert file.stat().st_ino == before


@pytest.mark.parametrize("kind", [birthless, birthless_fuse])
def test_another_file_with_the_inode_number(browse, terminal, scratch, mount, ringwalk, kind):
    """A file that was never shown was deleted where there are no times of birth."""
    top = mount(kind, scratch / "mounted")
    file = top / "file"
    file.write_bytes(b"first shown")
    ringwalk("snapshot", "-o", scratch / "snap", top).ok()
    screen = terminal(top)
    screen.wait("file", without=["reading"])
    screen.still()
    replace(file)
    shown = browse.text(scratch / "snap", keys=FIND + "d", size=WIDE)
    # It depends on whether the snapshot was taken in the second of the change.
    reasons = ("does not know which file it was", "it has changed, and may be another file")
    assert any(reason in shown for reason in reasons) and "y/N" not in shown
    screen.press("\\", "f", "i", "l", "e", "Enter", "d")
    screen.wait("y/N")
    screen.press("y")
    screen.wait("has changed since it was shown")
    assert file.read_bytes() == b"never shown"


@pytest.mark.parametrize(
    ("kind", "saved"), [(birthless, False), (birthless, True), (birthless_fuse, False)]
)
def test_an_unchanged_file_and_a_changed_directory(browse, scratch, mount, ringwalk, kind, saved):
    top = mount(kind, scratch / "mounted")
    for name in ("file", "one", "two"):
        (top / "d").mkdir(exist_ok=True)
        (top / "d" / name).write_bytes(b"shown")
    (top / "d" / "link").hardlink_to(top / "d" / "file")
    age(top / "d" / "file")
    ringwalk("snapshot", "-o", scratch / "snap", top).ok()
    tree = scratch / "snap" if saved else top
    shown = browse.text(tree, keys="\\d<enter><enter>\\file<enter>dy", size=WIDE)
    assert "1 entry deleted" in shown and not (top / "d" / "file").exists()
    # The directory has changed by that, and the other link. All of it is deleted as shown now.
    age(top / "d" / "link")
    shown = browse.text(top, keys="\\d<enter>dy", size=WIDE)
    assert "4 entries deleted" in shown and not (top / "d").exists()


@pytest.mark.parametrize("options", [(), ("--trash",)])
@pytest.mark.parametrize("saved", [False, True])
def test_a_file_of_a_lower_layer(browse, scratch, mount, ringwalk, options, saved):
    """The renaming of the trash copies the file up, which gives it another time of birth."""
    top = mount(mounts.overlay, scratch / "mounted")
    ringwalk("snapshot", "-o", scratch / "snap", top).ok()
    tree = scratch / "snap" if saved else top
    keys = "\\below<enter><enter>\\file<enter>dy"
    shown = browse.text(*options, tree, keys=keys, size=WIDE)
    assert "1 entry " in shown and not (top / "below" / "file").exists()
