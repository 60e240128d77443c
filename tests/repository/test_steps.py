"""scripts/steps, which `make test` and `.ci/run` use: order, table, failures, exit status."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT
from support.run import Program

# Stands in for make: prints its target and what the target has to say.
MAKE = """#!/bin/sh
for target; do :; done
echo "running $target"
case $target in
  bad) echo "the reason of the failure"; exit 3 ;;
  unit)
    echo "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out"
    echo "test result: ok. 37 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out" ;;
  python)
    echo "SKIPPED [2] tests/a.py:3: needs root"
    echo "SKIPPED [3] tests/b.py:5: needs root"
    echo "=========== 40 passed, 5 skipped in 1.50s ===========" ;;
  kernel) echo "kernel: vm passed in 3 s"; echo "kernel: patched SKIPPED in 0 s" ;;
  setup | second) echo "SETUP_DONE=$SETUP_DONE" ;;
esac
"""


@pytest.fixture
def steps(scratch: Path) -> Program:
    """The script in a repository of its own, with a stand-in for make."""
    (scratch / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "steps", scratch / "scripts")
    make = scratch / "make"
    make.write_text(MAKE)
    make.chmod(0o755)
    # These tests themselves may run in a step: its variables must not reach the script.
    env = {"MAKE": str(make), "SETUP_DONE": "", "STEPS_LOGS": ""}
    return Program(scratch / "scripts" / "steps", env=env)


def table(result) -> dict[str, list[str]]:
    """Returns the rows of the table by the names of the steps, each as its first three words."""
    lines = result.out.decode().split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith("step "))
    rows = lines[begin + 1 : lines.index("", begin)]
    return {row.split()[0]: row.split(maxsplit=3)[1:] for row in rows}


def test_a_failed_step_does_not_stop_the_next_ones(steps, scratch):
    result = steps("first", "bad", "second")
    assert result.status == 1
    text = result.out.decode()
    places = [text.index(f"running {name}\n") for name in ("first", "bad", "second")]
    assert places == sorted(places)
    assert [row[0] for row in table(result).values()] == ["passed", "FAILED", "passed"]
    assert list(table(result)) == ["first", "bad", "second"]
    # The failure is the end of the output, and its log is a file.
    assert text.endswith("  running bad\n  the reason of the failure\n")
    assert text.index("FAILED: bad.") > text.index("step ")
    assert "reason of the failure" in (scratch / "target" / "steps" / "bad.log").read_text()


def test_steps_that_pass(steps):
    result = steps("first", "second").ok()
    assert b"FAILED" not in result.out and b"left out" not in result.out


def test_a_step_without_its_tools_is_left_out(steps):
    result = steps("first", "e2e", env={"PYTHON": "/nonexistent"}).ok()
    assert b"running e2e" not in result.out and b"== 1 of 2 steps ran" in result.out
    assert table(result)["e2e"][:2] == ["left", "out"]
    assert b"pytest (apt-get install python3-pytest)" in result.out
    alone = steps("e2e", env={"PYTHON": "/nonexistent"})
    assert alone.status == 1, "no step ran, which is not a success"


def test_the_table_has_the_summaries_of_the_runners(steps):
    rows = table(steps("unit", "python", "kernel").ok())
    assert rows["unit"][2] == "42 passed, 0 failed, 3 ignored"
    assert rows["python"][2] == "40 passed, 5 skipped in 1.50s"
    assert rows["kernel"][2] == "1 of 2 passed, 1 skipped"


def test_tests_that_are_left_out_are_named_with_their_reasons(steps):
    result = steps("python", "kernel").ok()
    left_out = result.out.decode().split("left out:\n")[1]
    assert "  python: 5 tests: needs root\n" in left_out
    assert "  kernel: kernel: patched SKIPPED in 0 s\n" in left_out


def test_commands_that_are_no_targets(steps):
    result = steps("one=echo $((6 * 7)); exit 4")
    assert result.status == 1 and b"\n42\n" in result.out
    assert table(result)["one"][0] == "FAILED"


def test_steps_have_no_input(steps):
    steps("read=! read -r line", stdin=b"an answer\n").ok()


def test_setup_runs_once(steps):
    result = steps("second", "setup", "second").ok()
    assert result.out.count(b"SETUP_DONE=\n") == 2 and result.out.count(b"SETUP_DONE=1\n") == 1


@pytest.mark.parametrize("words", ((), ("--nonsense",)))
def test_wrong_arguments(steps, words):
    result = steps(*words)
    assert result.status == 2 and b"usage" in result.err and not result.out


@pytest.mark.parametrize("word", ("=true", "", "a/b=true", "a|b=true"))
def test_names_that_cannot_be_names_of_logs(steps, word):
    result = steps("first=true", word)
    assert result.status == 2 and b"is no name of a step" in result.err and not result.out


def test_missing_tools(steps):
    result = steps("--missing", "cat", "no-such-tool", "pytest", env={"PYTHON": "/nonexistent"})
    expected = (
        b"no-such-tool (apt-get install no-such-tool), pytest (apt-get install python3-pytest)"
    )
    assert result.ok().out == expected


def test_helpers_that_the_kernel_steps_share_need_no_package():
    """kernel/vm/clock-steps runs with any Python, which may have no pytest."""
    words = [sys.executable, "-S", "-c", "import support.constant"]
    subprocess.run(words, cwd=ROOT / "tests", check=True)


@pytest.mark.parametrize("target", ["test", "test-long", "quick"])
def test_a_dry_run_of_make_runs_no_step(target):
    done = Program("make", "-n", "-C", ROOT, target)().ok()
    assert b"scripts/" in done.out and b" ran " not in done.out and not done.err
