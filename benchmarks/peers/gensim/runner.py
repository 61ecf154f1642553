"""gensim: word2vec with full windows, no down-sampling, K negatives."""

from pathlib import Path

from protocol import main, placed, window_pairs
from simple_walks import adjacency, walks


def prepare(job):
    """Read the edge list and walk; return the walks."""
    with job.phase("read"):
        indptr, indices = adjacency(job.edges, job.nodes)
    with job.phase("walk"):
        drawn = walks(indptr, indices, job.get("length"), job.get("times"), job.seed)
    job.counts["steps"] = drawn.size
    return drawn


def train(job, drawn):
    """Train on walks; return the model."""
    with job.phase("import"):
        from gensim.models import Word2Vec
    with job.phase("prepare"):
        model = Word2Vec(
            vector_size=job.get("dim"), window=job.get("window"), negative=job.get("negatives"),
            sg=1, hs=0, min_count=0, sample=0, shrink_windows=False, workers=job.threads,
            epochs=job.get("epochs", 1), alpha=job.get("learning_rate", 0.025), seed=job.seed + 1,
        )  # fmt: skip
        corpus = _corpus(job, drawn)
        model.build_vocab(**corpus)
    with job.phase("train"):
        model.train(
            **corpus, total_words=drawn.size, total_examples=len(drawn), epochs=model.epochs
        )
    pairs = window_pairs([drawn.shape[1]], job.get("window")) * len(drawn)
    job.counts["pairs"] = pairs * model.epochs
    return model


def _corpus(job, drawn):
    if not job.get("corpus_file"):
        return {"corpus_iterable": [list(map(str, walk)) for walk in drawn.tolist()]}
    path = Path(job.vectors).with_suffix(".walks")
    with open(path, "w") as file:
        for walk in drawn.tolist():
            file.write(" ".join(map(str, walk)) + "\n")
    return {"corpus_file": str(path)}


def sgns(job):
    """Pairs per second of the trainer alone."""
    train(job, prepare(job))


def whole(job):
    """Edge list to vectors."""
    model = train(job, prepare(job))
    rows = [int(name) for name in model.wv.index_to_key]
    job.write_vectors(
        placed(rows, model.wv.vectors, job.nodes), placed(rows, model.syn1neg, job.nodes)
    )


if __name__ == "__main__":
    main(["gensim", "numpy"], sgns=sgns, whole=whole)
