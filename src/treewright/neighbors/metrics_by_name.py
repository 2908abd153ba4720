"""Metrics by name: a name, a scale and weights become a ``Metric`` for training rows."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from treewright.core.elementary import power_of
from treewright.data.cells import shown
from treewright.data.encoder import missing_columns
from treewright.data.matching import did_you_mean
from treewright.data.schema import Schema
from treewright.data.table import column_label
from treewright.exceptions import DataError, ParameterError, Phrase, setting
from treewright.neighbors.metrics import DIRECTIONS, Metric, refuse_cells, refuse_nominal
from treewright.neighbors.mixed_columns import RULES, mixed_columns, nan_euclidean_columns
from treewright.neighbors.ranks import (
    CALLED,
    CANBERRA,
    CHEBYSHEV,
    HAMMING,
    JACCARD,
    MANHATTAN,
    MIXED,
    POWERS,
    PRECOMPUTED,
    SQUARES,
)
from treewright.neighbors.scaling import (
    Coordinates,
    center_and_scales,
    coordinates_of_covariance,
    coordinates_of_inverse,
    coordinates_of_rows,
    given_scales,
    refuse_overflow,
)

__all__ = ["METRICS", "TAKE_MISSING", "metric_of", "refuse_power"]

KINDS = {
    "euclidean": SQUARES,
    "manhattan": MANHATTAN,
    "chebyshev": CHEBYSHEV,
    "minkowski": POWERS,
    "mahalanobis": SQUARES,
    "correlation": SQUARES,
    "cosine": SQUARES,
    "angle": SQUARES,
    "hamming": HAMMING,
    "jaccard": JACCARD,
    "canberra": CANBERRA,
    "gower": MIXED,
    "heom": MIXED,
    "hvdm": MIXED,
    "nan_euclidean": MIXED,
    "precomputed": PRECOMPUTED,
}
# Metrics that accept missing cells.
TAKE_MISSING = (*RULES, "nan_euclidean")
# Exponents of minkowski that have a formula of their own.
EXPONENTS = {1.0: MANHATTAN, 2.0: SQUARES, np.inf: CHEBYSHEV}
_OTHER_NAMES = {"l2": "euclidean", "cityblock": "manhattan", "l1": "manhattan", "infinity": "chebyshev"}
METRICS = ("auto", *KINDS)
# Names in other libraries, and what to write instead.
_HINTS = {
    "sqeuclidean": (setting("metric", "euclidean"), " (it has the same neighbours)"),
    "seuclidean": (setting("metric", "euclidean"), " with ", setting("scale", "standard")),
    "wminkowski": (setting("metric", "minkowski"), " with metric_params={'w': ...}"),
    "matching": (setting("metric", "hamming"),),
}
_WEIGHTED = ("euclidean", "manhattan", "minkowski")
_PARAMS = {**dict.fromkeys(_WEIGHTED, ("w",)), "mahalanobis": ("V", "VI")}
# Metrics for which scales make no difference, or that have their own.
_UNSCALED = {
    "mahalanobis": "it has the scales of its covariance",
    "hamming": "it only compares whether cells are equal",
    "jaccard": "it only compares which cells are 0",
    "precomputed": "its cells are already distances",
    **dict.fromkeys(RULES, "it divides every column by its own range or deviation"),
}


def metric_of(
    name: Any,
    matrix: np.ndarray,
    schema: Schema,
    *,
    p: Any = 2.0,
    scale: Any = None,
    metric_params: Mapping[str, Any] | None = None,
    target: np.ndarray | None = None,
) -> Metric:
    """The metric of a fit.

    Parameters
    ----------
    name : str or callable
        One of ``METRICS``; cityblock and l1 are manhattan, l2 is euclidean. ``"auto"`` is minkowski of ``p`` (2:
        euclidean) if every column is numeric and no cell is missing, else heom. A callable takes two float64[p]
        (scaled cells) and ``metric_params`` as keywords; it returns a number >= 0.
    matrix : float64[n, p] or float32[n, p]
        The encoded training rows, n >= 1; nan is missing.
    p : float >= 1
        For minkowski: 1 is manhattan, 2 euclidean, infinity chebyshev. Other metrics refuse any value but 2.
    scale : None, "standard", "range", "robust" or p numbers
        Cells minus their center, times a scale: mean and 1 / standard deviation, least cell and 1 / range, median and
        1 / interquartile range. Constant columns have scale 1. Numbers multiply the cells; 0 leaves a column out.
    metric_params : mapping, optional
        ``{"w": p numbers >= 0}`` for euclidean, manhattan, minkowski: weights of |a - b|^p, as in SciPy.
        ``{"V": ...}`` for mahalanobis: another covariance than that of the rows; ``{"VI": ...}``: its inverse.
    target : int[n], float64[n], or with a second axis of 1; optional
        For hvdm: codes of classes, or numbers.

    Examples
    --------
    >>> from treewright.data.encoder import encode_fit
    >>> schema, matrix = encode_fit({"height": [1.5, 2.0, 1.75], "weight": [50, 90, 60]})
    >>> metric = metric_of("euclidean", matrix, schema, scale="range")
    >>> metric.points(matrix).tolist()
    [[0.0, 0.0], [1.0, 1.0], [0.5, 0.25]]
    >>> metric_of("auto", matrix, schema).name
    'euclidean'
    """
    given = _params(metric_params)
    if not isinstance(name, str):
        refuse_power(p, "a function as metric")
        return _called(name, matrix, schema, scale, given)
    name = _known(name, schema, matrix, p)
    kind = KINDS[name]
    unknown = [key for key in given if key not in _PARAMS.get(name, ())]
    if unknown:
        raise ParameterError(*_unknown_params(name, unknown))
    if name in _UNSCALED and scale is not None:
        raise ParameterError(
            Phrase(f"scale={shown(scale)}", "setting", "scale", scale),
            ": ",
            setting("metric", name),
            f" does not use it, because {_UNSCALED[name]}: ",
            setting("scale", None),
            parameter="scale",
        )
    if kind == PRECOMPUTED:
        return Metric(name, kind, names=schema.names)  # it checks the distances when they become points
    if name not in RULES:
        refuse_nominal(schema, name)
    refuse_cells(matrix, schema.names, name, takes_missing=kind == MIXED)
    if name in RULES:
        return Metric(name, MIXED, mixed=mixed_columns(RULES[name], schema, matrix, target), names=schema.names)
    if name == "mahalanobis":
        center, scales, transform = _covariance(given, matrix, schema)
        return Metric(name, kind, center=center, scales=scales, transform=transform, names=schema.names)
    power = 2.0
    if name == "minkowski":
        power = _power(p)
        kind = EXPONENTS.get(power, POWERS)
    elif name == "manhattan":
        power = 1.0
    made = _scaled(name, kind, power, matrix, schema, scale, given)
    if kind in (POWERS, MIXED) or (kind == SQUARES and name not in DIRECTIONS):
        _refuse_extreme(made, matrix)
    return made


def _params(metric_params: Any) -> dict[str, Any]:
    """The parameters of a metric as a dict."""
    if metric_params is None:
        return {}
    if not isinstance(metric_params, Mapping):
        raise ParameterError(f"metric_params={shown(metric_params)}: give a dict, such as {{'w': [1, 2]}}, or None")
    return dict(metric_params)


def _known(name: str, schema: Schema, matrix: np.ndarray, p: Any) -> str:
    """The metric's name for a name or an alias."""
    if name == "auto":
        # Not Gower: a row with few known cells is at distance 0 from many rows, and then the nearest to all of them.
        is_plain = all(column.kind == "numeric" for column in schema.columns) and not missing_columns(matrix)
        if is_plain:
            return "euclidean" if p == 2 else "minkowski"
        refuse_power(p, "metric='auto' is heom for nominal columns and missing cells, which")
        return "heom"
    name = _OTHER_NAMES.get(name, name)
    if name not in KINDS:
        hint = (": write ", *_HINTS[name]) if name in _HINTS else (did_you_mean(name, METRICS),)
        raise ParameterError(
            Phrase(f"metric={shown(name)}", "setting", "metric", name),
            " is not known",
            *hint,
            f"; the metrics are {', '.join(map(repr, METRICS))}, or a callable",
            parameter="metric",
        )
    if name != "minkowski" and EXPONENTS.get(p) != KINDS[name]:
        refuse_power(p, f"metric={name!r}")
    return name


