"""Nearest nodes by SQL over the parquet file that `pairgram embed` writes."""

import tempfile
from pathlib import Path

import duckdb

import shop

NEAREST = """
    SELECT other.id, list_cosine_similarity(mine.vector, other.vector) AS likeness
    FROM read_parquet($file) AS mine, read_parquet($file) AS other
    WHERE mine.id = $id AND other.id <> $id
    ORDER BY likeness DESC LIMIT 3
"""


def main() -> list[tuple[str, float]]:
    """Write the vectors and ask for the neighbours of one node."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "vectors.parquet"
        shop.model().vectors_.save(file)
        found = duckdb.execute(NEAREST, {"file": str(file), "id": "K2"}).fetchall()
    print(found)
    return found


if __name__ == "__main__":
    main()
