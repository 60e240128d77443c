"""Fixtures of the tests of `ringwalk du`."""

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
