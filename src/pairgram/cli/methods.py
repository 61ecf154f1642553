"""Methods by name, built from flags."""

import inspect
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.errors import ParameterError

if TYPE_CHECKING:
    from pairgram.models import Model

PANEL = "Parameters of the method (its own defaults if not given)"


def _flag(text: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=PANEL)


@dataclass(frozen=True)
class MethodFlags:
    """Parameters of all methods, without importing them; None is the method's default."""

    dim: Annotated[int | None, _flag("Length of a vector.")] = None
    order: Annotated[int | None, _flag("ps, tge: largest distance in a pair, 1 to 8.")] = None
    times: Annotated[int | None, _flag("Rounds of sampling, or walks from a node.")] = None
    length: Annotated[int | None, _flag("Walk methods and stne: nodes of a walk.")] = None
    window: Annotated[
        int | None, _flag("deepwalk, node2vec, paper2vec: steps beside the centre.")
    ] = None
    p: Annotated[float | None, _flag("node2vec: return parameter.", "--p")] = None
    q: Annotated[float | None, _flag("node2vec: in-out parameter.", "--q")] = None
    per_edge: Annotated[float | None, _flag("line: draws of an edge.")] = None
    negatives: Annotated[int | None, _flag("Noise nodes per pair.")] = None
    epochs: Annotated[
        int | None, _flag("Passes over the pairs; sentence_encoder: 0 trains nothing.")
    ] = None
    learning_rate: Annotated[float | None, _flag("First rate; it falls linearly.")] = None
    l2: Annotated[float | None, _flag("Weight of the vectors' squared lengths.", "--l2")] = None
    offset: Annotated[
        bool | None, _flag("Take log K off every score in training.", "--offset/--no-offset")
    ] = None
    rule: Annotated[
        str | None,
        _flag("How links are scored: dot, context, symmetric, calibrated, cosine, pair."),
    ] = None
    preset: Annotated[str | None, _flag("tge: paper or best.")] = None
    encoder: Annotated[str | None, _flag("tge: bilstm, bag or pretrained.")] = None
    pretrained: Annotated[
        str | None,
        _flag("tge, sentence_encoder: folder of the sentence-transformers model that is read."),
    ] = None
    contexts: Annotated[str | None, _flag("tge: contexts from table, text or both.")] = None
    id_vectors: Annotated[
        bool | None, _flag("tge: a vector of its own for a known node.", "--ids/--no-ids")
    ] = None
    without_char: Annotated[bool | None, _flag("tge: no characters.", "--without-char")] = None
    without_word: Annotated[bool | None, _flag("tge: characters alone.", "--without-word")] = None
    cleaning: Annotated[str | None, _flag("Methods that read texts: paper or words.")] = None
    min_count: Annotated[int | None, _flag("Rarer words are unknown.")] = None
    max_words: Annotated[
        int | None, _flag("tge, cane, sentence_encoder: words of a text that are read.")
    ] = None
    word_vectors: Annotated[
        str | None, _flag("tge, text_matching: file of word vectors, text or npz.")
    ] = None
    features: Annotated[
        int | None, _flag("tadw, stne, graphsage: length of a text's features.")
    ] = None
    neighbours: Annotated[
        int | None,
        _flag("paper2vec: links from a node to those of the nearest texts; graphsage: neighbours."),
    ] = None
    far_neighbours: Annotated[int | None, _flag("graphsage: neighbours of each of those.")] = None
    alone: Annotated[float | None, _flag("graphsage: share of nodes read alone.")] = None
    temperature: Annotated[float | None, _flag("sentence_encoder: divides the cosines.")] = None
    epoch_links: Annotated[int | None, _flag("sentence_encoder: links of an epoch.")] = None
    text_epochs: Annotated[int | None, _flag("paper2vec: passes over the texts.")] = None
    word_dropout: Annotated[float | None, _flag("tge: share of words dropped.")] = None
    self_pairs: Annotated[
        float | None, _flag("ps: pairs of a node with itself, for each of its pairs.")
    ] = None
    tables: Annotated[
        int | None, _flag("ps: 2 for centre and context vectors, 1 for one vector a node.")
    ] = None
    noise_power: Annotated[float | None, _flag("ps: noise is drawn by degree to this.")] = None
    shared_negatives: Annotated[
        int | None,
        _flag(
            "tge: noise nodes of a batch, 0 draws them for every pair; others: pairs of a centre "
            "that share their noise nodes, 1 for none."
        ),
    ] = None
    mask_known: Annotated[
        bool | None, _flag("tge: no links in the noise.", "--mask-known/--no-mask-known")
    ] = None
    with_attention: Annotated[
        bool | None,
        _flag("cane: texts read in view of each other.", "--attention/--no-attention"),
    ] = None
    structure_weight: Annotated[float | None, _flag("cane: weight of s·s.")] = None
    text_weight: Annotated[float | None, _flag("cane: weight of t·t.")] = None
    cross_weight: Annotated[float | None, _flag("cane: weight of s·t and t·s.")] = None
    optimizer: Annotated[str | None, _flag("tge: adagrad or adam.")] = None
    batch_size: Annotated[
        int | None, _flag("tge, graphgan: centres of a batch; stne: walks; others: links.")
    ] = None
    patience: Annotated[
        int | None,
        _flag(
            "ps, tge, sentence_encoder: epochs without a better score before the end; 0 runs all."
        ),
    ] = None
    refit: Annotated[
        bool | None, _flag("tge: after an end by --patience, train on all links.", "--refit")
    ] = None
    ranker: Annotated[
        bool | None, _flag("tge: rank the links of new texts by a ranker.", "--ranker/--no-ranker")
    ] = None
    dropout: Annotated[float | None, _flag("stne: share of outputs left out in training.")] = None
    samples: Annotated[
        int | None,
        _flag(
            "stne: noise nodes of a batch, 0 for the whole softmax; graphgan: draws of a centre."
        ),
    ] = None
    start_epochs: Annotated[int | None, _flag("graphgan: epochs of the PS it starts from.")] = None
    part: Annotated[str | None, _flag("graphgan: keep the generator or discriminator.")] = None
    device: Annotated[str | None, _flag("Methods that use torch: auto, cpu, cuda or mps.")] = None

    def given(self) -> dict[str, Any]:
        """Return the parameters that the user gave."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def build(method: str, given: Mapping[str, Any], **shared: Any) -> "Model":
    """Make an unfitted model; names that are not the method's own and bad values raise.

    What is `shared` by most methods goes to those that have it.
    """
    from pairgram import params
    from pairgram.models import METHODS

    if method not in METHODS:
        raise ParameterError(f"There is no method {method!r}. Known are {', '.join(METHODS)}.")
    chosen = METHODS[method]
    model = chosen().set_shared(**shared).set_params(**given)
    params.check(chosen.__name__, chosen.constraints, model.get_params())
    return model


def check_takes_engine(model: "Model") -> None:
    """Refuse a method that runs on one machine alone."""
    from pairgram.models import METHODS

    if not _takes_engine(type(model)):
        able = ", ".join(name for name, method in METHODS.items() if _takes_engine(method))
        raise ParameterError(
            f"{type(model).__name__} runs on one machine. --engine ray is for {able}."
        )


def _takes_engine(method: "type[Model]") -> bool:
    return "engine" in inspect.signature(method.fit).parameters


def parse_names(listed: str) -> list[str]:
    """Methods in a list such as ``ps,deepwalk``, each once.

    >>> parse_names("ps, line,ps")
    ['ps', 'line']
    """
    return list(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))
