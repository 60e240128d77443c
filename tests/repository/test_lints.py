"""The lints of prose, maps and commits find what they are for, in a small repository."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty repository with the scripts."""
    (tmp_path / "scripts").mkdir()
    for name in ("check-prose", "check-maps", "check-loops", "check-commits", "base"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts" / name)
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    return tmp_path


def write(repository: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def lint(repository: Path, script: str) -> tuple[int, list[str]]:
    """Returns the exit status and the lines of standard output."""
    done = subprocess.run(
        [repository / "scripts" / script], stdout=subprocess.PIPE, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines()


LONG = "long " * 20 + "line"


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("page.md", f"# Page\n\n{LONG}\n", "page.md:3: 104 columns"),
        ("a.rs", f"fn a() {{}}\n/// {LONG}\n", "a.rs:2: 108 columns"),
        ("a.rs", f"fn a() {{}} // {LONG}\n", "a.rs:1: 117 columns"),
        ("a.rs", f"\n/* one\n   {LONG} */\n", "a.rs:3: 110 columns"),
        ("a.c", f"\t/* {LONG} */\n", "a.c:1: 118 columns"),
        ("a.py", f'"""One.\n\n{LONG}\n"""\n', "a.py:3: 104 columns"),
        ("a.py", f"x = 1  # {LONG}\n", "a.py:1: 113 columns"),
        ("run", f"#!/bin/sh\n# {LONG}\n", "run:2: 106 columns"),
        ("Makefile", f"a: # {LONG}\n", "Makefile:1: 109 columns"),
        ("a.rs", "// The taker waits.\n", "a.rs:1: private word 'taker'"),
        ("page.md", "Whoever reads this.\n", "page.md:1: private word 'Whoever'"),
    ],
)
def test_prose_is_checked_in_each_kind_of_file(repository, name, text, where):
    write(repository, {name: text})
    status, lines = lint(repository, "check-prose")
    assert status == 1
    assert len(lines) == 1 and lines[0].startswith(where)


def test_code_tables_addresses_and_excluded_files_may_be_long(repository):
    write(
        repository,
        {
            "a.rs": f'const A: &str = "// {LONG}";\nconst TAKER: char = \'"\';\n',
            "b.rs": f"const B: &str = r#\"told // {LONG}\"#;\nfn told<'a>(_: &'a str) {{}}\n",
            "c.py": f'told = "# {LONG}"\n',
            "page.md": f"| {LONG} |\n\nhttps://example.org/{'a' * 100}\n",
            "d.rs": f"//! | {LONG} |\n",
            "bench/results/a.md": LONG,
            "kernel/patches/7.3/0001-a.patch": LONG,
            "fuzz/corpus/find/a.md": LONG,
        },
    )
    assert lint(repository, "check-prose") == (0, [])


def test_links_lead_to_files_and_headings(repository):
    text = "# One `two`: three\n\n[a](#one-two-three) [b](other.md#h) [c](https://example.org/x)\n"
    write(repository, {"docs/page.md": text, "docs/other.md": "## H\n"})
    assert lint(repository, "check-prose") == (0, [])
    for target in ("#gone", "other.md#gone", "gone.md"):
        write(repository, {"docs/page.md": f"# One\n\n[a]({target})\n"})
        status, lines = lint(repository, "check-prose")
        assert status == 1
        assert lines == [
            f"docs/page.md:3: dead link '{target}': name a file or heading that is there"
        ]


def test_maps_are_complete_and_name_nothing_else(repository):
    table = "//! | folder or file | contents |\n//! |---|---|\n"
    write(
        repository,
        {
            "crates/one/src/lib.rs": f"//! One.\n//!\n{table}//! | `a.rs`, `b/` | both |\n",
            "crates/one/src/a.rs": "",
            "crates/one/src/a/tests.rs": "",
            "crates/one/src/b/mod.rs": f"{table}//! | `c.rs` | c |\n",
            "crates/one/src/b/c.rs": "",
        },
    )
    assert lint(repository, "check-maps") == (0, [])
    write(
        repository,
        {
            "crates/one/src/d.rs": "",
            "crates/one/src/b/mod.rs": f"{table}//! | `gone.rs` | c |\n",
            "crates/two/src/main.rs": "//! No table.\n",
            "crates/two/src/other.rs": "",
            "crates/three/src/lib.rs": "//! Nothing else.\n",
        },
    )
    status, lines = lint(repository, "check-maps")
    assert status == 1
    assert [line.split(":")[0] for line in lines] == [
        "crates/one/src/lib.rs",
        "crates/one/src/b/mod.rs",
        "crates/two/src/main.rs",
    ]
    assert "`d`" in lines[0] and "`gone.rs`" in lines[1]


def test_pages_for_contributors_name_files_that_are_there(repository):
    page = (
        "# A\n\nWrite `one/src/a.rs`, `b/{c,d}.rs`, `one/src/b/`, `x/NAME/man.md`, `target/doc/`.\n"
    )
    write(
        repository,
        {
            "docs/architecture.md": page,
            "CONTRIBUTING.md": "See `docs/architecture.md`, and `cargo test`.\n",
            "crates/one/src/lib.rs": "",
            **dict.fromkeys(("crates/one/src/a.rs", "crates/one/src/b/c.rs"), ""),
        },
    )
    table = "//! | folder or file | contents |\n//! |---|---|\n//! | `a.rs`, `b/` | both |\n"
    write(repository, {"crates/one/src/lib.rs": table, "crates/one/src/b/d.rs": ""})
    assert lint(repository, "check-maps") == (0, [])
    (repository / "crates/one/src/b/d.rs").rename(repository / "crates/one/src/b/e.rs")
    write(repository, {"CONTRIBUTING.md": "\nSee `page.md`.\n"})
    wrong = ("docs/architecture.md:3: names `b/d.rs`", "CONTRIBUTING.md:2: names `page.md`")
    there = ", which is not there: correct or remove it"
    assert lint(repository, "check-maps") == (1, [name + there for name in wrong])


def limit_loops(repository: Path, limits: str) -> None:
    """Gives the script other limits."""
    script = repository / "scripts/check-loops"
    text = script.read_text()
    script.write_text(re.sub(r"^LIMITS = \{[^}]*\}", f"LIMITS = {{{limits}}}", text, flags=re.M))


def test_files_that_import_each_other_are_found(repository):
    """Imports are followed through `mod.rs`; tests, comments and other crates do not count."""
    ring = [
        f"pub use crate::b::{{c{(n + 1) % 6}::{{self, T{(n + 1) % 6} as U}}}};" for n in range(6)
    ]
    write(
        repository,
        {
            "crates/one/src/lib.rs": "mod b;\nuse b::T0;\n",
            "crates/one/src/b/mod.rs": "mod c0;\npub use c0::T0;\npub(crate) use self::c1::T1;\n",
            **{f"crates/one/src/b/c{n}.rs": ring[n] for n in range(1, 6)},
            "crates/one/src/b/c0.rs": "// use crate::b::c1::T1;\nuse std::b::c1::T1;\n"
            "#[cfg(test)]\nmod tests {\n    use crate::b::T1;\n}\n#[cfg(test)]\nmod tried;\n"
            "#[cfg(test)]\n#[allow(dead_code)]\nfn f(a: u8, b: u8) {\n    use crate::b::T1;\n}\n"
            "enum E {\n    #[cfg(test)]\n    V(crate::b::T1, u8),\n    W,\n}\n",
            "crates/one/src/b/c0/tried.rs": "use crate::b::T1;\n",
        },
    )
    limit_loops(repository, "")
    assert lint(repository, "check-loops") == (0, ["one: 0 files in its largest loop"])
    for importing in ("use super::T1;\n", "fn f() -> crate::b::T1 {}\n"):
        write(repository, {"crates/one/src/b/c0.rs": importing})
        assert lint(repository, "check-loops") == (1, ["one: 6 files in its largest loop"])
    ties = subprocess.run(
        [repository / "scripts/check-loops", "one"], stdout=subprocess.PIPE, text=True, check=True
    )
    lines = ties.stdout.splitlines()
    assert lines[:2] == ["loop of 6 files:", "  b/c0.rs -> b/c1.rs: T1"]
    assert "  b/c5.rs -> b/c0.rs: T0, c0" in lines
    for limits, status in (
        ('"one": 6', 0),
        ('"one": 5', 1),
        ('"one": 7', 1),
        ('"one": 6, "x": 1', 1),
    ):
        limit_loops(repository, limits)
        assert lint(repository, "check-loops")[0] == status, limits
    unknown = [repository / "scripts/check-loops", "two"]
    assert subprocess.run(unknown, stderr=subprocess.DEVNULL, check=False).returncode == 2


def commit(repository: Path, message: str) -> None:
    """Commits nothing but a message."""
    command = ["git", "-C", repository, "-c", "user.name=One", "-c", "user.email=one@localhost"]
    command += ["commit", "--quiet", "--allow-empty", "-m", message]
    subprocess.run(command, check=True)


BODY = "\n\nIt was wrong."


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        (f"Mend a fault{BODY}", None),
        (f"find: process links first{BODY}", None),
        (f"Embed the table: it has changed{BODY}", None),
        (f"tests, bench: share the server{BODY}", None),
        (f"tests, bench: shared the server{BODY}", "'shared' is no imperative"),
        ("Mend a fault", "it has no body: expected a text that says why"),
        ("Mend a fault\n\nSigned-off-by: One <one@localhost>", "it has no body"),
        ("Mend\na fault", "its second line is not blank"),
        (f"Mend a fault.{BODY}", "its subject ends with a full stop"),
        (f"find: mended a fault{BODY}", "'mended' is no imperative"),
        (f"Fixes a fault{BODY}", "'fixes' is no imperative"),
        (f"Mend {'a' * 68}{BODY}", "its subject has 73 characters"),
    ],
)
def test_messages_of_commits_have_a_form(repository, message, fault):
    commit(repository, f"Begin{BODY}")
    subprocess.run(["git", "-C", repository, "branch", "-M", "main"], check=True)
    subprocess.run(["git", "-C", repository, "switch", "-q", "-c", "change"], check=True)
    assert lint(repository, "check-commits") == (0, [])
    commit(repository, message)
    status, lines = lint(repository, "check-commits")
    assert (status, len(lines)) == (int(bool(fault)), int(bool(fault)))
    if fault:
        assert f"({message.partition(chr(10))[0]}): {fault}" in lines[0]


def test_commits_before_the_branch_are_not_checked(repository):
    assert lint(repository, "check-commits") == (0, [])
    commit(repository, "Wrong.")
    subprocess.run(["git", "-C", repository, "branch", "-M", "main"], check=True)
    assert lint(repository, "check-commits") == (0, [])
