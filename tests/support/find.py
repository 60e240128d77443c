"""Comparisons of `ringwalk find` with GNU find: records, messages, status, and order."""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from support.current import CurrentFind
from support.run import Program, Result
from support.saved import FindWithSaved, Saved, is_answered

# An expression: one line, which is split as a shell splits it, or a list of words.
Words = str | Sequence[str | bytes | os.PathLike]


def words(expression: Words) -> list:
    """Returns the words of an expression."""
    return shlex.split(expression) if isinstance(expression, str) else list(expression)


def messages(result: Result) -> list[str]:
    """Returns the lines of standard error in order, without the name of the program.

    A parallel walk may report two failures in either order, so only the set is compared. Messages
    show U+FFFD for bytes of the command line that are no text, which GNU find does not do.
    """
    text = result.err.decode(errors="surrogateescape")
    text = re.sub("[\udc80-\udcff]", "\ufffd", text)
    lines = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
    if not text:
        return []
    return sorted(re.sub(r"^(?:\S*/)?(?:ringwalk )?find: ", "", line) for line in lines)


def difference(expected: Iterable, got: Iterable) -> str:
    """Returns a short text with the items that only one side has; empty if the sides are equal."""
    expected, got = Counter(expected), Counter(got)
    missing, surplus = expected - got, got - expected
    report = []
    for title, items in (("missing", missing), ("surplus", surplus)):
        shown = [repr(item) for item in list(items.elements())[:10]]
        if shown:
            report.append(f"{title} ({items.total()}): " + ", ".join(shown))
    return "; ".join(report)


def pieces(text: bytes, separator: bytes) -> list[bytes]:
    """Returns the records of the output to compare: lines of -ls without the width of columns.

    GNU find widens a column after a wide value, so the width depends on the order.
    """
    if separator == LS:
        return [b" ".join(line.split()) for line in text.split(b"\n")]
    return text.split(separator)


# The locales in which messages and names are compared.
LOCALES = ("C", "C.UTF-8")

# The separator of the lines of -ls.
LS = b"ls"


def assert_alike(expected: Result, got: Result, separator: bytes = b"\n") -> Result:
    """Checks that two runs left the same records, messages and status."""
    command = shlex.join(os.fsdecode(os.fspath(arg)) for arg in expected.args[1:])
    wrong = difference(pieces(expected.out, separator), pieces(got.out, separator))
    assert not wrong, f"find {command}: output: {wrong}"
    reported = difference(messages(expected), messages(got))
    assert not reported, f"find {command}: messages: {reported}"
    assert got.status == expected.status, f"find {command}: {got.status}, not {expected.status}"
    return got


def assert_same(ours: Program, gnu: Program, *args, separator: bytes = b"\n", **options) -> Result:
    """Checks that both programs leave the same records, messages and status.

    The answer from a snapshot must be the same, if the program can be asked for one.
    """
    expected = gnu(*args, **options)
    result = assert_alike(expected, ours(*args, **options), separator)
    if isinstance(ours, FindWithSaved):
        compare = functools.partial(assert_alike, separator=separator)
        ours.saved.check(expected, lambda: gnu(*args, **options), compare, args, options)
    return result


# From this version on GNU find prints the messages that tests pin.
PINNED = (4, 11)


@functools.cache
def version(gnu: Program) -> tuple[int, ...]:
    """Returns the version of GNU find, as numbers."""
    first = gnu("--version").ok().lines()[0].decode()
    return tuple(int(number) for number in re.findall(r"\d+", first.rpartition(")")[2]))


def knows_pins(gnu: Program) -> bool:
    """Returns true if GNU find is as new as the answers that tests pin."""
    return version(gnu) >= PINNED


def assert_pinned(
    ours: Program, gnu: Program, *args, reported: Sequence[str], status: int, **options
) -> Result:
    """Checks messages and status against those of findutils 4.11, which the test contains.

    Where the installed GNU find is that new, the pins and the output are checked against it too.
    """
    result = ours(*args, **options)
    if knows_pins(gnu):
        assert_alike(gnu(*args, **options), result)
    assert messages(result) == sorted(reported), result
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

    `first` holds words before the starting points, `lead` words before the first expression.

    Only for expressions that both programs can parse. If messages or status differ, each expression
    runs by itself, so that the failure names the wrong one.
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
    result = assert_alike(expected, got, b"\0")
    if isinstance(ours, FindWithSaved):
        before = [*words(first), *words(tops), *words(lead)]
        ask = functools.partial(gnu, *line, **options)
        check_saved(ours.saved, expected, ask, expressions, before, options)
    return result


def check_saved(
    saved: Saved,
    expected: Result,
    ask: Callable[[], Result],
    expressions: Sequence[Sequence],
    before: list,
    options: dict,
) -> None:
    """Checks those of the expressions that a snapshot answers, with the records of the live run."""
    line, numbers = [*before], []
    for number, expression in enumerate(expressions):
        if is_answered([os.fsencode(word) for word in expression]):
            line += [*([","] if numbers else []), "(", "(", *expression, ")"]
            line += ["-printf", f"{number} %p\\0", ")"]
            numbers.append(number)

    def compare(expected: Result, got: Result) -> None:
        for number in numbers:
            mark = b"%d " % number
            sides = [
                [record for record in result.out.split(b"\0") if record.startswith(mark)]
                for result in (expected, got)
            ]
            records = difference(*sides)
            assert not records, f"--from: {expressions[number]}: {records} {got.err!r}"

    if numbers:
        saved.check(expected, ask, compare, line, options)


def assert_parents_first(paths: Sequence[bytes]) -> None:
    """Checks that no path comes before that of its directory."""
    place = {path: number for number, path in enumerate(paths)}
    for path, number in place.items():
        assert place.get(os.path.dirname(path), -1) < number, path


def assert_contents_first(paths: Sequence[bytes]) -> None:
    """Checks that no path comes after that of its directory."""
    assert_parents_first(paths[::-1])


def gnu_find(work: Path) -> Program | None:
    """Returns GNU find, or None if `find` is another program. `work` is a directory for its use.

    The program has its bare name, which it puts before its messages.
    """
    path = shutil.which("find")
    version = subprocess.run([path, "--version"], capture_output=True, check=True).stdout
    return CurrentFind(work) if b"GNU findutils" in version else None


def left(top: Path) -> list[str]:
    """Returns the paths of everything below a directory, relative to it and in order."""
    return sorted(os.path.relpath(path, top) for path in Path(top).rglob("*"))


def basenames(result: Result) -> list[str]:
    """Returns the last component of each path that was printed, in order."""
    return sorted(os.fsdecode(os.path.basename(line)) for line in result.lines())
