"""`diff` and `report` against what was done to a tree, and what `du` and `os.lstat` say."""

import os
import pathlib
import stat

import pytest
import ringwalk
from support import listed


@pytest.fixture
def saved(tmp_path, tree) -> pathlib.Path:
    output = tmp_path / "old.parquet"
    ringwalk.snapshot(tree, output)
    return output


def kinds(diff) -> dict[str, str]:
    return {change.path: change.change for change in diff}


@pytest.mark.smoke
def test_each_kind_of_change(tree, saved, tmp_path):
    before = ringwalk.du(tree).allocated_size
    old_size = os.lstat(tree / "a" / "file5").st_size
    (tree / "new").write_bytes(b"x" * 50_000)
    (tree / "a" / "file5").write_bytes(b"y" * 20_000)
    (tree / "a" / "file6").unlink()
    (tree / "a" / "b").rename(tree / "moved")
    os.link(tree / "a" / "file8", tree / "hard")
    (tree / "link").unlink()
    (tree / "link").symlink_to("empty")
    (tree / "pipe").unlink()
    (tree / "pipe").mkdir()
    os.chmod(os.fsencode(tree) + b"/\xff\xfe.dat", 0o600)
    ringwalk.snapshot(tree, tmp_path / "new.parquet")
    diff = ringwalk.diff(saved, tmp_path / "new.parquet")

    by_path = {change.path: change for change in diff}
    found = kinds(diff)
    link = found.pop("link")
    assert link in ("modified", "replaced"), "its inode number may have been used again"
    assert found == {
        "new": "added",
        "a/file5": "modified",
        "a/file6": "removed",
        "moved": "renamed",
        "hard": "link-added",
        "pipe": "retyped",
        "\udcff\udcfe.dat": "modified",
    }
    assert diff and not diff.same and diff.complete and len(diff) == 8
    assert diff.growth == ringwalk.du(tree).allocated_size - before
    assert diff.growth == sum(change.growth for change in diff)
    growths = [change.growth for change in diff]
    assert growths == sorted(growths, reverse=True)
    assert sum(diff.counts.values()) == 8 and diff.counts["renamed"] == 1
    assert (diff.unread, diff.unknown) == ([], 0)
    assert diff.old == ringwalk.open_snapshot(saved).info and diff.new["roots"] == [str(tree)]

    changed = by_path["a/file5"]
    status = os.lstat(tree / "a" / "file5")
    assert (changed.type, changed.root) == ("f", str(tree))
    assert changed.absolute_path == str(tree / "a" / "file5")
    assert {"size", "mtime"} <= set(changed.changed)
    assert changed.old is not None and changed.new is not None
    assert (changed.old.size, changed.new.size) == (old_size, 20_000)
    assert (changed.new.ino, changed.new.nlink) == (status.st_ino, 1)
    assert (changed.new.uid, changed.new.gid) == (status.st_uid, status.st_gid)
    assert (changed.new.mtime_ns, changed.new.ctime_ns) == (status.st_mtime_ns, status.st_ctime_ns)
    assert changed.new.mode == stat.S_IMODE(status.st_mode)
    assert changed.new.alloc == status.st_blocks * 512
    assert changed.new.row == ringwalk.open_snapshot(tmp_path / "new.parquet").locate(
        tree / "a" / "file5"
    )
    assert (changed.new.rdev, changed.new.target, changed.renamed_from) == (None, None, None)
    assert by_path["new"].old is None and by_path["a/file6"].new is None
    assert by_path["moved"].renamed_from == (str(tree), "a/b")
    assert by_path["hard"].link_to == (str(tree), "a/file8")
    assert os.path.lexists(by_path["\udcff\udcfe.dat"].absolute_path)
    if link == "modified":
        targets = by_path["link"].old.target, by_path["link"].new.target
        assert targets == ("a", "empty")


def test_a_sequence_of_changes(tree, saved):
    for number in range(3):
        (tree / f"new{number}").touch()
    diff = ringwalk.diff(saved, tree)
    paths = [change.path for change in diff]
    assert paths == ["new0", "new1", "new2"]
    assert (diff[0].path, diff[-1].path) == ("new0", "new2")
    for beyond in (3, -4):
        with pytest.raises(IndexError):
            diff[beyond]
    assert repr(diff) == "<ringwalk.Diff: 3 changes, growth 0>"
    assert repr(diff[0]) == f"<ringwalk.Change: added '{tree}/new0', growth 0>"
    assert repr(diff[0].new).endswith(", size 0, alloc 0>")
    assert list(map(str, reversed(diff))) == list(map(str, list(diff)[::-1]))


def test_snapshots_that_are_open_and_directories(tree, saved):
    files = ringwalk.open_snapshot(saved)
    assert ringwalk.diff(files, files).same
    assert not ringwalk.diff(os.fsencode(saved), os.fsencode(tree), workers=1, source="syscall")
    (tree / "empty").rmdir()
    for old, new in ((files, tree), (saved, os.fspath(tree))):
        assert kinds(ringwalk.diff(old, new)) == {"empty": "removed"}
    with pytest.raises(ValueError, match="no snapshot"):
        ringwalk.diff(tree, saved)


