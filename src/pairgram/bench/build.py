"""Models of cells: built from parameters, or loaded where they were fitted elsewhere."""

from pathlib import Path
from typing import Any

from pairgram import datasets
from pairgram.bench.jobs import Job
from pairgram.errors import InputError
from pairgram.models import METHODS, Model, load

# Every rule is scored, and neither threads nor the device change what is trained.
UNTRAINED = ("threads", "rule", "device")


def build(method: str, parameters: dict[str, Any], seed: int, threads: int | None = None) -> Model:
    """Make the model of a cell; unknown parameters raise `ParameterError`."""
    return METHODS[method]().set_shared(seed=seed, threads=threads).set_params(**parameters)


def ready(job: Job) -> Model:
    """Model of a job with the files it reads, which are given by their registered names."""
    return with_files(build(job.model, job.parameters, job.seed, job.threads))


def with_files(model: Model) -> Model:
    """Put the paths of registered word vectors and encoders in the place of their names."""
    given = model.get_params()
    if given.get("word_vectors") in datasets.WORD_VECTORS:
        model.set_params(word_vectors=str(datasets.word_vectors(given["word_vectors"])))
    if given.get("pretrained") in datasets.ENCODERS:
        model.set_params(pretrained=str(datasets.sentence_encoder(given["pretrained"])))
    return model


def saved(job: Job, folder: str) -> Model:
    """Load the model of a job; one that was fitted with other parameters raises."""
    model, wanted = load(folder), build(job.model, job.parameters, job.seed, job.threads)
    if model.method != wanted.method:
        raise InputError(f"{folder}: the cell is of {wanted.method}. Got {model.method}.")
    got, expected = comparable(model.get_params()), comparable(wanted.get_params())
    strange = [f"{k} {got[k]!r} (spec {v!r})" for k, v in expected.items() if got[k] != v]
    if strange:
        raise InputError(
            f"{folder}: the model was fitted with other parameters than the spec's: "
            f"{', '.join(strange)}."
        )
    return model.set_params(**{k: v for k, v in wanted.get_params().items() if k == "rule"})


def comparable(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters that decide what is trained; word vectors and encoders by name, not by place."""
    kept = {k: v for k, v in parameters.items() if k not in UNTRAINED}
    if kept.get("word_vectors"):
        kept["word_vectors"] = _file_name(str(kept["word_vectors"]))
    if kept.get("pretrained"):
        kept["pretrained"] = _encoder_name(str(kept["pretrained"]))
    return kept


def completed(method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a card with those that the method has been given since, at their defaults."""
    if method not in METHODS or not parameters:
        return parameters
    return {**METHODS[method]().get_params(), **parameters}


def recorded(model: Model, job: Job) -> dict[str, Any]:
    """Parameters for a card: nothing of this machine."""
    kept = {k: v for k, v in model.get_params().items() if k != "threads"}
    if kept.get("word_vectors"):
        kept["word_vectors"] = job.parameters.get("word_vectors")
    if kept.get("pretrained"):
        kept["pretrained"] = job.parameters.get("pretrained")
    return kept


def _file_name(given: str) -> str:
    entry = datasets.WORD_VECTORS.get(given)
    return Path(given).name if entry is None else entry.file.name


def _encoder_name(given: str) -> str:
    """Name of a registered encoder, whether in its package or among the datasets."""
    place = Path(given)
    for name, entry in datasets.ENCODERS.items():
        inside = (place.parent.name, place.name) == (entry.package, entry.inside)
        if place.name == name or inside:
            return name
    return given
