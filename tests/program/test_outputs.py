"""Files that a command writes: strangers' links and files at their names, and their rights."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.run import NOBODY, needs_program

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

# Every option that names an output. `s` is a snapshot, `d` a directory, `n` a file of ncdu, and
# OUTPUT the file that is written.
OUTPUTS = {
    "count": "count d -o OUTPUT",
    "doctor": "doctor d --format json -o OUTPUT",
    "snapshot": "snapshot d -o OUTPUT",
    "snapshot-hash": "snapshot --hash d -o OUTPUT",
    "hash": "hash --all d --save OUTPUT",
    "export": "export s --format csv -o OUTPUT",
    "import": "import n -o OUTPUT",
    "report-parquet": "report s --by ext --format parquet -o OUTPUT",
    "report-html": "report s --format html -o OUTPUT",
    "diff": "diff s d --format parquet -o OUTPUT",
    "dupes": "dupes d --format csv -o OUTPUT",
}
# Those that are no snapshots can go to standard output, too.
WRITERS = {
    name: command
    for name, command in OUTPUTS.items()
    if name not in ("snapshot", "snapshot-hash", "hash", "import")
}
every_output = pytest.mark.parametrize("command", OUTPUTS.values(), ids=list(OUTPUTS))
# It is opened in place first, and replaced when it has hashes.
CACHE = {"cache": "dupes d --cache OUTPUT"}


@pytest.fixture
def place(ringwalk, scratch: Path) -> Path:
    """A folder with what the commands read, and with the sticky folder `pub` for all users."""
    (scratch / "d").mkdir()
    for name in ("one", "two"):
        (scratch / "d" / name).write_text("the same")
    (scratch / "n").write_text('[1,2,{"progname":"ncdu"},[{"name":"/srv"}]]')
    (scratch / "closed").mkdir(mode=0o700)
    (scratch / "closed" / "secret").write_text("")
    (scratch / "pub").mkdir()
    (scratch / "pub").chmod(0o1777)
    ringwalk("snapshot", "d", "-o", "s", cwd=scratch).ok()
    return scratch


def write(ringwalk, command: str, output: str, cwd: Path, **options):
    return ringwalk(*command.replace("OUTPUT", output).split(), cwd=cwd, **options)


@root_only
@pytest.mark.parametrize("command", (OUTPUTS | CACHE).values(), ids=list(OUTPUTS | CACHE))
@pytest.mark.parametrize("kind", ("link", "file", "pipe"))
def test_what_a_stranger_put_into_a_sticky_folder_is_refused(ringwalk, place, command, kind):
    output = place / "pub" / "output"
    if kind == "link":
        output.symlink_to("../closed/secret")
    elif kind == "pipe":
        os.mkfifo(output)
    else:
        output.write_text("")
    os.chown(output, NOBODY, NOBODY, follow_symlinks=False)
    result = write(ringwalk, command, "pub/output", place)
    assert result.status == 2, result
    assert b"pub/output" in result.err
    assert kind == "pipe" or b"belongs to another user" in result.err
    # Nothing has taken the place of what was there, and nothing is written to it.
    assert output.lstat().st_uid == NOBODY
    assert output.lstat().st_size == (0 if kind != "link" else len("../closed/secret"))
    assert (place / "closed" / "secret").read_text() == ""
    assert os.listdir(place / "pub") == ["output"]


@root_only
@every_output
def test_owner_group_and_permissions_of_a_replaced_file_stay(ringwalk, place, command):
    output = place / "output"
    output.write_text("")
    output.chmod(0o640)
    os.chown(output, 2000, 3000)
    result = write(ringwalk, command, "output", place)
    assert result.status < 2 and result.err == b"", result
    found = output.stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o7777) == (2000, 3000, 0o640)
    assert found.st_size > 0


@root_only
@every_output
def test_rights_that_cannot_be_kept_get_stricter_and_are_named(ringwalk, place, command):
    place.chmod(0o777)
    output = place / "output"
    output.write_text("")
    output.chmod(0o664)
    result = write(ringwalk, command, "output", place, uid=NOBODY)
    assert result.status < 2, result
    assert result.err == (
        b"ringwalk: 'output': the new file cannot keep the owner and the group of the old one: "
        b"its permissions are 0644\n"
    )
    found = output.stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o7777) == (NOBODY, NOBODY, 0o644)


@pytest.mark.parametrize("command", WRITERS.values(), ids=list(WRITERS))
def test_a_file_has_what_standard_output_gets(ringwalk, place, command):
    """Also if standard output has the name - in place of no name."""
    status = write(ringwalk, command, "output", place).status
    text = (place / "output").read_bytes()
    assert status < 2 and len(text) > 10
    without = command.replace(" -o OUTPUT", "").replace(" -o", "")
    for words in (without, command.replace("OUTPUT", "-")):
        result = ringwalk(*words.split(), cwd=place)
        assert result.status == status
        if "doctor" not in command:
            assert result.out == text, words
    assert not (place / "-").exists()


@pytest.mark.parametrize("command", ["export s --format csv", "report s", "diff s s", "dupes s"])
def test_no_output_replaces_an_input(ringwalk, place, command):
    ringwalk("snapshot", "--hash", "d", "-o", "s", cwd=place).ok()
    before = (place / "s").read_bytes()
    (place / "link").symlink_to("s")
    for output in ("s", "./s", "link"):
        result = ringwalk(*command.split(), "-o", output, cwd=place)
        assert result.status == 2 and b"it is an input" in result.err, result
    assert (place / "s").read_bytes() == before


@pytest.mark.parametrize("command", ["count d s -o s", "snapshot d s -o s", "hash d s --save s"])
def test_no_output_replaces_a_file_among_the_directories(ringwalk, place, command):
    before = (place / "s").read_bytes()
    result = ringwalk(*command.split(), cwd=place)
    assert result.status == 2 and b"it is an input" in result.err, result
    assert (place / "s").read_bytes() == before


def test_no_output_replaces_the_cache_of_hashes(ringwalk, place):
    ringwalk("dupes", "d", "--cache", "c", cwd=place)
    before = (place / "c").read_bytes()
    result = ringwalk("dupes", "d", "--cache", "c", "--format", "csv", "-o", "./c", cwd=place)
    assert result.status == 2 and b"it is an input" in result.err, result
    assert (place / "c").read_bytes() == before


@root_only
def test_the_list_of_a_replaced_file_stays(ringwalk, place):
    """The mask of the list was taken for the rights of the group, whose members could then read."""
    needs_program("setfacl")
    output = place / "output"
    output.write_text("")
    output.chmod(0o600)
    os.chown(output, 0, 2000)
    done = subprocess.run(["setfacl", "-m", "u:3000:r", output], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("the file system has no access control lists")
    before = subprocess.check_output(["getfacl", "-pn", output])
    ringwalk("snapshot", "d", "-o", "output", cwd=place).ok()
    assert subprocess.check_output(["getfacl", "-pn", output]) == before
    assert ringwalk("count", "--from", "output", cwd=place, uid=2000).status != 0
    assert ringwalk("count", "--from", "output", cwd=place, uid=3000).status == 0
