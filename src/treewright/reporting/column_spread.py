"""How the values of a column lie. In: encoded cells, the target. Out: ``SpreadPart``.

Caller: reporting.columns_part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treewright.data.schema import Column
from treewright.judge.uncertainty import rows_worth
from treewright.page.parts_columns import SpreadPart
from treewright.reporting.judged import Judged
from treewright.tree.writing import gap_digits, shorten, written_level, written_number

N_CELLS = 24
# A numeric column with no more different numbers has a bar for each.
FEW_NUMBERS = 12
MOST_LEVELS, MOST_CLASSES = 20, 10
LEVEL_WIDTH = 60
OTHERS, UNSEEN, MISSING, OTHER_CLASSES = "other levels", "not seen at the fit", "missing", "other classes"
# Numbers are far off where all others, but for such a part at either end, would take less than a third of the axis.
FAR_OFF, SQUEEZED = 0.005, 3.0
MOST_WHOLE = 1e15  # up to here a half can be added
# Cells with fewer rows have a mean without an error.
FEWEST_ROWS = 2


@dataclass(frozen=True, eq=False)
class Groups:
    """The rows by their target.

    Attributes
    ----------
    names : tuple of str
    codes : tuple of int or None
        Positions of the classes; None for all others together, and for numbers.
    place : int64[n]
        Which of them a row belongs to.
    truth : float64[n] or None
        Of a target of numbers.
    weights : float64[n]
    """

    names: tuple[str, ...]
    codes: tuple[int | None, ...]
    place: np.ndarray
    truth: np.ndarray | None
    weights: np.ndarray


def groups_of(judged: Judged) -> Groups:
    """Return the rows by the classes of the first output, the commonest ones apart; of numbers all in one group."""
    if not judged.is_classification:
        return Groups(("rows",), (None,), np.zeros(judged.n, np.int64), judged.target[:, 0], judged.weights)
    labels, target = judged.model.classes[0].tolist(), judged.target[:, 0].astype(np.int64)
    kept = commonest_classes(judged, MOST_CLASSES)
    names = [shorten(written_level(labels[code]), LEVEL_WIDTH) for code in kept]
    codes: list[int | None] = [*kept]
    place = np.full(len(labels), len(kept))
    place[kept] = np.arange(len(kept))
    if len(kept) < len(labels):
        names.append(f"{OTHER_CLASSES} ({len(labels) - len(kept)})")
        codes.append(None)
    return Groups(tuple(names), tuple(codes), place[target], None, judged.weights)


def commonest_classes(judged: Judged, most: int) -> list[int]:
    """Return the classes with the most judged rows, at most so many, in their order."""
    n = len(judged.model.classes[0])
    held = np.bincount(judged.target[:, 0].astype(np.int64), judged.weights, minlength=n)
    return sorted(np.argsort(-held, kind="stable")[:most].tolist())


def spread_of(column: Column, cells: np.ndarray, groups: Groups) -> SpreadPart:
    """Return how the values of a column lie, by class or with the mean of the target.

    Parameters
    ----------
    column : Column
    cells : float64[n]
        Encoded; nan is missing, the code after the last level one that the fit never saw.
    groups : Groups
    """
    if column.kind != "numeric":
        return _of_levels(column, cells, groups)
    held = cells[np.isfinite(cells)]
    distinct = np.unique(held)
    if len(distinct) <= FEW_NUMBERS:
        digits = gap_digits(distinct, least=4).tolist()
        labels = [written_number(value, digits=n) for value, n in zip(distinct.tolist(), digits, strict=True)]
        at = np.where(np.isfinite(cells), np.searchsorted(distinct, cells), len(distinct))
        return _counted(None, [*labels, MISSING], at, groups)
    low, high = middle_range(held)
    edges = edges_of(low, high, whole=bool((held == np.rint(held)).all()))
    n_cells = len(edges) - 1
    at = np.clip(np.searchsorted(edges, cells, side="right") - 1, 0, n_cells - 1)
    at[~np.isfinite(cells)] = n_cells
    told = _counted(tuple(edges.tolist()), [""] * n_cells, at, groups)
    return replace(told, n_beyond=int(((held < low) | (held > high)).sum()))


def edges_of(low: float, high: float, *, whole: bool) -> np.ndarray:
    """Return the ends of cells of one width over a range; of whole numbers each cell holds as many of them.

    Examples
    --------
    >>> edges_of(70.0, 82.0, whole=True)[[0, 1, -1]].tolist(), edges_of(0.0, 12.0, whole=False)[[0, 1, -1]].tolist()
    ([69.5, 70.5, 82.5], [0.0, 0.5, 12.0])
    """
    if whole and max(abs(low), abs(high)) < MOST_WHOLE:
        width = np.ceil((high - low + 1) / N_CELLS)
        return np.asarray(low - 0.5 + width * np.arange(np.ceil((high - low + 1) / width) + 1))
    share = np.linspace(0.0, 1.0, N_CELLS + 1)
    # Not low + share * (high - low): the ends may lie further apart than float64 reaches.
    edges = low * (1.0 - share) + high * share
    edges[0], edges[-1] = low, high
    return np.asarray(edges)


def middle_range(held: np.ndarray) -> tuple[float, float]:
    """Return the ends of an axis for some numbers: all of them, or, where a few lie far off, those of all but these.

    Parameters
    ----------
    held : float64[n], n >= 1, finite

    Examples
    --------
    >>> middle_range(np.arange(300.0)), middle_range(np.append(np.arange(300.0), 1e6))
    ((0.0, 299.0), (1.0, 299.0))
    """
    low, high = float(held.min()), float(held.max())
    inner, outer = np.quantile(held, (FAR_OFF, 1.0 - FAR_OFF), method="inverted_cdf").tolist()
    # Halves: the whole may be beyond float64.
    return (inner, outer) if inner < outer and high / 2 - low / 2 > SQUEEZED * (outer / 2 - inner / 2) else (low, high)


def _of_levels(column: Column, cells: np.ndarray, groups: Groups) -> SpreadPart:
    """A bar for each of the commonest levels; what is left over, and missing cells, at the end."""
    n_levels = len(column.levels)
    missing = np.isnan(cells)
    codes = np.where(missing, n_levels, cells).astype(np.int64)
    held = np.bincount(codes, groups.weights, minlength=n_levels + 1)[:n_levels]
    shown = np.argsort(-held, kind="stable")[:MOST_LEVELS]
    shown = shown[held[shown] > 0]
    if column.kind == "ordinal":
        shown = np.sort(shown)
    place = np.full(n_levels + 1, len(shown))
    place[shown] = np.arange(len(shown))
    place[n_levels] = len(shown) + 1
    at = place[codes]
    at[missing] = len(shown) + 2
    labels = [shorten(written_level(column.levels[code]), LEVEL_WIDTH) for code in shown.tolist()]
    n_others = int((held > 0).sum()) - len(shown)
    return _counted(None, [*labels, f"{OTHERS} ({n_others})" if n_others else OTHERS, UNSEEN, MISSING], at, groups)


def _counted(edges: tuple[float, ...] | None, labels: list[str], at: np.ndarray, groups: Groups) -> SpreadPart:
    """The weight of the rows in each cell; cells of levels without rows (others, missing) are left out.

    Parameters
    ----------
    edges : tuple of float, or None
        With them rows beyond the last cell, which are missing, do not count.
    labels : list of str
        Of the cells.
    at : int64[n]
        Cell of each row.
    groups : Groups
    """
    n_cells = len(labels)
    inside = at < n_cells
    at, place, weights = at[inside], groups.place[inside], groups.weights[inside]
    parts = np.zeros((len(groups.names), n_cells))
    np.add.at(parts, (place, at), weights)
    kept = np.arange(n_cells) if edges is not None else np.flatnonzero(parts.sum(axis=0) > 0)
    means: tuple[float | None, ...] | None = None
    errors: tuple[float | None, ...] | None = None
    if groups.truth is not None:
        pairs = [_mean_in(groups.truth[inside][at == cell], weights[at == cell]) for cell in kept.tolist()]
        means, errors = tuple(mean for mean, _ in pairs), tuple(error for _, error in pairs)
    return SpreadPart(
        edges=edges,
        labels=() if edges is not None else tuple(labels[cell] for cell in kept.tolist()),
        names=groups.names,
        codes=groups.codes,
        parts=tuple(tuple(part[kept].tolist()) for part in parts),
        means=means,
        errors=errors,
    )


def _mean_in(truth: np.ndarray, weights: np.ndarray) -> tuple[float | None, float | None]:
    """The weighted mean of some targets, and its standard error, of as many rows as the weights are worth (Kish 1965).

    None where there are too few.
    """
    if not len(truth):
        return None, None
    mean, sd = mean_and_sd(truth, weights)
    return mean, None if len(truth) < FEWEST_ROWS else sd / float(np.sqrt(rows_worth(len(truth), weights)))


def mean_and_sd(values: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the weighted mean and the standard deviation (with n - 1) of finite numbers; 0 for a single one.

    Examples
    --------
    >>> mean_and_sd(np.array([1.0, 3.0]), np.ones(2))
    (2.0, 1.4142135623730951)
    """
    # Sums and squares of numbers near the end of float64 overflow; powers of two change no digit.
    exponent = int(np.frexp(np.abs(values).max())[1])
    small, share = np.ldexp(values, -exponent), weights / weights.max()
    share = share / share.sum()
    mean = float((small * share).sum())
    n = len(values)
    variance = float((np.square(small - mean) * share).sum()) * n / (n - 1) if n > 1 else 0.0
    with np.errstate(over="ignore"):
        return float(np.ldexp(mean, exponent)), float(np.ldexp(np.sqrt(variance), exponent))