def test_without_renames(tree, saved):
    (tree / "a" / "file9").rename(tree / "renamed")
    assert kinds(ringwalk.diff(saved, tree)) == {"renamed": "renamed"}
    without = ringwalk.diff(saved, tree, renames=False)
    assert kinds(without) == {"a/file9": "removed", "renamed": "added"}


def test_groups_of_changes(tree, saved):
    def sizes():
        return {name: ringwalk.du(tree / name).allocated_size for name in ("a", "empty")}

    before, total = sizes(), ringwalk.du(tree).allocated_size
    (tree / "a" / "big.bin").write_bytes(b"x" * 300_000)
    (tree / "empty" / "small.bin").write_bytes(b"x" * 30_000)
    diff = ringwalk.diff(saved, tree)
    after = sizes()
    rows = diff.groups("dir")
    assert [(row["path"], row["entries"]) for row in rows] == [("", 2), ("a", 1), ("empty", 1)]
    assert rows[0]["growth"] == ringwalk.du(tree).allocated_size - total
    for row in rows[1:]:
        assert row["growth"] == after[row["path"]] - before[row["path"]]
    assert [row["path"] for row in diff.groups("dir", depth=0)] == [""]
    assert diff.groups("ext") == [{"ext": "bin", "growth": diff.growth, "entries": 2}]
    owner = diff.groups("owner")
    assert [(row["uid"], row["growth"]) for row in owner] == [(os.geteuid(), diff.growth)]
    with pytest.raises(ValueError, match=r'by="size": expected \'dir\', \'owner\' or \'ext\''):
        diff.groups("size")
    with pytest.raises(ValueError, match="depth needs by='dir'"):
        diff.groups("ext", depth=1)


def test_snapshots_that_cannot_be_compared(tree, saved, tmp_path):
    ringwalk.snapshot(tree / "a", tmp_path / "other")
    with pytest.raises(ValueError, match='the new snapshot has no root "/.*top"'):
        ringwalk.diff(saved, tmp_path / "other")
    for arguments in ((saved, tree / "none"), (tree / "none", saved)):
        with pytest.raises(FileNotFoundError) as raised:
            ringwalk.diff(*arguments)
        assert raised.value.filename == os.fspath(tree / "none")
    for wrong in ({"source": "tape"}, {"workers": 0}):
        with pytest.raises(ValueError, match="tape|workers"):
            ringwalk.diff(saved, tree, **wrong)


@pytest.mark.smoke
def test_a_report_is_what_lstat_says(tree, saved):
    report = ringwalk.report(saved, ["type"])
    assert report["by"] == ["type"] and report["complete"] and report["errors"] == 0
    found = {row["type"]: row["entries"] for row in report["rows"]}
    modes = [status.st_mode for status in listed(tree).values()]
    assert found == {
        "f": sum(map(stat.S_ISREG, modes)),
        "d": sum(map(stat.S_ISDIR, modes)),
        "l": sum(map(stat.S_ISLNK, modes)),
        "p": sum(map(stat.S_ISFIFO, modes)),
    }
    assert report["total"]["alloc"] == ringwalk.du(tree).allocated_size
    assert report["total"]["entries"] == len(modes) and report["others"] is None
    owners = ringwalk.report(saved, by=(key for key in ("owner", "age")))
    assert owners["by"] == ["owner", "age"] and owners == ringwalk.report(saved, "owner,age")
    assert {row["uid"] for row in owners["rows"]} == {os.geteuid()}


def test_a_report_on_a_subtree(tree, saved, monkeypatch):
    expected = ringwalk.du(tree / "a" / "b").allocated_size
    files = ringwalk.open_snapshot(saved)
    monkeypatch.chdir(tree / "a")
    for snapshot in (files, saved, tree):
        for under in (tree / "a" / "b", "b", b"../link/b"):
            report = ringwalk.report(snapshot, by=["ext"], under=under)
            assert (report["total"]["entries"], report["total"]["alloc"]) == (3, expected)
    for missing in (tree / "none", tree.parent):
        with pytest.raises(FileNotFoundError, match="not in the snapshot") as raised:
            ringwalk.report(saved, "ext", under=missing)
        assert raised.value.filename == os.fspath(missing)


def test_the_largest_rows_and_the_others(tree, saved):
    (tree / "empty" / "large").write_bytes(b"x" * 200_000)
    report = ringwalk.report(tree, "dir", top=1, workers=1, source="syscall")
    assert len(report["rows"]) == 1 and report["others"]["groups"] == 2
    whole = ringwalk.report(tree, "dir")
    assert [row["dir"] for row in whole["rows"]][:1] == [row["dir"] for row in report["rows"]]
    assert whole["total"] == report["total"]


@pytest.mark.parametrize("by", ["colour", ["owner", "colour"], ["owner", "owner"], [], ""])
def test_keys_that_are_not_known(saved, by):
    with pytest.raises(ValueError, match=r"unknown key '.*': expected a list of owner, |twice"):
        ringwalk.report(saved, by)
