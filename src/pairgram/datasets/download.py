"""Files from the network, asked for by `pairgram data get` and by nothing else."""

import http.client
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from pairgram.datasets.base import Dataset, cache_folder, content_sum
from pairgram.errors import FileFormatError, InputError

CHUNK = 1 << 20
SECONDS = 30
PART = ".part"

Note = Callable[[str], None]


def download(dataset: Dataset, note: Note = lambda _: None) -> Path:
    """Download what a dataset is made from, make its files, and return their folder.

    Files that were fetched stay until all is made, so that a broken download goes on where it
    ended. Nothing appears under its final name before its sha256 was found right.

    Parameters
    ----------
    dataset
        One with an upstream.
    note
        Told of each file before it is fetched.
    """
    folder = cache_folder(dataset.name)
    if dataset.upstream is None:
        raise InputError(dataset.how_to_get(dataset.files[0].name))
    if dataset.folder() != folder:
        raise InputError(
            f"PAIRGRAM_DATA has a folder {dataset.folder()} without all files of {dataset.name!r}, "
            "and nothing is written there: complete it, or take it away."
        )
    folder.mkdir(parents=True, exist_ok=True)
    raw = {}
    for address in dataset.upstream.addresses:
        path = folder / f"upstream-{address.rsplit('/', 1)[1]}"
        if not path.is_file():
            note(address)
            _fetch(dataset, address, path)
        raw[path.name.removeprefix("upstream-")] = path
    try:
        _place(dataset, folder, dataset.upstream.make(raw))
    finally:
        for path in raw.values():
            path.unlink()
    return folder


def _fetch(dataset: Dataset, address: str, path: Path) -> None:
    part = path.with_name(path.name + PART)
    try:
        _append(address, part)
    except (OSError, http.client.HTTPException) as error:
        # An HTTPError is an OSError.
        reason = getattr(error, "reason", None) or str(error) or type(error).__name__
        raise InputError(f"{address} cannot be fetched: {reason}. {_by_hand(dataset)}") from None
    os.replace(part, path)


def _append(address: str, part: Path) -> None:
    """Bring a file up to the end of what an address gives, from where an earlier try ended."""
    have = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        reply = urllib.request.urlopen(request, timeout=SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        part.unlink()  # longer than the file there: not a part of it
        reply = urllib.request.urlopen(address, timeout=SECONDS)
    goes_on = reply.status == http.client.PARTIAL_CONTENT
    with reply, part.open("ab" if goes_on else "wb") as stream:
        left = int(reply.headers.get("Content-Length", -1))
        while block := reply.read(CHUNK):
            stream.write(block)
            left -= len(block)
    if left > 0:
        raise OSError(f"the connection ended {left} bytes early; a further try goes on from there")


def _by_hand(dataset: Dataset) -> str:
    names = " and ".join(file.name for file in dataset.files)
    return f"By hand: from {dataset.address} to {names} in {dataset.folder()}."


def _place(dataset: Dataset, folder: Path, made: dict[str, bytes]) -> None:
    known = {file.plain_name: file for file in (*dataset.files, dataset.label_file) if file}
    for name, content in made.items():
        found, expected = content_sum(content), known[name].plain_sha256
        if found != expected:
            raise FileFormatError(
                folder / name,
                f"what was fetched from {dataset.address} is not what is known under "
                f"{dataset.name!r}: expected sha256 {expected}, found {found}.",
            )
    for name, content in made.items():
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as stream:
            stream.write(content)
        Path(stream.name).chmod(0o644)
        os.replace(stream.name, folder / name)
