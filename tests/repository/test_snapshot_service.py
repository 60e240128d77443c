"""contrib/systemd: the script that keeps daily snapshots, and the units."""

from __future__ import annotations

import datetime
import os
import shutil
from pathlib import Path

import pytest
from support import ROOT
from support.run import USER, Program, run

SYSTEMD = ROOT / "contrib" / "systemd"
SCRIPT = SYSTEMD / "ringwalk-snapshots"

# Stands for the program: writes its arguments to the file after -o. Ends with $STATUS.
STAND_IN = """#!/bin/sh
[ "$STATUS" = 2 ] && exit 2
for word; do
  [ "$last" = -o ] && file=$word
  last=$word
done
printf '%s|' "$@" >"$file"
exit "$STATUS"
"""


def day(ago: int) -> str:
    # The program's days are those of the time zone of the environment, UTC.
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=ago)).strftime(
        "%Y-%m-%d"
    )


@pytest.fixture(params=("sh", "bash --posix", "busybox sh"))
def shell(request: pytest.FixtureRequest) -> list[str]:
    words = request.param.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"needs {words[0]}")
    return words


class Keeper:
    """The script with a stand-in for the program, and its folder."""

    def __init__(self, work: Path, shell: list[str]):
        self.folder = work / "kept snapshots"
        self.folder.mkdir()
        (work / "ringwalk").write_text(STAND_IN)
        (work / "ringwalk").chmod(0o755)
        self.program = Program(*shell, SCRIPT)
        self.env = {"RINGWALK": str(work / "ringwalk"), "RINGWALK_SNAPSHOTS": str(self.folder)}

    def __call__(self, *args, status: int = 0, **env: str):
        env = self.env | {"STATUS": str(status)} | env
        return self.program(*(args or ("data", "/srv")), env=env)

    def add(self, ago: int, name: str = "data", complete: bool = True) -> str:
        file = f"{name}-{day(ago)}"
        (self.folder / f"{file}.parquet").write_text("old")
        if not complete:
            (self.folder / f"{file}.incomplete").touch()
        return f"{file}.parquet"

    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}


@pytest.fixture
def keeper(scratch: Path, shell: list[str]) -> Keeper:
    return Keeper(scratch, shell)


def test_a_snapshot_has_the_date_in_its_name(keeper):
    keeper("data", "/srv", "/a b", RINGWALK_OPTIONS="--xattrs --memory 1G").ok()
    (name,) = keeper.names()
    assert name in (f"data-{day(0)}.parquet", f"data-{day(1)}.parquet")
    words = (keeper.folder / name).read_text().split("|")[:-1]
    file = str(keeper.folder / name)
    assert words == ["snapshot", "--xattrs", "--memory", "1G", "-o", file, "--", "/srv", "/a b"]


def test_old_snapshots_are_deleted(keeper):
    kept = {keeper.add(ago) for ago in (1, 5, 6)}
    for ago in (7, 8, 40, 4000):
        keeper.add(ago, complete=ago != 40)
    keeper(RINGWALK_KEEP_DAYS="7").ok()
    assert keeper.names() == kept | {f"data-{day(0)}.parquet"}


def test_other_files_stay(keeper):
    names = {keeper.add(400, name) for name in ("data-x", "dat", "xdata")}
    names |= {"data-2020-01-01.txt", "data-2020-1-1.parquet", "data-2020-01-01.parquet.old"}
    for name in names:
        (keeper.folder / name).touch()
    keeper(RINGWALK_KEEP_DAYS="1").ok()
    assert names | {f"data-{day(0)}.parquet"} == keeper.names()


def test_the_newest_complete_one_stays(keeper):
    newest = keeper.add(50)
    keeper.add(60)
    keeper.add(45, complete=False)
    assert keeper(status=1).status == 1
    today = f"data-{day(0)}"
    assert keeper.names() == {newest, f"{today}.parquet", f"{today}.incomplete"}
    # A complete one takes its place.
    keeper().ok()
    assert keeper.names() == {f"{today}.parquet"}


