"""Vectors in an embedded LanceDB, searched for a new text."""

import tempfile

import lancedb

import shop


def main() -> list[str]:
    """Write a table and search it by cosine among the things of one shelf."""
    model = shop.model()
    texts, shelves, vectors = shop.names(), shop.labels(), model.vectors_
    rows = [
        {"id": name, "text": texts[name], "shelf": shelves[name], "vector": row.tolist()}
        for name, row in zip(vectors.names, vectors.center, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        table = lancedb.connect(folder).create_table("shop", rows)
        query = table.search(model.embed(["a pan for soup"])[0].tolist()).metric("cosine")
        found = [row["id"] for row in query.where("shelf = 'kitchen'").limit(3).to_list()]
    print([texts[name] for name in found])
    return found


if __name__ == "__main__":
    main()
