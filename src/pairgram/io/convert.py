"""Graphs of other libraries, as edge columns and back."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError, MissingExtraError
from pairgram.io.columns import EdgeColumns, number_ends

IntArray = NDArray[np.int64]


def as_names(labels: Iterable[Hashable], what: str) -> list[str]:
    """Turn labels into strings, shape (n,); two labels that look alike raise."""
    names: dict[str, Hashable] = {}
    for label in labels:
        if names.setdefault(str(label), label) is not label:
            raise InputError(
                f"{what}: the nodes {names[str(label)]!r} and {label!r} have the same name; "
                "rename one."
            )
    return list(names)


def networkx_columns(graph: Any, text: str | None, weight: str | None) -> EdgeColumns:
    """Columns of a NetworkX graph, nodes in its order.

    Parameters
    ----------
    text, weight
        Names of the node and edge attributes to read, or None; edges without the weight get 1.
    """
    labels = list(graph.nodes)
    position = {label: number for number, label in enumerate(labels)}
    ends = [(position[a], position[b]) for a, b in graph.edges()]
    both = np.array(ends, dtype=np.int64).reshape(-1, 2)
    weights = None
    if weight is not None:
        weights = np.array([w for _, _, w in graph.edges(data=weight, default=1)], dtype=np.float64)
    texts = None
    if text is not None and any(text in data for _, data in graph.nodes(data=True)):
        texts = tuple(str(data.get(text) or "") for _, data in graph.nodes(data=True))
    return EdgeColumns(
        names=as_names(labels, "from_networkx"),
        source=both[:, 0].copy(),
        target=both[:, 1].copy(),
        weight=weights,
        texts=texts,
    )


def scipy_arrays(
    matrix: Any, directed: bool
) -> tuple[IntArray, IntArray, NDArray[np.float64], int]:
    """Arcs of a square sparse matrix: source, target, weight, shape (m,), and the size.

    A symmetric matrix of an undirected graph gives each edge once.
    """
    from scipy.sparse import coo_array

    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"from_scipy: the matrix must be square, got the shape {matrix.shape}.")
    entries = coo_array(matrix)
    source, target = (side.astype(np.int64) for side in entries.coords)
    weight = np.asarray(entries.data, dtype=np.float64)
    nonzero = weight != 0
    source, target, weight = source[nonzero], target[nonzero], weight[nonzero]
    if not directed:
        source, target, weight = drop_mirrored(source, target, weight)
    return source, target, weight, int(matrix.shape[0])


def drop_mirrored(
    source: IntArray, target: IntArray, weight: NDArray[np.float64]
) -> tuple[IntArray, IntArray, NDArray[np.float64]]:
    """Keep one of each two mirrored arcs where all arcs, shape (m,), are mirrored alike."""
    forward = np.lexsort((weight, target, source))
    backward = np.lexsort((weight, source, target))
    mirrored = (
        np.array_equal(source[forward], target[backward])
        and np.array_equal(target[forward], source[backward])
        and np.array_equal(weight[forward], weight[backward])
    )
    if not mirrored:
        return source, target, weight
    once = source <= target
    return source[once], target[once], weight[once]


def pandas_columns(
    frame: Any,
    source: str,
    target: str,
    weight: str | None,
    relation: str | None,
    date: str | None,
) -> EdgeColumns:
    """Columns of a data frame; ids of integer columns become their decimal strings."""
    columns = {"source": source, "target": target}
    columns |= {"weight": weight} if weight else {}
    columns |= {"relation": relation} if relation else {}
    columns |= {"date": date} if date else {}
    missing = [name for name in columns.values() if name not in frame.columns]
    if missing:
        known = ", ".join(map(repr, frame.columns))
        raise InputError(f"from_pandas: no column {missing[0]!r}; the frame has {known}.")
    names, codes = number_ends(_frame_ids(frame, source), _frame_ids(frame, target))
    labels = None if not relation else number_ends(_frame_ids(frame, relation))
    return EdgeColumns(
        names=names,
        source=codes[0],
        target=codes[1],
        weight=None if not weight else frame[weight].to_numpy(),
        date=None if not date else frame[date].to_numpy(),
        relation=None if labels is None else (labels[1][0].astype(np.int32), tuple(labels[0])),
    )


def _frame_ids(frame: Any, name: str) -> Any:
    import pyarrow as pa

    series = frame[name]
    if series.isna().any():
        row = int(np.argmax(series.isna().to_numpy()))
        raise InputError(f"from_pandas: column {name!r} has no value in row {row}.")
    try:
        array = pa.array(series.to_numpy())
    except pa.ArrowException:
        raise InputError(f"from_pandas: column {name!r} mixes types; make it strings.") from None
    if pa.types.is_floating(array.type) or pa.types.is_boolean(array.type):
        raise InputError(
            f"from_pandas: column {name!r} must hold strings or integers, got {array.type}."
        )
    return pa.chunked_array([array.cast(pa.string())])


def pyg_arrays(
    data: Any, weight: str | None, directed: bool
) -> tuple[IntArray, IntArray, NDArray[np.float64] | None, int]:
    """Arcs of an object with `edge_index` and `num_nodes`: source, target, weight (m,), and n.

    Arcs of an undirected graph that are all mirrored give each edge once.
    """
    index = np.asarray(data.edge_index)
    if index.ndim != 2 or index.shape[0] != 2:
        raise InputError(f"from_pyg: edge_index must have the shape (2, m), got {index.shape}.")
    source, target = index[0].astype(np.int64), index[1].astype(np.int64)
    given = None if weight is None else getattr(data, weight, None)
    if weight is not None and given is None:
        raise InputError(f"from_pyg: the data has no {weight!r}.")
    values = np.ones(len(source)) if given is None else np.asarray(given, dtype=np.float64).ravel()
    if len(values) != len(source):
        raise InputError(f"from_pyg: {weight!r} must have {len(source)} items, got {len(values)}.")
    if not directed:
        source, target, values = drop_mirrored(source, target, values)
    return source, target, None if given is None else values, int(data.num_nodes)


def import_extra(module: str, what: str, extra: str) -> Any:
    """Import an optional library, or say which extra brings it."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(what, extra) from None


