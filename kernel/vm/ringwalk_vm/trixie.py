# SPDX-License-Identifier: GPL-2.0-only
"""The kernel of the next Debian release's backports, and the compiler its headers want.

Both are in a folder that is a minimal system of that release, made with debootstrap from the mirror
that this machine uses itself. Modules are built inside it; the kernel is unpacked, not installed.
"""

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import cache
from .errors import Failure, Impossible
from .kernels import Kernel
from .stock import download_command, unpack, unpacked

RELEASE = "trixie"
SERIES = "7.3"
PARTS = ("base", "binary", "modules")  # the packages its image package depends on
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# Programs inside have no locale, ask nothing, and find the tools of root.
ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C",
    "DEBIAN_FRONTEND": "noninteractive",
}
PROXIES = ("http_proxy", "https_proxy", "no_proxy")


def trixie(name: str) -> Kernel:
    """Returns the kernel, made with all it needs when the cache does not hold it."""
    folder, release = made(name)
    headers = Path("/usr/src") / f"linux-headers-{release}"
    return unpacked(
        name,
        release,
        folder / "kernel",
        lambda: contextlib.nullcontext(headers),
        chroot=folder / "root",
    )


def made(name: str) -> tuple[Path, str]:
    """Returns the folder and the release of its kernel; makes the folder if it is not there."""
    if os.geteuid() != 0:
        raise Impossible(f"only root can set up {RELEASE} in a folder, which {name} comes from")
    folder = cache.root() / RELEASE
    if not folder.is_dir():
        with cache.lock(RELEASE):
            if not folder.is_dir():  # still
                make(folder)
    return folder, (folder / "release").read_text().strip()


class SourcePackages:
    """The package of that kernel's sources, of the version of the kernel in the folder."""

    def version(self, package: str) -> str:
        folder, release = made(package)
        query = [cache.tool("dpkg-query", "dpkg"), f"--admindir={folder / 'root/var/lib/dpkg'}"]
        query += ["-W", "-f", "${Version}", f"linux-headers-{release}"]
        return cache.run(query, what=f"asking for the version of {release}").strip()

    def fetch(self, package: str, version: str, into: Path) -> Path:
        cache.say(f"fetching {package}={version}")
        folder, _ = made(package)
        place = folder / "root" / "tmp" / package
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        script = f"cd /tmp/{package} && {download_command(f'{package}={version}')}"
        try:
            inside(folder / "root", ["sh", "-c", script], f"fetching {package}={version}")
        except Failure as error:
            # The archive keeps the newest version only.
            more = f"if the archive has a newer version only, remove {folder}"
            raise Impossible(f"{error}\n{more}") from None
        (fetched,) = place.glob("*.deb")
        shutil.move(fetched, into)
        place.rmdir()
        return into / fetched.name


def make(folder: Path) -> None:
    """Makes the system, its headers and compiler, and the kernel beside it."""
    mirror = own_mirror()
    with cache.folder_in_the_making(folder) as making:
        root = making / "root"
        cache.say(f"setting up {RELEASE} in {folder}, which takes minutes")
        command = [cache.tool("debootstrap", "debootstrap"), "--variant=minbase"]
        command += [f"--keyring={KEYRING}", RELEASE, root, mirror]
        cache.run(command, what="debootstrap")
        sources = root / "etc/apt/sources.list.d/backports.list"
        sources.write_text(f"deb {mirror} {RELEASE}-backports main\n")
        inside(root, ["apt-get", "-q", "update"], "reading the package lists")
        release, version = newest(root)
        install = ["apt-get", "-qy", "--no-install-recommends", "-t", f"{RELEASE}-backports"]
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
        raise Impossible(f"{RELEASE}-backports offers no kernel {SERIES} any more")
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
