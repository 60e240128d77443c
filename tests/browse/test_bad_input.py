"""Wrong arguments and files: path and reason on standard error, status 2, no screen."""

from __future__ import annotations

import pytest


def refused(done, *parts):
    assert done.status == 2 and done.out == b"", done
    assert b"panicked" not in done.err and done.err.startswith(b"ringwalk: "), done
    assert done.err.count(b"\n") == 1, done
    for part in parts:
        assert part in done.err, (part, done.err)


@pytest.mark.smoke
def test_missing_files(browse, top, scratch):
    missing = scratch / "missing"
    reason = b"No such file or directory"
    refused(browse.run(missing), bytes(missing), reason)
    refused(browse.run(top, "--compare", missing), bytes(missing), reason)
    refused(browse.run(""), reason)


def test_directories_that_cannot_be_read(browse, top, needs_root):
    top.chmod(0o700)
    shown = browse.run(top, keys="5", uid=65534).out.decode()
    assert f"{top}: Permission denied" in shown and "1 error" in shown
    assert "  empty" not in browse.run(top, uid=65534).out.decode()


def test_a_directory_without_any_entry(browse, scratch):
    (scratch / "empty").mkdir()
    shown = browse.text(scratch / "empty")
    assert "empty" in shown and "1 entry" in shown
    assert "no entry under the cursor" in browse.text(scratch / "empty", keys="d")


@pytest.mark.parametrize(
    "content",
    [b"", b"no snapshot", b"PAR1" * 10, b"[1,2,{}]", b"{}", b"[", b"\0" * 5000, b"[1,0,{},[{}]]"],
    ids=["empty", "text", "magic", "ncdu", "object", "cut", "zeros", "name"],
)
def test_files_that_are_no_snapshot(browse, top, scratch, content):
    file = scratch / "file"
    file.write_bytes(content)
    refused(browse.run(file), bytes(file))
    refused(browse.run(top, "--compare", file), bytes(file))


@pytest.fixture
def snapshot(ringwalk, top, scratch):
    ringwalk("snapshot", "-o", scratch / "snap", top).ok()
    return scratch / "snap"


def test_damaged_snapshots(browse, snapshot, scratch):
    whole = snapshot.read_bytes()
    damaged = scratch / "damaged"
    for cut in (1, 4, 12, len(whole) // 2, len(whole) - 5):
        damaged.write_bytes(whole[:-cut])
        refused(browse.run(damaged), bytes(damaged))
        refused(browse.run(snapshot, "--compare", damaged), bytes(damaged))


def test_changed_bytes_are_never_a_crash(browse, snapshot, scratch):
    """A changed byte is an error, or a message on the screen, or a value that was changed."""
    whole = snapshot.read_bytes()
    damaged = scratch / "damaged"
    step = max(1, len(whole) // 40)
    for at in range(4, len(whole), step):
        damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        done = browse.run(damaged, keys="n<enter>1")
        assert done.status in (0, 2) and b"panicked" not in done.err, (at, done)
        if done.status == 2:
            refused(done, bytes(damaged))


def test_nothing_in_common(browse, ringwalk, top, scratch):
    other = scratch / "other"
    other.mkdir()
    ringwalk("snapshot", "-o", scratch / "other.snap", other).ok()
    refused(browse.run(top, "--compare", scratch / "other.snap"), b"other.snap", bytes(top))


@pytest.mark.parametrize(
    "keys", ["<foo>", "<", "<enter", "<>", "<c->", "<c-xy>", "x<f13>", "<\x1b[2J>"]
)
def test_unknown_keys(browse, top, keys):
    done = browse.run(top, keys=keys)
    refused(done)
    assert b"\x1b" not in done.err and b"key" in done.err


def test_keys_without_a_meaning(browse, top):
    assert "Z has no meaning" in browse.text(top, keys="Z")
    assert "stop without a terminal" in browse.text(top, keys="<c-z>")
    assert "shell without a terminal" in browse.text(top, keys="b")


def test_quitting_prints_the_last_screen(browse, top):
    assert browse.lines(top, keys="<down>q<down>") == browse.lines(top, keys="<down>")


@pytest.mark.parametrize(
    "args", [("--trash", "--read-only"), ("--compare",), ("--nonsense",), (".", "..")]
)
def test_wrong_options(browse, args):
    done = browse.ringwalk("browse", "--once", "", *args)
    assert done.status == 2 and done.out == b"" and done.err.startswith(b"ringwalk: ")


def test_a_file_that_is_in_the_way_of_an_export(browse, top, scratch):
    taken = scratch / "taken.json"
    taken.write_text("precious")
    shown = browse.text(top, keys=f"e{taken}<enter>", size=(300, 24))
    assert "cannot export" in shown and "exists" in shown and taken.read_text() == "precious"
    for name in ("no-ending", "wrong.txt", "missing/folder.json"):
        shown = browse.text(top, keys=f"e{scratch / name}<enter>", size=(300, 24))
        assert "exported" not in shown and not (scratch / name).exists()
