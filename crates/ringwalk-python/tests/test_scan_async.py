"""`async for`: the loop goes on, and cancelling loses nothing."""

import asyncio
import time

import pytest
import ringwalk
from support import PATIENCE, endless_tree, listed, threads, wait_until


def test_all_batches_come(tree):
    async def read():
        return sum([len(batch) async for batch in ringwalk.scan(tree, batch_size=5)])

    assert asyncio.run(read()) == len(listed(tree))


def test_a_block_ends_the_scan(tree):
    async def main():
        async with ringwalk.scan(tree, batch_size=5) as scan:
            rows = sum([len(batch) async for batch in scan])
        async with ringwalk.scan(tree, batch_size=1) as left:
            await anext(aiter(left))
        with pytest.raises(ZeroDivisionError):
            async with ringwalk.scan(tree) as failed:
                raise ZeroDivisionError
        for closed in left, failed:
            with pytest.raises(ValueError, match="has been closed"):
                await anext(aiter(closed))
        return rows

    assert asyncio.run(main()) == len(listed(tree))
    assert wait_until(lambda: not threads())


def test_the_loop_is_not_blocked(endless):
    async def read(scan):
        async for _ in scan:
            raise AssertionError("there is nothing to come")

    async def main():
        scan = ringwalk.scan(endless, min_depth=10**9, follow="always")
        reading = asyncio.create_task(read(scan))
        longest, begin = 0.0, time.monotonic()
        while time.monotonic() < begin + 1:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - before)
        assert not reading.done()
        assert threads(), "it is at work"
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        scan.close()
        return longest

    assert asyncio.run(main()) < 0.5
    assert wait_until(lambda: not threads())


def test_cancelling_loses_no_batch(tree):
    async def main():
        scan = ringwalk.scan(tree, batch_size=1)
        batches = aiter(scan)
        rows = 0
        while True:
            task = asyncio.ensure_future(anext(batches))
            # Cancelled at each of the points where it may wait, by turns.
            for _ in range(rows % 3):
                await asyncio.sleep(0)
            task.cancel()
            try:
                rows += len(await task)
            except asyncio.CancelledError:
                try:
                    rows += len(await anext(batches))
                except StopAsyncIteration:
                    return rows
            except StopAsyncIteration:
                return rows

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE)) == len(listed(tree))


def test_two_tasks_share_a_scan(tree):
    async def count(scan):
        return sum([len(batch) async for batch in scan])

    async def main():
        scan = ringwalk.scan(tree, batch_size=1)
        return sum(await asyncio.gather(*[count(scan) for _ in range(4)]))

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE)) == len(listed(tree))


def test_a_task_and_a_stream_share_a_scan(tmp_path):
    pa = pytest.importorskip("pyarrow")
    levels = 14
    top = endless_tree(tmp_path, levels)
    # One batch a worker: the stream waits for them while the task begins to.
    scan = ringwalk.scan(top, follow="always", batch_size=1 << 20)
    reader = pa.RecordBatchReader.from_stream(scan)

    async def main():
        reading = asyncio.create_task(asyncio.to_thread(lambda: [len(batch) for batch in reader]))
        await asyncio.sleep(0.02)
        return sum([len(batch) async for batch in scan]) + sum(await reading)

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE)) == 2 ** (levels + 1) - 1


def test_a_loop_that_is_closed_while_a_batch_is_awaited(endless):
    scan = ringwalk.scan(endless, min_depth=10**9, follow="always")
    loop = asyncio.new_event_loop()
    with pytest.raises(asyncio.TimeoutError):
        loop.run_until_complete(asyncio.wait_for(anext(aiter(scan)), 0.05))
    loop.close()
    # Wakes the waiting tasks, of which none remains.
    scan.close()
    assert wait_until(lambda: not threads())


def test_closed_early(endless):
    async def main():
        scan = ringwalk.scan(endless, follow="always", batch_size=10)
        batches = aiter(scan)
        await anext(batches)
        await batches.aclose()
        with pytest.raises(ValueError, match="closed"):
            await anext(batches)

    asyncio.run(main())
    assert wait_until(lambda: not threads())


def test_errors_are_raised_at_the_end(tmp_path):
    async def main():
        async for _ in ringwalk.scan(tmp_path / "missing", on_error="raise"):
            pass

    with pytest.raises(FileNotFoundError):
        asyncio.run(main())
