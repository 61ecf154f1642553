"""Requests that arrive while the model is busy go through it together."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pairgram.errors import PairgramError

Item = TypeVar("Item")
Result = TypeVar("Result")


class BusyError(PairgramError):
    """More requests wait than may."""


@dataclass(eq=False)
class _Job(Generic[Item]):
    kind: Hashable
    item: Item
    answer: "asyncio.Future[Any]"


class Batcher(Generic[Item, Result]):
    """One thread that works through a queue; what waits and is of one kind is done at once.

    Nothing is held back to fill a batch: the first request runs alone, and those that came
    meanwhile run together after it.

    Parameters
    ----------
    work
        Function of a kind and items of that kind that gives a result for each item.
    most
        Items of a batch.
    waiting
        Items that may wait; `ask` raises `BusyError` beyond that.
    """

    def __init__(
        self,
        work: Callable[[Any, Sequence[Item]], Sequence[Result]],
        most: int = 64,
        waiting: int = 512,
    ) -> None:
        self._work, self._most, self._waiting = work, most, waiting
        self._queue: deque[_Job[Item]] = deque()
        self._wake = asyncio.Event()
        self._pool = ThreadPoolExecutor(1, "pairgram-model")
        self._closing = False

    @property
    def depth(self) -> int:
        """Items that wait."""
        return len(self._queue)

    async def ask(self, kind: Hashable, item: Item) -> Result:
        """Queue an item and wait for its result."""
        if self._closing:
            raise BusyError("The server is stopping.")
        if len(self._queue) >= self._waiting:
            raise BusyError(f"{len(self._queue)} requests wait already; try again in a second.")
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._queue.append(_Job(kind, item, answer))
        self._wake.set()
        return await answer

    async def run(self) -> None:
        """Work until `close` is called and the queue is empty."""
        while self._queue or not self._closing:
            self._wake.clear()
            if not await self._do_some() and not self._closing:
                await self._wake.wait()
        self._pool.shutdown()

    def close(self) -> None:
        """Take nothing more; `run` ends when what waits is done."""
        self._closing = True
        self._wake.set()

    async def _do_some(self) -> bool:
        """Do what can be done at once; a call of its own, so that nothing is held while idle."""
        batch = self._take()
        if batch:
            await self._do(batch)
        return bool(batch)

    def _take(self) -> list[_Job[Item]]:
        """The oldest job that is still wanted, and those of its kind."""
        wanted = [job for job in self._queue if not job.answer.done()]
        batch = [job for job in wanted if job.kind == wanted[0].kind][: self._most]
        taken = set(map(id, batch))
        self._queue = deque(job for job in wanted if id(job) not in taken)
        return batch

    async def _do(self, batch: list[_Job[Item]]) -> None:
        loop = asyncio.get_running_loop()
        items = [job.item for job in batch]
        try:
            results = await loop.run_in_executor(self._pool, self._work, batch[0].kind, items)
        except Exception as error:
            if len(batch) == 1:
                _settle(batch[0], error=error)
                return
            # One bad item must not fail its neighbours.
            for job in batch:
                await self._do([job])
            return
        for job, result in zip(batch, results, strict=True):
            _settle(job, result)


def _settle(job: _Job[Any], result: Any = None, error: Exception | None = None) -> None:
    if job.answer.done():  # nobody waits for it any more
        return
    if error is None:
        job.answer.set_result(result)
    else:
        job.answer.set_exception(error)
