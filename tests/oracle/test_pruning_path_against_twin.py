"""pruning_path says what cutting, predicting and counting every subtree of every fold says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from naive_pruning_path import cross_validated, losses_of, summed
from rotating import crossed

import treewright as tw
from treewright.evaluation.path import pruning_path
from treewright.exceptions import DataWarning

SEEDS = range(4)
CART = ("direction", "branch", "surrogate", "fractional")


def table_of(rng, n, gaps):
    """Two numbers and a nominal column, of few values, some of them missing."""
    columns = {
        "x": rng.integers(0, 9, n).astype(float),
        "z": rng.normal(size=n).round(1),
    }
    names = rng.choice(["red", "green", "blue", "grey"], n).astype(object)
    for column in columns.values():
        column[rng.random(n) < gaps] = np.nan
    names[rng.random(n) < gaps] = None
    return {**{name: column.tolist() for name, column in columns.items()}, "colour": names.tolist()}


def labels_of(rng, X, n, outputs=1):
    """Classes that follow the table, with noise; the rarest is in one fold or two."""
    score = np.nan_to_num(np.array(X["x"])) + 3 * np.array([c == "red" for c in X["colour"]]) + rng.normal(0, 2, n)
    codes = np.digitize(score, [3, 6, 11])
    y = np.array(["none", "some", "much", "huge"])[codes]
    return y if outputs == 1 else np.stack([y, np.array(["no", "yes"])[(score > 5).astype(int)]], axis=1)


def compare(estimator, X, y, folds, *, risk="impurity", loss=None, weights=None, judged=None):
    """The table beside the twin's."""
    with warnings.catch_warnings():
        # Some folds have nothing missing in a column where the rows kept aside have.
        warnings.simplefilter("ignore", DataWarning)
        path = pruning_path(estimator, X, y, cv=folds, risk=risk, loss=loss, sample_weight=weights, n_jobs=2)
        judged = (np.ones(len(y)) if weights is None else weights) if judged is None else judged
        error, spread = cross_validated(
            estimator, X, y, folds, path.alphas, risk=risk, loss=path.loss, weights=weights, judged=judged
        )
        own = np.stack([losses_of(path.prune(step), X, y, path.loss) for step in range(len(path))], axis=1)
    assert path.cv_error == pytest.approx(error, rel=1e-12, abs=0.0)
    assert path.standard_error == pytest.approx(spread, rel=1e-7, abs=1e-12)
    assert path.train_error == pytest.approx(summed(own, judged)[0], rel=1e-12, abs=0.0)
    assert path.n_leaves.tolist() == [path.prune(step).get_n_leaves() for step in range(len(path))]
    assert path.depth.tolist() == [path.prune(step).get_depth() for step in range(len(path))]
    return path


def drawn(seed, gaps):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(24, 40))
    X = table_of(rng, n, gaps)
    return rng, n, X, np.arange(n) % int(rng.integers(2, 5))


@pytest.mark.parametrize(("missing", "seed"), crossed(CART, SEEDS))
def test_classes_with_missing_cells(seed, missing):
    rng, n, X, folds = drawn(seed, 0.15)
    risk = ("impurity", "error")[seed % 2]

    path = compare(tw.DecisionTreeClassifier(missing=missing), X, labels_of(rng, X, n), folds, risk=risk)

    assert len(path) > 2


@pytest.mark.parametrize(("missing", "seed"), crossed(CART, SEEDS[:2]))
def test_weighted_numbers_by_both_losses(seed, missing):
    rng, n, X, folds = drawn(seed, 0.1)
    y = np.nan_to_num(np.array(X["x"])) * 1e3 + rng.normal(0, 900, n).round(0)
    loss = ("squared_error", "absolute_error")[seed]

    compare(tw.DecisionTreeRegressor(missing=missing), X, y, folds, loss=loss, weights=rng.random(n) * 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_several_outputs_weights_of_rows_and_of_classes(seed):
    rng, n, X, folds = drawn(seed, 0.0)
    y = labels_of(rng, X, n, outputs=2)
    weights = rng.integers(0, 4, n).astype(float)
    yes = np.where(y[:, 1] == "yes", 2.5, 1.0)

    est = tw.DecisionTreeClassifier(class_weight=[{"none": 1.0}, {"yes": 2.5}])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        # In the standard error class weights count once: their weighted mean is 1.
        compare(est, X, y, folds, weights=weights, judged=weights * yes * (weights.sum() / (weights * yes).sum()))


CLASSICS = {
    "c45": tw.C45Classifier(confidence=None),
    "id3": tw.ID3Classifier(nominal=["x", "colour"]),
    "chaid": tw.CHAIDClassifier(alpha=0.9, min_samples_split=5, min_samples_leaf=2),
}


@pytest.mark.parametrize("name", CLASSICS)
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_the_classics(seed, name):
    rng, n, X, folds = drawn(seed, 0.1 if name == "c45" else 0.0)
    y = np.where(np.isin(labels_of(rng, X, n), ["none", "some"]), "no", "yes")
    if name == "id3":
        del X["z"]

    path = compare(CLASSICS[name], X, y, folds, risk="error")

    assert len(path) > 1


def test_several_numbers_and_absolute_errors():
    rng, n, X, folds = drawn(11, 0.0)
    y = np.stack([np.array(X["x"]), rng.normal(size=n)], axis=1)

    path = compare(tw.DecisionTreeRegressor(criterion="absolute_error"), X, y, folds)

    assert path.loss == "absolute_error"


def test_rows_kept_aside_are_judged_by_the_subtrees_of_the_path():
    rng, n, X, folds = drawn(12, 0.1)
    y = labels_of(rng, X, n)
    train, aside = np.flatnonzero(folds != 0), np.flatnonzero(folds == 0)
    pick = lambda rows: {name: [cells[row] for row in rows] for name, cells in X.items()}  # noqa: E731
    weights = rng.random(len(aside))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        path = pruning_path(
            tw.DecisionTreeClassifier(missing="fractional"), pick(train), y[train],
            validation=(pick(aside), y[aside], weights),
        )  # fmt: skip
        lost = [losses_of(path.prune(k), pick(aside), y[aside], "misclassification") for k in range(len(path))]
    error, spread = summed(np.stack(lost, axis=1), weights)

    assert path.cv_error == pytest.approx(error, rel=1e-12)
    assert path.standard_error == pytest.approx(spread, rel=1e-9)
    assert (path.n_folds, path.judged_by) == (0, "validation")
