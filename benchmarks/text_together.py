"""How large a text model and its workers are as the graph grows, with a table and without.

TGE with a bag encoder, trained by W workers: the encoder is everywhere, tables of nodes are cut by
rows. Generated graphs with texts of eight words out of one vocabulary. "model" is what reads a new
text: all that a saved model needs for that. "encoder" and "rows" are what a worker holds in
training, weights and the optimiser's state. Contexts from text keep what was last seen of a node,
two rows of it; that is memory of the training, cut by rows, and no part of the model.

Run: python benchmarks/text_together.py [NODES ...]
"""

import sys

import numpy as np

from common import write

DIM, WORDS, VOCABULARY, WORKERS = 64, 8, 5_000, (1, 2, 4, 8)
KINDS = {
    "table": {"contexts": "table", "id_vectors": False},
    "text": {"contexts": "text", "id_vectors": False},
}


def graph_of(nodes: int):
    """Links at random, four for a node; every word of the vocabulary occurs."""
    import pairgram as pg

    random = np.random.default_rng(0)
    ends = random.integers(0, nodes, (2, 2 * nodes))
    words = random.integers(0, VOCABULARY, (nodes, WORDS))
    words.flat[:VOCABULARY] = np.arange(VOCABULARY)
    names = [str(i) for i in range(nodes)]
    texts = [" ".join(f"w{w}" for w in row) for row in words.tolist()]
    source, target = ([names[i] for i in side] for side in ends.tolist())
    return pg.TextGraph.from_edges(
        source, target, names, texts=dict(zip(names, texts, strict=True))
    )


def sizes(contexts: str, nodes: int, encoder, workers: int) -> tuple[int, int]:
    """Bytes of a worker in training: of what all have, and of its rows."""
    from pairgram.training.group import Group
    from pairgram.training.text_net import TextNet
    from pairgram.training.text_optimizer import TextOptimizer
    from pairgram.training.text_rows import RowOwner
    from pairgram.training.text_shards import of_rows

    owner = RowOwner(Group(0, workers), nodes)
    net = TextNet(encoder, owner.high - owner.low, contexts)
    state = TextOptimizer(net, "adam", 0.1, 1.0).arrays()
    held = {**state, **{name: tensor.numpy() for name, tensor in net.state_dict().items()}}
    rows = sum(array.nbytes for name, array in held.items() if of_rows(name))
    return sum(array.nbytes for array in held.values()) - rows, rows


def model_of(graph, more: dict):
    """The module of a model at its start; training changes no size."""
    import pairgram as pg
    from pairgram.models.tge_fit import Job, _start
    from pairgram.text.tokens import tokenize
    from pairgram.text.vocabulary import Vocabulary

    chosen = pg.TGE(dim=DIM, preset="best", **more)._all_chosen()
    texts = [str(text) for text in graph.texts]
    vocabulary = Vocabulary.fit(texts, chosen["cleaning"], 1)
    return _start(Job(chosen, graph, vocabulary, tokenize(texts, vocabulary, 1000)))[0]


def main() -> None:
    from pairgram.training.text_shards import of_rows

    rows = []
    for nodes in [int(a) for a in sys.argv[1:]] or [5_000, 50_000, 500_000]:
        graph = graph_of(nodes)
        for kind, more in KINDS.items():
            net = model_of(graph, more)
            kept = [t for name, t in net.state_dict().items() if not of_rows(name)]
            weights = sum(tensor.numpy().nbytes for tensor in kept)
            row = {"nodes": nodes, "contexts": kind, "model MB": weights / 1e6}
            for workers in WORKERS:
                same, own = sizes(kind, nodes, net.encoder, workers)
                row["encoder MB"] = same / 1e6
                row[f"rows MB, {workers} workers"] = own / 1e6
            rows.append(row)
    write("text_together", rows)


if __name__ == "__main__":
    main()
