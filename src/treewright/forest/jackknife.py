"""Standard errors of a forest's predictions. In: a forest, its draws, new rows. Out: standard errors.

The infinitesimal jackknife for bagging (Wager, Hastie and Efron 2014, "Confidence intervals for random forests: the
jackknife and the infinitesimal jackknife", Journal of Machine Learning Research 15, 1625-1651): with ``N[b, i]``, how
often tree ``b`` drew row ``i``, and ``d[b]``, the prediction of tree ``b`` minus the mean of all ``B`` trees,

    V = sum_i C[i]**2 - s / B**2 * sum_b d[b]**2    where    C[i] = 1 / B * sum_b (N[b, i] - 1) * d[b]

The sum over ``i`` is their equation 5, and the subtracted term their correction for finitely many trees (equation 7);
``s`` is the number of draws of a tree, their ``n``. As the ``d`` add up to 0, ``N - 1`` can be replaced by ``N``, so

    B**2 * sum_i C[i]**2 = sum_b sum_c d[b] * d[c] * G[b, c]    where    G[b, c] = sum_i N[b, i] * N[c, i]

so that the table of draws, rows by trees, is needed only in blocks, and once: ``G`` is a table of trees by trees. Its
entries are sums of whole numbers below 2**53, exact in any order.

If weights are numbers of rows, a row of weight k is k rows. Each of them is drawn ``N / k`` times on average, so
together they add ``C**2 / k``.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import notices, threads
from treewright.core.elementary import add_products
from treewright.core.jit import costs, kernel
from treewright.data.memory import check_fits
from treewright.forest.draws import Draws
from treewright.forest.out_of_bag import enough_trees
from treewright.predict.ensemble import contents_of
from treewright.predict.walks import Reading
from treewright.trees.data import ModelData

_DRAWN_CELLS = 1 << 24  # rows times trees whose draws are held at a time
_PREDICTED_CELLS = 1 << 20  # rows times trees times values whose predictions are held at a time


@costs(lambda predicted, gram, *_: len(predicted) * predicted.shape[1] * gram.size)
@kernel
def variances(predicted: np.ndarray, gram: np.ndarray, n_draws: float, products: np.ndarray, found: np.ndarray) -> None:
    """Variances of means over trees.

    Parameters
    ----------
    predicted : float64[n, n_values, n_trees]
        The prediction of each tree; overwritten.
    gram : float64[n_trees, n_trees], IN
        How often each pair of trees drew the same rows.
    n_draws : float
        Draws of a tree, counted as in ``gram``.
    products : float64[n_trees]
        Scratch.
    found : float64[n, n_values], OUT
        May be negative.
    """
    n, n_values, n_trees = predicted.shape
    for row in range(n):
        for value in range(n_values):
            apart = predicted[row, value]
            # Around the first prediction, so that the mean of equal predictions has no rounding error.
            first, mean = apart[0], 0.0
            for tree in range(n_trees):
                mean += apart[tree] - first
            mean = first + mean / n_trees
            squares = 0.0
            for tree in range(n_trees):
                apart[tree] -= mean
                squares += apart[tree] * apart[tree]
                products[tree] = 0.0
            # d' G d, row by row of G: the inner loop is sequential in memory.
            for tree in range(n_trees):
                for other in range(n_trees):
                    products[other] += apart[tree] * gram[tree, other]
            total = 0.0
            for tree in range(n_trees):
                total += apart[tree] * products[tree]
            found[row, value] = (total - n_draws * squares) / n_trees / n_trees


_grams: WeakKeyDictionary[Draws, tuple[np.ndarray, float]] = WeakKeyDictionary()


def gram_of_draws(draws: Draws, n_trees: int) -> tuple[np.ndarray, float]:
    """How often each pair of trees drew the same rows.

    Returns ``gram`` (float64[n_trees, n_trees]): sums over rows of the product of both counts, divided by the number of
    rows that the row counts as; ``n_draws`` (float), the number of draws, counted in the same way: the expected sum of
    the counts' variances.
    """
    held = _grams.get(draws)
    if held is not None and len(held[0]) == n_trees:
        return held
    n = draws.n_rows
    check_fits(4 * 8 * n_trees**2, f"a table of {n_trees} x {n_trees} trees", "use a forest of fewer trees")
    repeats = draws.repeats()
    times = np.ones(n, np.int64) if repeats is None else repeats
    # Rows with the same number of rows are summed together: their sums are whole numbers, which are divided once.
    order = np.argsort(times, kind="stable")
    total, whole = np.zeros((2, n_trees, n_trees))
    block = max(1, _DRAWN_CELLS // n_trees)
    of_whole = times[order[0]]
    for begin in range(0, n, block):
        rows = order[begin : begin + block]
        drawn = _drawn(draws, n_trees, rows)
        steps = np.flatnonzero(np.diff(times[rows])) + 1
        for at, part in zip((0, *steps), np.split(drawn, steps), strict=True):
            if times[rows[at]] != of_whole:
                total += whole / of_whole
                whole[:] = 0
                of_whole = times[rows[at]]
            add_products(part, whole)
    total += whole / of_whole
    _grams[draws] = total, draws.n_draws * (n / float(times.sum()))
    return _grams[draws]


def _drawn(draws: Draws, n_trees: int, rows: np.ndarray) -> np.ndarray:
    """float64[m, n_trees]: how often each tree drew each of some rows."""
    drawn = np.empty((len(rows), n_trees))
    by_row = np.zeros(draws.n_rows, np.int32)
    for tree in range(n_trees):
        chosen, counts = draws.counts(tree)
        by_row[chosen] = counts
        drawn[:, tree] = by_row[rows]
        by_row[chosen] = 0
    return drawn


def standard_errors(model: ModelData, draws: Draws, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Standard errors of a forest's predictions: how much these vary between samples of training rows.

    ``model``: a forest that combines its trees by mean or vote. ``draws``: the rows sampled for each of its trees, with
    replacement. ``matrix`` (float64 or float32 [n, p]). Returns float64[n, n_values], those of each class probability,
    output by output, or of each predicted number. nan if the correction for finitely many trees is larger than the sum
    that it corrects, and everywhere with too few trees to leave every row out at least once
    (``out_of_bag.enough_trees``): the effect of such a row on a prediction is unknown. Warns: some of them are nan.
    """
    contents = contents_of(model)
    n, n_values, n_trees = len(matrix), contents[0].shape[1], len(model.trees)
    if n_trees < (n_needed := enough_trees(draws.n_rows)):
        notices.warn(
            f"{n_trees} {'tree is' if n_trees == 1 else 'trees are'} too few for a standard error, which needs "
            f"at least {n_needed} for {draws.n_rows} rows: it is nan. Fit more trees (about as many as "
            "there are rows)"
        )
        return np.full((n, n_values), np.nan)
    gram, n_draws = gram_of_draws(draws, n_trees)
    # Squares of very large or small numbers would leave the range of float64.
    exponents = np.frexp(np.max([np.abs(content).max(axis=0) for content in contents], axis=0))[1]
    contents = tuple(np.ldexp(content, -exponents) for content in contents)
    found = np.empty((n, n_values))
    n_threads = threads.resolve_jobs(n_jobs)
    block = max(1, min(_PREDICTED_CELLS // (n_trees * n_values), -(-n // n_threads)))

    def work(task: int, thread: int) -> None:
        rows = slice(task * block, min((task + 1) * block, n))
        variances(_predicted(model, contents, matrix[rows]), gram, n_draws, np.empty(n_trees), found[rows])

    threads.run_each(work, -(-n // block), n_threads)
    is_lost = found < 0
    if is_lost.any():
        notices.warn(
            f"{int(is_lost.any(axis=1).sum())} of {n} rows: {n_trees} trees are too few to separate the standard error "
            "from the randomness of sampling; it is nan there. Fit more trees (about as many as there are rows)"
        )
    return np.ldexp(np.sqrt(np.where(is_lost, np.nan, found)), exponents)


def _predicted(model: ModelData, contents: tuple[np.ndarray, ...], matrix: np.ndarray) -> np.ndarray:
    """float64[n, n_values, n_trees]: the prediction of each tree for each row."""
    predicted = np.empty((len(matrix), contents[0].shape[1], len(model.trees)))
    reading = Reading(model, matrix, 1)
    for tree in range(len(model.trees)):
        predicted[:, :, tree] = reading.of_tree(tree, contents)
    return predicted
