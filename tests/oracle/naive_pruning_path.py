"""Cross-validation of a pruning path the long way: every subtree is cut, predicts, and is counted. Caller:
test_pruning_path_against_twin.

In: a fitted estimator's prices, an estimator, a table, folds. Out: error and standard error of every price.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from sklearn.base import clone

from treewright.data.take import take_rows


def judged_prices(alphas):
    """Geometric means of neighbours; the last price is infinite."""
    return [math.sqrt(low) * math.sqrt(high) for low, high in pairwise(alphas)] + [math.inf]


def losses_of(estimator, X, y, loss):
    """Loss of each row under a fitted estimator: the mean over the outputs."""
    said, y = estimator.predict(X), np.asarray(y)
    said, y = (cells.reshape(len(y), -1).tolist() for cells in (said, y))
    one = {
        "misclassification": lambda a, b: float(a != b),
        "squared_error": lambda a, b: (a - b) ** 2,
        "absolute_error": lambda a, b: abs(a - b),
    }[loss]
    return [sum(one(a, b) for a, b in zip(p, t, strict=True)) / len(t) for p, t in zip(said, y, strict=True)]


def cross_validated(estimator, X, y, folds, alphas, *, risk, loss, weights, judged):
    """Error and standard error per price; ``weights`` grow the trees, ``judged`` count in the errors."""
    prices = judged_prices(alphas)
    lost = np.zeros((len(y), len(prices)))
    for fold in np.unique(folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        own = None if weights is None else weights[train]
        grown = clone(estimator).fit(take_rows(X, train), take_rows(y, train), own)
        for at, price in enumerate(prices):
            cut = grown.prune("cost_complexity", alpha=price, risk=risk)
            lost[test, at] = losses_of(cut, take_rows(X, test), take_rows(y, test), loss)
    return summed(lost, judged)


def summed(lost, judged):
    """Weighted means of columns, and their standard errors."""
    errors, spreads = [], []
    for column in lost.T:
        total = math.fsum(judged)
        mean = math.fsum(w * e for w, e in zip(judged, column, strict=True)) / total
        errors.append(mean)
        spreads.append(math.sqrt(math.fsum(w * (e - mean) ** 2 for w, e in zip(judged, column, strict=True))) / total)
    return np.array(errors), np.array(spreads)
