"""Daemon threads that are at work when the interpreter ends."""

import pytest
from support import run

WORK = {
    "walk": "for _ in ringwalk.walk(top): pass",
    "walk bottom up": "for _ in ringwalk.walk(os.fsencode(top), topdown=False): pass",
    "walk with errors": "for _ in ringwalk.walk(top / 'none', onerror=errors.append): pass",
    "walk edited": "for _, below, _ in ringwalk.walk(top): below[:] = [Name(n) for n in below]",
    "fwalk": "for _ in ringwalk.fwalk(top): pass",
    "scandir": "for entry in ringwalk.scandir(top / 'a'): entry.path",
    "scandir of a descriptor": "for entry in ringwalk.scandir(fd): entry.stat()",
    "stat": "for entry in ringwalk.scandir(str(top)): entry.stat(follow_symlinks=False)",
    "is_dir": "for entry in ringwalk.scandir(os.fsencode(top)): entry.is_dir()",
    "scan": "for batch in ringwalk.scan([top, top], batch_size=10): len(batch)",
    "scan that fails": "attempt(lambda: list(ringwalk.scan(top / 'none')))",
    "find": "for path in ringwalk.find(top, '-type', 'f'): pass",
    "find that fails": "attempt(lambda: list(ringwalk.find(top / 'none')))",
    "count": "ringwalk.count(top)",
    "du": "ringwalk.du(top)",
    "doctor": "ringwalk.doctor(top)",
    "hash": "ringwalk.hash([Name(str(top / 'a')), top])",
    "hash with errors": "attempt(lambda: ringwalk.hash(top / 'none'))",
    "dupes": "ringwalk.dupes(Name(str(top)))",
    "dupes that fails": "attempt(lambda: ringwalk.dupes([top, top / 'none']))",
    "snapshot": "ringwalk.snapshot(Name(str(top)), f'{top}.{threading.get_ident()}')",
    "diff": "ringwalk.diff(saved, Name(str(top)))",
    "report": "ringwalk.report(saved, 'type', under=Name(str(top / 'a')))",
    "rows of a snapshot": "ringwalk.open_snapshot(Name(saved)).__arrow_c_stream__()",
    "async": "asyncio.run(read(top))",
    "async with": "asyncio.run(read_a_part(top))",
    "begin of async": "aiter(ringwalk.scan(top))",
}

# Forks take a fifth of the time that interpreters take to start, and end as those do.
SCRIPT = """
import asyncio, contextlib, os, pathlib, sys, threading, time
import ringwalk
from ringwalk import _aio

top = pathlib.Path(sys.argv[1])
fd = os.open(top / "a", os.O_RDONLY)
errors = []
saved = f"{top}.parquet"
ringwalk.snapshot(top, saved)

class Name:
    "A path-like object, whose path Python code tells."
    def __init__(self, name):
        self.name = name
    def __fspath__(self):
        return self.name

class Yielding(_aio.AsyncBatches):
    "Lets another thread run below `aiter`."
    def __init__(self, scan):
        time.sleep(0)
        super().__init__(scan)

_aio.AsyncBatches = Yielding

def attempt(work):
    with contextlib.suppress(Exception):
        work()

async def read(top):
    async for batch in ringwalk.scan(top, batch_size=5):
        len(batch)

async def read_a_part(top):
    async with ringwalk.scan(top, batch_size=5) as scan:
        async for batch in scan:
            break

def work(begun):
    while True:
        {work}
        begun.set()

statuses = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        begun = [threading.Event() for _ in range(2)]
        for event in begun:
            threading.Thread(target=work, args=(event,), daemon=True).start()
        for event in begun:
            event.wait()
        break
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
else:
    print(statuses)
"""


@pytest.mark.parametrize("what", WORK)
def test_daemon_threads_do_not_end_the_process(tree, what):
    done = run(SCRIPT.replace("{work}", WORK[what]), tree)
    assert (done.stdout, done.stderr) == (f"{[0] * 20}\n", "")
