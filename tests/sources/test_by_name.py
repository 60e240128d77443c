"""--source by name: a source that cannot be used is an error, and no other replaces it."""

from __future__ import annotations

import os

import pytest
from support import mounts
from support.mounts import WRITE_BACK
from support.run import NOBODY


@pytest.fixture
def programs_by_name(count, du, ringwalk):
    """A function that runs each program with a source."""

    def call(source, *args, **options):
        return (
            count("--source", source, *args, **options),
            du("--source", source, "-s", *args, **options),
            ringwalk("--source", source, "find", *args, **options),
        )

    return call


@pytest.mark.parametrize("source", ("ext4", "xfs", "btrfs"))
def test_another_file_system_is_an_error(programs_by_name, mount, scratch, source):
    point = mount(mounts.tmpfs, scratch)
    (point / "file").touch()
    for result in programs_by_name(source, point):
        assert (result.status, result.out) == (1, b"")
        (line,) = result.err.splitlines()
        for word in (b"cannot read", os.fsencode(point), b"source " + source.encode(), b"tmpfs"):
            assert word in line, line


@pytest.mark.smoke
@pytest.mark.skipif(os.path.exists("/dev/ringwalk"), reason="here there is the module")
def test_without_the_module_it_is_an_error(programs_by_name, scratch):
    (scratch / "file").touch()
    for result in programs_by_name("module", scratch):
        assert (result.status, result.out) == (1, b"")
        (line,) = result.err.splitlines()
        for word in (b"cannot read", b"source module", b"not loaded", b"/dev/ringwalk"):
            assert word in line, line


def test_a_kernel_without_the_operations_is_an_error(programs_by_name, scratch):
    results = programs_by_name("ring", scratch)
    if results[0].status == 0:
        pytest.skip("this kernel has them")
    for result in results:
        assert (result.status, result.out) == (1, b"")
        assert b"source ring" in result.err and b"io_uring" in result.err, result.err


def test_one_root_of_several_is_enough(programs_by_name, mount, scratch):
    point = mount(mounts.image, "ext4", scratch / "image")
    other = mount(mounts.tmpfs, scratch)
    for result in programs_by_name("ext4", point, other):
        assert result.status == 1 and os.fsencode(other) in result.err
        assert os.fsencode(point) + b"\n" not in result.out


def test_a_device_that_cannot_be_read_is_an_error(programs_by_name, mount, scratch):
    point = mount(mounts.image, "ext4", scratch)
    point.chmod(0o755)
    for result in programs_by_name("ext4", point, uid=NOBODY):
        assert (result.status, result.out) == (1, b"")
        assert b"/dev/loop" in result.err and b"Permission denied" in result.err
    # `auto` reads by system calls, which need no privileges.
    for result in programs_by_name("auto", point / ".", uid=NOBODY):
        assert result.out and b"source" not in result.err


@pytest.mark.smoke
def test_files_are_no_matter_of_sources(programs_by_name, scratch):
    (scratch / "file").write_bytes(b"x")
    _count, du, find = programs_by_name("ext4", scratch / "file")
    assert (du.status, find.status) == (0, 0)
    assert find.out == os.fsencode(scratch / "file") + b"\n"


def test_the_variable_is_as_good_as_the_option(du, mount, scratch):
    point = mount(mounts.tmpfs, scratch)
    result = du(point, env={"RINGWALK_SOURCE": "ext4"})
    assert (result.status, result.out) == (1, b"") and b"source ext4" in result.err


@WRITE_BACK
def test_the_explanation_names_the_source(du, mount, scratch):
    point = mount(mounts.image, "ext4", scratch)
    for number in range(50):
        (point / f"file{number}").touch()
    os.sync()
    for options in (("-a",), ("-s",)):
        result = du("--source", "ext4", "--explain", *options, point)
        assert result.status == 0
        assert b"source      ext4 (asked for" in result.err, result.err
