"""ext4 after an error: the source declines, as the disk lacks data that waits for write-back."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest
from processes import TIMEOUT, started
from support import images, mounts, strace
from support.answers import FEW, Reference, explained
from support.mounts import WRITE_BACK
from support.run import environment

pytestmark = [pytest.mark.usefixtures("needs_root"), WRITE_BACK]

# Numbers of directories and files: `auto` looks for another source after some thousand entries.
DIRECTORIES, FILES = 30, 150

# Several workers would share the tree, and none might see enough of it to look for a source. On a
# busy machine there are more workers.
ONE_WORKER = ("--workers", "1")

# s_state in the superblock, and its flags (Documentation/filesystems/ext4/super.rst).
STATE = 1024 + 0x3A
VALID, ERROR = 1, 2
ERROR_COUNT = 1024 + 0x194
# s_checksum.
CHECKSUM = 1024 + 0x3FC


def fill(top: Path) -> None:
    """Makes enough files for `auto` to look for another source, and one that waits for write-back.

    All else is on the disk: the kernel may drop what it has in memory after an error, too.
    """
    for number in range(DIRECTORIES):
        (top / str(number)).mkdir()
        for other in range(FILES):
            (top / str(number) / str(other)).touch()
    (top / "waiting").touch()
    mounts.call("sync", "-f", top)
    (top / "waiting").write_bytes(b"x" * 5_000_000)


def of_sysfs(image: images.Image, name: str) -> Path:
    return Path("/sys/fs/ext4") / image.device().name / name


def options_of(point: Path) -> list[str]:
    """Returns the options of the file system that the kernel shows."""
    command = ["findmnt", "-no", "FS-OPTIONS", point]
    shown = subprocess.run(command, capture_output=True, check=True, text=True)
    return shown.stdout.strip().split(",")


def errors_on(device: Path) -> int:
    """Returns the number of errors that the superblock has recorded."""
    with open(device, "rb", buffering=0) as handle:
        return struct.unpack("<I", os.pread(handle.fileno(), 4, ERROR_COUNT))[0]


def trigger(image: images.Image) -> None:
    """Makes the driver find an error."""
    file = of_sysfs(image, "trigger_fs_error")
    if not file.exists():
        pytest.skip("this kernel cannot be made to find an error")
    file.write_text("1")
    # A thread of the kernel records the error in the superblock. On a busy machine that takes time.
    end = time.monotonic() + TIMEOUT
    while errors_on(image.device()) == 0:
        assert time.monotonic() < end, "the kernel has recorded no error"
        time.sleep(0.01)
    os.sync()


def check_declined(ringwalk, top: Path, *reason: str) -> None:
    """Checks that `auto` uses system calls and says why, and that the source is an error."""
    reference = Reference(ringwalk, top)
    reference.check("--source", "auto", questions=FEW)
    for command in (("count",), ("du", "-sb"), ("find",), ("du", "-a")):
        refused = ringwalk("--source", "ext4", *command, top)
        assert (refused.status, refused.out) == (1, b""), command
        for word in (os.fsdecode(top), "source ext4", *reason):
            assert word.encode() in refused.err, refused.err
    for command in (("count", "."), ("find", ".", "-size", "+1M")):
        source = explained(ringwalk, top, *ONE_WORKER, *command)["source"]
        assert source.startswith("syscall"), source
        assert any(word in source for word in reason), source


@pytest.mark.parametrize("behaviour", ("remount-ro", "continue"))
@pytest.mark.parametrize("journal", ("has_journal", "^has_journal"))
def test_an_error(ringwalk, mount, scratch, behaviour, journal):
    image = mount(
        images.fresh, "ext4", scratch, f"-t ext4 -O {journal}", f"noatime,errors={behaviour}"
    )
    fill(image.point)
    trigger(image)
    reason = "error has made it read-only" if behaviour == "remount-ro" else "record of errors"
    # Before Linux 6.15 a file system with errors=remount-ro is only read-only after an error.
    if "emergency_ro" not in options_of(image.point):
        reason = "record of errors"
    check_declined(ringwalk, image.point, reason)


def test_an_error_of_an_earlier_mount(ringwalk, mount, scratch):
    image = mount(images.fresh, "ext4", scratch, "-t ext4")
    fill(image.point)
    trigger(image)
    image.remount()
    check_declined(ringwalk, image.point, "record of errors")
    image.unmount()
    # The status of e2fsck says that it has repaired something.
    subprocess.run(["e2fsck", "-fp", image.file], capture_output=True, check=False)
    mounts.call("mount", "-o", "loop,ro", image.file, image.point)
    ringwalk("--source", "ext4", "count", image.point).ok()


def test_shut_down(ringwalk, mount, scratch):
    image = mount(images.fresh, "ext4", scratch, "-t ext4")
    fill(image.point)
    mounts.shut_down(image.point)
    if "shutdown" not in options_of(image.point):
        pytest.skip("before Linux 6.15 the kernel does not tell")
    check_declined(ringwalk, image.point, "shut down")


@pytest.fixture
def torn(mount, scratch):
    """Gives a copy of a mounted file system, mounted read-only with `options`."""

    def make(features: str, options: str) -> Path:
        image = mount(images.fresh, "ext4", scratch / "disk", f"-t ext4 -O {features}")
        fill(image.point)
        mounts.call("sync", "-f", image.point)
        copy = scratch / "copy"
        shutil.copyfile(image.file, copy)
        # Both have the same UUID.
        image.unmount()
        options = f"loop,ro,{options}"
        return mount(mounts.mounted, scratch / "again", "-t", "ext4", "-o", options, copy)

    return make


def test_a_journal_that_is_not_recovered(ringwalk, torn):
    check_declined(ringwalk, torn("has_journal", "noload"), "has not been recovered")


def test_not_left_clean(ringwalk, torn):
    check_declined(ringwalk, torn("^has_journal", "noatime"), "was not left clean")


@pytest.mark.parametrize("journal", ("has_journal", "^has_journal"))
@pytest.mark.parametrize("options", ("rw", "remounted", "ro"))
def test_what_is_in_order_is_read(ringwalk, mount, scratch, journal, options):
    image = mount(images.fresh, "ext4", scratch, f"-t ext4 -O {journal}", "noatime")
    fill(image.point)
    if options == "remounted":
        image.freeze()
    elif options == "ro":
        image.remount("ro")
    reference = Reference(ringwalk, image.point)
    reference.check("--source", "ext4", questions=FEW)
    # `auto` falls back to system calls if all files are new.
    if options != "rw":
        source = explained(ringwalk, image.point, *ONE_WORKER, "count", ".")["source"]
        assert source.startswith("ext4"), source


def patch(file: Path, offset: int, value: bytes) -> None:
    with open(file, "r+b") as handle:
        handle.seek(offset)
        handle.write(value)


@pytest.mark.parametrize(
    ("offset", "value"),
    ((STATE, struct.pack("<H", VALID | ERROR)), (ERROR_COUNT, struct.pack("<I", 3))),
    ids=("state", "count"),
)
def test_each_record_of_an_error_counts(ringwalk, mount, scratch, offset, value):
    image = mount(images.fresh, "ext4", scratch, "-t ext4 -O ^metadata_csum")
    fill(image.point)
    image.unmount()
    patch(image.file, offset, value)
    mounts.call("mount", "-o", "loop,ro", image.file, image.point)
    check_declined(ringwalk, image.point, "record of errors")


def flip_checksum(image: images.Image) -> None:
    """Makes the superblock's checksum wrong, or right again, where the kernel would write it."""
    with open(image.device(), "r+b", buffering=0) as device:
        checksum = os.pread(device.fileno(), 4, CHECKSUM)
        os.pwrite(device.fileno(), bytes(byte ^ 0xFF for byte in checksum), CHECKSUM)


