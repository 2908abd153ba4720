"""What holds for the cross-validated path of any table."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw
from treewright.evaluation.path import pruning_path
from treewright.exceptions import DataWarning


@st.composite
def problems(draw):
    """A small table of few distinct values, two to four folds of it, classes."""
    n = draw(st.integers(6, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.integers(2, 12)), (n, draw(st.integers(1, 3)))).astype(float)
    y = rng.integers(0, draw(st.integers(1, 3)), n) + (X[:, 0] > 3)
    folds = np.arange(n) % draw(st.integers(2, 4))
    return X, y, rng.permutation(folds)


def path_of_folds(X, y, folds, kind=tw.DecisionTreeClassifier, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # constant columns
        return pruning_path(kind(), X, y, cv=folds, n_jobs=1, **options)


@given(problems(), st.sampled_from(["impurity", "error"]))
def test_the_last_step_errs_where_the_majority_of_the_other_folds_does(problem, risk):
    X, y, folds = problem
    path = path_of_folds(X, y, folds, risk=risk)

    wrong = 0
    for fold in np.unique(folds):
        others = np.bincount(y[folds != fold])
        wrong += int((y[folds == fold] != others.argmax()).sum())
    assert path.cv_error[-1] == wrong / len(y)
    assert (path.n_leaves[-1], path.depth[-1]) == (1, 0)


@given(problems())
def test_prices_ascend_trees_shrink_and_training_errors_rise(problem):
    X, y, folds = problem
    path = path_of_folds(X, y, folds, risk="error")

    assert path.alphas[0] == 0.0
    assert (np.diff(path.alphas) > 0).all()
    assert (np.diff(path.n_leaves) < 0).all()
    assert (np.diff(path.depth) <= 0).all()
    assert (np.diff(path.train_error) >= 0).all()
    assert ((path.cv_error >= 0) & (path.cv_error <= 1)).all()
    assert path.train_error[-1] == pytest.approx(1 - np.bincount(y).max() / len(y))


@given(problems(), st.integers(0, 2**32 - 1))
def test_with_the_folds_given_the_order_of_the_rows_does_not_matter(problem, seed):
    X, y, folds = problem
    order = np.random.default_rng(seed).permutation(len(y))

    one, other = path_of_folds(X, y, folds), path_of_folds(X[order], y[order], folds[order])

    for name, column in one.to_dict().items():
        assert column.tolist() == other.to_dict()[name].tolist(), name
    assert one.chosen == other.chosen


@given(problems())
def test_weight_two_is_the_row_twice_in_the_same_fold(problem):
    X, y, folds = problem
    twice = np.arange(len(y)) % 3 == 0
    again = np.concatenate([np.arange(len(y)), np.flatnonzero(twice)])

    weighted = path_of_folds(X, y, folds, sample_weight=1.0 + twice)
    repeated = path_of_folds(X[again], y[again], folds[again])

    assert weighted.n_leaves.tolist() == repeated.n_leaves.tolist()
    for name, column in weighted.to_dict().items():
        assert column == pytest.approx(repeated.to_dict()[name], rel=1e-9, abs=1e-12), name


@given(problems(), st.sampled_from([2.0**40, 2.0**-40]))
def test_numbers_in_another_unit_have_errors_in_another_unit(problem, unit):
    X, y, folds = problem
    kind = tw.DecisionTreeRegressor

    small = path_of_folds(X, y.astype(float), folds, kind)
    large = path_of_folds(X, y * unit, folds, kind)

    assert large.n_leaves.tolist() == small.n_leaves.tolist()
    assert large.cv_error.tolist() == (small.cv_error * unit**2).tolist()
    assert large.standard_error.tolist() == (small.standard_error * unit**2).tolist()
    assert large.chosen == small.chosen
