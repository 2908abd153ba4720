"""Hostile rows for the pruners that take some: a right tree, or one error that says what and what to do."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import treewright as tw
from treewright.exceptions import (
    ColumnError,
    DataError,
    DataWarning,
    MissingValueError,
    ParameterError,
    TreewrightError,
    UnseenLevelError,
)
from treewright.trees.check_model import check_model

RNG = np.random.default_rng(11)
N = 120
TABLE = {
    "x": np.round(RNG.normal(size=N), 2).tolist(),
    "town": RNG.choice(["Bonn", "Graz", "Linz"], N).tolist(),
    "size": RNG.choice(["S", "M", "L"], N).tolist(),
}
CLASSES = np.where(RNG.random(N) < 0.3, RNG.choice(["in", "out"], N), np.where(np.array(TABLE["x"]) > 0, "in", "out"))
NUMBERS = np.array(TABLE["x"]) + RNG.normal(0, 0.5, N)
HELD = {name: cells[:40] for name, cells in TABLE.items()}

WAYS = {
    "direction": lambda **more: tw.DecisionTreeClassifier(missing="direction", **more),
    "surrogate": lambda **more: tw.DecisionTreeClassifier(missing="surrogate", **more),
    "fractional": lambda **more: tw.DecisionTreeClassifier(
        **{"missing": "fractional", "nominal_splits": "multiway", **more}
    ),
    "C4.5": lambda **more: tw.C45Classifier(confidence=None, **more),
    "CHAID": lambda **more: tw.CHAIDClassifier(alpha=0.9, **more),
    "numbers": lambda **more: tw.DecisionTreeRegressor(missing="branch", **more),
}
each_way = pytest.mark.parametrize("way", WAYS)


def fitted(way, **more):
    est = WAYS[way](ordinal={"size": ["S", "M", "L"]}, **more)
    return est.fit(TABLE, NUMBERS if way == "numbers" else CLASSES)


def target(way, n=40):
    return NUMBERS[:n] if way == "numbers" else CLASSES[:n]


def pruned(est, X, y, weights=None):
    """The pruned estimator; warnings about cells are the encoder's and are tested there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        small = est.prune("reduced_error", X, y, weights)
    check_model(small.model_)
    assert small.get_n_leaves() <= est.get_n_leaves()
    return small


@each_way
def test_rows_without_any_value_go_down_as_in_prediction(way):
    est = fitted(way)
    small = pruned(est, {name: [None] * 40 for name in HELD}, target(way))

    if est.model_.missing != "fractional":
        # They all end in one leaf: what is not on its way is cut.
        assert (small.tree_.n_samples > 0).all()
        assert small.get_depth() <= est.get_depth()
        assert all(cut.numbers["holdout_weight"] in (0.0, 40.0) for cut in small.prune_log_)


@each_way
@pytest.mark.parametrize("unseen", ["missing", "majority", "error"])
def test_levels_that_fit_never_saw_are_taken_as_prediction_takes_them(way, unseen):
    est = fitted(way, unseen=unseen)
    table = HELD | {"town": ["Oslo", *HELD["town"][1:]]}
    if unseen == "error":
        with pytest.raises(UnseenLevelError, match="Oslo"):
            est.prune("reduced_error", table, target(way))
        return

    small = pruned(est, table, target(way))

    if est.model_.missing != "fractional" and way != "numbers":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            assert small.score(table, target(way)) >= est.score(table, target(way))


@each_way
def test_rows_of_weight_0_are_not_there(way):
    est = fitted(way)
    weights = np.r_[np.ones(30), np.zeros(10)]
    odd = HELD | {"x": [*HELD["x"][:30], *[1e300] * 10]}

    small = pruned(est, odd, target(way), weights)

    few = pruned(est, {name: cells[:30] for name, cells in HELD.items()}, target(way)[:30])
    assert small.show() == few.show()
    with pytest.raises(DataError, match="all weights are zero"):
        est.prune("reduced_error", HELD, target(way), np.zeros(40))


