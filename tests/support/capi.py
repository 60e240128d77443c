"""C programs with the C library: how tests build them and run them, also under tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support import ROOT
from support.run import Program

SOURCE = ROOT / "crates" / "ringwalk-capi"
HEADER = SOURCE / "include" / "ringwalk.h"
STRICT = ("-Wall", "-Wextra", "-Werror", "-g")

# The exit status of a program in which a tool has found an error.
FOUND = 99

# They find wrong uses of the library's memory by C, and leaks.
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


class Library:
    """The C library under test: a folder with the shared and the static library."""

    def __init__(self, folder: Path, work: Path):
        self.folder = folder
        self.work = work
        self.shared = folder / "libringwalk.so"
        self.static = folder / "libringwalk.a"

    def program(self, source: Path, *more: str | Path, static: bool = False) -> Program:
        """Compiles a C program strictly and links it with the library, once for all tests.

        `more` are further sources, and flags.
        """
        words = [word for word in more if isinstance(word, str)]
        reported = "-".join(
            (source.parent.name, source.stem, *words, "static" if static else "shared")
        )
        program = self.work / "".join(c if c.isalnum() else "-" for c in reported)
        if not program.exists():
            compile_c(source, "-std=c11", *more, *self.link(static), "-o", program)
        return Program(program)

    def link(self, static: bool) -> list:
        """Returns the arguments of the linker."""
        if static:
            needs = ("-lutil", "-lrt", "-lpthread", "-lm", "-ldl")
            return [self.static, "-Wl,--gc-sections", *needs]
        return ["-pthread", f"-L{self.folder}", "-lringwalk", f"-Wl,-rpath,{self.folder}"]


def compile_c(source: Path, *args, compiler: str = "cc") -> None:
    """Compiles a program with the header of the library. Every warning is an error."""
    words = [compiler, *STRICT, "-I", HEADER.parent, source, *args]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr


# A walk starts up to 512 workers where calls take long, as under valgrind on a busy machine.
# Valgrind itself allows 500 threads.
MOST_THREADS = "--max-threads=2000"


def under_valgrind(program: Program, *, leaks: bool = True) -> Program:
    """Returns the program under valgrind, which fails for wrong accesses and leaks."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not there")
    checks = ("--leak-check=full",) if leaks else ("--leak-check=no",)
    return Program(
        "valgrind", "-q", f"--error-exitcode={FOUND}", MOST_THREADS, *checks, *program.first
    )


def make_tree(top: Path) -> None:
    """Makes the tree of `tests/capi/cases.h`, whose constants describe its contents."""
    (top / "wide").mkdir(parents=True)
    for number in range(1500):
        (top / "wide" / f"file{number}").write_bytes(b"x" * (number % 3))
    odd = os.fsencode(top / "odd")
    os.mkdir(odd)
    for number, name in enumerate((b"\xff\xfe", b"new\nline", b"\x80" * 255, b" ")):
        with open(odd + b"/" + name, "wb") as file:
            file.write(b"y" * number)
    for number in range(5):
        for below in ("", *(f"below{child}" for child in range(5))):
            folder = top / "branching" / f"branch{number}" / below
            folder.mkdir(parents=True)
            (folder / "file").write_bytes(b"z")
    (top / "loop").mkdir()
    (top / "loop" / "again").symlink_to(top)
