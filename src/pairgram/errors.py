"""The error types. Every message is one line: who, what was expected, what came, what to do."""

from pathlib import Path


class PairgramError(Exception):
    """Base of all errors that a user can cause or mend."""


class InputError(PairgramError, ValueError):
    """Data that cannot be used as given."""


class ParameterError(InputError):
    """A parameter outside its range; the command line exits with 2."""


class FileFormatError(InputError):
    """A file that does not read as what it should be; carries the path and the line."""

    def __init__(self, path: str | Path, message: str, line: int | None = None) -> None:
        self.path = Path(path)
        self.line = line
        place = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {message}")


class UnknownNodeError(InputError):
    """A node id that the graph or model does not hold."""


class NotFittedError(PairgramError):
    """A model was used before `fit`."""


class LeakError(PairgramError):
    """Held-out data reached training, so a score would mean nothing."""


class LostWorkerError(PairgramError):
    """A worker of a cluster is gone, with what it held."""


class MissingExtraError(PairgramError, ImportError):
    """An optional dependency is not installed; names the extra that brings it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}': pip install 'pairgram[{extra}]'")
