"""Files that a user names as outputs are created and replaced by one crate.

`ringwalk-output` follows links as the kernel would, refuses strangers' files in sticky directories,
and keeps the rights of a replaced file. Code that creates or renames files by itself does not. The
test finds such code in the sources, and knows the reason of each place that has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Files and folders that may create, rename or link files, and why.
KNOWN = {
    "crates/ringwalk-output/src/": "the crate itself",
    "crates/ringwalk-delete/src/rename.rs": "moves entries to a trash, or to a temporary name",
    "crates/ringwalk-delete/src/trash": "moves entries to a trash and back; `.trashinfo` files",
    "crates/ringwalk-dupes/src/act/": "moves and links the files that it was asked to change",
    "crates/ringwalk-find/src/search/output.rs": "-fprint and the like: in place, as GNU find",
    "crates/ringwalk-snapshot/src/cluster/": "files in the folder of a shared walk",
    "crates/ringwalk-snapshot/src/write/spill.rs": "a temporary file without a name",
    "crates/ringwalk-python/build.rs": "a file of the build",
    "crates/ringwalk-python/python/ringwalk/cluster/": "files in the folder of a shared walk",
    "crates/xtask/src/": "files of the build",
}

RUST = re.compile(
    r"\bFile::create|\.create(_new)?\(true\)|\bOFlags::(CREATE|TMPFILE)\b"
    r"|\bfs::(write|copy|rename|hard_link)\(|\b(renameat(_with)?|linkat|mknodat|symlinkat)\b"
    r"|\bos::unix::fs::symlink\b|\btempfile(_in)?\b|\bO_(CREAT|TMPFILE)\b"
)
PYTHON = re.compile(
    r"\bopen\([^)]*['\"][rb]*[wax][b+]*['\"]|\.write_(text|bytes)\(|\bO_(CREAT|TMPFILE)\b"
    r"|\bos\.(rename|replace|renames|link|symlink)\b|\b(shutil|tempfile)\."
)


def rust() -> Iterator[tuple[str, str]]:
    """Yields the path and the text of each source file, without tests and comments."""
    for path in sorted(ROOT.glob("crates/*/**/*.rs")):
        name = str(path.relative_to(ROOT))
        test = r"/(tests|examples|benches)/|/(testing|fake|image|test_\w+|tests)\.rs$"
        if not re.search(test, name):
            text = re.split(r"#\[cfg\(test\)\]\n(?:#.*\n)*mod tests \{", path.read_text())[0]
            yield name, re.sub(r"(?m)^\s*//.*$", "", text)


def python() -> Iterator[tuple[str, str]]:
    """Yields the path and the text of each module, without comments and documentation."""
    for path in sorted(ROOT.glob("crates/ringwalk-python/python/**/*.py")):
        text = re.sub(r'(?s)""".*?"""', "", path.read_text())
        yield str(path.relative_to(ROOT)), re.sub(r"(?m)#.*$", "", text)


def writers(texts: Iterator[tuple[str, str]], pattern: re.Pattern) -> dict[str, list[str]]:
    """Returns the files with code that creates, renames or links files, and that code."""
    found = {name: [hit[0] for hit in pattern.finditer(text)] for name, text in texts}
    return {name: hits for name, hits in found.items() if hits}


def test_only_one_crate_writes_outputs():
    found = writers(rust(), RUST) | writers(python(), PYTHON)
    unknown = {name: hits for name, hits in found.items() if not name.startswith(tuple(KNOWN))}
    assert unknown == {}, "write outputs by ringwalk-output, or say in KNOWN why not"
    unused = [known for known in KNOWN if not any(name.startswith(known) for name in found)]
    assert unused == [], "nothing is written there any more: remove the lines"


def test_writers_of_each_kind_are_found():
    for line in (
        "let file = File::create(path)?;",
        "OpenOptions::new().write(true).create(true).open(path)",
        "open(path, OFlags::RDWR | OFlags::CREATE, mode)",
        "std::fs::write(path, text)",
        "fs::rename(old, new)",
        "renameat(&folder, old, &folder, new)",
    ):
        assert writers(iter([("a.rs", line)]), RUST), line
    for line in (
        'with open(path, "wb") as file:',
        "path.write_text(text)",
        "os.open(path, os.O_WRONLY | os.O_CREAT)",
        "os.replace(old, new)",
    ):
        assert writers(iter([("a.py", line)]), PYTHON), line
    assert not writers(iter([("a.py", 'open(path, "rb")')]), PYTHON)
    assert not writers(iter([("a.rs", "File::open(path)")]), RUST)
