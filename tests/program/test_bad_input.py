"""Bad input of every kind: the message names it and says what is valid; the rest is processed.

count and doctor end with 2 for a command line they cannot use and with 1 when something could not
be read. du ends with 1 for both and says what GNU du says.
"""

from __future__ import annotations

import pytest
from support.gnu import assert_same, counted, messages
from support.run import Program

# Arguments, and what the message must contain.
USAGE = (
    (("count", "--nonsense"), ("--nonsense",)),
    (("count", "-q"), ("-q",)),
    (("--nonsense", "count"), ("--nonsense",)),
    (("nonsense",), ("nonsense",)),
    (("count", "--workers", "0"), ("--workers", "'0'", "1")),
    (("count", "--workers", "x"), ("--workers", "'x'", "number")),
    (("count", "--workers", "-1"), ("-1",)),
    (("count", "--workers", "1.5"), ("'1.5'", "number")),
    (("count", "--workers", "99999999999999999999"), ("'99999999999999999999'",)),
    (("count", "--workers="), ("--workers",)),
    (("count", "--in-flight", "0"), ("--in-flight", "'0'", "number")),
    (("--workers", "x", "doctor"), ("--workers", "'x'", "number")),
    (("count", "--source", "nonsense"), ("'nonsense'", "auto", "syscall")),
    (("count", "--source="), ("--source", "auto", "syscall")),
    (("--source", "nonsense", "doctor"), ("'nonsense'", "auto", "syscall")),
    (("count", "--prefetch", "nonsense"), ("'nonsense'", "auto", "always", "never")),
    (("count", "--prefetch"), ("--prefetch", "auto", "always", "never")),
    (("count", "--sync=1"), ("--sync", "1")),
    (("count", "--progress", "nonsense"), ("'nonsense'", "auto", "always", "never")),
    (("doctor", "--nonsense"), ("--nonsense",)),
    (("doctor", ".", "surplus"), ("surplus",)),
)


@pytest.mark.parametrize("command", ("browse", "diff", "dupes", "export", "report", "sql"))
def test_a_snapshot_as_an_operand(ringwalk, command):
    """These commands take trees, so a snapshot stands where a directory would."""
    for words in ([command, "--from", "s"], [command, "x", "--from=s"]):
        result = ringwalk(*words)
        assert result.status == 2 and result.out == b""
        advice = f"{command} takes a snapshot in the place of a directory, without --from"
        assert result.err.decode().startswith(f"ringwalk: {advice}: ringwalk {command} SNAP")
    for other in ("hash", "snapshot", "import", "doctor"):
        result = ringwalk(other, "--from", "s", "x")
        assert result.status == 2 and b"unexpected argument '--from'" in result.err


@pytest.mark.parametrize(("arguments", "words"), USAGE, ids=repr)
def test_usage_errors(ringwalk, scratch, arguments, words):
    result = ringwalk(*arguments, cwd=scratch)
    assert result.status == 2, result
    assert result.out == b""
    for word in words:
        assert word.encode() in result.err, result


VARIABLES = (
    ({"RINGWALK_WORKERS": "0"}, ("RINGWALK_WORKERS", "0", "number")),
    ({"RINGWALK_WORKERS": "many"}, ("RINGWALK_WORKERS", "many", "number")),
    ({"RINGWALK_IN_FLIGHT": "0"}, ("RINGWALK_IN_FLIGHT", "0", "number")),
    ({"RINGWALK_WORKERS": "-3"}, ("RINGWALK_WORKERS", "-3", "number")),
    ({"RINGWALK_SOURCE": "nonsense"}, ("RINGWALK_SOURCE", "nonsense", "syscall")),
    ({"RINGWALK_PREFETCH": "now"}, ("RINGWALK_PREFETCH", "now", "always")),
    ({"RINGWALK_SYNC": "yes"}, ("RINGWALK_SYNC", "yes", "1")),
)


@pytest.mark.parametrize(("variables", "words"), VARIABLES, ids=str)
def test_bad_variables(ringwalk, du, scratch, variables, words):
    for program, status in ((ringwalk.with_args("count"), 2), (du, 1)):
        result = program(scratch, env=variables)
        assert result.status == status, result
        assert result.out == b""
        for word in words:
            assert word.encode() in result.err, result


def test_an_option_overrides_a_bad_variable(count, scratch):
    env = {"RINGWALK_WORKERS": "nonsense", "RINGWALK_SOURCE": "nonsense"}
    options = ("--workers", 2, "--source", "syscall")
    assert counted(count(*options, scratch, env=env).ok()) == (0, 0)


def test_good_variables_are_used(count, scratch):
    (scratch / "file").touch()
    env = {"RINGWALK_WORKERS": "3", "RINGWALK_SOURCE": "syscall"}
    assert counted(count(scratch, env=env).ok()) == (1, 0)
    # An empty variable counts as not set.
    env = {"RINGWALK_WORKERS": "", "RINGWALK_SOURCE": ""}
    assert counted(count(scratch, env=env).ok()) == (1, 0)


PATHS = (
    # A path and the reasons that are correct for it. A broken link is no directory either.
    (b"missing", b"No such file or directory"),
    (b"file", b"Not a directory"),
    (b"file/below", b"Not a directory"),
    (b"loop", b"Too many levels of symbolic links", b"Not a directory"),
    (b"dangling", b"No such file or directory", b"Not a directory"),
    (b"n" * 256, b"File name too long"),
    (b"", b"No such file or directory"),
)


