"""Ctrl-C while a server of a file system does not answer."""

import os
import pathlib
import sys

import pytest
from processes import finished

CALLS = {
    "walk": "list(ringwalk.walk(point))",
    "walk from above": "list(ringwalk.walk(above))",
    "walk over a link": """
os.mkdir(above + "/below")
os.symlink("../point/file", above + "/below/link")
list(ringwalk.walk(above + "/below"))""",
    "walk bottom up": "list(ringwalk.walk(above, topdown=False))",
    "fwalk": "list(ringwalk.fwalk(point))",
    "scan": "for _ in ringwalk.scan(point): pass",
    "scan of names": "for _ in ringwalk.scan(above, ['path']): pass",
    "scan with": """
with ringwalk.scan(above) as scan:
    for _ in scan: pass""",
    "find": "list(ringwalk.find(above, '-type', 'f'))",
    "find with": """
with ringwalk.find(point, '-size', '+1') as found:
    list(found)""",
    "count": "ringwalk.count(above)",
    "du": "ringwalk.du(point)",
    "scandir": "[entry.is_dir() for entry in ringwalk.scandir(point)]",
    "stat": "[entry.stat() for entry in ringwalk.scandir(point)]",
    "async": """
async def read():
    async for _ in ringwalk.scan(above): pass
asyncio.run(read())""",
}

PROGRAM = """
import asyncio, os, sys
import ringwalk

point = sys.argv[1]
above = os.path.dirname(point)

def call():
    {call}

try:
    call()
    print("not interrupted")
except KeyboardInterrupt:
    print("KeyboardInterrupt", flush=True)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
@pytest.mark.skipif(not pathlib.Path("/dev/fuse").exists(), reason="no FUSE")
# `fwalk` opens directories by `os.open`, which waits as it does in `os.fwalk`.
@pytest.mark.parametrize(
    ("what", "operation"),
    [
        (what, operation)
        for what in CALLS
        for operation in ("open", "read", "stat")
        if (what, operation) != ("fwalk", "open")
        and (what != "walk over a link" or operation == "stat")
    ],
)
def test_ctrl_c_does_not_wait_for_the_server(tmp_path, what, operation):
    (tmp_path / "point").mkdir()
    code = PROGRAM.replace("{call}", CALLS[what].strip().replace("\n", "\n    "))
    server = pathlib.Path(__file__).with_name("hanging.py")
    command = [sys.executable, server, operation, tmp_path / "point", code]
    done = finished(command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("KeyboardInterrupt\n0\n", "")
