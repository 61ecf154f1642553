"""Threads of one machine. Kernels release the GIL, so plain threads are enough."""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pairgram import params
from pairgram.engine.base import Result, Task

logger = logging.getLogger(__name__)


def available_threads() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resolve_threads(threads: int | None) -> int:
    """Thread count to use: all cores for None, and never more than there are."""
    params.check("the engine", {"threads": params.Optional(params.Int(1))}, {"threads": threads})
    cores = available_threads()
    if threads is None:
        return cores
    if threads > cores:
        logger.warning(
            "%d threads asked for, %d cores here: running on %d, with the same result",
            threads, cores, cores,
        )  # fmt: skip
    return min(threads, cores)


class LocalEngine:
    """Runs tasks on the threads of this machine.

    Parameters
    ----------
    threads
        Number of threads; None takes all cores.

    Examples
    --------
    >>> with LocalEngine(threads=1) as engine:
    ...     list(engine.map(lambda x: x * x, [1, 2, 3]))
    [1, 4, 9]
    """

    shares_memory = True

    def __init__(self, threads: int | None = None) -> None:
        self.threads = resolve_threads(threads)
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def __enter__(self) -> "LocalEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait for what runs, drop what waits, end the threads."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Results in the order of the tasks; at most two tasks per thread are under way."""
        if self._pool is None:
            yield from map(work, tasks)
            return
        under_way: deque[Future[Result]] = deque()
        try:
            for task in tasks:
                under_way.append(self._pool.submit(work, task))
                if len(under_way) >= 2 * self.threads:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()

    def run(self, work: Callable[[Task], object], tasks: Iterable[Task]) -> None:
        """Run all tasks, and return when all are done."""
        for _ in self.map(work, tasks):
            pass

    def crew(
        self, make: Callable[..., Any], shared: tuple[Any, ...], each: Sequence[tuple[Any, ...]]
    ) -> "LocalCrew":
        """Objects make(*shared, *own), each with a thread of its own."""
        return LocalCrew([make(*shared, *own) for own in each])

    def train_together(
        self,
        work: Callable[..., Result],
        shared: tuple[Any, ...],
        hear: Callable[[Any], None],
        cards: bool = False,
    ) -> list[Result]:
        """Result of work(team, *shared) in this process, which has all threads to itself."""
        team = LocalTeam(hear)
        result = work(team, *shared)
        if team.raised is not None:
            raise team.raised
        return [result]

    def together(self) -> int:
        """One: torch itself works on all threads."""
        return 1

    def check_folder(self, folder: Path) -> None:
        """Threads see what this process sees."""

    def check_file(self, file: Path) -> None:
        """Threads see what this process sees."""


class LocalCrew:
    """Objects of this process; each does its calls one after the other.

    Parameters
    ----------
    members
        The objects.

    Examples
    --------
    >>> crew = LocalCrew([[3, 1], [2]])
    >>> taken = crew.call(0, "pop")
    >>> crew.wait([crew.call(1, "append", taken), crew.call(1, "index", 1)])
    [None, 1]
    >>> crew.close()
    """

    def __init__(self, members: Sequence[Any]) -> None:
        self._members = members
        self._pools = [ThreadPoolExecutor(1) for _ in members]

    def call(self, member: int, method: str, *given: Any) -> "Future[Any]":
        """Start a call; a handle among what is given is waited for."""

        def work() -> Any:
            values = (one.result() if isinstance(one, Future) else one for one in given)
            return getattr(self._members[member], method)(*values)

        return self._pools[member].submit(work)

    def wait(self, handles: Sequence["Future[Any]"]) -> list[Any]:
        """Results of calls."""
        return [handle.result() for handle in handles]

    def close(self) -> None:
        """Wait for what runs, drop what waits, end the threads."""
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)


class LocalTeam:
    """A team of one, in this process.

    Parameters
    ----------
    hear
        Given what is told.
    """

    rank, size, device = 0, 1, "cpu"

    def __init__(self, hear: Callable[[Any], None]) -> None:
        self._hear = hear
        self.raised: BaseException | None = None

    def tell(self, news: Any) -> bool:
        """Pass on news; what is raised there is kept until the work has ended."""
        try:
            self._hear(news)
        except BaseException as error:
            self.raised = error
        return self.raised is not None
