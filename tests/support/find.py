"""Comparing `ringwalk find` with GNU find: records, messages, status, and order where it counts."""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence

from support.current import CurrentFind
from support.run import Program, Result

# An expression as one line, split as a shell splits it, or as words where bytes matter.
Words = str | Sequence[str | bytes | os.PathLike]


def words(expression: Words) -> list:
    """The words of an expression."""
    return shlex.split(expression) if isinstance(expression, str) else list(expression)


def messages(result: Result) -> list[str]:
    """Lines of standard error without the name the program gives itself, in sorted order.

    A parallel walk may meet two failures in either order, so only the set is compared. Words of the
    command line that are no text are shown with U+FFFD, which GNU find does not do.
    """
    text = result.err.decode(errors="surrogateescape")
    text = re.sub("[\udc80-\udcff]", "\ufffd", text)
    lines = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
    if not text:
        return []
    return sorted(re.sub(r"^(?:\S*/)?(?:ringwalk )?find: ", "", line) for line in lines)


def difference(expected: Iterable, got: Iterable) -> str:
    """What one has and the other has not, short enough to read; empty if they are the same."""
    expected, got = Counter(expected), Counter(got)
    missing, surplus = expected - got, got - expected
    report = []
    for title, items in (("missing", missing), ("surplus", surplus)):
        shown = [repr(item) for item in list(items.elements())[:10]]
        if shown:
            report.append(f"{title} ({items.total()}): " + ", ".join(shown))
    return "; ".join(report)


def pieces(text: bytes, separator: bytes) -> list[bytes]:
    """What the output is compared by: lines of -ls without the width of their columns.

    GNU find makes a column wider when something wide has come, so that depends on the order.
    """
    if separator == LS:
        return [b" ".join(line.split()) for line in text.split(b"\n")]
    return text.split(separator)


# A separator: lines of -ls.
LS = b"ls"


def assert_alike(expected: Result, got: Result, separator: bytes = b"\n") -> Result:
    """Checks that two runs left the same records, messages and status."""
    command = shlex.join(os.fsdecode(os.fspath(arg)) for arg in expected.args[1:])
    wrong = difference(pieces(expected.out, separator), pieces(got.out, separator))
    assert not wrong, f"find {command}: output: {wrong}"
    told = difference(messages(expected), messages(got))
    assert not told, f"find {command}: messages: {told}"
    assert got.status == expected.status, f"find {command}: {got.status}, not {expected.status}"
    return got


def assert_same(ours: Program, gnu: Program, *args, separator: bytes = b"\n", **options) -> Result:
    """Checks that both programs leave the same records, messages and status."""
    return assert_alike(gnu(*args, **options), ours(*args, **options), separator)


# Versions of GNU find from this one on say what tests pin.
PINNED = (4, 10)


@functools.cache
def version(gnu: Program) -> tuple[int, ...]:
    """The version of GNU find, as numbers."""
    first = gnu("--version").ok().lines()[0].decode()
    return tuple(int(number) for number in re.findall(r"\d+", first.rpartition(")")[2]))


def assert_pinned(
    ours: Program, gnu: Program, *args, told: Sequence[str], status: int, **options
) -> Result:
    """Checks our messages and status against those of findutils 4.10, which are pinned.

    Where the installed GNU find is that new, the pins and the output are checked against it too.
    """
    result = ours(*args, **options)
    if version(gnu) >= PINNED:
        assert_alike(gnu(*args, **options), result)
    assert messages(result) == sorted(told), result
    assert result.status == status, result
    return result


def assert_same_each(
    ours: Program,
    gnu: Program,
    tops: Words,
    expressions: Iterable[Words],
    first: Words = (),
    lead: Words = (),
    **options,
) -> Result:
    """Checks many expressions in one run: `( E1 -printf '0 %p' ) , ( E2 -printf '1 %p' ) , ...`.

    What is `first` stands before the starting points, `lead` before the first expression.

    Only for expressions that both programs can parse; when they cannot, or when the status is not
    the same, each is run by itself, so that the failure names the one that is wrong.
    """
    expressions = [words(expression) for expression in expressions]
    line = [*words(first), *words(tops), *words(lead)]
    for number, expression in enumerate(expressions):
        line += [*([","] if number else []), "(", "(", *expression, ")"]
        line += ["-printf", f"{number} %p\\0", ")"]
    expected, got = gnu(*line, **options), ours(*line, **options)
    assert expected.out, f"nothing to compare: {expected.err!r}"
    if messages(expected) != messages(got) or expected.status != got.status:
        for expression in expressions:
            args = [*words(first), *words(tops), *words(lead), "(", *expression, ")", "-print0"]
            assert_same(ours, gnu, *args, separator=b"\0", **options)
    wrong = []
    for number, expression in enumerate(expressions):
        mark = b"%d " % number
        sides = [
            [record for record in result.out.split(b"\0") if record.startswith(mark)]
            for result in (expected, got)
        ]
        records = difference(*sides)
        if records:
            wrong.append(f"{expression}: {records}")
    assert not wrong, "\n".join(wrong)
    return assert_alike(expected, got, b"\0")


def assert_parents_first(paths: Sequence[bytes]) -> None:
    """Checks that no path comes before that of its directory."""
    place = {path: number for number, path in enumerate(paths)}
    for path, number in place.items():
        assert place.get(os.path.dirname(path), -1) < number, path


def assert_contents_first(paths: Sequence[bytes]) -> None:
    """Checks that no path comes after that of its directory."""
    assert_parents_first(paths[::-1])


def gnu_find() -> Program | None:
    """GNU find by its bare name, which is what it puts before its messages; none if not there."""
    path = shutil.which("find")
    version = subprocess.run([path, "--version"], capture_output=True, check=True).stdout
    return CurrentFind("find") if b"GNU findutils" in version else None