@each_way
@pytest.mark.parametrize("unit", [1e-300, 1e-3, 1e300])
def test_the_unit_of_the_weights_does_not_matter(way, unit):
    est = fitted(way)

    assert pruned(est, HELD, target(way), np.full(40, unit)).show() == pruned(est, HELD, target(way)).show()


@each_way
def test_weights_far_apart_let_the_heavy_row_decide(way):
    est = fitted(way)
    weights = np.r_[np.full(20, 1e300), np.full(20, 1e-300)]

    small = pruned(est, HELD, target(way), weights)

    assert all(np.isfinite(list(cut.numbers.values())).all() for cut in small.prune_log_)


def test_one_row_prunes_a_regression_tree_and_is_refused_for_classes():
    one = {name: cells[:1] for name, cells in HELD.items()}
    assert pruned(fitted("numbers"), one, NUMBERS[:1]).get_n_leaves() >= 1
    with pytest.raises(DataError, match="stratify"):
        fitted("direction").prune("reduced_error", one, CLASSES[:1])


@each_way
def test_tables_that_do_not_fit_are_refused(way):
    est, y = fitted(way), target(way)
    with pytest.raises(ColumnError, match="size"):
        est.prune("reduced_error", {name: HELD[name] for name in ("x", "town")}, y)
    with pytest.raises(DataError, match="x"):
        est.prune("reduced_error", HELD | {"x": ["far"] * 40}, y)
    with pytest.raises(DataError, match="40"):
        est.prune("reduced_error", HELD, y[:39])
    with pytest.raises(DataError):
        est.prune("reduced_error", {name: [] for name in HELD}, y[:0])
    with pytest.raises(DataError, match="sample_weight"):
        est.prune("reduced_error", HELD, y, np.full(40, -1.0))
    with pytest.raises(DataError, match="sample_weight"):
        est.prune("reduced_error", HELD, y, np.full(40, np.nan))
    with pytest.raises(ParameterError, match="X and y together"):
        est.prune("reduced_error", HELD)


def test_labels_and_numbers_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="'nowhere'"):
        fitted("direction").prune("reduced_error", HELD, ["nowhere", *CLASSES[1:40]])
    for y in (["a"] * 40, [np.nan] * 40, [np.inf] * 40, np.ones((40, 2))):
        with pytest.raises(DataError):
            fitted("numbers").prune("reduced_error", HELD, y)
    no_missing = fitted("C4.5", missing="error")
    with pytest.raises(MissingValueError):
        no_missing.prune("reduced_error", HELD | {"x": [None] * 40}, CLASSES[:40])


def test_any_container_gives_the_same_tree():
    est = fitted("direction")
    trees = {
        pruned(est, made(HELD), CLASSES[:40]).show()
        for made in (dict, pd.DataFrame, pl.DataFrame, lambda table: dict(reversed(table.items())))
    }
    assert len(trees) == 1


@each_way
def test_error_based_refuses_other_rows_of_every_sort(way):
    est = fitted(way)
    if way == "numbers":
        with pytest.raises(ParameterError, match="predicts numbers"):
            est.prune("error_based", TABLE, NUMBERS)
        return
    hostile = (
        (HELD, CLASSES[:40], None),
        (TABLE | {"town": ["Oslo"] * N}, CLASSES, None),
        (TABLE | {"x": [None] * N}, CLASSES, None),
        (TABLE, CLASSES, np.full(N, 1e300)),
        (TABLE, CLASSES[::-1], None),
    )
    for X, y, weights in hostile:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            with pytest.raises(TreewrightError, match=r"fitted on|surrogates"):
                est.prune("error_based", X, y, weights)


@each_way
def test_a_single_leaf_stays_what_it_is(way):
    est = fitted(way, min_samples_split=10**6)
    assert est.tree_.n_nodes == 1

    assert pruned(est, HELD, target(way)).tree_.n_nodes == 1
    if way != "numbers":
        assert est.prune("error_based").tree_.n_nodes == 1
