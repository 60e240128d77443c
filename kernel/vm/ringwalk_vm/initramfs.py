# SPDX-License-Identifier: GPL-2.0-only
"""The archive that the kernel unpacks into its first root, in the format newc.

Format: Documentation/driver-api/early-userspace/buffer-format.rst of the kernel's sources. Each
member is a header of 110 ASCII characters, its name and its data, each padded to 4 bytes.
"""

import lzma
import os
import stat
import subprocess
from pathlib import Path

from . import cache
from .errors import Failure
from .kernels import Kernel

INIT = Path(__file__).resolve().parent.parent / "guest" / "init"

# Modules of stock kernels, which have the rest built in: the bus and the disk first. The checksums
# are asked for by name when a file system is mounted, so that no dependency lists them.
REQUIRED = ("virtio_pci", "virtio_blk", "loop", "xfs", "btrfs", "fuse", "overlay")
OPTIONAL = ("crc32c_generic", "xxhash_generic", "sha256_generic", "blake2b_generic", "dm_delay")
# Modules that the kernel asks for by /sbin/modprobe when a test needs them: NFS, automounts, and
# the algorithms of encrypted folders.
ON_DEMAND = ("nfsd", "nfsv4", "autofs4", "xts", "cts", "ecb", "aesni_intel", "sha512_generic")

FOLDERS = ("dev", "proc", "sys", "tmp", "run", "out", "payload", "mnt", "root", "var")


class Archive:
    """Writes members in the order they are added; folders come before what they hold."""

    def __init__(self, path: Path):
        self.file = open(path, "wb")  # noqa: SIM115 - closed by close()
        self.number = 0
        self.names: set[str] = set()

    def folder(self, name: str) -> None:
        """Adds a folder and those above it, once."""
        parts = name.split("/")
        for depth in range(1, len(parts) + 1):
            part = "/".join(parts[:depth])
            if part not in self.names:
                self.member(part, stat.S_IFDIR | 0o755, b"")

    def data(self, name: str, content: bytes, mode: int = 0o644) -> None:
        """Adds a file of this content."""
        self.member(name, stat.S_IFREG | mode, content)

    def link(self, name: str, target: str) -> None:
        """Adds a symbolic link."""
        self.member(name, stat.S_IFLNK | 0o777, target.encode())

    def tree(self, source: Path, name: str) -> None:
        """Adds a file, or a folder with all it holds, following no links below it."""
        if not source.is_dir():
            self.data(name, source.read_bytes(), source.stat().st_mode & 0o777)
            return
        self.folder(name)
        for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
            inner = f"{name}/{entry.name}"
            if entry.is_symlink():
                self.link(inner, os.readlink(entry.path))
            elif entry.is_dir() or entry.is_file():
                self.tree(Path(entry.path), inner)
            else:
                raise Failure(f"{entry.path} is neither a file, a folder nor a link")

    def member(self, name: str, mode: int, content: bytes) -> None:
        if "/" in name:
            self.folder(name.rsplit("/", 1)[0])
        if name in self.names:
            raise Failure(f"two files for {name} in the guest")
        self.names.add(name)
        self.number += 1
        self.write(name, self.number, mode, content)

    def write(self, name: str, number: int, mode: int, content: bytes) -> None:
        if len(content) >= 1 << 32:
            raise Failure(f"{name} is too large for the guest's first archive (4 GiB)")
        raw = os.fsencode(name) + b"\0"
        fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(raw), 0]
        self.file.write(b"070701" + b"".join(b"%08x" % field for field in fields))
        self.file.write(raw + bytes(-(110 + len(raw)) % 4))
        self.file.write(content)
        self.file.write(bytes(-len(content) % 4))

    def close(self) -> None:
        self.write("TRAILER!!!", 0, 0, b"")
        self.file.close()


def base(archive: Archive, kernel: Kernel) -> None:
    """Adds the files of every guest: a shell, the first program, the modules."""
    for name in FOLDERS:
        archive.folder(name)
    busybox = Path(cache.tool("busybox", "busybox-static"))
    archive.data("bin/busybox", busybox.read_bytes(), 0o755)
    listed = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
    for applet in listed.stdout.split():
        if applet != "busybox":
            archive.link(f"bin/{applet}", "busybox")
    archive.link("sbin", "bin")
    archive.folder("usr")
    archive.link("usr/bin", "../bin")
    archive.data("init", INIT.read_bytes(), 0o755)
    archive.data("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    archive.data("etc/group", b"root:x:0:\nnogroup:x:65534:\n")
    order = []
    for path in module_files(kernel):
        name = f"ringwalk/modules/{path.name.removesuffix('.xz')}"
        archive.data(name, unpacked(path))
        order.append(f"/{name}\n")
    archive.data("ringwalk/modules.order", "".join(order).encode())
    on_demand(archive, kernel)


def on_demand(archive: Archive, kernel: Kernel) -> None:
    """Adds the modules that are loaded when they are asked for, as modprobe finds them."""
    if kernel.modules is None:
        return
    folder = f"lib/modules/{kernel.release}"
    paths, needs = dependencies(kernel)
    names = set()
    for name in ON_DEMAND:
        names.update((*needs[name], name) if name in needs else ())
    depends = []
    for name in sorted(names):
        file = paths[name]
        archive.data(f"{folder}/{name}.ko", unpacked(file))
        depends.append(f"{name}.ko: " + " ".join(f"{need}.ko" for need in reversed(needs[name])))
    archive.data(f"{folder}/modules.dep", ("\n".join(depends) + "\n").encode())
    aliases = []
    for line in (kernel.modules / "modules.alias").read_text().splitlines():
        if line.rpartition(" ")[2] in names:
            aliases.append(line)
    archive.data(f"{folder}/modules.alias", ("\n".join(aliases) + "\n").encode())


def unpacked(path: Path) -> bytes:
    """Returns a module's file without its compression."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def dependencies(kernel: Kernel) -> tuple[dict[str, Path], dict[str, list[str]]]:
    """Returns the kernel's modules by name: their files, and what is to be loaded before them."""
    paths = {}
    needs = {}
    for line in (kernel.modules / "modules.dep").read_text().splitlines():
        path, _, depends = line.partition(":")
        paths[module_name(path)] = kernel.modules / path
        # modules.dep lists the nearest dependency first, insmod wants the farthest first.
        needs[module_name(path)] = [module_name(other) for other in reversed(depends.split())]
    return paths, needs


def module_files(kernel: Kernel) -> list[Path]:
    """Returns the modules to load, each after what it depends on; built-in ones are left out."""
    if kernel.modules is None:
        return []
    paths, needs = dependencies(kernel)
    built_in = set()
    for line in (kernel.modules / "modules.builtin").read_text().splitlines():
        built_in.add(module_name(line))
    order: list[str] = []
    for name in OPTIONAL + REQUIRED:
        if name in needs:
            order += [need for need in [*needs[name], name] if need not in order]
        elif name in REQUIRED and name not in built_in:
            raise Failure(f"kernel {kernel.release} has no {name}")
    return [paths[name] for name in order]


def module_name(path: str) -> str:
    """Returns the name of the module in this file, as the kernel spells it."""
    return path.rsplit("/", 1)[-1].split(".ko")[0].replace("-", "_")
