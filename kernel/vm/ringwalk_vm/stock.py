# SPDX-License-Identifier: GPL-2.0-only
"""Debian's own kernels, unpacked from their packages without installing them.

The package is the one whose headers are installed, so that a module built here loads there;
without headers, the newest that the machine's package lists name.
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

# The part of the meta packages' names between linux-image- (linux-headers-) and cloud-amd64.
SERIES = {"6.1": "", "6.12": "6.12-"}


def stock(name: str) -> Kernel:
    """Returns the kernel of this series, fetched when the cache does not hold it."""
    release, version = wanted(name)
    folder = cache.root() / "stock" / f"{release}_{version.replace(':', '_')}"
    if not folder.is_dir():
        with cache.lock(f"stock-{name}"):
            if not folder.is_dir():  # still
                fetch(release, version, folder)
    return unpacked(name, release, folder, lambda: installed_headers(name, release))


def unpacked(name: str, release: str, folder: Path, headers, **more) -> Kernel:
    """Returns the kernel whose packages were unpacked into `folder`."""
    image = folder / "boot" / f"vmlinuz-{release}"
    if not image.exists():  # beside the modules in newer packages
        image = folder / "lib" / "modules" / release / "vmlinuz"
    return Kernel(
        name=name,
        release=release,
        image=image,
        modules=folder / "lib" / "modules" / release,
        headers=headers,
        **more,
    )


def wanted(name: str) -> tuple[str, str]:
    """Returns release and package version, such as `6.1.0-56-cloud-amd64` and `6.1.192-2`."""
    series = SERIES[name]
    query = cache.tool("dpkg-query", "dpkg")
    done = subprocess.run(
        [query, "-W", "-f", "${db:Status-Status} ${Depends}", f"linux-headers-{series}cloud-amd64"],
        capture_output=True,
        text=True,
    )
    if done.returncode == 0 and done.stdout.startswith("installed "):
        return dependency(done.stdout, "headers")
    shown = subprocess.run(
        [cache.tool("apt-cache", "apt"), "show", f"linux-image-{series}cloud-amd64"],
        capture_output=True,
        text=True,
    )
    for line in shown.stdout.splitlines():
        if line.startswith("Depends:"):
            return dependency(line, "image")
    raise Impossible(f"no package list of this machine names linux-image-{series}cloud-amd64")


def dependency(text: str, kind: str) -> tuple[str, str]:
    """Returns the release and version in the Depends field of a meta package."""
    match = re.search(rf"linux-{kind}-([0-9]\S*) \(= ([^)]+)\)", text)
    if not match:
        raise Failure(f"cannot read this dependency on a kernel: {text.strip()}")
    return match[1], match[2]


def fetch(release: str, version: str, folder: Path) -> None:
    """Downloads the image package and unpacks it into `folder`."""
    with cache.folder_in_the_making(folder) as making:
        package = download(f"linux-image-{release}={version}", making)
        unpack([package], making, release)
        package.unlink()
    # What the machine had before its packages were updated.
    for old in folder.parent.iterdir():
        if old != folder and old.name.split(".")[:2] == release.split(".")[:2]:
            shutil.rmtree(old)


def download(package: str, into: Path) -> Path:
    """Fetches a package file by the machine's own package manager."""
    cache.say(f"fetching {package}")
    command = download_command(package).split()
    done = subprocess.run(
        command, cwd=into, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    files = list(into.glob("*.deb"))
    if done.returncode != 0 or len(files) != 1:
        raise Impossible(f"cannot fetch {package}: {done.stderr.strip() or 'no file came'}")
    return files[0]


def download_command(package: str) -> str:
    """Fetches a package file into the current folder."""
    # As root, apt fetches as a user who may not enter that folder, and says so.
    option = "-o APT::Sandbox::User=root " if os.geteuid() == 0 else ""
    return f"apt-get -q {option}download {package}"


def unpack(packages: list[Path], into: Path, release: str) -> None:
    """Unpacks a kernel's packages and lists its modules' dependencies."""
    for package in packages:
        cache.run(
            [cache.tool("dpkg-deb", "dpkg"), "-x", package, into], what=f"unpacking {package}"
        )
    if (into / "usr/lib/modules").is_dir():  # where Debian 13 and later have them
        (into / "usr/lib").rename(into / "lib")
    shutil.rmtree(into / "usr", ignore_errors=True)  # documentation
    depmod = cache.tool("depmod", "kmod")
    cache.run([depmod, "-b", into, release], what="listing the kernel's modules")


@contextlib.contextmanager
def installed_headers(name: str, release: str):
    """Provides the headers of this release, which `scripts/setup` installs."""
    path = Path("/usr/src") / f"linux-headers-{release}"
    if not path.is_dir():
        package = f"linux-headers-{SERIES[name]}cloud-amd64"
        raise Impossible(f"the headers of {release} are not there: install {package}")
    yield path
