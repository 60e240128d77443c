"""Starting points of every kind."""

from __future__ import annotations

import pytest
from support.find import LOCALES, LS, assert_same
from support.run import Program

STARTS = (
    "",
    ".",
    "./",
    "kinds",
    "kinds/",
    "kinds//",
    "kinds//dir///",
    ".//kinds",
    "./kinds/../links",
    "kinds/file",
    "kinds/file/",
    "kinds/to-file",
    "kinds/to-file/",
    "kinds/to-dir",
    "kinds/to-dir/",
    "kinds/dangling",
    "kinds/dangling/",
    "kinds/self",
    "kinds/through",
    "kinds/fifo kinds/socket kinds/char kinds/block",
    "missing",
    "missing/below",
    "kinds/missing kinds",
    "kinds missing links missing2",
    "kinds kinds",
    "kinds kinds/dir kinds/dir/inside",
    "./-",
    "names/-x names/-depth",
    "./names/!",
    "names/(",
    "-- kinds",
    "-- missing",
    "-P kinds",
    "-H kinds/to-dir",
    "-L kinds/to-dir kinds/dangling kinds/self",
    "-H kinds/to-dir kinds/dangling kinds/self missing",
    "-P -H -L kinds/to-dir",
    "-O2 kinds",
    "-O0 -L kinds",
    "-L -- links",
    "-D nonsense kinds",
    "-P -- -x",
)


@pytest.mark.parametrize("start", STARTS)
def test_starting_points(find, gnu_find, here, start):
    for expression in ([], ["-type", "d"], ["-depth"]):
        assert_same(find, gnu_find, *start.split(), *expression, **here)
    args = (*start.split(), "-maxdepth", 1, "-print0")
    assert_same(find, gnu_find, *args, separator=b"\0", **here)


def test_the_folder_above(find, gnu_find, here):
    inside = {**here, "cwd": here["cwd"] / "kinds"}
    for expression in ([], ["-type", "d"], ["-depth"]):
        assert_same(find, gnu_find, "..", *expression, **inside)


@pytest.mark.parametrize("name", ["", "n" * 256, "a\nb", "it's", "\udcff", "é", "\x1b[31m", "a b"])
@pytest.mark.parametrize("locale", LOCALES)
def test_messages_about_starting_points(find, gnu_find, here, name, locale):
    env = {"LC_ALL": locale}
    assert_same(find, gnu_find, f"./{name}x", "kinds/file", env=env, **here)
    assert_same(find, gnu_find, name, "kinds/file", env=env, **here)
    assert_same(find, gnu_find, "kinds/file", name, "-type", "f", env=env, **here)


def test_the_root_directory(find, gnu_find):
    for start in ("/", "//", "///", "/.", "/../"):
        assert_same(find, gnu_find, start, "-maxdepth", 1)
        assert_same(
            find, gnu_find, start, "-maxdepth", 1, "-name", "/", "-printf", "%p|%f|%h|%P\\n"
        )
        assert_same(find, gnu_find, start, "-maxdepth", 1, "-name", "etc", "-ls", separator=LS)
        assert_same(find, gnu_find, start, "-maxdepth", 1, "-path", "/etc")


def test_a_current_directory_that_is_gone(programs, gnu_find, scratch):
    (scratch / "tree").mkdir()
    (scratch / "tree" / "file").touch()
    results = []
    for program in (programs / "find", "find"):
        (scratch / "gone").mkdir()
        shell = Program("sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", program)
        results.append(shell(scratch / "tree", "-type", "f", cwd=scratch / "gone"))
    assert results[0].ok().out == results[1].ok().out


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
