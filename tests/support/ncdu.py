"""ncdu's two formats: runs of Debian's ncdu, and a writer of the binary format.

The writer follows https://dev.yorhel.nl/ncdu/binfmt and shares nothing with the program under test.
Debian's ncdu is older than that format. zstd(1) compresses.
"""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

# The numbers of the keys of an item.
KEYS = {
    "asize": 3,
    "dsize": 4,
    "dev": 5,
    "ino": 13,
    "nlink": 14,
    "uid": 15,
    "gid": 16,
    "mode": 17,
    "mtime": 18,
}
TYPES = {"pattern": -2, "othfs": -3, "otherfs": -3, "kernfs": -4, "frmlnk": -2}


def program(name: str) -> str:
    """Returns the path of a program that a test needs."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def scan(directory: Path) -> bytes:
    """Returns ncdu's export of a directory, with extended information."""
    args = [program("ncdu"), "-0", "-e", "-o", "-", directory]
    return subprocess.run(args, check=True, capture_output=True).stdout


def reexport(file: Path) -> bytes:
    """Returns what ncdu writes after it has read a file."""
    args = [program("ncdu"), "-0", "-e", "-f", file, "-o", "-"]
    return subprocess.run(args, check=True, capture_output=True).stdout


def document(tree: list, **metadata) -> bytes:
    """Returns a file in ncdu's JSON. Surrogate escapes become the bytes that they stand for."""
    text = json.dumps([1, 2, metadata, tree], ensure_ascii=False)
    return text.encode(errors="surrogateescape")


def parse(data: bytes) -> list:
    """Returns the tree of a file in ncdu's JSON, with surrogate escapes."""
    return json.loads(data.decode(errors="surrogateescape"))[3]


def cbor(major: int, argument: int) -> bytes:
    """Returns the head of a value of CBOR."""
    for limit, code, form in ((24, None, ""), (1 << 8, 24, ">B"), (1 << 16, 25, ">H")):
        if argument < limit:
            if code is None:
                return bytes([major << 5 | argument])
            return bytes([major << 5 | code]) + struct.pack(form, argument)
    if argument < 1 << 32:
        return bytes([major << 5 | 26]) + struct.pack(">I", argument)
    return bytes([major << 5 | 27]) + struct.pack(">Q", argument)


def integer(number: int) -> bytes:
    """Returns a whole number in CBOR."""
    return cbor(0, number) if number >= 0 else cbor(1, -1 - number)


class Binary:
    """A file in ncdu's binary format. `size` limits the bytes of a block, before compression."""

    def __init__(self, tree: list, size: int = 64 * 1024):
        self.size = size
        self.blocks: list[bytes] = []
        self.block = b""
        root = self.directory(tree, None)
        self.flush()
        self.data = self.file(root)

    def flush(self) -> None:
        self.blocks.append(self.block)
        self.block = b""

    def directory(self, tree: list, before: int | None) -> int:
        """Adds the entries of a directory, then the directory. Returns its reference."""
        last = None
        for entry in tree[1:]:
            if isinstance(entry, list):
                last = self.directory(entry, last)
            else:
                last = self.item(entry, self.kind(entry), last, None)
        fields = tree[0]
        kind = TYPES[fields["excluded"]] if "excluded" in fields else 0
        return self.item(fields, kind, before, last)

    @staticmethod
    def kind(fields: dict) -> int:
        if "excluded" in fields:
            return TYPES[fields["excluded"]]
        if fields.get("read_error"):
            return -1
        if fields.get("hlnkc"):
            return 3
        return 2 if fields.get("notreg") else 1

    def item(self, fields: dict, kind: int, before: int | None, first: int | None) -> int:
        """Adds an item. Returns its reference."""
        name = fields["name"].encode(errors="surrogateescape")
        if len(self.block) + len(name) + 300 > self.size:
            self.flush()
        at = len(self.blocks) << 24 | len(self.block)

        def reference(key: int, to: int | None) -> bytes:
            if to is None:
                return b""
            near = to >> 24 == at >> 24
            return integer(key) + integer(to - at if near else to)

        out = integer(0) + integer(kind) + integer(1) + cbor(2, len(name)) + name
        out += reference(2, before)
        for field, key in KEYS.items():
            if field in fields:
                out += integer(key) + integer(int(fields[field]))
        if kind == 0 and fields.get("read_error"):
            out += integer(6) + b"\xf5"
        # A key of the future: a map in an array.
        out += integer(40) + b"\x81\xa1\x00\x40"
        out += reference(12, first)
        self.block += b"\xbf" + out + b"\xff"
        return at

    def file(self, root: int) -> bytes:
        out, index = b"\xbfncduEX1", b""
        for number, data in enumerate(self.blocks):
            args = [program("zstd"), "-q", "-c", f"--stream-size={len(data)}"]
            frame = subprocess.run(args, input=data, check=True, capture_output=True).stdout
            block = self.framed(0, struct.pack(">I", number) + frame)
            index += struct.pack(">Q", len(out) << 24 | len(block))
            out += block
        # Parsers ignore blocks of unknown types.
        out += self.framed(7, b"of the future")
        return out + self.framed(1, index + struct.pack(">Q", root))

    @staticmethod
    def framed(kind: int, content: bytes) -> bytes:
        ends = struct.pack(">I", kind << 28 | len(content) + 8)
        return ends + content + ends
