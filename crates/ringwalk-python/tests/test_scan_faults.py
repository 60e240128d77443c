"""Forks, threads, signals, and scans that are not read to their end."""

import gc
import os
import signal
import threading
import time

import pytest
import ringwalk
from support import PATIENCE, in_child, interrupted, listed, run, threads, wait_until


@pytest.fixture
def pa():
    """Another library that reads scans, where there is one for this interpreter."""
    return pytest.importorskip("pyarrow")


def test_a_scan_that_is_dropped_ends_its_walk(endless):
    for batch in ringwalk.scan(endless, follow="always", batch_size=10):
        assert len(batch)
        assert threads()
        break
    gc.collect()
    assert wait_until(lambda: not threads())


def test_a_generator_that_is_closed_ends_its_walk(endless):
    def lengths():
        with ringwalk.scan(endless, follow="always", batch_size=10) as scan:
            for batch in scan:
                yield len(batch)

    generator = lengths()
    assert next(generator)
    generator.close()
    # A thread that has been waited for may be seen for a moment.
    assert wait_until(lambda: not threads())


def test_a_stream_that_is_dropped_ends_its_walk(endless, pa):
    scan = ringwalk.scan(endless, follow="always", batch_size=10)
    reader = pa.RecordBatchReader.from_stream(scan)
    assert reader.read_next_batch().num_rows
    del reader
    gc.collect()
    assert wait_until(lambda: not threads())
    with pytest.raises(ValueError, match="closed"):
        next(scan)


def test_use_after_close(tree):
    begun = ringwalk.scan(tree, batch_size=1)
    taken = next(begun)
    fresh = ringwalk.scan(tree)
    for scan in (begun, fresh):
        scan.close()
        scan.close()
        with pytest.raises(ValueError, match="closed"):
            next(scan)
        with pytest.raises(ValueError, match="read already"):
            scan.__arrow_c_stream__()
        assert len(scan.errors) == 0 and scan.summary is None
    assert len(taken) == 1 and taken.__arrow_c_array__(), "what was given stays"


def test_the_end_stays_the_end(tree):
    scan = ringwalk.scan(tree)
    assert sum(map(len, scan)) == len(listed(tree))
    assert list(scan) == []
    scan.close()
    assert list(scan) == []
    with pytest.raises(ValueError, match="can be read once"):
        scan.__arrow_c_stream__()


def test_a_batch_outlives_its_scan(tree, pa):
    batches = [pa.record_batch(batch) for batch in ringwalk.scan(tree, batch_size=3)]
    gc.collect()
    paths = [path for batch in batches for path in batch["path"].to_pylist()]
    assert sorted(paths) == sorted(listed(tree))


