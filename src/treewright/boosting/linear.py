"""Linear scores as columns. In: encoded rows, outcomes. Out: a derived column per outcome, and its cells for the fit.

Trees approximate a linear sum over many columns by many steps in each; the sum as one column needs one test, which is
an oblique cut. It is a ridge regression on numbers, ranks and the most frequent levels:

    moments of all columns and outcomes, of each tenth of the rows        one pass
    for each strength of the penalty, for each tenth:
        the weights by the other nine tenths                             Cholesky
        the scores of the rows of the tenth
    the strength whose scores are nearest the outcomes, and its weights by all rows

The cells of the training rows are scores by the other tenths, so that they do not depend on the row's own outcome, like
those of new rows. Sums are in the order of the rows, without a library of linear algebra: the last bits of these differ
between processors and numbers of threads.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from treewright.core.jit import kernel
from treewright.data.derived import linear_score
from treewright.data.schema import Column, Schema

FOLDS = 10
MOST_TERMS = 256  # columns of the design: the moments of more would take longer than the trees
_MOST_LEVELS = 20  # most frequent levels of a nominal column; all others have weight 0
_TAIL = 0.01  # share of the rows on either side that is clipped: an outlier would flatten the slope
_STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # of the penalty, in largest variances of the design's columns
_LARGEST = 1e100  # limit of numbers and slopes, so that both can be squared


class LinearScores(NamedTuple):
    """Linear scores of a table.

    ``columns``: one for each outcome; empty if the table has no usable column, more than ``MOST_TERMS`` terms, or more
        than one term for two rows.
    ``cells`` (float64[n, k]): their cells in the training rows.
    ``strength``: the strength of the penalty.
    """

    columns: tuple[Column, ...]
    cells: np.ndarray
    strength: float


class _Term(NamedTuple):
    """A column of the design: a number scaled to 0 to 1; a level (``code``), or a missing cell (-1)."""

    source: int
    low: float
    high: float
    code: int
    is_number: bool


def linear_scores(
    schema: Schema,
    matrix: np.ndarray,
    outcomes: np.ndarray,
    weights: np.ndarray | None,
    n_rows: int,
    folds: np.ndarray,
    names: Sequence[Hashable],
    strength: float | None = None,
) -> LinearScores:
    """Fit linear scores of the columns of the table.

    ``matrix`` (float[n, p]): encoded rows, in an order that does not depend on the user's.
    ``outcomes`` (float64[n, k]): the outcomes that the scores approximate, each in units of about 1.
    ``weights`` (float64[n] or None).
    ``n_rows``: the number of rows, with whole weights counted.
    ``folds`` (int32[n]): the tenth of each row, 0 to ``FOLDS`` - 1.
    ``names``: the names of the columns.
    ``strength``: the strength of the penalty; by default the one of six whose scores are nearest the outcomes.
    """
    own_weights = np.ones(len(matrix)) if weights is None else weights
    terms = _terms_of(schema, matrix, own_weights)
    n, n_outcomes = outcomes.shape
    nothing = LinearScores((), np.empty((n, 0)), _STRENGTHS[0])
    if not 0 < len(terms) <= min(MOST_TERMS, n_rows // 2):
        return nothing
    design = np.empty((n, 1 + len(terms) + n_outcomes))
    design[:, 0], design[:, 1 + len(terms) :] = 1.0, outcomes
    for at, term in enumerate(terms, start=1):
        design[:, at] = _cells_of(term, matrix)
    moments = np.zeros((FOLDS, design.shape[1], design.shape[1]))
    add_moments(design, own_weights, folds, moments)
    together = moments.sum(axis=0)  # over the ten folds, in order
    best, least, cells = _STRENGTHS[0], np.inf, np.empty((n, n_outcomes))
    for tried in _STRENGTHS if strength is None else (strength,):
        own = np.empty((n, n_outcomes))
        for fold in range(FOLDS):
            in_fold = folds == fold
            found = _weights_by(together - moments[fold], len(terms), tried)
            # The means of all rows: those of the other tenths would depend on the tenth's own outcomes.
            found[0] = _intercept(together[0] / together[0, 0], found[1:])
            own[in_fold] = _scores(design[in_fold], found)
        error = float((np.square(own - outcomes) * own_weights[:, None]).sum())
        if error < least:
            best, least, cells = tried, error, own
    if not np.isfinite(least):
        return nothing
    found = _weights_by(together, len(terms), best)
    columns = tuple(_column_of(schema, terms, found[:, at], name) for at, name in enumerate(names))
    return LinearScores(columns, cells, best)


def _terms_of(schema: Schema, matrix: np.ndarray, weights: np.ndarray) -> list[_Term]:
    """The columns of the design."""
    terms: list[_Term] = []
    for at, column in enumerate(schema.columns):
        if column.left_out or column.part:
            continue
        held = matrix[:, at]
        is_missing = np.isnan(held)
        known = held[~is_missing]
        if column.kind == "nominal":
            count = np.bincount(known.astype(np.int64), weights[~is_missing], minlength=len(column.levels))
            codes = np.argsort(-count, kind="stable")[:_MOST_LEVELS]
            # All levels but one are enough: with the penalty it makes a difference, but terms are slow.
            codes = codes[count[codes] > 0][
                : None if is_missing.any() or np.count_nonzero(count) > _MOST_LEVELS else -1
            ]
            terms += [_Term(at, 0.0, 1.0, code, False) for code in sorted(codes.tolist())]
        elif len(known):
            order = np.argsort(known, kind="stable")
            below = np.cumsum(weights[~is_missing][order])
            ends = np.searchsorted(below, [_TAIL * below[-1], (1 - _TAIL) * below[-1]])
            low, high = known[order[np.minimum(ends, len(known) - 1)]].astype(np.float64).tolist()
            if low == high:  # nearly all rows have the same value
                low, high = float(known.min()), float(known.max())
            if -_LARGEST < low < high < _LARGEST and high - low > 1 / _LARGEST:
                terms.append(_Term(at, low, high, 0, True))
        if is_missing.any() and len(known):
            terms.append(_Term(at, 0.0, 1.0, -1, False))
    return terms


def _cells_of(term: _Term, matrix: np.ndarray) -> np.ndarray:
    """A column of the design, float64[n]."""
    held = matrix[:, term.source].astype(np.float64)
    if term.is_number:
        return np.where(np.isnan(held), 0.0, (np.clip(held, term.low, term.high) - term.low) / (term.high - term.low))
    return (np.isnan(held) if term.code < 0 else held == term.code).astype(np.float64)


def _weights_by(moments: np.ndarray, n_terms: int, strength: float) -> np.ndarray:
    """float64[1 + n_terms, k]: intercepts and weights, from moments."""
    end = 1 + n_terms
    weight = max(moments[0, 0], np.finfo(np.float64).tiny)
    means = moments[0, :] / weight
    about_means = moments - weight * np.outer(means, means)
    normal, given = about_means[1:end, 1:end].copy(), about_means[1:end, end:].copy()
    diagonal = np.arange(n_terms)
    normal[diagonal, diagonal] += strength * max(float(normal[diagonal, diagonal].max()), 1e-12 * weight)
    solve(normal, given)
    found = np.empty((end, given.shape[1]))
    found[1:] = given
    found[0] = _intercept(means, given)
    return found


def _intercept(means: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """float64[k]: the intercepts for slopes float64[n_terms, k]; the last of ``means`` are those of the outcomes."""
    left = means[1 + len(slopes) :].copy()
    for mean, slope in zip(means[1:], slopes, strict=False):  # without the outcomes' means, which are last
        left -= mean * slope
    return left


def _scores(design: np.ndarray, found: np.ndarray) -> np.ndarray:
    """float64[n, k]: the scores of rows of the design."""
    scores = np.zeros((len(design), found.shape[1]))
    for at, weights in enumerate(found):
        scores += design[:, at, None] * weights
    return scores


def _column_of(schema: Schema, terms: Sequence[_Term], found: np.ndarray, name: Hashable) -> Column:
    """The weights as a derived column."""
    numbers, sources = [float(found[0])], sorted({term.source for term in terms})
    weight_of = {(term.source, term.is_number, term.code): float(found[at]) for at, term in enumerate(terms, start=1)}
    ends = {term.source: (term.low, term.high) for term in terms if term.is_number}
    for at in sources:
        column, of_missing = schema.columns[at], weight_of.get((at, False, -1), 0.0)
        if column.kind == "nominal":
            numbers += [weight_of.get((at, False, code), 0.0) for code in range(len(column.levels))]
        else:
            low, high = ends.get(at, (0.0, 0.0))
            numbers += [low, high, weight_of.get((at, True, 0), 0.0) / (high - low) if high > low else 0.0]
        numbers.append(of_missing)
    return linear_score(name, sources, numbers)


@kernel
def add_moments(design: np.ndarray, weights: np.ndarray, folds: np.ndarray, moments: np.ndarray) -> None:
    """Sums of the products of each pair of columns, by fold.

    design : float64[n, d]
    weights : float64[n]
    folds : int32[n]
    moments : float64[n_folds, d, d], zeros; the whole square is written
    """
    n, d = design.shape
    for row in range(n):
        own = moments[folds[row]]
        for at in range(d):
            weighed = weights[row] * design[row, at]
            if weighed != 0.0:  # a row has few of the levels
                for other in range(at, d):
                    own[at, other] += weighed * design[row, other]
    for fold in range(len(moments)):
        for at in range(d):
            for other in range(at):
                moments[fold, at, other] = moments[fold, other, at]


@kernel
def solve(normal: np.ndarray, given: np.ndarray) -> None:
    """Solve normal @ x = given by Cholesky, in place: ``given`` becomes x, ``normal`` becomes the factor.

    normal : float64[d, d], symmetric, with a diagonal above 0
    given : float64[d, k]
    """
    d, k = given.shape
    for at in range(d):
        for other in range(at):
            total = normal[at, other]
            for before in range(other):
                total -= normal[at, before] * normal[other, before]
            normal[at, other] = total / normal[other, other]
        total = normal[at, at]
        for before in range(at):
            total -= normal[at, before] * normal[at, before]
        # The rounding error of two equal columns.
        normal[at, at] = np.sqrt(max(total, 1e-14 * normal[at, at]))
    for column in range(k):
        for at in range(d):
            total = given[at, column]
            for before in range(at):
                total -= normal[at, before] * given[before, column]
            given[at, column] = total / normal[at, at]
        for at in range(d - 1, -1, -1):
            total = given[at, column]
            for behind in range(at + 1, d):
                total -= normal[behind, at] * given[behind, column]
            given[at, column] = total / normal[at, at]
