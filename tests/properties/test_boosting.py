"""Boosted estimators: laws that hold whatever the table and the parameters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rotating import examples

import treewright as tw

GROWTHS = st.sampled_from(["leaf", "level", "symmetric"])
# Leaves of a row; a learning rate that leaves rounds something to do.
FEW = {"min_samples_leaf": 2, "learning_rate": 0.3, "max_bins": 32}


@st.composite
def tables(draw):
    """Rows with gaps and a nominal column, a target of numbers, and one of classes."""
    n, seed = draw(st.integers(12, 60)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    matrix = np.round(rng.normal(size=(n, 3)), 1)
    matrix[rng.random((n, 3)) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    matrix[:, 2] = rng.integers(0, 5, n)
    numbers = np.nan_to_num(matrix[:, 0]) + rng.integers(0, 3, n)
    classes = rng.integers(0, draw(st.integers(2, 3)), n)
    classes[:2] = 0, 1
    return matrix, numbers, classes


@st.composite
def parameters(draw):
    """What rounds can be like."""
    return {
        "growth": draw(GROWTHS),
        "subsample": draw(st.sampled_from([1.0, 0.6])),
        "features_per_tree": draw(st.sampled_from([1.0, 0.5])),
        "features_per_node": draw(st.sampled_from([1.0, 0.5])),
        "l2": draw(st.sampled_from([0.0, 2.0])),
        "random_state": draw(st.integers(0, 9)),
    }


def boosted_of(kind, **more):
    return getattr(tw, f"GradientBoosting{kind}")(**FEW, nominal=[2], **more)


def same_model(one, other) -> bool:
    """Whether two estimators hold the same trees, to the last bit."""
    arrays, others = (each.model_.trees.arrays() for each in (one, other))
    names = set(arrays) - {"leaf_samples"}
    return one.model_.boosting == other.model_.boosting and all(
        np.array_equal(arrays[name], others[name]) for name in names
    )


@given(tables(), parameters(), st.integers(1, 4), st.integers(1, 4), st.sampled_from(["Classifier", "Regressor"]))
def test_a_warm_start_grows_what_one_fit_would(table, more, first, second, kind):
    matrix, numbers, classes = table
    target = classes if kind == "Classifier" else numbers
    stepwise = boosted_of(kind, n_estimators=first, warm_start=True, **more).fit(matrix, target)
    stepwise.set_params(n_estimators=first + second).fit(matrix, target)
    at_once = boosted_of(kind, n_estimators=first + second, **more).fit(matrix, target)

    assert same_model(stepwise, at_once)
    assert stepwise.model_.facts["n_samples"] == at_once.model_.facts["n_samples"]


@given(tables(), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_a_warm_start_has_the_history_of_one_fit(table, first, second, classify):
    matrix, numbers, classes = table
    kind, target = ("Classifier", classes) if classify else ("Regressor", numbers)
    rows = {"X_val": matrix, "y_val": target[::-1]}  # another target: the best round may be any
    stepwise = boosted_of(kind, n_estimators=first, warm_start=True).fit(matrix, target, **rows)
    stepwise.set_params(n_estimators=first + second).fit(matrix, target, **rows)
    at_once = boosted_of(kind, n_estimators=first + second).fit(matrix, target, **rows)

    assert stepwise.history_ == at_once.history_
    assert stepwise.best_iteration_ == at_once.best_iteration_
    assert stepwise.n_iter_ == at_once.n_iter_


@pytest.mark.filterwarnings("ignore:no tree has a test:treewright.exceptions.DataWarning")  # of three rows
@given(tables(), GROWTHS, st.sampled_from(["Classifier", "Regressor"]), st.data())
def test_a_row_of_weight_two_is_a_row_twice_and_one_of_weight_zero_is_none(table, growth, kind, data):
    matrix, numbers, classes = table
    target = classes if kind == "Classifier" else numbers
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(matrix), max_size=len(matrix))), float)
    # A class or level without rows stays one: what is learned of the others is the same, not what it is called.
    weights[np.unique(classes, return_index=True)[1]] = 1.0
    more = {"n_estimators": 4, "growth": growth, "level_encoding": "subsets"}
    weighed = boosted_of(kind, **more).fit(matrix, target, weights)
    times = np.repeat(np.arange(len(matrix)), weights.astype(int))
    repeated = boosted_of(kind, **more).fit(matrix[times], target[times])

    left = matrix[weights > 0]
    answers = (each.model_.predict_scores(left) for each in (weighed, repeated))
    assert next(answers).tobytes() == next(answers).tobytes()
    assert weighed.model_.boosting.base == repeated.model_.boosting.base


@given(tables(), parameters(), st.sampled_from(["Classifier", "Regressor"]))
def test_threads_change_no_bit(table, more, kind):
    matrix, numbers, classes = table
    target = classes if kind == "Classifier" else numbers
    one, two = (boosted_of(kind, n_estimators=3, n_jobs=n_jobs, **more).fit(matrix, target) for n_jobs in (1, 2))

    assert same_model(one, two)


@pytest.mark.filterwarnings("ignore:no tree has a test:treewright.exceptions.DataWarning")
@pytest.mark.filterwarnings("ignore:early stopping. no round is better:treewright.exceptions.DataWarning")
@given(tables(), st.integers(0, 99), st.floats(0.1, 0.6))
def test_early_stopping_is_the_fit_of_the_best_round_on_the_other_rows(table, seed, fraction):
    matrix, numbers, _ = table
    early = boosted_of(
        "Regressor", n_estimators=12, early_stopping=True, n_iter_no_change=2, validation_fraction=fraction,
        random_state=seed,
    ).fit(matrix, numbers)  # fmt: skip
    values = early.history_["validation"]

    assert early.n_estimators_ == early.best_iteration_ >= 1
    assert values[early.best_iteration_] == min(values[1:])
    assert early.n_iter_ in {early.best_iteration_ + 2, 12}


@pytest.mark.parametrize("growth", ["leaf", "level", "symmetric"])
@given(tables(), st.sampled_from([(1, 0, 0), (-1, 0, 0), (1, -1, 0)]), st.sampled_from(["squared_error", "poisson"]))
def test_predictions_rise_and_fall_where_they_may(growth, table, signs, loss):
    matrix, numbers, _ = table
    boosted = boosted_of("Regressor", n_estimators=6, growth=growth, monotonic_cst=signs, loss=loss)
    boosted.fit(matrix, numbers - numbers.min())
    line = np.linspace(-3, 3, 40)
    for column, sign in enumerate(signs[:2]):
        if not sign:
            continue
        for row in matrix[:4]:
            along = np.repeat(row[None], len(line), axis=0)
            along[:, column] = line
            with np.errstate(all="ignore"):
                said = boosted.model_.predict(along)
            assert (sign * np.diff(said) >= -1e-12 * np.abs(said).max()).all()


@pytest.mark.parametrize("growth", ["leaf", "level", "symmetric"])
@examples(5)
@given(tables())
def test_no_way_down_asks_columns_of_two_groups(growth, table):
    matrix, numbers, _ = table
    boosted = boosted_of("Regressor", n_estimators=5, growth=growth, interaction_cst=[[0], [1, 2]])
    boosted.fit(matrix, numbers)
    for model in boosted:
        tree = model.trees[0]
        ways = [(0, frozenset())]
        while ways:
            at, asked = ways.pop()
            if tree.is_leaf[at]:
                assert asked <= {0} or asked <= {1, 2}
                continue
            here = asked | {int(tree.feature[at])}
            ways += [(int(tree.first_child[at]) + side, here) for side in (0, 1)]
