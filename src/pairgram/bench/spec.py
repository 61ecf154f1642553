"""Table specs: what a table measures, read from the YAML files in `tables/`.

A file is one table, named after it:

- `kind`: `links` fits and evaluates models; `ratios` counts samples.
- `title`, `seeds`, `protocols`: a cell is split, fitted and evaluated with its seed, under every
  protocol.
- `methods`: method -> label in the table.
- `parameters`: method -> parameters in every row; what is left out has the model's default.
- `rows`: NAME@PERCENT -> `keep` (share of links to train on, 1.0 for the whole graph), `published`
  (figures of the paper), and where needed `dataset` (default NAME), `parameters`, `tuning`,
  `stands_in_for` (the row whose published figures stand beside it) or `missing` (why not run).
- `goals`: `candidate` against `baseline`: largest loss `margin`, `fewer_pairs` times fewer pairs.
- `tuning`: `seeds` and `share` of the validation splits, `seconds` for every row and method,
  `trials`: method -> list of parameters, laid over the row's; as many for every method.
- `notes`: sentences to print below the table.
- `quick`: entries that replace those above in a quick run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from pairgram.errors import FileFormatError, InputError

Parameters = Mapping[str, Any]

KINDS = ("links", "ratios")
_TABLE_KEYS = {
    "kind", "title", "seeds", "protocols", "methods", "parameters", "rows", "goals", "tuning",
    "notes",
}  # fmt: skip
_ROW_KEYS = {"dataset", "keep", "published", "parameters", "tuning", "stands_in_for", "missing"}
_GOAL_KEYS = {"candidate", "baseline", "margin", "fewer_pairs"}
_TUNING_KEYS = {"seeds", "share", "seconds", "trials"}


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
class Row:
    """A dataset at a share of its links, with all that a cell of it needs."""

    name: str
    dataset: str
    keep: float
    published: Mapping[str, Any]
    parameters: Mapping[str, Parameters]
    tuning: Tuning | None = None
    stands_in_for: str | None = None
    missing: str | None = None


@dataclass(frozen=True)
class Table:
    """One table: rows times methods times seeds."""

    name: str
    kind: str
    title: str
    seeds: tuple[int, ...]
    protocols: tuple[str, ...]
    methods: Mapping[str, str]
    rows: Mapping[str, Row] = field(default_factory=dict)
    goals: Goals | None = None
    notes: tuple[str, ...] = ()


def table_names() -> tuple[str, ...]:
    """Names of all tables.

    >>> table_names()
    ('link_prediction', 'ratios', 'rw_vs_ps', 'text_driven')
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
    raw = _parse(path)
    small = raw.pop("quick", {})
    return _Reader(path).table(raw | small if quick else raw)


def _folder() -> Path:
    return Path(str(resources.files("pairgram.bench"))) / "tables"


def _parse(path: Path) -> dict[str, Any]:
    import yaml

    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise FileFormatError(path, f"not YAML: {error.problem}.", line) from None
    if not isinstance(raw, dict):
        raise FileFormatError(path, "a table is a mapping with the entries kind, title, rows, …")
    return raw


class _Reader:
    """Turns parsed YAML into a Table; every complaint names the file and the entry."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def table(self, raw: dict[str, Any]) -> Table:
        self._keys("the table", raw, _TABLE_KEYS, needed={"kind", "title", "methods", "rows"})
        if raw["kind"] not in KINDS:
            self._refuse(f"kind must be one of {', '.join(KINDS)}. Got {raw['kind']!r}.")
        table = Table(
            name=self.path.stem,
            kind=raw["kind"],
            title=raw["title"],
            seeds=tuple(raw.get("seeds", (0,))),
            protocols=tuple(raw.get("protocols", ())),
            methods=raw["methods"],
            rows={name: self._row(name, entry, raw) for name, entry in raw["rows"].items()},
            goals=self._goals(raw),
            notes=tuple(raw.get("notes", ())),
        )
        self._check_seeds(table)
        return table

    def _row(self, name: str, raw: dict[str, Any], table: dict[str, Any]) -> Row:
        owner = f"row {name}"
        self._keys(owner, raw, _ROW_KEYS, needed=set() if "missing" in raw else {"keep"})
        stands_in_for = raw.get("stands_in_for")
        if stands_in_for is not None and stands_in_for not in table["rows"]:
            self._refuse(f"{owner} stands in for {stands_in_for!r}, which is no row.")
        origin = raw if stands_in_for is None else table["rows"][stands_in_for]
        return Row(
            name=name,
            dataset=raw.get("dataset", name.partition("@")[0]),
            keep=float(raw.get("keep", 0.0)),
            published=origin.get("published", {}),
            parameters=self._parameters(owner, raw, table),
            tuning=self._tuning(owner, raw, table),
            stands_in_for=stands_in_for,
            missing=raw.get("missing"),
        )

    def _parameters(
        self, owner: str, raw: dict[str, Any], table: dict[str, Any]
    ) -> dict[str, Parameters]:
        shared, own = table.get("parameters", {}), raw.get("parameters", {})
        for method in {**shared, **own}:
            if method not in table["methods"]:
                self._refuse(f"{owner} has parameters of {method!r}, which is no method here.")
        return {m: {**shared.get(m, {}), **own.get(m, {})} for m in table["methods"]}

    def _tuning(self, owner: str, raw: dict[str, Any], table: dict[str, Any]) -> Tuning | None:
        shared, own = table.get("tuning", {}), raw.get("tuning", {})
        entries = {**shared, **own}
        if not entries or raw.get("tuning") == {}:  # an empty entry: not tuned
            return None
        entries["trials"] = {**shared.get("trials", {}), **own.get("trials", {})}
        self._keys(f"tuning of {owner}", entries, _TUNING_KEYS, needed=_TUNING_KEYS)
        trials = {method: tuple(listed) for method, listed in entries["trials"].items()}
        if set(trials) != set(table["methods"]) or len({len(t) for t in trials.values()}) != 1:
            found = ", ".join(f"{method} {len(listed)}" for method, listed in trials.items())
            self._refuse(f"tuning of {owner} must give every method as many trials. Got {found}.")
        return Tuning(
            seeds=tuple(entries["seeds"]),
            share=float(entries["share"]),
            seconds=float(entries["seconds"]),
            trials=trials,
        )

    def _goals(self, raw: dict[str, Any]) -> Goals | None:
        if "goals" not in raw:
            return None
        self._keys("goals", raw["goals"], _GOAL_KEYS, needed=_GOAL_KEYS)
        return Goals(**raw["goals"])

    def _check_seeds(self, table: Table) -> None:
        for row in table.rows.values():
            shared = set(table.seeds) & set(row.tuning.seeds if row.tuning else ())
            if shared:
                self._refuse(f"row {row.name} is tuned on seeds of the table: {sorted(shared)}.")

    def _keys(self, owner: str, entries: Any, known: set[str], needed: set[str]) -> None:
        if not isinstance(entries, dict):
            self._refuse(f"{owner} must be a mapping. Got {entries!r}.")
        if odd := set(entries) - known:
            self._refuse(f"{owner} has unknown entries: {', '.join(sorted(odd))}.")
        if missing := needed - set(entries):
            self._refuse(f"{owner} lacks {', '.join(sorted(missing))}.")

    def _refuse(self, message: str) -> None:
        raise FileFormatError(self.path, message)
