"""Table specs: what a table measures, read from the YAML files in `tables/`.

A file is one table, named after it:

- `kind`: `links` fits models and tests held-out links; `zero_shot` tests held-out nodes; `ratios`
  counts samples; `counts` counts the graphs themselves.
- `title`, `seeds`, `protocols`: a cell is split, fitted and evaluated with its seed, under every
  protocol; published figures are compared under the first. `rank`: of `links`, how many nodes'
  held-out links are ranked too.
- `methods`: name in the table -> its label, or `label` with `model` (the registered method, where
  the name is that of a variant) or `table` (its cells are those of another table). The name
  `floors` scores all floors that need no training.
- `parameters`: method -> parameters in every row; what is left out has the model's default.
- `rows`: NAME@SHARE -> how the graph is cut: `keep` (share of links to train on, 1.0 for the whole
  graph), `hold_out` (share of nodes held out) or `before` (nodes of that date or later are held
  out); `published` (figures of the paper), and where needed `dataset` (default NAME), `seeds`,
  `parameters`, `tuning`, `stands_in_for` (the row whose published figures stand beside it) or
  `missing` (why not run).
- `fewer_seeds`: method -> its seeds, some of every row's; of the table, or of a row. The notes say
  why.
- `reasons`: method -> why cells have no card, of the table or of a row; they still can be run.
- `goals`: `candidate` against `baseline`: largest loss `margin`, `fewer_pairs` times fewer pairs.
- `tuning`: `seeds` and `share` of the validation splits, `seconds` for every row and method,
  `trials`: method -> list of parameters, laid over the row's; as many for every method, or none
  for one that has nothing to tune.
- `notes`: sentences to print below the table.
- `quick`: entries that replace those above in a quick run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from pairgram.errors import InputError

Parameters = Mapping[str, Any]

FLOORS, COUNTS = "floors", "counts"  # methods that train nothing


@dataclass(frozen=True)
class Goals:
    """What the candidate is to reach beside the baseline."""

    candidate: str
    baseline: str
    margin: float
    fewer_pairs: float


@dataclass(frozen=True)
class Tuning:
    """The budget of a search: the same for every method."""

    seeds: tuple[int, ...]
    share: float
    seconds: float
    trials: Mapping[str, tuple[Parameters, ...]]


@dataclass(frozen=True)
class Method:
    """A line of a table: its label, the registered method behind it, whose cells it shows."""

    label: str
    model: str
    table: str | None = None

    @property
    def absent(self) -> str | None:
        """Why it cannot run, or None."""
        from pairgram.models import METHODS

        if self.model in METHODS or self.model in (FLOORS, COUNTS):
            return None
        return f"pairgram has no method '{self.model}' yet"


@dataclass(frozen=True)
class Row:
    """A dataset and how it is cut, with all that a cell of it needs."""

    name: str
    dataset: str
    keep: float | None
    published: Mapping[str, Any]
    parameters: Mapping[str, Parameters]
    seeds: tuple[int, ...] = (0,)
    fewer_seeds: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    hold_out: float | None = None
    before: str | None = None
    tuning: Tuning | None = None
    stands_in_for: str | None = None
    missing: str | None = None

    def seeds_of(self, method: str) -> tuple[int, ...]:
        """Seeds of a method's cells."""
        chosen = self.fewer_seeds.get(method)
        return self.seeds if chosen is None else tuple(s for s in self.seeds if s in chosen)


@dataclass(frozen=True)
class Table:
    """One table: rows times methods times seeds."""

    name: str
    kind: str
    title: str
    seeds: tuple[int, ...]
    protocols: tuple[str, ...]
    methods: Mapping[str, Method]
    rows: Mapping[str, Row] = field(default_factory=dict)
    goals: Goals | None = None
    notes: tuple[str, ...] = ()
    rank: int = 0

    def home(self, method: str) -> str:
        """Name of the table that holds the cards of a method."""
        return self.methods[method].table or self.name


def table_names() -> tuple[str, ...]:
    """Names of all tables.

    >>> table_names()[:3]
    ('cane_protocol', 'datasets', 'link_prediction')
    """
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def load_table(name: str, quick: bool = False) -> Table:
    """Read and check one table.

    Parameters
    ----------
    name
        One of `table_names()`.
    quick
        Take the small generated graphs instead of the datasets.
    """
    if name not in table_names():
        raise InputError(f"There is no table {name!r}; known are {', '.join(table_names())}.")
    return read_table(_folder() / f"{name}.yaml", quick)


def read_table(path: Path, quick: bool = False) -> Table:
    """Read and check the table of a file."""
    from pairgram.bench.spec_reader import SpecReader, parse

    raw = parse(path)
    small = raw.pop("quick", {})
    return SpecReader(path).table(raw | small if quick else raw)


def _folder() -> Path:
    return Path(str(resources.files("pairgram.bench"))) / "tables"
