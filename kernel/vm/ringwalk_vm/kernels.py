# SPDX-License-Identifier: GPL-2.0-only
"""A kernel that can be booted, wherever it comes from."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Kernel:
    """A kernel's image, its modules, and how ringwalk.ko is built for it."""

    name: str  # as on the command line
    release: str  # as uname -r says it in the guest
    image: Path  # bzImage
    modules: Path | None  # lib/modules/RELEASE with a modules.dep, if it has modules
    # The folder to build modules against, which may have to be built, and stays within the block.
    headers: Callable[[], AbstractContextManager[Path]]
    chroot: Path | None = None  # where the compiler for its modules lives, if not here
