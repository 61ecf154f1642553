"""Vectors as node features of PyTorch Geometric, and its edges in."""

import torch

import pairgram as pg
import shop


def main() -> object:
    """Give a PyTorch Geometric graph the vectors of a model, then read its edges back."""
    graph = shop.graph()
    model = pg.PS(dim=16, seed=0).fit(graph)
    data = graph.to_pyg()
    data.x = torch.from_numpy(model.vectors_.center.copy())
    again = pg.TextGraph.from_pyg(data, names=graph.names)
    print(data, again)
    return data


if __name__ == "__main__":
    main()
