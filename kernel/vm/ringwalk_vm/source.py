# SPDX-License-Identifier: GPL-2.0-only
"""The sources of the kernels that are built here, with the patch series on them.

Each kernel has one tree, which serves every checkout and every state of the series. A change of
patches rewrites only the files whose content changes, so that make compiles only what depends on
those:

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
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from . import cache, trixie
from .errors import Failure, Impossible
from .stock import download

PATCHES = Path(__file__).resolve().parents[2] / "patches"
TOUCHED = re.compile(rb"^(?:---|\+\+\+) [ab]/([^\t\n]+)", re.MULTILINE)


class Packages(Protocol):
    """Where a source package comes from."""

    def version(self, package: str) -> str:
        """Returns the version of the package that `fetch` is to be asked for."""

    def fetch(self, package: str, version: str, into: Path) -> Path:
        """Returns the package file, downloaded into the folder."""


class OwnPackages:
    """The package manager of this machine."""

    def version(self, package: str) -> str:
        """Returns the version that is installed, else the newest known one."""
        query = [cache.tool("dpkg-query", "dpkg"), "-W", "-f", "${db:Status-Status} ${Version}"]
        status, _, found = output([*query, package]).partition(" ")
        if status == "installed":
            return found
        shown = output([cache.tool("apt-cache", "apt"), "show", "--no-all-versions", package])
        match = re.search(r"^Version: (\S+)", shown, re.MULTILINE)
        if not match:
            raise Impossible(f"no package list of this machine names {package}")
        return match[1]

    def fetch(self, package: str, version: str, into: Path) -> Path:
        return download(f"{package}={version}", into)


def output(command: list[str]) -> str:
    """Returns the output of a query; nothing when it fails."""
    return subprocess.run(command, capture_output=True, text=True).stdout


@dataclass(frozen=True)
class Source:
    """The tree of one kernel series, with the patches of this checkout."""

    series: str
    folders: tuple[str, ...]  # of its patches, below kernel/patches, in the order they apply
    packages: Packages
    most: int | None = None  # patches that are applied; None for all

    @property
    def package(self) -> str:
        """The name of the source package, and of the tree's lock."""
        return f"linux-source-{self.series}"

    def home(self) -> Path:
        """Returns the folder of the tree and its builds."""
        return cache.root() / f"linux-{self.series}"

    def patches(self) -> list[Path]:
        """Returns the series, in its order; the cover letters are not patches."""
        found = [
            path
            for folder in self.folders
            for path in sorted((PATCHES / folder).glob("*.patch"))
            if not path.name.startswith("0000-")
        ]
        return found[: self.most]

    def version(self) -> str:
        """Returns the version of the source package."""
        return self.packages.version(self.package)

    def digest(self) -> str:
        """Returns the digest of the series of this checkout."""
        return cache.digest(*(patch.read_bytes() for patch in self.patches()))

    @contextlib.contextmanager
    def patched_tree(self):
        """Provides the tree with the series of this checkout, which stays applied in the block."""
        wanted = [self.version(), self.digest()]
        while True:
            with cache.lock(self.package, shared=True):
                state = self.read_state()
                if [state["version"], state["applied"]] == wanted:
                    yield self.home() / "src"
                    return
            with cache.lock(self.package):
                self.patch_tree(*wanted)

    def patch_tree(self, package: str, digest: str) -> None:
        """Unpacks the tree if it is not there, and applies the series of this checkout."""
        state = self.read_state()
        if state["version"] != package:
            state = self.unpack(package)
        state["applied"] = None
        touched = sorted({path for patch in self.patches() for path in paths_of(patch)})
        self.keep_pristine(touched, state)
        with tempfile.TemporaryDirectory(prefix="patching.", dir=self.home()) as name:
            scratch = Path(name)
            self.apply(touched, state, scratch)
            for path in sorted({*state["paths"], *touched}):
                origin = scratch if path in touched else self.home() / "pristine"
                replace(self.home() / "src" / path, origin / path)
        state["applied"] = digest
        self.write_state(state)

    def read_state(self) -> dict:
        try:
            return {"applied": None, **json.loads((self.home() / "state.json").read_text())}
        except (OSError, ValueError):
            return {"version": None, "paths": {}, "applied": None}

    def write_state(self, state: dict) -> None:
        file = self.home() / "state.json.new"
        file.write_text(json.dumps(state, indent=1))
        file.rename(self.home() / "state.json")

    def unpack(self, wanted: str) -> dict:
        """Unpacks the package's archive in place of what was there, builds included."""
        cache.say(f"unpacking {self.package} {wanted}")
        home = self.home()
        home.mkdir(exist_ok=True)
        for entry in list(home.iterdir()):
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        archive = self.archive(wanted)
        making = home / "unpacking"
        making.mkdir()
        command = ["tar", "-xf", archive, "-C", making, "--strip-components=1"]
        cache.run(command, what=f"unpacking {archive.name}")
        making.rename(home / "src")
        shutil.rmtree(home / "package", ignore_errors=True)
        state = {"version": wanted, "paths": {}, "applied": None}
        self.write_state(state)
        return state

    def archive(self, wanted: str) -> Path:
        """Returns the archive of the sources: that of the installed package, or a fetched one."""
        installed = Path(f"/usr/src/{self.package}.tar.xz")
        if installed.is_file() and OwnPackages().version(self.package) == wanted:
            return installed
        folder = self.home() / "package"
        folder.mkdir()
        package = self.packages.fetch(self.package, wanted, folder)
        dpkg = cache.tool("dpkg-deb", "dpkg")
        cache.run([dpkg, "-x", package, folder], what=f"unpacking {package.name}")
        package.unlink()
        return folder / installed.relative_to("/")

    def keep_pristine(self, touched: list[str], state: dict) -> None:
        """Copies files aside that no patch has touched before, and notes each before it changes."""
        for path in touched:
            if path in state["paths"]:
                continue
            original = self.home() / "src" / path
            state["paths"][path] = original.is_file()
            if original.is_file():
                copy = self.home() / "pristine" / path
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(original, copy)
        self.write_state(state)

    def apply(self, touched: list[str], state: dict, scratch: Path) -> None:
        """Applies the series to copies of the files it touches."""
        for path in touched:
            if state["paths"][path]:
                (scratch / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.home() / "pristine" / path, scratch / path)
        # Below somebody's repository, git would apply the patch to that.
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(scratch.parent)}
        for patch in self.patches():
            command = [cache.tool("git", "git"), "apply", "--whitespace=error-all", patch]
            cache.run(command, what=f"applying {patch.name}", cwd=scratch, env=environment)


def paths_of(patch: Path) -> list[str]:
    """Returns the files that a patch changes, makes or removes."""
    found = [os.fsdecode(path) for path in TOUCHED.findall(patch.read_bytes())]
    for path in found:
        if path.startswith("/") or ".." in path.split("/"):
            raise Failure(f"{patch.name} touches {path}, outside the tree")
    return found


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


SOURCES = {
    "6.12": Source("6.12", ("6.12", "6.12-fuse"), OwnPackages()),
    "7.3": Source(
        "7.3", ("7.3/getdents", "7.3/readdirplus", "7.3/readahead"), trixie.SourcePackages()
    ),
}
