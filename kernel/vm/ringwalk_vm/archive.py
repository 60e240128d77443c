# SPDX-License-Identifier: GPL-2.0-only
"""Packages of Debian's archive that the package lists of this machine need not name."""

import os
import shutil
import subprocess
from pathlib import Path

from . import cache
from .errors import Failure, Impossible

# The release after the one that the project is built on, and its keys.
NEXT = "trixie"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def own_mirror() -> str:
    """Returns the address this machine has its own Debian packages from."""
    fields = "$(REPO_URI) $(ORIGIN) $(COMPONENT) $(CODENAME)"
    command = [cache.tool("apt-get", "apt"), "indextargets", "--format", fields]
    done = subprocess.run([*command, "Created-By: Packages"], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        address, *rest = line.split()
        if rest[:2] == ["Debian", "main"] and "-" not in rest[2]:
            return address
    raise Impossible("this machine's package sources name no mirror of Debian")


def apt_get(folder: Path, kind: str, suite: str, *words: str) -> None:
    """Runs apt-get in `folder` with new lists of one suite, of packages (deb) or of sources.

    The lists, the cache and the state of this machine's own apt are neither read nor changed.
    """
    own = folder / "apt"
    for name in ("lists/partial", "cache/archives/partial"):
        (own / name).mkdir(parents=True)
    line = f"{kind} [signed-by={KEYRING}] {own_mirror()} {suite} main\n"
    (own / "sources.list").write_text(line)
    options = [
        f"Dir::Etc::sourcelist={own}/sources.list",
        "Dir::Etc::sourceparts=/dev/null",
        f"Dir::State={own}",
        "Dir::State::status=/dev/null",
        f"Dir::Cache={own}/cache",
        "APT::Update::Error-Mode=any",
    ]
    if os.geteuid() == 0:
        # As root, apt fetches as a user who may not enter that folder, and says so.
        options.append("APT::Sandbox::User=root")
    command = [cache.tool("apt-get", "apt"), "-q"]
    for option in options:
        command += ["-o", option]
    try:
        cache.run([*command, "update"], what=f"reading the package lists of {suite}", cwd=folder)
        cache.run([*command, *words], what=f"apt-get {' '.join(words)}", cwd=folder)
    except Failure as error:
        raise Impossible(str(error)) from None
    shutil.rmtree(own)


def backport(package: str, into: Path) -> Path:
    """Fetches the newest version of a package from the next release's backports."""
    cache.say(f"fetching {package} from the backports of Debian {NEXT}")
    apt_get(into, "deb", f"{NEXT}-backports", "download", package)
    (fetched,) = into.glob("*.deb")
    return fetched
