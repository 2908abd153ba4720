"""Metrics: a name, a scale and weights become a ``Metric`` for training rows, which turns rows into points.

Each row becomes a point independently of the others. Every sum runs over the columns in order, so a row has the same
point alone and in a large table. (BLAS does not guarantee this, and a training row would not be at distance 0 from
itself.)

Columns of several kinds are compared as their training rows teach (``MixedColumns``): Gower (1971), "A general
coefficient of similarity and some of its properties"; Wilson and Martinez (1997), "Improved heterogeneous distance
functions" (HEOM, and HVDM with their N2). They leave some cases open, which are decided here: a column that is constant
in the training rows compares like levels; an unseen level has distance 1 from everything, also from itself (two such
cells may be different words); Gower's term of a column is at most 1, also outside the training range; standard
deviations are those of a population.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from treewright.core.elementary import angle_of, power_of
from treewright.core.jit import costs, inner_kernel, kernel
from treewright.data.cells import shown
from treewright.data.encoder import missing_columns
from treewright.data.schema import Schema, did_you_mean
from treewright.data.table import column_label
from treewright.exceptions import DataError, MissingValueError, ParameterError, Phrase, first_row, setting
from treewright.neighbors.nearest import (
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
    LARGEST,
    Coordinates,
    center_and_scales,
    coordinates_of_covariance,
    coordinates_of_inverse,
    coordinates_of_rows,
    given_scales,
    refuse_overflow,
    scaled,
)

GOWER, HEOM, HVDM, NAN_EUCLIDEAN = range(4)
RULES = {"gower": GOWER, "heom": HEOM, "hvdm": HVDM}
# Kinds of columns: differences over a scale; equal or not; class proportions.
DIFFERENCE, EQUALITY, SHARES = range(3)
# Numeric targets are divided into this many groups of equal size, which count as classes.
_GROUPS = 10
# In place of the class proportions of a level without training rows.
NO_ROWS = -1.0
# Metrics of directions: their points are rows of length one.
DIRECTIONS = ("cosine", "angle", "correlation")
_INFINITY_BITS = int(np.float64(np.inf).view(np.int64))
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


@dataclass(frozen=True, eq=False)
class Metric:
    """A distance between rows.

    Rows become points, and indexes order pairs of points by a rank distance that is fast to compute. Differences beyond
    1e154 have infinite squares, differences below 1e-162 squares of 0: scale such columns.

    ``name``: ``"euclidean"``, ``"gower"``, ...; for a callable its own name.
    ``kind``, the formula of the rank distance: ``nearest.SQUARES``, ... ; ``MIXED``, ``CALLED``, ``PRECOMPUTED`` (cells
        are distances to the training rows).
    ``p``: for ``POWERS``.
    ``center``, ``scales`` (float64[p] or None): points are ``(cells - center) * scales``.
    ``transform`` (float64[p, p] or None): a further factor of points (Mahalanobis).
    ``function``: for ``CALLED``: takes two float64[p], returns a number >= 0.
    ``names``: of the p columns, for messages.
    """

    name: str
    kind: int
    p: float = 2.0
    center: np.ndarray | None = None
    scales: np.ndarray | None = None
    transform: np.ndarray | None = None
    mixed: MixedColumns | None = None
    function: Callable[[np.ndarray, np.ndarray], float] | None = None
    names: tuple[Hashable, ...] = ()

    def check(self, matrix: np.ndarray, schema: Schema | None = None) -> None:
        """Refuse the cells that ``points`` refuses, without computing points; ``schema`` has the names of columns."""
        names = (self.names or None) if schema is None else schema.names
        if self.kind == PRECOMPUTED:
            refuse_distances(matrix)
        else:
            refuse_cells(matrix, names, self.name, takes_missing=self.mixed is not None)

    def points(self, matrix: np.ndarray) -> np.ndarray:
        """Rows in the coordinates that rank distances compare; infinite or missing cells are refused.

        ``matrix`` (float64[n, p] or float32[n, p]): encoded rows, as ``data.encoder`` gives them. Returns float64[n,
        d], C order, without nan or infinity (nan only under mixed metrics: a missing cell). ``d`` is p, and p + 1 for
        cosine, angle and correlation. It may be ``matrix`` itself: never write to it. Coordinates beyond float64 are
        limited to its largest number.
        """
        self.check(matrix)
        points = np.ascontiguousarray(matrix, np.float64)
        if not (points.flags.writeable and points.flags.aligned):
            points = points.copy()  # another type of array would compile each kernel again, for some seconds
        if self.kind == JACCARD:
            return (points != 0).astype(np.float64)
        if self.center is not None or self.scales is not None:
            points = scaled(points, self.center, self.scales)
        if self.name in DIRECTIONS and self.kind == SQUARES:
            rows = points
            points = np.empty((rows.shape[0], rows.shape[1] + 1))
            unit_rows(rows, self.name == "correlation", points)
        elif self.transform is not None:
            rows, points = points, np.empty(points.shape)
            times_matrix(rows, self.transform, points)
            np.nan_to_num(points, copy=False, nan=LARGEST, posinf=LARGEST, neginf=-LARGEST)
        return points

    def distances(self, ranks: np.ndarray) -> np.ndarray:
        """The distances for rank distances."""
        if self.kind == SQUARES:
            if self.name in {"cosine", "correlation"}:
                # Squares between opposite rows may be a little above 4; a radius of 2 still holds every row.
                return np.minimum(ranks * 0.5, 2.0)
            if self.name == "angle":
                # Squares are (2 sin(angle / 2))^2. This form is exact at 0, a right angle and pi.
                return 2.0 * angle_of(np.sqrt(np.minimum(ranks, 4.0)), np.sqrt(np.maximum(4.0 - ranks, 0.0)))
            return np.sqrt(ranks)
        if self.kind == POWERS:
            return np.asarray(power_of(ranks, 1.0 / self.p))
        if self.mixed is not None and self.mixed.rule != GOWER:
            return np.sqrt(ranks)
        if self.kind in {MANHATTAN, CHEBYSHEV, HAMMING, JACCARD, CANBERRA, MIXED, CALLED, PRECOMPUTED}:
            return np.array(ranks, np.float64)
        raise AssertionError(f"no such kind of rank distance: {self.kind}")

    def ranks(self, distance: float) -> float:
        """The largest rank distance whose distance is at most ``distance``."""
        if not distance >= 0:
            raise ParameterError(f"{distance!r} is not a distance: give a number >= 0")
        # Bisection of the bits of numbers >= 0, which as integers have the same order as the numbers.
        low, high = 0, _INFINITY_BITS + 1
        while high - low > 1:
            middle = (low + high) // 2
            reached = self.distances(np.array([middle]).view(np.float64))[0]
            low, high = (middle, high) if reached <= distance else (low, middle)
        return float(np.int64(low).view(np.float64))


# A metric by name -----------------------------------------------------------------------------------------------------


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

    ``name``, one of ``METRICS``; cityblock and l1 are manhattan, l2 is euclidean. ``"auto"`` is minkowski of ``p`` (2:
        euclidean) if every column is numeric and no cell is missing, else heom. A callable takes two float64[p] (scaled
        cells) and ``metric_params`` as keywords; it returns a number >= 0.
    ``matrix`` (float64[n, p] or float32[n, p]): the encoded training rows, n >= 1; nan is missing.
    ``p``, for minkowski: 1 is manhattan, 2 euclidean, infinity chebyshev. Other metrics refuse any value but 2.
    ``scale``, cells minus their center, times a scale: mean and 1 / standard deviation, least cell and 1 / range,
        median and 1 / interquartile range. Constant columns have scale 1. Numbers multiply the cells; 0 leaves a column
        out.
    ``metric_params``, ``{"w": p numbers >= 0}`` for euclidean, manhattan, minkowski: weights of |a - b|^p, as in SciPy.
        ``{"V": ...}`` for mahalanobis: another covariance than that of the rows; ``{"VI": ...}``: its inverse.
    ``target`` (int[n], float64[n], or with a second axis of 1; optional), for hvdm: codes of classes, or numbers.
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

    Raises ``ParameterError``: ``p`` is not 2, its default.
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

    ``moves``, whether distances do not change when all rows are shifted: then numbers far from 0 are shifted near 0
    before they are multiplied, since rounding would otherwise change small distances. ``weights`` (float64[p]):
    additional scales.
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


# Cells that a metric refuses ------------------------------------------------------------------------------------------


def refuse_distances(matrix: np.ndarray) -> None:
    """Refuse cells that are not distances: missing, infinite or negative ones."""
    with np.errstate(over="ignore", invalid="ignore"):
        if matrix.size == 0 or (matrix.min() >= 0 and np.isfinite(matrix.max())):
            return
    kinds = (
        ("missing", np.isnan(matrix), MissingValueError),
        ("infinite", np.isinf(matrix), DataError),
        ("negative", matrix < 0, DataError),
    )
    for what, wrong, error in kinds:
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            raise error(
                f"X has {int(wrong.sum())} {what} distance(s) (row {row}, column {column}): ",
                setting("metric", "precomputed"),
                " takes finite numbers >= 0, one for every pair of rows",
                row=row,
            )


def refuse_cells(matrix: np.ndarray, names: Sequence[Hashable] | None, metric: str, *, takes_missing: bool) -> None:
    """Refuse infinite cells, and missing ones if the metric has no rule for them."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = matrix.sum()  # a fast check without a second matrix: a finite sum has finite terms
    if np.isfinite(total):
        return
    for at in range(matrix.shape[1]):
        infinite = np.isinf(matrix[:, at])
        if infinite.any():
            raise DataError(
                f"{column_label(names, at)} has {int(infinite.sum())} infinite value(s) (",
                first_row(int(infinite.argmax())),
                "), which have no distances. Replace them, or drop the rows",
                row=int(infinite.argmax()),
            )
    if takes_missing:
        return
    for at in range(matrix.shape[1]):
        absent = np.isnan(matrix[:, at])
        if absent.any():
            raise MissingValueError(
                f"{column_label(names, at)} has {int(absent.sum())} missing value(s) (",
                first_row(int(absent.argmax())),
                "), and ",
                setting("metric", metric),
                " has no distance to NaN. Use ",
                setting("metric", "heom"),
                ", 'hvdm', 'gower' or 'nan_euclidean', which do, or fill in the cells, or drop the rows",
                row=int(absent.argmax()),
            )


