"""Directories of snapshots that somebody has changed: links, FIFOs, other owners, and files that
say anything, with right checksums.
"""

import gc
import json
import os
import pathlib
import re
import shutil
import zlib

import cluster_model
import pytest
from cluster_support import expected, make_tree, rows, take
from ringwalk import cluster
from ringwalk.cluster import layout, lines
from ringwalk.cluster.files import Files

DEEP = "[" * 200_000 + "]" * 200_000
RIGHT = {
    "format": 1,
    "tool": {"version": "1"},
    "roots": ["/"],
    "directories": 1,
    "options": {},
}


@pytest.fixture(autouse=True)
def no_garbage():
    """Frees what other tests have left: within deep JSON no finalizer can be called."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def interrupt(top, out, last=6):
    """A run that is ended before its task with the number `last`."""

    def task(*given, **named):
        if named["task"] == last:
            raise KeyboardInterrupt
        return cluster_model.cluster_task(*given, **named)

    with pytest.raises(KeyboardInterrupt):
        take([top], out, task=task)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A tree, and the directories of a run that is over and of one that is not."""
    place = tmp_path_factory.mktemp("runs")
    make_tree(place / "top", wide=2)
    assert take([place / "top"], place / "over")["complete"]
    interrupt(place / "top", place / "unfinished")
    return place


@pytest.fixture
def top(runs):
    """The tree of the directories."""
    return runs / "top"


@pytest.fixture
def over(runs, out):
    """The directory of a run that is over."""
    return shutil.copytree(runs / "over", out)


@pytest.fixture
def unfinished(runs, out):
    """The directory of a run that is not over."""
    return shutil.copytree(runs / "unfinished", out)


@pytest.fixture
def other(tmp_path):
    """A directory outside of the snapshot's, with files that are named like those of tasks."""
    place = tmp_path / "other"
    (place / "1").mkdir(parents=True)
    for name in ("precious", "9-9-9.parquet", "9-9-9.todo", "9-9-9.errors", "1/7-7.parquet"):
        (place / name).write_text("precious")
    return place


def contents(place):
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


def commands(top, out):
    """What reads or changes the directory. `status` is the first."""
    return (
        lambda: cluster.status(out),
        lambda: cluster.verify(out),
        lambda: take([top], out, resume=True),
    )


def put(path, kind, target):
    """Puts a link or a FIFO in the place of a file or a folder."""
    if path.exists():
        path.rename(f"{path}.moved")
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(target)


@pytest.mark.parametrize("state", ["over", "unfinished"])
@pytest.mark.parametrize("folder", layout.FOLDERS)
def test_nothing_behind_a_linked_folder_is_changed(top, other, folder, state, request):
    out = request.getfixturevalue(state)
    put(out / folder, "link", other)
    before = contents(other)
    named = []
    for call in commands(top, out):
        try:
            call()
        except cluster.ClusterError as error:
            named.append(str(out / folder) in str(error))
    assert contents(other) == before
    # `status` does not read all folders.
    assert any(named)


@pytest.mark.parametrize("name", [layout.DESCRIPTION, layout.VERDICT, layout.DAMAGED])
def test_nothing_behind_a_linked_hidden_file_is_changed(top, over, other, name):
    for hidden in (f".{name}.new", "errors/.aside.errors.new", ".manifest.jsonl.new"):
        (over / hidden).symlink_to(other / "precious")
    part = next((over / "parts").iterdir())
    part.write_bytes(part.read_bytes()[:-1])
    assert cluster.verify(over)["damaged"]
    assert take([top], over, resume=True)["complete"]
    Files(str(over)).replace(name, b"[]")
    assert (other / "precious").read_text() == "precious"
    assert not (over / f".{name}.new").is_symlink()
    assert rows(over) == expected(top)


@pytest.mark.parametrize("kind", ["link", "fifo"])
@pytest.mark.parametrize("name", ["snapshot.json", "log/000001.jsonl", "verdict.json"])
def test_what_is_no_file_is_named_and_not_waited_for(top, over, other, name, kind):
    put(over / name, kind, other / "precious")
    for call in commands(top, over):
        with pytest.raises(cluster.Damaged, match=re.escape(str(over / name))):
            call()
    assert (other / "precious").read_text() == "precious"


