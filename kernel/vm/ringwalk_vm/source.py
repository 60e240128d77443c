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
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import archive, cache, stock
from .errors import Failure

PATCHES = Path(__file__).resolve().parents[2] / "patches"
TOUCHED = re.compile(rb"^(?:---|\+\+\+) [ab]/([^\t\n]+)", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """The tree of one kernel, with the patches of this checkout."""

    release: str
    series: str  # the folder of its patches, below kernel/patches
    fetch: Callable[[str, Path], Path]  # downloads a package's newest version into a folder
    most: int | None = None  # patches that are applied; None for all

    @property
    def package(self) -> str:
        """The name of the source package, and of the tree's lock."""
        return f"linux-source-{self.release}"

    def home(self) -> Path:
        """Returns the folder of the tree and its builds."""
        return cache.root() / f"linux-{self.release}"

    def patches(self) -> list[Path]:
        """Returns the series, in the order of its folders; the cover letters are not patches."""
        series = PATCHES / self.series
        found = [
            path
            for folder in (series / "series").read_text().split()
            for path in sorted((series / folder).glob("*.patch"))
            if not path.name.startswith("0000-")
        ]
        return found[: self.most]

    def version(self) -> str:
        """Returns the version of the tree: the archive's newest one when it was fetched."""
        if version := self.read_state()["version"]:
            return version
        with cache.lock(self.package):
            return self.read_state()["version"] or self.unpack()["version"]

    def digest(self) -> str:
        """Returns the digest of the series of this checkout."""
        return cache.digest(*(patch.read_bytes() for patch in self.patches()))

    @contextlib.contextmanager
    def patched_tree(self):
        """Provides the tree with the series of this checkout, which stays applied in the block."""
        self.version()  # the tree is there
        wanted = self.digest()
        while True:
            with cache.lock(self.package, shared=True):
                if self.read_state()["applied"] == wanted:
                    yield self.home() / "src"
                    return
            with cache.lock(self.package):
                self.patch_tree(wanted)

    def patch_tree(self, digest: str) -> None:
        """Applies the series of this checkout in place of what was applied before."""
        state = self.read_state()
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

    def unpack(self) -> dict:
        """Makes the home from the package, and returns the state of the tree."""
        with cache.folder_in_the_making(self.home()) as making:
            folder = making / "package"
            folder.mkdir()
            package = self.fetch(self.package, folder)
            deb = cache.tool("dpkg-deb", "dpkg")
            version = cache.run([deb, "-f", package, "Version"], what=f"reading {package.name}")
            cache.say(f"unpacking {self.package} {version.strip()}")
            cache.run([deb, "-x", package, folder], what=f"unpacking {package.name}")
            packed = folder / "usr/src" / f"{self.package}.tar.xz"
            (making / "src").mkdir()
            command = ["tar", "-xf", packed, "-C", making / "src", "--strip-components=1"]
            cache.run(command, what=f"unpacking {packed.name}")
            shutil.rmtree(folder)
            state = {"version": version.strip(), "paths": {}, "applied": None}
            (making / "state.json").write_text(json.dumps(state))
        return state

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
    "6.12": Source("6.12", "6.12-fuse", stock.download),
    "7.3": Source("7.3", "7.3", archive.backport),
}
