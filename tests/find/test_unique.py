"""Files reported once: -unique."""

from __future__ import annotations

import os

import pytest
from support import mounts


@pytest.mark.parametrize("workers", ("1", "4"))
def test_unique(find, scratch, workers):
    """A file with several names is reported once; with -L the target of links, too."""
    env = {"RINGWALK_WORKERS": workers}
    (scratch / "t" / "d").mkdir(parents=True)
    (scratch / "t" / "one").write_bytes(b"1")
    for name in ("two", "d/three"):
        os.link(scratch / "t" / "one", scratch / "t" / name)
    (scratch / "t" / "link").symlink_to("one")
    (scratch / "t" / "dirlink").symlink_to("d")
    (scratch / "t" / "other").touch()
    options = {"cwd": scratch, "env": env}

    def kinds(*args):
        return sorted(find(*args, "-printf", "%i\\n", **options).ok().lines())

    inodes = kinds("t")
    assert kinds("t", "-unique") == sorted(set(inodes)) and len(inodes) == 8
    assert kinds("-L", "t", "-unique") == sorted(set(kinds("-L", "t")))
    assert kinds("t", "t", "-unique") == sorted(set(inodes))
    assert len(find("-L", "t", "-unique", **options).ok().lines()) == 4
    # -unique has seen a file that a later predicate rejects, so the file does not come again.
    assert len(find("t", "-unique", "-type", "f", **options).ok().lines()) == 2


def test_unique_ends_loops(find, scratch):
    (scratch / "t" / "d").mkdir(parents=True)
    (scratch / "t" / "d" / "up").symlink_to("..")
    (scratch / "t" / "d" / "twice").symlink_to(".")
    result = find("-L", "t", "-unique", cwd=scratch)
    assert sorted(result.lines()) == [b"t", b"t/d"]


def test_unique_where_two_files_have_one_inode_number(find, ringwalk, mount, scratch):
    """The second file was taken for a name of the first, and was never reported."""
    top = mount(mounts.two_below_one, scratch / "work")
    names = [top / half / half for half in ("1", "2")]
    for name in names:
        name.write_text("x")
    assert len({name.stat().st_ino for name in names}) == 1
    found = sorted(os.fsencode(name) for name in names)
    assert sorted(find(top, "-unique", "-name", "[12]", "-type", "f").ok().lines()) == found
    ringwalk("snapshot", top, "-o", scratch / "saved").ok()
    saved = find("--from", scratch / "saved", top, "-unique", "-name", "[12]", "-type", "f")
    assert sorted(saved.ok().lines()) == found