def refuse_nominal(schema: Schema, metric: str) -> None:
    """Refuse nominal columns with a metric for numbers."""
    nominal = [column.name for column in schema.columns if column.kind == "nominal"]
    if nominal:
        at = schema.positions[nominal[0]]
        rest = f" (and {len(nominal) - 1} more column(s))" if len(nominal) > 1 else ""
        raise DataError(
            f"{column_label(schema.names, at)}{rest} is nominal: its levels have no order, so ",
            setting("metric", metric),
            " has no distance between them. Use ",
            setting("metric", "heom"),
            ", 'hvdm' or 'gower', or turn the levels into numbers (one column of 0 and 1 per level)",
            column=nominal[0],
        )


# Columns of several kinds ---------------------------------------------------------------------------------------------


class MixedColumns(NamedTuple):
    """The comparison of each column, for kernels.

    ``kinds`` (uint8[p]), ``DIFFERENCE``: |a - b| / scale. ``EQUALITY``: 0 or 1. ``SHARES``: by ``tables``.
    ``scales`` (float64[p] > 0): range, or four standard deviations; 1 for other columns.
    ``rule``, ``GOWER``, ``HEOM``, ``HVDM`` or ``NAN_EUCLIDEAN``: how columns add up and how missing cells are treated.
    ``n_levels`` (int64[p]): levels of a nominal column, whose codes are below this; a cell with this code is an unseen
        level. 0 for others.
    ``tables`` (float64[...]), for HVDM: the class proportions of each level of each column of ``SHARES``; ``NO_ROWS``
        for levels without rows.
    ``starts`` (int64[p + 1]): the beginning of each column's part of ``tables``: n_levels rows of ``n_classes``.
    ``lines`` (int64[p + 1]): the beginning of each column's line in a search: one number per level and two more for a
        column of ``SHARES``, none for others.
    """

    kinds: np.ndarray
    scales: np.ndarray
    rule: int
    n_levels: np.ndarray
    tables: np.ndarray
    starts: np.ndarray
    n_classes: int
    lines: np.ndarray

    @classmethod
    def of(
        cls, kinds: np.ndarray, scales: np.ndarray, rule: int, n_levels: np.ndarray, tables: np.ndarray, n_classes: int
    ) -> Self:
        """The comparison, with the beginnings of its tables and lines."""
        starts, lines = np.zeros((2, len(kinds) + 1), np.int64)
        starts[1:] = np.cumsum(n_levels * n_classes)
        lines[1:] = np.cumsum(np.where(kinds == SHARES, n_levels + 2, 0))
        return cls(kinds, scales, rule, n_levels, tables, starts, n_classes, lines)


