"""The programs that are measured in guests, all static but GNU's, which bring their libraries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from .guest_paths import PAYLOAD
from .tools import BENCH, WORK, MissingTool, build, need

SOURCES = BENCH.parent / "kernel/bench"
TESTS = BENCH.parent / "kernel/tests"
FOLDER = WORK / "guest"
TARGET = "x86_64-unknown-linux-gnu"

# GNU's programs, in a folder with their libraries.
GNU = ("find", "du")

PATHS = {
    **{
        name: f"{PAYLOAD}/{name}"
        for name in ("rwbench", "ringtraverse", "traverse", "ringwalk", "fuse_readdir")
    },
    **{name: f"{PAYLOAD}/gnu/{name}" for name in GNU},
}


def files(*tools: str) -> dict[str, Path]:
    """Returns the files of these tools for a guest: names there, and paths here."""
    found = {"timed": build("timed")}
    if not set(tools) <= PATHS.keys():
        raise ValueError(f"no such tools: {set(tools) - PATHS.keys()}")
    if set(tools) & set(GNU):
        found["gnu"] = gnu()
    for tool in tools:
        if tool not in GNU:
            found[tool] = MAKERS[tool]()
    return found


def _make(*words: str) -> None:
    need("make")
    FOLDER.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["make", "-C", *words], capture_output=True, text=True)
    if done.returncode:
        raise MissingTool(f"make in {words[0]} (liburing-dev is needed): {done.stderr.strip()}")


@cache
def rwbench() -> Path:
    """Returns a walk in each way to read."""
    _make(str(SOURCES), f"OUT={FOLDER}", f"{FOLDER}/rwbench")
    return FOLDER / "rwbench"


@cache
def ringtraverse() -> Path:
    """Returns the walk in one event loop."""
    _make(str(SOURCES), f"OUT={FOLDER}", f"{FOLDER}/ringtraverse")
    return FOLDER / "ringtraverse"


@cache
def fuse_readdir() -> Path:
    """Returns the FUSE server, which belongs to the tests."""
    _make(str(TESTS), f"O={FOLDER}/tests", f"{FOLDER}/tests/fuse_readdir")
    return FOLDER / "tests/fuse_readdir"


@cache
def traverse() -> Path:
    """Returns the walk by tokio."""
    return _cargo("traverse", "release", "--manifest-path", str(SOURCES / "traverse/Cargo.toml"))


@cache
def ringwalk() -> Path:
    """Returns Ringwalk itself."""
    manifest = str(BENCH.parent / "Cargo.toml")
    return _cargo("ringwalk", "dist", "--manifest-path", manifest, "-p", "ringwalk-cli")


def _cargo(program: str, profile: str, *options: str) -> Path:
    """Builds a static program; what builds it is not, as the target is named."""
    need("cargo")
    target = Path(os.environ.get("CARGO_TARGET_DIR", BENCH.parent / "target")) / "static"
    command = ["cargo", "build", "--quiet", "--profile", profile, "--locked", "--target", TARGET]
    environment = {
        **os.environ,
        "RUSTFLAGS": "-C target-feature=+crt-static",
        "CARGO_TARGET_DIR": str(target),
    }
    done = subprocess.run([*command, *options], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise MissingTool(f"{program} could not be built:\n{done.stderr.strip()}")
    return target / TARGET / profile / program


@cache
def gnu() -> Path:
    """Returns GNU find and du with their libraries, in one folder."""
    folder = FOLDER / "gnu"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in GNU:
        program = shutil.which(name)
        says = subprocess.run([program or name, "--version"], capture_output=True, text=True).stdout
        if not program or "GNU" not in says:
            raise MissingTool(f"no GNU {name} here")
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"(/\S+) \(0x", listed):
            shutil.copy2(library, folder / Path(library).name)
        shutil.copy2(program, folder / name)
    return folder


MAKERS = {
    "rwbench": rwbench,
    "ringtraverse": ringtraverse,
    "fuse_readdir": fuse_readdir,
    "traverse": traverse,
    "ringwalk": ringwalk,
}