def refuse_power(p: Any, what: str) -> None:
    """Refuse an exponent for a metric without one, instead of ignoring it.

    Raises
    ------
    ParameterError
        ``p`` is not 2, its default.
    """
    if p != 2:
        raise ParameterError(
            Phrase(f"p={shown(p)}", "setting", "p", p),
            f": {what} does not use p, the power of ",
            setting("metric", "minkowski"),
            ": leave p out",
            parameter="p",
        )


def _unknown_params(name: str, unknown: list[Any]) -> tuple[object, ...]:
    """The message about parameters that a metric does not have."""
    takes = _PARAMS.get(name, ())
    knows = f"it takes {' or '.join(map(repr, takes))}" if takes else "it takes none"
    hint = "; p is a parameter of its own" if "p" in unknown else ""
    hint += "; weights of columns are given as scale" if "w" in unknown and name not in _UNSCALED else ""
    lacking = ", ".join(shown(key) for key in unknown)
    return "metric_params: ", setting("metric", name), f" has no {lacking}: {knows}{hint}"


def _power(p: Any) -> float:
    """The exponent of minkowski."""
    if isinstance(p, bool | np.bool_) or not isinstance(p, int | float | np.integer | np.floating) or not p >= 1:
        raise ParameterError(
            f"p={shown(p)}: minkowski takes a number >= 1 (below 1 it is not a metric), or infinity, which is chebyshev"
        )
    return float(p)


