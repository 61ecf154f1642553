"""Goals of a table of links, in words: met or not, and by how much."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pairgram.bench.figures import Line, Spread
from pairgram.bench.spec import Goals, Row, Table

Lines = Mapping[tuple[str, str], Line]


@dataclass(frozen=True)
class Verdict:
    """Whether a goal is met on a row, and the figures behind it."""

    goal: str
    row: str
    met: bool
    words: str

    def __str__(self) -> str:
        return f"{self.goal}: {'yes' if self.met else 'no'}; {self.words}."


def verdicts(table: Table, lines: Lines, row: Row) -> Iterator[Verdict]:
    """Every goal that the cards of a row allow to judge."""
    of_row = {method: lines[row.name, method] for method in table.methods}
    if table.goals is not None:
        for protocol in table.protocols:
            yield from _quality(table.goals, of_row, protocol)
        yield from _pairs(table.goals, of_row)
    for protocol in table.protocols:
        yield from _floor(of_row, row, protocol)
    for line in of_row.values():
        yield from _published(line, row, table.protocols[0])


def _quality(goals: Goals, lines: Mapping[str, Line], protocol: str) -> Iterator[Verdict]:
    """Ask of the candidate's means to be at most the margin below the baseline's."""
    candidate, baseline = lines[goals.candidate], lines[goals.baseline]
    common = candidate.cards.keys() & baseline.cards.keys()
    candidate, baseline = candidate.at(common), baseline.at(common)
    compared = [
        (name, mine, theirs)
        for (name, mine), (_, theirs) in zip(
            _headline(candidate, protocol), _headline(baseline, protocol), strict=False
        )
    ]
    if compared:
        lost = [name for name, (_, a), (_, b) in compared if a.mean < b.mean - goals.margin]
        words = ", ".join(
            f"{name} {_said(*mine)} against {_said(*theirs)} ({mine[1].mean - theirs[1].mean:+.4f})"
            for name, mine, theirs in compared
        )
        fails = f"fails in {' and '.join(lost)}: " if lost else ""
        goal = f"{candidate.label} within {goals.margin:g} of {baseline.label}, `{protocol}`"
        yield Verdict(goal, candidate.row.name, not lost, fails + words)


def _pairs(goals: Goals, lines: Mapping[str, Line]) -> Iterator[Verdict]:
    candidate, baseline = lines[goals.candidate], lines[goals.baseline]
    mine = candidate.over(lambda card: card["pairs"])
    theirs = baseline.over(lambda card: card["pairs"])
    if mine is not None and theirs is not None:
        ratio = theirs.mean / mine.mean
        yield Verdict(
            f"{candidate.label} with at most 1/{goals.fewer_pairs:g} of the pairs of "
            f"{baseline.label}",
            candidate.row.name,
            ratio >= goals.fewer_pairs,
            f"{mine.mean:,.0f} against {theirs.mean:,.0f}, that is 1/{ratio:.1f}",
        )


def _floor(lines: Mapping[str, Line], row: Row, protocol: str) -> Iterator[Verdict]:
    """No method is under the degree floor with its own rule."""
    words, met = [], True
    for line in lines.values():
        best, floor = line.best_rule(protocol), line.floor(protocol)
        if best is not None and floor is not None:
            met &= best[1].mean >= floor.mean
            words.append(f"{line.label} {_said(*best)} against {floor.mean:.4f}")
    if words:
        goal = f"not under the degree floor with its own rule, `{protocol}`"
        yield Verdict(goal, row.name, met, ", ".join(words))


def _published(line: Line, row: Row, protocol: str) -> Iterator[Verdict]:
    """Compare with the paper, AUC_pair under its rule `dot`; the method's own rule is named too."""
    published = row.published.get(line.method)
    figures = dict(_headline(line, protocol)) if line.cards else {}
    if published is None or "AUC_LR" not in figures or row.stands_in_for is not None:
        return
    compared = [
        (name, figures[name][1].mean, float(figure))
        for name, figure in zip(("AUC_LR", "AUC_pair"), published, strict=True)
        if figure is not None
    ]
    words = [f"{name} {mine:.4f} against {theirs:.4f}" for name, mine, theirs in compared]
    words.append(f"{_said(*figures['own AUC_pair'])} with its own rule")
    met = all(mine >= theirs for _, mine, theirs in compared)
    goal = f"{line.label} at or above the published row, `{protocol}`"
    yield Verdict(goal, row.name, met, ", ".join(words))


def _headline(line: Line, protocol: str) -> Iterator[tuple[str, tuple[str, Spread]]]:
    """AUC_LR, AUC_pair under `dot` and under its own rule, each with the rule it is under."""
    area, rules, best = (
        line.metric(protocol, "auc_lr"),
        line.rules(protocol),
        line.best_rule(protocol),
    )
    if area is not None and "dot" in rules and best is not None:
        yield "AUC_LR", ("", area)
        yield "AUC_pair", ("", rules["dot"])
        yield "own AUC_pair", best


def _said(rule: str, value: Spread) -> str:
    return f"{value.mean:.4f}" + (f" ('{rule}')" if rule else "")
