"""The result card: what was measured, on what, how, and where; JSON beside every table."""

import json
import os
import platform
import re
import sys
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from pathlib import Path
from typing import Any

from pairgram.errors import FileFormatError, InputError

FORMAT = 2


@dataclass(frozen=True)
class Card:
    """One evaluation of one model on one split, as plain JSON values.

    Attributes
    ----------
    method, parameters, rule
        The model's class, its constructor's parameters and the scoring rule it names as its own.
    split
        hash, kind, share and seed of the split, fingerprint of the graph it cuts.
    protocol, seed, candidates
        The protocol, the seed of its draws and the number of nodes negatives came from.
    counts
        Nodes, links on either side, centres scored.
    left_out
        Reason -> number of centres not scored.
    ties
        Rule -> number of trials whose two scores are equal.
    metrics
        Report key -> number, or None where `notes` says why there is none.
    notes
        Report key -> reason.
    floors
        Floor -> its auc_pair, ap and ties.
    buckets
        Training degree -> centres and auc_pair; nodes without a link have a bucket of their own.
    options
        What else was asked of the evaluation.
    pairs, updates, passes
        What training took, where the model counts them; passes are those of the encoder.
    seconds
        Phase -> seconds.
    peak_memory
        Largest resident set of the process so far, in bytes, where the system tells.
    versions, machine
        What it ran on.
    calibration
        How scores became probabilities and how well they fit the test, where it was asked for.
    source
        Where the graph was read from, for `pairgram evaluate --card`; None where a program gave it.
    """

    method: str
    parameters: dict[str, Any]
    rule: str
    split: dict[str, Any]
    protocol: str
    seed: int
    candidates: int
    counts: dict[str, int]
    left_out: dict[str, int]
    ties: dict[str, int]
    metrics: dict[str, float | None]
    notes: dict[str, str]
    floors: dict[str, dict[str, float]]
    buckets: dict[str, dict[str, float]]
    options: dict[str, Any]
    pairs: int | None
    updates: int | None
    passes: int | None
    seconds: dict[str, float]
    peak_memory: int | None
    versions: dict[str, str]
    machine: dict[str, Any]
    calibration: dict[str, Any] | None = None
    source: dict[str, Any] | None = None
    format: int = FORMAT

    def to_json(self) -> str:
        """Return the card as indented JSON."""
        return json.dumps(asdict(self), indent=2, allow_nan=False, default=_plain) + "\n"

    def write(self, path: str | Path) -> None:
        """Write the card; a crash leaves the old file or none, never half of one."""
        final = Path(path)
        text = self.to_json()
        partial = final.with_name(f".{final.name}.{os.getpid()}.partial")
        try:
            partial.write_text(text, encoding="utf-8")
            partial.replace(final)
        except OSError as error:
            raise InputError(f"{final}: the card cannot be written ({error.strerror}).") from error
        finally:
            partial.unlink(missing_ok=True)

    @classmethod
    def read(cls, path: str | Path) -> "Card":
        """Read a card that `write` has written."""
        stored = _read_object(path)
        if stored.get("format") != FORMAT:
            raise FileFormatError(
                path,
                f"the card must be of format {FORMAT}. Got {stored.get('format')!r}; "
                "read it with the version of pairgram that wrote it.",
            )
        names = {field.name for field in fields(cls)}
        if names != set(stored):
            odd = ", ".join(sorted(names ^ set(stored)))
            raise FileFormatError(path, f"not a result card: missing or unknown entries: {odd}.")
        return cls(**stored)


def versions() -> dict[str, str]:
    """Version of Python and of the packages that decide a result."""
    import pairgram

    found = {"python": platform.python_version()}
    for package in ("numpy", "numba"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "absent"
    return {**found, "pairgram": str(getattr(pairgram, "__version__", "unknown"))}


def machine() -> dict[str, Any]:
    """CPU model, cores this process may use, and system.

    A model name that names no model, as machines in a cloud have it, gets the family's numbers.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    return {
        "cpu": _cpu_model(),
        "cores": len(affinity(0)) if affinity else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def peak_memory() -> int | None:
    """Largest resident set of this process so far, in bytes; None where it is not told."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in KiB, macOS in bytes.
    return peak if sys.platform == "darwin" else peak * 1024


def _cpu_model() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        told = ""
    return cpu_name(told) or platform.processor() or platform.machine()


def cpu_name(told: str) -> str:
    r"""Name of the first processor in the text of /proc/cpuinfo; empty where it has none.

    >>> cpu_name("model name : AMD EPYC 7763 64-Core Processor")
    'AMD EPYC 7763 64-Core Processor'
    >>> cpu_name("cpu family : 26\nmodel : 2\nmodel name : AMD EPYC\nstepping : 1")
    'AMD EPYC (family 26, model 2, stepping 1)'
    """
    entries = (line.partition(":") for line in told.partition("\n\n")[0].splitlines())
    found = {key.strip(): value.strip() for key, _, value in entries}
    name = found.get("model name", "")
    # A frequency or a count of cores is no model.
    if re.search(r"\d", re.sub(r"\(R\)|@.*|\d+-Core", "", name)):
        return name
    numbers = {"family": "cpu family", "model": "model", "stepping": "stepping"}
    known = ", ".join(f"{word} {found[key]}" for word, key in numbers.items() if key in found)
    return f"{name} ({known})" if name and known else name


def _read_object(path: str | Path) -> dict[str, Any]:
    try:
        stored = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileFormatError(path, "there is no such file.") from None
    except OSError as error:
        raise FileFormatError(path, f"cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise FileFormatError(path, "not a result card: not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise FileFormatError(path, f"not JSON: {error.msg}.", line=error.lineno) from None
    if not isinstance(stored, dict):
        raise FileFormatError(path, "not a result card: a JSON object was expected.")
    return stored


def _plain(value: object) -> Any:
    """JSON for what parameters may hold beyond plain values: NumPy scalars, arrays, paths."""
    tolist = getattr(value, "tolist", None)
    return tolist() if callable(tolist) else str(value)
