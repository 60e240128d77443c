"""The programs that measure the interfaces for Rust, Python and C, and their peers."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from .tools import (
    BENCH,
    C_FLAGS,
    WORK,
    MissingTool,
    Toolbox,
    build,
    installed,
    need,
    shell_program,
    version,
)

ROOT = BENCH.parent
LISTING = BENCH / "listing/Cargo.toml"
TOKIO_TRAVERSE = ROOT / "kernel/bench/traverse/Cargo.toml"


def target() -> Path:
    """Returns the folder in which cargo builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def cargo(program: str, manifest: Path) -> Path:
    """Builds a program that is a workspace of its own; returns a copy."""
    need("cargo")
    folder = target() / "bench"
    words = ["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", str(manifest)]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(folder)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise MissingTool(f"{manifest} could not be built:\n{done.stderr.strip()}")
    # Programs of several workspaces lie side by side, some by the same name.
    copies = WORK / "api" / manifest.parent.name
    return installed(folder / "release" / program, copies)


def tokio_version(manifest: Path) -> str:
    """Returns the version of tokio in a lock file."""
    lock = manifest.with_name("Cargo.lock").read_text()
    _, _, rest = lock.partition('name = "tokio"\nversion = "')
    return f"tokio {rest.partition(chr(34))[0] or 'unknown'}"


def provide_async(tools: Toolbox) -> None:
    """Adds `listing`, tokio's walk and `traverse`, which has to be built."""
    if not tools.find("traverse"):
        example = "cargo build --profile dist -p ringwalk --features async --example traverse"
        raise MissingTool(f"no traverse: {example}")
    tools.provide("listing", cargo("listing", LISTING), tokio_version(LISTING))
    walk = cargo("traverse", TOKIO_TRAVERSE)
    tools.provide("tokio-traverse", walk, tokio_version(TOKIO_TRAVERSE))


def provide_python(tools: Toolbox, python: Path) -> None:
    """Adds `walks`: the given interpreter, with the script that takes the time."""
    remedy = f"python3 -m venv {python.parent.parent} and pip install what docs/benchmarks.md says"
    if not os.access(python, os.X_OK):
        raise MissingTool(f"{python} is not a program: {remedy}")
    # Not resolved: a virtual environment is known by the link that it is called through.
    program = launcher(python.absolute(), BENCH / "walks.py")
    says = version(str(program))
    if "ringwalk" not in says:
        raise MissingTool(f"{python} has no package ringwalk (it says {says}): {remedy}")
    tools.provide("walks", program, says)


def launcher(python: Path, script: Path) -> Path:
    """Returns a program of one word that runs a script by this interpreter."""
    words = " ".join(map(shlex.quote, (str(python), str(script))))
    return shell_program(WORK / "api" / script.stem, f'exec {words} "$@"')


def provide_c(tools: Toolbox) -> None:
    """Adds the C library's walk, and the example of our library."""
    tools.provide("fts", build("fts"), _glibc())
    tools.provide("capi-fts", capi_fts())


def capi_fts() -> Path:
    """Builds the example in the shape of fts(3), linked with the shared library."""
    library = target().resolve() / "capi/dist"
    if not (library / "libringwalk.so").exists():
        raise MissingTool(f"no libringwalk.so in {library}: make capi")
    program = WORK / "api/capi/fts"
    program.parent.mkdir(parents=True, exist_ok=True)
    crate = ROOT / "crates/ringwalk-capi"
    words = [os.environ.get("CC", "cc"), *C_FLAGS, "-I", crate / "include", "-o", program]
    words += [crate / "examples/fts.c", "-L", library, f"-Wl,-rpath,{library}", "-lringwalk"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode:
        raise MissingTool(f"{crate}/examples/fts.c could not be built:\n{done.stderr}")
    return program


def _glibc() -> str:
    """Returns the version of the C library, as glibc reports it."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or "unknown"
    except (ValueError, OSError):
        return "unknown"
