"""How TGE learns: from its parameters and a graph to an encoder and vectors."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import Engine, open_engine
from pairgram.errors import MissingExtraError, PairgramError
from pairgram.graph import TextGraph
from pairgram.models.sgns import noise_degree
from pairgram.sampling.pairs import PairSampler
from pairgram.text.pieces import Pretrained
from pairgram.text.tokens import Tokens
from pairgram.text.vocabulary import Vocabulary
from pairgram.text.word_vectors import read_word_vectors
from pairgram.training.checkpoint import Checkpoint
from pairgram.training.settings import noise_mass

if TYPE_CHECKING:
    from pairgram.text.encoders import EncoderSpec
    from pairgram.training.text_feed import TextSettings, TextTask
    from pairgram.training.text_net import TextNet
    from pairgram.training.text_state import TextProgress

VALIDATION = 0.05
ID_DROPOUT = 0.5
CLIP = 1.0
BAG, WORD_TABLE = "bag", "encoder.table.weight"
BATCHES, SMALLEST_BATCH, LARGEST_BATCH = 50, 16, 512

Chosen = Mapping[str, Any]
Table = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Learned:
    """What a fit leaves.

    Attributes
    ----------
    center, context
        Vectors of all nodes, both (n, dim).
    weights
        The encoder's weights by name, and those of the map to contexts where there is one.
    stats
        Counts, scores and seconds.
    """

    center: Table
    context: Table
    weights: dict[str, NDArray[Any]]
    stats: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Job:
    """What is learned from: parameters, presets filled in, and a graph with its words.

    With `weights`, those of an earlier fit by their names in `TextNet`, training goes on from them;
    `word_dim` is the length of its word vectors.
    """

    chosen: Chosen
    graph: TextGraph
    vocabulary: Vocabulary
    tokens: Tokens
    pretrained: Pretrained | None = None
    weights: Mapping[str, NDArray[Any]] | None = None
    word_dim: int | None = None


def learn(
    job: Job,
    identity: Mapping[str, Any],
    checkpoint: str | Path | None,
    callback: "Callable[[TextProgress, int], None] | None",
    engine: Engine | str | None = None,
) -> Learned:
    """Train an encoder and context vectors.

    Parameters
    ----------
    job
        What to learn from.
    identity
        What must agree for a checkpoint to be resumed.
    checkpoint, callback, engine
        As in `TGE.fit`.
    """
    threads = job.chosen["threads"]
    with torch_threads(threads), open_engine(engine, threads) as opened:
        run = _run(job, opened, identity, checkpoint, callback)
        stats = _stats(run.progress, job, run.spec)
        if job.chosen["refit"] and run.task.trials is not None:
            stop = run.progress.best_epoch
            again = None if checkpoint is None else f"{checkpoint}.refit"
            run = _run(job, opened, {**identity, "stop": stop}, again, callback, stop)
            stats = _added(stats, run.progress)
        center, context = _vectors(run, job.chosen)
    return Learned(center, context, _kept(run.net, halved=job.chosen["encoder"] == BAG), stats)


@dataclass(frozen=True, eq=False)
class Run:
    """One training: the module, what its encoder is built from, its task and what was done.

    Where workers trained together, `vectors` are those of all nodes, centre and context.
    """

    net: "TextNet"
    spec: "EncoderSpec"
    task: "TextTask"
    progress: "TextProgress"
    vectors: tuple[Table, Table] | None = None


def _run(
    job: Job,
    engine: Engine,
    identity: Mapping[str, Any],
    checkpoint: str | Path | None,
    callback: "Callable[[TextProgress, int], None] | None",
    stop: int = 0,
) -> Run:
    """Train; with `stop` on all links for so many epochs, otherwise as the patience says."""
    net, spec, spelling = _start(job)
    began = time.perf_counter()
    task = _task(job, spelling, engine, hold=stop == 0)
    sampled = time.perf_counter() - began
    vectors = None
    if engine.shares_memory:
        progress = _train(net, task, job.chosen, identity, checkpoint, callback, stop)
    else:
        from pairgram.training.text_together import train_together

        settings, cards = _settings(job.chosen, task, stop), job.chosen["device"] != "cpu"
        progress, vectors = train_together(
            net, task, settings, engine, cards, identity, checkpoint, callback
        )
    progress.seconds["sample"] = sampled
    return Run(net, spec, task, progress, vectors)


def encoder_spec(
    chosen: Chosen, word_dim: int, pretrained: Pretrained | None = None
) -> "EncoderSpec":
    """Return what the encoder is built from."""
    from pairgram.text.encoders import EncoderSpec

    return EncoderSpec(
        chosen["encoder"], int(chosen["dim"]), word_dim,
        chosen["without_char"], chosen["without_word"], pretrained,
    )  # fmt: skip


def _start(job: Job) -> "tuple[TextNet, EncoderSpec, Any]":
    """Untrained module, what its encoder is built from, and the spelling of all words."""
    torch = import_torch()
    from pairgram.text.encoders import PretrainedEncoder, make_encoder
    from pairgram.training.text_net import TextNet

    chosen, start = job.chosen, None
    goes_on = job.weights is not None
    if not goes_on and chosen["word_vectors"] is not None and not chosen["without_word"]:
        start = read_word_vectors(chosen["word_vectors"], job.vocabulary)
    word_dim = job.word_dim or int(chosen["dim"] if start is None else start[0].shape[1])
    spec = encoder_spec(chosen, word_dim, job.pretrained)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(chosen["seed"])
        encoder = make_encoder(spec, job.vocabulary)
        net = TextNet(encoder, job.graph.n_nodes, chosen["contexts"], chosen["id_vectors"])
    if start is not None:
        encoder.start_from(*start)
    if job.weights is not None:
        given = {name: torch.from_numpy(np.array(array)) for name, array in job.weights.items()}
        net.load_state_dict(given)
    elif isinstance(encoder, PretrainedEncoder):
        encoder.load(chosen["pretrained"])
    return net, spec, encoder.spell((*job.vocabulary.words, *job.tokens.unknown))


def _task(job: Job, spelling: Any, engine: Engine, hold: bool) -> "TextTask":
    from pairgram.training.text_batches import KnownLinks, Noise, PairGroups
    from pairgram.training.text_feed import TextTask
    from pairgram.training.text_validation import hold_back

    chosen, graph = job.chosen, job.graph
    share = VALIDATION if chosen["patience"] and hold else 0.0
    smaller, trials = hold_back(graph, share, chosen["seed"])

    def sample(which: TextGraph) -> PairGroups:
        sampler = PairSampler(
            which, chosen["order"], chosen["times"], chosen["seed"], directed=chosen["directed"]
        )
        return PairGroups(sampler, graph.n_nodes, engine)

    ahead = sample(smaller)
    two_ways = chosen["directed"] and chosen["contexts"] != "table"
    return TextTask(
        job.tokens.ids,
        spelling,
        ahead,
        sample(_turned(smaller)) if two_ways else ahead,
        Noise(noise_mass(noise_degree(smaller, chosen["directed"]))),
        KnownLinks(smaller.adjacency()) if chosen["mask_known"] else None,
        trials,
    )


def held_back(chosen: Chosen, graph: TextGraph) -> TextGraph | None:
    """The graph without the links that a fit's vectors never saw; None where they saw all."""
    from pairgram.training.text_validation import hold_back

    if not chosen["patience"] or chosen["refit"]:
        return None
    smaller, trials = hold_back(graph, VALIDATION, chosen["seed"])
    return None if trials is None else smaller