def _called(function: Any, matrix: np.ndarray, schema: Schema, scale: Any, given: dict[str, Any]) -> Metric:
    """The metric of a callable."""
    if not callable(function):
        raise ParameterError(f"metric={shown(function)}: give one of {', '.join(map(repr, METRICS))}, or a callable")
    if isinstance(function, type):
        raise ParameterError(f"metric={function.__name__} is a class: give a function of two rows")
    name = str(getattr(function, "__name__", type(function).__name__))
    refuse_nominal(schema, name)
    refuse_cells(matrix, schema.names, name, takes_missing=False)
    center, scales = _center_and_scales(scale, matrix, schema, moves=True)
    own: Callable[..., float] = functools.partial(function, **given) if given else function
    return Metric(name, CALLED, center=center, scales=scales, function=own, names=schema.names)


def _covariance(given: dict[str, Any], matrix: np.ndarray, schema: Schema) -> Coordinates:
    """Center, scales and matrix of mahalanobis."""
    if len(given) > 1:
        raise ParameterError("metric_params: give V, the covariance, or VI, its inverse, not both")
    if not given:
        return coordinates_of_rows(matrix, schema.names)
    center = center_and_scales("standard", matrix)[0]
    if "V" in given:
        return coordinates_of_covariance(given["V"], center, schema.names)
    return coordinates_of_inverse(given["VI"], center, schema.names)


def _scaled(
    name: str, kind: int, power: float, matrix: np.ndarray, schema: Schema, scale: Any, given: dict[str, Any]
) -> Metric:
    """A metric for numbers with its scales and weights."""
    moves = name not in DIRECTIONS and name != "canberra"
    weights = None
    if given:
        if kind == CHEBYSHEV:
            raise ParameterError("metric_params w: the largest difference (p=inf) has no weights; give scale")
        weights = power_of(given_scales(given["w"], matrix, "metric_params w"), 1.0 / power)
    center, scales = _center_and_scales(scale, matrix, schema, moves=moves, weights=weights)
    mixed = nan_euclidean_columns(len(schema)) if kind == MIXED else None
    return Metric(name, kind, power, center, scales, mixed=mixed, names=schema.names)


def _center_and_scales(
    scale: Any, matrix: np.ndarray, schema: Schema, *, moves: bool, weights: np.ndarray | None = None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Center and scales of ``scale``; None if cells do not change.

    Parameters
    ----------
    moves : bool
        Whether distances do not change when all rows are shifted: then numbers far from 0 are shifted near 0 before
        they are multiplied, since rounding would otherwise change small distances.
    weights : float64[p], optional
        Additional scales.
    """
    center, scales = None, weights
    if isinstance(scale, str):
        center, scales = center_and_scales(scale, matrix)
        scales = scales if weights is None else scales * weights
    elif scale is not None:
        scales = given_scales(scale, matrix)
        scales = scales if weights is None else scales * weights
    if scales is None:
        return None, None
    if center is None and moves:
        center = _short_center(matrix)
    refuse_overflow(matrix, center, scales, lambda at: column_label(schema.names, at))
    return center, scales


def _short_center(matrix: np.ndarray) -> np.ndarray | None:
    """A number near the cells of each column that is far from 0, with so few bits that subtracting it is exact.

    0 for columns whose range is larger than their distance from 0: integers and other short numbers do not change.
    """
    center = np.zeros(matrix.shape[1])
    low, high = _extremes(matrix)
    for at in np.flatnonzero(np.minimum(np.abs(low), np.abs(high)) > high * 0.5 - low * 0.5):
        # The multiple of the last power of two within the range; if all cells are equal, the cell itself.
        spread = high[at] - low[at]
        step = np.ldexp(0.5, int(np.frexp(spread)[1])) if 0 < spread < np.inf else 0.0
        center[at] = np.floor(low[at] / step) * step if step > 0 else low[at]
    return center if center.any() else None


def _extremes(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest known cell of each column, float64[p]; nan if none is known."""
    return np.fmin.reduce(matrix, axis=0).astype(np.float64), np.fmax.reduce(matrix, axis=0).astype(np.float64)


def _refuse_extreme(metric: Metric, matrix: np.ndarray) -> None:
    """Refuse an exponent for which powers of the columns' range leave float64, and a range whose squares vanish.

    Squares that are too large are refused when a search finds them.
    """
    low, high = (np.nan_to_num(metric.points(cells[None])) for cells in _extremes(matrix))
    widest = float(np.abs(high * 0.5 - low * 0.5).max()) * 2.0
    if widest == 0:
        return
    with np.errstate(over="ignore", under="ignore"):
        reached = power_of(widest, metric.p) * len(metric.names)
        small = power_of(widest * 2.0**-20, metric.p)
    if metric.kind != POWERS:
        if reached < 1e-280:
            raise DataError(
                f"differences of up to {widest:.3g} have squares that are 0 in float64, so all rows would be "
                "equally near. Give a scale, such as ",
                setting("scale", "standard"),
            )
    elif not 1e-280 < reached < 1e300 or small == 0:  # rows a millionth of the range apart would be at distance 0
        raise DataError(
            f"p={metric.p!r}: differences of up to {widest:.3g}, or a millionth of it, to this power leave float64. "
            "Use a smaller p, a scale, or ",
            setting("metric", "chebyshev"),
            ", the limit of large p",
        )
