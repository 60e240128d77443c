"""The bytes of a snapshot that depend on nothing but the trees."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path

# The value of the one key that may differ, behind its length.
RUN = re.compile(
    rb'(ringwalk\.run\x18).{1,3}?\{"start":[^\[]*?"source":"[^"]*"'
    rb'(?:,"transactions":\[[^]]*\])?,"footer_crc32":"[0-9a-f]{8}"\}',
    re.S,
)


def constant(file: Path) -> bytes:
    """Returns the bytes of a snapshot without the value of ringwalk.run and the footer's length."""
    data = file.read_bytes()
    assert data[:4] == data[-4:] == b"PAR1"
    (length,) = struct.unpack("<I", data[-8:-4])
    body, footer = data[: -8 - length], data[-8 - length : -8]
    constant, found = RUN.subn(rb"\1", footer)
    assert found == 1
    return body + constant


def sealed(data: bytes) -> bytes:
    """Returns a snapshot whose footer was changed, with the right checksum of the footer."""
    (length,) = struct.unpack("<I", data[-8:-4])
    body, footer, tail = data[: -8 - length], data[-8 - length : -8], data[-8:]
    mark = b'"footer_crc32":"'
    at = footer.rindex(mark) + len(mark)
    before, behind = footer[:at], footer[at + 8 :]
    return body + before + b"%08x" % zlib.crc32(before + behind) + behind + tail
