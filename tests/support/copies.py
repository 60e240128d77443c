"""Files with the same contents: what a search must find, and what `ringwalk dupes` has found."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from support.run import Result

Groups = set[frozenset[frozenset[bytes]]]


def expected(*tops: Path, least: int = 1) -> Groups:
    """Returns the groups below directories: of each file all its names, as a set."""
    names: dict[tuple[int, int], set[bytes]] = {}
    for top in tops:
        for folder, _, files in os.walk(os.fsencode(top)):
            for name in files:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    about = os.stat(path)
                    if about.st_size >= max(least, 1):
                        names.setdefault((about.st_dev, about.st_ino), set()).add(path)
    groups: dict[bytes, set[frozenset[bytes]]] = {}
    for of_one in names.values():
        with open(min(of_one), "rb") as file:
            groups.setdefault(file.read(), set()).add(frozenset(of_one))
    return {frozenset(group) for group in groups.values() if len(group) > 1}


def path_of(entry: dict) -> bytes:
    """Returns the path in an object of the JSON."""
    return bytes.fromhex(entry["path_raw"]) if "path_raw" in entry else entry["path"].encode()


def names_of(file: dict) -> list[bytes]:
    """Returns all names of a file of the JSON."""
    return [path_of(file), *(path_of(link) for link in file["links"])]


def found(result: Result) -> Groups:
    """Returns the groups in the JSON of a search: of each file all its names, as a set."""
    groups = json.loads(result.out)["groups"]
    sets = [frozenset(frozenset(names_of(file)) for file in group["files"]) for group in groups]
    assert len(set(sets)) == len(sets), "a group is reported twice"
    return set(sets)


def first_names(groups: Groups) -> set[frozenset[bytes]]:
    """Returns groups of single names, which programs print that show one name of each file."""
    return {frozenset(min(names) for names in group) for group in groups}


def paths(root: Path, groups: Iterable[Iterable[str]]) -> set[frozenset[bytes]]:
    """Returns groups of paths below `root`, for comparison with `first_names`."""
    return {frozenset(os.fsencode(root / name) for name in group) for group in groups}
