"""The expressions of the tests of find once more, on a snapshot of the same tree (`--from`).

`assert_same` and `assert_same_each` of `support/find.py` call `Saved` after the live tree has been
compared: the answer from a snapshot must be the same. Expressions that need the files themselves
are left out by their words, so a word that is refused by mistake fails a test.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from support.run import Program, Result

# Words that a snapshot cannot answer. Each is refused, which test_from.py checks.
REFUSED = frozenset(
    b"-exec -execdir -ok -okdir -delete -readable -writable -executable -xtype -context "
    b"-L -follow".split()
)

# Words that write to files, which the test looks at afterwards; words about what is read, which is
# another file here; references in the tree, which a snapshot of another part does not hold.
LEFT_OUT = frozenset(b"-fprint -fprint0 -fprintf -fls -D -help --help -version --version".split())


def is_answered(words: Sequence[bytes]) -> bool:
    """Returns True if a snapshot has all that an expression asks for."""
    if any(word in REFUSED or word in LEFT_OUT for word in words):
        return False
    if any(set(word[1:]) <= set(b"HLP") and b"L" in word for word in words if word[:1] == b"-"):
        return False
    formats = [words[at + 1] for at, word in enumerate(words[:-1]) if word == b"-printf"]
    return not any(letter in form for form in formats for letter in (b"Y", b"Z"))


def starting_points(words: Sequence[bytes]) -> list[bytes]:
    """Returns the starting points among the words of a command line."""
    words = list(words)
    while words and words[0][:2] in (b"-H", b"-P", b"-O", b"--"):
        words.pop(0)
    points = []
    for word in words:
        if word in (b"(", b"!") or (word[:1] == b"-" and len(word) > 1):
            break
        points.append(word)
    return points


class Saved:
    """Snapshots of the trees of tests, and searches in them."""

    def __init__(self, ringwalk: Program, folder: Path, settled: Sequence[Path]):
        self.ringwalk = ringwalk
        self.folder = folder
        # Trees that no test changes, and that need not be looked at for changes.
        self.settled = [os.fsencode(path) for path in settled]
        # The last snapshots, and the states of the trees when they were taken.
        self.taken: dict[tuple, tuple[list, Path]] = {}
        # How many searches were compared.
        self.compared = 0
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)

    def snapshot(self, roots: Sequence[bytes], uid: int | None) -> Path | None:
        """Returns a snapshot of these roots, as this user sees them.

        A snapshot is taken anew when the trees have changed since. Returns None if they hold paths
        that are too long for one.
        """
        key = (*roots, uid)
        state = [entry for root in roots if not self.is_settled(root) for entry in state_of(root)]
        before, path = self.taken.get(key, (None, None))
        if before == state:
            return path
        path = Path(tempfile.mkdtemp(dir=self.folder)) / "snapshot"
        path.parent.chmod(0o777)
        for root in roots:
            read_all(root)
        # The status is 1 if something could not be read, which is then in the snapshot.
        done = self.ringwalk("snapshot", *roots, "-o", path, "--atime", uid=uid)
        assert path.exists(), done
        if b"File name too long" in done.err:
            return None
        self.taken[key] = state, path
        return path

    def is_settled(self, root: bytes) -> bool:
        """Returns True if no test changes this directory."""
        return any(is_within(root, tree) for tree in self.settled)

    def roots(self, points: Sequence[bytes], cwd: os.PathLike | str | None) -> list[bytes] | None:
        """Returns the directories that hold all starting points, none within another.

        Returns None if a snapshot of them is no fair comparison: one is missing, or they are
        somewhere else altogether.
        """
        base = os.path.realpath(os.fsencode(cwd or "."))
        wanted = [base] if cwd is not None else []
        for point in points or [b"."]:
            path = os.path.normpath(os.path.join(base, point))
            if not os.path.lexists(path) or os.path.realpath(path) != path:
                # A link, or a path through one: it must lead to within the directory.
                inside = cwd is not None and is_within(os.path.realpath(path), base)
                if not inside or not os.path.exists(path) or b".." in point:
                    return None
                continue
            wanted.append(path if os.path.isdir(path) else os.path.dirname(path))
        wanted = sorted(set(wanted))
        return [
            root
            for root in wanted
            if not any(is_within(root, other) for other in wanted if other != root)
        ]

    def search(self, args: Sequence, options: dict) -> Result | None:
        """Searches in a snapshot of the starting points. None if it cannot be compared."""
        words = [os.fsencode(str(arg) if isinstance(arg, int) else arg) for arg in args]
        # An empty name is in no snapshot, and has another message.
        if not is_answered(words) or b"-files0-from" in words or b"" in words:
            return None
        roots = self.roots(starting_points(words), options.get("cwd"))
        uid = options.get("uid")
        if not roots or b"/" in roots or (uid and not all(map(is_open_to_all, roots))):
            return None
        snapshot = self.snapshot(roots, uid)
        if snapshot is None:
            return None
        self.compared += 1
        points = starting_points(words)
        words = words if points else with_point(words)
        return self.ringwalk("find", "--from", snapshot, *words, **options)

    def check(
        self, expected: Result, ask: Callable, compare: Callable, args: Sequence, options: dict
    ) -> None:
        """Compares the answer from a snapshot with the expected one.

        On a busy machine some time has passed, and ages of files change with it. So a difference
        counts only if it is there with the answer that `ask` returns now.
        """
        got = self.search(args, options)
        if got is None:
            return
        try:
            compare(expected, got)
        except AssertionError:
            expected = ask()
            compare(expected, self.search(args, options))


def with_point(words: list[bytes]) -> list[bytes]:
    """Adds the starting point `.`, which GNU find adds, and a search in a snapshot does not."""
    at = 0
    while at < len(words) and words[at][:2] in (b"-H", b"-P", b"-O", b"--"):
        at += 1
    return [*words[:at], b".", *words[at:]]


def is_open_to_all(path: bytes) -> bool:
    """Returns True if every user may read a directory and go through it."""
    return os.stat(path).st_mode & 0o005 == 0o005


def is_within(path: bytes, folder: bytes) -> bool:
    """Returns True if a path is a directory or lies below it."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def entries_of(top: bytes) -> list[bytes]:
    """Returns the paths of a tree, the top first. Directories that cannot be read end there."""
    names = [top]
    # The list grows while it is gone through; os.walk of old Pythons calls itself.
    for folder in names:
        with contextlib.suppress(OSError):
            if stat.S_ISDIR(os.lstat(folder).st_mode):
                names += [os.path.join(folder, name) for name in os.listdir(folder)]
    return names


def state_of(top: bytes) -> list[tuple]:
    """Returns what differs after any change of a tree: numbers and times of all its entries.

    A change of a file, its attributes or its name changes the ctime of an inode here. Only the
    time of access changes alone.
    """
    found = []
    for name in entries_of(top):
        # Files of /proc may vanish.
        with contextlib.suppress(OSError):
            info = os.lstat(name)
            found.append((name, info.st_dev, info.st_ino, info.st_ctime_ns, info.st_atime_ns))
    return found


def read_all(top: bytes) -> None:
    """Reads all directories and symbolic links of a tree, so that a search changes no atime.

    With the mount option `relatime`, the first reading after a change sets the atime (mount(8)).
    A snapshot would have the atime from before that, and a later search the one from after it.
    """
    for name in entries_of(top):
        # It is no link, or the path is too long.
        with contextlib.suppress(OSError):
            os.readlink(name)


class FindWithSaved(Program):
    """A find whose answers are compared once more with those from a snapshot."""

    def __init__(self, path: Path, saved: Saved):
        super().__init__(path)
        self.saved = saved
