"""Training state on disk: written now and then, resumed to the same bits."""

import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.errors import PairgramError
from pairgram.io.atomic import replacing_file
from pairgram.io.tensors import map_tensors, write_tensors
from pairgram.training.sgns import Progress

EVERY_SECONDS = 60.0
COUNTS = ("turn", "pairs", "updates", "loss", "seconds")

logger = logging.getLogger(__name__)


class Checkpoint:
    """Keeps the progress of one training in a file; removing it is up to the caller.

    Parameters
    ----------
    path
        The file.
    identity
        What must agree for a stored state to be resumed.
    every
        Seconds between writes.
    """

    def __init__(
        self, path: Path, identity: Mapping[str, Any], every: float = EVERY_SECONDS
    ) -> None:
        self.path, self.every = path, every
        self.identity = json.loads(json.dumps(params.plain(identity)))
        self._written = time.monotonic()

    def visit(self, progress: Progress) -> None:
        """Write the progress if the last write is long ago; call it between turns only."""
        if time.monotonic() - self._written >= self.every:
            self.write(progress)

    def write(self, progress: Progress) -> None:
        """Write the progress now."""
        note = {"identity": self.identity, **{name: getattr(progress, name) for name in COUNTS}}
        tables: dict[str, NDArray[Any]] = {
            "center": progress.center,
            "note": np.frombuffer(json.dumps(note).encode(), np.uint8),
        }
        if progress.context is not progress.center:
            tables["context"] = progress.context
        with replacing_file(self.path) as file:
            write_tensors(file, tables)
        self._written = time.monotonic()

    def read(self) -> Progress | None:
        """The stored progress of this training, or None; another training's is left alone."""
        if not self.path.exists():
            return None
        tables = map_tensors(self.path)
        note = json.loads(tables["note"].tobytes()) if "note" in tables else {}
        if note.get("identity") != self.identity:
            raise PairgramError(
                f"{self.path}: holds a training with other parameters or data. Finish that one, or "
                "remove the file to start afresh."
            )
        center = np.array(tables["center"])
        context = np.array(tables["context"]) if "context" in tables else center
        logger.info("resuming from %s after %d turns", self.path, note["turn"])
        return Progress(center, context, **{name: note[name] for name in COUNTS})