def _settings(chosen: Chosen, task: "TextTask", stop: int) -> "TextSettings":
    from pairgram.training.text_feed import TextSettings

    names = (
        "negatives", "shared_negatives", "epochs", "patience", "optimizer", "learning_rate", "l2",
        "offset", "word_dropout", "seed",
    )  # fmt: skip
    batch = chosen["batch_size"] or _batch_size(int(np.count_nonzero(task.groups.pairs)))
    return TextSettings(
        **{name: chosen[name] for name in names},
        stop=stop,
        batch_size=batch,
        clip=CLIP,
        id_dropout=ID_DROPOUT,
    )


def _batch_size(centres: int) -> int:
    return min(max(centres // BATCHES, SMALLEST_BATCH), LARGEST_BATCH)


def _train(
    net: "TextNet",
    task: "TextTask",
    chosen: Chosen,
    identity: Mapping[str, Any],
    checkpoint: str | Path | None,
    callback: "Callable[[TextProgress, int], None] | None",
    stop: int,
) -> "TextProgress":
    from pairgram.text.encoders import resolve_device
    from pairgram.training.text import train
    from pairgram.training.text_state import TextProgress

    settings, device = _settings(chosen, task, stop), resolve_device(chosen["device"])
    if checkpoint is None:
        return train(net, task, settings, device, None, callback)
    keeper = Checkpoint(checkpoint, dict(identity), kind=TextProgress)
    done = train(net, task, settings, device, keeper.read(), keeper.after_turn(callback))
    keeper.write(done)
    return done


def _vectors(run: Run, chosen: Chosen) -> tuple[Table, Table]:
    from pairgram.text.encoders import resolve_device
    from pairgram.training.text import node_vectors

    device = resolve_device(chosen["device"])
    center, context = run.vectors or node_vectors(run.net, run.task, device)
    if not np.isfinite(center).all() or not np.isfinite(context).all():
        raise PairgramError(
            "TGE did not converge: its vectors are no longer numbers. The learning rate was "
            f"{chosen['learning_rate']}; use a smaller one."
        )
    return center, context


def _kept(net: "TextNet", halved: bool) -> dict[str, NDArray[Any]]:
    """Weights that read a new text; tables of known nodes are not among them."""
    from pairgram.text.encoders.reader import ENCODER, HEAD
    from pairgram.training.text import weights_of

    kept = {k: a for k, a in weights_of(net).items() if k.startswith((ENCODER, HEAD))}
    if halved:
        kept[WORD_TABLE] = kept[WORD_TABLE].astype(np.float16)
    return kept


def _turned(graph: TextGraph) -> TextGraph:
    """All arcs the other way round."""
    return TextGraph.from_edges(graph.target, graph.source, names=graph.names, directed=True)


def _stats(progress: "TextProgress", job: Job, spec: "EncoderSpec") -> dict[str, Any]:
    return {
        "pairs": progress.pairs,
        "updates": progress.updates,
        "passes": progress.passes,
        "epochs": progress.epoch,
        "best_epoch": progress.best_epoch,
        "scores": progress.scores,
        "loss": [progress.loss],
        "seconds": progress.seconds,
        "words": job.vocabulary.n_distinct,
        "characters": len(job.vocabulary.characters),
        "empty_texts": job.tokens.empty,
        "cut_texts": job.tokens.cut,
        "word_dim": spec.word_dim,
    }


def _added(stats: dict[str, Any], more: "TextProgress") -> dict[str, Any]:
    """Counts of a training with those of a second one on all links added."""
    seconds = {name: took + more.seconds[name] for name, took in stats["seconds"].items()}
    return {
        **stats,
        "pairs": more.pairs,
        "updates": stats["updates"] + more.updates,
        "passes": stats["passes"] + more.passes,
        "refit_epochs": more.epoch,
        "loss": [more.loss],
        "seconds": seconds,
    }


def import_torch() -> Any:
    """Return torch, or say which extra brings it."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("TGE", "text") from None
    return torch


@contextmanager
def torch_threads(threads: int | None) -> Iterator[None]:
    """Let torch use so many threads for a while; None leaves it as it is."""
    torch = import_torch()
    before = torch.get_num_threads()
    try:
        if threads is not None:
            torch.set_num_threads(threads)
        yield
    finally:
        torch.set_num_threads(before)
