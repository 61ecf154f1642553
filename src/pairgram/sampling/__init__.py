"""Samplers: from a graph to pairs."""

from pairgram.sampling.pairs import Pairs, PairSampler, iter_pairs, sample_pairs
from pairgram.sampling.walks import WalkSampler, iter_walks, window_pairs

__all__ = [
    "PairSampler",
    "Pairs",
    "WalkSampler",
    "iter_pairs",
    "iter_walks",
    "sample_pairs",
    "window_pairs",
]
