"""scripts/quick: the steps that it chooses for a change, and the smoke tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT
from support.run import Program, needs_program

MANIFEST = '[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2024"\n\n[dependencies]\n'
# Crates, and the crates that each depends on.
CRATES = {"base": (), "middle": ("base",), "top": ("middle",), "alone": (), "fuzz-inputs": ()}


def git(folder: Path, *args: str) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(scratch: Path) -> Path:
    """A workspace of five crates on a branch beside main, without changes."""
    for tool in ("git", "cargo"):
        needs_program(tool)
    (scratch / "scripts").mkdir()
    for name in ("quick", "steps", "base"):
        shutil.copy(ROOT / "scripts" / name, scratch / "scripts")
    (scratch / "Cargo.toml").write_text('[workspace]\nresolver = "3"\nmembers = ["crates/*"]\n')
    (scratch / "README.md").write_text("text\n")
    for name, needs in CRATES.items():
        source = scratch / "crates" / name / "src"
        source.mkdir(parents=True)
        lines = "".join(f'{other} = {{ path = "../{other}" }}\n' for other in needs)
        (source.parent / "Cargo.toml").write_text(MANIFEST.format(name=name) + lines)
        (source / "lib.rs").touch()
    git(scratch, "init", "-b", "main")
    git(scratch, "add", ".")
    git(scratch, "commit", "-m", "first")
    git(scratch, "checkout", "-b", "topic")
    return scratch


def quick(repository: Path) -> Program:
    """The script, without the tools that `make e2e` puts into the PATH."""
    path = [folder for folder in os.environ["PATH"].split(":") if "target/tools" not in folder]
    variables = {"PATH": ":".join(path), "GIT_CEILING_DIRECTORIES": str(repository.parent)}
    return Program(sys.executable, repository / "scripts" / "quick", env=variables)


def listed(repository: Path) -> dict[str, str]:
    """Returns the commands of the steps by their names."""
    lines = quick(repository)("--list").ok().out.decode().splitlines()
    return dict(line.split(": ", 1) for line in lines)


def crates_of(command: str) -> set[str]:
    """Returns the crates that a command of cargo names."""
    words = command.split()
    return {words[i + 1] for i, word in enumerate(words) if word == "-p"}


@pytest.mark.parametrize("committed", (False, True))
@pytest.mark.parametrize(
    ("file", "linted", "tested"),
    (
        ("crates/base/src/lib.rs", {"base"}, {"base", "middle", "top"}),
        ("crates/middle/src/new.rs", {"middle"}, {"middle", "top"}),
        ("crates/alone/Cargo.toml", {"alone"}, {"alone"}),
        ("fuzz/fuzz_targets/regex.rs", {"fuzz-inputs"}, {"fuzz-inputs"}),
        ("Cargo.toml", set(CRATES), set(CRATES)),
    ),
)
def test_changed_crates_are_linted_and_their_dependents_tested(
    repository, file, linted, tested, committed
):
    (repository / file).parent.mkdir(parents=True, exist_ok=True)
    with open(repository / file, "a") as changed:
        changed.write("\n")
    if committed:
        git(repository, "add", ".")
        git(repository, "commit", "-m", "second")
    steps = listed(repository)
    assert crates_of(steps["clippy"]) == linted
    assert crates_of(steps["unit"]) == tested
    assert "smoke" in steps and "bench" not in steps


def test_a_changed_page_needs_no_crate(repository):
    (repository / "README.md").write_text("other text\n")
    steps = listed(repository)
    assert not {"clippy", "unit", "format"} & set(steps)
    assert "smoke" in steps


def test_changed_scripts_are_linted(repository):
    (repository / "tool").write_text("#!/usr/bin/env bash\n")
    (repository / "module.py").write_text("pass\n")
    steps = listed(repository)
    assert steps["shellcheck"].split() == ["shellcheck", "tool"]
    assert steps["ruff"].split() == ["ruff", "check", "module.py"]


@pytest.mark.parametrize("known", (True, False), ids=("no change", "no git"))
def test_everything_is_tested_where_no_change_is_known(repository, known):
    if not known:
        shutil.rmtree(repository / ".git")
    steps = listed(repository)
    assert crates_of(steps["unit"]) == crates_of(steps["clippy"]) == set(CRATES)
    assert "bench" in steps and "ruff" in steps


def test_missing_tools_are_named_with_the_way_to_get_them(repository):
    (repository / "module.py").write_text("pass\n")
    program = quick(repository)
    if shutil.which("ruff", path=program.env["PATH"]):
        pytest.skip("ruff is installed for all users")
    result = program()
    assert result.status == 2 and result.out == b""
    assert b"missing tools" in result.err and b"ruff (scripts/setup --checks)" in result.err


def test_smoke_tests_use_every_program_and_library():
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "smoke"]
    collected = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    files = {line.partition("::")[0] for line in collected.stdout.splitlines() if "::" in line}
    folders = {file.split("/")[1] for file in files}
    assert {"du", "find", "library", "program", "repository", "sources"} <= folders
    assert {"tests/program/test_count.py", "tests/program/test_doctor.py"} <= files
