"""CPython's own tests of os.walk, os.fwalk and os.scandir.

In a process of their own, as they replace what is in `os`.
"""

import pathlib
import sys

import pytest
from processes import finished


def test_cpythons_own_tests_pass(tmp_path):
    # Debian has them in a package of its own, libpython3-testsuite.
    script = pathlib.Path(__file__).with_name("cpython_os.py")
    run = finished(
        [sys.executable, script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    if run.returncode == 77:
        pytest.skip(run.stdout)
    assert run.returncode == 0, run.stderr[-5000:] + run.stdout
