"""Every change of the snapshot's directory that the driver makes.

The driver changes files only by these methods. So a test can end a driver before and after each of
them, and check that the next driver goes on.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def _naming(path: str) -> Iterator[None]:
    """Adds the path of a file to errors of calls that take its descriptor."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = path
        raise


class Files:
    """Changes of files below one directory. Paths are relative to it."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        # Paths of files that were created, by their descriptors: for messages.
        self._created: dict[int, str] = {}

    def path(self, name: str) -> str:
        """Returns the path of a file, as the system calls need it."""
        return os.path.join(self.directory, name)

    def make_folder(self, name: str) -> None:
        """Makes a folder, if it is not there yet. Its name is on the disk then."""
        os.makedirs(self.path(name), exist_ok=True)
        self.sync_folder(os.path.dirname(name))

    def create(self, name: str) -> int:
        """Creates a file that must not exist, and returns its descriptor for appending.

        Raises `FileExistsError` if it exists. Of several processes only one succeeds.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        file = os.open(self.path(name), flags, 0o644)
        self._created[file] = self.path(name)
        self.sync_folder(os.path.dirname(name))
        return file

    def append(self, file: int, data: bytes) -> None:
        """Appends bytes to a file. They are safe only after `sync`."""
        rest = memoryview(data)
        with _naming(self._created.get(file, self.directory)):
            while rest:
                rest = rest[os.write(file, rest) :]

    def sync(self, file: int) -> None:
        """Returns when the bytes of a file are on the disk."""
        with _naming(self._created.get(file, self.directory)):
            os.fdatasync(file)

    def sync_older(self, name: str) -> None:
        """Returns when the bytes of a file are on the disk that another driver has written."""
        self._sync(name, 0, os.fdatasync)

    def sync_folder(self, name: str) -> None:
        """Returns when the names in a folder are on the disk."""
        self._sync(name, os.O_DIRECTORY, os.fsync)

    def _sync(self, name: str, flags: int, call: Callable[[int], None]) -> None:
        file = os.open(self.path(name), flags | os.O_RDONLY | os.O_CLOEXEC)
        try:
            with _naming(self.path(name)):
                call(file)
        finally:
            os.close(file)

    def rename(self, old: str, new: str) -> None:
        """Gives a file another name. Raises `FileNotFoundError` if it is not there."""
        os.rename(self.path(old), self.path(new))

    def replace(self, name: str, data: bytes) -> None:
        """Writes a whole file: readers see the older file or the new one, and never a half."""
        hidden = f".{name}.new"
        file = os.open(
            self.path(hidden), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644
        )
        self._created[file] = self.path(name)
        try:
            self.append(file, data)
            with _naming(self.path(name)):
                os.fsync(file)
        finally:
            del self._created[file]
            os.close(file)
        self.rename(hidden, name)
        self.sync_folder("")

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(name))

    def remove_folder(self, name: str) -> None:
        """Removes a folder with everything in it.

        Files that appear there meanwhile may stay: they count nowhere, and `verify` names them.
        """
        shutil.rmtree(self.path(name), ignore_errors=True)
