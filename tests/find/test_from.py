"""`ringwalk find --from`: starting points, what a snapshot cannot answer, and saved errors.

That expressions have the same answers as on the live tree is tested with those expressions: see
`tests/support/saved.py`.
"""

from __future__ import annotations

import os
import shutil

import pytest
from support import saved
from support.find import assert_same, difference
from support.run import NOBODY


@pytest.fixture
def tree_of_links(scratch):
    """A directory with files, a link to one of them, and a link that leads out."""
    top = scratch / "t"
    (top / "d" / "empty").mkdir(parents=True)
    (top / "d" / "file").write_bytes(b"x" * 1000)
    (top / "link").symlink_to("d/file")
    (top / "dir-link").symlink_to("d")
    (top / "out").symlink_to("/etc/passwd")
    return top


@pytest.fixture
def snap(ringwalk, tree_of_links, scratch):
    """A snapshot of that directory, which is gone."""
    path = scratch / "snapshot"
    ringwalk("snapshot", tree_of_links, "-o", path).ok()
    return path


def test_nothing_live_is_looked_at(ringwalk_find, tree_of_links, snap):
    """The tree is gone, and another file is in its place."""
    before = ringwalk_find(tree_of_links, "-ls").ok().lines()
    shutil.rmtree(tree_of_links)
    tree_of_links.write_text("something else")
    got = ringwalk_find("--from", snap, tree_of_links, "-ls").ok()
    assert not difference(before, got.lines())
    targets = ringwalk_find("--from", snap, tree_of_links, "-lname", "d*", "-printf", "%l ").ok()
    assert sorted(targets.out.split()) == [b"d", b"d/file"]
    for depth in ((), ("-depth",)):
        empty = ringwalk_find("--from", snap, tree_of_links, *depth, "-empty").ok()
        assert empty.lines() == [os.fsencode(tree_of_links / "d/empty")]


def test_starting_points(ringwalk_find, tree_of_links, snap):
    top = tree_of_links
    every = ringwalk_find("--from", snap).ok().lines()
    assert sorted(every) == sorted(ringwalk_find("--from", snap, top).ok().lines())
    assert os.fsencode(top) in every
    for point in (".", "d", "./d/", "d/../d", "../t/d", "d/file", "d/.", "../t/", f"{top}/d"):
        assert_same(ringwalk_find.with_args("--from", snap), ringwalk_find, point, cwd=top)
    assert ringwalk_find(f"--from={snap}", top).ok().lines() == every


def test_links_given_as_starting_points(ringwalk_find, tree_of_links, snap):
    program = ringwalk_find.with_args("--from", snap)
    for words in (("link",), ("-H", "link"), ("-H", "dir-link"), ("dir-link/",), ("-P", "out")):
        assert_same(program, ringwalk_find, *words, "-printf", "%p %y %s\\n", cwd=tree_of_links)
    result = program("-H", "out", cwd=tree_of_links)
    assert result.status == 1 and b"not in snapshot" in result.err


def test_a_starting_point_that_is_not_in_the_snapshot(ringwalk_find, tree_of_links, snap):
    result = ringwalk_find("--from", snap, "/etc", tree_of_links / "d", tree_of_links / "new")
    assert result.status == 1
    assert b"/etc" in result.err and b"new" in result.err and b"not in snapshot" in result.err
    assert os.fsencode(tree_of_links / "d/file") in result.lines()
    file = ringwalk_find("--from", snap, f"{tree_of_links}/d/file/")
    assert file.status == 1 and b"Not a directory" in file.err


ARGUMENTS = {"-exec": ("true", ";"), "-execdir": ("true", ";"), "-ok": ("true", ";")}
ARGUMENTS |= {"-okdir": ("true", ";"), "-xtype": ("f",)}


@pytest.mark.parametrize("word", sorted(map(os.fsdecode, saved.REFUSED - {b"-context"})))
def test_words_that_need_the_files(ringwalk_find, snap, word):
    words = [word, *ARGUMENTS.get(word, ())]
    result = ringwalk_find("--from", snap, *words)
    if word == "-L":
        result = ringwalk_find("-L", "--from", snap)
    assert result.status == 1 and result.out == b""
    name = "-L" if word == "-follow" else word
    assert f"`{name}' cannot be used with --from".encode() in result.err


@pytest.mark.parametrize(
    "words",
    (
        ("-atime", "0"),
        ("-amin", "1"),
        ("-used", "1"),
        ("-anewer", "/"),
        ("-printf", "%a"),
        ("-printf", "%AY"),
        ("-newerat", "2020-01-01"),
        ("-false", "-o", "!", "(", "-name", "x", "-atime", "+1", ")"),
    ),
)
def test_times_of_access_that_were_not_saved(ringwalk, ringwalk_find, tree_of_links, snap, words):
    result = ringwalk_find("--from", snap, *words)
    assert result.status == 1 and result.out == b""
    assert b"cannot be used with --from: the snapshot has no times of access" in result.err
    ringwalk("snapshot", tree_of_links, "--atime", "-o", snap).ok()
    assert ringwalk_find("--from", snap, *words).ok()


