"""Ctrl-C while a server of a file system does not answer."""

import os
import pathlib
import sys

import pytest
import ringwalk
from processes import finished
from support import run

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
    "snapshot": "ringwalk.snapshot(above, above + '/saved')",
    "snapshot of the root": "ringwalk.snapshot(point, above + '/saved')",
    "diff": """
os.mkdir(above + "/small")
ringwalk.snapshot(above + "/small", above + "/small.parquet")
ringwalk.diff(above + "/small.parquet", point)""",
    "report": "ringwalk.report(above, 'owner')",
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


def test_an_interrupted_snapshot_leaves_the_older_one(tmp_path):
    (tmp_path / "tree").mkdir()
    for number in range(1000):
        (tmp_path / "tree" / f"file{number}").touch()
    output = tmp_path / "saved"
    ringwalk.snapshot(tmp_path / "tree", output)
    script = """
import signal, sys, threading, time, _thread
import ringwalk

# A program that was started in the background ignores the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    time.sleep(float(sys.argv[3]))
    _thread.interrupt_main()

try:
    threading.Thread(target=interrupt).start()
    while True:
        ringwalk.snapshot(sys.argv[1], sys.argv[2])
except KeyboardInterrupt:
    print("KeyboardInterrupt")
"""
    for seconds in (0.01, 0.05, 0.1):
        done = run(script, tmp_path / "tree", output, seconds)
        assert (done.stdout, done.stderr) == ("KeyboardInterrupt\n", "")
        # What is there is whole.
        assert len(ringwalk.open_snapshot(output)) == 1001
