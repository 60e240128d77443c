"""Apparent sizes: the numbers of GNU du 9.10, where du 9.1 of Debian 12 differs.

The expectations are those of du 9.10. Everything else is compared with the installed du.
"""

from __future__ import annotations

import pytest

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
    "-aA -B1": EVERY,
    "-b": b"0\tt/sub/empty\n1030\tt/sub\n1049606\tt\n",
    "-sb": b"1049606\tt\n",
    "-sbL": b"1049606\tt\n",
    "-Sb": b"0\tt/sub/empty\n1030\tt/sub\n1048576\tt\n",
    "-cb": b"0\tt/sub/empty\n1030\tt/sub\n1049606\tt\n1049606\ttotal\n",
    "-A": b"0\tt/sub/empty\n1026\tt\n2\tt/sub\n",
    "--apparent-size": b"0\tt/sub/empty\n1026\tt\n2\tt/sub\n",
    "-b -t1": b"1030\tt/sub\n1049606\tt\n",
    "-b -t-1": b"0\tt/sub/empty\n",
}


@pytest.mark.smoke
@pytest.mark.parametrize("options", APPARENT)
def test_apparent_sizes_are_those_of_files_and_links(du, types, options):
    if "L" in options:
        # With -L the broken link would be an error.
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
