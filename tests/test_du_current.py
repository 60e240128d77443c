"""What GNU du 9.7 prints where du 9.1 of Debian 12 prints something else.

The expectations are those of du 9.7. Everything else is compared with the installed du.
"""

from __future__ import annotations

import os
import socket

import pytest


@pytest.fixture
def types(scratch):
    """A directory with a file of each type that anybody can make."""
    top = scratch / "t"
    (top / "sub" / "empty").mkdir(parents=True)
    (top / "sub" / "file").write_bytes(b"x" * 1000)
    (top / "sub" / "link").symlink_to("n" * 30)
    (top / "hole").touch()
    os.truncate(top / "hole", 1 << 20)
    os.mkfifo(top / "fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(top / "socket"))
    for path in (top / "sub" / "file", top / "hole", top / "fifo", top / "socket", top / "sub"):
        os.utime(path, (0, 0))
    return scratch


EVERY = b"""0\tt/fifo
0\tt/socket
0\tt/sub/empty
1000\tt/sub/file
1030\tt/sub
1048576\tt/hole
1049606\tt
30\tt/sub/link
"""

# Options, and the lines in sorted order.
APPARENT = {
    "-ab": EVERY,
    "-a --apparent-size -B1": EVERY,
    "-b": b"0\tt/sub/empty\n1030\tt/sub\n1049606\tt\n",
    "-sb": b"1049606\tt\n",
    "-sbL": b"1049606\tt\n",
    "-Sb": b"0\tt/sub/empty\n1030\tt/sub\n1048576\tt\n",
    "-cb": b"0\tt/sub/empty\n1030\tt/sub\n1049606\tt\n1049606\ttotal\n",
    "--apparent-size": b"0\tt/sub/empty\n1026\tt\n2\tt/sub\n",
    "-b -t1": b"1030\tt/sub\n1049606\tt\n",
    "-b -t-1": b"0\tt/sub/empty\n",
}


@pytest.mark.parametrize("options", APPARENT)
def test_apparent_sizes_are_those_of_files_and_links(du, types, options):
    if "L" in options:
        # Followed, the link would lead nowhere.
        (types / "t" / "sub" / "link").unlink()
        (types / "t" / "sub" / "file").write_bytes(b"x" * 1030)
    result = du(*options.split(), "t", cwd=types).ok()
    assert b"\n".join(sorted(result.lines())) + b"\n" == APPARENT[options]


def test_operands_of_other_types_have_no_apparent_size(du, types):
    operands = ("t/fifo", "t/socket", "t/sub/empty", "t/sub/link", "/dev/null")
    expected = b"0\tt/fifo\n0\tt/socket\n0\tt/sub/empty\n30\tt/sub/link\n0\t/dev/null\n"
    assert du("-b", *operands, cwd=types).ok().out == expected


def test_apparent_sizes_with_times(du, types):
    got = du("-b", "--time", "--time-style=+%s", "t/sub/file", "t/fifo", cwd=types)
    assert got.ok().out == b"1000\t0\tt/sub/file\n0\t0\tt/fifo\n"


def test_inodes_are_counted_whatever_their_type(du, types):
    got = du("--inodes", "-b", "t", cwd=types)
    assert got.status == 0 and b"ineffective with --inodes" in got.err
    assert got.out == b"1\tt/sub/empty\n4\tt/sub\n8\tt\n"


@pytest.mark.parametrize("size", ("1R", "1Q", "1RB", "-1QiB", "R"))
def test_ronna_and_quetta_are_units_of_thresholds(du, types, size):
    for option, told in ((f"--threshold={size}", "--threshold"), (f"-t{size}", "-t")):
        got = du(option, "t", cwd=types)
        message = f"du: {told} argument '{size}' too large\n"
        assert (got.status, got.out, got.err.decode()) == (1, b"", message)
    assert du("--threshold=0Q", "-sb", "t", cwd=types).ok().out == b"1049606\tt\n"


def test_the_help_has_options_and_their_texts_on_one_line(du):
    lines = du("--help").ok().out.decode().splitlines()
    for option in ("--inodes", "--apparent-size", "-s, --summarize", "-k", "--explain"):
        assert any(line.strip().startswith(option + "  ") for line in lines), option


@pytest.mark.parametrize("options", ("-L", "-aL", "-Ll"))
def test_a_long_chain_of_links_is_followed(du, scratch, options):
    """GNU du names the last file by a path through all links, which the kernel refuses: ELOOP."""
    for number in range(100):
        (scratch / str(number)).mkdir()
        (scratch / str(number) / "next").symlink_to(f"../{number + 1}")
    (scratch / "100").write_bytes(b"x" * 1000)
    assert b"1000\t0\n" in du(options, "-b", "0", cwd=scratch).ok().out