def test_a_superblock_whose_checksum_stays_wrong(ringwalk, mount, scratch):
    image = mount(images.fresh, "ext4", scratch, "-t ext4 -O metadata_csum")
    fill(image.point)
    # The kernel would write a right checksum with the next change.
    image.freeze()
    flip_checksum(image)
    refused = ringwalk("--source", "ext4", "count", image.point)
    assert (refused.status, refused.out) == (1, b"")
    assert b"by source ext4" in refused.err
    assert refused.err.endswith(b"wrong checksum of the superblock\n"), refused.err
    source = explained(ringwalk, image.point, *ONE_WORKER, "count", ".")["source"]
    assert source.startswith("syscall") and "wrong checksum of the superblock" in source, source


def test_a_superblock_that_is_being_written(ringwalk, mount, scratch):
    """Its checksum is wrong when it is first read, and right after the first pause."""
    image = mount(images.fresh, "ext4", scratch, "-t ext4 -O metadata_csum")
    (image.point / "file").touch()
    image.freeze()
    expected = ringwalk("--source", "syscall", "count", image.point).ok().out
    prefix = strace.injecting(scratch, "clock_nanosleep", "signal=STOP:when=1")
    log = scratch / "strace.log"
    log.unlink()
    command = [*prefix, *ringwalk.first, "--source", "ext4", "count", image.point]
    flip_checksum(image)
    pipe = subprocess.PIPE
    with started(command, stdout=pipe, stderr=pipe, env=environment()) as process:
        while process.poll() is None:
            lines = log.read_text().splitlines() if log.exists() else []
            if stopped := [line for line in lines if "stopped by SIGSTOP" in line]:
                flip_checksum(image)
                os.kill(int(stopped[0].split()[0]), signal.SIGCONT)
                break
            time.sleep(0.01)
        out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out, err) == (0, expected, b"")
