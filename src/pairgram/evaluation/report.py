"""`evaluate`: a model on a split, with the floors beside it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairgram.evaluation import card as cards
from pairgram.evaluation.audit import audit
from pairgram.evaluation.card import Card
from pairgram.evaluation.device import resolve
from pairgram.evaluation.measure import Findings, Options, measure_links, measure_new
from pairgram.evaluation.negatives import KINDS
from pairgram.evaluation.protocols import LINK_PROTOCOLS, UNIFORM, ZERO_SHOT, Trials
from pairgram.evaluation.scorer import LinkModel, method_name
from pairgram.evaluation.table import render, verdict
from pairgram.params import Bool, Choice, Constraint, Int, check
from pairgram.split import Split

_CONSTRAINTS: dict[str, Constraint] = {
    "protocol": Choice(*LINK_PROTOCOLS, ZERO_SHOT),
    "seed": Int(0),
    "rank": Int(0),
    "strict_texts": Bool(),
}


@dataclass(frozen=True)
class Report(Mapping[str, float | None]):
    """Metrics of one evaluation by key; as text, a table with the floors and the verdict.

    Keys are `auc_pair`, `auc_lr` and `ap` under the model's own rule, and `auc_pair/RULE` and
    `ap/RULE` for each of its rules; where links were ranked also `mrr`, `hits@1`, `hits@10`,
    `hits@50`, `recall@10`, `ndcg@10`. Zero-shot has `new_new/…` and `together/…` besides, and
    every key as `…_nodup` for the nodes whose text training does not have. Harder negatives give
    `degree/auc_pair`, `text/auc_pair` and the like. A value is None where `card.notes` says why.

    Attributes
    ----------
    card
        All that is known about the evaluation; `Report(Card.read(path))` prints it again.
    """

    card: Card

    @property
    def floors(self) -> dict[str, float]:
        """AUC_pair of every floor that has one."""
        floors = self.card.floors.items()
        return {name: values["auc_pair"] for name, values in floors if "auc_pair" in values}

    @property
    def left_out(self) -> dict[str, int]:
        """Reason -> number of centres not scored."""
        return self.card.left_out

    @property
    def verdict(self) -> str:
        """Whether the model beats its floors, in words."""
        return verdict(self.card)

    def __getitem__(self, key: str) -> float | None:
        return self.card.metrics[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.card.metrics)

    def __len__(self) -> int:
        return len(self.card.metrics)

    def __str__(self) -> str:
        return render(self.card)


def evaluate(
    model: LinkModel,
    split: Split,
    protocol: str | None = None,
    seed: int = 0,
    *,
    rank: int = 0,
    negatives: Sequence[str] = (UNIFORM,),
    strict_texts: bool = False,
    word_vectors: str | Path | None = None,
    device: str | None = None,
) -> Report:
    """Score a model on the held-out links of a split.

    A model that is not fitted is fitted on `split.train` first. A fitted one must have been
    fitted on exactly that graph.

    Parameters
    ----------
    model
        Any model of pairgram, or a class with the same names.
    split
        A split of links or of nodes.
    protocol
        "seen", "all" or "cane" for links, "zero-shot" for nodes; None means "seen" or "zero-shot".
    seed
        Seed of the drawn positives and negatives and of the halves of AUC_LR.
    rank
        Largest number of nodes whose held-out links are ranked among all nodes, for a split of
        links; 0 ranks none. Zero-shot always ranks all.
    negatives
        Kinds of negatives for AUC_pair and AP: "uniform" (always), and harder ones, "degree" and
        "text", whose figures have keys such as `text/auc_pair`.
    strict_texts
        Whether a text on both sides of a node split fails the audit; otherwise they are counted.
    word_vectors
        File of word vectors, text or npz, for the floor Text Matching.
    device
        Where the model's links are ranked: None is NumPy, "auto" a CUDA card where there is one,
        otherwise a device of torch. The figures are the same but for rounding.

    Raises
    ------
    LeakError
        The split shares links or nodes between its sides, or the model has seen another graph.
    InputError
        No centre can be scored, or the model cannot place the texts of new nodes.
    """
    if protocol is None:
        protocol = ZERO_SHOT if split.of_nodes else "seen"
    given = {"protocol": protocol, "seed": seed, "rank": rank, "strict_texts": strict_texts}
    check("evaluate", _CONSTRAINTS, given)
    for kind in negatives:
        check("evaluate", {"negatives": Choice(*KINDS)}, {"negatives": kind})
    audit(split)
    vectors = None if word_vectors is None else str(word_vectors)
    options = Options(seed, rank, tuple(negatives), strict_texts, vectors, resolve(device))
    seconds: dict[str, float] = {}
    if protocol == ZERO_SHOT:
        found = measure_new(model, split, options, seconds)
    else:
        found = measure_links(model, split, protocol, options, seconds)
    return Report(_card(model, split, found, options, seconds))


def _card(
    model: LinkModel,
    split: Split,
    found: Findings,
    options: Options,
    seconds: dict[str, float],
) -> Card:
    trials = found.trials
    if unaudited := getattr(model, "unaudited", None):
        found.notes["audit of the training"] = unaudited
    stats: dict[str, Any] = getattr(model, "stats_", None) or {}
    return Card(
        method=method_name(model),
        parameters=dict(model.get_params()),
        rule=found.rule,
        split=_split_entry(split),
        protocol=trials.protocol,
        seed=trials.seed,
        candidates=trials.candidates,
        counts=_counts(split, trials) | found.counts,
        left_out=dict(trials.left_out),
        ties=found.ties,
        metrics=found.metrics,
        notes=found.notes,
        floors=found.floors,
        buckets=found.buckets,
        options={
            "rank": options.rank,
            "negatives": list(options.negatives),
            "strict_texts": options.strict_texts,
            "word_vectors": options.word_vectors,
        },
        pairs=stats.get("pairs"),
        updates=stats.get("updates"),
        passes=stats.get("passes"),
        seconds={**stats.get("seconds", {}), **seconds},
        peak_memory=cards.peak_memory(),
        versions=cards.versions(),
        machine=cards.machine(),
    )


def _split_entry(split: Split) -> dict[str, Any]:
    return {
        "hash": split.hash,
        "kind": split.kind,
        "share": split.share,
        "seed": split.seed,
        "fingerprint": split.full.fingerprint,
    }


def _counts(split: Split, trials: Trials) -> dict[str, int]:
    return {
        "nodes": split.full.n_nodes,
        "train_links": split.train.n_edges,
        "held_out_links": len(split.held_out),
        "centers": len(trials),
    }
