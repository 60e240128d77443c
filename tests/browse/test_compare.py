"""Growth since an older snapshot."""

from __future__ import annotations

import os
import shutil

import pytest
from support.browse import names


@pytest.fixture
def older(ringwalk, top, scratch):
    """A snapshot. Then a file grows, one shrinks, one comes and one goes."""
    snapshot = scratch / "older.parquet"
    ringwalk("snapshot", "-o", snapshot, top).ok()
    with open(top / "small" / "four.o", "ab") as file:
        file.write(b"x" * 3_000_000)
    (top / "new").mkdir()
    (top / "new" / "file").write_bytes(b"x" * 1_000_000)
    (top / "six.txt").unlink()
    (top / "big" / "one.log").write_bytes(b"x" * 100_000)
    return snapshot


def allocated(ringwalk, path):
    return int(ringwalk("du", "-s", "-B1", path).ok().out.split()[0])


@pytest.mark.smoke
def test_growth(browse, ringwalk, top, older):
    keys = ["--compare", older]
    growth = {name: browse.details(top, *keys, name=name) for name in ("small", "new", "big")}
    numbers = {name: int(shown["Growth"].split()[0]) for name, shown in growth.items()}
    assert 2_990_000 < numbers["small"] < 3_010_000
    assert numbers["new"] == allocated(ringwalk, top / "new")
    assert -810_000 < numbers["big"] < -790_000
    shown = browse.lines(top, *keys, keys="w")
    assert names(shown)[:3] == ["/small", "/new", "/big"] or names(shown)[-1] == "six.txt"
    assert "growth" in shown[2] and "by growth" in shown[0]
    assert any("+2.9M" in line and line.endswith("/small") for line in shown)
    assert any("-780K" in line and line.endswith("/big") for line in shown)


def test_what_has_gone_is_listed(browse, top, older):
    shown = browse.lines(top, "--compare", older)
    (line,) = [line for line in shown if line.endswith("six.txt")]
    assert line.startswith(" -") and "-100K" in line
    # It is no entry: it cannot be opened, marked or deleted.
    for key in ("d", " ", "<enter>", "i", "r"):
        after = browse.text(top, "--compare", older, keys=f"G{key}")
        assert "no entry under the cursor" in after, key


def test_the_growth_of_entries_adds_up(browse, ringwalk, top, older, scratch):
    newer = scratch / "newer.parquet"
    ringwalk("snapshot", "-o", newer, top).ok()
    for tree in (top, newer):
        grown = [
            int(browse.details(tree, "--compare", older, name=name)["Growth"].split()[0])
            for name in ("small", "new", "big")
        ]
        departed = next(line for line in browse.lines(tree, "--compare", older) if " -" in line[:2])
        assert "-100K" in departed
        whole = browse.details(top.parent, "--compare", older, name="top")
        assert abs(sum(grown) - 100 * 1024 - int(whole["Growth"].split()[0])) <= 4096


def test_a_subtree_of_the_older_snapshot(browse, top, older):
    """The names are found by their paths."""
    whole = browse.details(top, "--compare", older, name="four.o", keys="\\small<enter><enter>")
    below = browse.details(top / "small", "--compare", older, name="four.o")
    assert whole["Growth"] == below["Growth"]


def test_files_of_ncdu_can_be_compared(browse, top, scratch, older):
    export = scratch / "older.json"
    assert "exported" in browse.text(older, keys=f"e{export}<enter>", size=(300, 24))
    small = browse.details(top, "--compare", export, name="small")
    assert small["Growth"] == browse.details(top, "--compare", older, name="small")["Growth"]


def test_nothing_has_changed(browse, ringwalk, top, scratch):
    ringwalk("snapshot", "-o", scratch / "same", top).ok()
    for name in ("big", "small", "six.txt"):
        growth = browse.details(top, "--compare", scratch / "same", name=name)["Growth"]
        assert growth.split()[0] == "0"


def test_a_further_name_of_a_hard_link_has_not_grown(browse, ringwalk, top, scratch):
    os.link(top / "big" / "one.log", top / "big" / "two-names.log")
    ringwalk("snapshot", "-o", scratch / "same", top).ok()
    keys = "\\big<enter><enter>"
    for name in ("one.log", "two-names.log"):
        details = browse.details(top, "--compare", scratch / "same", name=name, keys=keys)
        assert details["Growth"].split()[0] == "0", details


def test_deleted_entries_do_not_come_back_as_gone(browse, top, older):
    """What the browser deletes was there in the older snapshot, and is shown as gone."""
    shown = browse.lines(top, "--compare", older, keys="\\big<enter>dy")
    assert not (top / "big").exists()
    assert [line for line in shown if line.startswith(" -") and line.endswith("big")], shown


def test_growth_needs_an_older_snapshot(browse, top):
    assert "cannot sort by growth" in browse.text(top, keys="w")
    assert "--compare" in browse.text(top, keys="w")


def test_another_place_with_the_same_names(browse, top, older, scratch):
    """Paths decide, not names: a copy elsewhere has nothing in common."""
    shutil.copytree(top, scratch / "copy")
    done = browse.run(scratch / "copy", "--compare", older)
    assert done.status == 2 and done.out == b""
    assert b"older.parquet" in done.err and b"copy" in done.err
