"""What each of several workers does in text training: its share of every batch, its rows."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pairgram.engine import Team
from pairgram.io.places import Place
from pairgram.text.encoders import Encoder, encode
from pairgram.training.group import Group
from pairgram.training.text import attach, load_weights, weights_of
from pairgram.training.text_descent import descend, rate_share, vectors_of
from pairgram.training.text_feed import Step, TextSettings, TextTask
from pairgram.training.text_net import TextNet
from pairgram.training.text_optimizer import TextOptimizer
from pairgram.training.text_rows import TABLES, Desk, RowOwner, renumbered, rows_read
from pairgram.training.text_shards import Shards, of_rows
from pairgram.training.text_share_feed import ShareFeed
from pairgram.training.text_share_gradients import Gradients
from pairgram.training.text_state import Arrays, TextProgress
from pairgram.training.text_validation import Trials

Table = NDArray[np.float32]

TELL_SECONDS = 0.2
_NONE: Table = np.empty((0, 0), np.float32)


@dataclass(frozen=True, eq=False)
class Plan:
    """What all workers are given.

    Attributes
    ----------
    encoder, head
        Where the weights start; tables of nodes start at zero.
    contexts, id_vectors
        As in `TextNet`.
    task, settings
        What is trained on, and how.
    checkpoint, identity, every
        As in `Shards`; None keeps nothing.
    """

    encoder: Encoder
    head: Arrays | None
    contexts: str
    id_vectors: bool
    task: TextTask
    settings: TextSettings
    checkpoint: str | None
    identity: Mapping[str, Any]
    every: float


@dataclass(frozen=True, eq=False)
class Share:
    """What a worker leaves: vectors of its nodes; weights and counts, which all agree on."""

    center: Table
    context: Table
    weights: Arrays
    counts: dict[str, Any]


def train_share(team: Team, plan: Plan) -> Share:
    """Train as one of a team."""
    if team.size > 1 and team.device == "cpu":
        torch.set_num_threads(1)
    return Sharer(team, plan).run()


class Sharer:
    """A worker at its work.

    Parameters
    ----------
    team
        Which worker it is.
    plan
        What all are given.
    """

    def __init__(self, team: Team, plan: Plan) -> None:
        self._team, self._plan, self._task = team, plan, plan.task
        self._group, self._device = Group(team.rank, team.size), torch.device(team.device)
        n_nodes, built = len(plan.task.words), (plan.contexts, plan.id_vectors)
        self._owner = RowOwner(self._group, n_nodes)
        self._net = TextNet(plan.encoder, self._owner.high - self._owner.low, *built)
        if self._net.head is not None and plan.head is not None:
            load_weights(self._net.head, {name: array.copy() for name, array in plan.head.items()})
        self._net.to(self._device)
        self._desk = Desk(self._owner, self._net, *built)
        self._gradients = Gradients(self._net, self._group)
        self._feed = ShareFeed(plan.task, plan.settings, self._net, self._device, self._group)
        self._told = time.monotonic()

    def run(self) -> Share:
        """Train to the end, or until told to end early."""
        settings, feed = self._plan.settings, self._feed
        optimizer = TextOptimizer(
            self._net, settings.optimizer, settings.learning_rate, math.inf,
            self._net.shares_of_rate,
        )  # fmt: skip
        shards = self._shards()
        state = (shards and shards.read(self._group)) or TextProgress()
        attach(state, self._net, optimizer)
        end, ends_early, began = settings.stop * feed.batches or feed.turns, False, _now()
        with feed.start(state.turn) as steps:
            while state.turn < end and not state.has_stalled(settings.patience) and not ends_early:
                ends_early, saves = self._turn(next(steps), state, optimizer, shards, end)
                state.seconds["train"] += _now() - began
                began = _now()
                if shards is not None and (saves or ends_early):
                    shards.write(state, self._group, self._device)
        if ends_early:
            return Share(_NONE, _NONE, {}, state.counts())
        if shards is not None:
            shards.write(state, self._group, self._device)
        if state.best:
            load_weights(self._net, state.best)
        self._net.encoder.round_words()
        return self._share(state)

    def _turn(
        self,
        step: Step,
        state: TextProgress,
        optimizer: TextOptimizer,
        shards: Shards | None,
        end: int,
    ) -> tuple[bool, bool]:
        """Train on a share of a batch; return whether to end early, and whether to save."""
        settings, feed = self._plan.settings, self._feed
        total = int(self._task.groups.pairs.sum())
        wishes = self._wishes(state, shards, end)
        loss = self._descend(step, total / feed.batches)
        self._gradients.add_up(settings.l2 / total)
        loss, ends_early, saves = self._gradients.clip(settings.clip, (loss, *wishes))
        optimizer.step(rate_share(settings, feed, state.turn))
        state.loss = loss / max(step.n_pairs, 1)
        state.count(step.n_pairs, feed.texts(state.turn))
        if state.turn % feed.batches == 0:
            self._end_epoch(state)
        return ends_early > 0, saves > 0

    def _descend(self, step: Step, scale: float) -> float:
        """Gradients of the share of this worker in the weights of all; return its loss."""
        reads, nodes = rows_read(step, self._desk.net), step.nodes
        rows = torch.unique(torch.cat([*reads.values(), nodes]))
        self._desk.lay_out(rows, reads)
        laid, loss = renumbered(step, rows), 0.0
        if len(nodes):
            loss = float(descend(self._desk.net, laid, self._plan.settings, scale))
        self._desk.collect()
        self._desk.tell_seen(nodes, laid.nodes)
        return loss

    def _wishes(self, state: TextProgress, shards: Shards | None, end: int) -> tuple[float, float]:
        """What the first worker wants all to do after this turn: end early, save."""
        if self._group.rank > 0:
            return 0.0, 0.0
        ends_early = False
        if _now() - self._told >= TELL_SECONDS:
            self._told = _now()
            ends_early = self._team.tell((state.counts(), end))
        return float(ends_early), float(shards is not None and shards.is_due)

    def _end_epoch(self, state: TextProgress) -> None:
        state.epoch += 1
        if self._task.trials is None:
            return
        state.scores.append(self._score(self._task.trials))
        if state.best_epoch == state.epoch:
            state.best = weights_of(self._net)

    def _score(self, trials: Trials) -> float:
        """AUC_pair of the trials, each worker having read its share of their texts."""
        nodes, group = trials.nodes, self._group
        low, high = (len(nodes) * r // group.size for r in (group.rank, group.rank + 1))
        own = nodes[low:high]
        rows = torch.from_numpy(own).to(self._device)
        self._desk.lay_out(rows, dict.fromkeys(TABLES, rows))
        text = encode(
            self._net.encoder, self._task.words.take(own), self._task.spelling, self._device
        )
        vectors = vectors_of(self._desk.net, text, np.arange(len(own)), self._device)
        center, context = (
            torch.cat(group.gather(torch.from_numpy(part).to(self._device))).cpu().numpy()
            for part in vectors
        )
        score = torch.tensor([trials.score(center, context)], dtype=torch.float64)
        return float(group.first(score.to(self._device)))

    def _share(self, state: TextProgress) -> Share:
        """Vectors of the own nodes, which need no other's rows."""
        own = np.arange(self._owner.low, self._owner.high)
        words = self._task.words.take(own)
        text = encode(self._net.encoder, words, self._task.spelling, self._device)
        center, context = vectors_of(self._net, text, own - self._owner.low, self._device)
        weights = weights_of(self._net) if self._group.rank == 0 else {}
        kept = {name: array for name, array in weights.items() if not of_rows(name)}
        return Share(center, context, kept, state.counts())

    def _shards(self) -> Shards | None:
        plan = self._plan
        if plan.checkpoint is None:
            return None
        return Shards(Place(plan.checkpoint), plan.identity, plan.every)


def _now() -> float:
    return time.monotonic()
