"""A metric in a model file. In: ``Metric``. Out: JSON and arrays, and back. Caller: ``neighbors.codec``.

What the name of a metric says, and what the columns say, is not written: a file cannot contradict itself there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright.data.schema import Schema
from treewright.exceptions import ModelFileError
from treewright.neighbors.metrics import Metric
from treewright.neighbors.metrics_by_name import _KINDS
from treewright.neighbors.mixed_columns import DIFFERENCE, EQUALITY, HVDM, NO_ROWS, RULES, SHARES, MixedColumns
from treewright.neighbors.ranks import CHEBYSHEV, HAMMING, JACCARD, MANHATTAN, MIXED, POWERS, SQUARES
from treewright.neighbors.sparse import KINDS as OF_SPARSE_ROWS

_OF_NUMBERS = ("center", "scales", "transform")
_OF_MIXED = ("kinds", "scales", "tables")
# Shares of the classes of a level add up to 1, but for rounding.
_SUM_ERROR = 1e-9
# Exponents of minkowski that have a formula of their own.
_EXPONENTS = {1.0: MANHATTAN, 2.0: SQUARES, np.inf: CHEBYSHEV}


def metric_to_parts(metric: Metric) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A metric by name as plain JSON, and its arrays by name.

    Examples
    --------
    >>> metric_to_parts(Metric("manhattan", MANHATTAN, 1.0))
    ({'name': 'manhattan', 'p': 1.0}, {})
    """
    entry: dict[str, Any] = {"name": metric.name, "p": None if np.isinf(metric.p) else float(metric.p)}
    of, names = (metric, _OF_NUMBERS) if metric.mixed is None else (metric.mixed, _OF_MIXED)
    if metric.mixed is not None:
        entry["n_classes"] = int(metric.mixed.n_classes)
    return entry, {name: getattr(of, name) for name in names if getattr(of, name) is not None}


def metric_of_parts(entry: Mapping[str, Any], arrays: Mapping[str, np.ndarray], schema: Schema | None) -> Metric:
    """The metric that ``metric_to_parts`` was given.

    Parameters
    ----------
    entry : mapping
    arrays : mapping of ndarray
        They are kept, not copied.
    schema : Schema or None
        None: of sparse rows.

    Raises
    ------
    ModelFileError
        Something is lacking, unknown, of another shape or dtype or out of range, or does not go with the columns.
    """
    name, p = entry.get("name"), entry.get("p")
    p = np.inf if p is None else p
    is_mixed = isinstance(name, str) and name in RULES
    if set(entry) != {"name", "p", *(["n_classes"] if is_mixed else [])} or not isinstance(p, float) or not p >= 1:
        raise ModelFileError("metric: an entry is lacking, unknown or out of range")
    if (
        not isinstance(name, str)
        or name not in _KINDS
        or (name != "minkowski" and p != (1.0 if name == "manhattan" else 2.0))
    ):
        raise ModelFileError(f"metric: {str(name)[:40]!r} with p={p} is none that there is")
    kind = _EXPONENTS.get(p, POWERS) if name == "minkowski" else _KINDS[name]
    if schema is None:
        if name not in OF_SPARSE_ROWS or arrays:
            raise ModelFileError(f"metric: {str(name)[:40]!r} is none of sparse rows, or it has arrays of dense ones")
        return Metric(name, SQUARES)
    if is_mixed:
        return Metric(name, MIXED, mixed=_mixed(RULES[name], entry["n_classes"], arrays, schema), names=schema.names)
    shapes = {"center": (len(schema),), "scales": (len(schema),), "transform": (len(schema), len(schema))}
    possible: tuple[set[str], ...] = (set(), {"scales"}, {"center", "scales"})
    if kind in (HAMMING, JACCARD):
        possible = (set(),)
    elif name == "mahalanobis":
        possible = (set(shapes),)
    if set(arrays) not in possible:
        raise ModelFileError(f"metric: {name!r} has other arrays than {', '.join(sorted(arrays)) or 'none'}"[:200])
    for each, cells in arrays.items():
        _check_array(each, cells, shapes[each])
    if "scales" in arrays and (arrays["scales"] < 0).any():
        raise ModelFileError("metric: a scale is below 0")
    center, scales, transform = (arrays.get(each) for each in _OF_NUMBERS)
    return Metric(name, kind, p, center, scales, transform, names=schema.names)


def _check_array(name: str, cells: np.ndarray, shape: tuple[int, ...]) -> None:
    """An array of finite float64 of this shape."""
    if cells.dtype != np.float64 or cells.shape != shape:
        raise ModelFileError(
            f"metric: {name} has dtype {cells.dtype} and shape {cells.shape}, expected float64 {shape}"
        )
    if not np.isfinite(cells).all():
        raise ModelFileError(f"metric: {name} holds a number that is not finite")


def _mixed(rule: int, n_classes: Any, arrays: Mapping[str, np.ndarray], schema: Schema) -> MixedColumns:
    """How the columns of a schema are compared."""
    p = len(schema)
    if set(arrays) != set(_OF_MIXED) or arrays["kinds"].dtype != np.uint8 or arrays["kinds"].shape != (p,):
        raise ModelFileError(f"metric: expected arrays {', '.join(_OF_MIXED)}, the first of them uint8 for {p} columns")
    kinds = arrays["kinds"]
    is_nominal = np.array([column.kind == "nominal" for column in schema.columns])
    n_levels = np.array([len(column.levels) if column.kind == "nominal" else 0 for column in schema.columns], np.int64)
    of_levels = SHARES if rule == HVDM else EQUALITY
    if (kinds[is_nominal] != of_levels).any() or not np.isin(kinds[~is_nominal], (DIFFERENCE, EQUALITY)).all():
        raise ModelFileError("metric: a column is compared as one of another kind")
    _check_array("scales", arrays["scales"], (p,))
    if (arrays["scales"] <= 0).any() or (arrays["scales"][kinds != DIFFERENCE] != 1).any():
        raise ModelFileError("metric: a scale is not above 0, or a column has one that is not divided by it")
    if type(n_classes) is not int or not (1 <= n_classes < 2**31 if rule == HVDM else n_classes == 0):
        raise ModelFileError("metric: n_classes is out of range")
    sizes = [int(levels) * n_classes for levels in n_levels]  # whole numbers of Python: no product overflows
    _check_array("tables", arrays["tables"], (sum(sizes),))
    if rule == HVDM:
        shares = arrays["tables"].reshape(-1, n_classes)
        has_rows = shares[:, 0] != NO_ROWS
        wrong = (shares[has_rows] < 0).any() or (np.abs(shares[has_rows].sum(axis=1) - 1.0) > _SUM_ERROR).any()
        if wrong or (shares[~has_rows] != NO_ROWS).any():
            raise ModelFileError("metric: the shares of a level are no shares")
    starts = np.cumsum([0, *sizes]).astype(np.int64)
    return MixedColumns(kinds, arrays["scales"], rule, n_levels, arrays["tables"], starts, n_classes)
