"""A mount table that cannot be read, which does not mean that there are no mounts."""

from __future__ import annotations

import json

import pytest
from support import images, mounts, strace
from support.find import difference
from support.run import run

TABLE = "/proc/self/mountinfo"

# Numbers of directories and files: `auto` looks for another source after some thousand entries.
DIRECTORIES, FILES = 20, 150

# The size of a file under the mount, which no program may find.
HIDDEN = 2_000_000

COMMANDS = (
    ("count", "."),
    ("du", "-sb", "."),
    ("du", "-alb", "."),
    ("find", ".", "-printf", "%p %s\\n"),
    ("find", ".", "-size", "+1M"),
)


@pytest.fixture(params=("ext4", "btrfs"))
def covered(request, mount, scratch):
    """A read-only file system with a mount on one of its directories."""
    image = mount(images.fresh, request.param, scratch, "", "noatime", 320)
    top = image.point
    (top / "seen").mkdir()
    for number in range(40):
        (top / "seen" / str(number)).write_bytes(b"x" * number)
    for number in range(DIRECTORIES):
        (top / f"d{number}").mkdir()
        for other in range(FILES):
            (top / f"d{number}" / str(other)).touch()
    (top / "under").mkdir()
    (top / "under" / "hidden").write_bytes(b"x" * HIDDEN)
    image.freeze()
    mount(mounts.bind, top / "seen", top / "under")
    return image


def check(expected, result, *what) -> None:
    """The result is the answer of system calls, or an error with a message."""
    if result.status == 0:
        wrong = difference(expected.lines(), result.lines())
        assert not wrong, (what, wrong)
    else:
        assert result.err, what


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_few_descriptors(ringwalk, covered, command):
    top = covered.point
    expected = ringwalk("--source", "syscall", *command, cwd=top).ok()
    for free in range(4, 12):
        for source in ("auto", covered.kind):
            result = ringwalk("--source", source, *command, cwd=top, nofile=free)
            check(expected, result, source, free)


@pytest.fixture
def unreadable(programs, scratch):
    """Runs the program; opening the mount table fails from the nth time on."""

    def call(*args, nth=1, errno="EMFILE", **options):
        effect = f"error={errno}:when={nth}+"
        prefix = strace.injecting(scratch, "openat", effect, TABLE)
        return run([*prefix, programs / "ringwalk", *args], **options)

    return call


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize("nth", (1, 2))
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_auto_declines(ringwalk, unreadable, covered, command, nth):
    top = covered.point
    expected = ringwalk("--source", "syscall", *command, cwd=top).ok()
    got = unreadable("--source", "auto", *command, nth=nth, cwd=top).ok()
    check(expected, got)


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize("errno", ("EMFILE", "ENFILE", "ENOMEM", "ENOENT"))
@pytest.mark.parametrize("nth", (1, 2))
def test_by_name_it_is_an_error(unreadable, covered, errno, nth):
    source = covered.kind
    for command in COMMANDS if errno == "EMFILE" else COMMANDS[:1]:
        result = unreadable("--source", source, *command, nth=nth, errno=errno, cwd=covered.point)
        assert (result.status, result.out) == (1, b"")
        assert f"source {source}".encode() in result.err
        assert TABLE.encode() in result.err


@pytest.mark.parametrize(
    "command", (("-fstype", "proc"), ("!", "-fstype", "ext4"), ("-printf", "%F\\n"))
)
def test_types_of_file_systems(unreadable, scratch, command):
    """-fstype has no answer: neither it nor its negation matches a file."""
    (scratch / "top").mkdir()
    (scratch / "top" / "file").touch()
    result = unreadable("find", "top", *command, cwd=scratch)
    assert result.status == 1
    assert b"cannot read the table of mounts: " + TABLE.encode() in result.err
    if command[0] != "-printf":
        assert result.out == b""


def test_a_type_that_is_not_known_deletes_nothing(unreadable, scratch):
    (scratch / "top").mkdir()
    (scratch / "top" / "file").touch()
    result = unreadable("find", "top", "!", "-fstype", "nfs", "-delete", cwd=scratch)
    assert result.status == 1
    assert (scratch / "top" / "file").exists()


def test_doctor_tells_why(unreadable, scratch):
    text = unreadable("doctor", scratch).ok().out.decode()
    assert f"unknown ({TABLE}: Too many open files)" in text
    assert "quota unknown" in text or "quota of" in text
    assert "no quota" not in text and "no limit by control group" not in text
    report = json.loads(unreadable("doctor", "--format=json", scratch).ok().out)
    assert report["directory"]["file_system"] is None
    assert TABLE in report["directory"]["mounts_unread"]
    assert TABLE in report["limits"]["control_groups_unread"]
    (ext4,) = [source for source in report["sources"] if source["name"] == "ext4"]
    assert not ext4["usable"] and TABLE in ext4["obstacles"][0]["problem"]


@pytest.mark.usefixtures("needs_root")
def test_a_directory_that_cannot_be_asked_for_its_spellings(programs, mount, scratch):
    """A failed question whether names ignore case does not count as no."""
    image = mount(images.fresh, "ext4", scratch / "disk")
    (image.point / "under").mkdir()
    (image.point / "under" / "hidden").touch()
    image.freeze()
    mount(mounts.bind, scratch, image.point / "under")
    prefix = strace.injecting(scratch, "ioctl", "error=EIO", image.point)
    result = run([*prefix, programs / "ringwalk", "--source", "ext4", "count", image.point])
    assert (result.status, result.out) == (1, b"")
    assert b"Input/output error" in result.err
