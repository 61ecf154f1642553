"""Checkpoints that workers write together: each the rows that it owns, the first the rest."""

import json
import logging
import time
from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray

from pairgram import params
from pairgram.errors import PairgramError
from pairgram.io.places import Place
from pairgram.training.group import Group
from pairgram.training.text_rows import SEEN, TABLES
from pairgram.training.text_state import TextProgress

logger = logging.getLogger(__name__)


class Shards:
    """Training state in files beside a place: ``.latest`` names the turn whose files count.

    Files of a turn are all written before ``.latest`` says so, and those of the turn before it are
    removed afterwards: whenever a worker dies, one whole state is there.

    Parameters
    ----------
    place
        A path or URI that all workers see.
    identity
        What must agree for a stored state to be resumed, the number of workers among it.
    every
        Seconds between writes.
    """

    def __init__(self, place: Place, identity: Mapping[str, Any], every: float) -> None:
        self.place, self.every = place, every
        self.identity = json.loads(json.dumps(params.plain(identity)))
        self._written = time.monotonic()

    @property
    def is_due(self) -> bool:
        """Whether the last write is long ago."""
        return time.monotonic() - self._written >= self.every

    def note(self) -> dict[str, Any] | None:
        """What ``.latest`` says of this training, or None; another's is left alone."""
        data = self.place.beside("latest").read()
        if data is None:
            return None
        note: dict[str, Any] = json.loads(data)
        if note.get("identity") != self.identity:
            raise PairgramError(
                f"{self.place}: holds a training with other parameters, data or number of workers. "
                "Finish that one, or remove its files to start afresh."
            )
        return note

    def write(self, state: TextProgress, group: Group, device: torch.device) -> None:
        """Write the state of all workers now."""
        before = self.note() if group.rank == 0 else None
        tables = state.tables()
        if group.rank > 0:
            tables = {name: array for name, array in tables.items() if of_rows(name)}
        self._file(state.turn, group.rank).write_arrays(tables)
        group.sum(torch.zeros(1, device=device))  # all have written
        if group.rank == 0:
            note = {"identity": self.identity, "size": group.size, **state.counts()}
            self.place.beside("latest").write(json.dumps(note).encode())
            if before is not None and before["turn"] != state.turn:
                for rank in range(group.size):
                    self._file(before["turn"], rank).remove()
        self._written = time.monotonic()

    def read(self, group: Group) -> TextProgress | None:
        """The stored state of this worker, or None."""
        note = self.note()
        if note is None:
            return None
        tables = self._arrays(note["turn"], 0)
        if group.rank > 0:
            shared = {name: array for name, array in tables.items() if not of_rows(name)}
            tables = {**shared, **self._arrays(note["turn"], group.rank)}
        logger.info("resuming from %s after %d turns", self.place, note["turn"])
        return TextProgress.restore(tables, note)

    def _arrays(self, turn: int, rank: int) -> dict[str, NDArray[Any]]:
        file = self._file(turn, rank)
        arrays = file.read_arrays()
        if arrays is None:
            raise PairgramError(f"{file}: is missing; remove the other files to start afresh.")
        return arrays

    def _file(self, turn: int, rank: int) -> Place:
        return self.place.beside(f"{turn:09d}-{rank:04d}")


def of_rows(name: str) -> bool:
    """Whether an array of a state is of rows that one worker owns.

    >>> of_rows("optimizer/table.weight|squares"), of_rows("best/encoder.words.weight")
    (True, False)
    """
    return name.split("/", 1)[-1].split("|", 1)[0] in (*TABLES, *SEEN)
