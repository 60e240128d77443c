"""The installed GNU find (findutils 4.9), corrected to findutils 4.11 and POSIX.1-2024.

`docs/find.md` gives the reason for each difference.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from support.capi import compile_c
from support.run import Arg, Program, Result

# A message that names a file or a command, and the reason of the failure.
FAILURE = re.compile(rb"find: (?:'|\xe2\x80\x98)(.*)(?:'|\xe2\x80\x99): ([A-Z][^:]*)")

# Messages of GNU find before 4.11, and the same messages of 4.11.
NEW_MESSAGES = (
    (
        rb"loop detected; (.*) is part of the same file system loop as .*\.",
        rb"loop detected; the following directory is part of the cycle: \1",
    ),
    (rb"find: invalid mode ", b"find: invalid file mode "),
    (rb"test needs an argument", b"test needs to be followed by an argument"),
    (
        rb"/000 has now been changed to be (.*)",
        rb"/000 was changed in 2007 to be \1 This warning message will be removed in a future "
        b"findutils release.",
    ),
    (
        rb"In \S+?(-exec\w*) \.\.\. {} \+\S+ the \S+ must appear by itself.*",
        rb"missing argument to `\1'",
    ),
)

# The list of types of regular expressions, which 4.11 sorts after the first.
TYPES = re.compile(rb"(?<=valid types are )(.*?), (.*)(?=\.)")

SYNTAX_OF_EMACS = Path(__file__).with_name("emacs_syntax.c")


class CurrentFind(Program):
    """GNU find whose expressions and results are corrected where the installed version is old.

    - A link whose target's path leads through a file that is no directory is a broken link: no
      message, and no status for it.
    - A message that something failed comes with a status that is not 0. GNU find says 0 after a
      command of `-exec ... ;` that cannot be run, and after a link that `%Y` cannot follow.
    - Messages are in the words of findutils 4.11.
    - The syntaxes of Emacs have classes of characters and intervals, as since findutils 4.11. For
      that a library is loaded, which is put into the directory `work`.
    - `-xtype` takes a link that leads in circles for a link, as it does since findutils 4.10.
    """

    def __init__(self, work: Path):
        super().__init__("find")
        self.library = work / "emacs_syntax.so"

    def __call__(self, *args: Arg | int, **options) -> Result:
        cwd = options.get("cwd")
        plain = [str(arg) if isinstance(arg, int) else arg for arg in args]
        if not {"-regex", "-iregex"}.isdisjoint(plain):
            if not self.library.exists():
                compile_c(SYNTAX_OF_EMACS, "-shared", "-fPIC", "-o", self.library, "-ldl")
            preload = {"LD_PRELOAD": str(self.library)}
            options = {**options, "env": {**preload, **(options.get("env") or {})}}
        asked = super().__call__(*without_loops(plain, cwd), **options)
        return corrected(replace(asked, args=(*self.first, *plain)), cwd)


def corrected(result: Result, cwd: os.PathLike | str | None) -> Result:
    """Returns the result with the messages and the status of findutils 4.11."""
    failures = 0
    kept = []
    for line in in_new_words(result.err).splitlines(keepends=True):
        failure = FAILURE.fullmatch(line.rstrip(b"\n"))
        if failure and is_broken(failure[1], failure[2], cwd):
            continue
        failures += failure is not None
        kept.append(line)
    dropped = len(kept) < len(result.err.splitlines())
    status = result.status
    if status == 0 and failures:
        status = 1
    elif status == 1 and dropped and not kept:
        status = 0
    return replace(result, err=b"".join(kept), status=status)


def in_new_words(messages: bytes) -> bytes:
    """Returns the messages in the words of findutils 4.11."""
    for old, new in NEW_MESSAGES:
        messages = re.sub(old, new, messages)
    return TYPES.sub(lambda types: b", ".join([types[1], *sorted(types[2].split(b", "))]), messages)


def is_broken(name: bytes, reason: bytes, cwd: os.PathLike | str | None) -> bool:
    """Returns true if this message is about a link through a file that is no directory."""
    path = os.path.join(os.fsencode(cwd or "."), name)
    return reason == b"Not a directory" and os.path.islink(path)


def without_loops(args: list[Arg], cwd: os.PathLike | str | None) -> list[Arg]:
    """Returns the arguments, with `-type` in the place of `-xtype` for links in circles."""
    if "-xtype" not in args:
        return args
    numbers = sorted({os.lstat(path).st_ino for path in loops(args, cwd)})
    either = [word for number in numbers for word in ("-o", "-inum", str(number))][1:]
    words: list[Arg] = []
    for arg in args:
        kinds = arg if words[-1:] == ["-xtype"] else None
        words.append(arg)
        if either and isinstance(kinds, str) and is_list_of_types(kinds):
            words[-2:] = ["(", "(", *either, ")", "-type", kinds, "-o"]
            words += ["!", "(", *either, ")", "-xtype", kinds, ")"]
    return words


def is_list_of_types(kinds: str) -> bool:
    """Returns true if GNU find accepts this after `-xtype`. If not, its message names the test."""
    letters = kinds.split(",")
    return set(letters) <= set("bcdpfls") and len(letters) == len(set(letters))


def loops(args: list[Arg], cwd: os.PathLike | str | None) -> Iterator[bytes]:
    """Yields links in circles, below the working directory and below arguments that are paths."""
    base = os.fsencode(cwd or "/nonexistent")
    tops = {base, *(os.path.join(base, os.fsencode(arg)) for arg in args)}
    for top in tops - {b"/"}:
        for folder, folders, files in os.walk(top):
            for name in (*folders, *files):
                path = os.path.join(folder, name)
                if os.path.islink(path) and leads_in_circles(path):
                    yield path


def leads_in_circles(path: bytes) -> bool:
    """Returns true if following the link fails with ELOOP."""
    try:
        os.stat(path)
    except OSError as error:
        return error.errno == errno.ELOOP
    return False