@pytest.mark.parametrize("form", ("%Y", "%p %Z"))
def test_formats_that_need_the_files(ringwalk_find, snap, form):
    result = ringwalk_find("--from", snap, "-printf", form)
    assert result.status == 1 and b"-printf' cannot be used with --from" in result.err


def test_bad_snapshots(ringwalk_find, scratch, snap):
    assert ringwalk_find("--from").status == 1
    for name in ("missing", "empty", "text"):
        (scratch / "empty").touch()
        (scratch / "text").write_text("a" * 1000)
        result = ringwalk_find("--from", scratch / name)
        assert result.status == 1 and result.out == b"" and name.encode() in result.err
    twice = ringwalk_find("--from", snap, "--from", snap)
    assert twice.status == 1 and b"once" in twice.err
    late = ringwalk_find(".", "--from", snap)
    assert late.status == 1 and b"before the starting points" in late.err


def test_errors_are_saved(ringwalk, find, gnu_find, scratch):
    """What could not be read is reported in the same words and with the same status."""
    top = scratch / "t"
    (top / "closed" / "inner").mkdir(parents=True)
    (top / "listed" / "file").mkdir(parents=True)
    (top / "closed").chmod(0)
    (top / "listed").chmod(0o744)
    scratch.chmod(0o777)
    for words in ((), ("-name", "*e*"), ("-empty",)):
        expected = gnu_find("t", *words, cwd=scratch, uid=NOBODY)
        assert expected.status == 1 or not words
        before = find.saved.compared
        assert_same(find, gnu_find, "t", *words, cwd=scratch, uid=NOBODY)
        assert find.saved.compared == before + 1


def test_owners_have_the_names_that_were_saved(needs_root, ringwalk, ringwalk_find, scratch):
    top = scratch / "t"
    top.mkdir()
    for name, uid in (("ours", 0), ("nobody's", NOBODY), ("unknown", 54321)):
        (top / name).touch()
        os.chown(top / name, uid, uid)
    snap = scratch / "snapshot"
    ringwalk("snapshot", top, "-o", snap).ok()

    def names(*words):
        found = ringwalk_find("--from", snap, "-type", "f", *words, "-printf", "%f ")
        return found.ok().out.split()

    assert names("-user", "root") == [b"ours"]
    assert names("-user", "nobody", "-group", "nogroup") == [b"nobody's"]
    assert names("-nouser") == names("-nogroup") == names("-user", "54321") == [b"unknown"]
    # An account of this system that owns nothing in the snapshot.
    assert names("-user", "daemon") == []
    result = ringwalk_find("--from", snap, "-user", "no-such-user")
    assert result.status == 1 and b"no-such-user" in result.err


def test_damaged_snapshots_never_pass_for_whole(ringwalk_find, scratch, snap):
    whole = snap.read_bytes()
    good = ringwalk_find("--from", snap).ok().out
    bad = scratch / "bad"
    for at in range(0, len(whole), 97):
        bad.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        result = ringwalk_find("--from", bad, "-ls").sane()
        if result.status == 0:
            assert len(result.lines()) == len(good.splitlines()), at


def test_the_tests_take_a_snapshot_anew_after_a_change(find, tree_of_links):
    def taken():
        return find.saved.snapshot([os.fsencode(tree_of_links)], None)

    file = tree_of_links / "d" / "file"
    for change in (
        lambda: file.chmod(0o600),
        lambda: file.write_bytes(b"y" * 1000),
        lambda: os.utime(file, ns=(0, file.stat().st_mtime_ns)),
        lambda: file.rename(file.with_name("renamed")),
    ):
        # Reading a directory that has just changed sets its time of access.
        taken()
        before = taken()
        assert taken() == before
        change()
        assert taken() != before


def test_an_import_has_no_names_and_no_types_of_file_systems(ringwalk, ringwalk_find, scratch):
    """No file of it is known to be root's, or on ext4. So an empty answer would be wrong."""
    (scratch / "top").mkdir()
    for words in (
        ("snapshot", scratch / "top", "-o", scratch / "snap"),
        ("export", scratch / "snap", "--format", "ncdu", "-o", scratch / "file"),
        ("import", scratch / "file", "-o", scratch / "import"),
    ):
        ringwalk(*words).ok()
    names, types = b"has no names of users and groups", b"does not have the types"
    for words, why in (
        (("-user", "root"), names),
        (("-group", "root"), names),
        (("-nouser",), names),
        (("!", "-nogroup"), names),
        (("-fstype", "ext4"), types),
    ):
        result = ringwalk_find("--from", scratch / "import", *words)
        assert (result.status, result.out) == (1, b"") and why in result.err, result
        ringwalk_find("--from", scratch / "snap", *words).ok()
    found = ringwalk_find("--from", scratch / "import", "-user", "0", "-group", "0").ok()
    assert found.out == b"%s\n" % bytes(scratch / "top")
