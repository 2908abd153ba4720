"""ID3, C4.5, CHAID and CART's further options as attacks ask for them, a noisy table, and a fit that is checked."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import DataWarning
from treewright.trees.check_model import check_model

NAN, INF = np.nan, np.inf


def gini(tables):
    """Gini's impurity as a function of the user's."""
    shares = tables / tables.sum(axis=1, keepdims=True)
    return 1.0 - (shares * shares).sum(axis=1)


def variance(tables):
    return tables[:, 2]


CLASSIFIERS = {
    "ID3": lambda **more: tw.ID3Classifier(**{"nominal": "all", **more}),
    "C4.5": tw.C45Classifier,
    "C4.5 grouped": lambda **more: tw.C45Classifier(nominal_splits="grouped", **more),
    "CHAID": tw.CHAIDClassifier,
    "CHAID exhaustive": lambda **more: tw.CHAIDClassifier(exhaustive=True, alpha=0.5, **more),
    "surrogates": lambda **more: tw.DecisionTreeClassifier(**{"missing": "surrogate", **more}),
    "fractional": lambda **more: tw.DecisionTreeClassifier(
        **{"missing": "fractional", "nominal_splits": "multiway", **more}
    ),
    "one against the rest": lambda **more: tw.DecisionTreeClassifier(
        **{"missing": "branch", "nominal_splits": "one_vs_rest", **more}
    ),
    "own function": lambda **more: tw.DecisionTreeClassifier(criterion=gini, **more),
}
REGRESSORS = {
    "CHAID of numbers": tw.CHAIDRegressor,
    "numbers by branches": lambda **more: tw.DecisionTreeRegressor(**{"nominal_splits": "multiway", **more}),
    "medians": lambda **more: tw.DecisionTreeRegressor(
        **{"missing": "surrogate", "criterion": "absolute_error", **more}
    ),
    "own function of numbers": lambda **more: tw.DecisionTreeRegressor(criterion=variance, **more),
}
KINDS = CLASSIFIERS | REGRESSORS
ONE_TARGET = ("C4.5", "C4.5 grouped", "CHAID", "CHAID exhaustive", "CHAID of numbers")
each_kind = pytest.mark.parametrize("kind", KINDS)

WORDS = {"c": list("aabbccddabcd"), "d": list("uvuvuvuvuuvv")}
LABELS = [0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1]


def quietly(work, *arguments, **options):
    """The result of a call whose warnings about the data are expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return work(*arguments, **options)


def fit(kind, table=WORDS, y=LABELS, weights=None, **options):
    """A fitted estimator whose tree keeps its invariants."""
    estimator = quietly(KINDS[kind](**options).fit, table, y, weights)
    check_model(estimator.model_)
    return estimator


def noisy(n=300, seed=5):
    """A table of a number and three nominal columns, a tenth of the cells missing, and noisy labels."""
    rng = np.random.default_rng(seed)
    table = {
        "x": np.where(rng.random(n) < 0.1, NAN, rng.integers(0, 30, n)),
        **{name: [None if v == 5 else f"{name}{v}" for v in rng.integers(0, 6, n)] for name in "pqr"},
    }
    hit = np.array([cell in ("p1", "p2") for cell in table["p"]])
    return table, (hit ^ (rng.random(n) < 0.2)).astype(int)
