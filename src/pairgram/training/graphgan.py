"""Trains GraphGAN: a generator that proposes neighbours, a discriminator that tells them apart."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import LocalEngine
from pairgram.graph import Adjacency, TextGraph
from pairgram.kernels import graphgan as kernel
from pairgram.kernels.sizes import padded

COUNTS = ("turn", "pairs", "updates", "loss", "seconds")
TABLES = (
    "generator", "discriminator", "bias", "squares_generator", "squares_discriminator",
    "squares_bias",
)  # fmt: skip
ROOTS_OF_TASK = 4

Table = NDArray[np.float32]
Nodes = NDArray[np.int64]


@dataclass(frozen=True)
class GanSettings:
    """Parameters of the game; a centre has `samples` draws for either player."""

    samples: int
    epochs: int
    learning_rate: float
    l2: float
    batch_size: int
    seed: int


@dataclass
class GanProgress:
    """All that a resumed run needs beside the graph and the settings.

    Attributes
    ----------
    generator, discriminator
        Vectors, rows padded, shape (n, padded dim).
    bias
        The discriminator's term of each node, shape (n, 1).
    squares_generator, squares_discriminator, squares_bias
        Sums of squared slopes, as AdaGrad keeps them.
    turn
        Batches of centres done, over all epochs.
    pairs, updates
        Nodes drawn for the centres in one epoch, and in all.
    loss
        The discriminator's mean loss of a pair in the last batch.
    seconds
        Time in trees and walks, and in training.
    """

    generator: Table
    discriminator: Table
    bias: Table
    squares_generator: Table
    squares_discriminator: Table
    squares_bias: Table
    turn: int = 0
    pairs: int = 0
    updates: int = 0
    loss: float = 0.0
    seconds: dict[str, float] = field(default_factory=lambda: {"sample": 0.0, "train": 0.0})

    @classmethod
    def begin(cls, vectors: Table) -> Self:
        """Start both players from vectors, shape (n, dim)."""
        n, dim = vectors.shape
        rows = np.zeros((n, padded(dim)), np.float32)
        rows[:, :dim] = vectors
        bias = np.zeros((n, 1), np.float32)
        squares = (np.zeros_like(rows), np.zeros_like(rows), np.zeros_like(bias))
        return cls(rows, rows.copy(), bias, *squares)

    def counts(self) -> dict[str, Any]:
        """Numbers that a checkpoint keeps."""
        return {name: getattr(self, name) for name in COUNTS}

    def tables(self) -> dict[str, NDArray[Any]]:
        """Arrays that a checkpoint keeps."""
        return {name: getattr(self, name) for name in TABLES}

    @classmethod
    def restore(cls, tables: Mapping[str, NDArray[Any]], note: Mapping[str, Any]) -> Self:
        """Take up what `counts` and `tables` gave."""
        copied: dict[str, Any] = {name: np.array(tables[name]) for name in TABLES}
        return cls(**copied, **{name: note[name] for name in COUNTS})


@dataclass(frozen=True, eq=False)
class Tree:
    """What walks in the tree of one root saw; arrays as in `kernels.graphgan`."""

    root: int
    owner: Nodes
    at: Nodes
    member: Nodes
    chance: NDArray[np.float64]
    sample: Nodes
    ends: Nodes
    steps: Nodes


class Forest:
    """Draws nodes from the graph softmax around roots, each tree made and dropped on the way.

    Parameters
    ----------
    graph
        The training graph, undirected.
    seed
        Draws are functions of the seed, the epoch and the root alone.
    """

    def __init__(self, graph: Adjacency, seed: int) -> None:
        self._graph, self._seed, self._own = graph, seed, threading.local()

    def walk(self, roots: Nodes, draws: int, epoch: int, vectors: Table) -> list[Tree]:
        """Trees of roots that have a link, with so many nodes drawn from each."""
        return [self._tree(int(root), draws, epoch, vectors) for root in roots]

    def _tree(self, root: int, draws: int, epoch: int, vectors: Table) -> Tree:
        space = self._space()
        sample, ends = np.empty(draws, np.int64), np.empty(draws + 1, np.int64)
        steps = kernel.generate(
            root, draws, self._seed, epoch, self._graph.indptr, self._graph.indices, vectors,
            *space.arrays, sample, ends, space.state,
        )  # fmt: skip
        asked = int(space.state[kernel.ASKED])
        at = space.at[: asked + 1].copy()
        return Tree(
            root, space.owner[:asked].copy(), at, space.member[: at[-1]].copy(),
            space.chance[: at[-1]].copy(), sample, ends, steps,
        )  # fmt: skip

    def _space(self) -> "_Space":
        """The workspace of this thread."""
        made: _Space | None = getattr(self._own, "space", None)
        if made is None:
            made = self._own.space = _Space(len(self._graph.indptr) - 1)
        return made


class _Space:
    """Room for one tree: of n nodes, and of two choices a link of the tree."""

    def __init__(self, n: int) -> None:
        self.state = np.zeros(kernel.STATE_SIZE, np.int64)
        mark, queue, up, slot = (np.zeros(n, np.int64) for _ in range(4))
        begin, self.owner, self.at = (np.zeros(n + 1, np.int64) for _ in range(3))
        self.member, self.chance = np.zeros(2 * n, np.int64), np.zeros(2 * n)
        self.arrays = (
            mark, queue, up, begin, slot, self.owner, self.at, self.member, self.chance,
        )  # fmt: skip


def train(
    graph: TextGraph,
    settings: GanSettings,
    engine: LocalEngine,
    state: GanProgress,
    after_turn: Callable[[GanProgress, int], None] | None = None,
) -> GanProgress:
    """Let the two players learn in turn, batch of centres by batch, every centre once an epoch.

    The discriminator climbs log D(v, c) over links and log(1 − D(v, c)) over nodes drawn from
    G(v | c); the generator then climbs the mean of −log(1 − D(v, c)) over nodes that it draws.

    Parameters
    ----------
    graph
        The training graph.
    settings
        Parameters of the game.
    engine
        Makes the trees; the result does not depend on its thread count.
    state
        Where to begin or to go on from; changed in place.
    after_turn
        Called after each batch with the progress and the number of turns in all.
    """
    near, centers = graph.adjacency(), np.flatnonzero(graph.degree > 0)
    forest, players = Forest(near, settings.seed), _Players(state, near, settings)
    batches = -(-len(centers) // settings.batch_size)
    turns, order = settings.epochs * batches, _Orders(centers, settings.seed)
    while state.turn < turns:
        epoch, k = divmod(state.turn, batches)
        began = time.perf_counter()
        roots = order.of(epoch)[k * settings.batch_size : (k + 1) * settings.batch_size]
        trees = _grow(forest, roots, epoch, settings, state.generator, engine)
        grown = time.perf_counter()
        state.loss = players.judge(trees, epoch, k)
        players.propose(trees)
        state.seconds["sample"] += grown - began
        state.seconds["train"] += time.perf_counter() - grown
        drawn = 3 * settings.samples * len(roots)
        state.pairs += drawn if epoch == 0 else 0
        state.updates += drawn
        state.turn += 1
        if after_turn is not None:
            after_turn(state, turns)
    return state


class _Orders:
    """Centres in the order of an epoch."""

    def __init__(self, centers: Nodes, seed: int) -> None:
        self._centers, self._seed, self._last = centers, seed, (-1, centers)

    def of(self, epoch: int) -> Nodes:
        if self._last[0] != epoch:
            random = np.random.Generator(np.random.PCG64([self._seed, epoch]))
            self._last = epoch, random.permutation(self._centers)
        return self._last[1]


def _grow(
    forest: Forest,
    roots: Nodes,
    epoch: int,
    settings: GanSettings,
    vectors: Table,
    engine: LocalEngine,
) -> list[Tree]:
    """Trees with draws for the discriminator and then for the generator."""
    tasks = [roots[i : i + ROOTS_OF_TASK] for i in range(0, len(roots), ROOTS_OF_TASK)]
    found = engine.map(lambda some: forest.walk(some, 2 * settings.samples, epoch, vectors), tasks)
    return [tree for trees in found for tree in trees]


class _Players:
    """The two players' steps over a batch of trees, in the trees' order."""

    def __init__(self, state: GanProgress, near: Adjacency, settings: GanSettings) -> None:
        n = len(near.indptr) - 1
        self.state, self.near, self.settings = state, near, settings
        self._gradient, self._touched = np.zeros_like(state.generator), np.zeros(n, np.bool_)
        self._bias_gradient = np.zeros(n, np.float32)
        self._is_link = np.repeat(np.array([1.0, 0.0]), settings.samples)
        self._score = np.empty(2 * settings.samples, np.float32)
        self._weight = np.empty(2 * n)

    def judge(self, trees: list[Tree], epoch: int, k: int) -> float:
        """Step of the discriminator; return its mean loss of a pair."""
        state, samples, total = self.state, self.settings.samples, 0.0
        random = np.random.Generator(np.random.PCG64([self.settings.seed, epoch, k]))
        for tree in trees:
            begin, end = self.near.indptr[tree.root : tree.root + 2]
            links = self.near.indices[random.integers(begin, end, samples)]
            others = np.concatenate((links.astype(np.int64), tree.sample[:samples]))
            total += kernel.add_judging_gradient(
                tree.root, others, self._is_link, state.discriminator, state.bias[:, 0],
                self._gradient, self._bias_gradient, self._touched, self._score,
            )  # fmt: skip
        rows = self._rows()
        rate, l2 = self.settings.learning_rate, self.settings.l2
        kernel.climb(
            rows, rate, l2, state.discriminator, self._gradient, state.squares_discriminator
        )
        slopes = self._bias_gradient.reshape(-1, 1)
        kernel.climb(rows, rate, l2, state.bias, slopes, state.squares_bias)
        return total / (2 * samples * len(trees))

    def propose(self, trees: list[Tree]) -> None:
        """Step of the generator."""
        state, samples = self.state, self.settings.samples
        for tree in trees:
            score = self._score[:samples]
            kernel.judge(
                tree.root, tree.sample[samples:], state.discriminator, state.bias[:, 0], score
            )
            kernel.add_policy_gradient(
                tree.owner, tree.at, tree.member, tree.chance, tree.ends[samples:], tree.steps,
                advantages(score), state.generator, self._weight, self._gradient, self._touched,
            )  # fmt: skip
        kernel.climb(
            self._rows(), self.settings.learning_rate, self.settings.l2, state.generator,
            self._gradient, state.squares_generator,
        )  # fmt: skip

    def _rows(self) -> Nodes:
        """Rows that have a gradient; they are forgotten."""
        rows = np.flatnonzero(self._touched)
        self._touched[rows] = False
        return rows


def advantages(score: Table) -> NDArray[np.float64]:
    """Rewards −log(1 − D), each less the mean of the others, shape (m,).

    >>> advantages(np.array([0.0, 0.0, 0.0], np.float32)).tolist()
    [0.0, 0.0, 0.0]
    """
    reward = np.logaddexp(0.0, score.astype(np.float64))
    found: NDArray[np.float64] = (reward - reward.mean()) * (len(reward) / (len(reward) - 1))
    return found
