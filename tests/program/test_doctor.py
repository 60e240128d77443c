"""`ringwalk doctor`: its report, for root and for nobody."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import stat
import subprocess
from pathlib import Path

import pytest
from support import mounts
from support.run import NOBODY

# A group that may read the device, like the group disk.
DISK = 4321

SOURCES = ("syscall", "ring", "module", "ext4", "xfs", "btrfs")


@pytest.fixture(params=("own user", "nobody"))
def doctor(request, ringwalk):
    """doctor as this user and as one without privileges."""
    options = {}
    if request.param == "nobody":
        if os.geteuid() != 0:
            pytest.skip("needs root to become nobody")
        options["uid"] = NOBODY

    def call(*args, **more):
        return ringwalk("doctor", *args, **options, **more)

    return call


def test_it_names_every_source_and_limit(doctor, scratch):
    text = doctor(scratch).ok().out.decode()
    for word in (*SOURCES, platform.release(), "RLIMIT_NOFILE"):
        assert word in text, word


@pytest.mark.smoke
def test_json(doctor, scratch):
    report = json.loads(doctor("--format=json", scratch).ok().out)
    assert report["kernel"]["release"] == platform.release()
    sources = {source["name"]: source for source in report["sources"]}
    assert set(SOURCES) <= set(sources)
    assert sources["syscall"]["usable"] is True
    for source in sources.values():
        # A source that cannot be used has obstacles, each with a problem and a remedy.
        assert source["usable"] == (source["obstacles"] == [])
        for obstacle in source["obstacles"]:
            assert obstacle["problem"]
            assert obstacle["remedy"]
    (chosen,) = [name for name, source in sources.items() if source["chosen_by_auto"]]
    assert sources[chosen]["usable"]
    # A usable source that was not chosen has a reason.
    for name, source in sources.items():
        left = source["usable"] and name not in ("syscall", chosen)
        assert (source["why_not_auto"] is not None) == left
    assert report["prefetch"]["available"] == (report["prefetch"]["obstacles"] == [])


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize(("options", "missing"), (({}, False), ({"uid": NOBODY}, True)))
def test_privileges_are_those_of_the_process(ringwalk, scratch, options, missing):
    if not missing and not has_sys_admin():
        pytest.skip("root without CAP_SYS_ADMIN")
    report = json.loads(ringwalk("doctor", "--format=json", scratch, **options).ok().out)
    assert report["user"]["sys_admin"] is not missing
    (xfs,) = [source for source in report["sources"] if source["name"] == "xfs"]
    wanted = [
        each["problem"] for each in xfs["obstacles"] if "which this process" in each["problem"]
    ]
    assert bool(wanted) == missing


def has_sys_admin() -> bool:
    """Returns true if CAP_SYS_ADMIN (bit 21) is effective in this process."""
    with open("/proc/self/status") as status:
        (line,) = [line for line in status if line.startswith("CapEff:")]
    return bool(int(line.split()[1], 16) >> 21 & 1)


def found_in(report) -> dict:
    return {source["name"]: source for source in report["sources"]}


@contextlib.contextmanager
def readable_by_disk(point, scratch):
    """Lets the group DISK read the device of a mount, by a node that covers the real one."""
    device = subprocess.run(
        ["findmnt", "-no", "SOURCE", point], check=True, capture_output=True, text=True
    ).stdout.strip()
    node = scratch / "node"
    os.mknod(node, stat.S_IFBLK | 0o640, os.stat(device).st_rdev)
    os.chown(node, 0, DISK)
    mounts.call("mount", "--bind", node, device)
    try:
        yield
    finally:
        mounts.unmount(Path(device))


@pytest.fixture
def ext4(mount, scratch):
    """An ext4 that DISK may read, with a tree large enough for auto to look for a source."""
    point = mount(mounts.image, "ext4", scratch)
    mount(readable_by_disk, point, scratch)
    point.chmod(0o755)
    for number in range(2500):
        (point / "tree" / f"directory{number}").mkdir(parents=True)
    return point


@pytest.mark.parametrize("source", ("syscall", "ext4", "xfs", "btrfs"))
@pytest.mark.parametrize("who", ("root", "nobody", "disk"))
def test_the_verdicts_are_those_of_the_programs(ringwalk, count, ext4, who, source):
    """As root, as nobody, and as a user of the group that may read disks."""
    users = {"root": {}, "nobody": {"uid": NOBODY}, "disk": {"uid": NOBODY, "groups": [DISK]}}
    options = users[who]
    report = json.loads(ringwalk("doctor", "--format=json", ext4 / "tree", **options).ok().out)
    sources = found_in(report)
    asked = count("--source", source, ext4 / "tree", **options)
    assert sources[source]["usable"] == (asked.status == 0)
    (chosen,) = [name for name, found in sources.items() if found["chosen_by_auto"]]
    assert json.loads(count("--format=json", ext4 / "tree", **options).ok().out)["source"] == chosen
    assert sources["ext4"]["usable"] == report["prefetch"]["available"] == (who != "nobody")
    if who == "disk":
        assert "CAP_DAC_READ_SEARCH" in sources["ext4"]["why_not_auto"]
        text = ringwalk("doctor", ext4, **options).ok().out
        assert b"usable when asked for" in text and b"CAP_DAC_READ_SEARCH is missing" in text


def test_options_of_the_mount_stand_in_the_way(ringwalk, mount, scratch, ext4):
    subprocess.run(["mount", "-o", "remount,lazytime", ext4], check=True)
    report = json.loads(ringwalk("doctor", "--format=json", ext4).ok().out)
    (obstacle,) = found_in(report)["ext4"]["obstacles"]
    assert "lazytime" in obstacle["problem"] and "lazytime" in obstacle["remedy"]
    # Reading ahead does not depend on times.
    assert report["prefetch"]["available"]


def test_limits_are_those_of_the_process(doctor, scratch):
    for nofile in (100, 200):
        limits = json.loads(doctor("--format=json", scratch, nofile=nofile).ok().out)["limits"]
        assert (limits["open_files_soft"], limits["open_files_hard"]) == (nofile, nofile)
    assert limits["cpus"] == len(os.sched_getaffinity(0))


def test_needs_depend_on_the_file_system(ringwalk, mount, scratch):
    """On XFS the xfs source needs at most privileges; on tmpfs it needs another file system."""

    def problems(point):
        report = json.loads(ringwalk("doctor", "--format=json", point).ok().out)
        (source,) = [source for source in report["sources"] if source["name"] == "xfs"]
        return [obstacle["problem"] for obstacle in source["obstacles"]]

    assert not any("not a mount" in text for text in problems(mount(mounts.image, "xfs", scratch)))
    assert any("not a mount" in text for text in problems(mount(mounts.tmpfs, scratch)))


@pytest.mark.parametrize("kind", mounts.KINDS)
def test_the_file_system_is_named(ringwalk, mount, scratch, kind):
    point = mount(mounts.filesystem, kind, scratch)
    for options in ((), ("--format=json",)):
        text = ringwalk("doctor", *options, point).ok().out.decode()
        assert kind in text, text


def test_without_a_directory_it_looks_at_the_current_one(ringwalk, mount, scratch):
    point = mount(mounts.tmpfs, scratch)
    assert b"tmpfs" in ringwalk("doctor", cwd=point).ok().out
