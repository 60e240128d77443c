"""`make test-long` runs every test of `make test`, and each test that this one leaves out."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from support import ROOT

FROM_MAKE = ("LONG", "MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS")
MAKEFILE = (ROOT / "Makefile").read_text()


def steps(target: str) -> list[str]:
    """Returns the targets that a target of tests runs, in their order."""
    line = re.search(rf"^{target}: ##.*\n\t.* scripts/steps (.*)$", MAKEFILE, re.M)
    return line[1].split()


def commands(target: str, *variables: str) -> set[str]:
    """Returns what make runs for a target."""
    made = subprocess.run(
        ["make", "--no-print-directory", "-n", target, *variables, "MAKE=:", "SETUP_DONE=1"],
        cwd=ROOT,
        # `make test-long`, which may run this test, sets LONG, and make passes it on.
        env={name: os.environ[name] for name in os.environ if name not in FROM_MAKE},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return {" ".join(line.split()) for line in made.stdout.splitlines() if "setup" not in line}


def test_the_long_targets_are_the_others_and_more():
    short, long = steps("test"), steps("test-long")
    assert [step for step in long if step in short] == short
    assert "\ntest-long: export LONG = 1\n" in MAKEFILE


@pytest.mark.parametrize(
    ("target", "more"),
    [
        ("unit", " --ignored long_"),
        ("e2e", ' -m ""'),
        ("python", ' -m ""'),
        ("kernel", "-long"),
    ],
)
def test_each_target_adds_its_long_tests(target: str, more: str):
    normal, long = commands(target), commands(target, "LONG=1")
    assert any(more in line for line in long)
    assert not any(more in line for line in normal)
    # Without these words it is what `make test` runs, and commands beside it.
    assert {line.replace(more, "") for line in long} >= normal


def test_long_tests_are_left_out_by_their_mark():
    for name in ("pytest.ini", "crates/ringwalk-python/pytest.ini"):
        assert '-m "not long"\n' in (ROOT / name).read_text()


def test_every_ignored_test_in_rust_is_long_or_called_by_another():
    ignored = re.compile(r"#\[ignore(?: = \"(.*)\")?\]\n(?:\s*#\[.*\n)*\s*(?:async )?fn (\w+)")
    found = {}
    for path in ROOT.glob("crates/**/*.rs"):
        text = path.read_text()
        found |= {name: reason for reason, name in ignored.findall(text)}
        assert len(ignored.findall(text)) == text.count("#[ignore"), path
    others = {name: reason for name, reason in found.items() if not name.startswith("long_")}
    assert others != found
    for name, reason in others.items():
        assert re.search(r"\b(another|other) tests?\b", reason), name


def test_every_fuzz_target_has_a_program_and_inputs():
    manifest = (ROOT / "fuzz" / "Cargo.toml").read_text()
    programs = set(re.findall(r'^path = "fuzz_targets/(\w+)\.rs"', manifest, re.M))
    targets = {path.stem for path in (ROOT / "fuzz" / "fuzz_targets").iterdir()}
    assert programs == targets
    assert {path.name for path in (ROOT / "fuzz" / "corpus").iterdir()} == targets