@pytest.mark.parametrize("kind", ["link", "fifo"])
def test_a_list_of_damaged_files_that_is_no_file_is_named(top, unfinished, other, kind):
    put(unfinished / "damaged.json", kind, other / "precious")
    with pytest.raises(cluster.Damaged, match=re.escape(str(unfinished / "damaged.json"))):
        take([top], unfinished, resume=True)


@pytest.mark.parametrize("kind", ["link", "fifo"])
@pytest.mark.parametrize("folder", ["parts", "todo"])
def test_a_file_of_a_task_that_is_no_file_is_damaged(top, over, other, folder, kind):
    path = next((over / folder).iterdir())
    data = path.read_bytes()
    (other / "precious").write_bytes(data)
    path.unlink()
    put(path, kind, other / "precious")
    (found,) = cluster.verify(over)["damaged"]
    assert found["file"] == f"{folder}/{path.name}"
    assert found["why"] == "not a regular file"
    assert take([top], over, resume=True)["complete"]
    assert rows(over) == expected(top)
    assert (other / "precious").read_bytes() == data


def test_a_manifest_that_is_no_file_is_damaged(top, over, other):
    put(over / "manifest.jsonl", "fifo", other)
    assert cluster.verify(over)["damaged"][0]["why"] == "not a regular file"


def rewrite(out, change):
    """Changes a line of a task that has left work to others. Its checksum is right. Returns the
    number of the line.
    """
    log = out / "log" / "000001.jsonl"
    text = log.read_bytes().splitlines(keepends=True)
    at = next(at for at, line in enumerate(text) if b'"left"' in line)
    text[at] = change(lines.decode(text[at]))
    log.write_bytes(b"".join(text))
    return at + 1


def assert_damaged(top, out, place):
    """Every command names file and line, and changes nothing."""
    before = contents(out)
    for call in commands(top, out):
        with pytest.raises(cluster.Damaged, match=re.escape(place)):
            call()
    assert contents(out) == before


@pytest.mark.parametrize(
    "changes",
    [
        {"task": "1"},
        {"task": -1},
        {"task": True},
        {"try": None},
        {"try": 1.5},
        {"tmp": 7},
        {"done": {"0": 1}},
        {"done": [0, 0, "1"]},
        {"done": [0, 0, 0]},
        {"n": "abcdef"},
        {"n": [1, 2, 3, 4, 5, None]},
        {"s": "1"},
        {"s": float("nan")},
        {"part": 5},
        {"part": [1, 2]},
        {"part": ["1", "2", 3]},
        {"todo": [None, 0]},
        {"errors": {}},
        {"left": [[], []]},
        {"left": [1 << 40, 1]},
        {"left": [-1, 1]},
        {"left": ["1", 1]},
        {"gone": 5},
        {"gone": [[0, "a"]]},
        {"gone": [[-1, "a", 1]]},
        {"gone": [[0, 5, 1]]},
        {"gone": [[0, "a", "1"]]},
    ],
    ids=str,
)
def test_values_of_wrong_types_in_the_log_are_damage(top, unfinished, changes):
    number = rewrite(unfinished, lambda value: lines.encode({**value, **changes}))
    where = "" if changes == {"done": [0, 0, 0]} else f": line {number}: damaged: "
    assert_damaged(top, unfinished, f"{unfinished}/log/000001.jsonl{where}")


@pytest.mark.parametrize(
    "value",
    [
        {"revoke": 5},
        {"revoke": ["1"]},
        {"aside": "x", "why": "y"},
        {"aside": [1, 0, 1], "why": 5},
        {"epoch": "1"},
        {"fence": None},
        {"fence": ["0"]},
        [],
        5,
    ],
    ids=str,
)
def test_values_of_wrong_types_beside_tasks_are_damage(top, unfinished, value):
    line = lines.encode(value) if isinstance(value, dict) else lines.encode({"x": 1})
    if not isinstance(value, dict):
        line = line.replace(b'{"x":1', json.dumps(value).encode())
    rewrite(unfinished, lambda _: line)
    assert_damaged(top, unfinished, f"{unfinished}/log/000001.jsonl: line ")


