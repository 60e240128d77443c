"""`ringwalk doctor`: what it must say, as root and as nobody."""

from __future__ import annotations

import json
import os
import platform

import pytest
from support import mounts
from support.run import NOBODY

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


def test_json(doctor, scratch):
    report = json.loads(doctor("--json", scratch).ok().out)
    assert report["kernel"]["release"] == platform.release()
    sources = {source["name"]: source for source in report["sources"]}
    assert set(SOURCES) <= set(sources)
    assert sources["syscall"]["usable"] is True
    for source in sources.values():
        # A source whose needs are not met says why, and what would help.
        assert source["needs_met"] == (source["obstacles"] == [])
        for obstacle in source["obstacles"]:
            assert obstacle["problem"]
            assert obstacle["remedy"]
    assert [name for name, source in sources.items() if source["chosen_by_auto"]] == ["syscall"]


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize(("options", "missing"), (({}, False), ({"uid": NOBODY}, True)))
def test_privileges_are_those_of_the_process(ringwalk, scratch, options, missing):
    if not missing and not has_sys_admin():
        pytest.skip("root without CAP_SYS_ADMIN")
    report = json.loads(ringwalk("doctor", "--json", scratch, **options).ok().out)
    assert report["user"]["sys_admin"] is not missing
    (xfs,) = [source for source in report["sources"] if source["name"] == "xfs"]
    wanted = [
        each["problem"] for each in xfs["obstacles"] if "which this process" in each["problem"]
    ]
    assert bool(wanted) == missing


def has_sys_admin() -> bool:
    """Whether CAP_SYS_ADMIN (bit 21) is effective in this process, as the kernel tells."""
    with open("/proc/self/status") as status:
        (line,) = [line for line in status if line.startswith("CapEff:")]
    return bool(int(line.split()[1], 16) >> 21 & 1)


def test_limits_are_those_of_the_process(doctor, scratch):
    for nofile in (100, 200):
        limits = json.loads(doctor("--json", scratch, nofile=nofile).ok().out)["limits"]
        assert (limits["open_files_soft"], limits["open_files_hard"]) == (nofile, nofile)
    assert limits["cpus"] == len(os.sched_getaffinity(0))


def test_needs_depend_on_the_file_system(ringwalk, mount, scratch):
    """On XFS the xfs source wants at most privileges; on tmpfs it wants another file system."""

    def problems(point):
        report = json.loads(ringwalk("doctor", "--json", point).ok().out)
        (source,) = [source for source in report["sources"] if source["name"] == "xfs"]
        return [obstacle["problem"] for obstacle in source["obstacles"]]

    assert not any("not a mount" in text for text in problems(mount(mounts.image, "xfs", scratch)))
    assert any("not a mount" in text for text in problems(mount(mounts.tmpfs, scratch)))


@pytest.mark.parametrize("kind", mounts.KINDS)
def test_the_file_system_is_named(ringwalk, mount, scratch, kind):
    point = mount(mounts.filesystem, kind, scratch)
    for options in ((), ("--json",)):
        text = ringwalk("doctor", *options, point).ok().out.decode()
        assert kind in text, text


def test_without_a_directory_it_looks_at_the_current_one(ringwalk, mount, scratch):
    point = mount(mounts.tmpfs, scratch)
    assert b"tmpfs" in ringwalk("doctor", cwd=point).ok().out
