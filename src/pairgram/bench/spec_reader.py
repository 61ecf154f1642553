"""From parsed YAML to a table; every complaint names the file and the entry."""

from pathlib import Path
from typing import Any, NoReturn

from pairgram.bench.spec import Goals, Method, Parameters, Row, Table, Tuning
from pairgram.errors import FileFormatError

KINDS = ("links", "zero_shot", "ratios", "counts")
# Kind -> the entries of which a row has one: how its graph is cut.
CUTS = {"zero_shot": {"hold_out", "before"}}
_TABLE_KEYS = {
    "kind", "title", "seeds", "protocols", "rank", "methods", "parameters", "rows", "goals",
    "tuning", "notes", "fewer_seeds", "reasons",
}  # fmt: skip
_ROW_KEYS = {
    "dataset", "keep", "hold_out", "before", "published", "seeds", "parameters", "tuning",
    "stands_in_for", "missing", "fewer_seeds", "reasons",
}  # fmt: skip
_METHOD_KEYS = {"label", "model", "table"}
_GOAL_KEYS = {"candidate", "baseline", "margin", "fewer_pairs"}
_TUNING_KEYS = {"seeds", "share", "seconds", "trials"}


def parse(path: Path) -> dict[str, Any]:
    """Read the YAML of a file."""
    import yaml

    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise FileFormatError(path, f"not YAML: {error.problem}.", line) from None
    if not isinstance(raw, dict):
        raise FileFormatError(path, "a table is a mapping with the entries kind, title, rows, …")
    return raw


class SpecReader:
    """Checks one file, entry by entry.

    Parameters
    ----------
    path
        The file, for complaints and the table's name.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def table(self, raw: dict[str, Any]) -> Table:
        """Check parsed YAML and make the table of it."""
        self._keys("the table", raw, _TABLE_KEYS, needed={"kind", "title", "methods", "rows"})
        if raw["kind"] not in KINDS:
            self._refuse(f"kind must be one of {', '.join(KINDS)}. Got {raw['kind']!r}.")
        table = Table(
            name=self.path.stem,
            kind=raw["kind"],
            title=raw["title"],
            seeds=tuple(raw.get("seeds", (0,))),
            protocols=tuple(raw.get("protocols", ())),
            methods={name: self._method(name, entry) for name, entry in raw["methods"].items()},
            rows={name: self._row(name, entry, raw) for name, entry in raw["rows"].items()},
            goals=self._goals(raw),
            notes=tuple(raw.get("notes", ())),
            rank=int(raw.get("rank", 0)),
        )
        self._check_seeds(table)
        return table

    def _method(self, name: str, entry: Any) -> Method:
        if isinstance(entry, str):
            return Method(entry, name)
        self._keys(f"method {name}", entry, _METHOD_KEYS, needed={"label"})
        return Method(entry["label"], entry.get("model", name), entry.get("table"))

    def _row(self, name: str, raw: dict[str, Any], table: dict[str, Any]) -> Row:
        owner = f"row {name}"
        self._keys(owner, raw, _ROW_KEYS, needed=set())
        self._check_cut(owner, raw, table["kind"])
        stands_in_for = raw.get("stands_in_for")
        if stands_in_for is not None and stands_in_for not in table["rows"]:
            self._refuse(f"{owner} stands in for {stands_in_for!r}, which is no row.")
        origin = raw if stands_in_for is None else table["rows"][stands_in_for]
        return Row(
            name=name,
            dataset=raw.get("dataset", name.partition("@")[0]),
            keep=raw.get("keep"),
            published=origin.get("published", {}),
            parameters=self._parameters(owner, raw, table),
            seeds=tuple(raw.get("seeds", table.get("seeds", (0,)))),
            fewer_seeds=self._fewer_seeds(owner, raw, table),
            reasons=self._of_methods(owner, "reasons", raw, table),
            hold_out=raw.get("hold_out"),
            before=None if raw.get("before") is None else str(raw["before"]),
            tuning=self._tuning(owner, raw, table),
            stands_in_for=stands_in_for,
            missing=raw.get("missing"),
        )

    def _check_cut(self, owner: str, raw: dict[str, Any], kind: str) -> None:
        wanted = CUTS.get(kind, {"keep"})
        given = wanted & set(raw)
        if "missing" not in raw and kind != "counts" and len(given) != 1:
            self._refuse(f"{owner} lacks {' or '.join(sorted(wanted))}.")

    def _parameters(
        self, owner: str, raw: dict[str, Any], table: dict[str, Any]
    ) -> dict[str, Parameters]:
        self._of_methods(owner, "parameters", raw, table)
        shared, own = table.get("parameters", {}), raw.get("parameters", {})
        return {m: {**shared.get(m, {}), **own.get(m, {})} for m in table["methods"]}

    def _fewer_seeds(
        self, owner: str, raw: dict[str, Any], table: dict[str, Any]
    ) -> dict[str, tuple[int, ...]]:
        chosen = self._of_methods(owner, "fewer_seeds", raw, table)
        seeds = set(raw.get("seeds", table.get("seeds", (0,))))
        for method, listed in chosen.items():
            if "missing" not in raw and not seeds & set(listed):
                self._refuse(f"{owner} has none of the seeds {list(listed)} of {method}.")
        return {method: tuple(listed) for method, listed in chosen.items()}

    def _of_methods(
        self, owner: str, key: str, raw: dict[str, Any], table: dict[str, Any]
    ) -> dict[str, Any]:
        """Entries by method, the row's laid over the table's."""
        chosen = {**table.get(key, {}), **raw.get(key, {})}
        for method in chosen:
            if method not in table["methods"]:
                self._refuse(f"{owner} has {key} of {method!r}, which is no method here.")
        return chosen

    def _tuning(self, owner: str, raw: dict[str, Any], table: dict[str, Any]) -> Tuning | None:
        shared, own = table.get("tuning", {}), raw.get("tuning", {})
        entries = {**shared, **own}
        if not entries or raw.get("tuning") == {}:  # an empty entry: not tuned
            return None
        entries["trials"] = {**shared.get("trials", {}), **own.get("trials", {})}
        self._keys(f"tuning of {owner}", entries, _TUNING_KEYS, needed=_TUNING_KEYS)
        trials = {method: tuple(listed) for method, listed in entries["trials"].items()}
        sizes = {len(listed) for listed in trials.values() if listed}
        if set(trials) != set(table["methods"]) or len(sizes) != 1:
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
            shared = set(row.seeds) & set(row.tuning.seeds if row.tuning else ())
            if shared:
                self._refuse(f"row {row.name} is tuned on seeds of the table: {sorted(shared)}.")

    def _keys(self, owner: str, entries: Any, known: set[str], needed: set[str]) -> None:
        if not isinstance(entries, dict):
            self._refuse(f"{owner} must be a mapping. Got {entries!r}.")
        if odd := set(entries) - known:
            self._refuse(f"{owner} has unknown entries: {', '.join(sorted(odd))}.")
        if missing := needed - set(entries):
            self._refuse(f"{owner} lacks {', '.join(sorted(missing))}.")

    def _refuse(self, message: str) -> NoReturn:
        raise FileFormatError(self.path, message)
