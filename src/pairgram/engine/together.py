"""Workers of a Ray cluster that train one model together, by Ray Train.

Ray Train places them, makes them a process group of torch.distributed (gloo, or nccl on cards) and
notices when one is gone. A mailbox takes what they tell and return. The module ray is handed over
by `pairgram.engine.ray`.
"""

import logging
import tempfile
import threading
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from pairgram.errors import LostWorkerError, PairgramError

MOST_LOST = 10
"""Losses after which training gives up."""
LISTEN_SECONDS = 0.1
END_SECONDS = 120.0
COLLECTIVE_SECONDS = 600
"""Seconds after which a worker that waits for the others takes them for lost."""

logger = logging.getLogger(__name__)


class Mailbox:
    """What workers tell and return; lives where the result is waited for."""

    def __init__(self) -> None:
        self._news: list[Any] = []
        self._results: dict[int, Any] = {}
        self._errors: list[Exception] = []
        self._ends = False

    def tell(self, news: Any) -> bool:
        """Take news; return whether all should end early."""
        self._news.append(news)
        return self._ends

    def end(self) -> None:
        """Ask all to end early."""
        self._ends = True

    def leave(self, rank: int, result: Any) -> None:
        """Take the result of a worker."""
        self._results[rank] = result

    def fail(self, error: Exception) -> None:
        """Take what a worker raised."""
        self._errors.append(error)

    def heard(self) -> list[Any]:
        """All news since the last call."""
        news, self._news = self._news, []
        return news

    def taken(self, rank: int) -> list[Any]:
        """The result of a worker, which is forgotten, or nothing where it left none."""
        return [self._results.pop(rank)] if rank in self._results else []

    def failed(self) -> list[Exception]:
        """What workers raised since the last call."""
        errors, self._errors = self._errors, []
        return errors


class RayTeam:
    """One worker of Ray Train's.

    Parameters
    ----------
    ray
        The module.
    mailbox
        Its handle.
    """

    def __init__(self, ray: Any, mailbox: Any) -> None:
        context = ray.train.get_context()
        self.rank, self.size = context.get_world_rank(), context.get_world_size()
        self.device = str(ray.train.torch.get_device())
        self._ray, self._mailbox = ray, mailbox

    def tell(self, news: Any) -> bool:
        """Send news; return whether all should end early."""
        return bool(self._ray.get(self._mailbox.tell.remote(news)))


class Training:
    """Training together, begun again whenever a worker is lost.

    Parameters
    ----------
    ray
        The module, with ray.train.torch.
    mailbox
        Handle of the mailbox.
    workers
        How many.
    needs
        Gives what each of them may take of the cluster as it is now, by Ray's names.
    """

    def __init__(
        self, ray: Any, mailbox: Any, workers: int, needs: Callable[[], dict[str, float]]
    ) -> None:
        self._ray, self._mailbox, self._workers, self._needs = ray, mailbox, workers, needs

    def run(self, loop: Callable[..., None], given: Any, hear: Callable[[Any], None]) -> list[Any]:
        """Train until every worker has left a result; give up after some losses."""
        lost = 0
        while True:
            try:
                self._try(loop, given, hear)
                return self._results()
            except LostWorkerError as error:
                lost += 1
                if lost > MOST_LOST:
                    raise PairgramError(f"{error} Gave up after {MOST_LOST} tries.") from None
                logger.warning("%s All begin again from the last checkpoint.", error)

    def _try(self, loop: Callable[..., None], given: Any, hear: Callable[[Any], None]) -> None:
        ended: list[Exception | None] = []
        with tempfile.TemporaryDirectory(prefix="pairgram-") as folder:
            trainer = self._trainer(loop, given, folder)
            thread = threading.Thread(target=_fit, args=(trainer, ended), daemon=True)
            thread.start()
            try:
                self._listen(thread, hear)
            except BaseException:
                self._ray.get(self._mailbox.end.remote())
                thread.join(END_SECONDS)
                raise
        if ended[0] is not None:
            self._raise(ended[0])

    def _listen(self, thread: threading.Thread, hear: Callable[[Any], None]) -> None:
        alive = True
        while alive:
            thread.join(LISTEN_SECONDS)
            alive = thread.is_alive()
            for news in self._ray.get(self._mailbox.heard.remote()):
                hear(news)

    def _results(self) -> list[Any]:
        taken = (self._ray.get(self._mailbox.taken.remote(rank)) for rank in range(self._workers))
        results = [one for some in taken for one in some]
        if len(results) < self._workers:
            raise LostWorkerError("A worker of the Ray cluster ended without a result.")
        return results

    def _trainer(self, loop: Callable[..., None], given: Any, folder: str) -> Any:
        train, torch = self._ray.train, self._ray.train.torch
        needs = self._needs()
        return torch.TorchTrainer(
            loop,
            train_loop_config={"mailbox": self._mailbox, "given": given},
            torch_config=torch.TorchConfig(timeout_s=COLLECTIVE_SECONDS),
            scaling_config=train.ScalingConfig(
                num_workers=self._workers, use_gpu="GPU" in needs, resources_per_worker=needs
            ),
            run_config=train.RunConfig(
                name="together",
                storage_path=folder,
                # Begun again here, with what the cluster then has.
                failure_config=train.FailureConfig(max_failures=0, controller_failure_limit=0),
            ),
        )

    def _raise(self, ended: Exception) -> NoReturn:
        """Raise what a worker raised, unless that came of another's being lost."""
        for error in self._ray.get(self._mailbox.failed.remote()):
            if not isinstance(error, LostWorkerError):
                raise error
        if not isinstance(ended, self._ray.train.TrainingFailedError):
            raise ended
        raise LostWorkerError(
            f"A worker of the Ray cluster was lost ({type(ended).__name__})."
        ) from None


def _fit(trainer: Any, ended: list[Exception | None]) -> None:
    """Run Ray Train, and note how it ended."""
    try:
        with warnings.catch_warnings():
            # Ray warns of uses inside itself.
            warnings.simplefilter("ignore", DeprecationWarning)
            trainer.fit()
    except Exception as error:
        ended.append(error)
    else:
        ended.append(None)
