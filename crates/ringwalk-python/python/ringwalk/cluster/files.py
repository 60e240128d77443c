"""The files of a snapshot's directory: the only module that opens or changes them.

It uses descriptors of folders, and follows no link below the directory. So neither a link nor a
name with `..` leads out of it. What is there in place of a file, such as a FIFO, is not opened.

The driver changes files only by these methods. So a test can end a driver before and after each of
them, and check that the next driver goes on.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import weakref
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from ringwalk.cluster.problems import Damaged, Refused

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Others may not write there, whatever the umask says.
_FOLDER_MODE = 0o755
# Bytes that are written at once.
_BLOCK = 1 << 20
# What the system says where a link, a socket or a file is in place of something else.
_WRONG_KIND = {errno.ELOOP, errno.ENOTDIR, errno.ENXIO}


@contextlib.contextmanager
def _naming(path: str) -> Iterator[None]:
    """Adds the path of a file to errors of calls that take a descriptor.

    Raises `Damaged` if something else than a file or a folder is there.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _WRONG_KIND:
            raise Damaged(f"{path}: not a file or folder: links are not followed") from error
        error.filename = path
        raise


def _close(folders: dict[str, int]) -> None:
    while folders:
        os.close(folders.popitem()[1])


class Files:
    """Files below one directory. Their names are paths relative to it."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        # Paths of files that were created, by their descriptors: for messages.
        self._created: dict[int, str] = {}
        # Folders that are open, by their names.
        self._folders: dict[str, int] = {}
        weakref.finalize(self, _close, self._folders)

    def path(self, name: str) -> str:
        """Returns the path of a file, for messages."""
        return os.path.join(self.directory, name)

    # Reading

    def open(self, name: str) -> BinaryIO:
        """Opens a file for reading. Raises `Damaged` if it is no regular file."""
        folder, last = self._place(name)
        # The open of a FIFO must not wait for a writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with _naming(self.path(name)):
            file = os.open(last, flags, dir_fd=folder)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise Damaged(f"{self.path(name)}: not a regular file")
            os.set_blocking(file, True)
            return os.fdopen(file, "rb")
        except BaseException:
            os.close(file)
            raise

    def status(self, name: str) -> os.stat_result:
        """Returns the status of a file or of a link. Raises `FileNotFoundError` without one."""
        folder, last = self._place(name)
        with _naming(self.path(name)):
            return os.stat(last, dir_fd=folder, follow_symlinks=False)

    def exists(self, name: str) -> bool:
        """Returns true if something has this name."""
        try:
            self.status(name)
        except FileNotFoundError:
            return False
        return True

    def entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        """Gives what a folder holds: nothing, if the folder is not there."""
        try:
            opened = os.open(".", _FOLDER, dir_fd=self._folder(folder))
        except FileNotFoundError:
            return
        try:
            with os.scandir(opened) as entries:
                yield from entries
        finally:
            os.close(opened)

    # Changes

    def check_owner(self) -> None:
        """Raises `Refused` if the directory belongs to another user, who may change it."""
        owner, user = os.fstat(self._folder("")).st_uid, os.geteuid()
        if owner != user:
            raise Refused(
                f"{self.directory}: belongs to user {owner}, and this is user {user}: "
                "only the owner can change a snapshot"
            )

    def make(self) -> None:
        """Makes the directory, for this user alone. Raises `FileExistsError` if it exists.

        Raises `Refused` if its file system gives it to another user.
        """
        os.mkdir(self.directory, 0o700)
        try:
            self.check_owner()
        except Refused:
            os.rmdir(self.directory)
            raise

    def make_folder(self, name: str) -> None:
        """Makes a folder, if it is not there yet. Its name is on the disk then."""
        folder, last = self._place(name)
        with contextlib.suppress(FileExistsError), _naming(self.path(name)):
            os.mkdir(last, _FOLDER_MODE, dir_fd=folder)
        # This fails if the name is a link.
        self._folder(name)
        self.sync_folder(os.path.dirname(name))

    def create(self, name: str) -> int:
        """Creates a file that must not exist, and returns its descriptor for appending.

        Raises `FileExistsError` if it exists. Of several processes only one succeeds.
        """
        file = self._create(name)
        self.sync_folder(os.path.dirname(name))
        return file

    def _create(self, name: str) -> int:
        folder, last = self._place(name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        with _naming(self.path(name)):
            file = os.open(last, flags, 0o644, dir_fd=folder)
        self._created[file] = self.path(name)
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
        with self.open(name) as file, _naming(self.path(name)):
            os.fdatasync(file.fileno())

    def sync_folder(self, name: str) -> None:
        """Returns when the names in a folder are on the disk."""
        folder = self._folder(name)
        with _naming(self.path(name)):
            os.fsync(folder)

    def rename(self, old: str, new: str) -> None:
        """Gives a file another name. Raises `FileNotFoundError` if it is not there."""
        (before, last), (after, name) = self._place(old), self._place(new)
        with _naming(self.path(old)):
            os.rename(last, name, src_dir_fd=before, dst_dir_fd=after)

    def replace(self, name: str, data: bytes) -> None:
        """Writes a whole file: readers see the older file or the new one, and never a half."""
        self.write(name, [data])

    def write(self, name: str, data: Iterable[bytes]) -> None:
        """As `replace`, for a file that may be larger than the memory."""
        folder, last = os.path.split(name)
        hidden = os.path.join(folder, f".{last}.new")
        # A driver that was killed may have left it. What is there may also be a link.
        self._unlink(hidden)
        file = self._create(hidden)
        self._created[file] = self.path(name)
        try:
            block = bytearray()
            for each in data:
                block += each
                if len(block) >= _BLOCK:
                    self.append(file, bytes(block))
                    block.clear()
            self.append(file, bytes(block))
            with _naming(self.path(name)):
                os.fsync(file)
        finally:
            del self._created[file]
            os.close(file)
        self.rename(hidden, name)
        self.sync_folder(folder)

    def remove(self, name: str) -> None:
        """Removes a file or a link, if it is there."""
        self._unlink(name)

    def _unlink(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            folder, last = self._place(name)
            with _naming(self.path(name)):
                os.unlink(last, dir_fd=folder)

    def remove_folder(self, name: str, pattern: re.Pattern[str]) -> None:
        """Removes a folder with the files whose names match a pattern. With other files it stays.

        Files that appear there meanwhile stay too: they count nowhere, and `verify` names them.
        """
        with contextlib.suppress(OSError):
            for each in [each.name for each in self.entries(name)]:
                if pattern.fullmatch(each):
                    self._unlink(f"{name}/{each}")
            folder, last = self._place(name)
            os.rmdir(last, dir_fd=folder)
            os.close(self._folders.pop(name))

    # Folders

    def _folder(self, name: str) -> int:
        """Returns the descriptor of a folder, which stays open."""
        if name not in self._folders:
            if name:
                above, last = self._place(name)
                with _naming(self.path(name)):
                    self._folders[name] = os.open(last, _FOLDER, dir_fd=above)
            else:
                self._folders[name] = os.open(self.directory, _FOLDER)
        return self._folders[name]

    def _place(self, name: str) -> tuple[int, str]:
        """Returns the folder of a file, and the file's name there."""
        folder, slash, last = name.rpartition("/")
        if last in ("", ".", "..") or (slash and not folder):
            raise ValueError(f"{name!r} is not a file name")
        return self._folder(folder), last
