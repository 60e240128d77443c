"""A scan in asyncio: a batch wakes the event loop, and no thread waits for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ringwalk._ringwalk import Bell

if TYPE_CHECKING:
    from ringwalk._ringwalk import Batch, Scan


class AsyncBatches:
    """The iterator of `async for batch in scan`.

    Cancelling a task that waits for a batch loses no rows: the task reads a batch only when it no
    longer waits.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan

    def __aiter__(self) -> AsyncBatches:
        return self

    async def __anext__(self) -> Batch:
        # Others have their turn even if there is always a batch.
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        while True:
            bell = Bell()
            batch = self._scan._poll(bell)
            if batch is not None:
                return batch
            ready = asyncio.Event()
            loop.add_reader(bell.fileno(), ready.set)
            try:
                await ready.wait()
            finally:
                loop.remove_reader(bell.fileno())

    async def aclose(self) -> None:
        """Ends the scan."""
        self._scan.close()
