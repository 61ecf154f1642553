"""Where results lie: the file name is the key. Cards, tuning files, and why a cell failed."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairgram.errors import FileFormatError, PairgramError
from pairgram.io.atomic import replacing_file

FORMAT = 1


@dataclass(frozen=True)
class Store:
    """Paths below the folder of results.

    Attributes
    ----------
    root
        The folder; tables are written right into it.
    """

    root: Path

    def card(self, table: str, row: str, method: str, seed: int) -> Path:
        """File of a finished cell."""
        return self.root / "cards" / table / row / f"{method}-seed{seed}.json"

    def failure(self, table: str, row: str, method: str, seed: int) -> Path:
        """File that says why a cell has no card."""
        return self.card(table, row, method, seed).with_suffix(".failed.json")

    def tuning(self, row: str, method: str) -> Path:
        """File of all trials of a method on a row."""
        return self.root / "tuning" / f"{row}-{method}.json"

    def figure(self, name: str) -> Path:
        """File of a table's figure."""
        return self.root / "figures" / f"{name}.svg"

    def page(self, name: str) -> Path:
        """File of a table in Markdown."""
        return self.root / f"{name}.md"


def read_record(path: Path) -> dict[str, Any] | None:
    """Read a JSON record; None where there is no such file."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(path, f"cannot be read ({error}).") from None
    except json.JSONDecodeError as error:
        raise FileFormatError(path, f"not JSON: {error.msg}.", line=error.lineno) from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise FileFormatError(
            path, f"not a record of format {FORMAT}; remove it and run the cell again."
        )
    return record


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write a JSON record in one step, with its format."""
    write_text(path, json.dumps({"format": FORMAT, **record}, indent=2, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file in one step, folders included."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PairgramError(f"{path}: cannot be written: {error.strerror}.") from error
    with replacing_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
