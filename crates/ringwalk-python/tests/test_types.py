"""The stubs: what they say is so, and is enough for strict checking."""

import pathlib
import sys

import pytest
from processes import finished

HERE = pathlib.Path(__file__).parent


def mypy(tmp_path, *arguments) -> str:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", *map(str, arguments)]
    done = finished(command, capture_output=True, text=True, cwd=tmp_path)
    return done.stdout + done.stderr


def test_a_program_that_uses_all_of_it_passes_strict_checking(tmp_path):
    sample = HERE / "typed_sample.py"
    told = mypy(tmp_path, "mypy", "--strict", "--warn-unused-ignores", sample)
    assert told.startswith("Success"), told


def test_the_stubs_say_what_the_module_has(tmp_path):
    told = mypy(tmp_path, "mypy.stubtest", "--ignore-disjoint-bases", "ringwalk")
    assert told.startswith("Success"), told
