"""What is measured (speed.yaml) and with whom (a folder a peer): read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pairgram.errors import FileFormatError

Settings = dict[str, Any]

CURRENT = "current"
SPEC, PEER, RUNNER = "speed.yaml", "peer.yaml", "runner.py"
REQUIREMENTS = "requirements.txt"


@dataclass(frozen=True)
class Peer:
    """A tool and how to call it.

    Attributes
    ----------
    folder
        Holds peer.yaml, requirements.txt and runner.py; its name is the peer's key.
    title, about
        What the pages call it, and what it does.
    python
        Versions it runs on, best first; `("current",)` for the interpreter of pairgram itself.
    build
        Packages installed after the requirements, without a build environment of their own.
    rates
        Figure -> label -> settings.
    base, ladder
        Settings of a whole job, and what is laid over them rung by rung, cheapest first.
    """

    folder: Path
    title: str
    about: str
    python: tuple[str, ...]
    build: tuple[str, ...]
    rates: dict[str, dict[str, Settings]]
    base: Settings
    ladder: tuple[Settings, ...]

    @property
    def name(self) -> str:
        """Key of the peer."""
        return self.folder.name


@dataclass(frozen=True)
class Rate:
    """A figure that is a count over the seconds of a phase.

    Attributes
    ----------
    settings
        Laid over the common ones.
    graphs
        Graph -> `threads` to run with, and `settings` that are laid over the peer's.
    """

    name: str
    count: str
    phase: str
    settings: Settings
    graphs: dict[str, Settings]

    def threads(self, graph: str) -> tuple[int, ...]:
        """Thread counts that a graph is run with."""
        return tuple(self.graphs[graph]["threads"])

    def over(self, graph: str) -> Settings:
        """Settings that a graph has of its own."""
        return dict(self.graphs[graph].get("settings", {}))


@dataclass(frozen=True)
class Quality:
    """The climb to the reference's AUC_pair."""

    graphs: tuple[str, ...]
    seeds: tuple[int, ...]
    threads: int
    rules: tuple[str, ...]
    margin: float
    reference_peer: str
    reference_settings: Settings
    reference_seeds: dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Spec:
    """All of speed.yaml."""

    folder: Path
    common: Settings
    runs: int
    graphs: dict[str, Settings]
    rates: dict[str, Rate]
    quality: Quality
    limits: dict[str, float]

    def limit(self, graph: str) -> float:
        """Processor seconds that a run may take."""
        return float(self.limits.get(graph, self.limits["seconds"]))


def read_spec(folder: Path) -> Spec:
    """Read speed.yaml of a folder of peers."""
    path = folder / SPEC
    found = _mapping(path)
    try:
        return Spec(
            folder=folder,
            common=dict(found["common"]),
            runs=int(found["runs"]),
            graphs={name: dict(given) for name, given in found["graphs"].items()},
            rates={name: _rate(name, given) for name, given in found["rates"].items()},
            quality=_quality(found["quality"]),
            limits=dict(found["limits"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FileFormatError(path, f"cannot be understood: {error!r}.") from None


def read_peers(folder: Path) -> dict[str, Peer]:
    """Read every peer of a folder, by name; a peer is a folder with a peer.yaml."""
    return {path.parent.name: _peer(path) for path in sorted(folder.glob(f"*/{PEER}"))}


def label_of(settings: Mapping[str, Any]) -> str:
    """Write settings in one line: the name of a rung.

    >>> label_of({"model": "ps", "parameters": {"times": 2}, "seconds": 1.50})
    'model ps, times 2, seconds 1.5'
    """
    flat = [
        entry
        for name, value in settings.items()
        for entry in (value.items() if isinstance(value, Mapping) else [(name, value)])
    ]
    return ", ".join(f"{name} {value:g}" if _number(value) else f"{name} {value}"
                     for name, value in flat) or "defaults"  # fmt: skip


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _peer(path: Path) -> Peer:
    found = _mapping(path)
    reserved = {"title", "about", "python", "build", "base", "ladder"}
    try:
        python = found["python"]
        return Peer(
            folder=path.parent,
            title=str(found["title"]),
            about=str(found["about"]),
            python=(python,) if isinstance(python, str) else tuple(python),
            build=tuple(found.get("build", ())),
            rates={
                figure: {label: dict(given) for label, given in labels.items()}
                for figure, labels in found.items()
                if figure not in reserved
            },
            base=dict(found.get("base", {})),
            ladder=tuple(map(dict, found.get("ladder", ()))),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FileFormatError(path, f"cannot be understood: {error!r}.") from None


def _rate(name: str, given: Settings) -> Rate:
    graphs = {graph: dict(own) for graph, own in given["graphs"].items()}
    return Rate(name, given["count"], given["phase"], dict(given.get("settings", {})), graphs)


def _quality(given: Settings) -> Quality:
    reference = given["reference"]
    seeds = {graph: tuple(reference["seeds"]) for graph in given["graphs"]}
    seeds |= {graph: tuple(own) for graph, own in reference.get("seeds_of", {}).items()}
    return Quality(
        graphs=tuple(given["graphs"]),
        seeds=tuple(given["seeds"]),
        threads=int(given["threads"]),
        rules=tuple(given["rules"]),
        margin=float(given["margin"]),
        reference_peer=reference["peer"],
        reference_settings=dict(reference["settings"]),
        reference_seeds=seeds,
    )


def _mapping(path: Path) -> Settings:
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileFormatError(path, f"cannot be read ({error.strerror}).") from None
    except yaml.YAMLError as error:
        raise FileFormatError(path, f"not YAML: {error}.") from None
    if not isinstance(found, dict):
        raise FileFormatError(path, "expected names and values at the top level.")
    return found