def test_nothing_is_deleted_without_a_new_one(keeper):
    old = {keeper.add(ago) for ago in (1, 100, 200)}
    result = keeper(status=2)
    assert result.status == 2 and b"the others stay" in result.err
    assert keeper.names() == old
    result = keeper(RINGWALK="/nonexistent/ringwalk")
    assert result.status == 2 and keeper.names() == old


@pytest.mark.parametrize("days", ("0", "", "-1", "1.5", "x", "1 2", "08", "100000"))
def test_wrong_numbers_of_days(keeper, days):
    old = keeper.add(200)
    result = keeper(RINGWALK_KEEP_DAYS=days)
    # An empty variable is one that is not set.
    assert result.status == (2 if days else 0)
    assert (old in keeper.names()) == bool(days)


@pytest.mark.parametrize("name", ("", "a/b", "..", "-x", "a b", "*", "a\nb"))
def test_wrong_names(keeper, name):
    result = keeper(name, "/srv")
    assert result.status == 2 and b"is no name" in result.err and keeper.names() == set()


def test_wrong_arguments(keeper):
    assert keeper("data").status == 2
    result = keeper(RINGWALK_SNAPSHOTS="/nonexistent")
    assert result.status == 2 and b"/nonexistent" in result.err


def test_with_the_program(ringwalk, scratch):
    (scratch / "tree" / "closed").mkdir(parents=True)
    (scratch / "kept").mkdir()
    scratch.chmod(0o777)
    (scratch / "kept").chmod(0o777)
    env = {"RINGWALK": str(ringwalk.first[0]), "RINGWALK_SNAPSHOTS": str(scratch / "kept")}
    keep = Program("sh", SCRIPT, "data", scratch / "tree", env=env)
    keep(uid=USER).ok()
    (file,) = (scratch / "kept").iterdir()
    assert file.read_bytes()[:4] == b"PAR1"
    (scratch / "tree" / "closed").chmod(0)
    result = keep(uid=USER)
    assert result.status == 1 and b"closed" in result.err
    assert {path.suffix for path in (scratch / "kept").iterdir()} == {".parquet", ".incomplete"}
    (scratch / "tree" / "closed").chmod(0o755)
    shutil.rmtree(scratch / "tree")
    assert keep(uid=USER).status == 2
    assert file.read_bytes()[:4] == b"PAR1"


@pytest.fixture
def units(scratch: Path) -> list[Path]:
    """The units as they are installed, as those of an instance."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    run(["install", "-D", SCRIPT, scratch / "lib" / "ringwalk" / SCRIPT.name]).ok()
    found = []
    for kind in ("service", "timer"):
        text = (SYSTEMD / f"{SCRIPT.name}@.{kind}").read_text().replace("@PREFIX@", str(scratch))
        assert "@PREFIX" not in text
        path = scratch / f"{SCRIPT.name}@data.{kind}"
        path.write_text(text)
        found.append(path)
    return found


def test_systemd_understands_the_units(units):
    result = run(["systemd-analyze", "verify", "--man=no", *units])
    assert (result.status, result.err) == (0, b""), result
    # A mistake would be found.
    units[0].write_text(units[0].read_text() + "ProtectSystm=strict\n")
    assert b"ProtectSystm" in run(["systemd-analyze", "verify", "--man=no", *units]).err


def test_the_service_is_confined(units):
    words = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=25"]
    result = run([*words, units[0]])
    if b"offline" in result.err:
        pytest.skip("this systemd-analyze reads no files")
    assert result.status == 0, result


def test_the_service_hides_no_files(units):
    """A snapshot must show what is there."""
    text = units[0].read_text()
    for setting in ("PrivateTmp=yes", "PrivateDevices=yes", "ProtectHome=yes", "DynamicUser=yes"):
        assert f"\n{setting}" not in text
    for setting in ("ProtectKernelModules=yes", "TemporaryFileSystem", "InaccessiblePaths"):
        assert f"\n{setting}" not in text
    assert f"\nExecStart={os.fspath(units[0].parent)}/lib/ringwalk/ringwalk-snapshots" in text
