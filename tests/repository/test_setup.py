"""scripts/setup: the list of missing tools, and their installation with and without root."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from support import ROOT
from support.run import Program

# Stand-ins for the tools of the system. apt-get and cargo print their arguments. sudo wants a
# password, unless SUDO is set.
TOOLS = {
    "dpkg-query": 'for package; do :; done; test "$package" != bfs && echo install ok installed',
    "apt-cache": "exit 0",
    "apt-get": 'echo "apt-get $*"; exit ${APT_STATUS:-0}',
    "cargo": 'test "$1" != install || echo "cargo $*"',
    "id": 'echo "$IDENTITY"',
    "sudo": 'test -n "$SUDO" && shift && exec "$@"',
    "python": """
if [ "$2" = venv ]; then
  mkdir -p "$3/bin" && cp "$0" "$3/bin/python"
else
  echo "pip $*"; exit ${PIP_STATUS:-0}
fi""",
}
TABLES = re.search(r"^tables=\((.*)\)", (ROOT / "scripts" / "setup").read_text(), re.M)[1]


@pytest.fixture
def setup(scratch: Path) -> Program:
    """The script on a system where only the package bfs and cargo-fuzz are missing."""
    (scratch / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup", scratch / "scripts")
    (scratch / "bin").mkdir()
    for name, text in TOOLS.items():
        (scratch / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (scratch / "bin" / name).chmod(0o755)
    (scratch / "target" / "tools" / "tables").mkdir(parents=True)
    (scratch / "target" / "tools" / "tables" / "installed").write_text(f"{TABLES}\n")
    env = {"PATH": f"{scratch / 'bin'}:{os.environ['PATH']}", "SETUP_DONE": ""}
    env["PYTHON"] = str(scratch / "bin" / "python")
    return Program(scratch / "scripts" / "setup", env=env)


@pytest.mark.parametrize("rights", ({"IDENTITY": "0"}, {"IDENTITY": "1000", "SUDO": "1"}))
def test_the_list_comes_before_the_installation(setup, rights):
    lines = setup("--long", env=rights).ok().out.decode().splitlines()
    begin = lines.index("scripts/setup will install:")
    assert lines[begin + 1].split() == ["Debian", "packages:", "bfs"]
    assert lines[begin + 2].split()[0] == "cargo-fuzz"
    installations = [line for line in lines[begin + 3 :] if line.startswith(("apt-get", "cargo"))]
    assert installations == lines[begin + 3 :] and begin == 0
    assert any("apt-get install -y" in line and line.endswith(" bfs") for line in installations)
    assert installations[-1].startswith("cargo install") and "cargo-fuzz" in installations[-1]


def test_without_root_packages_are_named_and_the_rest_is_installed(setup):
    result = setup("--long", env={"IDENTITY": "1000"})
    assert result.status == 0
    assert b"apt-get install bfs" in result.err and b"need" in result.err
    assert b"apt-get" not in result.out and b"cargo install" in result.out


def test_the_fuzzer_is_for_the_long_tests_only(setup):
    assert b"cargo-fuzz" not in setup(env={"IDENTITY": "0"}).ok().out


def test_a_failed_installation_is_a_failure(setup):
    assert setup(env={"IDENTITY": "0", "APT_STATUS": "100"}).status != 0


@pytest.mark.parametrize("old", (None, "duckdb==0.1"))
def test_readers_of_parquet_are_installed_in_their_versions(setup, scratch, old):
    marker = scratch / "target" / "tools" / "tables" / "installed"
    marker.unlink()
    if old:
        marker.write_text(f"{old}\n")
    result = setup(env={"IDENTITY": "0", "PIP_STATUS": "1"})
    assert result.status == 1 and not marker.exists()
    out = setup(env={"IDENTITY": "0"}).ok().out.decode()
    assert f"  {TABLES}, below target/tools\n" in out
    (line,) = [line for line in out.splitlines() if line.startswith("pip ")]
    assert line.startswith("pip -m pip install ") and line.endswith(f"--only-binary :all: {TABLES}")
    assert TABLES not in setup(env={"IDENTITY": "0"}).ok().out.decode()


def test_wrong_arguments(setup):
    result = setup("--nonsense", env={"IDENTITY": "0"})
    assert result.status == 2 and b"--nonsense" in result.err and result.out == b""


def test_more_than_one_argument(setup):
    result = setup("--checks", "extra", env={"IDENTITY": "0"})
    assert result.status == 2 and b"'extra'" in result.err and result.out == b""


def test_nothing_happens_after_another_target_has_run_it(setup):
    assert setup(env={"IDENTITY": "0", "SETUP_DONE": "1"}).ok().out == b""
