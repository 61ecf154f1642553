"""Files of this machine and of object stores: `file://` and `s3://`, as pyarrow knows them."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pairgram.errors import FileFormatError, InputError, PairgramError
from pairgram.io.atomic import replacing_file
from pairgram.io.tensors import map_tensors, read_tensors, tensor_bytes, write_tensors

SCHEME = "://"


class Place:
    """Where a file is or will be.

    Parameters
    ----------
    where
        A path, or a URI such as ``s3://bucket/folder/name?region=eu-west-1``. Keys of an object
        store are taken from the environment, as its own tools do.

    Examples
    --------
    >>> Place("folder/state").beside("rows").name
    'state.rows'
    """

    def __init__(self, where: "str | Path | Place") -> None:
        self.where: str = where.where if isinstance(where, Place) else str(where)
        self._suffix: str = where._suffix if isinstance(where, Place) else ""

    def __str__(self) -> str:
        return f"{self.where}{self._suffix}"

    @property
    def path(self) -> Path | None:
        """The path, where it is one of this machine."""
        kind, _, rest = self.where.rpartition(SCHEME)
        return Path(f"{rest}{self._suffix}") if kind in ("", "file") else None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._in_store[1].rpartition("/")[2] if self.path is None else self.path.name

    def beside(self, suffix: str) -> "Place":
        """The place of the same name with a suffix, in the same folder."""
        other = Place(self)
        other._suffix += f".{suffix}"
        return other

    def inside(self, name: str) -> "Place":
        """The place of a file in this folder."""
        other = Place(self)
        other._suffix += f"/{name}"
        return other

    def write(self, data: bytes) -> None:
        """Write a file, whole or not at all."""
        if self.path is not None:
            with replacing_file(self.path) as file:
                file.write_bytes(data)
            return
        store, path = self._in_store
        try:
            with store.open_output_stream(path) as stream:
                stream.write(data)
        except OSError as error:
            raise PairgramError(f"{self}: cannot be written: {_line(error)}.") from None

    def read(self) -> bytes | None:
        """What the file holds, or None where there is none."""
        try:
            if self.path is not None:
                return self.path.read_bytes()
            store, path = self._in_store
            with store.open_input_stream(path) as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileFormatError(str(self), f"cannot be read: {_line(error)}.") from None

    def write_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write a safetensors file."""
        if self.path is None:
            self.write(tensor_bytes(arrays))
            return
        with replacing_file(self.path) as file:
            write_tensors(file, arrays)

    def read_arrays(self) -> dict[str, NDArray[Any]] | None:
        """Arrays of a safetensors file, mapped where it is on this machine; None without a file."""
        if self.path is not None:
            return map_tensors(self.path) if self.path.exists() else None
        data = self.read()
        return None if data is None else read_tensors(str(self), data)

    def remove(self) -> None:
        """Remove the file, if it is there."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            return
        store, path = self._in_store
        try:
            store.delete_file(path)
        except FileNotFoundError:
            return

    @cached_property
    def _in_store(self) -> tuple[Any, str]:
        """The file system, and the path in it."""
        from pyarrow import ArrowException
        from pyarrow.fs import FileSystem

        try:
            store, path = FileSystem.from_uri(self.where)
        except (ArrowException, OSError, ValueError) as error:
            raise InputError(
                f"{self.where}: is no place that can be written to ({_line(error)}). Give a path, "
                "or a URI such as s3://bucket/name."
            ) from None
        return store, f"{path}{self._suffix}"

    def __getstate__(self) -> dict[str, str]:
        return {"where": self.where, "_suffix": self._suffix}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__dict__.update(state)


def _line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
