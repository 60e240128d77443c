# SPDX-License-Identifier: GPL-2.0-only
"""Kernels built from source with patches, by configurations in kernel/vm/config.

An image is kept under the digest of what it was made of, so that it is built once for each change
of its inputs. The build folder stays, and a change compiles what it concerns.
"""

import contextlib
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path

from . import cache
from .errors import Failure
from .kernels import Kernel
from .source import SOURCES, Source

CONFIG = Path(__file__).resolve().parent.parent / "config"
BASE = ("base", "disks", "lean")
TESTED = (*BASE, "filesystems", "features")


@dataclass(frozen=True)
class Flavour:
    """What a kernel is built from: the tree, and the fragments of its configuration."""

    name: str
    source: Source
    fragments: tuple[str, ...]  # a later line replaces an earlier one of its symbol

    def folder(self) -> Path:
        """Returns the build folder."""
        return self.source.home() / f"build-{self.name}"

    def lock(self) -> str:
        """Returns the name of the build folder's lock."""
        return f"build-{self.name}"

    def inputs(self) -> str:
        """Returns the digest of everything the image depends on."""
        parts = [self.source.version(), compiler(), " ".join(STAMPS.values())]
        parts += [fragment(part).read_text() for part in self.fragments]
        parts += [patch.read_text() for patch in self.source.patches()]
        return cache.digest(*parts)


FLAVOURS = {
    flavour.name: flavour
    for flavour in (
        Flavour("patched", SOURCES["7.3"], TESTED),
        Flavour("patched-debug", SOURCES["7.3"], (*TESTED, "debug")),
        Flavour("6.12-fuse", SOURCES["6.12"], (*BASE, "6.12-fuse")),
    )
}

# Who built it and when would make every image another one.
STAMPS = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "ringwalk",
    "KBUILD_BUILD_HOST": "ringwalk",
}
SYMBOL = re.compile(r"^(?:# )?(CONFIG_\w+)(?:=(.*)| is not set)$")


def flavour_with(name: str, patches: int | None = None) -> Flavour:
    """Returns the flavour of this name; with a number, only so many patches of its series.

    Raises `ValueError` if the series does not have so many.
    """
    flavour = FLAVOURS[name]
    if patches is None:
        return flavour
    whole = len(flavour.source.patches())
    if not 0 <= patches <= whole:
        raise ValueError(f"the series of {name} has {whole} patches, not {patches}")
    return replace(flavour, source=replace(flavour.source, most=patches))


def patched(name: str, patches: int | None = None) -> Kernel:
    """Returns the kernel of this flavour with the series of this checkout; builds it if needed.

    With a number of patches it has only so many of the series, from the first one on.
    """
    flavour = flavour_with(name, patches)
    key = flavour.inputs()
    folder = cache.root() / "patched" / f"{name}-{key}"
    if not folder.is_dir():
        with flavour.source.patched_tree() as tree, cache.lock(flavour.lock()):
            if not folder.is_dir():  # still
                build(flavour, key, tree)
                keep(flavour, folder)
    return Kernel(
        name=name,
        release=(folder / "release").read_text().strip(),
        image=folder / "bzImage",
        modules=None,
        headers=lambda: headers(flavour, key),
    )


def fragment(part: str) -> Path:
    return CONFIG / f"{part}.config"


def compiler() -> str:
    """Returns the compiler and its version."""
    command = [cache.tool("gcc", "gcc"), "--version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@contextlib.contextmanager
def headers(flavour: Flavour, key: str):
    """Provides the build folder in the state of this checkout, which it keeps within the block."""
    folder = flavour.folder()
    stamp = folder / "ringwalk-inputs"
    with flavour.source.patched_tree() as tree, cache.lock(flavour.lock()):
        # Another checkout may have built something else there since.
        if not stamp.is_file() or stamp.read_text() != key:
            build(flavour, key, tree)
        yield folder


def build(flavour: Flavour, key: str, tree: Path) -> None:
    """Brings the build folder up to date: configuration, image, and what modules need."""
    start = time.monotonic()
    name = flavour.name
    folder = flavour.folder()
    folder.mkdir(parents=True, exist_ok=True)
    stamp = folder / "ringwalk-inputs"
    stamp.unlink(missing_ok=True)
    patches = len(flavour.source.patches())
    cache.say(f"building the kernel {name} ({patches} patches); its log: {folder}.log")
    configure(flavour, tree, folder)
    with open(f"{folder}.log", "w") as log:
        command = make(tree, folder) + [f"-j{os.cpu_count()}", "bzImage", "modules"]
        done = cache.complete(command, stdout=log)
    if done.returncode != 0:
        lines = Path(f"{folder}.log").read_text(errors="replace").splitlines()
        errors = [line for line in lines if re.search(r"error|\*\*\*|undefined", line)] or lines
        raise Failure(f"building the kernel {name} failed:\n" + "\n".join(errors[-20:]))
    stamp.write_text(key)
    cache.say(f"built the kernel {name} in {time.monotonic() - start:.0f} s")


def make(tree: Path, folder: Path) -> list[str]:
    """Returns the beginning of every call of make."""
    stamps = [f"{key}={value}" for key, value in STAMPS.items()]
    return [cache.tool("make", "make"), "-C", str(tree), f"O={folder}", *stamps]


def configure(flavour: Flavour, tree: Path, folder: Path) -> None:
    """Makes the smallest configuration with the fragments; every line of them has to hold."""
    cache.run([*make(tree, folder), "-s", "tinyconfig"], what="make tinyconfig")
    lines = {}
    for part in flavour.fragments:
        for line in fragment(part).read_text().splitlines():
            if match := SYMBOL.match(line):
                lines[match[1]] = line
    with open(folder / ".config", "a") as file:
        file.write("\n".join(lines.values()) + "\n")
    cache.run([*make(tree, folder), "-s", "olddefconfig"], what="make olddefconfig")
    got = {}
    for line in (folder / ".config").read_text().splitlines():
        if match := SYMBOL.match(line):
            got[match[1]] = match[2]
    for symbol, line in lines.items():
        # A symbol that is off may be missing where what it depends on is off.
        if got.get(symbol) != SYMBOL.match(line)[2]:
            raise Failure(f"the configuration cannot hold '{line}': it says {got.get(symbol)}")


def keep(flavour: Flavour, folder: Path) -> None:
    """Copies the image to its place; images of earlier inputs go, but for the latest few."""
    built = flavour.folder()
    with cache.folder_in_the_making(folder) as making:
        shutil.copy2(built / "arch/x86/boot/bzImage", making / "bzImage")
        shutil.copy2(built / ".config", making / "config")
        shutil.copy2(built / "System.map", making / "System.map")
        shutil.copy2(built / "include/config/kernel.release", making / "release")
    others = folder.parent.glob(f"{flavour.name}-????????????????????")
    for old in sorted(others, key=os.path.getmtime)[:-8]:
        shutil.rmtree(old)
