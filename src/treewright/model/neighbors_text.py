"""A model of nearest neighbours as text. In: the model. Out: lines. Caller: model.neighbors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.data.cells import shown
from treewright.neighbors.index import search_for

if TYPE_CHECKING:
    from treewright.model.neighbors import NeighborsModel

_MOST = 8  # columns, classes that are listed
_SEARCHES = {
    "kd_tree": "KD-tree",
    "brute": "all rows, by matrix products",
    "direct": "all rows, pair by pair",
    "mixed": "all rows, pair by pair",
    "called": "all rows, one call of the function per row",
    "sparse": "the rows that share a term, by lists of rows per column",
}


def show(model: NeighborsModel) -> str:
    """What is stored, what near means and what a prediction costs.

    Parameters
    ----------
    model : NeighborsModel

    Returns
    -------
    str

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.KNeighborsClassifier(n_neighbors=1).fit([[1.0], [2.0], [4.0]], ["a", "b", "b"])
    >>> print(est.show())
    1 nearest neighbour, classification
    metric      euclidean
    weights     uniform
    rows        3 with 1 column
    classes     2: 'a' (1), 'b' (2)
    stored      36 bytes
    search      all rows, by matrix products
    prediction  3 rows x 1 column are compared
    """
    stored = model.stored
    k = model.n_neighbors
    lines = [f"{k} nearest neighbour{'s' if k > 1 else ''}, {model.task}"]
    weights = model.weights if isinstance(model.weights, str) else "a function of the distances"
    width = f"{model.n_columns} column{'s' if model.n_columns > 1 else ''}"
    table = [("metric", _metric(model)), ("weights", weights), ("rows", f"{model.n_rows} with {width}")]
    table += _scales(model) + _targets(model)
    search = search_for(stored.metric, stored.points, stored.algorithm)
    table += [
        ("stored", _size(stored.nbytes)),
        ("search", _SEARCHES[search]),
        ("prediction", _cost(model, search, width)),
    ]
    return "\n".join([*lines, *(f"{name:<11} {text}" for name, text in table)])


def _metric(model: NeighborsModel) -> str:
    metric = model.stored.metric
    return f"{metric.name} (p = {metric.p:g})" if metric.name == "minkowski" else metric.name


def _scales(model: NeighborsModel) -> list[tuple[str, str]]:
    """What columns are multiplied by."""
    scales = model.stored.metric.scales
    if scales is None:
        return []
    names = [f"x{at}" for at in range(len(scales))] if model.schema is None else model.schema.names
    parts = [f"{name} x {scale:.4g}" for name, scale in zip(names[:_MOST], scales.tolist(), strict=False)]
    return [("scales", _listed(parts, len(scales)))]


def _targets(model: NeighborsModel) -> list[tuple[str, str]]:
    """Classes with their rows, or the range of the numbers, per output."""
    stored, lines = model.stored, []
    for output in range(model.n_outputs):
        name = f" {model.target_names[output]}" if model.n_outputs > 1 and model.target_names else ""
        if stored.codes is not None:
            labels = model.classes[output]
            counts = np.bincount(stored.codes[:, output], minlength=len(labels)).tolist()
            parts = [f"{shown(label)} ({count})" for label, count in zip(labels[:_MOST].tolist(), counts, strict=False)]
            lines.append(("classes", f"{len(labels)}{name}: {_listed(parts, len(labels))}"))
        elif stored.values is not None:
            column = stored.values[:, output]
            lines.append(("target", f"{column.min():.6g} to {column.max():.6g}{name}"))
    return lines


def _listed(parts: list[str], total: int) -> str:
    more = f", and {total - len(parts)} more" if total > len(parts) else ""
    return ", ".join(parts) + more


def _size(nbytes: int) -> str:
    """Bytes as a person reads them."""
    if nbytes < 1024:
        return f"{nbytes} bytes"
    power = min(3, int(math.log(nbytes, 1024)))
    return f"{nbytes / 1024**power:.1f} {('KiB', 'MiB', 'GiB')[power - 1]}"


def _cost(model: NeighborsModel, search: str, width: str) -> str:
    """What one prediction compares."""
    if search == "sparse":
        points: Any = model.stored.points
        return f"the {points.nnz} nonzero cells in the columns that the row has, at most"
    if search == "kd_tree":
        return f"at most {model.n_rows} rows x {width} are compared, fewer where near rows are found early"
    return f"{model.n_rows} rows x {width} are compared"
