"""`ringwalk export` and `ringwalk import`: ncdu's formats, NDJSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import subprocess
from pathlib import Path

import pytest
from support import ncdu, trees
from support.gnu import counted
from support.terminal import converse

# What ncdu does not keep: numbers of inodes with one name, links of directories, times of
# change and birth, targets, devices, and the reason of an error.
LOST = {
    "ino",
    "fs",
    "nlink",
    "ctime",
    "btime",
    "rdev",
    "target",
    "target_raw",
    "errno",
    "operation",
    "root_path",
}
OLD = b"the old file"


def rows(ringwalk, snapshot: Path) -> list[dict]:
    out = ringwalk("export", snapshot, "--format", "ndjson").ok().out
    return [json.loads(line) for line in out.splitlines()]


def kept(ringwalk, snapshot: Path, fraction: bool = True) -> list[dict]:
    """Returns what ncdu keeps of each row; with `fraction` also the fractions of times."""
    found = []
    for row in rows(ringwalk, snapshot):
        row = {key: value for key, value in row.items() if key not in LOST}
        for key in ("mtime", "tree_mtime"):
            if row[key] and not fraction:
                row[key] = row[key].partition(".")[0]
        found.append(row)
    return found


@pytest.fixture
def convert(ringwalk, scratch):
    """Imports data and returns the snapshot."""
    number = iter(range(1000))

    def convert(data: bytes) -> Path:
        file, snapshot = scratch / f"in{next(number)}", scratch / f"out{next(number)}"
        file.write_bytes(data)
        ringwalk("import", file, "-o", snapshot).ok()
        return snapshot

    return convert


@pytest.fixture
def refused(ringwalk, scratch):
    """Imports data that must be refused, and returns the message. The old output stays."""

    def refused(data: bytes) -> bytes:
        file, snapshot = scratch / "refused-in", scratch / "refused" / "out"
        file.write_bytes(data)
        snapshot.parent.mkdir(exist_ok=True)
        snapshot.write_bytes(OLD)
        result = ringwalk("import", file, "-o", snapshot)
        assert result.status == 2, result
        assert result.err.count(b"\n") == 1 and b"panicked" not in result.err, result
        assert snapshot.read_bytes() == OLD
        assert os.listdir(snapshot.parent) == ["out"]
        return result.err

    return refused


def strange_tree(top: Path) -> None:
    """Makes names and files that ncdu once got wrong."""
    top.mkdir()
    for byte in [*range(1, 0x2F), *range(0x30, 0x100)]:
        name = os.fsencode(top) + b"/" + bytes([byte]) + b"x"
        with open(name, "wb") as file:
            file.write(b"x" * byte)
    for name in ("😀", "é", "a\\b", 'a"b', "\\ud83d", "\u0085", "n" * 255):
        (top / name).write_text(name)
    (top / "empty").mkdir()
    inner = top / "d" / "e"
    inner.mkdir(parents=True)
    os.link(top / "é", inner / "link")
    os.link(top / "é", top / "link")
    (top / "symlink").symlink_to("nowhere")
    os.mkfifo(top / "fifo")
    (top / "old").touch()
    os.utime(top / "old", (-86400 * 400, -86400 * 400))
    os.utime(top / "é", ns=(0, 1_234_567_891_123_456_789))


@pytest.fixture
def strange(ringwalk, scratch) -> tuple[Path, Path]:
    """A directory and its snapshot."""
    top, snapshot = scratch / "t", scratch / "snapshot"
    strange_tree(top)
    ringwalk("snapshot", top, "-o", snapshot).ok()
    return top, snapshot


@pytest.mark.smoke
def test_export_and_import_give_the_same_rows(ringwalk, strange, convert):
    _, snapshot = strange
    data = ringwalk("export", snapshot, "--format", "ncdu").ok().out
    assert kept(ringwalk, convert(data)) == kept(ringwalk, snapshot)


def test_through_ncdu_and_back_gives_the_same_rows(ringwalk, strange, convert, scratch):
    _, snapshot = strange
    file = scratch / "for-ncdu"
    ringwalk("export", snapshot, "--format", "ncdu", "-o", file).ok()
    back = convert(ncdu.reexport(file))
    assert kept(ringwalk, back, fraction=False) == kept(ringwalk, snapshot, fraction=False)


def test_a_scan_of_ncdu_gives_the_rows_of_a_snapshot(ringwalk, strange, convert):
    top, snapshot = strange
    imported = convert(ncdu.scan(top))
    assert kept(ringwalk, imported, fraction=False) == kept(ringwalk, snapshot, fraction=False)


@pytest.mark.parametrize("seed", (21, 22, 23))
def test_random_trees(ringwalk, scratch, convert, gnu_du, seed):
    top, snapshot, file = scratch / "t", scratch / "snapshot", scratch / "for-ncdu"
    trees.RandomTree(top, seed)
    ringwalk("snapshot", top, "-o", snapshot).ok()
    ringwalk("export", snapshot, "--format", "ncdu", "-o", file).ok()
    expected = kept(ringwalk, snapshot, fraction=False)
    for data in (ncdu.scan(top), ncdu.reexport(file)):
        assert kept(ringwalk, convert(data), fraction=False) == expected
    used = int(gnu_du("-s", "-B1", top).ok().out.split()[0])
    assert expected[-1]["tree_alloc"] == used


@pytest.mark.parametrize("size", (400, 4000, 65536))
def test_the_binary_format_gives_the_rows_of_json(ringwalk, strange, convert, size):
    top, _ = strange
    data = ncdu.scan(top)
    binary = ncdu.Binary(ncdu.parse(data), size)
    assert (len(binary.blocks) > 1) == (size < 65536)
    assert rows(ringwalk, convert(binary.data)) == rows(ringwalk, convert(data))


FLAGS = [
    {"name": "/r", "dev": 5, "read_error": True},
    [{"name": "other", "excluded": "otherfs", "asize": 4096}],
    [{"name": "other2", "excluded": "othfs"}],
    [{"name": "proc", "excluded": "kernfs"}],
    {"name": "pattern", "excluded": "pattern"},
    {"name": "unread", "read_error": True},
    {"name": "special", "notreg": True},
    {"name": "a", "asize": 700, "dsize": 1024, "ino": 9, "hlnkc": True, "nlink": 3},
    [{"name": "d", "dev": 6}, {"name": "a", "dsize": 512, "ino": 9, "hlnkc": True, "nlink": 2}],
    [{"name": "e"}, {"name": "b", "dsize": 1024, "ino": 9, "hlnkc": True, "nlink": 3}],
]


def test_flags_links_and_devices(ringwalk, convert):
    json_rows = rows(ringwalk, convert(ncdu.document(FLAGS)))
    assert rows(ringwalk, convert(ncdu.Binary(FLAGS).data)) == json_rows
    found = {row["path"]: row for row in json_rows}
    skipped = {path: row["skipped"] for path, row in found.items() if row["skipped"]}
    expected = {"other": "otherfs", "other2": "otherfs", "proc": "kernfs", "pattern": "pattern"}
    assert skipped == expected
    assert {path for path, row in found.items() if row["errno"]} == {"", "unread"}
    assert found["unread"]["type"] is None and found["unread"]["size"] is None
    assert found["special"]["type"] is None and found["other"]["type"] == "d"
    # The same inode number on another device is another file. The first name counts.
    charged = {path: row["charged"] for path, row in found.items() if row["ino"]}
    assert charged == {"d/a": True, "e/b": True, "a": False}
    assert found[""]["tree_alloc"] == 1024 + 512
    assert found["d"]["fs"] == found["d/a"]["fs"] != found["a"]["fs"]


def test_flags_survive_ncdu(ringwalk, convert, scratch):
    file = scratch / "for-ncdu"
    snapshot = convert(ncdu.document(FLAGS))
    ringwalk("export", snapshot, "--format", "ncdu", "-o", file).ok()
    assert kept(ringwalk, convert(file.read_bytes())) == kept(ringwalk, snapshot)
    tree = ncdu.parse(ncdu.reexport(file))
    entries = [entry[0] for entry in tree[1:] if type(entry) is list]
    words = {entry["name"]: entry.get("excluded") for entry in entries}
    assert words["other"] == "othfs" and words["proc"] == "kernfs"


def test_old_links_without_a_number_of_names(ringwalk, convert):
    tree = [{"name": "/r"}, *({"name": n, "dsize": 512, "ino": 9, "hlnkc": True} for n in "ab")]
    snapshot = convert(ncdu.document(tree))
    found = rows(ringwalk, snapshot)
    assert [row["charged"] for row in found] == [True, False, True]
    assert found[0]["nlink"] is None
    data = ringwalk("export", snapshot, "--format", "ncdu").ok().out
    assert rows(ringwalk, convert(data))[:2] == found[:2]


def test_numbers_up_to_the_limits(ringwalk, convert, refused):
    tree = [
        {"name": "/r"},
        {"name": "f", "asize": 2**63 - 1, "dsize": 2**63 - 1, "uid": 2**32 - 1, "gid": 2**32 - 2},
        {"name": "g", "ino": 2**64 - 1, "nlink": 2**32 - 1, "mtime": 2**64 - 1},
        {"name": "h", "dev": 2**64 - 1, "mtime": 2**62},
    ]
    f, g, h = rows(ringwalk, convert(ncdu.document(tree)))[:3]
    assert (f["size"], f["alloc"], f["uid"]) == (2**63 - 1, 2**63 - 1, 2**32 - 1)
    assert (g["ino"], g["nlink"], g["mtime"]) == (
        2**64 - 1,
        2**32 - 1,
        "1969-12-31T23:59:59.000000000Z",
    )
    assert h["clamped"] and not g["clamped"]
    for field, number in (("asize", 2**63), ("uid", 2**32), ("ino", 2**64), ("mode", 2**16)):
        message = refused(ncdu.document([{"name": "/r", field: number}]))
        assert b"the number is larger than" in message and b"line 1, column " in message


def test_names_that_are_escaped(ringwalk, convert):
    names = (r"\u0001\n\u007f", r"\ud83d\ude00", r"\u00e9")
    entries = ",".join(f'{{"name":"{name}"}}' for name in names)
    found = rows(ringwalk, convert(b'[1,0,{},[{"name":"/r"},%s]]' % entries.encode()))
    assert [row["path"] for row in found[:-1]] == ["\x01\n\x7f", "é", "😀"]


@pytest.mark.parametrize(
    ("name", "message"),
    (
        (b"", b"the name is empty"),
        (b".", b"'.' or '..'"),
        (b"..", b"'.' or '..'"),
        (b"a/b", b"slash"),
        (b"a\\u0000b", b"NUL"),
        (b"\\ud83d", b"half of a surrogate pair"),
        (b"\\udc80", b"half of a surrogate pair"),
        (b"a\nb", b"control character"),
        (b"n" * 40_000, b"more than 32768 bytes"),
    ),
)
def test_names_that_cannot_be(refused, name, message):
    data = b'[1,2,{},[{"name":"/r"},\n{"name":"%s"}]]' % name
    err = refused(data)
    assert message in err and b"line 2, column " in err


@pytest.mark.parametrize("name", (b"", b".", b"..", b"a/b", b"a\0b"))
def test_names_that_cannot_be_in_the_binary_format(refused, name):
    tree = [{"name": "/r"}, {"name": name.decode()}]
    err = refused(ncdu.Binary(tree).data)
    assert b" of data block 0 (which begins at byte 8): " in err


def test_two_entries_of_one_name(ringwalk, convert, scratch):
    """A file system that is changed meanwhile may list a name twice."""
    tree = [{"name": "/r"}, [{"name": "d"}, {"name": "x", "asize": 1}, {"name": "x"}]]
    snapshot = convert(ncdu.document(tree))
    found = rows(ringwalk, snapshot)
    assert [row["path"] for row in found] == ["d/x", "d/x", "d", ""]
    found_in_binary = rows(ringwalk, convert(ncdu.Binary(tree).data))
    assert sorted(row["size"] for row in found_in_binary) == [0, 0, 0, 1]
    data = ringwalk("export", snapshot, "--format", "ncdu").ok().out
    again = convert(data)
    assert rows(ringwalk, again) == found
    assert ringwalk("diff", snapshot, again).ok().out == b""
    out = ringwalk("find", "--from", snapshot, "/r/d/x").ok().out
    assert out == b"/r/d/x\n"


@pytest.mark.parametrize(
    "root", ("s3://bucket", ".", "..", "a/b", "/r/../s", "C:\\Users", "//x", "/t/")
)
def test_a_root_that_is_no_path_of_this_system(ringwalk, convert, root):
    tree = [{"name": root}, [{"name": "d"}, {"name": "f", "dsize": 1024}]]
    snapshot = convert(ncdu.document(tree))
    path = f"{root.rstrip('/')}/d"
    out = ringwalk("find", "--from", snapshot).ok().out.decode()
    assert out.splitlines() == [root, path, f"{path}/f"]
    out = ringwalk("find", "--from", snapshot, path).ok().out.decode()
    assert out.splitlines() == [path, f"{path}/f"]
    out = ringwalk("du", "--from", snapshot, "-B1").ok().out.decode()
    assert out.splitlines() == [f"1024\t{path}", f"1024\t{root}"]
    out = ringwalk("du", "--from", snapshot, "-B1", "-s", path).ok().out.decode()
    assert out == f"1024\t{path}\n"
    for operands in ((), (root,)):
        out = ringwalk("count", "--from", snapshot, *operands).ok().out
        assert counted(out)[0] == 2
    for under in (root, path):
        out = (
            ringwalk("report", snapshot, "--by", "type", "--under", under, "--format=json").ok().out
        )
        kinds = {row["type"]: row["entries"] for row in json.loads(out)["rows"]}
        assert kinds == {"d": 2 if under == root else 1, "f": 1}
    assert ringwalk("diff", snapshot, snapshot).ok().out == b""
    shown = ringwalk("browse", snapshot, "--compare", snapshot, "--once", "").ok().out.decode()
    assert shown.startswith(root) and "/d" in shown
    out = ringwalk("export", snapshot, "--format", "ncdu", "--root", root).ok().out
    assert ncdu.parse(out)[0]["name"] == root
    missing = ringwalk("find", "--from", snapshot, f"{root.rstrip('/')}/none")
    assert missing.status == 1 and b"not in snapshot" in missing.err


@pytest.mark.parametrize(
    ("data", "message"),
    (
        (b"", b"ends too early"),
        (b"[2,0,{},[]]", b"major version 2: expected 1"),
        (b"\xbfncduEX2" + bytes(100), b"version of ncdu's binary format is unknown"),
        (b"PAR1" + bytes(100), b"snapshot already"),
        (b"\x1f\x8b\x08", b"compressed by gzip"),
        (b'[1,0,{},{"name":"/r"}]', b"the entry at the top must be a directory"),
        (b"a text", b"expected '[', which begins ncdu's format"),
        (b'[1,0,{},[{"name":"/r"}]]]', b"expected the end of the file"),
    ),
)
def test_other_files(refused, data, message):
    assert message in refused(data)


def test_deep_unknown_values(refused):
    data = b'[1,0,{},[{"name":"/r","x":' + b"[" * 1_000_000
    assert b"more than 1000 levels" in refused(data)


def test_files_that_were_cut_off(ringwalk, strange, refused):
    _, snapshot = strange
    data = ringwalk("export", snapshot, "--format", "ncdu").ok().out
    binary = ncdu.Binary(ncdu.parse(data), 2000).data
    for whole in (data, binary):
        for end in (*range(0, len(whole), 1000), len(whole) - 3):
            assert b"cut off" in refused(whole[:end])


@pytest.mark.parametrize("form", ("json", "binary"))
def test_damaged_files(ringwalk, strange, scratch, form):
    top, _ = strange
    data = ncdu.scan(top)
    if form == "binary":
        data = ncdu.Binary(ncdu.parse(data), 3000).data
    choose = random.Random(7)
    file, snapshot = scratch / "in", scratch / "out"
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(choose.randrange(1, 5)):
            damaged[choose.randrange(len(data))] = choose.randrange(256)
        file.write_bytes(damaged)
        snapshot.write_bytes(OLD)
        result = ringwalk("import", file, "-o", snapshot)
        assert result.status in (0, 2) and b"panicked" not in result.err, result
        if result.status == 2:
            assert result.err.startswith(b"ringwalk: ") and snapshot.read_bytes() == OLD


def test_deep_trees(ringwalk, convert):
    levels = 3000
    data = b"[1,0,{}," + b",".join([b'[{"name":"d"}'] * levels) + b"]" * levels + b"]"
    snapshot = convert(data)
    out = ringwalk("export", snapshot, "--format", "ncdu").ok().out
    assert out.count(b'[{"name":"d"}') == levels


def test_standard_input_and_compressed_json(ringwalk, strange, scratch):
    top, _ = strange
    data = ncdu.scan(top)
    compressed = subprocess.run(
        [ncdu.program("zstd"), "-q", "-c"], input=data, check=True, capture_output=True
    ).stdout
    found = []
    for given in (data, compressed):
        ringwalk("import", "-", "-o", scratch / "out", stdin=given).ok()
        found.append(rows(ringwalk, scratch / "out"))
    assert found[0] == found[1]
    binary = ncdu.Binary(ncdu.parse(data)).data
    result = ringwalk("import", "-", "-o", scratch / "new", stdin=binary)
    assert result.status == 2 and b"cannot be read from a pipe" in result.err
    assert not (scratch / "new").exists()


def test_csv_has_the_values_of_ndjson(ringwalk, strange):
    _, snapshot = strange
    text = ringwalk("export", snapshot, "--format", "csv").ok().out.decode()
    assert text.endswith("\r\n")
    found = list(csv.DictReader(io.StringIO(text, newline="")))
    expected = rows(ringwalk, snapshot)
    assert len(found) == len(expected)
    for row, wanted in zip(found, expected, strict=True):
        plain = {
            key: "" if value is None else str(value).lower() if value in (True, False) else value
            for key, value in wanted.items()
        }
        assert row == {key: str(value) for key, value in plain.items()}


def test_ndjson_has_true_names_and_facts(ringwalk, strange):
    top, snapshot = strange
    found = {}
    for row in rows(ringwalk, snapshot):
        raw = row["path_raw"]
        path = bytes.fromhex(raw) if raw else row["path"].encode()
        found[path] = row
    expected = {b""}
    for folder, folders, files in os.walk(os.fsencode(top)):
        for name in (*folders, *files):
            expected.add(os.path.relpath(os.path.join(folder, name), os.fsencode(top)))
    assert set(found) == expected
    facts = os.stat(top / "é")
    row = found["é".encode()]
    assert (row["size"], row["ino"], row["nlink"]) == (facts.st_size, facts.st_ino, 3)
    assert row["mtime"] == "2009-02-13T23:31:31.123456789Z"
    assert row["root_path"] == str(top)


def test_one_of_several_roots(ringwalk, scratch):
    a, b, snapshot = scratch / "a", scratch / "b", scratch / "snapshot"
    for top in (a, b):
        top.mkdir()
        (top / f"in-{top.name}").touch()
    ringwalk("snapshot", a, b, "-o", snapshot).ok()
    result = ringwalk("export", snapshot, "--format", "ncdu")
    assert (
        result.status == 2
        and b"choose one with --root: '%s', '%s'"
        % (
            os.fsencode(a),
            os.fsencode(b),
        )
        in result.err
    )
    for top in (a, b):
        tree = ncdu.parse(ringwalk("export", snapshot, "--format", "ncdu", "--root", top).ok().out)
        assert tree[0]["name"] == str(top) and tree[1]["name"] == f"in-{top.name}"
        out = ringwalk("export", snapshot, "--format", "ndjson", "--root", f"{top}/").ok().out
        assert [json.loads(line)["path"] for line in out.splitlines()] == [f"in-{top.name}", ""]
    result = ringwalk("export", snapshot, "--format", "csv", "--root", "/nowhere")
    assert result.status == 2 and b"no root '/nowhere': expected one of '" in result.err


def test_a_root_that_is_a_file(ringwalk, scratch):
    file, snapshot = scratch / "f", scratch / "snapshot"
    file.touch()
    ringwalk("snapshot", file, "-o", snapshot).ok()
    result = ringwalk("export", snapshot, "--format", "ncdu", "-o", scratch / "out")
    assert result.status == 2 and b"needs a directory at the top" in result.err
    assert not (scratch / "out").exists()
    assert len(rows(ringwalk, snapshot)) == 1


def test_bad_arguments(ringwalk, strange, scratch):
    top, snapshot = strange
    data = scratch / "in"
    data.write_bytes(ncdu.scan(top))
    before = snapshot.read_bytes()
    for args, message in (
        (("import", scratch / "none", "-o", scratch / "x"), b"none': No such file"),
        (("import", top, "-o", scratch / "x"), b": Is a directory: expected a file"),
        (("import", data, "-o", scratch / "none" / "x"), b"none/x': No such file"),
        (("import", data, "-o", top), b"Is a directory"),
        (("import", data, "-o", data), b"it is an input, and --output would replace it"),
        (("import", data), b"--output"),
        (("import", data, "-o", "-"), b"a snapshot must be a file; ./- is a file of this name"),
        (("import", data, "-o", scratch / "x", "--memory", "much"), b"expected a number of bytes"),
        (("export", scratch / "none", "--format", "csv"), b"none': No such file"),
        (("export", data, "--format", "csv"), b"in': this is no snapshot"),
        (("export", top, "--format", "csv"), b"no regular file"),
        (("export", snapshot, "--format", "xml"), b"[possible values: ncdu, ndjson, csv]"),
        (("export", snapshot), b"--format"),
        (
            ("export", snapshot, "--format", "csv", "-o", snapshot),
            b"it is an input, and --output would replace it",
        ),
        (("export", snapshot, "--format", "csv", "-o", scratch / "none" / "x"), b"No such file"),
    ):
        result = ringwalk(*args)
        assert result.status == 2 and message in result.err and result.out == b"", result
        assert not (scratch / "x").exists()
    assert snapshot.read_bytes() == before


@pytest.mark.parametrize("style", ("ncdu", "ndjson", "csv"))
def test_a_damaged_snapshot_leaves_the_old_output(ringwalk, strange, scratch, style):
    _, snapshot = strange
    data, output = snapshot.read_bytes(), scratch / "out"
    # The footer says where it begins. The first columns are before it.
    columns = (len(data) - 8 - int.from_bytes(data[-8:-4], "little")) // 2
    snapshot.write_bytes(data[:4] + bytes(columns - 4) + data[columns:])
    output.write_bytes(OLD)
    result = ringwalk("export", snapshot, "--format", style, "-o", output)
    assert result.status == 2 and b"panicked" not in result.err, result
    assert output.read_bytes() == OLD


def test_output_that_cannot_be_written(ringwalk, strange):
    _, snapshot = strange
    command = [*ringwalk.first, "export", snapshot, "--format", "csv"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode != 0 and b"No space left" in done.stderr


@pytest.mark.parametrize("style", ("ncdu", "ndjson", "csv"))
def test_nothing_commands_a_terminal(ringwalk, strange, style):
    _, snapshot = strange
    status, out = converse([*ringwalk.first, "export", snapshot, "--format", style])
    assert status == 0 and out
    assert b"\x1b" not in out and b"\x07" not in out and b"\xc2\x85" not in out
    assert b"\xc2\x9b" not in out and b"\x7f" not in out
