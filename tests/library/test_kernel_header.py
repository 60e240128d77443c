"""The header of the kernel module, and the C example in docs/kernel.md, compile."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from support import ROOT

HEADERS = ROOT / "kernel/module/include/uapi"


def test_example_in_c_compiles_without_a_warning(tmp_path: Path) -> None:
    examples = re.findall(r"```c\n(.*?)```", (ROOT / "docs/kernel.md").read_text(), re.DOTALL)
    assert len(examples) == 1
    source = tmp_path / "example.c"
    source.write_text(examples[0])
    compiled = subprocess.run(
        [
            "gcc",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-std=gnu11",
            "-I",
            HEADERS,
            "-o",
            tmp_path / "example",
            source,
        ],
        capture_output=True,
        text=True,
    )
    assert compiled.returncode == 0, compiled.stderr


def test_header_stands_alone_in_c_and_cxx(tmp_path: Path) -> None:
    for compiler, suffix, standard in (("gcc", "c", "c11"), ("g++", "cc", "c++11")):
        source = tmp_path / f"alone.{suffix}"
        source.write_text("#include <linux/ringwalk.h>\nint main(void) { return 0; }\n")
        compiled = subprocess.run(
            [
                compiler,
                f"-std={standard}",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-I",
                HEADERS,
                "-c",
                "-o",
                "/dev/null",
                source,
            ],
            capture_output=True,
            text=True,
        )
        assert compiled.returncode == 0, compiled.stderr