def mixed_columns(rule: int, schema: Schema, matrix: np.ndarray, target: np.ndarray | None) -> MixedColumns:
    """The comparison of columns, from training rows.

    ``rule``: ``GOWER``, ``HEOM`` or ``HVDM``. ``matrix`` (float64[n, p] or float32[n, p]): nan is missing; nothing is
    infinite. ``target`` (int[n] or int[n, 1], float64[n] or float64[n, 1], or None), for HVDM: codes of classes, or
    numbers.
    """
    p = len(schema)
    kinds, scales = np.full(p, EQUALITY, np.uint8), np.ones(p)
    n_levels = np.zeros(p, np.int64)
    for at, column in enumerate(schema.columns):
        if column.kind == "nominal":
            n_levels[at] = len(column.levels)
            continue
        scale = _spread(matrix[:, at].astype(np.float64), rule, column_label(schema.names, at))
        if scale > 0:
            kinds[at], scales[at] = DIFFERENCE, scale
    tables, n_classes = np.empty(0), 0
    if rule == HVDM:
        classes, n_classes = _classes(target)
        is_nominal = np.array([column.kind == "nominal" for column in schema.columns], bool)
        kinds[is_nominal] = SHARES
        parts = [
            _shares(matrix[:, at], int(n_levels[at]), classes, n_classes) if is_nominal[at] else np.empty(0)
            for at in range(p)
        ]
        tables = np.concatenate(parts)
    return MixedColumns.of(kinds, scales, rule, n_levels, tables, n_classes)


