# SPDX-License-Identifier: GPL-2.0-only
"""The kernel of the next Debian release's backports, and the compiler its headers want.

Both are in a folder that is a minimal system of that release, made with debootstrap from the mirror
that this machine uses itself. Modules are built inside it; the kernel is unpacked, not installed.
"""

import contextlib
import os
import re
import shutil
from pathlib import Path

from . import cache
from .archive import KEYRING, NEXT, own_mirror
from .errors import Impossible
from .kernels import Kernel
from .stock import download_command, unpack, unpacked

SERIES = "7.3"
PARTS = ("base", "binary", "modules")  # the packages its image package depends on
# Programs inside have no locale, ask nothing, and find the tools of root.
ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C",
    "DEBIAN_FRONTEND": "noninteractive",
}
PROXIES = ("http_proxy", "https_proxy", "no_proxy")


def trixie(name: str) -> Kernel:
    """Returns the kernel, made with all it needs when the cache does not hold it."""
    if os.geteuid() != 0:
        raise Impossible(f"only root can set up {NEXT} in a folder, which {name} comes from")
    folder = cache.root() / NEXT
    if not folder.is_dir():
        with cache.lock(NEXT):
            if not folder.is_dir():  # still
                make(folder)
    release = (folder / "release").read_text().strip()
    headers = Path("/usr/src") / f"linux-headers-{release}"
    return unpacked(
        name,
        release,
        folder / "kernel",
        lambda: contextlib.nullcontext(headers),
        chroot=folder / "root",
    )


def make(folder: Path) -> None:
    """Makes the system, its headers and compiler, and the kernel beside it."""
    mirror = own_mirror()
    with cache.folder_in_the_making(folder) as making:
        root = making / "root"
        cache.say(f"setting up {NEXT} in {folder}, which takes minutes")
        command = [cache.tool("debootstrap", "debootstrap"), "--variant=minbase"]
        command += [f"--keyring={KEYRING}", NEXT, root, mirror]
        cache.run(command, what="debootstrap")
        sources = root / "etc/apt/sources.list.d/backports.list"
        sources.write_text(f"deb {mirror} {NEXT}-backports main\n")
        inside(root, ["apt-get", "-q", "update"], "reading the package lists")
        release, version = newest(root)
        install = ["apt-get", "-qy", "--no-install-recommends", "-t", f"{NEXT}-backports"]
        install += ["install", "make", "binutils", f"linux-headers-{release}={version}"]
        inside(root, install, "installing the headers and their compiler")
        # linux-image only depends on these; it is empty.
        wanted = " ".join(f"linux-{part}-{release}={version}" for part in PARTS)
        fetch = f"cd /tmp && {download_command(wanted)}"
        inside(root, ["sh", "-c", fetch], f"fetching {wanted}")
        (making / "kernel").mkdir()
        unpack(sorted((root / "tmp").glob("linux-*.deb")), making / "kernel", release)
        (making / "release").write_text(release + "\n")
        inside(root, ["apt-get", "clean"], "removing downloaded packages")
        shutil.rmtree(root / "tmp")
        (root / "tmp").mkdir()
        (root / "tmp").chmod(0o1777)


def newest(root: Path) -> tuple[str, str]:
    """Returns release and version of the newest kernel of the series in the lists inside."""
    listed = inside(root, ["apt-cache", "dumpavail"], "reading the package lists")
    found = []
    for paragraph in listed.split("\n\n"):
        match = re.search(
            rf"^Package: linux-headers-({re.escape(SERIES)}\.(\d+)\S*-cloud-amd64)$",
            paragraph,
            re.MULTILINE,
        )
        version = re.search(r"^Version: (\S+)$", paragraph, re.MULTILINE)
        if match and version:
            found.append((int(match[2]), match[1], version[1]))
    if not found:
        raise Impossible(f"{NEXT}-backports offers no kernel {SERIES} any more")
    _, release, version = max(found)
    return release, version


def inside(root: Path, command: list, what: str) -> str:
    """Runs a command in the system below `root`."""
    environment = {**ENVIRONMENT, **{key: os.environ[key] for key in PROXIES if key in os.environ}}
    # objtool reads /proc. What is mounted in a namespace of its own goes with it.
    script = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
    unshare = [cache.tool("unshare", "util-linux"), "--mount", "sh", "-c", script]
    return cache.run([*unshare, root, *command], what=what, env=environment)


def build_module(kernel: Kernel, headers: Path, source: Path, output: Path) -> None:
    """Builds the module inside, from a copy of its sources, and brings it to `output`."""
    place = kernel.chroot / "ringwalk" / output.name
    shutil.rmtree(place / "source", ignore_errors=True)
    # Times stay, so that make compiles only what changed.
    shutil.copytree(source, place / "source", symlinks=True)
    (place / "output").mkdir(exist_ok=True)
    within = Path("/") / place.relative_to(kernel.chroot)
    command = [
        "make",
        "-C",
        within / "source",
        f"KDIR={headers}",
        f"MO={within / 'output'}",
    ]
    inside(kernel.chroot, command, f"building the module for {kernel.release}")
    built = place / "output" / "ringwalk.ko"
    if built.is_file():
        shutil.copy2(built, output / "ringwalk.ko")
