"""A result card as text: aligned columns, what was left out, and the verdict in words."""

from pairgram.evaluation.card import Card

_HEADER = ("", "AUC_pair", "AUC_LR", "AP")


def render(card: Card) -> str:
    """Return the card as a plain-text table, floors below the model, then the verdict."""
    return "\n".join([_title(card), "", *_aligned(_rows(card)), "", *_remarks(card), verdict(card)])


def verdict(card: Card) -> str:
    """Say in words whether the model beats its floors under its own rule."""
    own = by_rule(card)[card.rule]
    floors = {name: values["auc_pair"] for name, values in card.floors.items()}
    lost = [name for name, value in floors.items() if not own > value]
    if not floors:
        return "There is no floor to beat."
    if not lost:
        best = max(floors, key=lambda name: floors[name])
        return (
            f"{card.method} beats every floor under '{card.rule}' "
            f"({own:.4f}; the best floor is {best} with {floors[best]:.4f})."
        )
    first, *others = (
        f"the {name} floor under '{card.rule}' "
        f"({own:.4f} {'<' if own < floors[name] else '='} {floors[name]:.4f})"
        for name in lost
    )
    losses = ", nor ".join([f"{card.method} does not beat {first}", *others])
    return f"{losses}; {_best_rule(card, max(floors.values()))}."


def by_rule(card: Card) -> dict[str, float]:
    """AUC_pair under every rule, the model's own first."""
    prefix = "auc_pair/"
    return {
        key.removeprefix(prefix): value
        for key, value in card.metrics.items()
        if key.startswith(prefix) and value is not None
    }


def _best_rule(card: Card, highest_floor: float) -> str:
    rules = by_rule(card)
    best = max(rules, key=lambda rule: rules[rule])
    if rules[best] <= rules[card.rule]:
        return f"it has no better rule than '{card.rule}'"
    outcome = "beats every floor" if rules[best] > highest_floor else "does not beat them all"
    return f"its best rule is '{best}' ({rules[best]:.4f}), which {outcome}"


def _title(card: Card) -> str:
    split = card.split
    return (
        f"{card.method}, {split['kind']} split (share {split['share']:g} in training, seed "
        f"{split['seed']}, hash {split['hash'][:12]}), protocol '{card.protocol}', "
        f"seed {card.seed}"
    )


def _rows(card: Card) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [_HEADER]
    for rule, value in by_rule(card).items():
        own = rule == card.rule
        label = f"{card.method}, {'its own rule' if own else 'rule'} '{rule}'"
        area = _number(card.metrics["auc_lr"]) if own else ""
        rows.append((label, _number(value), area, _number(card.metrics[f"ap/{rule}"])))
    for name, values in card.floors.items():
        rows.append((f"floor {name}", _number(values["auc_pair"]), "", _number(values["ap"])))
    return rows


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _remarks(card: Card) -> list[str]:
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in card.left_out.items())
    left_out = f"{sum(card.left_out.values()):,} left out" + (f" ({reasons})" if reasons else "")
    remarks = [
        f"Centres: {card.counts['centers']:,} scored, {left_out}; negatives from "
        f"{card.candidates:,} nodes; ties under '{card.rule}': {card.ties[card.rule]:,}."
    ]
    return remarks + [f"No {key}: {reason}." for key, reason in card.notes.items()]


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"
