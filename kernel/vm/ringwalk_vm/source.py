# SPDX-License-Identifier: GPL-2.0-only
"""The sources of the kernel that is built here, with the patch series on them.

One tree serves every checkout and every state of the series. A change of patches rewrites only the
files whose content changes, so that make compiles only what depends on those:

    src/        the tree that is compiled
    pristine/   the original files of those that patches change in src
    state.json  {"version": of the package, "paths": {path: whether it came with the package},
                 "applied": the series in src, null while that changes}

A build shares the tree's lock; a change holds it exclusively.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import cache
from .errors import Failure, Impossible
from .stock import download

SERIES = "6.12"
PACKAGE = f"linux-source-{SERIES}"
LOCK = PACKAGE
PATCHES = Path(__file__).resolve().parents[2] / "patches" / SERIES
TOUCHED = re.compile(rb"^(?:---|\+\+\+) [ab]/([^\t\n]+)", re.MULTILINE)


def home() -> Path:
    """Returns the folder of the tree and its builds."""
    return cache.root() / f"linux-{SERIES}"


def patches() -> list[Path]:
    """Returns the series, in its order; the cover letter is not a patch."""
    return sorted(path for path in PATCHES.glob("*.patch") if not path.name.startswith("0000-"))


def version() -> str:
    """Returns the version of the source package that is installed, else the newest known one."""
    query = [
        cache.tool("dpkg-query", "dpkg"),
        "-W",
        "-f",
        "${db:Status-Status} ${Version}",
        PACKAGE,
    ]
    status, _, found = output(query).partition(" ")
    if status == "installed":
        return found
    shown = output([cache.tool("apt-cache", "apt"), "show", "--no-all-versions", PACKAGE])
    match = re.search(r"^Version: (\S+)", shown, re.MULTILINE)
    if not match:
        raise Impossible(f"no package list of this machine names {PACKAGE}")
    return match[1]


def output(command: list[str]) -> str:
    """Returns the output of a query; nothing when it fails."""
    return subprocess.run(command, capture_output=True, text=True).stdout


def series() -> str:
    """Returns the digest of the series of this checkout."""
    return cache.digest(*(patch.read_bytes() for patch in patches()))


@contextlib.contextmanager
def patched_tree():
    """Provides the tree with the series of this checkout, which stays applied in the block."""
    wanted = [version(), series()]
    while True:
        with cache.lock(LOCK, shared=True):
            state = read_state()
            if [state["version"], state["applied"]] == wanted:
                yield home() / "src"
                return
        with cache.lock(LOCK):
            patch_tree(*wanted)


def patch_tree(package: str, digest: str) -> None:
    """Unpacks the tree if it is not there, and applies the series of this checkout."""
    state = read_state()
    if state["version"] != package:
        state = unpack(package)
    state["applied"] = None
    touched = sorted({path for patch in patches() for path in paths_of(patch)})
    keep_pristine(touched, state)
    with tempfile.TemporaryDirectory(prefix="patching.", dir=home()) as name:
        scratch = Path(name)
        apply(touched, state, scratch)
        for path in sorted({*state["paths"], *touched}):
            origin = scratch if path in touched else home() / "pristine"
            replace(home() / "src" / path, origin / path)
    state["applied"] = digest
    write_state(state)


def read_state() -> dict:
    try:
        return {"applied": None, **json.loads((home() / "state.json").read_text())}
    except (OSError, ValueError):
        return {"version": None, "paths": {}, "applied": None}


def write_state(state: dict) -> None:
    file = home() / "state.json.new"
    file.write_text(json.dumps(state, indent=1))
    file.rename(home() / "state.json")


def unpack(wanted: str) -> dict:
    """Unpacks the package's archive in place of what was there, builds included."""
    cache.say(f"unpacking {PACKAGE} {wanted}")
    home().mkdir(exist_ok=True)
    for entry in list(home().iterdir()):
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    archive = Path(f"/usr/src/{PACKAGE}.tar.xz")
    if not archive.is_file():
        package = download(f"{PACKAGE}={wanted}", home())
        cache.run(
            [cache.tool("dpkg-deb", "dpkg"), "-x", package, home() / "package"], what="dpkg-deb"
        )
        archive = home() / "package" / archive.relative_to("/")
    making = home() / "unpacking"
    making.mkdir()
    command = ["tar", "-xf", archive, "-C", making, "--strip-components=1"]
    cache.run(command, what=f"unpacking {archive.name}")
    making.rename(home() / "src")
    shutil.rmtree(home() / "package", ignore_errors=True)
    state = {"version": wanted, "paths": {}, "applied": None}
    write_state(state)
    return state


def paths_of(patch: Path) -> list[str]:
    """Returns the files that a patch changes, makes or removes."""
    found = [os.fsdecode(path) for path in TOUCHED.findall(patch.read_bytes())]
    for path in found:
        if path.startswith("/") or ".." in path.split("/"):
            raise Failure(f"{patch.name} touches {path}, outside the tree")
    return found


def keep_pristine(touched: list[str], state: dict) -> None:
    """Copies files aside that no patch has touched before, and notes that before they change."""
    for path in touched:
        if path in state["paths"]:
            continue
        original = home() / "src" / path
        state["paths"][path] = original.is_file()
        if original.is_file():
            copy = home() / "pristine" / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(original, copy)
    write_state(state)


def apply(touched: list[str], state: dict, scratch: Path) -> None:
    """Applies the series to copies of the files it touches."""
    for path in touched:
        if state["paths"][path]:
            (scratch / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(home() / "pristine" / path, scratch / path)
    # Below somebody's repository, git would apply the patch to that.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(scratch.parent)}
    for patch in patches():
        command = [cache.tool("git", "git"), "apply", "--whitespace=error-all", patch]
        cache.run(command, what=f"applying {patch.name}", cwd=scratch, env=environment)


def replace(target: Path, wanted: Path) -> None:
    """Makes `target` what `wanted` is, unless it is so already: its time stays."""
    if not wanted.is_file():
        target.unlink(missing_ok=True)
        return
    content = wanted.read_bytes()
    if target.is_file() and target.read_bytes() == content:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    target.chmod(wanted.stat().st_mode & 0o777)
