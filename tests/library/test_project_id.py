"""Project ids: those of each source are those of the kernel, and what is not known is never 0."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from support import images, mounts
from support.run import NOBODY, needs_program, run

FSGETXATTR = 0x801C581F  # linux/fs.h
FILE_GETATTR = 468  # asm-generic/unistd.h
FILES = 20  # More than XFS is asked one by one for (`LEAST_RUN`).
UNKNOWN = "-"


def fill(top: Path) -> None:
    """Files of all types, some in a directory of their own."""
    for number in range(FILES):
        (top / f"file{number}").write_bytes(b"x" * number)
    below = top / "below"
    below.mkdir()
    for number in range(FILES):
        (below / f"file{number}").touch()
    for folder in (top, below):
        (folder / "directory").mkdir()
        (folder / "link").symlink_to("file1")
        os.mkfifo(folder / "fifo")
        os.mknod(folder / "null", stat.S_IFCHR | 0o600, os.makedev(1, 3))


def opened(path: str) -> str:
    """The id of a regular file or a directory, which is opened."""
    if not stat.S_ISREG(os.lstat(path).st_mode) and not stat.S_ISDIR(os.lstat(path).st_mode):
        return UNKNOWN
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        answer = fcntl.ioctl(descriptor, FSGETXATTR, bytes(28))
    except OSError as error:
        if error.errno not in (errno.ENOTTY, errno.EOPNOTSUPP):
            raise
        return UNKNOWN
    finally:
        os.close(descriptor)
    return str(struct.unpack_from("=I", answer, 12)[0])


def by_name(path: str) -> str:
    """The id as file_getattr(2) says it; that of the open file where there is no such call."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(24)
    at_fdcwd, nofollow = -100, 0x100
    name = os.fsencode(path)
    if libc.syscall(FILE_GETATTR, at_fdcwd, name, buffer, len(buffer), nofollow) == 0:
        return str(struct.unpack_from("=I", buffer, 16)[0])
    if ctypes.get_errno() == errno.ENOSYS:
        return opened(path)
    assert ctypes.get_errno() == errno.EOPNOTSUPP
    return UNKNOWN


def expected(top: Path, ask) -> dict[str, str]:
    paths = [str(top)]
    for folder, directories, files in os.walk(top):
        paths += [os.path.join(folder, name) for name in (*directories, *files)]
    return {path: ask(path) for path in paths}


@pytest.fixture
def told(library):
    """Returns the ids that a walk reports by path."""
    program = library.program(ROOT / "tests" / "capi" / "projects.c")

    def walk(source: str, top: Path, call: str = "real", **options) -> dict[str, str]:
        result = program(source, call, top, **options)
        if result.status == 77:
            pytest.skip("no filter of system calls can be set up")
        words = result.ok().out.decode().split("\0")
        return dict(zip(words[::2], words[1::2]))

    return walk


def agree(told, top: Path, *sources: str) -> dict[str, str]:
    """Checks each source, with and without the call by name. Returns the ids by path."""
    ids = expected(top, by_name)
    old = expected(top, opened)
    assert {path: old[path] for path in old if old[path] != UNKNOWN}.items() <= ids.items()
    for source in ("syscall", "auto", *sources):
        assert told(source, top) == ids, source
        for call in ("none", "filtered"):
            assert told(source, top, call) == old, (source, call)
    return ids


def own(told, source: str, top: Path) -> dict[str, str]:
    """What a source knows by itself, where the kernel refuses to say."""
    return told(source, top, "denied")


@contextlib.contextmanager
def ext4_with_projects(work: Path, make: str, *then: str) -> Iterator[images.Image]:
    """An ext4 with projects, mounted read-only: not every kernel mounts it to be written."""
    form = images.Format(make, then=then, fill=fill)
    with images.filled("ext4", form, work) as image:
        yield image


PROJECTS = (
    "tune2fs -O project,quota",
    *(
        f"debugfs -w -R 'sif {path} projid {number}'"
        for number, path in enumerate(
            ("file1", "below", "below/file2", "directory", "link", "fifo", "null"), start=70
        )
    ),
    "debugfs -w -R 'sif below/file3 projid 4294967294'",
    # A place for the field, which the inode says that it does not have.
    "debugfs -w -R 'sif below/file4 projid 79'",
    "debugfs -w -R 'sif below/file4 extra_isize 24'",
)


