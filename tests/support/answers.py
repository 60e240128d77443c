"""Comparisons of two sources: every field of every entry."""

from __future__ import annotations

import json
import re
from pathlib import Path

from support.find import difference
from support.run import Program, Result

# Every directive of -printf that prints a field of a file, except %Y and %Z.
FIELDS = "%p|%P|%f|%h|%H|%d|%y|%i|%D|%n|%m|%M|%U|%u|%G|%g|%s|%b|%k|%S|%l|%F|%A@|%C@|%T@|%B@\\0"

# Name of a question: the command, the separator of its records.
#
# du charges a file with several names to the first name that it reads, and sources read names in
# different orders, as du itself does on two copies of a tree. So lines have each link counted (-l),
# and sums have files counted once.
QUESTIONS: dict[str, tuple[tuple[str, ...], bytes]] = {
    "fields": (("find", ".", "-printf", FIELDS), b"\0"),
    "fields, any device": (("find", ".", "-printf", FIELDS.replace("%D|", "")), b"\0"),
    "fields, depth first": (("find", ".", "-depth", "-printf", FIELDS), b"\0"),
    "names": (("find", ".", "-print0"), b"\0"),
    "types": (("find", ".", "-printf", "%y %Y %p\\0"), b"\0"),
    "tests": (
        ("find", ".", "(", "-size", "+3", "-o", "-empty", "-o", "-links", "+1", ")", "-print0"),
        b"\0",
    ),
    "few": (("find", ".", "-name", "*9", "-newermt", "2001-01-01", "-printf", "%p %s\\0"), b"\0"),
    "sizes": (("du", "-al0", "."), b"\0"),
    "apparent sizes": (("du", "-alb0", "."), b"\0"),
    "numbers of files": (("du", "-al0", "--inodes", "."), b"\0"),
    "times": (("du", "-al0", "--time=ctime", "--time-style=full-iso", "."), b"\0"),
    "one size": (("du", "-s", "-B1", "."), b"\n"),
    "one apparent size": (("du", "-sb", "."), b"\n"),
    "one number": (("du", "-s", "--inodes", "."), b"\n"),
    "one size, links each": (("du", "-sl", "-B1", "."), b"\n"),
    "one size, own device": (("du", "-sx", "-B1", "."), b"\n"),
    "separate": (("du", "-Sl0", "-B1", "."), b"\0"),
    "counts": (("count", "--format=json", "."), b"\n"),
    "counts of names": (("count", "--no-stat", "."), b"\n"),
}

# These cover each way to an answer: names with fields, lines of du, and sums that need no names.
FEW = ("fields", "sizes", "one size", "one apparent size", "one number", "counts")


def ask(ringwalk: Program, question: str, top: Path, *engine: str, **options) -> Result:
    """Runs the command of a question, with options of the engine."""
    command, _ = QUESTIONS[question]
    return ringwalk(*engine, *command, cwd=top, **options)


def records(question: str, result: Result) -> list[bytes]:
    """Returns the records of an answer, which are compared."""
    command, separator = QUESTIONS[question]
    if command[:2] == ("count", "--format=json"):
        report = json.loads(result.out)
        members = ("entries", "apparent_size", "allocated_size", "types", "errors")
        reported = {name: report[name] for name in members}
        return [json.dumps(reported, sort_keys=True).encode()]
    return result.lines(separator)


def messages(result: Result) -> list[bytes]:
    """Returns the lines of standard error in order, without the program's name."""
    return sorted(re.sub(rb"^[^:]*: ", b"", line) for line in result.err.splitlines())


def assert_sources_agree(
    ringwalk: Program, sources, *command: str, separator: bytes = b"\n", **options
) -> Result:
    """Checks that sources print the same records and messages as system calls, in any order."""
    expected = ringwalk("--source", "syscall", *command, **options).sane()
    for source in sources:
        got = ringwalk("--source", source, *command, **options)
        wrong = difference(expected.lines(separator), got.lines(separator))
        assert not wrong, f"{source}: {' '.join(command)}: {wrong}"
        assert messages(got) == messages(expected), (source, command)
        assert got.status == expected.status, (source, command)
    return expected


class Reference:
    """The answers of system calls about one directory, asked once each."""

    def __init__(self, ringwalk: Program, top: Path, **options):
        self.ringwalk = ringwalk
        self.top = top
        self.options = options
        self.known: dict[str, Result] = {}

    def answer(self, question: str) -> Result:
        """Returns the answer of system calls."""
        if question not in self.known:
            engine = ("--source", "syscall")
            self.known[question] = ask(self.ringwalk, question, self.top, *engine, **self.options)
        return self.known[question]

    def check(self, *engine: str, questions=QUESTIONS) -> None:
        """Checks that answers are the same with these options of the engine."""
        wrong = []
        for question in questions:
            expected = self.answer(question)
            got = ask(self.ringwalk, question, self.top, *engine, **self.options)
            wrong += self.differences(question, expected, got)
        assert not wrong, f"{' '.join(engine)}: " + "\n".join(wrong)

    @staticmethod
    def differences(question: str, expected: Result, got: Result) -> list[str]:
        """Returns the differences between two answers; empty if the answers are equal."""
        wrong = [
            difference(records(question, expected), records(question, got)),
            difference(messages(expected), messages(got)),
            "" if expected.status == got.status else f"{got.status}, not {expected.status}",
        ]
        return [f"{question}: {text}" for text in wrong if text]


def explained(ringwalk: Program, top: Path, *args: str, **options) -> dict[str, str]:
    """Returns the rows that --explain writes, by their first words."""
    result = ringwalk("--explain", *args, cwd=top, **options).sane()
    rows = [re.match(r"[^:]*: (\S.{11})(.*)", line) for line in result.err.decode().splitlines()]
    return {row[1].strip(): row[2] for row in rows if row}
