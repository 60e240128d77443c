"""`ringwalk hash --check`: the lists and answers of sha256sum and b3sum."""

from __future__ import annotations

import pytest
from support.run import needs_program, run

DIGEST = b"a" * 64


@pytest.fixture
def three(scratch):
    """Three files, and a list of them by sha256sum."""
    for name in ("one", "two", "three"):
        (scratch / name).write_text(name)
    listed = run(["sha256sum", "one", "two", "three"], cwd=scratch).ok().out
    (scratch / "list").write_bytes(listed)
    return scratch


@pytest.fixture(scope="session")
def check(hashing):
    """`ringwalk hash --algo sha256 --check`."""
    return hashing.with_args("--algo", "sha256", "--check")


def names_below(top):
    return run(["find", ".", "-type", "f", "-print0"], cwd=top).ok().lines(b"\0")


@pytest.mark.smoke
def test_sha256sum_accepts_ours(hashing, named, scratch):
    (scratch / "list").write_bytes(hashing("--algo", "sha256", ".", cwd=named).ok().out)
    done = run(["sha256sum", "--strict", "-c", scratch / "list"], cwd=named)
    lines = done.lines()
    # sha256sum before coreutils 9.2 does not read "\r".
    escaped = [name for name in names_below(named) if b"\r" in name]
    assert sum(line.endswith(b": OK") for line in lines) >= len(names_below(named)) - len(escaped)
    assert not any(b"FAILED" in line for line in lines)


@pytest.mark.parametrize("style", ([], ["--tag"], ["--binary"]))
def test_lists_of_sha256sum(check, named, scratch, style):
    names = names_below(named)
    list_file = scratch / "list"
    list_file.write_bytes(run(["sha256sum", *style, "--", *names], cwd=named).ok().out)
    ours = check(list_file, cwd=named).ok().lines()
    theirs = run(["sha256sum", "-c", list_file], cwd=named).ok().lines()
    # coreutils before 9.2 writes names with a backslash or a carriage return in other ways.
    odd = (b"\\", b"\r")
    plain = [line for line in theirs if not any(byte in line for byte in odd)]
    assert [line for line in ours if b"\\" not in line] == plain
    assert len(ours) == len(names) and all(line.endswith(b": OK") for line in ours)


def test_lists_of_b3sum(hashing, named, scratch):
    needs_program("b3sum")
    plain = [name for name in names_below(named) if name.isascii() and b"\r" not in name]
    list_file = scratch / "list"
    list_file.write_bytes(run(["b3sum", "--", *plain], cwd=named).ok().out)
    assert len(hashing("--check", list_file, cwd=named).ok().lines()) == len(plain)
    list_file.write_bytes(hashing(*plain, cwd=named).ok().out)
    done = run(["b3sum", "--check", list_file], cwd=named)
    assert done.status == 0 and len(done.lines()) == len(plain), done


def test_files_that_fail_are_those_of_sha256sum(check, three):
    (three / "one").write_text("other")
    (three / "two").unlink()
    ours = check("list", cwd=three)
    theirs = run(["sha256sum", "-c", "list"], cwd=three)
    assert ours.status == theirs.status == 1
    assert ours.out == theirs.out
    assert ours.out == b"one: FAILED\ntwo: FAILED open or read\nthree: OK\n"
    assert b"cannot open 'two': No such file or directory" in ours.err
    assert b"1 file could not be read" in ours.err and b"1 file has other contents" in ours.err


def test_quiet_prints_what_fails(check, three):
    assert check("--quiet", "list", cwd=three).status == 2, "the list comes behind --check"
    quiet = ["list", "--quiet"]
    assert check(*quiet, cwd=three).ok().out == b""
    (three / "one").write_text("other")
    result = check(*quiet, cwd=three)
    assert result.status == 1 and result.out == b"one: FAILED\n"


def test_a_list_on_standard_input(check, three):
    data = (three / "list").read_bytes()
    assert check("-", stdin=data, cwd=three).ok().out == b"one: OK\ntwo: OK\nthree: OK\n"
    result = check("-", stdin=b"", cwd=three)
    assert result.status == 2 and not result.out


