"""System calls made slow, or made to fail, by strace: what no file system here does by itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def injecting(folder: Path, call: str, effect: str, path: Path | str = "") -> list[str]:
    """What goes before a command so that `call` has `effect` (strace(1), --inject).

    With a `path`, only calls about that file have it.
    """
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    prefix = ["strace", "-f", "-o", str(folder / "strace.log"), "-e", f"trace={call}"]
    prefix += ["-e", f"inject={call}:{effect}"]
    if path:
        prefix += ["--quiet=attach,path-resolution", "-P", str(path)]
    probe = subprocess.run([*prefix, "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"strace cannot trace here: {probe.stderr.decode().strip()}")
    return prefix
