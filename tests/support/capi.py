"""Building C programs against the C library, and running them plainly and under tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.run import Program

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "crates" / "ringwalk-capi"
HEADER = SOURCE / "include" / "ringwalk.h"
STRICT = ("-Wall", "-Wextra", "-Werror", "-g")

# Status by which a program under a tool says that the tool has found something.
FOUND = 99

# They see what C does with the library's memory, and what is lost in the end.
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


class Library:
    """The C library that is tested: the debug build, in whose folder both libraries lie."""

    def __init__(self, folder: Path, work: Path):
        self.folder = folder
        self.work = work
        self.shared = folder / "libringwalk.so"
        self.static = folder / "libringwalk.a"

    def program(self, source: Path, *flags: str, static: bool = False) -> Program:
        """Compiles a C program strictly and links it with the library; once for all tests."""
        told = "-".join((source.parent.name, source.stem, *flags, "static" if static else "shared"))
        program = self.work / "".join(c if c.isalnum() else "-" for c in told)
        if not program.exists():
            compile_c(source, "-std=c11", *flags, *self.link(static), "-o", program)
        return Program(program)

    def link(self, static: bool) -> list:
        """Arguments of a linker."""
        if static:
            needs = ("-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl")
            return [self.static, "-Wl,--gc-sections", *needs]
        return ["-pthread", f"-L{self.folder}", "-lringwalk", f"-Wl,-rpath,{self.folder}"]


def compile_c(source: Path, *args, compiler: str = "cc") -> None:
    """Compiles, with every warning an error, and the header at hand."""
    words = [compiler, *STRICT, "-I", HEADER.parent, source, *args]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr


def under_valgrind(program: Program, *, leaks: bool = True) -> Program:
    """The program under valgrind: wrong accesses fail it, and memory that is lost in the end."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not there")
    # What is possibly lost hangs on threads of the standard library, and is found from within.
    kinds = "definite,indirect"
    checks = ("--leak-check=full", f"--show-leak-kinds={kinds}", f"--errors-for-leak-kinds={kinds}")
    checks = checks if leaks else ("--leak-check=no",)
    return Program("valgrind", "-q", f"--error-exitcode={FOUND}", *checks, *program.first)


def make_tree(top: Path) -> None:
    """The tree of `tests/capi/faults.c`, whose constants tell what is in it."""
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
