"""Partial dependence is what one finds who changes one row after the other and asks the model."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from naive_dependence import naive_dependence, naive_lines

import treewright as tw
from treewright.exceptions import DataWarning

SIZES = ("small", "middle", "large")
MODELS = {
    "one tree": tw.DecisionTreeClassifier(max_depth=5),
    "numbers": tw.DecisionTreeRegressor(max_depth=5),
    "surrogates": tw.DecisionTreeClassifier(missing="surrogate", max_depth=4),
    "fractional": tw.DecisionTreeClassifier(missing="fractional", max_depth=4),
    "a branch of their own": tw.DecisionTreeRegressor(missing="branch", nominal_splits="multiway", max_depth=4),
    "C4.5": tw.C45Classifier(),
    "forest": tw.RandomForestClassifier(5, random_state=0),
    "boosted classes": tw.GradientBoostingClassifier(n_estimators=4, random_state=0),
    "boosted numbers": tw.GradientBoostingRegressor(n_estimators=4, random_state=0),
    "votes": tw.AdaBoostClassifier(n_estimators=4, random_state=0),
}


def drawn_rows(seed, n, missing=0.15):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        row = {
            "heat": float(np.round(rng.normal(), 1)),
            "sky": str(rng.choice(["sun", "rain", "fog"])),
            "size": str(rng.choice(SIZES)),
        }
        rows.append({name: None if rng.random() < missing and name != "size" else cell for name, cell in row.items()})
    return rows


def table_of(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def fitted(est, seed):
    rows = drawn_rows(seed, 120)
    score = [(row["heat"] or 0.0) + 2.0 * (row["sky"] == "sun") + SIZES.index(row["size"]) for row in rows]
    est = est.set_params(ordinal={"size": SIZES}) if "ordinal" in est.get_params() else est
    target = (
        score
        if not hasattr(est, "predict_proba")
        else [["low", "middle", "high"][int(s > 1) + int(s > 2.5)] for s in score]
    )
    if isinstance(est, tw.AdaBoostClassifier):
        est = est.set_params(estimator=tw.DecisionTreeClassifier(max_depth=2, ordinal={"size": SIZES}))
    return est.fit(table_of(rows), target)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("column", ["heat", "sky", "size"])
def test_means_and_single_rows_are_those_of_one_changed_row_after_the_other(name, column):
    est = fitted(MODELS[name], 1)
    rows = drawn_rows(2, 14)
    weights = np.random.default_rng(3).choice([0.5, 1.0, 2.0], len(rows)).tolist()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found = est.partial_dependence(table_of(rows), column, grid=5, individual=4, sample_weight=weights)
        values = list(found.axes[0].values)
        means = np.array(naive_dependence(est, rows, column, values, weights))
        lines = np.array(naive_lines(est, [rows[at] for at in found.rows], column, values))

    np.testing.assert_allclose(found.values, means.T, rtol=1e-12, atol=1e-15)
    assert found.individual.tolist() == np.moveaxis(lines, 2, 0).tolist()
