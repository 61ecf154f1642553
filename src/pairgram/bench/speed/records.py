"""Files of the speed bench: one a figure, graph and peer; every run is an entry of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairgram.bench.speed.spec import Peer, Settings
from pairgram.bench.store import read_record, write_record
from pairgram.evaluation import card as cards

Run = dict[str, Any]

QUALITY, REFERENCE = "quality", "reference"
SHUFFLED = "shuffled"
"""Says of a run that its edge list had nodes and lines in random order."""
HOST = "host"
"""Processor that a run was made on: seconds of two are not compared."""


@dataclass(frozen=True)
class SpeedStore:
    """Paths below the folder of results.

    Attributes
    ----------
    root
        The folder; pages and figures are written right into it, records into `speed/`.
    """

    root: Path

    def path(self, figure: str, graph: str, peer: str) -> Path:
        """File of the runs of a figure, graph and peer."""
        return self.root / "speed" / figure / graph / f"{peer}.json"

    def runs(self, figure: str, graph: str, peer: str) -> list[Run]:
        """Return the runs so far, each with its host; one key may be there for several hosts."""
        record = read_record(self.path(figure, graph, peer))
        return [] if record is None else hosted(record)

    def add(self, figure: str, graph: str, peer: Peer, run: Run) -> None:
        """Write one more run; one of the same key and host is replaced."""
        own = key_of(run), run.get(HOST, cards.machine()["cpu"])
        kept = [
            old for old in self.runs(figure, graph, peer.name) if (key_of(old), old[HOST]) != own
        ]
        self.keep(figure, graph, peer, [*kept, run])

    def keep(self, figure: str, graph: str, peer: Peer, runs: list[Run]) -> None:
        """Write the runs of a file, in place of those there."""
        record = {
            "figure": figure,
            "graph": graph,
            "peer": peer.name,
            "title": peer.title,
            "machine": cards.machine(),
            "runs": runs,
        }
        write_record(self.path(figure, graph, peer.name), record)


def hosted(record: dict[str, Any]) -> list[Run]:
    """Runs of a record, each with its host.

    >>> hosted({"machine": {"cpu": "A"}, "runs": [{"seed": 0}, {"seed": 1, "host": "B"}]})
    [{'host': 'A', 'seed': 0}, {'host': 'B', 'seed': 1}]
    """
    return [{HOST: record["machine"]["cpu"], **run} for run in record["runs"]]


def key_of(run: Run) -> tuple[str, int, int]:
    """What tells the runs of a file apart: label, threads, seed."""
    return run["label"], run["threads"], run["seed"]


def latest(runs: Sequence[Run]) -> list[Run]:
    """The last run of every key, whatever its host.

    >>> first = {"label": "a", "threads": 2, "seed": 0, "host": "A"}
    >>> latest([first, first | {"host": "B"}])
    [{'label': 'a', 'threads': 2, 'seed': 0, 'host': 'B'}]
    """
    return list({key_of(run): run for run in runs}.values())


def on_host(runs: Sequence[Run], host: str | None) -> list[Run]:
    """Runs of a host; where it has none the latest of every key."""
    return [run for run in runs if run[HOST] == host] or latest(runs)


def is_done(runs: list[Run], label: str, settings: Settings, threads: int, seed: int) -> bool:
    """Whether a run of the same key and settings is there; an error counts as one."""
    return any(
        key_of(run) == (label, threads, seed) and run["settings"] == settings for run in runs
    )
