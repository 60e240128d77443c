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

from ringwalk.cluster import trees
from ringwalk.cluster.files import Files
from ringwalk.cluster.problems import Damaged, Refused
from ringwalk.cluster.shapes import NUMBER, parsed, shaped
from ringwalk.cluster.trees import Identity, Mounts

FORMAT = 1
DESCRIPTION = "snapshot.json"
MANIFEST = "manifest.jsonl"
VERDICT = "verdict.json"
DAMAGED = "damaged.json"
# Error rows of tasks that were set aside: written anew at each end of a run.
ASIDE = "errors/aside.errors"
FOLDERS = ("log", "tmp", "parts", "todo", "errors")
# What a description must have; the paths of roots may be text or objects.
_SHAPE = {"tool": {"version": str}, "roots": [object], "directories": NUMBER, "options": {}}
# What an identity may have, unless it is `None`.
_IDENTITY = {"inode": range(1 << 64), "uuid": str, "subvolume": range(1 << 64), "kind": str}
# Folder and end of the name, by the kind of a file that a task has written.
KINDS = {
    "part": ("parts", "parquet"),
    "todo": ("todo", "todo"),
    "errors": ("errors", "errors"),
}
_SUFFIXES = "|".join(suffix for _, suffix in KINDS.values())
_LOG = re.compile(r"log/(\d{6,18})\.jsonl", re.ASCII)
# Names of what tasks write: the folder of an epoch, and the files in it.
EPOCH = re.compile(r"[1-9]\d{0,17}", re.ASCII)
WRITTEN = re.compile(rf"\d+-\d+\.({_SUFFIXES})", re.ASCII)
# Names of files of committed tasks: their task first.
COMMITTED = re.compile(
    "|".join(rf"{folder}/(\d{{1,18}})-\d+-\d+\.{suffix}" for folder, suffix in KINDS.values()),
    re.ASCII,
)


def absolute(path: Any) -> str:
    """Returns the path of the directory of a snapshot, without links and relative parts.

    Raises `FileNotFoundError` for an empty path, as the system calls do.
    """
    text = os.fsdecode(path)
    if not text:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
    if os.path.exists(text):
        return os.path.realpath(text)
    # A new directory is not made where a link leads, which may be another user's.
    above, name = os.path.split(text.rstrip("/"))
    return os.path.join(os.path.realpath(above), name)


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


def stem(task: int, attempt: int, epoch: int) -> str:
    """Returns the name under which a task writes a file, without the end that its kind has."""
    return f"{tmp_name(epoch)}/{task}-{attempt}"


def written(kind: str, task: int, attempt: int, epoch: int) -> str:
    """Returns the name under which a task writes a file. The driver renames it to `committed`."""
    return f"{stem(task, attempt, epoch)}.{KINDS[kind][1]}"


def epochs(files: Files) -> list[int]:
    """Returns the numbers of the epochs that have a log, in ascending order."""
    found = (_LOG.fullmatch(f"log/{each.name}") for each in files.entries("log"))
    # No epoch has two names.
    return sorted(int(each[1]) for each in found if each and each[0] == log_name(int(each[1])))


def epoch_folders(files: Files) -> list[str]:
    """Returns the names of the folders in which tasks have written."""
    return [
        f"tmp/{each.name}"
        for each in files.entries("tmp")
        if EPOCH.fullmatch(each.name) and each.is_dir(follow_symlinks=False)
    ]


def text_form(path: bytes) -> str | dict[str, str]:
    """Returns a path for JSON: text, or its bytes as hexadecimal digits if it is not UTF-8."""
    try:
        return path.decode()
    except UnicodeDecodeError:
        return {"hex": path.hex()}


def path_of(form: Any) -> bytes:
    """Returns the bytes of a path that `text_form` has written."""
    if isinstance(form, dict):
        return bytes.fromhex(shaped(form, {"hex": str})["hex"])
    path: str = shaped(form, str)
    return path.encode()


def _identity_of(form: dict[str, Any]) -> Identity:
    """Returns what identifies a root, or what is mounted somewhere, as a description has it."""
    known = {name: value for name, value in form.items() if value is not None}
    shaped(known, {name: _IDENTITY[name] for name in known.keys() & _IDENTITY.keys()})
    return Identity(**form)


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
    # What is mounted below the roots. Empty in the directories of older versions.
    mounts: Mounts

    def write(self, files: Files) -> None:
        """Writes `snapshot.json`."""
        text = {
            "format": FORMAT,
            "tool": {"name": "ringwalk-cluster", "version": self.tool},
            "roots": [text_form(root) for root in self.roots],
            "identities": [asdict(identity) for identity in self.identities],
            "mounts": [
                {"path": text_form(point), **asdict(identity)}
                for point, identity in self.mounts.items()
            ],
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
        """Raises `Refused` if a root is another directory than when the snapshot was begun, or if
        a file system that was mounted below it then is not mounted.

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
        mounted = trees.mounts_of(self.roots, self.mounts)
        if (point := trees.missing_mount(self.mounts, mounted)) is not None:
            shown = repr(os.fsdecode(point))
            raise Refused(
                f"the file system that was mounted at {shown} at the beginning is not mounted"
            )


def read_description(files: Files) -> Description | None:
    """Returns the contents of `snapshot.json`, or `None` if the file is not there.

    Raises `Damaged` if it cannot be understood.
    """
    found = read_json(files, DESCRIPTION)
    if found is None:
        return None
    path = files.path(DESCRIPTION)
    try:
        if shaped(found, {"format": NUMBER})["format"] != FORMAT:
            shown = found["format"]
            raise Damaged(f"{path}: format {shown} is not known: use a newer ringwalk")
        shaped(found, _SHAPE)
        identities = list(map(_identity_of, shaped(found.get("identities", []), [{}])))
        mounted = shaped(found.get("mounts", []), [{"path": object}])
        mounts = {path_of(each.pop("path")): _identity_of(each) for each in mounted}
        roots = [path_of(root) for root in found["roots"]]
        version = found["tool"]["version"]
        directories, options = found["directories"], found["options"]
        return Description(version, roots, directories, options, identities, mounts)
    except (ValueError, TypeError) as error:
        raise Damaged(f"{path}: not the description of a snapshot: {error}") from error


def read_json(files: Files, name: str) -> Any:
    """Returns the contents of a JSON file, or `None` if it is not there."""
    try:
        with files.open(name) as file:
            return parsed(file.read())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise Damaged(f"{files.path(name)}: not JSON: {error}") from error