@pytest.mark.parametrize("fence", [[-5], ["700"], [True], [[]], 5])
def test_a_fence_of_wrong_values_is_damage(top, unfinished, fence):
    (unfinished / "log" / "000002.jsonl").write_bytes(lines.encode({"epoch": 2, "fence": fence}))
    assert_damaged(top, unfinished, f"{unfinished}/log/000002.jsonl: line 1: ")


def test_json_that_is_nested_deeply_is_damage(top, unfinished):
    body = b'{"x":' + DEEP.encode()
    number = rewrite(unfinished, lambda _: body + b',"crc":%d}\n' % zlib.crc32(body))
    why = f"line {number}: damaged: nested too deeply"
    assert_damaged(top, unfinished, f"{unfinished}/log/000001.jsonl: {why}")


@pytest.mark.parametrize("tmp", ["../../other/1/7-7", "tmp/1/../../x", "/etc/passwd", "tmp/2/1-1"])
def test_a_line_moves_no_files_from_elsewhere(top, unfinished, other, tmp):
    before = contents(other)
    number = rewrite(unfinished, lambda value: lines.encode({**value, "tmp": tmp}))
    assert_damaged(top, unfinished, f"{unfinished}/log/000001.jsonl: line {number}: damaged: ")
    assert contents(other) == before


def test_a_line_moves_no_files_to_elsewhere(top, unfinished, other):
    number = rewrite(unfinished, lambda value: lines.encode({**value, "try": "../../../other/x"}))
    assert_damaged(top, unfinished, f"{unfinished}/log/000001.jsonl: line {number}: damaged: ")


def test_a_task_with_a_huge_number_needs_no_memory(top, over):
    log = over / "log" / "000001.jsonl"
    first = next(line for line in log.read_bytes().splitlines() if b'"part"' in line)
    value = {**lines.decode(first + b"\n"), "task": 1 << 60, "tmp": "", "done": []}
    for name in ("part", "todo", "left", "errors"):
        value.pop(name, None)
    log.write_bytes(log.read_bytes() + lines.encode(value))
    (over / "log" / "000002.jsonl").unlink()
    (over / "verdict.json").unlink()
    assert cluster.verify(over)["damaged"] == []


@pytest.mark.parametrize("name", ["999999999999", "1000000", "0000001", "٠٠٠٠٠٢"])
def test_strange_names_of_logs_need_no_time(top, unfinished, name):
    (unfinished / "log" / f"{name}.jsonl").write_bytes(b"")
    if name.isascii() and not name.startswith("0"):
        with pytest.raises(cluster.Damaged, match=r"000002\.jsonl: the log is missing"):
            cluster.status(unfinished)
    else:
        # No driver gives such a name.
        assert take([top], unfinished, resume=True)["complete"]


@pytest.mark.parametrize(
    "text",
    [
        DEEP,
        "[]",
        "5",
        *(
            json.dumps({**RIGHT, **wrong})
            for wrong in (
                {"format": "1"},
                {"tool": 5},
                {"roots": 5},
                {"roots": [5]},
                {"roots": [{"hex": 5}]},
                {"directories": "1"},
                {"options": []},
                {"identities": [5]},
                {"identities": [{"unknown": 5}]},
                {"identities": [{"inode": "1"}]},
                {"mounts": {}},
                {"mounts": [{"inode": 1}]},
                {"mounts": [{"path": 5, "inode": 1}]},
                {"mounts": [{"path": "/a", "inode": 1, "uuid": []}]},
            )
        ),
    ],
    ids=str.__len__,
)
def test_a_description_that_says_anything_is_damage(top, unfinished, text):
    (unfinished / "snapshot.json").write_text(text)
    assert_damaged(top, unfinished, f"{unfinished}/snapshot.json: ")


@pytest.mark.parametrize("text", [DEEP, "5", '["x"]', '{"complete": true}'], ids=str.__len__)
def test_a_verdict_that_says_anything_is_damage(top, over, text):
    (over / "verdict.json").write_text(text)
    assert_damaged(top, over, f"{over}/verdict.json: ")