def test_lines_that_are_no_hashes(check, three):
    good = (three / "list").read_bytes()
    bad = [b"nonsense", DIGEST[1:] + b"  one", DIGEST + b"one", b"g" * 64 + b"  one"]
    bad += [b"\\" + DIGEST + b"  o\\qe", DIGEST + b"  ", b"MD5 (one) = " + DIGEST]
    bad += [DIGEST + b"  a\0b"]
    mixed = b"# a comment\n\n" + good + b"\n".join(bad)
    result = check("-", stdin=mixed, cwd=three)
    assert result.status == 1 and result.out == b"one: OK\ntwo: OK\nthree: OK\n"
    assert b"%d lines are not hashes" % len(bad) in result.err
    for data in (b"\n".join(bad), b"# a comment\n", b"\n"):
        result = check("-", stdin=data, cwd=three)
        assert result.status == 2 and not result.out, result


def test_lines_that_end_as_those_of_dos(check, three):
    data = (three / "list").read_bytes().replace(b"\n", b"\r\n").upper()
    data = data.replace(b"ONE", b"one").replace(b"TWO", b"two").replace(b"THREE", b"three")
    assert check("-", stdin=data, cwd=three).ok().out == b"one: OK\ntwo: OK\nthree: OK\n"


def test_a_list_of_another_function(hashing, three):
    """BLAKE3 has digests of the same length."""
    result = hashing("--check", "list", cwd=three)
    assert result.status == 1 and result.out.count(b": FAILED\n") == 3
    result = hashing("--algo", "xxh3", "--check", "list", cwd=three)
    assert result.status == 2 and b"--algo names another one" in result.err


def test_a_list_that_cannot_be_read(check, three):
    for name, reason in (("missing", b"No such file"), (".", b"Is a directory")):
        result = check(name, cwd=three)
        assert result.status in (1, 2) and not result.out, result
        assert reason in result.err


def test_a_line_without_end(check, three):
    """An endless list must not take endless memory."""
    result = check("-", stdin=b"x" * (5 << 20), cwd=three)
    assert result.status == 2 and not result.out


def test_a_line_that_is_too_long_is_one_line(check, three):
    listed = (three / "list").read_bytes()
    for first, status in ((b"#", 0), (b"x", 1)):
        (three / "long").write_bytes(first.ljust(1 << 20, b"x") + DIGEST + b"  one\n" + listed)
        result = check("long", cwd=three)
        assert (result.status, result.out) == (status, b"one: OK\ntwo: OK\nthree: OK\n")
        assert (b"1 line is not a hash" in result.err) == (status == 1)


def test_the_same_file_twice_and_paths_upwards(check, three):
    (three / "folder").mkdir()
    lines = (three / "list").read_bytes().splitlines()
    data = b"\n".join(line.replace(b"  ", b"  ../") for line in lines * 2)
    result = check("-", stdin=data, cwd=three / "folder").ok()
    assert result.out == b"../one: OK\n../two: OK\n../three: OK\n" * 2


def test_names_in_answers_are_escaped(check, scratch):
    (scratch / "a\nb").write_text("x")
    data = run(["sha256sum", "a\nb"], cwd=scratch).ok().out
    theirs = run(["sha256sum", "-c"], cwd=scratch, stdin=data).ok().out
    assert check("-", stdin=data, cwd=scratch).ok().out == theirs


@pytest.mark.parametrize("data", (b"data\n", b"other\n"))
def test_a_dash_is_standard_input(check, three, data):
    """`producer | sha256sum` names its input so."""
    digest = run(["sha256sum"], stdin=b"data\n").ok().out
    (three / "list").write_bytes(run(["sha256sum", "one"], cwd=three).ok().out + digest)
    theirs = run(["sha256sum", "-c", "list"], cwd=three, stdin=data)
    ours = check("list", stdin=data, cwd=three)
    assert (ours.status, ours.out) == (theirs.status, theirs.out)
    # It cannot be the list, too.
    theirs = run(["sha256sum", "-c"], cwd=three, stdin=digest + data)
    ours = check("-", stdin=digest + data, cwd=three)
    assert (bool(ours.status), ours.out) == (bool(theirs.status), theirs.out)
