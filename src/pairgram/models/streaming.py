"""Vectors or suggestions for any number of new texts: parquet in, parquet out."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairgram.engine import Engine
from pairgram.errors import ParameterError
from pairgram.io.atomic import replacing_folder

if TYPE_CHECKING:
    from pairgram.io.text_stream import Piece

ROWS = 1024
"""Texts that are in memory at a time."""


class TextWorker:
    """Reads pieces of parquet files and writes what a model says to their texts.

    Parameters
    ----------
    model
        Folder of a model that reads texts; it is loaded by every worker, once.
    folder
        Where the files go.
    columns
        Names of the columns of ids and of texts.
    k
        Suggestions for each text; None gives vectors.
    rows
        Texts at a time.
    """

    def __init__(
        self, model: Path, folder: Path, columns: tuple[str, str], k: int | None, rows: int
    ) -> None:
        self._path, self._folder, self._columns = model, folder, columns
        self._k, self._rows = k, rows

    def __call__(self, piece: "Piece") -> int:
        """Write the file of a piece; return how many texts it has."""
        from pairgram.io.text_stream import write_piece

        work = self._vectors if self._k is None else self._suggestions
        return write_piece(piece, self._columns, self._folder, work, self._rows)

    @cached_property
    def _model(self) -> Any:
        from pairgram.models.storage import load

        return load(self._path)

    def _vectors(self, ids: list[str], texts: list[str]) -> Any:
        from pairgram.io.text_stream import vector_table

        # A model reads at least one text, which the columns' types need too.
        vectors = self._model.embed(texts or [""])[: len(ids)]
        return vector_table(ids, vectors)

    def _suggestions(self, ids: list[str], texts: list[str]) -> Any:
        from pairgram.io.text_stream import suggestion_table

        found = self._model.suggest_many(texts, k=self._k) if texts else []
        return suggestion_table(ids, [[(one.node, one.score) for one in some] for some in found])


def stream_texts(
    model: str | Path,
    source: str | Path,
    to: str | Path,
    engine: Engine,
    k: int | None = None,
    id_column: str = "id",
    text_column: str = "text",
    rows: int = ROWS,
    after_piece: Callable[[int, int], None] | None = None,
) -> int:
    """Write a vector, or k suggestions, for every text of a parquet file or folder of them.

    Each row group is read and written by one worker, a few texts at a time, so memory does not
    depend on the number of texts. File part-000000.parquet has the rows of the first row group, in
    their order, whatever the engine.

    Parameters
    ----------
    model
        Folder of a model that reads texts.
    source
        Parquet file, or a folder of them, with columns of ids and texts.
    to
        Folder to write; an older one of such files is replaced.
    engine
        Its workers must see the three.
    k
        Suggestions for each text; None writes vectors.
    id_column, text_column
        Names of the columns.
    rows
        Texts that a worker holds at a time.
    after_piece
        Called with the number of row groups done and of texts so far.

    Returns
    -------
    int
        How many texts there were.
    """
    from pairgram.io.pair_files import has_only_shards
    from pairgram.io.text_stream import pieces_of
    from pairgram.models.storage import load

    folder, place = Path(model).absolute(), Path(source).absolute()
    loaded = load(folder)
    if not hasattr(loaded, "embed"):
        raise ParameterError(
            f"{type(loaded).__name__} learns from structure alone and cannot read new texts."
        )
    pieces = pieces_of(place, id_column, text_column)
    for seen in (folder / "config.json", Path(pieces[0][1])):
        engine.check_file(seen)
    texts = 0
    with replacing_folder(to, has_only_shards) as temporary:
        engine.check_folder(temporary)
        worker = TextWorker(folder, temporary, (id_column, text_column), k, rows)
        for done, count in enumerate(engine.map(worker, pieces), start=1):
            texts += count
            if after_piece is not None:
                after_piece(done, texts)
    return texts
