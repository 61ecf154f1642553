"""A fake peer for the speed bench: it knows the answer, and adds noise."""

import textwrap
from pathlib import Path

import pytest

from pairgram.bench.speed.execute import Environments
from pairgram.bench.speed.records import SpeedStore
from pairgram.bench.speed.run import Bench
from pairgram.bench.speed.spec import read_peers, read_spec

ROOT = Path(__file__).parent.parent
PEERS = ROOT / "benchmarks" / "peers"
needs_checkout = pytest.mark.skipif(not PEERS.exists(), reason="benchmarks/ is not here")

SPEC = """
common: {dim: 4, negatives: 5}
runs: 2
graphs:
  small: {nodes: 40, edges: 90, exponent: 2.5}
  split: {dataset: planted, keep: 0.8, validation: 0.1}
rates:
  walks: {count: steps, phase: walk, settings: {times: 3}, graphs: {small: {threads: [1]}}}
quality:
  graphs: [split]
  seeds: [0, 1]
  threads: 1
  rules: [dot, context]
  margin: 0.002
  reference: {peer: fake, settings: {noise: 0.05}, seeds: [0, 1]}
limits: {seconds: 60}
"""
PEER = """
title: A fake
python: current
about: knows the answer, and adds noise
walks:
  first order: {p: 1.0}
base: {}
ladder: [{noise: 9.0}, {noise: 0.05}, {noise: 0.1}]
"""
# The leading eigenvectors, blurred, are as good as any; walks are counted, not made.
RUNNER = """
import sys
import numpy as np
from protocol import main, read_edges

def walks(job):
    with job.phase("walk"):
        pass
    job.seconds["walk"] = 0.5
    job.counts["steps"] = 1000 * job.get("times") * (job.seed + 1)

def whole(job):
    if job.get("fail"):
        sys.exit("no such thing")
    with job.phase("compile"):
        random = np.random.default_rng(job.seed)
    links = np.zeros((job.nodes, job.nodes))
    links[tuple(read_edges(job.edges))] = 1
    center = np.linalg.eigh(links + links.T)[1][:, -4:] * np.sqrt(job.nodes)
    center += job.get("noise") * random.normal(size=center.shape)
    job.write_vectors(center, center if job.get("contexts", True) else None)

main(["numpy"], walks=walks, whole=whole)
"""


def write_peers(folder: Path) -> Path:
    """Write a folder of peers with the fake one."""
    (folder / "common").mkdir(parents=True)
    (folder / "speed.yaml").write_text(SPEC)
    add_peer(folder, "fake", PEER)
    protocol = PEERS / "common" / "protocol.py"
    (folder / "common" / "protocol.py").write_text(protocol.read_text())
    return folder


def add_peer(folder: Path, name: str, peer: str) -> None:
    """Write one more peer with the runner of the fake one."""
    (folder / name).mkdir()
    (folder / name / "peer.yaml").write_text(peer)
    (folder / name / "runner.py").write_text(textwrap.dedent(RUNNER))


def bench_of(peers: Path, folder: Path) -> Bench:
    """Return the bench of a folder of peers, with all that it writes below another folder."""
    return Bench(
        read_spec(peers),
        read_peers(peers),
        SpeedStore(folder / "results"),
        Environments(folder / "environments", peers / "common"),
        folder / "work",
    )
