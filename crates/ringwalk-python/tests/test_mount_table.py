"""A process that has hardly a descriptor left: the right answers all the same, or an error."""

import os
import shutil
import sys

import pytest
from processes import finished
from support import run

# Makes a file system with something mounted on a directory in it, where nobody else sees it, and
# runs what follows there.
SET_UP = """
set -e
truncate -s 64M image
mke2fs -q -F -t ext4 image
mkdir disk
mount -o loop,noatime image disk
mkdir disk/seen disk/under
for number in $(seq 30); do
  mkdir "disk/d$number"
  seq 150 | (cd "disk/d$number" && xargs touch)
  echo "$number" > "disk/seen/$number"
done
head -c 2000000 /dev/zero > disk/under/hidden
mount -o remount,ro disk
mount --bind disk/seen disk/under
exec "$@"
"""

SCRIPT = """
import os, resource, ringwalk

TOP = "disk"
QUESTIONS = {
    "count": lambda source: ringwalk.count(TOP, source=source),
    "du": lambda source: ringwalk.du(TOP, source=source),
    "find": lambda source: ringwalk.find(
        TOP, "-size", "+1M", source=source, on_error="collect"
    ),
    "scan": lambda source: ringwalk.scan(TOP, ["path", "size"], source=source),
}

def told(name, answer):
    if name == "count":
        return answer.entries, answer.apparent_size, answer.allocated_size, len(answer.errors)
    if name == "du":
        return answer.apparent_size, answer.entries, len(answer.errors)
    if name == "find":
        found = sorted(answer)
        return found, len(answer.errors)
    rows = sum(len(batch) for batch in answer)
    return rows, len(answer.errors)

expected = {name: told(name, ask("syscall")) for name, ask in QUESTIONS.items()}
assert expected["find"] == ([], 0), expected
assert expected["count"][0] > 4000
in_use = len(os.listdir("/proc/self/fd")) - 1
_soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
answered = 0
for free in range(3, 8):
    resource.setrlimit(resource.RLIMIT_NOFILE, (in_use + free, hard))
    for source in ("auto", "ext4"):
        for name, ask in QUESTIONS.items():
            try:
                answer = told(name, ask(source))
            except (OSError, ringwalk.SearchError):
                continue
            if answer[-1]:
                continue
            assert answer == expected[name], (free, source, name, answer, expected[name])
            answered += 1
print(answered)
"""


def test_few_descriptors(tmp_path):
    """What lies under the mount has a size by which it would be found."""
    if os.geteuid() != 0 or shutil.which("mke2fs") is None:
        pytest.skip("needs root, and e2fsprogs")
    private = ["unshare", "--mount", "--propagation", "private"]
    set_up = [*private, "bash", "-c", SET_UP, "set-up"]
    probe = finished([*set_up, "true"], cwd=tmp_path, capture_output=True, text=True)
    if probe.returncode != 0:
        pytest.skip(f"no image can be mounted here: {probe.stderr}")
    shutil.rmtree(tmp_path / "disk")
    command = [*set_up, sys.executable, "-c", SCRIPT]
    done = finished(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0, "some get by with so few"


def test_the_type_of_a_file_system_is_known_or_an_error(tmp_path):
    """No descriptor for the table of mounts is left: -fstype does not go by a guess."""
    (tmp_path / "file").touch()
    script = """
import os, resource, sys, ringwalk
top = sys.argv[1]
expected = sorted(ringwalk.find(top, "!", "-fstype", "nonsense"))
assert len(expected) == 2
in_use = len(os.listdir("/proc/self/fd")) - 1
_soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
for free in range(8):
    resource.setrlimit(resource.RLIMIT_NOFILE, (in_use + free, hard))
    for negation, answer in (["!"], expected), ([], []):
        expression = [*negation, "-fstype", "nonsense"]
        found = ringwalk.find(top, *expression, on_error="collect")
        try:
            names = sorted(found)
        except (OSError, ringwalk.SearchError):
            continue
        assert names == answer or found.errors, (free, expression, names)
        assert set(names) <= set(answer), (free, expression, names)
"""
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
