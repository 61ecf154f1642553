"""Vectors in an embedded Qdrant, searched with a filter; a new text is embedded by the model."""

from qdrant_client import QdrantClient, models

import shop


def main() -> list[str]:
    """Fill a collection in memory and search it for a new text among the things of one shelf."""
    model = shop.model()
    vectors, shelves, texts = model.vectors_, shop.labels(), shop.names()
    client = QdrantClient(":memory:")
    size = models.VectorParams(size=vectors.dim, distance=models.Distance.COSINE)
    client.create_collection("shop", vectors_config=size)
    points = [
        models.PointStruct(
            id=i,
            vector=row.tolist(),
            payload={"id": name, "text": texts[name], "shelf": shelves[name]},
        )
        for i, (name, row) in enumerate(zip(vectors.names, vectors.center, strict=True))
    ]
    client.upsert("shop", points)
    query = model.embed(["a pan for soup"])[0].tolist()
    shelf = models.FieldCondition(key="shelf", match=models.MatchValue(value="kitchen"))
    answer = client.query_points("shop", query, query_filter=models.Filter(must=[shelf]), limit=3)
    found = [point.payload["id"] for point in answer.points]
    client.close()
    print([texts[name] for name in found])
    return found


if __name__ == "__main__":
    main()
