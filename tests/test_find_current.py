"""What findutils 4.10 and POSIX.1-2024 say where the installed GNU find may be older: pinned."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support import mounts
from support.find import messages
from support.run import NOBODY


@pytest.fixture
def links(scratch: Path) -> Path:
    """Links to a file, to nothing, through a file, in circles, and to a directory."""
    top = scratch / "links"
    (top / "dir").mkdir(parents=True)
    (top / "file").write_bytes(b"12345")
    for name, target in (
        ("to-file", "file"),
        ("to-dir", "dir"),
        ("broken", "nowhere"),
        ("through", "to-file/below"),
        ("loop", "loop"),
        ("into-loop", "loop/below"),
    ):
        (top / name).symlink_to(target)
    for name in ("broken", "through", "loop", "into-loop"):
        os.utime(top / name, (1, 1), follow_symlinks=False)
    return top


def names(result) -> list[str]:
    return sorted(os.fsdecode(os.path.basename(line)) for line in result.lines())


@pytest.mark.parametrize("follow", ("-P", "-H"))
def test_links_in_circles_are_links(find, links, follow):
    for kind, expected in (
        ("l", ["broken", "into-loop", "loop", "through"]),
        ("f", ["file", "to-file"]),
        ("d", ["dir", "links", "to-dir"]),
    ):
        assert names(find(follow, links, "-xtype", kind).ok()) == expected


LOOPS = [f"'./{name}': Too many levels of symbolic links" for name in ("into-loop", "loop")]


@pytest.mark.parametrize(
    ("expression", "expected"),
    (
        ("-type l", ["broken", "through"]),
        ("-xtype l", ["broken", "through", "to-dir", "to-file"]),
        ("-lname *", ["broken", "through"]),
        ("-type f", ["file", "to-file"]),
        ("-samefile through", ["through"]),
        ("-samefile file", ["file", "to-file"]),
        ("-size -13c -type l", ["broken"]),
        ("-newer through -type l", []),
        ("! -newer through -type l", ["broken", "through"]),
        ("-name through -printf %p%y%Y%l%s\\n", ["throughlNto-file", "below13"]),
        ("-maxdepth 1 -type l", ["broken", "through"]),
        ("-depth -type l", ["broken", "through"]),
    ),
)
@pytest.mark.parametrize("follow", ("-L", "-follow"))
def test_a_link_through_a_file_is_a_broken_link(find, links, expression, expected, follow):
    line = ["-L", "."] if follow == "-L" else [".", "-follow"]
    for order in ([], ["-s"]):
        result = find(*line, *order, *expression.split(), cwd=links)
        if "printf" in expression:
            assert result.out == b"./throughlNto-file/below13\n"
        else:
            assert names(result) == expected
        assert (result.status, messages(result)) == (1, LOOPS)


@pytest.mark.parametrize("follow", ("-H", "-L"))
def test_such_a_link_as_starting_point(find, links, follow):
    for name in ("broken", "through"):
        result = find(follow, name, "-printf", "%p %y %Y\\n", cwd=links).ok()
        assert result.out == f"{name} l N\n".encode()
        assert find(follow, name, "-samefile", name, cwd=links).ok().lines() == [name.encode()]
        assert find(follow, "file", "-newer", name, cwd=links).ok().lines() == [b"file"]
        assert find(follow, name, "-delete", cwd=links).ok().out == b""
        assert not (links / name).is_symlink()
    result = find(follow, "file/below", cwd=links)
    assert (result.status, messages(result)) == (1, ["'file/below': Not a directory"])


def test_such_links_are_deleted(find, links):
    result = find("-L", ".", "-type", "l", "-delete", "-print", cwd=links)
    assert names(result) == ["broken", "through"]
    assert messages(result) == LOOPS
    assert not (links / "through").is_symlink() and (links / "to-file").is_symlink()


def test_types_of_targets(find, links, needs_root):
    """`?` where a target may not be looked at: with a message and a status that says so."""
    (links / "shut").mkdir()
    (links / "shut" / "file").touch()
    (links / "denied").symlink_to("shut/file")
    (links / "shut").chmod(0)
    links.chmod(0o755)
    args = (".", "-maxdepth", 1, "-type", "l", "-printf", "%f %Y\\n")
    result = find(*args, cwd=links, uid=NOBODY)
    expected = "broken N,denied ?,into-loop L,loop L,through N,to-dir d,to-file f"
    assert b",".join(sorted(result.lines())).decode() == expected
    assert (result.status, messages(result)) == (1, ["'./denied': Permission denied"])
    # What is printed in colours says nothing of the target.
    env = {"LS_COLORS": "or=31:ln=36"}
    result = find("denied", "-color", cwd=links, uid=NOBODY, env=env).ok()
    assert result.out == b"\x1b[31mdenied\x1b[0m\n"


@pytest.mark.parametrize("action", ("-exec", "-execdir", "-ok", "-okdir"))
@pytest.mark.parametrize("end", (";", "+"))
def test_commands_that_cannot_be_run(find, scratch, action, end):
    """A message and status 1; the action is false with `;` and true with `+`."""
    if end == "+" and action.startswith("-ok"):
        pytest.skip("there is no such action")
    top = scratch / "top"
    top.mkdir()
    (top / "file").touch()
    (scratch / "plain").touch()
    (scratch / "script").write_text("#!/no/such/interpreter\n")
    (scratch / "script").chmod(0o755)
    commands = (
        (scratch / "missing", "No such file or directory"),
        ("no-such-command", "No such file or directory"),
        (scratch / "plain", "Permission denied"),
        (scratch / "plain" / "below", "Not a directory"),
        (scratch / "script", "No such file or directory"),
        ("/", "Permission denied"),
    )
    for command, reason in commands:
        args = ("top/file", action, command, "{}", end, "-print")
        result = find(*args, cwd=scratch, stdin=b"y\n")
        assert result.status == 1
        assert messages(result)[-1].endswith(f"'{command}': {reason}"), result
        assert result.lines() == ([b"top/file"] if end == "+" else [])


PATHS = (
    # starting point, %f, %h
    ("/", "/", ""),
    ("//", "/", "/"),
    ("///", "/", "//"),
    ("ab/", "ab/", "."),
    ("ab///", "ab/", "."),
    ("./", "./", "."),
    ("ab/cd/", "cd/", "ab"),
    ("./ab//cd//", "cd/", "./ab/"),
    ("/tmp/", "tmp/", ""),
)


def test_parts_of_starting_points(find, scratch):
    (scratch / "ab" / "cd").mkdir(parents=True)
    for path, base, head in PATHS:
        result = find(path, "-maxdepth", 0, "-printf", "[%f][%h]", cwd=scratch).ok()
        assert result.out.decode() == f"[{base}][{head}]", path


REPLACED = ("touch", "ln -s .")


@pytest.mark.parametrize("replacement", REPLACED)
def test_a_directory_that_becomes_something_else(find, scratch, replacement):
    """Between being listed and being opened: an error, or a race that is ignored."""
    for option, status in (("-noignore_readdir_race", 1), ("-ignore_readdir_race", 0)):
        top = scratch / option
        (top / "dir").mkdir(parents=True)
        (top / "dir" / "file").touch()
        command = ("-execdir", "rm", "-r", "{}", ";", "-execdir", *replacement.split(), "{}", ";")
        result = find(top, "-mindepth", 1, option, *command)
        assert result.status == status
        told = [f"'{top}/dir': Not a directory"] if status else []
        assert messages(result) == told


def test_a_loop_is_no_race(find, scratch):
    (scratch / "dir").mkdir()
    (scratch / "dir" / "up").symlink_to("..")
    (scratch / "dir" / "self").symlink_to("self")
    result = find("-L", "dir", "-ignore_readdir_race", cwd=scratch)
    assert result.status == 1 and len(messages(result)) == 2


@pytest.fixture
def covered(mount, scratch: Path, needs_root) -> Path:
    """Device nodes mounted over regular files, as containers have them."""
    top = scratch / "top"
    (top / "dev").mkdir(parents=True)
    for path in ("null", "file", "dev/null", "dev/file"):
        (top / path).touch()
    (top / "link").symlink_to("null")
    for path in ("null", "dev/null"):
        mount(mounts.bind, Path("/dev/null"), top / path)
    return scratch


@pytest.mark.parametrize("follow", ("-P", "-L"))
def test_types_of_mounted_files(find, covered, follow):
    """A directory tells the type of the file underneath; the one on top counts."""
    devices = ["null", "null"] + (["link"] if follow == "-L" else [])
    for expression in ("-type c", "-type c -name *", "! -type f,d,l"):
        assert names(find(follow, "top", *expression.split(), cwd=covered).ok()) == sorted(devices)
    xtype = ["null", "null"] + (["link"] if follow == "-P" else [])
    assert names(find(follow, "top", "-xtype", "c", cwd=covered).ok()) == sorted(xtype)
    result = find(follow, "top", "-name", "null", "-printf", "%y%Y\\n", cwd=covered).ok()
    assert result.lines() == [b"cc", b"cc"]
    assert names(find(follow, "top", "-type", "f", cwd=covered).ok()) == ["file", "file"]
    assert names(find(follow, "top", "-empty", cwd=covered).ok()) == ["file", "file"]
