"""Random edits of a tree: what users, editors and programs do between two snapshots of it."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path


class Edits:
    """Edits of the tree at `top`, as the seed decides."""

    def __init__(self, top: Path, seed: int):
        self.top = top
        self.rng = random.Random(seed)
        self.made = 0
        self.kinds = (
            self.make,
            self.append,
            self.remove,
            self.rename,
            self.link,
            self.replace,
            self.swap_unseen,
            self.make_unseen,
            self.make_again,
            self.change_mode,
        )

    def some(self, count: int) -> None:
        """Makes so many edits, or fewer if one has nothing to act on."""
        for _ in range(count):
            self.rng.choice(self.kinds)()

    def folders(self) -> list[Path]:
        return [self.top, *(path for path in self.entries() if is_folder(path))]

    def entries(self) -> list[Path]:
        """Returns all paths below the top, in an order that only the tree decides."""
        return sorted(self.top.rglob("*"))

    def files(self) -> list[Path]:
        return [path for path in self.entries() if path.is_file() and not path.is_symlink()]

    def folder(self) -> Path:
        return self.rng.choice(self.folders())

    def name(self) -> str:
        self.made += 1
        return f"made-{self.made}" + "x" * self.rng.choice((0, 3, 60))

    def make(self) -> None:
        """A file, a directory with a file in it, or a link."""
        path = self.folder() / self.name()
        kind = self.rng.randrange(3)
        if kind == 0:
            path.write_bytes(b"x" * self.rng.randrange(20_000))
        elif kind == 1:
            path.mkdir()
            (path / "first").touch()
        else:
            path.symlink_to(self.rng.choice(("nowhere", "..", "first")))

    def append(self) -> None:
        if files := self.files():
            with open(self.rng.choice(files), "ab") as file:
                file.write(b"y" * self.rng.randrange(1, 50_000))

    def remove(self) -> None:
        if entries := self.entries():
            path = self.rng.choice(entries)
            if is_folder(path):
                shutil.rmtree(path)
            else:
                path.unlink()

    def rename(self) -> None:
        """A file or a directory with all below it, into another directory."""
        if entries := self.entries():
            path = self.rng.choice(entries)
            to = self.folder()
            if path != to and path not in to.parents:
                path.rename(to / self.name())

    def link(self) -> None:
        """One more hard link."""
        if files := self.files():
            os.link(self.rng.choice(files), self.folder() / self.name())

    def replace(self) -> None:
        """As editors save: a new file takes the name of the old one."""
        if files := self.files():
            path = self.rng.choice(files)
            other = path.with_name(self.name())
            other.write_bytes(b"z" * self.rng.randrange(9000))
            other.rename(path)

    def swap_unseen(self) -> None:
        """Two entries change their names, and the directory keeps its time of modification."""
        folder = self.folder()
        names = sorted(os.listdir(folder))
        if len(names) >= 2:
            one, other = (folder / name for name in self.rng.sample(names, 2))
            times = os.stat(folder)
            aside = folder / self.name()
            one.rename(aside)
            other.rename(one)
            aside.rename(other)
            os.utime(folder, ns=(times.st_atime_ns, times.st_mtime_ns))

    def make_unseen(self) -> None:
        """A new entry, and the directory keeps its time of modification."""
        folder = self.folder()
        times = os.stat(folder)
        (folder / self.name()).touch()
        os.utime(folder, ns=(times.st_atime_ns, times.st_mtime_ns))

    def make_again(self) -> None:
        """A directory is removed and made again: its inode number may be used again."""
        folders = self.folders()[1:]
        if folders:
            folder = self.rng.choice(folders)
            names = sorted(os.listdir(folder))
            shutil.rmtree(folder)
            folder.mkdir()
            for name in names[1:]:
                (folder / name).touch()

    def change_mode(self) -> None:
        if entries := [path for path in self.entries() if not path.is_symlink()]:
            self.rng.choice(entries).chmod(self.rng.choice((0o700, 0o755)))


def is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
