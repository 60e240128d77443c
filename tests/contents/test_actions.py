"""`ringwalk dupes --do`: what is done with copies, and what is never changed."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from support import mounts, strace
from support.copies import expected
from support.halted import halted
from support.run import NOBODY, Program
from support.terminal import converse

MIB = 1 << 20
ACTIONS = ("hardlink", "delete", "trash")


def log(home):
    lines = (home / "state" / "ringwalk" / "deletions.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def top(scratch):
    return fill(scratch / "top")


def fill(top):
    """Makes two groups, of three and two files, and files that are like no other."""
    for folder in ("a", "b"):
        (top / folder).mkdir(parents=True)
    for number, name in enumerate(("a/one", "b/two", "b/three")):
        (top / name).write_bytes(b"x" * 5000)
        os.utime(top / name, (1000 + number, 1000 + number))
    for number, name in enumerate(("b/big", "a/big")):
        (top / name).write_bytes(b"y" * 3 * MIB)
        os.utime(top / name, (2000 + number, 2000 + number))
    (top / "a" / "alone").write_bytes(b"z" * 5000)
    (top / "a" / "empty").touch()
    (top / "b" / "empty").touch()
    return top


# The copies that are not kept.
OTHERS = ("b/two", "b/three", "a/big")


def state(top):
    """Returns what is known of all files but their times of access."""
    files = {}
    for path in sorted(top.rglob("*")):
        about = path.lstat()
        if path.is_file():
            links = (about.st_ino, about.st_nlink, about.st_mode, about.st_uid, about.st_gid)
            files[path] = (*links, about.st_mtime_ns, about.st_ctime_ns, path.read_bytes())
    return files


def contents(top):
    return {
        str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("action", (*ACTIONS, "dedupe"))
def test_a_dry_run_changes_nothing(act, top, home, action):
    before = state(top)
    result = act("--do", action, "--dry-run", top)
    assert b"frees" in result.err
    assert state(top) == before and not home.exists()
    assert act("--do", action, "--dry-run", top).out == act(top).out
    # Where no files share blocks, it says so.
    assert result.status == 0 or action == "dedupe"
    kept = result.err.count(b" would be kept: files cannot share blocks")
    assert (result.status, kept) in ((0, 0), (1, 3))


def test_a_dry_run_says_what_would_be_kept(act, top, needs_root):
    os.chown(top / "b" / "two", NOBODY, -1)
    before = state(top)
    result = act("--do=hardlink", "--dry-run", top)
    assert result.status == 1
    text = "'%s' would be kept: has another owner or group than the file to keep\n"
    assert (text % (top / "b" / "two")).encode() in result.err
    assert b"2 names are to become hard links" in result.err
    assert state(top) == before


@pytest.mark.smoke
def test_copies_are_deleted(act, top, home):
    before = contents(top)
    result = act("--do=delete", top)
    assert result.status == 0, result
    assert b"3 names are to be deleted, which frees 3.1M\n" in result.err
    assert b"3 names done, 3.1M freed, 0 kept\n" in result.err
    assert contents(top) == {name: data for name, data in before.items() if name not in OTHERS}
    begins, ends = [], []
    for line in log(home):
        assert line["action"] == "delete" if line["event"] == "begin" else True
        (begins if line["event"] == "begin" else ends).append(line["path"])
    assert sorted(begins) == sorted(ends) == sorted(str(top / name) for name in OTHERS)
    # Nothing is left to do.
    result = act("--do=delete", top)
    assert result.status == 0 and b"0 names" in result.err


@pytest.mark.parametrize("action", ("trash", "delete"))
def test_a_copy_in_the_trash_is_never_the_one_to_keep(act, top, home, action):
    """It is older, and its path comes first. Who empties the trash keeps the other one."""
    for trash in (top / ".Trash-0", top / ".Trash" / "0", top / ".local" / "share" / "Trash"):
        (trash / "files" / "folder").mkdir(parents=True)
        (trash / "files" / "folder" / "alone").write_bytes(b"z" * 5000)
        os.utime(trash / "files" / "folder" / "alone", (500, 500))
    result = act(f"--do={action}", top)
    assert result.status == 0, result
    assert (top / "a" / "alone").read_bytes() == b"z" * 5000
    # What is in the trash stays there, or was deleted.
    left = [path for path in top.rglob("alone") if path != top / "a" / "alone"]
    assert len(left) == (3 if action == "trash" else 0)
    result = act(f"--do={action}", top)
    assert result.status == 0 and b"0 names" in result.err


@pytest.mark.parametrize("given", ("files", "files/folder", ""))
def test_a_root_in_the_trash_is_one(act, hashing, top, scratch, given):
    """Whatever its name: also as a symbolic link, and if a snapshot has what is in it."""
    trash = scratch / ".Trash" / "1000"
    (trash / "files" / "folder").mkdir(parents=True)
    (trash / "files" / "folder" / "alone").write_bytes(b"z" * 5000)
    os.utime(trash / "files" / "folder" / "alone", (500, 500))
    snapshot = scratch / "snapshot"
    hashing("--all", trash, "--save", snapshot).ok()
    (scratch / "link").symlink_to(trash / given)
    result = act("--do=delete", "link", "top", snapshot, cwd=scratch)
    assert result.status == 0, result
    assert (top / "a" / "alone").exists()
    assert not (trash / "files" / "folder" / "alone").exists()


def test_other_directories_with_the_names_of_a_trash(act, top):
    for name in ("Trash", ".Trash-x/files", "files", "1000/files"):
        (top / name).mkdir(parents=True)
        (top / name / "alone").write_bytes(b"z" * 5000)
        os.utime(top / name / "alone", (0, 1000 if name == "Trash" else 2000))
    assert act("--do=delete", top).status == 0
    assert [path.parent for path in top.rglob("alone")] == [top / "Trash"]


@pytest.mark.parametrize("kind", ("btrfs", "xfs"))
@pytest.mark.parametrize("action", ("delete", "dedupe"))
def test_copies_that_share_blocks_with_each_other_only(act, mount, scratch, kind, action):
    """What is freed with the last of them is not known before."""
    point = mount(mounts.filesystem, kind, scratch)
    (point / "a").write_bytes(b"x" * MIB)
    (point / "c").write_bytes(b"x" * MIB)
    subprocess.run(["cp", "--reflink=always", point / "c", point / "d"], check=True)
    os.utime(point / "a", (1000, 1000))
    subprocess.run(["sync", "-f", point], check=True)
    result = act(f"--do={action}", point)
    assert result.status == 0, result
    assert b"which frees at least 0: 2 files may share blocks with other files\n" in result.err
    assert b" done, at least " in result.err


def test_it_is_not_known_which_blocks_are_shared(act, mount, scratch):
    """FUSE does not report it, so all blocks are counted."""
    point = mount(mounts.fuse, scratch)
    disk = mount(mounts.filesystem, "btrfs", scratch)
    for top in (point, disk):
        (top / "a").write_bytes(b"x" * MIB)
        (top / "b").write_bytes(b"x" * MIB)
    subprocess.run(["sync", "-f", disk], check=True)
    result = act("--do=delete", point)
    assert result.status == 0, result
    reason = b"it is not known which blocks of 1 file are shared\n"
    assert b"1 name is to be deleted, which frees at most 1.0M: " + reason in result.err
    assert b"1 name done, at most 1.0M freed, 0 kept\n" in result.err
    (point / "a").unlink(missing_ok=True)
    (point / "b").write_bytes(b"x" * MIB)
    os.utime(disk / "a", (1000, 1000))
    subprocess.run(["cp", "--reflink=always", disk / "b", disk / "c"], check=True)
    subprocess.run(["sync", "-f", disk], check=True)
    result = act("--do=delete", point, disk)
    assert result.status == 0, result
    assert b"frees about 1.0M: 2 files may share blocks with other files, and " + reason in (
        result.err
    )
    assert b"3 names done, about " in result.err


def test_copies_become_hard_links(act, top):
    before = contents(top)
    result = act("--do=hardlink", top)
    assert result.status == 0, result
    assert contents(top) == before
    assert os.path.samefile(top / "a/one", top / "b/two")
    assert os.stat(top / "a/one").st_nlink == 3 and os.stat(top / "b/big").st_nlink == 2
    assert os.stat(top / "a/one").st_mtime == 1000
    assert os.stat(top / "a/empty").st_nlink == 1 == os.stat(top / "a/alone").st_nlink
    assert act(top).ok().lines()[-1].startswith(b"0 groups")


def test_copies_go_to_the_trash(act, top, home):
    before = contents(top)
    result = act("--do=trash", top)
    assert result.status == 0, result
    assert contents(top) == {name: data for name, data in before.items() if name not in OTHERS}
    trash = home / "data" / "Trash"
    assert sorted(os.listdir(trash / "files")) == ["big", "three", "two"]
    assert (trash / "files" / "big").read_bytes() == b"y" * 3 * MIB
    assert f"Path={top}/a/big\n" in (trash / "info" / "big.trashinfo").read_text()


@pytest.mark.parametrize("kind", ("btrfs", "xfs"))
def test_blocks_are_shared(act, mount, scratch, kind):
    point = mount(mounts.filesystem, kind, scratch)
    top = fill(point / "top")
    before = contents(top)
    links = {path: path.stat().st_ino for path in top.rglob("*")}
    result = act("--do=dedupe", top)
    assert result.status == 0 and b"3 files are to share blocks" in result.err, result
    assert contents(top) == before
    assert {path: path.stat().st_ino for path in top.rglob("*")} == links
    assert os.stat(top / "b/two").st_mtime == 1001
    subprocess.run(["sync", "-f", point], check=True)
    groups = json.loads(act("--format=json", top).ok().out)["groups"]
    big = next(group for group in groups if group["size"] == 3 * MIB)
    assert big["freeable"] == 0 and big["hash"] is None
    assert big["files"][1]["shares_with"] == str(top / "b/big")
    # What is shared is not done again.
    again = act("--do=dedupe", top)
    assert again.status == 0 and b"0 files are to share blocks" in again.err, again


def test_no_blocks_are_shared_elsewhere(act, mount, scratch):
    point = mount(mounts.tmpfs, scratch)
    top = fill(point / "top")
    before = state(top)
    result = act("--do=dedupe", top)
    assert b"0 files are to share blocks" in result.err
    assert state(top) == before


@pytest.mark.parametrize("action", (*ACTIONS, "dedupe"))
def test_nothing_is_changed_without_openat2(act, top, scratch, action):
    before = state(top)
    words = strace.injecting(scratch, "openat2", "error=ENOSYS")
    result = Program(*words, *act.first, env=act.env)("--do", action, top)
    assert result.status == 1 and b"was kept: the file to keep: " in result.err
    assert b"openat2 fails" in result.err and b"0 names done" in result.err
    assert state(top) == before


@pytest.mark.parametrize("action", ACTIONS)
def test_files_of_a_reference_are_never_changed(act, top, scratch, action):
    """Not even copies of each other."""
    reference = scratch / "reference"
    reference.mkdir()
    for name in ("r1", "r2"):
        (reference / name).write_bytes(b"x" * 5000)
    before = state(reference)
    act("--do", action, top, "--keep-in", reference)
    after = state(reference)
    # A hard link changes the number of links and the time of change of the kept file.
    ino, data = 0, -1
    assert list(after) == list(before)
    for path, known in before.items():
        assert (after[path][ino], after[path][data]) == (known[ino], known[data])
    # Copies outside are changed; groups without a reference are not.
    if action != "hardlink":
        assert after == before
        assert not any((top / name).exists() for name in ("a/one", "b/two", "b/three"))
    assert (top / "a/big").exists() and os.stat(top / "a/big").st_nlink == 1


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("roots", ("twice", "link", "bind", "reference"))
def test_one_copy_stays(act, top, scratch, mount, action, roots):
    """However often the same files are shown to the search."""
    before = set(contents(top).values())
    (scratch / "link").symlink_to("top")
    if roots == "bind":
        mount(mounts.bind, top, scratch / "bind")
    words = {
        "twice": [top, f"{top}/", top / "a"],
        "link": [top, scratch / "link"],
        "bind": [top, scratch / "bind"],
        "reference": [top, "--keep-in", top / "a", "--keep-in", top],
    }[roots]
    act("--do", action, *words)
    # The mounted directory has a trash of its own.
    assert before <= set(contents(top).values())


@pytest.mark.parametrize("action", ACTIONS)
def test_a_file_that_a_program_edits_is_kept(act, top, action):
    with open(top / "a/big", "r+b") as file:
        file.write(b"yy")
        file.flush()
        result = act("--do", action, top)
        assert (top / "a/big").read_bytes() == b"y" * 3 * MIB
        file.write(b"new")
    assert result.status == 1, result
    assert f"'{top}/a/big' was kept: is open for writing\n" in result.err.decode()
    assert (top / "a/big").read_bytes().startswith(b"yynew")
    assert os.stat(top / "a/big").st_nlink == 1
    assert (top / "b/big").exists()


def test_a_file_that_changes_between_search_and_action(act, top):
    """The files to keep are replaced when the first copy has been moved aside."""
    words = [*act.first, "--do=delete", "--workers", "1", top]
    with halted(words, "renameat,renameat2", 1, env=act.env) as program:
        # To open one of them for writing would wait for the lease of the program that is stopped.
        for name in ("b/big", "a/one"):
            (top / "new").write_bytes(b"other")
            (top / "new").rename(top / name)
        result = program.finish()
    assert b"panicked" not in result.err and result.status in (0, 1), result
    # No copy was removed, since the file to keep was no longer there.
    assert result.status == 1 and result.err.count(b"was kept: the file to keep") == 3, result
    data = list(contents(top).values())
    assert data.count(b"x" * 5000) == 2 and data.count(b"y" * 3 * MIB) == 1
    assert not [name for name in contents(top) if "ringwalk" in name], contents(top).keys()


def test_a_question_at_a_terminal(act, top):
    command = [*act.first, top, "--do=delete"]
    before = state(top)
    for answer in (b"n", b"", b"no", b"x"):
        status, shown = converse(command, [answer], prompt=b"[y/N] ", env=act.env)
        assert status == 0 and b"nothing was changed" in shown, shown
        assert b"3 names are to be deleted" in shown
        assert state(top) == before
    status, shown = converse(command, [], prompt=b"[y/N] ", env=act.env)
    assert status == 0 and state(top) == before
    status, shown = converse(command, [b"y"], prompt=b"[y/N] ", env=act.env)
    assert status == 0 and b"3 names done" in shown, shown
    assert not any((top / name).exists() for name in OTHERS)


def test_no_question_if_there_is_nothing_to_do(act, scratch):
    (scratch / "top").mkdir()
    status, shown = converse([*act.first, scratch / "top", "--do=delete"], [], env=act.env)
    assert status == 0 and b"?" not in shown


def test_nothing_is_done_without_a_log(act, top, scratch):
    (scratch / "file").touch()
    before = state(top)
    result = act("--do=delete", top, env={"XDG_STATE_HOME": str(scratch / "file")})
    assert result.status == 2 and state(top) == before, result


def test_links_to_files_of_others_are_refused(act, top, needs_root):
    os.chown(top / "b/two", 12345, 12345)
    (top / "b/three").chmod(0o600)
    result = act("--do=hardlink", top)
    assert result.status == 1
    assert f"'{top}/b/two' was kept: has another owner".encode() in result.err
    assert f"'{top}/b/three' was kept: has other permissions".encode() in result.err
    assert os.stat(top / "b/two").st_uid == 12345 and os.stat(top / "b/two").st_nlink == 1


def test_a_user_who_may_not_write(act, top, scratch, needs_root):
    (scratch / "home").mkdir()
    os.chown(scratch / "home", 65534, 65534)
    before = state(top)
    result = act("--do=delete", top, uid=65534)
    assert result.status == 1 and result.err.count(b"Permission denied") == 3, result
    assert state(top) == before


def test_hard_links_are_removed_with_all_names(act, top):
    os.link(top / "b/two", top / "a/link of two")
    result = act("--do=delete", top)
    assert result.status == 0 and b"4 names done" in result.err, result
    assert not (top / "a/link of two").exists() and (top / "a/one").exists()


def test_odd_names(act, scratch):
    top = scratch / "odd"
    top.mkdir()
    for name in (b"a", b"-rf", b"new\nline", b"\xff\\", b" ", b"*"):
        with open(os.path.join(os.fsencode(top), name), "wb") as file:
            file.write(b"same")
    os.utime(top / "a", (1000, 1000))
    result = act("--do=delete", ".", cwd=top)
    assert result.status == 0, result
    assert os.listdir(top) == ["a"]


def test_rows_of_snapshots_are_not_changed(act, ringwalk, top, scratch):
    """Nor do they count as the copy that stays."""
    snapshot = scratch / "snapshot"
    ringwalk("hash", top, "--save", snapshot).ok()
    (scratch / "moved").mkdir()
    os.rename(top / "a", scratch / "moved" / "a")
    before = contents(scratch / "moved")
    result = act("--do=delete", snapshot, scratch / "moved")
    assert result.status == 0, result
    assert contents(scratch / "moved") == before


def test_an_output_is_written_before(act, top, scratch):
    out = scratch / "out"
    result = act("--do=delete", "--format=json", "-o", out, top)
    assert result.status == 0 and not result.out
    assert len(json.loads(out.read_text())["groups"]) == 2
    assert not expected(top)


def test_a_full_disk_stops_before_anything_is_done(act, top, mount, scratch):
    small = mount(mounts.mounted, scratch / "small", "-t", "tmpfs", "-o", "size=8k", "tmpfs")
    with open(small / "filler", "wb") as file:
        file.write(bytes(8192))
    before = state(top)
    for words in (["-o", small / "out"], ["--format=parquet", "-o", small / "out"]):
        result = act("--do=delete", *words, top)
        assert result.status == 2 and b"No space left on device" in result.err, result
        assert os.listdir(small) == ["filler"]
    assert state(top) == before
    # The log.
    result = act("--do=delete", top, env={"XDG_STATE_HOME": str(small)})
    assert result.status == 2 and state(top) == before, result
