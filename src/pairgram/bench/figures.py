"""Figures of a table, gathered from its cards: means over seeds, best rules, what is missing."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from pairgram.bench.build import UNTRAINED, completed
from pairgram.bench.spec import Row, Table
from pairgram.bench.store import Store, read_record

Card = dict[str, Any]

NOT_RUN = "not run yet"
PAIR = "auc_pair/"


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over seeds; a lone seed has no deviation."""

    mean: float
    sd: float | None
    seeds: int

    def __str__(self) -> str:
        return f"{self.mean:.4f}" + ("" if self.sd is None else f" ± {self.sd:.4f}")

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the mean, by Student's t; None for a lone seed."""
        if self.sd is None:
            return None
        from scipy.stats import t

        half = float(t.ppf(0.975, self.seeds - 1)) * self.sd / self.seeds**0.5
        return self.mean - half, self.mean + half


@dataclass(frozen=True)
class Line:
    """The cards of one method on one row, by seed."""

    row: Row
    method: str
    label: str
    cards: dict[int, Card]
    model: str = ""

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds that it is to have."""
        return self.row.seeds_of(self.method)

    def over(self, take: Callable[[Card], float | None]) -> Spread | None:
        """Spread of a figure over the cards that have it; None where none has."""
        return spread(take(card) for card in self.cards.values())

    def metric(self, protocol: str, key: str) -> Spread | None:
        """Spread of a metric under a protocol."""
        return self.over(lambda card: card["protocols"][protocol]["metrics"].get(key))

    def floor(self, protocol: str, name: str = "degree", key: str = "auc_pair") -> Spread | None:
        """Spread of a floor's metric under a protocol."""
        return self.over(lambda card: card["protocols"][protocol]["floors"].get(name, {}).get(key))

    def rules(self, protocol: str) -> dict[str, Spread]:
        """AUC_pair under every rule that all cards have, `dot` first."""
        listed = [
            {key for key in card["protocols"][protocol]["metrics"] if key.startswith(PAIR)}
            for card in self.cards.values()
        ]
        shared = sorted(set.intersection(*listed)) if listed else []
        names = sorted((key.removeprefix(PAIR) for key in shared), key=lambda rule: rule != "dot")
        found = {rule: self.metric(protocol, PAIR + rule) for rule in names}
        return {rule: value for rule, value in found.items() if value is not None}

    def best_rule(self, protocol: str) -> tuple[str, Spread] | None:
        """AUC_pair under the rule that the method names as its own: the best on validation."""
        rules = self.rules(protocol)
        own = {card["protocols"][protocol]["rule"] for card in self.cards.values()} & rules.keys()
        return (rule := min(own), rules[rule]) if own else None

    def floor_names(self, protocol: str) -> list[str]:
        """Floors that any card has, in order."""
        blocks = [card["protocols"][protocol] for card in self.cards.values()]
        return list(dict.fromkeys(name for block in blocks for name in block["floors"]))

    def at(self, seeds: Iterable[int]) -> "Line":
        """Return the same line with the cards of some seeds only."""
        kept = {seed: self.cards[seed] for seed in seeds if seed in self.cards}
        return Line(self.row, self.method, self.label, kept, self.model)

    @property
    def variants(self) -> int:
        """Number of different settings among the cards; more than one is no fair mean."""
        return len({str(sorted(self._settings(card).items())) for card in self.cards.values()})

    def _settings(self, card: Card) -> Card:
        """What was trained; a parameter that is younger than the card counts with its default."""
        given = completed(self.model, card["parameters"])
        return {k: v for k, v in given.items() if k not in ("seed", *UNTRAINED)}


def spread(values: Iterable[float | None]) -> Spread | None:
    """Mean and sample standard deviation of the numbers among the values.

    >>> str(spread([0.5, None, 0.7]))
    '0.6000 ± 0.1414'
    """
    numbers = [value for value in values if value is not None]
    if not numbers:
        return None
    return Spread(fmean(numbers), stdev(numbers) if len(numbers) > 1 else None, len(numbers))


def lines_of(table: Table, store: Store) -> dict[tuple[str, str], Line]:
    """Every line of a table by (row, method), also those without a card."""
    return {
        (row.name, name): Line(
            row, name, method.label, _cards(table, row, name, store), method.model
        )
        for row in table.rows.values()
        for name, method in table.methods.items()
    }


def missing_cells(table: Table, store: Store) -> dict[tuple[str, str], dict[str, list[int]]]:
    """(row, reason) -> method -> seeds without a card."""
    found: dict[tuple[str, str], dict[str, list[int]]] = {}
    for (name, method), line in lines_of(table, store).items():
        absent = line.row.missing or table.methods[method].absent
        for seed in line.seeds:
            if seed not in line.cards:
                reason = absent or _failure(table, line.row, method, seed, store)
                found.setdefault((name, reason), {}).setdefault(method, []).append(seed)
    return found


def _cards(table: Table, row: Row, method: str, store: Store) -> dict[int, Card]:
    if row.missing is not None:
        return {}
    home = table.home(method)
    seeds = row.seeds_of(method)
    read = {seed: read_record(store.card(home, row.name, method, seed)) for seed in seeds}
    return {seed: card for seed, card in read.items() if card is not None}


def _failure(table: Table, row: Row, method: str, seed: int, store: Store) -> str:
    record = read_record(store.failure(table.home(method), row.name, method, seed))
    if record is None:
        return row.reasons.get(method, NOT_RUN)
    return f"failed: {record['reason']}"
