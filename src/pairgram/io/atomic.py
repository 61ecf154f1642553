"""Writing under a temporary name first, so that a crash leaves nothing half-written."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pairgram.errors import PairgramError


@contextmanager
def replacing_file(path: str | Path) -> Iterator[Path]:
    """Give a temporary path beside `path` that takes its name when the block ends well."""
    path = Path(path).absolute()
    if path.is_dir():
        raise PairgramError(f"{path}: cannot be written: it is a folder.")
    temporary = _beside(path, "tmp")
    try:
        yield temporary
        sync(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise PairgramError(f"{path}: cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):  # what went wrong before is what the caller must hear of
            temporary.unlink()


@contextmanager
def replacing_folder(path: str | Path, may_replace: Callable[[Path], bool]) -> Iterator[Path]:
    """Give a temporary folder beside `path` that takes its name when the block ends well.

    Parameters
    ----------
    may_replace
        Whether a folder with something in it may go.
    """
    path = Path(path).absolute()
    _check_target(path, may_replace)
    temporary, aside = _beside(path, "tmp"), _beside(path, "old")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        yield temporary
        for file in temporary.iterdir():
            sync(file)
        sync(temporary)
        _swap(temporary, path, aside)
        sync(path.parent)
    except OSError as error:
        raise PairgramError(f"{path}: cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def sync(path: Path) -> None:
    """Wait until a file or folder is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _beside(path: Path, kind: str) -> Path:
    # Random, because process numbers repeat where containers share a disk.
    return path.parent / f".{path.name}.{secrets.token_hex(4)}.{kind}"


def _check_target(path: Path, may_replace: Callable[[Path], bool]) -> None:
    if path.is_file():
        raise PairgramError(f"{path}: cannot be written: it is a file, expected a folder.")
    if path.is_dir() and any(path.iterdir()) and not may_replace(path):
        raise PairgramError(
            f"{path}: cannot be written: the folder holds something else; choose another name."
        )


def _swap(new: Path, path: Path, aside: Path) -> None:
    if not path.exists():
        new.rename(path)
        return
    path.rename(aside)
    try:
        new.rename(path)
    except OSError:
        aside.rename(path)
        raise
    shutil.rmtree(aside)