def test_several_threads_read_one_scan(tree):
    scan = ringwalk.scan([tree] * 50, batch_size=7)
    counts = [0] * 8

    def read(number):
        for batch in scan:
            counts[number] += len(batch)
            repr(scan.errors), scan.summary

    readers = [threading.Thread(target=read, args=(number,)) for number in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(PATIENCE)
    assert sum(counts) == 50 * len(listed(tree))


def test_others_run_while_a_batch_is_waited_for_and_may_close_it(endless):
    scan = ringwalk.scan(endless, min_depth=10**9, follow="always")
    raised = []

    def read():
        try:
            next(scan)
        except ValueError as error:
            raised.append(str(error))

    reader = threading.Thread(target=read)
    reader.start()
    begin = time.monotonic()
    turns = 0
    while time.monotonic() < begin + 0.5:
        turns += 1
    assert turns > 1000, "this thread has the interpreter"
    scan.close()
    reader.join(PATIENCE)
    assert not reader.is_alive()
    assert raised == ["this scan has been closed"]


def test_scans_at_once(tree):
    expected = len(listed(tree))
    found = []

    def read():
        for _ in range(10):
            found.append(sum(map(len, ringwalk.scan(tree))))

    readers = [threading.Thread(target=read) for _ in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(PATIENCE)
    assert found == [expected] * 80


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_is_told_that_the_walk_is_not_in_it(endless, pa):
    scan = ringwalk.scan(endless, follow="always", batch_size=10)
    reader = pa.RecordBatchReader.from_stream(
        ringwalk.scan(endless, follow="always", batch_size=10)
    )
    next(scan)
    reader.read_next_batch()
    box = [scan, reader]

    def check():
        with pytest.raises(RuntimeError, match=f"begun by process {os.getppid()} before fork"):
            next(scan)
        with pytest.raises(OSError, match="before fork"):
            reader.read_next_batch()
        assert repr(scan.errors) and scan.summary is None
        scan.close()
        with pytest.raises(RuntimeError):
            next(scan)

    for _ in range(5):
        assert in_child(check) == 0
    assert len(next(scan)) and reader.read_next_batch().num_rows, "the parent's goes on"
    assert len(box) == 2
    scan.close()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_that_only_drops_a_scan_ends(endless):
    box = [ringwalk.scan(endless, follow="always", batch_size=10)]
    next(box[0])

    def check():
        box.clear()
        gc.collect()

    assert in_child(check) == 0
    assert len(next(box[0]))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_may_begin_a_scan(tree, endless):
    fresh = ringwalk.scan(tree)
    running = ringwalk.scan(endless, follow="always", batch_size=10)
    next(running)

    def check():
        assert sum(map(len, fresh)) == len(listed(tree))
        assert ringwalk.du(tree).entries == len(listed(tree)) - 1

    assert in_child(check) == 0
    assert sum(map(len, fresh)) == len(listed(tree)), "the parent's is another one"


WAITING = {
    "for": "for _ in ringwalk.scan(top, min_depth=10**9, follow='always'): pass",
    "next": "next(ringwalk.scan(top, min_depth=10**9, follow='always'))",
    "find": "next(ringwalk.find(top, '-L', '-name', 'nothing'))",
    "count": "ringwalk.count(top, follow='always')",
    "async": """
import asyncio
async def main():
    async for _ in ringwalk.scan(top, min_depth=10**9, follow='always'): pass
asyncio.run(main())""",
}


@pytest.mark.parametrize("how", WAITING)
def test_ctrl_c_ends_waiting(endless, how):
    script = f"import sys, ringwalk\ntop = sys.argv[1]\nprint('ready', flush=True)\n{WAITING[how]}"
    # The tree has no end, so only the interruption can end this.
    status, text = interrupted(script, endless)
    assert status == -signal.SIGINT and "KeyboardInterrupt" in text, text


def test_ctrl_c_ends_another_librarys_waiting(endless, pa):
    # The first table imports pandas. If Ctrl-C ends an `eval` there, the interpreter remembers it,
    # and at its end it raises the signal again, although the script has caught the exception.
    script = """
import sys, ringwalk, pyarrow
pyarrow.table(ringwalk.scan('/dev/null'))
scan = ringwalk.scan(sys.argv[1], min_depth=10**9, follow='always')
try:
    print('ready', flush=True)
    try:
        pyarrow.table(scan)
    except OSError as error:
        assert 'interrupted' in str(error), error
    for _ in range(1000):
        pass
except KeyboardInterrupt:
    print('KeyboardInterrupt')
"""
    assert interrupted(script, endless) == (0, "KeyboardInterrupt\n")


def test_a_handler_that_raises_something_else(endless):
    script = """
import signal, sys, time, ringwalk
class Late(Exception): pass
def late(*_): raise Late
signal.signal(signal.SIGALRM, late)
scan = ringwalk.scan(sys.argv[1], min_depth=10**9, follow='always')
signal.setitimer(signal.ITIMER_REAL, 0.2)
begin = time.monotonic()
try:
    next(scan)
except Late:
    assert time.monotonic() - begin < 2
    scan.close()
    print('late')
"""
    assert run(script, endless).stdout == "late\n"


def test_the_interpreter_may_end_while_a_scan_runs(endless):
    script = """
import sys, ringwalk
scan = ringwalk.scan(sys.argv[1], follow='always', batch_size=10)
next(scan)
found = ringwalk.find(sys.argv[1], '-L')
next(found)
print('done')
"""
    done = run(script, endless)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
