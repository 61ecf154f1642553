"""A data frame of edges in, suggestions as a data frame out."""

from dataclasses import asdict

import pandas as pd

import pairgram as pg
import shop


def main() -> pd.DataFrame:
    """Suggest three links for each of two new texts."""
    frame = pd.DataFrame(shop.edges(), columns=["source", "target"])
    graph = pg.TextGraph.from_pandas(frame, texts=shop.names())
    model = pg.TGE(dim=16, preset="best", epochs=40, patience=0, threads=1).fit(graph)
    new = pd.Series({"N1": "a pan for soup", "N2": "flower bed spade"})
    found = model.suggest_many(new.tolist(), k=3)
    rows = [
        {"new": name, **asdict(one)}
        for name, some in zip(new.index, found, strict=True)
        for one in some
    ]
    table = pd.DataFrame(rows)[["new", "node", "score", "text", "why"]]
    print(table.to_string(index=False))
    return table


if __name__ == "__main__":
    main()
