"""PyTorch-BigGraph: its importer and trainer on one entity type and one relation."""

import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
from protocol import main, placed

warnings.filterwarnings("ignore")


def config(job, folder):
    """Settings of a run in its own folder."""
    return {
        "entity_path": str(folder / "entities"),
        "edge_paths": [str(folder / "edges")],
        "checkpoint_path": str(folder / "model"),
        "entities": {"node": {"num_partitions": 1}},
        "relations": [{"name": "link", "lhs": "node", "rhs": "node", "operator": "none"}],
        "dimension": job.get("dim"),
        "comparator": "dot",
        "loss_fn": job.get("loss"),
        "num_epochs": job.get("epochs"),
        "lr": job.get("learning_rate"),
        "num_batch_negs": job.get("batch_negatives", 50),
        "num_uniform_negs": job.get("uniform_negatives", 50),
        "eval_fraction": 0.0,
        "workers": job.threads,
        "verbose": 0,
    }


def whole(job):
    """Edge list to vectors."""
    with job.phase("import"):
        from torchbiggraph.config import parse_config
        from torchbiggraph.converters.import_from_tsv import convert_input_data
        from torchbiggraph.train import train
        from torchbiggraph.util import SubprocessInitializer
    folder = Path(tempfile.mkdtemp())
    try:
        schema = parse_config(config(job, folder))
        with job.phase("read"):
            convert_input_data(
                schema.entities, schema.relations, schema.entity_path, schema.edge_paths,
                [Path(job.edges)], lhs_col=0, rhs_col=1,
            )  # fmt: skip
        with job.phase("train"):
            train(schema, subprocess_init=SubprocessInitializer())
        with job.phase("write"):
            vectors, names = _read(folder, schema)
    finally:
        shutil.rmtree(folder)
    job.notes.append("peak memory is that of the parent; workers share its tables")
    job.write_vectors(placed([int(name) for name in names], vectors, job.nodes))


def _read(folder, schema):
    import json

    import h5py

    names = json.loads((folder / "entities" / "entity_names_node_0.json").read_text())
    version = (folder / "model" / "checkpoint_version.txt").read_text().strip()
    with h5py.File(folder / "model" / f"embeddings_node_0.v{version}.h5") as file:
        return np.array(file["embeddings"]), names


if __name__ == "__main__":
    main(["torchbiggraph", "torch"], whole=whole)
