"""Training state on disk: written now and then, resumed to the same bits."""

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.errors import PairgramError
from pairgram.io.places import Place
from pairgram.training.progress import Progress

EVERY_SECONDS = 60.0

logger = logging.getLogger(__name__)


class Resumable(Protocol):
    """A progress that can be kept."""

    turn: int

    def counts(self) -> dict[str, Any]:
        """Numbers to keep, as JSON can hold them."""

    def tables(self) -> dict[str, NDArray[Any]]:
        """Arrays to keep."""

    @classmethod
    def restore(cls, tables: Mapping[str, NDArray[Any]], note: Mapping[str, Any]) -> Self:
        """Take up what the two gave."""


State = TypeVar("State", bound=Resumable)


class Checkpoint(Generic[State]):
    """Keeps the progress of one training in a file; removing it is up to the caller.

    Parameters
    ----------
    place
        The file: a path, or a URI such as s3://bucket/name.
    identity
        What must agree for a stored state to be resumed.
    every
        Seconds between writes.
    kind
        Type of the progress.
    """

    def __init__(
        self,
        place: str | Path | Place,
        identity: Mapping[str, Any],
        every: float = EVERY_SECONDS,
        *,
        kind: type[State] = Progress,  # type: ignore[assignment]
    ) -> None:
        self.place, self.every, self.kind = Place(place), every, kind
        self.identity = json.loads(json.dumps(params.plain(identity)))
        self._written = time.monotonic()

    def visit(self, progress: State) -> None:
        """Write the progress if the last write is long ago; call it between turns only."""
        if time.monotonic() - self._written >= self.every:
            with self.forgiving():
                self.write(progress)

    def after_turn(
        self, callback: Callable[[State, int], None] | None
    ) -> Callable[[State, int], None]:
        """Return `callback` with a visit after it, and a write where it raises."""

        def call(progress: State, turns: int) -> None:
            try:
                if callback is not None:
                    callback(progress, turns)
            except BaseException:
                with self.forgiving():
                    self.write(progress)
                raise
            self.visit(progress)

        return call

    @contextmanager
    def forgiving(self) -> Iterator[None]:
        """Context in which a disk without room ends no training: that is said, and tried again."""
        try:
            yield
        except (OSError, PairgramError) as error:
            cause = error if isinstance(error, OSError) else error.__cause__
            if not isinstance(cause, OSError):
                raise
            reason = cause.strerror or cause
            logger.warning("%s: the state of the training is not kept: %s.", self.place, reason)
            self._written = time.monotonic()

    def write(self, progress: State) -> None:
        """Write the progress now."""
        note = {"identity": self.identity, **progress.counts()}
        tables: dict[str, NDArray[Any]] = {
            **progress.tables(),
            "note": np.frombuffer(json.dumps(note).encode(), np.uint8),
        }
        self.place.write_arrays(tables)
        self._written = time.monotonic()

    def read(self) -> State | None:
        """The stored progress of this training, or None; another training's is left alone."""
        tables = self.place.read_arrays()
        if tables is None:
            return None
        note = json.loads(tables["note"].tobytes()) if "note" in tables else {}
        if note.get("identity") != self.identity:
            raise PairgramError(
                f"{self.place}: holds a training with other parameters or data. Finish that one, "
                "or remove the file to start afresh."
            )
        logger.info("resuming from %s after %d turns", self.place, note["turn"])
        return self.kind.restore(tables, note)
