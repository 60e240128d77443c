"""Names in the directory of a snapshot, and `snapshot.json`, which says what it is of.

| name | contents |
|---|---|
| `snapshot.json` | Format, roots with identities, and the options that a resumed run must have. |
| `log/000001.jsonl` | The commit log, a file for each epoch. It is the truth. |
| `tmp/1/` | What the tasks of an epoch have written and the log does not name yet. |
| `parts/`, `todo/`, `errors/` | Parts, leftovers and errors of committed tasks. |
| `manifest.jsonl` | At the end: a line for each committed part. |
| `verdict.json` | At the end: complete, or the list of what is missing. |
| `damaged.json` | What `verify` has found to be damaged: the next run walks it again. |
"""

from __future__ import annotations

import errno
import json
import os
import re
from dataclasses import asdict, dataclass
from typing import Any

from ringwalk.cluster.files import Files
from ringwalk.cluster.problems import Damaged, Refused
from ringwalk.cluster.work import Identity

FORMAT = 1
DESCRIPTION = "snapshot.json"
MANIFEST = "manifest.jsonl"
VERDICT = "verdict.json"
DAMAGED = "damaged.json"
# Error rows of tasks that were set aside: written anew at each end of a run.
ASIDE = "errors/aside.errors"
FOLDERS = ("log", "tmp", "parts", "todo", "errors")
# Folder and end of the name, by the kind of a file that a task has written.
KINDS = {
    "part": ("parts", "parquet"),
    "todo": ("todo", "todo"),
    "errors": ("errors", "errors"),
}
_LOG = re.compile(r"(\d{6,})\.jsonl")


def absolute(path: Any) -> str:
    """Returns the path of the directory of a snapshot, without links and relative parts.

    Raises `FileNotFoundError` for an empty path, as the system calls do.
    """
    text = os.fsdecode(path)
    if not text:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
    return os.path.realpath(text)


def log_name(epoch: int) -> str:
    """Returns the name of the log of an epoch."""
    return f"log/{epoch:06}.jsonl"


def tmp_name(epoch: int) -> str:
    """Returns the name of the folder in which the tasks of an epoch write."""
    return f"tmp/{epoch}"


def committed(kind: str, task: int, attempt: int, epoch: int) -> str:
    """Returns the name of a file of a committed task. It is unique, also among epochs."""
    folder, suffix = KINDS[kind]
    return f"{folder}/{task}-{attempt}-{epoch}.{suffix}"


def epochs(directory: str) -> list[int]:
    """Returns the numbers of the epochs that have a log, in ascending order."""
    try:
        names = os.listdir(os.path.join(directory, "log"))
    except FileNotFoundError:
        return []
    return sorted(int(found[1]) for found in map(_LOG.fullmatch, names) if found)


def text_form(path: bytes) -> str | dict[str, str]:
    """Returns a path for JSON: text, or its bytes as hexadecimal digits if it is not UTF-8."""
    try:
        return path.decode()
    except UnicodeDecodeError:
        return {"hex": path.hex()}


def path_of(form: Any) -> bytes:
    """Returns the bytes of a path that `text_form` has written."""
    return bytes.fromhex(form["hex"]) if isinstance(form, dict) else form.encode()


@dataclass(frozen=True)
class Description:
    """What a snapshot is of: the contents of `snapshot.json`."""

    tool: str
    roots: list[bytes]
    # How many of the roots are directories.
    directories: int
    options: dict[str, bool]
    # One for each root. Empty in the directories of older versions.
    identities: list[Identity]

    def write(self, files: Files) -> None:
        """Writes `snapshot.json`."""
        text = {
            "format": FORMAT,
            "tool": {"name": "ringwalk-cluster", "version": self.tool},
            "roots": [text_form(root) for root in self.roots],
            "identities": [asdict(identity) for identity in self.identities],
            "directories": self.directories,
            "options": self.options,
        }
        files.replace(DESCRIPTION, json.dumps(text, indent=1).encode() + b"\n")

    def check(self, wanted: Description) -> None:
        """Raises `Refused` if a resumed run asks for something else than the first one."""
        if self.roots != wanted.roots:
            shown = ", ".join(repr(os.fsdecode(root)) for root in self.roots)
            raise Refused(f"the snapshot is of other roots: {shown}")
        for name, value in wanted.options.items():
            if self.options.get(name) != value:
                was = "with" if self.options.get(name) else "without"
                raise Refused(f"the snapshot was begun {was} the option {name!r}")

    def check_identities(self, wanted: Description) -> None:
        """Raises `Refused` if a root is another directory than when the snapshot was begun.

        An empty mount point would look like a tree that was read completely. A root that is a file
        may be replaced at any time.
        """
        for root, known, found in zip(self.roots, self.identities, wanted.identities):
            if os.path.isdir(root) and not known.is_of_same(found):
                shown = repr(os.fsdecode(root))
                raise Refused(
                    f"the root {shown} is not the one with which the snapshot was begun: is its "
                    "file system mounted?"
                )


def read_description(directory: str) -> Description | None:
    """Returns the contents of `snapshot.json`, or `None` if the file is not there.

    Raises `Damaged` if it cannot be understood.
    """
    path = os.path.join(directory, DESCRIPTION)
    try:
        with open(path, "rb") as file:
            text = json.load(file)
        if text["format"] != FORMAT:
            raise Damaged(f"{path}: format {text['format']!r} is not known: use a newer ringwalk")
        roots = [path_of(root) for root in text["roots"]]
        identities = [Identity(**identity) for identity in text.get("identities", [])]
        return Description(
            text["tool"]["version"], roots, text["directories"], text["options"], identities
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"{path}: not the description of a snapshot: {error}") from error


def read_json(directory: str, name: str) -> Any:
    """Returns the contents of a JSON file, or `None` if it is not there."""
    path = os.path.join(directory, name)
    try:
        with open(path, "rb") as file:
            return json.load(file)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise Damaged(f"{path}: not JSON: {error}") from error