def nan_euclidean_columns(p: int) -> MixedColumns:
    """Numeric columns, p of them, compared if both cells are known; nothing is learned from rows."""
    kinds, no_levels = np.full(p, DIFFERENCE, np.uint8), np.zeros(p, np.int64)
    return MixedColumns.of(kinds, np.ones(p), NAN_EUCLIDEAN, no_levels, np.empty(0), n_classes=0)


def _spread(cells: np.ndarray, rule: int, label: str) -> float:
    """Range or four standard deviations of the known cells of a column; 0 if they are all the same or none."""
    known = cells[~np.isnan(cells)]
    if not len(known):
        return 0.0
    low, high = float(known.min()), float(known.max())
    with np.errstate(over="ignore"):
        spread = np.float64(high) - np.float64(low)
    if not np.isfinite(spread):
        raise DataError(
            f"{label} reaches from {shown(low)} to {shown(high)}: its range is beyond float64. "
            "Scale its numbers down, or drop the rows with such values"
        )
    if rule != HVDM or spread == 0:
        return float(spread)
    # Computed on cells divided by the range, so that no square overflows or vanishes.
    return min(4.0 * float(((known - low) / spread).std()) * float(spread), LARGEST)


def _classes(target: np.ndarray | None) -> tuple[np.ndarray, int]:
    """Classes of the rows, int64[n], and their number; numeric targets become groups."""
    if target is None:
        raise ParameterError(
            setting("metric", "hvdm"), " compares levels by the classes of their rows, and there is no target: give y"
        )
    if target.ndim > 1 and target.shape[1] > 1:
        raise ParameterError(
            setting("metric", "hvdm"),
            f" compares levels by the classes of one target, not of {target.shape[1]}: fit one model per output, or ",
            "use ",
            setting("metric", "heom"),
        )
    flat = target.reshape(len(target))
    if flat.dtype.kind in "iu":
        return flat.astype(np.int64), int(flat.max()) + 1
    # Equal numbers are in one group: that of the first of them in ascending order.
    groups = np.searchsorted(np.sort(flat), flat, side="left") * _GROUPS // len(flat)
    return groups.astype(np.int64), _GROUPS


