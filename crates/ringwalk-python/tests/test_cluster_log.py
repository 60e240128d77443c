"""The commit log: a driver that ends at any moment, damage, and two drivers at once."""

import json
import os
import pathlib

import cluster_model
import pytest
from cluster_support import expected, make_tree, manifest, rows, take
from ringwalk import cluster
from ringwalk.cluster import files as files_module
from ringwalk.cluster import layout, lines, log, replay, run


class Killed(BaseException):
    """The driver is ended here."""


class Faulty(files_module.Files):
    """Ends the driver before or after the n-th change of the directory.

    `loses` says what happens to the bytes of the log that were not synced: nothing, all of them are
    lost, or half of them.
    """

    def __init__(self, directory, at, after, loses):
        super().__init__(directory)
        self.changes = 0
        self.at = at
        self.after = after
        self.loses = loses
        self.unsynced = {}
        self.is_dead = False

    def _change(self, method, *arguments):
        # What a driver does after its end does not happen.
        if self.is_dead:
            raise Killed
        self.changes += 1
        number = self.changes
        if number == self.at and not self.after:
            self._die()
        result = method(*arguments)
        if number == self.at:
            self._die()
        return result

    def _die(self):
        self.is_dead = True
        for path, safe in self.unsynced.values():
            length = pathlib.Path(path).stat().st_size
            keep = {"nothing": length, "all": safe, "half": (length + safe) // 2}[self.loses]
            with open(path, "r+b") as opened:
                opened.truncate(keep)
        raise Killed

    def create(self, name):
        file = self._change(super().create, name)
        self.unsynced[file] = self.path(name), 0
        return file

    def append(self, file, data):
        if file not in self.unsynced:
            return super().append(file, data)
        return self._change(super().append, file, data)

    def sync(self, file):
        self._change(super().sync, file)
        path, _ = self.unsynced[file]
        self.unsynced[file] = path, pathlib.Path(path).stat().st_size

    def rename(self, old, new):
        return self._change(super().rename, old, new)

    def replace(self, name, data):
        return self._change(super().replace, name, data)

    def remove(self, name):
        return self._change(super().remove, name)

    def remove_folder(self, name, pattern):
        return self._change(super().remove_folder, name, pattern)

    def make_folder(self, name):
        return self._change(super().make_folder, name)


def killed_at(monkeypatch, top, directory, at, after, loses, again=False):
    """Runs a driver that is ended at a change. Returns false if it made fewer changes."""
    faulty = Faulty(str(directory), at, after, loses)
    monkeypatch.setattr(run, "Files", lambda _: faulty)
    try:
        take([top], directory, resume=again)
    except Killed:
        return True
    finally:
        monkeypatch.undo()
    assert faulty.changes < at
    return False


@pytest.mark.parametrize("loses", ["nothing", "all", "half"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_driver_that_ends_at_any_change_is_resumed(tmp_path, monkeypatch, after, loses):
    top = make_tree(tmp_path / "top", wide=2, deep=2, files=3)
    want = expected(top)
    at = 1
    while killed_at(monkeypatch, top, tmp_path / str(at), at, after, loses):
        directory = tmp_path / str(at)
        verdict = take([top], directory, resume=True)
        assert verdict["complete"], (at, verdict)
        assert rows(directory) == want, at
        assert not cluster.verify(directory)["damaged"]
        at += 1
    assert at > 30


def test_a_driver_that_ends_again_and_again_comes_to_an_end(tmp_path, monkeypatch):
    top = make_tree(tmp_path / "top", wide=2, deep=2, files=3)
    directory = tmp_path / "out"
    again, at = False, 9
    while killed_at(monkeypatch, top, directory, at, True, "half", again):
        again, at = True, at + 3
    assert rows(directory) == expected(top)
    assert len(list((directory / "log").iterdir())) > 2


class Unsynced(files_module.Files):
    """Knows in which folders names have changed that may not be on the disk. `relied` are those on
    which a line of the log or the verdict has relied.
    """

    def __init__(self, directory):
        super().__init__(directory)
        self.folders = set()
        self.relied = set()

    def _change(self, method, *names):
        self.folders.update(os.path.dirname(name) for name in names)
        return method(*names)

    def sync_folder(self, name):
        super().sync_folder(name)
        self.folders.discard(name)

    def create(self, name):
        return self._change(super().create, name)

    def rename(self, old, new):
        self._change(super().rename, old, new)

    def make_folder(self, name):
        self._change(super().make_folder, name)

    def remove(self, name):
        if os.path.exists(self.path(name)):
            self._change(super().remove, name)

    def sync(self, file):
        super().sync(file)
        self.relied |= self.folders & {""}

    def replace(self, name, data):
        if name == layout.VERDICT:
            self.relied |= self.folders & {"", "log", "parts", "todo", "errors"}
        super().replace(name, data)


def test_names_are_on_the_disk_before_something_relies_on_them(tmp_path, monkeypatch):
    top = make_tree(tmp_path / "top")
    (top / "fail-always").mkdir()
    for task, complete in ((cluster_model.cluster_task, False), (cluster_model.harmless, True)):
        files = Unsynced(str(tmp_path / "out"))
        monkeypatch.setattr(run, "Files", lambda _, files=files: files)
        verdict = take([top], files.directory, resume=complete, task=task)
        assert verdict["complete"] == complete
        assert files.relied == set()


def test_what_was_committed_is_not_read_again(tmp_path, monkeypatch):
    top = make_tree(tmp_path / "top")
    directory = tmp_path / "out"
    assert killed_at(monkeypatch, top, directory, 60, True, "nothing")
    before = {path.name: path.stat().st_ino for path in (directory / "parts").iterdir()}
    assert before
    assert take([top], directory, resume=True)["complete"]
    after = {path.name: path.stat().st_ino for path in (directory / "parts").iterdir()}
    assert before.items() <= after.items()


def unfinished(tmp_path, monkeypatch):
    """A tree, and a directory whose driver was killed."""
    top = make_tree(tmp_path / "top")
    directory = tmp_path / "out"
    assert killed_at(monkeypatch, top, directory, 60, True, "nothing")
    return top, directory


def test_a_line_that_was_cut_off_is_ignored(tmp_path, monkeypatch):
    top, directory = unfinished(tmp_path, monkeypatch)
    log = directory / "log" / "000001.jsonl"
    log.write_bytes(log.read_bytes()[:-20])
    assert cluster.status(directory)["state"] == "unfinished"
    assert take([top], directory, resume=True)["complete"]
    assert rows(directory) == expected(top)


def test_other_damage_names_file_and_line(tmp_path, monkeypatch):
    top, directory = unfinished(tmp_path, monkeypatch)
    log = directory / "log" / "000001.jsonl"
    text = log.read_bytes().splitlines(keepends=True)
    assert len(text) > 4
    text[2] = text[2].replace(b'"try":', b'"tri":')
    log.write_bytes(b"".join(text))
    for action in (
        lambda: take([top], directory, resume=True),
        lambda: cluster.status(directory),
        lambda: cluster.verify(directory),
    ):
        with pytest.raises(cluster.Damaged, match=r"000001\.jsonl: line 3: damaged"):
            action()
    assert len(list((directory / "log").iterdir())) == 1


def test_a_log_that_is_too_short_is_damage(tmp_path, monkeypatch):
    top, directory = unfinished(tmp_path, monkeypatch)
    take([top], directory, resume=True)
    log = directory / "log" / "000001.jsonl"
    text = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(text[:-1]))
    with pytest.raises(cluster.Damaged, match=r"000001\.jsonl: the log is cut off"):
        cluster.status(directory)
    log.unlink()
    with pytest.raises(cluster.Damaged, match=r"000001\.jsonl: the log is missing"):
        cluster.status(directory)


def test_a_driver_that_was_thought_dead_adds_nothing(tmp_path):
    top = make_tree(tmp_path / "top")
    directory = tmp_path / "out"
    verdicts = []

    def second(driver):
        # In the middle of the first driver's run, another one takes over and ends the work.
        original = driver.log.sync

        def sync():
            if driver.history.totals.tasks >= 3 and not verdicts:
                verdicts.append(take([top], directory, resume=True))
            original()

        driver.log.sync = sync

    with pytest.raises(cluster.Fenced, match="taken over"):
        take([top], directory, ready=second)
    assert verdicts[0]["complete"]
    assert rows(directory) == expected(top)
    assert json.loads((directory / "verdict.json").read_text()) == verdicts[0]
    # It has given no file a name, after it was taken over.
    found = cluster.verify(directory)
    assert not found["damaged"]
    assert not [name for name in found["removed"] if name.startswith("parts/")]
    # What it adds to its log does not count.
    log = directory / "log" / "000001.jsonl"
    before = cluster.status(directory)
    log.write_bytes(log.read_bytes() + log.read_bytes().splitlines(keepends=True)[-1])
    assert cluster.status(directory) == before


def test_a_driver_that_is_slow_to_end_does_not_say_complete(tmp_path):
    top = make_tree(tmp_path / "top")
    directory = tmp_path / "out"

    def second(driver):
        original = driver.run

        def slow(watch):
            original(watch)
            take([top], directory, resume=True)

        driver.run = slow

    with pytest.raises(cluster.Fenced):
        take([top], directory, ready=second)
    assert rows(directory) == expected(top)


def test_a_line_is_short():
    commit = lines.Commit(
        epoch=3,
        task=123456,
        attempt=1,
        done=[(123000, 1234567, 12345)] * 4,
        part=(300000, 4500000, "0" * 64),
        todo=(640000, 1 << 31),
        errors=None,
        chunks=[lines.Chunk(6400, 64, False)] * 50,
        counts=dict.fromkeys(lines.COUNTS, 300000),
        seconds=10.123,
    )
    line = commit.line()
    assert lines.commit_of(lines.decode(line), 3) == commit
    # 10^10 entries in tasks of 30 000: a short budget on a slow server.
    assert len(line) * 10**10 / 30_000 < 1 << 30


def test_each_committed_part_is_in_the_manifest(tmp_path):
    top = make_tree(tmp_path / "top")
    verdict = take([top], tmp_path / "out")
    assert verdict["complete"] and verdict["rows"] == sum(expected(top).values())
    entries = manifest(tmp_path / "out")
    assert len(entries) == verdict["parts"]
    assert sum(entry["rows"] for entry in entries) == verdict["rows"]
    history = replay.read(files_module.Files(str(tmp_path / "out")))
    assert not history.open and history.epoch == 2
    assert set(layout.FOLDERS) <= {path.name for path in (tmp_path / "out").iterdir()}


def test_files_that_are_not_renamed_yet_are_no_damage(tmp_path, monkeypatch):
    top = make_tree(tmp_path / "top")
    directory = tmp_path / "out"
    # Ended between a line of the log and the names of its files.
    at = 20
    while not list((directory / "tmp" / "1").glob("*")) if directory.exists() else True:
        directory = tmp_path / str(at)
        assert killed_at(monkeypatch, top, directory, at, False, "nothing")
        at += 1
    found = cluster.verify(directory)
    assert found["damaged"] == [] and found["removed"] == []
    assert take([top], directory, resume=True)["complete"]
    assert rows(directory) == expected(top)


def test_lines_of_a_driver_that_was_killed_are_synced_before_they_count(tmp_path, monkeypatch):
    (tmp_path / "log").mkdir()
    files = files_module.Files(str(tmp_path))
    first, _ = log.begin(files)
    first.append({"aside": [], "why": "not synced"})
    first.close()
    calls = []

    def noted(name):
        right = getattr(os, name)

        def call(file, *given):
            calls.append((name, pathlib.Path(os.readlink(f"/proc/self/fd/{file}")).name))
            return right(file, *given)

        return call

    for name in ("write", "fdatasync"):
        monkeypatch.setattr(os, name, noted(name))
    second, history = log.begin(files)
    second.close()
    assert history.lengths == [first.length]
    assert calls.index(("fdatasync", "000001.jsonl")) < calls.index(("write", "000002.jsonl"))


def test_a_driver_sees_at_its_next_sync_that_another_has_taken_over(tmp_path):
    (tmp_path / "log").mkdir()
    files = files_module.Files(str(tmp_path))
    first, _ = log.begin(files)
    first.append({"aside": [], "why": "before"})
    first.sync()
    second, history = log.begin(files)
    assert history.lengths == [first.length]
    first.append({"aside": [], "why": "behind"})
    with pytest.raises(cluster.Fenced, match="taken over"):
        first.sync()
    second.sync()
    for each in (first, second):
        each.close()


@pytest.mark.parametrize("damage", ["flip", "cut", "append", "remove"])
def test_a_damaged_manifest_is_named_and_written_again(top, out, damage):
    take([top], out)
    path = out / "manifest.jsonl"
    whole = path.read_bytes()
    if damage == "remove":
        path.unlink()
    else:
        cut = whole[: whole.rindex(b"{")]
        damaged = {"flip": whole.replace(b"7", b"1"), "cut": cut, "append": whole + b"{}\n"}
        path.write_bytes(damaged[damage])
    (found,) = cluster.verify(out)["damaged"]
    why = "missing" if damage == "remove" else "not what the log says"
    assert found == {"file": "manifest.jsonl", "task": None, "why": why}
    with pytest.raises(cluster.Refused, match="go on|damaged"):
        cluster.compact(out, f"{out}.parquet")
    assert take([top], out, resume=True)["complete"]
    assert path.read_bytes() == whole
    assert not cluster.verify(out)["damaged"]
