"""A result card as text: aligned columns, what was left out, and the verdict in words."""

from collections.abc import Mapping

from pairgram.evaluation.card import Card

# Report key -> heading; the ranking's come only where links were ranked.
AUCS = {"auc_pair": "AUC_pair", "auc_lr": "AUC_LR", "ap": "AP"}
RANKING = {
    "mrr": "MRR",
    "hits@1": "Hits@1",
    "hits@10": "Hits@10",
    "hits@50": "Hits@50",
    "recall@10": "Recall@10",
    "ndcg@10": "nDCG@10",
}
# What else a zero-shot report holds: prefix and suffix of its keys, in words.
OTHERS = {
    ("", "_nodup"): "without repeated texts",
    ("new_new/", ""): "links between new nodes",
    ("together/", ""): "links to old and new nodes",
}


def render(card: Card) -> str:
    """Return the card as a plain-text table, floors below the model, then the verdict."""
    return "\n".join([_title(card), "", *_aligned(_rows(card)), "", *_remarks(card), verdict(card)])


def columns(card: Card) -> dict[str, str]:
    """Report keys that a table of the card shows, with their headings."""
    return AUCS | RANKING if "mrr" in card.metrics else AUCS


def others(card: Card) -> dict[str, tuple[str, str]]:
    """What else was scored under the model's own rule, in words, with its prefix and suffix."""
    return {
        words: (prefix, suffix)
        for (prefix, suffix), words in OTHERS.items()
        if card.metrics.get(f"{prefix}auc_pair{suffix}") is not None
    }


def repeats(card: Card) -> str:
    """Say how many held-out nodes have a text that training knows."""
    new, exact, near = (card.counts[key] for key in ("new_nodes", "repeated_texts", "near_texts"))
    return f"Of {new:,} held-out nodes {exact:,} have the text of a training node, {near:,} nearly."


def verdict(card: Card) -> str:
    """Say in words whether the model beats its floors under its own rule."""
    if "mrr" not in card.metrics:
        return _verdict(card, "auc_pair")
    return f"By AUC_pair, {_verdict(card, 'auc_pair')} By MRR, {_verdict(card, 'mrr')}"


def by_rule(card: Card, key: str = "auc_pair") -> dict[str, float]:
    """A metric under every rule, the model's own first."""
    prefix = f"{key}/"
    return {
        name.removeprefix(prefix): value
        for name, value in card.metrics.items()
        if name.startswith(prefix) and value is not None
    }


def _verdict(card: Card, key: str) -> str:
    rules = by_rule(card, key)
    own = rules[card.rule]
    floors = {name: values[key] for name, values in card.floors.items() if key in values}
    lost = [name for name, value in floors.items() if not own > value]
    if not floors:
        return "There is no floor to beat."
    if not lost:
        best = max(floors, key=lambda name: floors[name])
        return (
            f"{card.method} beats every floor under '{card.rule}' "
            f"({own:.4f}; the best floor is {best} with {floors[best]:.4f})."
        )
    first, *more = (
        f"the {name} floor under '{card.rule}' "
        f"({own:.4f} {'<' if own < floors[name] else '='} {floors[name]:.4f})"
        for name in lost
    )
    losses = ", nor ".join([f"{card.method} does not beat {first}", *more])
    return f"{losses}; {_best_rule(rules, card.rule, max(floors.values()))}."


def _best_rule(rules: dict[str, float], own: str, highest_floor: float) -> str:
    best = max(rules, key=lambda rule: rules[rule])
    if rules[best] <= rules[own]:
        return f"it has no better rule than '{own}'"
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
    shown = columns(card)
    rows: list[tuple[str, ...]] = [("", *shown.values())]
    for rule in by_rule(card):
        own = rule == card.rule
        label = f"{card.method}, {'its own rule' if own else 'rule'} '{rule}'"
        keys = [key if own else f"{key}/{rule}" for key in shown]
        rows.append((label, *(_number(card.metrics, key) for key in keys)))
    for words, (prefix, suffix) in others(card).items():
        keys = [f"{prefix}{key}{suffix}" for key in shown]
        rows.append((f"{card.method}, {words}", *(_number(card.metrics, key) for key in keys)))
    for name, values in card.floors.items():
        rows.append((f"floor {name}", *(_number(values, key) for key in shown)))
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
    if "queries" in card.counts:
        remarks.append(
            f"Ranked: {card.counts['ranked_links']:,} links of {card.counts['queries']:,} nodes."
        )
    if "repeated_texts" in card.counts:
        remarks.append(repeats(card))
    return remarks + [f"No {key}: {reason}." for key, reason in card.notes.items()]


def _number(values: Mapping[str, float | None], key: str) -> str:
    """The value with four digits, "none" where there is none, nothing where it has no meaning."""
    if key not in values:
        return ""
    value = values[key]
    return "none" if value is None else f"{value:.4f}"
