"""Reading a saved split."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError


def read_npz(path: str | Path) -> dict[str, NDArray[Any]]:
    """Fields that `Split.save` has written; a file that is not whole raises."""
    needed = ("kind", "held_out", "seed", "share", "hash", "fingerprint", "new")
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            fields = {name: stored[name] for name in needed if name in stored}
    except FileNotFoundError:
        raise FileFormatError(path, "there is no such file; write one with Split.save.") from None
    except (ValueError, TypeError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise FileFormatError(path, f"not a saved split ({error}).") from None
    missing = [name for name in needed if name not in fields]
    if missing:
        raise FileFormatError(path, f"not a saved split: it has no {', '.join(missing)}.")
    if fields["held_out"].ndim != 2 or fields["held_out"].shape[1] != 2:
        shape = fields["held_out"].shape
        raise FileFormatError(path, f"held_out must have shape (m, 2). Got {shape} instead.")
    return fields
