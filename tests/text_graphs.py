"""Graphs with texts that agree with their links, for tests of text training."""

import numpy as np

import pairgram as pg


def worded(nodes=200, edges=700, words=60, seed=0):
    """Links drawn at random, with a few words for most nodes."""
    random = np.random.default_rng(seed)
    ends = (nodes * random.random((edges, 2)) ** 2).astype(np.int64)
    names = [str(i) for i in range(nodes)]
    counts = random.integers(0, 7, nodes)
    said = [" ".join(f"w{w}" for w in random.integers(0, words, count)) for count in counts]
    source, target = ([str(i) for i in side] for side in ends.T)
    return pg.TextGraph.from_edges(source, target, names, texts=dict(zip(names, said, strict=True)))
