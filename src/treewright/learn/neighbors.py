"""Nearest neighbours: nothing is grown; the rows are kept with a metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.encoder import encode_fit
from treewright.data.schema import Schema
from treewright.data.table import is_sparse
from treewright.data.take import header_of, warn_of_another_order
from treewright.data.target import Labels, Numbers, check_lengths, encode_labels, encode_numbers
from treewright.exceptions import DataError, ParameterError, setting
from treewright.learn.data_checks import warn_of_many_classes
from treewright.learn.params import (
    CLASSES,
    FUNCTION,
    LISTED,
    MAPPING,
    NOTHING,
    POSITIVE,
    TEXT,
    ColumnParams,
    param,
    real,
    stated,
    whole,
    words,
)
from treewright.learn.registry import NEIGHBORS
from treewright.learn.train import Trained, encoded_table, refuse_too_large, telling_of_a_swap
from treewright.model.neighbors import UNSEEN, NeighborsModel
from treewright.neighbors import votes
from treewright.neighbors.metrics import TAKE_MISSING, Metric, metric_of, refuse_power
from treewright.neighbors.nearest import SQUARES
from treewright.neighbors.sparse import KINDS as SPARSE_METRICS
from treewright.neighbors.sparse import checked_rows
from treewright.neighbors.stored import ALGORITHMS, Stored, search_for
from treewright.version import __version__


@dataclass(frozen=True, kw_only=True)
class NeighborsParams(ColumnParams):
    """Nearest neighbours (Fix and Hodges 1951; Cover and Hart 1967)."""

    algorithm_name: ClassVar[str] = NEIGHBORS.name
    by_position: ClassVar[tuple[str, ...]] = ("n_neighbors",)

    n_neighbors: int = param(
        5,
        whole(1),
        unit="rows",
        help="number of neighbours",
        more="Of rows at equal distances the lower one is the nearer.",
    )
    weights: str | Callable[[np.ndarray], Any] | None = param(
        "uniform", words(*votes.NAMES), FUNCTION, NOTHING, help="weight of a neighbour's vote; None is uniform",
        more='"uniform": 1; "distance": 1 / distance, but if rows are at distance 0 only these count. The others are '
        "the kernels of Hechenbichler and Schliep (2004), of distance over the distance of the neighbour after the "
        "last. A function takes distances float64[n, n_neighbors] and returns weights of that shape. If all weights "
        "are 0, all count alike.",
    )  # fmt: skip
    metric: str | Callable[[np.ndarray, np.ndarray], float] = param(
        "auto", TEXT, FUNCTION, help="distance between rows, by name or as a function",
        more='"euclidean", "manhattan", "chebyshev", "minkowski", "mahalanobis", "cosine", "angle", "correlation", '
        '"hamming", "jaccard", "canberra"; for columns of several kinds and missing cells "gower", "heom", "hvdm"; for '
        'numbers with missing cells "nan_euclidean", the root of the sum of squares over the columns present in both '
        'rows, times p over their number. "auto" is "minkowski" (with p=2: euclidean) if all columns are numeric and '
        'no cell is missing, else HEOM. "precomputed": cells are distances, at fit between all its rows, later from '
        "each row to each of those. A function takes two float64[p] and returns a distance.",
    )  # fmt: skip
    p: float = param(
        2.0, real(1, None, "left"), help="the power of metric='minkowski', and of 'auto' for numbers",
        more="1 is manhattan, 2 euclidean, infinity chebyshev. Refused with a metric that has no such power.",
    )  # fmt: skip
    metric_params: Mapping[str, Any] | None = param(
        None, MAPPING, NOTHING, help="weights of the columns ('w'), or their covariance ('V') or its inverse ('VI')",
        more="See ``treewright.neighbors.metrics.metric_of``.",
    )  # fmt: skip
    scale: Any = param(
        None, LISTED, MAPPING, TEXT, NOTHING,
        help="scaling of columns before they are compared: 'standard', 'range', 'robust', or a number per column",
        kind='{"standard", "range", "robust"}, p numbers',
        more="By name, one over the standard deviation, the range or the interquartile range; their mean, lowest cell "
        'or median is subtracted first, which matters only to "cosine", "angle", "correlation" and "canberra".',
    )  # fmt: skip
    algorithm: str = param(
        "auto", words(*ALGORITHMS), help="how the nearest are found: 'brute' or 'kd_tree'; the result is the same"
    )
    positive: Any = stated(POSITIVE)
    unseen: str = param(
        "other", words(*UNSEEN), help="how a level that fit never saw is treated",
        more="as a level that differs from every other one, as a missing cell, or as an error. An ordinal column has "
        'no place for such a level: there "other" is "missing".',
    )  # fmt: skip


def knows_missing(metric: Any) -> bool:
    """Whether a metric is defined for missing cells."""
    return isinstance(metric, str) and metric in ("auto", *TAKE_MISSING)


def neighbors_dataset(
    X: Any, y: Any, params: NeighborsParams, encode_target: Callable[[Any], Labels | Numbers] | None = None
) -> Dataset:
    """The rows to keep; sparse rows stay sparse, without a schema, if metric and search support it."""
    refuse_too_large(X)
    with telling_of_a_swap(X, y):
        declared = any(each is not None for each in (params.nominal, params.ordinal, params.numeric, params.calendar))
        schema: Any
        if params.metric == "precomputed":
            schema, matrix = _distances(X, params)
        elif (
            is_sparse(X)
            and not declared
            and isinstance(params.metric, str)
            and params.metric in ("auto", *SPARSE_METRICS)
        ):
            schema, matrix = None, checked_rows(X)
        else:
            schema, matrix = encoded_table(X, params)
        if encode_target is None:
            encode_target = encode_labels if params.task == CLASSES else encode_numbers
        target = encode_target(y)
    warn_of_many_classes(target)
    check_lengths(matrix.shape[0], target)
    warn_of_another_order(X, y=y)
    return Dataset(schema, matrix, target)


def _distances(X: Any, params: NeighborsParams) -> tuple[Schema, np.ndarray]:
    """The distances between the rows of a fit: a column for each row."""
    for name in ("nominal", "ordinal", "numeric", "calendar"):
        if getattr(params, name) is not None:
            raise ParameterError(
                f"{name} declares columns of a table, but with ",
                setting("metric", "precomputed"),
                f" X holds distances: leave {name} out",
                parameter=name,
            )
    if is_sparse(X):
        raise DataError(
            setting("metric", "precomputed"),
            " needs a dense matrix: a sparse one leaves out distances. Give all "
            "distances, or fit on the rows themselves",
        )
    names, width = header_of(X)
    schema, matrix = encode_fit(X, numeric=list(range(width) if names is None else names))
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(
            f"X has {matrix.shape[0]} rows and {matrix.shape[1]} columns, and ",
            setting("metric", "precomputed"),
            " needs the distances between the training rows, as many columns as rows: pass a square matrix, or choose "
            "another metric",
        )
    return schema, matrix


def train_neighbors(dataset: Dataset, params: NeighborsParams, n_threads: int) -> Trained:  # noqa: ARG001 - nothing is grown
    """Keep the rows."""
    n, n_columns = dataset.matrix.shape
    if params.n_neighbors > n:
        raise ParameterError(
            f"n_neighbors={params.n_neighbors} > {n} rows (n_samples={n}): set fewer neighbours, or fit on more rows"
        )
    metric = _metric_of(dataset, params)
    points: Any = dataset.matrix
    if dataset.schema is not None:
        points = metric.points(dataset.matrix)
        if np.may_share_memory(points, dataset.matrix):
            points = points.copy()  # it may be the user's own array, which may change after the fit
    search_for(metric, points, params.algorithm)  # refuses an algorithm that does not support them
    target = dataset.target
    codes, values = (target.codes, None) if isinstance(target, Labels) else (None, target.values)
    model = NeighborsModel(
        params.task,
        classes=dataset.classes,
        schema=dataset.schema,
        n_columns=n_columns,
        stored=Stored(metric, points, codes, values, params.algorithm),
        n_outputs=dataset.n_outputs,
        n_neighbors=int(params.n_neighbors),
        weights=params.weights or "uniform",
        unseen=params.unseen,
        target_names=target.names,
        facts={
            "algorithm": params.algorithm_name,
            "n_samples": n,
            "parameters": params.facts(),
            "version": __version__,
            **params.positive_facts(dataset.classes),
        },
    )
    return Trained(model)


def _metric_of(dataset: Dataset, params: NeighborsParams) -> Metric:
    """The metric of the fit."""
    if dataset.schema is None:
        for name in ("scale", "metric_params"):
            if getattr(params, name) is not None:
                raise ParameterError(f"{name} is for dense tables: sparse rows are compared as they are")
        refuse_power(params.p, "sparse rows are compared by euclidean, cosine or angle, which")
        return Metric("euclidean" if params.metric == "auto" else str(params.metric), SQUARES)
    return metric_of(
        params.metric, dataset.matrix, dataset.schema,
        p=params.p, scale=params.scale, metric_params=params.metric_params,
        target=dataset.target_array,
    )  # fmt: skip
