"""Workers on Ray, of one machine or of a cluster. The only file that imports ray."""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

from pairgram import params
from pairgram.engine.address import check_answers
from pairgram.engine.base import Result, Task
from pairgram.engine.local import available_threads
from pairgram.engine.together import Mailbox, RayTeam, Training
from pairgram.errors import (
    InputError,
    LostWorkerError,
    MissingExtraError,
    PairgramError,
    ParameterError,
)

PLACE_SECONDS = 300.0
RETRIES = 10
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # no network unless asked
    "RAY_worker_niceness": "0",  # on one machine the workers are the work, not its background
    "RAY_CHDIR_TO_TRIAL_DIR": "0",  # workers stay where they are
    "RAY_TRAIN_METRICS_ENABLED": "0",
}
CONSTRAINTS: dict[str, params.Constraint] = {
    "address": params.Optional(params.Text()),
    "workers": params.Optional(params.Int(1)),
}

logger = logging.getLogger(__name__)


class NoPlaceError(PairgramError):
    """All cores of a cluster are taken."""


class RayEngine:
    """Runs tasks on the workers of a Ray cluster; each has one core.

    A task whose worker or machine is lost is done again elsewhere; as nothing random depends on
    where it runs, the result is the same.

    Parameters
    ----------
    address
        Where the cluster answers, ``host:port`` or "auto". None takes the cluster that this process
        is connected to, then the one that RAY_ADDRESS names, else starts one on this machine that
        ends with the engine.
    workers
        How many; None for as many as the cluster has cores. The results do not depend on it.

    Examples
    --------
    >>> from pairgram import PS
    >>> with RayEngine("head:6379") as engine:  # doctest: +SKIP
    ...     PS(dim=64).fit(graph, engine=engine)
    """

    shares_memory = False

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        given = {"address": address, "workers": workers}
        params.check("RayEngine", CONSTRAINTS, given)
        self._ray, self._asked = _import_ray(), workers
        self._owns = not self._ray.is_initialized()
        if not self._owns and address is not None:
            raise ParameterError(
                f"RayEngine cannot join {address!r}: this process is in a Ray cluster already. "
                "Leave out the address, or leave that cluster with ray.shutdown()."
            )
        if self._owns:
            self._connect(address or os.environ.get("RAY_ADDRESS") or "local")
        try:
            self._check_versions()
        except BaseException:
            self.close()
            raise
        remote = self._ray.remote(num_cpus=1, max_retries=RETRIES)
        self._perform = remote(_perform)
        if workers is not None and workers > self.threads:
            logger.warning(
                "%d workers asked for, %d cores in the cluster: running on %d, with the same "
                "result", workers, self.threads, self.threads,
            )  # fmt: skip

    @property
    def threads(self) -> int:
        """Workers, never more than the cluster has cores now."""
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        return max(1, cores if self._asked is None else min(self._asked, cores))

    def __enter__(self) -> "RayEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster if this engine joined it; one that it started ends."""
        if self._owns:
            self._ray.shutdown()

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Results in the order of the tasks; at most two tasks per worker are under way.

        What `work` holds is stored once, and read by the workers of a machine from shared memory.
        """
        stored, most = [self._ray.put(work)], 2 * self.threads
        under_way: deque[Any] = deque()
        try:
            for task in tasks:
                under_way.append(self._perform.remote(stored, task))
                if len(under_way) >= most:
                    yield self._results([under_way.popleft()])[0]
            while under_way:
                yield self._results([under_way.popleft()])[0]
        finally:
            for reference in under_way:
                self._ray.cancel(reference)

    def run(self, work: Callable[[Task], object], tasks: Iterable[Task]) -> None:
        """Run all tasks, and return when all are done."""
        for _ in self.map(work, tasks):
            pass

    def crew(
        self, make: Callable[..., Any], shared: tuple[Any, ...], each: Sequence[tuple[Any, ...]]
    ) -> "RayCrew":
        """Objects make(*shared, *own), each an actor with a core of its own."""
        stored = [self._ray.put(shared)]
        actor = self._ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(_Member)
        crew = RayCrew(self, [actor.remote(make, stored, own) for own in each])
        crew.check_in()
        return crew

    def train_together(
        self,
        work: Callable[..., Result],
        shared: tuple[Any, ...],
        hear: Callable[[Any], None],
        cards: bool = False,
    ) -> list[Result]:
        """Results of work(team, *shared) by rank, all workers at once as one process group."""
        ray = _import_train()
        mailbox = self._here(ray.remote(num_cpus=0, max_restarts=0)(Mailbox)).remote()
        given = [ray.put((work, shared))]
        try:
            training = Training(ray, mailbox, self.together(), lambda: self._needs(cards))
            return training.run(_take_part, given, hear)
        finally:
            ray.kill(mailbox)

    def together(self) -> int:
        """As many workers as were asked for, also on fewer cores."""
        return self._asked or self.threads

    def _needs(self, cards: bool) -> dict[str, float]:
        """Part of a core for each of the workers, and a card where there are enough."""
        workers, nodes = self.together(), [n for n in self._ray.nodes() if n["Alive"]]
        cores = [node["Resources"].get("CPU", 0.0) for node in nodes]
        split = 1
        while sum(int(core * split) for core in cores) < workers and split < workers:
            split += 1
        enough = sum(node["Resources"].get("GPU", 0.0) for node in nodes) >= workers
        # Ray counts in ten-thousandths.
        return {"CPU": int(1e4 / split) / 1e4, **({"GPU": 1.0} if cards and enough else {})}

    def _here(self, actor: Any) -> Any:
        """Keep an actor on the machine of this process."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        node = self._ray.get_runtime_context().get_node_id()
        return actor.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False))

    def check_folder(self, folder: Path) -> None:
        """Raise `InputError` unless every machine sees a folder of this one to write to."""
        mark = folder / f".seen-{uuid4().hex}"
        mark.touch()
        try:
            self._check_seen(mark, f"{folder}", "folder")
        finally:
            mark.unlink()

    def check_file(self, file: Path) -> None:
        """Raise `InputError` unless every machine of the cluster sees a file of this one."""
        self._check_seen(file, f"{file}", "file")

    def _check_seen(self, path: Path, name: str, kind: str) -> None:
        size = path.stat().st_size

        def sees(place: str) -> bool:
            return Path(place).is_file() and Path(place).stat().st_size == size

        seen = self._on_each_node(sees, str(path))
        blind = [host for host, found in seen if not found]
        if blind:
            raise InputError(
                f"{name}: {len(blind)} of {len(seen)} machines of the Ray cluster do not see this "
                f"{kind}, such as {blind[0]}. Give one that all of them share."
            )

    def _connect(self, address: str) -> None:
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        how: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if address == "local":
            how |= {"num_cpus": self._asked or available_threads(), "include_dashboard": False}
        else:
            check_answers(address)
        try:
            self._ray.init(address=address, **how)
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = str(error).strip().split("\n")[0].rstrip(".")
            raise PairgramError(
                f"Ray at {address!r} cannot be joined: {reason}. Start a cluster with 'ray start "
                "--head', give its token here too if it has one (RAY_AUTH_TOKEN), or leave out the "
                "address to run on this machine."
            ) from None

    def _check_versions(self) -> None:
        """Raise `PairgramError` unless all machines have this version of pairgram."""

        def version() -> str:
            # It travels with its code: a worker without pairgram can run it too.
            try:
                return str(import_module("pairgram").__version__)
            except ImportError:
                return "none"

        here = version()
        for host, found in self._on_each_node(version):
            if found != here:
                raise PairgramError(
                    f"The Ray worker on {host} has pairgram {found}, here it is {here}: install "
                    "the same version on every machine of the cluster."
                )

    def _on_each_node(self, work: Callable[..., Any], *given: Any) -> list[tuple[str, Any]]:
        """Address of every machine that is up, and what `work` returns there."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        remote = self._ray.remote(num_cpus=0, max_retries=RETRIES)(work)
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        references = []
        for node in nodes:
            place = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            references.append(remote.options(scheduling_strategy=place).remote(*given))
        addresses = [str(node["NodeManagerAddress"]) for node in nodes]
        return list(zip(addresses, self._results(references, PLACE_SECONDS), strict=True))

    def _results(self, references: Sequence[Any], seconds: float | None = None) -> list[Any]:
        """What the calls returned; what they raised is raised here."""
        errors = self._ray.exceptions
        try:
            return list(self._ray.get(list(references), timeout=seconds))
        except errors.RayTaskError as error:
            if isinstance(error.cause, Exception) and not isinstance(error.cause, errors.RayError):
                raise error.cause from None
            raise LostWorkerError(_lost(error.cause or error)) from None
        except errors.GetTimeoutError:
            raise NoPlaceError(
                f"Ray found no free worker within {seconds:.0f} s. Give fewer workers, or wait for "
                "other jobs of the cluster."
            ) from None
        except errors.RayError as error:
            raise LostWorkerError(_lost(error)) from None


class RayCrew:
    """Actors of a cluster; each does its calls one after the other.

    Parameters
    ----------
    engine
        The engine that they belong to.
    actors
        Their handles.
    """

    def __init__(self, engine: RayEngine, actors: Sequence[Any]) -> None:
        self._engine, self._actors = engine, actors

    def call(self, member: int, method: str, *given: Any) -> Any:
        """Start a call; a handle among what is given is waited for."""
        return self._actors[member].call.remote(method, *given)

    def wait(self, handles: Sequence[Any]) -> list[Any]:
        """Results of calls."""
        return self._engine._results(handles)

    def check_in(self) -> None:
        """Wait until all actors have their place."""
        try:
            here = [actor.is_here.remote() for actor in self._actors]
            self._engine._results(here, PLACE_SECONDS)
        except BaseException as error:
            self.close()
            if isinstance(error, NoPlaceError) and self._engine.threads < len(self._actors):
                raise LostWorkerError("A machine of the Ray cluster was lost.") from None
            raise

    def close(self) -> None:
        """End the actors."""
        for actor in self._actors:
            self._engine._ray.kill(actor)


class _Member:
    """The actor around an object of a crew."""

    def __init__(self, make: Callable[..., Any], stored: list[Any], own: tuple[Any, ...]) -> None:
        self._object = make(*_import_ray().get(stored[0]), *own)

    def is_here(self) -> bool:
        """The object is made."""
        return True

    def call(self, method: str, *given: Any) -> Any:
        """Call a method of the object."""
        return getattr(self._object, method)(*given)


_LAST: dict[str, Callable[..., Any]] = {}
"""What this worker ran last, so that scratch memory lives longer than a task."""


def _perform(stored: list[Any], task: Any) -> Any:
    """Run the stored work on a task."""
    key = stored[0].hex()
    if key not in _LAST:
        _LAST.clear()
        _LAST[key] = _import_ray().get(stored[0])
    return _LAST[key](task)


def _take_part(config: dict[str, Any]) -> None:
    """What a worker of Ray Train runs."""
    ray = _import_train()
    mailbox = config["mailbox"]
    try:
        work, shared = ray.get(config["given"][0])
        team = RayTeam(ray, mailbox)
        ray.get(mailbox.leave.remote(team.rank, work(team, *shared)))
    except Exception as error:
        ray.get(mailbox.fail.remote(error))
        raise


def _lost(error: object) -> str:
    return f"A worker of the Ray cluster was lost ({type(error).__name__})."


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtraError("The engine 'ray'", "ray") from None
    return ray


def _import_train() -> Any:
    """Return ray with Ray Train for torch."""
    try:
        import_module("ray.train.torch")
    except ImportError:
        raise MissingExtraError("Training on the engine 'ray'", "ray") from None
    return _import_ray()
