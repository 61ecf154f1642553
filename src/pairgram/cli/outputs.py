"""Whether a result can be written, asked before the work begins."""

from contextlib import suppress
from pathlib import Path

from pairgram.errors import PairgramError


class _DryRunError(Exception):
    """Ends a writing before anything takes the final name."""


def check_model_folder(path: Path) -> None:
    """Raise the error that saving a model there would raise at the end."""
    from pairgram.io.atomic import replacing_folder
    from pairgram.io.folder import is_model

    _check_parents(path)
    with suppress(_DryRunError), replacing_folder(path, is_model):
        raise _DryRunError


def check_file(path: Path) -> None:
    """Raise the error that writing this file would raise at the end."""
    from pairgram.io.atomic import replacing_file

    _check_parents(path)
    with suppress(_DryRunError), replacing_file(path) as temporary:
        temporary.touch()
        raise _DryRunError


def checkpoint_of(folder: Path) -> Path:
    """Where the training of a model folder is kept while it is not finished."""
    place = folder.resolve()
    return place.with_name(f"{place.name}.checkpoint")


def files_of(checkpoint: Path) -> list[Path]:
    """Files of a checkpoint that are there: some methods keep one for each part."""
    if not checkpoint.parent.is_dir():
        return []
    stem = f"{checkpoint.name}."
    return sorted(
        file
        for file in checkpoint.parent.iterdir()
        if file == checkpoint or file.name.startswith(stem)
    )


def _check_parents(path: Path) -> None:
    for parent in path.parents:
        if parent.is_file():
            raise PairgramError(f"{path}: cannot be written: {parent} is a file.")
