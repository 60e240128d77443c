# SPDX-License-Identifier: GPL-2.0-only
"""ringwalk.ko for a kernel, built from kernel/module into the cache."""

from pathlib import Path

from . import cache, trixie
from .errors import Failure
from .kernels import Kernel

SOURCE = Path(__file__).resolve().parents[2] / "module"


def build(kernel: Kernel) -> Path:
    """Returns the module for this kernel. Kbuild itself finds the changed files."""
    if not (SOURCE / "Makefile").is_file():
        raise Failure(f"{SOURCE} holds no module to build")
    # Checkouts do not share the folder: each has its own state of the sources.
    output = cache.root() / "module" / f"{kernel.release}-{cache.digest(str(SOURCE))}"
    output.mkdir(parents=True, exist_ok=True)
    with kernel.headers() as headers, cache.lock(f"module-{output.name}"):
        if kernel.chroot:
            trixie.build_module(kernel, headers, SOURCE, output)
        else:
            make = [cache.tool("make", "make"), "-C", SOURCE, f"KDIR={headers}", f"MO={output}"]
            cache.run(make, what=f"building the module for {kernel.release}")
    built = output / "ringwalk.ko"
    if not built.is_file():
        raise Failure(f"building the module for {kernel.release} left no {built}")
    return built
