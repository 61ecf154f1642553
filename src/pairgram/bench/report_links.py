"""The page of a table of links."""

from collections.abc import Iterator

from pairgram.bench.figures import Line, lines_of
from pairgram.bench.goals import Verdict, verdicts
from pairgram.bench.markdown import (
    NONE,
    figure,
    floor_label,
    grid,
    heading,
    missing_section,
    notes_section,
    number,
    published_cells,
    seeds,
    settings,
    surroundings_section,
)
from pairgram.bench.report_cost import cost_section
from pairgram.bench.spec import FLOORS, Table
from pairgram.bench.store import Store, read_record

RANKING = {"mrr": "MRR", "hits@10": "Hits@10", "hits@50": "Hits@50", "ndcg@10": "nDCG@10"}
RULES = ("dot", "cosine", "pair", "context", "symmetric", "calibrated", "ranked")
RARE = ("cosine", "pair", "ranked")  # no columns of their own where no method has them
PROTOCOLS = {
    "seen": "both ends of a link, and the negatives, have a training link; the published figures "
    "are read as this protocol",
    "all": "every held-out link counts, also those of nodes without a training link; the "
    "published figures stand beside it but are read as `seen`",
    "cane": "that of CANE's own code: every held-out link whose ends have a training link, its "
    "negative any other end of a held-out link. Its flaws: the negative may be a true neighbour or "
    "the centre itself, it comes from the ends of test links alone, links with an unseen end are "
    "skipped, and a node with many links counts many times",
}


def links_page(table: Table, store: Store, command: str) -> str:
    """Return the page: figures by protocol, goals, cost, settings, and what is missing."""
    lines = lines_of(table, store)
    listed = list(lines.values())
    parts = [
        *heading(table, command),
        f"Mean ± sd over seeds {seeds(table)}; a seed is that of the split, the model and the "
        "evaluation. AUC_pair is given under every scoring rule; the paper's is `dot`. A "
        "method's own rule is the one that was best on validation links.",
        "",
        *(part for protocol in table.protocols for part in _figures(table, listed, protocol)),
        *_goals(
            [verdict for row in table.rows.values() for verdict in verdicts(table, lines, row)]
        ),
        *cost_section(lines),
        *_settings(listed, store),
        *notes_section(table, listed),
        *missing_section(table, store),
        *surroundings_section(listed),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _figures(table: Table, lines: list[Line], protocol: str) -> list[str]:
    met = {rule for line in lines for rule in line.rules(protocol)}
    rules = [rule for rule in RULES if rule in met or rule not in RARE]
    columns = [
        "dataset", "method", ">published AUC_LR", ">published AUC_pair", ">AUC_LR",
        *(f">AUC_pair {rule}" for rule in rules), "own rule", ">degree floor", ">seeds",
    ]  # fmt: skip
    shown = [
        line
        for line in lines
        if (line.cards or line.method in line.row.published) and line.method != FLOORS
    ]
    about = PROTOCOLS.get(protocol, "as named")
    return [
        f"## Protocol `{protocol}`",
        "",
        f"{about[:1].upper()}{about[1:]}.",
        "",
        *grid(columns, (_figure_row(line, protocol, rules) for line in shown)),
        "",
        *_ranking(lines, protocol),
    ]


def _ranking(lines: list[Line], protocol: str) -> list[str]:
    """Ranking of the held-out links of some nodes among all nodes, floors below the models."""
    rows = [cells for line in lines if line.cards for cells in _ranking_rows(line, protocol)]
    if not rows:
        return []
    columns = ["dataset", "method", ">AUC_pair", *(f">{name}" for name in RANKING.values())]
    about = (
        "The held-out links of at most as many nodes as the spec says, ranked among all nodes but "
        "training neighbours, under the method's own rule."
    )
    return [f"### Ranking, `{protocol}`", "", about, "", *grid(columns, rows), ""]


def _ranking_rows(line: Line, protocol: str) -> Iterator[list[str]]:
    keys = ("auc_pair", *RANKING)
    if line.method == FLOORS:
        for name in line.floor_names(protocol):
            cells = (figure(line.floor(protocol, name, key)) for key in keys)
            yield [line.row.name, floor_label(name), *cells]
    elif line.metric(protocol, "mrr") is not None:
        cells = (figure(line.metric(protocol, key)) for key in keys)
        yield [line.row.name, line.label, *cells]


def _figure_row(line: Line, protocol: str, rules: list[str]) -> list[str]:
    found, best = line.rules(protocol), line.best_rule(protocol)
    return [
        line.row.name,
        line.label,
        *published_cells(line.row, line.method),
        figure(line.metric(protocol, "auc_lr")),
        *(figure(found.get(rule)) for rule in rules),
        NONE if best is None else best[0],
        figure(line.floor(protocol)),
        f"{len(line.cards)} of {len(line.seeds)}",
    ]


def _goals(found: list[Verdict]) -> list[str]:
    lines = ["## Goals", ""]
    for goal in dict.fromkeys(verdict.goal for verdict in found):
        of_goal = [verdict for verdict in found if verdict.goal == goal]
        unmet = [verdict.row for verdict in of_goal if not verdict.met]
        tail = f" (not on {', '.join(unmet)})" if unmet else ""
        lines.append(f"- {goal}: {len(of_goal) - len(unmet)} of {len(of_goal)} datasets{tail}.")
    for row in dict.fromkeys(verdict.row for verdict in found):
        lines += ["", f"### {row}", ""]
        lines += [f"- {verdict}" for verdict in found if verdict.row == row]
    return [*lines, ""] if found else []


def _settings(lines: list[Line], store: Store) -> list[str]:
    columns = [
        "dataset", "method", "parameters", "from", ">trials", ">tuning s", ">limit s",
        ">validation score",
    ]  # fmt: skip
    rows = [_settings_row(line, store) for line in lines if line.cards and line.method != FLOORS]
    if not rows:
        return []
    about = (
        "Tuned on validation links of a split with another seed, with the same number of trials "
        "and the same limit of seconds for every method; every trial is in `tuning/`."
    )
    return ["## Settings and tuning", "", about, "", *grid(columns, rows), ""]


def _settings_row(line: Line, store: Store) -> list[str]:
    card = next(iter(line.cards.values()))
    hidden = ("seed", "rule", "directed")
    shown = {name: value for name, value in card["parameters"].items() if name not in hidden}
    head = [line.row.name, line.label, settings(shown), card["origin"]]
    tuned = read_record(store.tuning(line.row.name, line.method))
    if tuned is None or card["origin"] != "tuning":
        return [*head, NONE, NONE, NONE, NONE]
    finished = sum(trial["score"] is not None for trial in tuned["trials"])
    return [
        *head,
        f"{finished} of {tuned['planned']}",
        number(tuned["seconds"]),
        number(tuned["limit_seconds"]),
        number(tuned["best"], ".4f"),
    ]
