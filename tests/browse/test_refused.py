"""What is never deleted: mount points, other file systems, snapshots, what may not be removed."""

from __future__ import annotations

import pytest
from support import mounts
from support.run import USER


def test_read_only(browse, top):
    for keys in ("dy", " dy", "vdy", "<del>y", "M-name six.txt<enter>dy"):
        shown = browse.text(top, "--read-only", keys=keys.removesuffix("y"))
        assert "cannot delete: nothing is deleted with --read-only" in shown
        browse.run(top, "--read-only", keys=keys).ok()
    assert len(list(top.rglob("*"))) == 9 and not browse.log.exists()


def test_a_snapshot_read_only(browse, ringwalk, top, scratch):
    ringwalk("snapshot", "-o", scratch / "snap", top).ok()
    shown = browse.text(scratch / "snap", "--read-only", keys="vd")
    assert "cannot delete: nothing is deleted with --read-only" in shown
    browse.run(scratch / "snap", "--read-only", keys="vdy").ok()
    assert len(list(top.rglob("*"))) == 9 and (scratch / "snap").exists()


@pytest.fixture
def mounted(top, mount):
    """A tmpfs in a directory of the tree."""
    (top / "holds").mkdir()
    (top / "holds" / "plain").write_bytes(b"x" * 5000)
    point = mount(mounts.tmpfs, top / "holds")
    (point / "below").mkdir()
    (point / "below" / "file").write_bytes(b"x" * 3_000_000)
    return point


def test_a_mount_point(browse, top, mounted):
    keys = "\\holds<enter><enter>\\tmpfs<enter>d"
    shown = browse.text(top, keys=keys, size=(120, 24))
    assert "refused" in shown and "y/N" not in shown
    assert "is a mount point" in shown or "on another file system" in shown
    assert "frees 2.9M" not in shown


def test_a_mount_point_stays(browse, top, mounted):
    keys = "\\holds<enter><enter>\\tmpfs<enter>d"
    assert "mount point" in browse.text(top, keys=keys, size=(120, 24))
    browse.text(top, keys=f"{keys}y", size=(120, 24))
    assert (mounted / "below" / "file").exists()


def test_what_is_on_another_file_system(browse, top, mounted):
    for name in ("below", "below<enter><enter>\\file"):
        keys = f"\\holds<enter><enter>\\tmpfs<enter><enter>\\{name}<enter>dy"
        shown = browse.text(top, keys=keys, size=(120, 24))
        assert "another file system" in shown or "mount point" in shown, shown
    assert (mounted / "below" / "file").exists()


@pytest.mark.parametrize("options", [(), ("-x",), ("--trash",)])
def test_a_directory_that_holds_a_mount_point(browse, top, mounted, options):
    shown = browse.text(top, *options, keys="\\holds<enter>dy", size=(160, 24))
    assert (mounted / "below" / "file").exists()
    kept = ("contains a mount point", "contains entries that were kept", "is a mount point")
    assert any(reason in shown for reason in kept), shown
    # In the trash a directory is whole; so all of it stays.
    assert (top / "holds" / "plain").exists() == ("--trash" in options)


def test_the_question_does_not_promise_what_is_mounted(browse, top, mounted):
    """What is on another file system stays, so it is not freed."""
    shown = browse.text(top, keys="\\holds<enter>d", size=(120, 24))
    assert "frees 2.9M" not in shown, shown
    assert browse.bytes(top, name="holds")["Freeable"] < 100_000


def test_what_is_allowed_goes_and_what_is_refused_stays(browse, top, mounted):
    keys = "\\six<enter> \\holds<enter><enter>\\tmpfs<enter> "
    shown = browse.text(top, keys=f"{keys}d", size=(120, 24))
    assert "refused" in shown and "1 entry" in shown and "y/N" in shown


def test_a_marked_mount_point_does_not_stop_the_others(browse, top, mounted):
    keys = "\\six<enter> \\holds<enter><enter>\\tmpfs<enter> "
    browse.run(top, keys=f"{keys}dy").ok()
    assert not (top / "six.txt").exists() and (mounted / "below" / "file").exists()


def test_a_bind_mount_of_the_same_file_system(browse, top, mount):
    """It has the same device number. Only the mount id says that it is mounted."""
    (top / "bound").mkdir()
    mount(mounts.mounted, top / "bound", "--bind", top / "big")
    shown = browse.text(top, keys="\\bound<enter>dy", size=(120, 24))
    assert "mount point" in shown or "another file system" in shown, shown
    assert (top / "big" / "one.log").exists()


def test_a_file_that_is_a_mount_point(browse, top, scratch, mount):
    (scratch / "hosts").write_bytes(b"mounted")
    mount(mounts.mounted, top / "six.txt", "--bind", scratch / "hosts")
    shown = browse.text(top, keys="\\six<enter>dy", size=(120, 24))
    assert "mount point" in shown or "another file system" in shown, shown
    assert (top / "six.txt").read_bytes() == b"mounted"


def test_other_file_systems_are_not_read_with_x(browse, top, mounted):
    assert browse.bytes(top, name="holds")["Allocated"] > 3_000_000
    assert browse.bytes(top, "-x", name="holds")["Allocated"] < 100_000
    shown = browse.lines(top, "-x", keys="\\holds<enter><enter>")
    assert any(line.startswith(" >") and line.endswith("/tmpfs") for line in shown)


def test_the_top_has_no_line_of_its_own(browse, top):
    """So it cannot be marked or deleted, and marks of everything do not hold it."""
    shown = browse.text(top, keys="vdy")
    assert "9 entries deleted" in shown
    assert top.is_dir() and not list(top.iterdir())
    assert "there is no entry under the cursor" in browse.text(top, keys="d")


def test_kept_entries_stay_with_their_reason(browse, top):
    """As a user who may not write in a directory."""
    if USER is None:
        (top / "big" / "deep").chmod(0o555)
    browse.home.chmod(0o777)
    (top / "big").chmod(0o777)
    top.chmod(0o777)
    done = browse.run(top, keys="gdy<enter>", uid=USER, size=(120, 24)).ok()
    shown = done.out.decode().split("\n")
    # `deep` belongs to another user, so its file stays, and so do the directories above.
    assert (top / "big" / "deep" / "three.o").exists()
    assert not (top / "big" / "one.log").exists()
    assert any(line.startswith(" X") and line.endswith("/deep") for line in shown), shown
    assert "contains entries that were kept" in "\n".join(shown)
    done = browse.run(top, keys="g<enter><enter>dy", uid=USER, size=(120, 24)).ok()
    shown = done.out.decode().split("\n")
    assert any(line.startswith(" X") and line.endswith("three.o") for line in shown), shown
    assert "cannot remove: Permission denied" in "\n".join(shown)
    kept = [line for line in browse.logged() if line["event"] == "kept"]
    assert {line["path"].removeprefix(str(top)) for line in kept} >= {"/big/deep/three.o"}
    assert any("Permission denied" in line["reason"] for line in kept)