@pytest.fixture
def odd_paths(scratch):
    (scratch / "file").write_bytes(b"x")
    (scratch / "loop").symlink_to("loop")
    (scratch / "dangling").symlink_to("nowhere")
    (scratch / "good").mkdir()
    (scratch / "good" / "entry").write_bytes(b"1234")
    return scratch


@pytest.mark.parametrize("bad", PATHS, ids=repr)
def test_count_names_a_bad_path_and_counts_the_rest(count, odd_paths, bad):
    path, *reasons = bad
    for workers in (1, 3):
        result = count("--workers", workers, "good", path, "good", cwd=odd_paths)
        assert result.status == 1, result
        assert path in result.err
        assert any(reason in result.err for reason in reasons), result
        assert counted(result) == (2, 8)


@pytest.mark.parametrize("bad", PATHS, ids=repr)
def test_doctor_names_a_bad_path(ringwalk, odd_paths, bad):
    path, *reasons = bad
    result = ringwalk("doctor", path, cwd=odd_paths)
    assert result.status in (1, 2), result
    assert path in result.err
    assert any(reason in result.err for reason in reasons), result


@pytest.mark.parametrize("path", [path for path, *_ in PATHS], ids=repr)
def test_du_names_a_bad_path_as_gnu_does(du, gnu_du, odd_paths, path):
    assert_same(du, gnu_du, "-a", "good", path, "file", cwd=odd_paths)
    assert_same(du, gnu_du, "-c", path, cwd=odd_paths)


NAMES = (
    b"new\nline",
    b"a b",
    b"it's",
    b"\xff\xfe",
    b"\x1b[31m",
    b'"',
    b"\\",
    b"tab\t",
    b"$x",
    b"~",
)


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_odd_names_are_quoted_as_gnu_does(du, gnu_du, count, scratch, name):
    assert_same(du, gnu_du, name, cwd=scratch)
    assert_same(du, gnu_du, "-d", name, cwd=scratch)
    # No control character of a name reaches the terminal.
    result = count(name, cwd=scratch)
    assert result.status == 1
    assert not any(byte < 32 and byte != ord("\n") for byte in result.err)


DU_ERRORS = (
    "-s -a",
    "-s -d0",
    "-s -d1",
    "-sd 0",
    "-s --max-depth=3",
    "-d x",
    "-d 1.5",
    "-d 18446744073709551616",
    "-d -9223372036854775809",
    "-d -",
    "--max-depth=",
    "-B x",
    "-B 0",
    "-B -1",
    "-B 1Q",
    "-B 1KBB",
    "-B 99999999999999999999999",
    "--block-size=x",
    "--block-size=1Q",
    "--block-size=0",
    "-t x",
    "-t -0",
    "-t 0",
    "-t 1J",
    "--threshold=9999999999999999999999",
    "--threshold=",
    "--time=nonsense",
    "--time=",
    "--time=c",
    "--time --time-style=nonsense",
    "--time --time-style=",
    "--time --time-style=fu",
    "--nonsense",
    "--nonsense=3",
    "--all=3",
    "-Z",
    "-aZb",
    "-B",
    "-d",
    "--exclude",
    "--files0-from",
    "--max-depth",
    "--files0-from=missing",
    "--files0-from=list surplus",
    "-X missing",
    "--exclude-from=missing",
    "-X good",
    "--inodes -b",
    "--inodes --apparent-size",
    "--ti",
    "--t",
    "--a",
    "--s",
    "--exc",
    "--max 1",
    "--app",
    "--si --inodes",
    "--null -s",
    "--no-dereference --dereference -s",
    "-sc --",
    "-s -- -a",
)


@pytest.mark.parametrize("line", DU_ERRORS)
def test_du_says_what_gnu_says(du, gnu_du, odd_paths, line):
    (odd_paths / "list").write_bytes(b"good\0")
    expected, got = gnu_du(*line.split(), cwd=odd_paths), du(*line.split(), cwd=odd_paths)
    assert messages(got) == messages(expected)
    assert got.status == expected.status
    assert sorted(got.lines()) == sorted(expected.lines())


def test_du_by_its_long_name_says_the_same(ringwalk, du, odd_paths):
    for arguments in (("-a",), ("-d", "x"), ("missing",), ("--nonsense",)):
        by_link = du(*arguments, cwd=odd_paths)
        by_name = ringwalk("du", *arguments, cwd=odd_paths)
        assert (by_name.out, by_name.status) == (by_link.out, by_link.status)
        assert messages(by_name) == messages(by_link)


def test_a_current_directory_that_is_gone(count, programs, scratch):
    """An absolute operand needs no current directory."""
    (scratch / "gone").mkdir()
    (scratch / "tree").mkdir()
    (scratch / "tree" / "file").write_bytes(b"12345")
    shell = Program("sh", "-c", 'rmdir "$PWD" && exec "$0" "$@"')
    result = shell(programs / "ringwalk", "count", scratch / "tree", cwd=scratch / "gone")
    assert counted(result.ok()) == (1, 5)
    assert counted(count(".", cwd=scratch).ok())[0] == 2
