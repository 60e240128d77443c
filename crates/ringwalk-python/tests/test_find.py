"""`find` against find(1), and what of it a library does not do."""

import copy
import os
import pickle
import re
import subprocess
import threading

import pytest
import ringwalk
from support import PATIENCE, run, threads, wait_until

EXPRESSIONS = [
    [],
    ["-type", "f"],
    ["-name", "file1*"],
    ["-name", "*.txt", "-o", "-size", "+20c"],
    ["!", "-type", "d", "-links", "2"],
    ["(", "-name", "a", "-o", "-name", "empty", ")", "-prune", "-o", "-print"],
    ["-L", "-type", "f"],
    ["-H", "-maxdepth", "1"],
    ["-mindepth", "2", "-newer", "{top}/link"],
    ["-samefile", "{top}/a/file7"],
    ["-regex", ".*/file[0-9]"],
    ["-empty"],
    ["-depth", "-type", "d"],
    ["-type", "d", "-print0"],
    ["-false"],
]


@pytest.mark.parametrize("words", EXPRESSIONS, ids=" ".join)
def test_paths_are_those_of_find(tree, words):
    words = [word.format(top=tree) for word in words]
    leading = [word for word in words if word in ("-L", "-H")]
    rest = ["-print0" if word == "-print" else word for word in words if word not in leading]
    if "-print0" not in rest:
        rest = ["(", *(rest or ["-true"]), ")", "-print0"]
    command = ["find", *leading, tree, *rest]
    expected = subprocess.run(command, capture_output=True, check=True).stdout.split(b"\0")[:-1]
    found = list(ringwalk.find(tree, *words, on_error="collect"))
    assert sorted(map(os.fsencode, found)) == sorted(expected)


@pytest.mark.smoke
def test_paths_are_of_the_kind_given(tree):
    odd = os.fsencode(tree) + b"/\xff\xfe.dat"
    assert list(ringwalk.find(os.fsencode(tree), "-name", "*.dat")) == [odd]
    assert list(ringwalk.find(tree, b"-name", b"*.dat")) == [os.fsdecode(odd)]
    assert list(ringwalk.find(os.fspath(tree), "-name", "*\udcff*")) == [os.fsdecode(odd)]
    assert f"{tree}/line\nbreak" in list(ringwalk.find(tree))


def test_a_path_is_a_path_whatever_it_looks_like(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for odd in ("-name", "!", "(", "--"):
        os.mkdir(odd)
        assert list(ringwalk.find(odd)) == [odd]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-delete"], "-delete is for the program, not for a library: it changes files"),
        (["-exec", "true", ";"], "-exec is for the program, not for a library: it runs commands"),
        (["-execdir", "true", "{}", "+"], "it runs commands"),
        (["-ok", "true", ";"], "it runs commands"),
        (["-name", "x", "-o", "-ls"], "-ls is for the program, not for a library: it writes"),
        (["-printf", "%p"], "it writes something else than paths"),
        (["-fprint", "/tmp/ringwalk-never-made"], "it writes to a file"),
        (["-fprint0", "/dev/stderr"], "it writes to a file"),
        (["-D", "tree"], "-D is for the program"),
        (["-files0-from", "-"], "-files0-from is for the program"),
        (["-help"], "for the program"),
        (["-version"], "for the program"),
        (["elsewhere"], "no part of an expression: `elsewhere'"),
        (["."], "no part of an expression"),
        (["-nmae", "x"], "unknown predicate `-nmae'; did you mean `-name'?"),
        (["-name"], "missing argument to `-name'"),
        (["("], "invalid expression"),
        (["-size", "big"], "-size"),
    ],
)
def test_what_is_refused_is_refused_at_once(tree, capfd, words, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ringwalk.find(tree, *words)
    assert capfd.readouterr() == ("", "")
    assert not os.path.exists("/tmp/ringwalk-never-made")


@pytest.mark.parametrize("word", [3, None, ["-name", "x"]])
def test_words_are_words(tree, word):
    with pytest.raises(TypeError, match="words of an expression are str or bytes"):
        ringwalk.find(tree, word)


def test_nothing_is_written_to_the_processs_output(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    script = """
import sys, ringwalk
found = ringwalk.find(sys.argv[1], "-L", "-mindepth", "0", "-print", on_error="collect")
for _ in found: pass
assert found.errors, "there is something to be told"
"""
    done = run(script, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_errors_come_after_all_paths(tree):
    (tree / "a" / "loop").symlink_to("loop")
    found, paths = ringwalk.find(tree, "-L", "-name", "file*"), []
    with pytest.raises(ringwalk.SearchError) as raised:
        paths.extend(found)
    # By both ways to it.
    assert len(raised.value.messages) == 2
    assert f"{tree}/a/loop" in str(raised.value)
    assert found.errors == raised.value.messages
    assert len(paths) == 100
    quiet = ringwalk.find(tree, "-L", "-name", "file*", on_error="collect")
    assert len(list(quiet)) == 100 and len(quiet.errors) == 2


def test_what_is_not_there(tmp_path):
    with pytest.raises(ringwalk.SearchError, match="missing.*No such file or directory"):
        list(ringwalk.find(tmp_path / "missing"))
    found = ringwalk.find(tmp_path / "missing", on_error="collect")
    assert list(found) == [] and len(found.errors) == 1


def test_a_source_that_cannot_be_used(tmp_path):
    with pytest.raises(ringwalk.SearchError, match="proc"):
        list(ringwalk.find("/proc", "-maxdepth", "0", source="ext4"))


def test_many_paths_in_pieces(tmp_path):
    for number in range(3000):
        (tmp_path / f"{number:0200}").touch()
    assert len(set(ringwalk.find(tmp_path, "-type", "f"))) == 3000


def test_quit(tree):
    assert len(list(ringwalk.find(tree, "-name", "file*", "-print", "-quit"))) == 1


@pytest.mark.parametrize("words", [[], ["-name", "nothing"]])
def test_closed_early(endless, words):
    with ringwalk.find(endless, "-L", *words) as found:
        if not words:
            assert next(found)
            assert threads()
    assert wait_until(lambda: not threads())
    with pytest.raises(ValueError, match="closed"):
        next(found)
    found.close()


def test_dropped_early(endless):
    for path in ringwalk.find(endless, "-L"):
        assert path
        break
    assert wait_until(lambda: not threads())


def test_several_threads(tree):
    found, paths = ringwalk.find(tree), []
    readers = [threading.Thread(target=lambda: paths.extend(found)) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(PATIENCE)
    assert sorted(paths) == sorted(ringwalk.find(tree))


def test_a_fork_is_told(endless):
    script = """
import os, sys, signal, ringwalk
found = ringwalk.find(sys.argv[1], "-L")
next(found)
child = os.fork()
signal.alarm(20)
if child == 0:
    try:
        next(found)
    except RuntimeError as error:
        assert "before fork()" in str(error)
        found.close()
        del found
        os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert next(found)
print("done")
"""
    assert run(script, endless).stdout == "done\n"


def test_errors_of_a_search_are_pickled_and_copied_whole(tmp_path):
    error = ringwalk.SearchError(["first", "second"])
    again = pickle.loads(pickle.dumps(error))
    for each in error, again, copy.copy(error):
        assert (str(each), each.messages) == ("first; second", ["first", "second"])