def _shares(cells: np.ndarray, n_levels: int, classes: np.ndarray, n_classes: int) -> np.ndarray:
    """The class proportions of each level, float64[n_levels * n_classes]."""
    known = ~np.isnan(cells)
    place = cells[known].astype(np.int64) * n_classes + classes[known]
    counts = np.bincount(place, minlength=n_levels * n_classes).reshape(n_levels, n_classes)
    rows = counts.sum(axis=1, keepdims=True)
    return np.where(rows > 0, counts / np.maximum(rows, 1), NO_ROWS).ravel()


# Points by kernels ----------------------------------------------------------------------------------------------------


@costs(lambda rows, matrix, out: len(rows) * matrix.size)
@kernel
def times_matrix(rows, matrix, out):
    """Rows float64[n, p] times a matrix float64[p, d], into ``out`` float64[n, d]."""
    for i in range(rows.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
        for c in range(rows.shape[1]):
            cell = rows[i, c]
            for j in range(out.shape[1]):
                out[i, j] += cell * matrix[c, j]


@kernel
def unit_rows(rows, centred, out):
    """Rows divided by their length, with another coordinate for rows of zeros.

    A row of zeros has no direction. Its point is 0 except for 1 in the last coordinate: its squared distance to every
    unit row is exactly 2 (a cosine of 0), to another row of zeros 0. The last coordinate of a unit row compensates the
    rounding of its own squares: some units in the last place, which add some 1e-32 to squared distances between unit
    rows.

    Parameters
    ----------
    rows : float64[n, p]
    centred : bool
        Subtract its mean from every row first; a row of equal cells is one of zeros.
    out : float64[n, p + 1], OUT
    """
    p = rows.shape[1]
    for i in range(rows.shape[0]):
        for j in range(p):
            out[i, j] = rows[i, j]
        out[i, p] = 0.0
        if centred:
            _shrink(out, i, p)
            _centre(out, i, p)
        largest = _shrink(out, i, p)
        if largest == 0.0:
            out[i, p] = 1.0
            continue
        length = math.sqrt(_squares(out, i, p))
        for j in range(p):
            out[i, j] /= length
        out[i, p] = _remainder(_squares(out, i, p))


@inner_kernel
def _squares(points, i, p):
    """Sum of squares of the first p coordinates of row i of ``points`` float64[n, p + 1], in order."""
    total = 0.0
    for j in range(p):
        total += points[i, j] * points[i, j]
    return total


@inner_kernel
def _shrink(points, i, p):
    """Multiply row i of ``points`` float64[n, p + 1] by a power of two, so that its largest cell is from 0.5 to 1.

    Then no square overflows. Returns the largest magnitude before: 0 for a row of zeros, which does not change.
    """
    largest = 0.0
    for j in range(p):
        largest = max(largest, abs(points[i, j]))
    if largest > 0.0:
        _, exponent = math.frexp(largest)
        half = -(exponent // 2)  # in two steps: 2**1073 and 2**-1074 are not both float64
        first, second = math.ldexp(1.0, half), math.ldexp(1.0, -exponent - half)
        for j in range(p):
            points[i, j] = points[i, j] * first * second
    return largest


@inner_kernel
def _centre(points, i, p):
    """Subtract the mean from row i of ``points`` float64[n, p + 1], after ``_shrink``; equal cells become exactly 0."""
    equal = True
    for j in range(1, p):
        equal = equal and points[i, j] == points[i, 0]
    if equal:
        for j in range(p):
            points[i, j] = 0.0
        return
    for _ in range(2):  # the second time removes the rounding error of the first
        mean = 0.0
        for j in range(p):
            mean += points[i, j]
        mean /= p
        for j in range(p):
            points[i, j] -= mean


@inner_kernel
def _remainder(squares):
    """The coordinate c for which ``squares + (1 - c) * (1 - c)`` is 2 in float64, for squares that are nearly 1.

    Below 1 squares are 1 - m / 2**53, and each of m - 1, ..., m + 2 over 2**53 completes them to a number that rounds
    to 2; one of these is a multiple of four, and the square of 1 + t / 2**52 is 1 + 4 t / 2**53.
    Above 1 they are 1 + m / 2**52, and the square of 1 - m / 2**53 is 1 - m / 2**52.
    """
    if squares > 1.0:
        return (squares - 1.0) * 0.5
    missing = np.int64((1.0 - squares) * 2.0**53)
    return -np.float64((missing + 2) // 4) * 2.0**-52
