"""Requests that go through the model together get what they would get alone."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram.serve.batching import Batcher, BusyError

pytestmark = pytest.mark.quick


def run_all(jobs, work, **options):
    """Results of (kind, item) jobs asked at once, errors as values."""

    async def main():
        batcher = Batcher(work, **options)
        task = asyncio.create_task(batcher.run())
        asked = [batcher.ask(kind, item) for kind, item in jobs]
        results = await asyncio.gather(*asked, return_exceptions=True)
        batcher.close()
        await task
        return results

    return asyncio.run(main())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-9, 9)), max_size=40))
def test_results_are_those_of_single_requests(jobs):
    batches = []

    def work(kind, items):
        batches.append((kind, len(items)))
        if any(item < 0 for item in items):
            raise ValueError("negative")
        return [(kind, 2 * item) for item in items]

    results = run_all(jobs, work, most=8)
    for (kind, item), result in zip(jobs, results, strict=True):
        if item < 0:
            assert isinstance(result, ValueError)
        else:
            assert result == (kind, 2 * item)
    assert all(size <= 8 for _, size in batches)


def test_what_waits_is_done_at_once():
    sizes, gate = [], threading.Event()

    def work(kind, items):
        sizes.append(len(items))
        gate.wait(10)
        return items

    async def main():
        batcher = Batcher(work)
        task = asyncio.create_task(batcher.run())
        first = asyncio.create_task(batcher.ask("a", 0))
        await asyncio.sleep(0.05)
        others = [asyncio.create_task(batcher.ask("a", i)) for i in range(1, 6)]
        await asyncio.sleep(0.05)
        assert batcher.depth == 5
        others[2].cancel()  # a client that went away costs nothing
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, *others, return_exceptions=True)
        batcher.close()
        await task

    asyncio.run(main())
    assert sizes == [1, 4]


def test_a_full_queue_turns_requests_away_and_a_closed_one_ends_its_work():
    results = run_all([("a", i) for i in range(5)], lambda kind, items: items, waiting=3)
    assert [r for r in results if not isinstance(r, BusyError)] == [0, 1, 2]
    assert sum(isinstance(r, BusyError) for r in results) == 2

    async def closed():
        batcher = Batcher(lambda kind, items: items)
        waiting = asyncio.create_task(batcher.ask("a", 1))
        await asyncio.sleep(0)
        batcher.close()
        with pytest.raises(BusyError, match="stopping"):
            await batcher.ask("a", 2)
        await batcher.run()
        return await waiting

    assert asyncio.run(closed()) == 1
