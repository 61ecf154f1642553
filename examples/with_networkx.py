"""A NetworkX graph in, suggested edges back in it."""

import networkx as nx

import pairgram as pg
import shop


def main() -> nx.Graph:
    """Suggest one new edge for every node of a NetworkX graph."""
    mine = nx.Graph(shop.edges())
    nx.set_node_attributes(mine, shop.names(), "text")
    model = pg.PS(dim=16, seed=0).fit(pg.TextGraph.from_networkx(mine))
    for node in list(mine):
        best = model.suggest(node=node, k=1)[0]
        mine.add_edge(node, best.node, suggested=True, score=best.score)
    print(sum(1 for *_, new in mine.edges(data="suggested") if new), "suggested edges")
    return mine


if __name__ == "__main__":
    main()