def make_networkx(
    names: NDArray[np.object_],
    source: IntArray,
    target: IntArray,
    directed: bool,
    texts: tuple[str, ...] | None,
    attributes: dict[str, NDArray[Any] | None],
) -> Any:
    """Make a NetworkX graph with names as nodes and `attributes`, shape (m,), on the edges."""
    networkx = import_extra("networkx", "to_networkx", "networkx")
    graph = networkx.DiGraph() if directed else networkx.Graph()
    if texts is None:
        graph.add_nodes_from(names.tolist())
    else:
        graph.add_nodes_from(
            (name, {"text": text}) for name, text in zip(names.tolist(), texts, strict=True)
        )
    given = {key: array.tolist() for key, array in attributes.items() if array is not None}
    rows = zip(*given.values(), strict=True) if given else ([] for _ in range(len(source)))
    graph.add_edges_from(
        (a, b, dict(zip(given, row, strict=True)))
        for a, b, row in zip(names[source], names[target], rows, strict=True)
    )
    return graph


def make_pyg(
    source: IntArray,
    target: IntArray,
    weight: NDArray[np.float64] | None,
    n_nodes: int,
    directed: bool,
) -> Any:
    """Make a PyTorch Geometric `Data`; an undirected edge becomes two arcs."""
    torch = import_extra("torch", "to_pyg", "pyg")
    data = import_extra("torch_geometric.data", "to_pyg", "pyg")
    both = np.stack((source, target))
    if not directed:
        both = np.concatenate((both, both[::-1]), axis=1)
        weight = None if weight is None else np.concatenate((weight, weight))
    made = data.Data(edge_index=torch.from_numpy(both.copy()), num_nodes=n_nodes)
    if weight is not None:
        made.edge_weight = torch.from_numpy(weight.copy())
    return made
