"""Output at a terminal: colours, and names with control characters."""

from __future__ import annotations

import os

import pytest
from support import mounts
from support.run import run
from support.terminal import TERMINAL, converse, written


def strip(text: bytes) -> bytes:
    """Returns the text without colours."""
    pieces = text.split(b"\x1b[")
    return pieces[0] + b"".join(piece.lstrip(b"0123456789;").lstrip(b"mK") for piece in pieces[1:])


@pytest.fixture
def colourful(scratch):
    (scratch / "t" / "dir").mkdir(parents=True)
    (scratch / "t" / "dir" / "file.zip").touch()
    (scratch / "t" / "plain").touch()
    (scratch / "t" / "link").symlink_to("plain")
    (scratch / "t" / "script").touch(mode=0o755)
    return scratch


COLORS = {"LS_COLORS": "rs=0:di=01;34:ln=01;36:ex=01;32:*.zip=01;31:or=01;35", "TERM": "xterm"}


def test_colours_at_a_terminal_and_elsewhere(find, programs, colourful):
    program = programs / "find"
    plain = sorted(find("t", cwd=colourful).ok().lines())
    assert len(plain) == 6
    _, shown = converse([program, "t"], cwd=colourful, env=COLORS)
    assert b"\x1b[01;34m" in shown and b"\x1b[01;31m" in shown and b"\x1b[01;32m" in shown
    assert sorted(strip(shown).splitlines()) == plain
    for words in (["-nocolor"], ["-print0"], ["-printf", "%p\\n"]):
        _, shown = converse([program, "t", *words], cwd=colourful, env=COLORS)
        assert b"\x1b[" not in shown
    assert b"\x1b[" not in find("t", cwd=colourful, env=COLORS).ok().out
    coloured = find("t", "-color", cwd=colourful, env=COLORS).ok().out
    assert b"\x1b[01;34m" in coloured
    assert sorted(strip(coloured).splitlines()) == plain


def test_control_characters_at_a_terminal(programs, scratch):
    """Names cannot control a terminal, with or without colours; a pipe gets them unchanged."""
    (scratch / "t").mkdir()
    (scratch / "t" / "evil\x1b]0;x\x07\nname").touch()
    for words in (["-nocolor"], ["-color"], ["-nocolor", "-ls"], ["-nocolor", "-printf", "%p\\n"]):
        _, shown = converse([programs / "find", "t", *words], cwd=scratch, env=COLORS)
        assert b"\x1b]" not in shown and b"\x07" not in shown, words
    out = run([programs / "find", "t"], cwd=scratch).ok().out
    assert b"\x1b]0;x\x07\nname" in out


def test_as_gnu_shows_names_at_a_terminal(programs, scratch):
    for name in ("a\nb", "c\td", "\udcff", "é", "plain", "q'", 'd"', "b\\"):
        (scratch / name).touch()
    for locale in ("C", "C.UTF-8"):
        for words in ([], ["-ls"], ["-printf", "%p|%f|%h\\n"], ["-print0"]):
            seen = []
            for program in ("/usr/bin/find", programs / "find"):
                args = [program, ".", *(["-nocolor"] if seen else [])]
                args += ["-maxdepth", "1", "-name", "?*", *words]
                env = {"LC_ALL": locale, "TERM": "xterm"}
                _, shown = converse(args, cwd=scratch, env=env)
                seen.append(sorted(shown.split(b"\0" if "-print0" in words else b"\n")))
            assert seen[0] == seen[1], (locale, words)


@pytest.fixture(scope="module")
def odd_names(base):
    """A directory with every byte in a name, characters that terminals obey, and a link."""
    top = base / "names-at-a-terminal"
    top.mkdir()
    names = [bytes([byte]) + b"Z" for byte in range(1, 256) if byte != ord("/")]
    names += ["é\u0080\u009b2J\u200b\u202e\u2028".encode(), b"\xe2\x82a", b"\x1b]0;x\x07"]
    for name in names:
        with open(os.path.join(os.fsencode(top), name), "wb"):
            pass
    (top / "link").symlink_to("to\x1b\n")
    return top


TO_TERMINALS = ("-fprint", "-fprint0", "-fprintf", "-fls")


@pytest.mark.parametrize("locale", ("C", "C.UTF-8"))
@pytest.mark.parametrize("action", TO_TERMINALS)
def test_a_file_that_is_a_terminal(programs, odd_names, action, locale):
    """As with GNU find, names cannot control it, except names that end with a zero byte."""
    action = [action, TERMINAL, *(["%p|%f|%h|%P|%l|\\033[m\n"] if action == "-fprintf" else [])]
    end = b"\0" if action[0] == "-fprint0" else b"\n"
    seen = [
        sorted(written([program, ".", *action], env={"LC_ALL": locale}, cwd=odd_names).split(end))
        for program in ("/usr/bin/find", programs / "find")
    ]
    assert len(seen[0]) > 250
    assert seen[0] == seen[1]


def test_each_destination_is_asked_whether_it_is_a_terminal(programs, odd_names, scratch):
    """A file gets names unchanged although standard output or another file is a terminal."""
    words = [".", "-fprint", scratch / "file", "-fprintf", TERMINAL, "%f\n"]
    shown = written([programs / "find", *words], cwd=odd_names)
    expected = run(["/usr/bin/find", ".", "-fprint", scratch / "gnu"], cwd=odd_names).ok()
    assert b"\x1b" not in shown and b"?]0;x?" in shown and expected.out == b""
    assert sorted((scratch / "file").read_bytes()) == sorted((scratch / "gnu").read_bytes())
    converse([programs / "find", ".", "-fprint", scratch / "again", "-print"], cwd=odd_names)
    assert sorted((scratch / "again").read_bytes()) == sorted((scratch / "gnu").read_bytes())


def test_a_question_does_not_command_the_terminal(programs, scratch):
    """The question quotes the name; GNU find's question contains the name unchanged."""
    (scratch / "e\x1b]0;x\x07").touch()
    words = [".", "-type", "f", "-ok", "true", "{}", ";"]
    _, shown = converse([programs / "find", *words], [b"y"], cwd=scratch)
    assert b"\x1b" not in shown and b"./e?]0;x?" in shown


@pytest.mark.usefixtures("needs_root")
def test_the_type_of_a_file_system_does_not_command_the_terminal(programs, mount, scratch):
    """The user who mounts a FUSE file system chooses its type."""
    point = mount(mounts.hostile_fuse, scratch)
    command = [programs / "find", point, "-maxdepth", "0"]
    shown = written([*command, "-fprintf", TERMINAL, "%F"])
    assert shown.startswith(b"fuse.t?]0;x?") and b"\x1b" not in shown
    _, shown = converse([*command, "-printf", "%F"])
    assert shown.startswith(b"fuse.t?]0;x?") and b"\x1b" not in shown
    # A pipe gets it unchanged.
    assert run([*command, "-printf", "%F"]).ok().out.startswith(b"fuse.t\x1b]0;x\x07")