@pytest.mark.usefixtures("needs_root")
class TestOnImages:
    def test_ext4_with_projects(self, told, mount, scratch):
        top = mount(ext4_with_projects, scratch, "-t ext4 -b 4096", *PROJECTS).point
        ids = agree(told, top, "ext4")
        assert ids[f"{top}/file1"] == "70"
        assert ids[f"{top}/below"] == "71"
        assert ids[f"{top}/below/file2"] == "72"
        assert ids[f"{top}/below/file3"] == "4294967294"
        assert ids[f"{top}/below/file4"] == "0"
        alone = own(told, "ext4", top)
        for path, known in alone.items():
            mode = os.lstat(path).st_mode
            by_itself = path != str(top) and (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
            assert known == (ids[path] if by_itself else UNKNOWN), path

    @pytest.mark.parametrize(
        "make", ("-t ext4 -b 4096", "-t ext4 -I 128 -b 4096", "-t ext3 -b 4096", "-t ext2 -b 4096")
    )
    def test_ext4_without_projects(self, told, mount, scratch, make):
        form = images.Format(make, fill=fill)
        top = mount(images.filled, "ext4", form, scratch).point
        ids = agree(told, top, "ext4")
        assert set(ids.values()) <= {"0", UNKNOWN}
        assert ids[f"{top}/file1"] == "0"

    def test_xfs(self, told, mount, scratch):
        image = mount(images.fresh, "xfs", scratch)
        top = image.point
        project = top / "project"
        project.mkdir()
        images.command(["xfs_io", "-c", "chproj 81", "-c", "chattr +P", project])
        # What is made in it inherits the id, links and special files as well.
        fill(project)
        for number in range(FILES):
            (top / f"file{number}").touch()
        images.command(["xfs_io", "-c", "chproj 4294967294", top / "file3"])
        image.remount()
        ids = agree(told, top, "xfs")
        assert ids[f"{top}/file3"] == "4294967294"
        assert ids[f"{top}/file4"] == "0"
        assert {ids[f"{project}/{name}"] for name in ("file1", "below", "below/file2")} == {"81"}
        assert {ids[f"{project}/{name}"] for name in ("link", "fifo")} <= {"81", UNKNOWN}
        alone = own(told, "xfs", top)
        assert [alone[f"{top}/file{number}"] for number in (3, 4)] == ["4294967294", "0"]
        assert alone[f"{project}/file1"] == "81"
        assert {alone[f"{project}/{name}"] for name in ("link", "fifo", "null")} == {UNKNOWN}

    def test_btrfs(self, told, mount, scratch):
        form = images.Format("", fill=fill)
        top = mount(images.filled, "btrfs", form, scratch).point
        ids = agree(told, top, "btrfs")
        assert ids[f"{top}/file1"] == "0"
        assert ids[f"{top}/link"] == UNKNOWN
        assert set(own(told, "btrfs", top).values()) == {UNKNOWN}

    def test_a_mount_inside_is_asked_for_itself(self, told, mount, scratch):
        top = mount(ext4_with_projects, scratch / "outer", "-t ext4 -b 4096", *PROJECTS).point
        form = images.Format("", fill=fill)
        inner = mount(images.filled, "xfs", form, scratch / "inner").point
        with mounts.bind(inner, top / "below"):
            ids = agree(told, top, "ext4")
        assert ids[f"{top}/below"] == "0"

    def test_another_user(self, told, library, scratch):
        """Without the call by name, the id of a file that the user may not read is not known."""
        os.chmod(scratch, 0o755)
        top = scratch / "tree"
        top.mkdir()
        fill(top)
        os.chmod(top / "file1", 0o600)
        os.chmod(top / "below", 0o711)
        # Names in a directory that may be searched and not be read cannot be listed.
        for path in (top / "below").iterdir():
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        program = library.program(ROOT / "tests" / "capi" / "projects.c")
        result = program("syscall", "none", top, uid=NOBODY)
        assert b"below" in result.err and result.status == 1
        words = result.out.decode().split("\0")
        ids = dict(zip(words[::2], words[1::2]))
        assert ids[f"{top}/file1"] == ids[f"{top}/below"] == UNKNOWN
        assert ids[f"{top}/file2"] == opened(f"{top}/file2")


def test_a_file_system_without_projects(told):
    ids = told("syscall", Path("/proc/self/fdinfo"))
    assert set(ids.values()) == {UNKNOWN}
    assert len(ids) > 1


def test_only_regular_files_and_directories_are_opened(library, scratch):
    """To open a FIFO wakes its writer, and to open a device may move a tape."""
    needs_program("strace")
    top = scratch / "tree"
    top.mkdir()
    (top / "file").touch()
    (top / "directory").mkdir()
    (top / "link").symlink_to("file")
    os.mkfifo(top / "fifo")
    program = library.program(ROOT / "tests" / "capi" / "projects.c")
    log = scratch / "strace.log"
    prefix = ["strace", "-f", "-o", log, "-e", "trace=openat"]
    result = run([*prefix, *program.first, "syscall", "none", top])
    if result.status == 77 or not log.exists():
        pytest.skip("no filter of system calls can be set up, or no strace")
    result.ok()
    opens = log.read_text().splitlines()
    assert sum('"/proc/self/fd/' in line for line in opens) == 3
    assert all("O_PATH" in line for line in opens if '"fifo"' in line or '"link"' in line)