def test_a_verdict_whose_list_of_changes_says_anything_is_damage(top, over):
    verdict = json.loads((over / "verdict.json").read_text())
    for changing in (5, [5]):
        (over / "verdict.json").write_text(json.dumps({**verdict, "changing": changing}))
        assert_damaged(top, over, f"{over}/verdict.json: ")


def test_a_tree_that_has_vanished_below_no_root_is_damage(top, unfinished):
    gone = {"gone": [[1, "a", 1]], "n": [1, 1, 1, 0, 1, 0]}
    rewrite(unfinished, lambda value: lines.encode({**value, **gone}))
    with pytest.raises(cluster.Damaged, match="names a root that does not exist: 1"):
        take([top], unfinished, resume=True)


def test_a_list_of_damaged_files_that_says_anything_is_damage(top, unfinished):
    for text in (DEEP, "5", '["x"]', '[{"file": 5}]', "{}x"):
        (unfinished / "damaged.json").write_text(text)
        with pytest.raises(cluster.Damaged, match=re.escape(f"{unfinished}/damaged.json: ")):
            take([top], unfinished, resume=True)


def test_files_with_other_names_stay(top, over):
    (over / "tmp" / "1").mkdir()
    names = ["parts/mine.txt", "todo/1-1-1.parquet", "errors/x", "tmp/1/mine", "tmp/mine"]
    for name in names:
        (over / name).touch()
    assert cluster.verify(over)["removed"] == []
    next((over / "parts").glob("*.parquet")).unlink()
    assert cluster.verify(over)["damaged"]
    assert take([top], over, resume=True)["complete"]
    assert [name for name in names if not (over / name).exists()] == []


def test_the_directory_is_for_its_owner_alone(top, out):
    before = os.umask(0)
    try:
        interrupt(top, out)
    finally:
        os.umask(before)
    assert out.stat().st_mode & 0o7777 == 0o700
    # Its owner may open it for others, who can change nothing then.
    assert all(path.stat().st_mode & 0o022 == 0 for path in out.rglob("*") if path.is_dir())


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a directory away")
def test_a_directory_of_another_user_is_refused(top, unfinished):
    os.chown(unfinished, 1234, -1)
    before = contents(unfinished)
    why = "belongs to user 1234, and this is user 0"
    for call in commands(top, unfinished)[1:]:
        with pytest.raises(cluster.Refused, match=why):
            call()
    assert contents(unfinished) == before
    # It changes nothing.
    assert cluster.status(unfinished)["state"] == "unfinished"


def test_a_new_directory_is_not_made_behind_a_link(top, out, other):
    out.symlink_to(other / "new")
    for path in (out, f"{out}/", f"{out}//"):
        with pytest.raises(cluster.Refused, match="exists"):
            take([top], path)
    assert not (other / "new").exists()


def test_a_file_system_that_gives_files_to_others_is_refused(top, out, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    with pytest.raises(cluster.Refused, match=f"belongs to user {os.getuid()}"):
        take([top], out)
    assert not out.exists()


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "parts/../../x", "a/./b", "", "a//b", "a/"]
)
def test_names_that_lead_elsewhere_are_no_names(tmp_path, name):
    files = Files(str(tmp_path))
    for call in (files.open, files.status, files.create, files.remove):
        with pytest.raises(ValueError, match="is not a file name"):
            call(name)
    assert list(pathlib.Path(tmp_path).iterdir()) == []


def test_no_other_module_opens_or_changes_files():
    calls = "open|rename|replace|unlink|remove|mkdir|makedirs|rmdir|listdir|scandir|stat|truncate"
    pattern = re.compile(rf"(\bos\.({calls})|shutil\.\w+|(?<![.\w])open)\(")
    # Standard files that are closed, and the status of roots.
    allowed = ("os.devnull", "os.stat(os.path.join(root,")
    found = [
        f"{path.name}: {line.strip()}"
        for path in pathlib.Path(cluster.__file__).parent.glob("*.py")
        if path.name != "files.py"
        for line in path.read_text().splitlines()
        if pattern.search(line) and not any(each in line for each in allowed)
    ]
    assert found == []
