"""What runs work: the same calls for the threads of one machine and for a cluster."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Crew(Protocol):
    """Objects that live with the engine's workers; each does its calls one after the other."""

    def call(self, member: int, method: str, *given: Any) -> Any:
        """Start a call and return a handle of its result.

        A handle may be given to another call, which then waits for it; the result goes from worker
        to worker.
        """

    def wait(self, handles: Sequence[Any]) -> list[Any]:
        """Results of calls; `LostWorkerError` where a worker that they need is gone."""

    def close(self) -> None:
        """Let the objects go."""


class Team(Protocol):
    """One of several workers that train one model together.

    Where there are several, they are a process group of torch.distributed already.

    Attributes
    ----------
    rank, size
        Which worker this is, and of how many.
    device
        "cpu", or "cuda" where it has a card of its own.
    """

    rank: int
    size: int
    device: str

    def tell(self, news: Any) -> bool:
        """Send news to who waits for the result; return whether all should end early."""


class Engine(Protocol):
    """Runs callables over tasks.

    Attributes
    ----------
    threads
        Tasks that run side by side. No result depends on it.
    shares_memory
        Whether a task may write into the caller's arrays. Where it may not, what it is given is a
        copy and only what it returns comes back.
    """

    shares_memory: bool

    @property
    def threads(self) -> int:
        """Tasks that run side by side."""

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Results in the order of the tasks; a few tasks per thread are under way at a time."""

    def run(self, work: Callable[[Task], object], tasks: Iterable[Task]) -> None:
        """Run all tasks, and return when all are done."""

    def crew(
        self, make: Callable[..., Any], shared: tuple[Any, ...], each: Sequence[tuple[Any, ...]]
    ) -> Crew:
        """Objects make(*shared, *own), one for each `own` in `each`, spread over the workers."""

    def train_together(
        self,
        work: Callable[..., Result],
        shared: tuple[Any, ...],
        hear: Callable[[Any], None],
        cards: bool = False,
    ) -> list[Result]:
        """Results of work(team, *shared) by rank, all workers at once as one process group.

        Their number stays the same when one is lost: all begin again, and `work` takes up what it
        stored. `hear` is given what workers tell; when it raises, they are told to end early, and
        it is raised here when they have. With `cards` each has a graphics card, where there are
        enough.
        """

    def together(self) -> int:
        """How many workers `train_together` has."""

    def check_folder(self, folder: Path) -> None:
        """Raise `InputError` unless all workers see a folder of this machine to write to."""

    def check_file(self, file: Path) -> None:
        """Raise `InputError` unless all workers see a file of this machine."""

    def close(self) -> None:
        """End what the engine started."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
