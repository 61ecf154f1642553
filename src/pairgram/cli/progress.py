"""Training with a bar on a terminal, and with Ctrl-C between two chunks."""

import inspect
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from pairgram.cli.terminal import Terminal
    from pairgram.engine import Engine
    from pairgram.graph import TextGraph
    from pairgram.models import Model
    from pairgram.training.progress import Progress

logger = logging.getLogger(__name__)

COMPILING = "note: compiling the kernels, once; later runs load them"
STOPPING = b"\nstopping after this chunk; Ctrl-C again stops at once\n"


class StoppedError(Exception):
    """Training ended at Ctrl-C, with the checkpoint written."""

    def __init__(self, turn: int, turns: int) -> None:
        super().__init__(f"after {turn} of {turns} chunks")


def fit_model(
    terminal: "Terminal",
    model: "Model",
    graph: "TextGraph",
    label: str,
    checkpoint: Path | None = None,
    engine: "Engine | None" = None,
) -> None:
    """Fit a model under a bar, on an engine where the method takes one.

    With a checkpoint, Ctrl-C ends the training after the current chunk with `StoppedError`.
    """
    logger.info("%s: %d nodes, %d edges", label, graph.n_nodes, graph.n_edges)
    from pairgram.kernels.notice import when_compiling

    with (
        when_compiling(lambda: terminal.note(COMPILING)),
        training_bar(terminal, label) as report,
        _patient_interrupt(checkpoint) as interrupted,
    ):

        def after_chunk(progress: "Progress", turns: int) -> None:
            report(progress, turns)
            if interrupted():
                raise StoppedError(progress.turn, turns)

        # Methods that train take these; the base class does not promise them.
        fit: Any = model.fit
        given = {"checkpoint": checkpoint, "callback": after_chunk, "engine": engine}
        taken = inspect.signature(fit).parameters
        fit(graph, **{name: value for name, value in given.items() if name in taken})


@contextmanager
def training_bar(terminal: "Terminal", label: str) -> Iterator[Callable[["Progress", int], None]]:
    """Give a function that shows the progress: share done, rate, loss, time left."""
    if not terminal.shows_progress:
        yield lambda progress, turns: None
        return
    with _bar(terminal) as bar:
        task = bar.add_task(label, total=None, facts="")
        began, first = time.monotonic(), None

        def report(progress: "Progress", turns: int) -> None:
            nonlocal first
            if first is None:
                # What an earlier run did is not this run's speed.
                first = progress.turn - 1, progress.updates * (progress.turn - 1) / progress.turn
            elapsed = time.monotonic() - began
            rate = (progress.updates - first[1]) / elapsed
            left = elapsed / (progress.turn - first[0]) * (turns - progress.turn)
            facts = f"{rate:,.0f} pairs/s, loss {progress.loss:.3f}, {left:.0f} s left"
            bar.update(task, completed=progress.turn, total=turns, facts=facts)

        yield report


@contextmanager
def counting_bar(
    terminal: "Terminal", label: str, total: int
) -> Iterator[Callable[[int, int], None]]:
    """Give a function of (nodes done, pairs so far) that moves a bar of `total` nodes."""
    if not terminal.shows_progress:
        yield lambda done, pairs: None
        return
    with _bar(terminal) as bar:
        task = bar.add_task(label, total=total, facts="")
        began = time.monotonic()

        def report(done: int, pairs: int) -> None:
            rate = pairs / max(time.monotonic() - began, 1e-9)
            left = (time.monotonic() - began) * (total - done) / max(done, 1)
            bar.update(task, completed=done, facts=f"{rate:,.0f} pairs/s, {left:.0f} s left")

        yield report


def _bar(terminal: "Terminal") -> "Bar":
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[facts]}", markup=False),
    )
    return Progress(*columns, console=terminal.stderr, transient=True)


@contextmanager
def _patient_interrupt(checkpoint: Path | None) -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C only be remembered where there is a checkpoint to write."""
    asked = False

    def remember(number: int, frame: Any) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # Straight to the file: a handler must not enter a stream that is being written.
        os.write(2, STOPPING)

    if checkpoint is None:
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, remember)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
