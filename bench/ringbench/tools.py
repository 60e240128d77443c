"""The programs that are measured: where they are, which version they have."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
WORK = BENCH / "work"

# The interpreter with the packages that are measured, an environment of its own.
PYTHON = WORK / "python/bin/python3"

# Names under which a program may be installed, the first found is taken.
NAMES = {
    "bfs": ("bfs",),
    # A version 4 beside an older one of the distribution: 4 reads ahead with io_uring.
    "bfs4": ("bfs4",),
    "fd": ("fd", "fdfind"),
    "fdu": ("fdu",),
    "pdu": ("pdu",),
    "diskus": ("diskus",),
    "dua": ("dua",),
    "ncdu": ("ncdu",),
    "gdu": ("gdu",),
    "du": ("du",),
    "find": ("find",),
    "ls": ("ls",),
    "fio": ("fio",),
    "b3sum": ("b3sum",),
    "fclones": ("fclones",),
    "czkawka": ("czkawka_cli",),
    "rmlint": ("rmlint",),
    "jdupes": ("jdupes",),
}

# Other programs go by these names as well; without the word it is not the one meant.
IDENTITY = {
    "du": "GNU coreutils",
    "ls": "GNU coreutils",
    "find": "GNU findutils",
    "fd": "fd",
    "bfs4": "bfs 4",
}

C_FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-pthread"]


class MissingTool(Exception):
    """Something without which a suite cannot be run is not installed."""


def build(name: str, work: Path = WORK) -> Path:
    """Compiles `bench/NAME.c` when it or a header is newer than its program; returns the program.

    Linked statically where that works: half a millisecond of dynamic linking is not part
    of the floor.
    """
    source, program = BENCH / f"{name}.c", work / name
    sources = [source, *(BENCH.parent / "tests/shared").glob("*.h")]
    newest = max(each.stat().st_mtime for each in sources)
    if program.exists() and program.stat().st_mtime > newest:
        return program
    work.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CC", "cc")
    for link in (["-static"], []):
        command = [compiler, *C_FLAGS, *link, "-o", str(program), str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return program
    raise MissingTool(f"{source}: could not be compiled with {compiler}:\n{done.stderr}")


def installed(program: Path, work: Path = WORK) -> Path:
    """Returns a copy, as installing makes one and as the peers are.

    A file that the linker has just written lies in the page cache in small pieces, and
    starting it takes 6 % longer for that.
    """
    work.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy2(program, work / program.name))


def linked(program: Path, name: str, work: Path = WORK) -> Path:
    """Returns a link of that name to a program, which behaves as its name says."""
    link = work / "links" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(program.resolve())
    return link


def shell_program(program: Path, command: str) -> Path:
    """Writes a program that runs a command of the shell."""
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)
    return program


def version(program: str) -> str:
    """Returns the first line of what `PROGRAM --version` prints."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, errors="replace")
    return (done.stdout.strip().splitlines() or ["unknown"])[0]


class Toolbox:
    """Finds programs: Ringwalk where it was built, peers in given folders, then in PATH."""

    def __init__(self, ringwalk: Path, peers: list[Path]):
        self._paths: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        self.missing: dict[str, str] = {}
        self._paths["floor"] = str(build("floor"))
        self.timed = build("timed")
        if ringwalk.is_file() and os.access(ringwalk, os.X_OK):
            program = installed(ringwalk)
            self._add("ringwalk", str(program), None)
            self._paths["ringwalk-link"] = str(linked(program, "find"))
        else:
            self.missing["ringwalk"] = f"{ringwalk} is not a program: cargo build --profile dist"
        for example in ("block_read", "traverse"):
            program = ringwalk.parent / "examples" / example
            if program.is_file():
                self.provide(example, installed(program))
        search = os.pathsep.join([*map(str, peers), os.environ.get("PATH", os.defpath)])
        for tool, names in NAMES.items():
            found = filter(None, (shutil.which(name, path=search) for name in names))
            for path in found:
                if self._add(tool, path, IDENTITY.get(tool)):
                    break
            else:
                self.missing[tool] = f"no {' or '.join(names)} in --peers or PATH"

    def _add(self, tool: str, path: str, identity: str | None) -> bool:
        says = version(path)
        if identity and identity not in says:
            return False
        self._paths[tool] = path
        self.versions[tool] = says
        return True

    def provide(self, tool: str, program: Path, says: str | None = None) -> None:
        """Adds a program that was built for a suite; what it says of its version is recorded."""
        self._paths[tool] = str(program)
        if says:
            self.versions[tool] = says

    def find(self, tool: str) -> str | None:
        """Returns the path of a program, or None when it is not installed."""
        return self._paths.get(tool)

    def need_command(self, command: str, *arguments: str) -> None:
        """Raises unless Ringwalk was found and `ringwalk COMMAND ARGUMENT...` succeeds."""
        program = self.find("ringwalk")
        if not program:
            raise MissingTool(self.missing["ringwalk"])
        done = subprocess.run(
            [program, command, *arguments], capture_output=True, text=True, errors="replace"
        )
        if done.returncode:
            says = (done.stderr.strip().splitlines() or ["nothing"])[0]
            status = f"exit status {done.returncode}"
            raise MissingTool(f"`ringwalk {command}` does not work ({status}): it says {says}")


def need(*programs: str) -> None:
    """Raises unless all these programs (of the system, not measured) are installed."""
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    missing = [name for name in programs if not shutil.which(name, path=path)]
    if missing:
        raise MissingTool(f"not installed: {', '.join(missing)}")
