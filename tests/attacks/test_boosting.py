"""Hostile tables, targets, evaluation rows and parameters for boosting: the answer is right, or one error says why."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import log_loss

import treewright as tw
from treewright.boosting.losses import NUMBER_LOSSES
from treewright.exceptions import ColumnError, DataError, DataWarning, ParameterError
from treewright.trees.check_model import check_model
from treewright.trees.codec import dumps, loads

NAN, INF = np.nan, np.inf
KINDS = [tw.GradientBoostingClassifier, tw.GradientBoostingRegressor]
X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
FEW = {"n_estimators": 3, "min_samples_leaf": 1}


def fit_quietly(boosted, table, y, *given, **named):
    """Fit where warnings of constant or empty columns are expected; the model and its file keep their invariants."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        boosted.fit(table, y, *given, **named)
        check_model(boosted.model_)
        again = loads(dumps(boosted.model_))
        assert len(again.trees) == boosted.model_.n_trees
        assert again.facts == boosted.model_.facts
        said = boosted.predict(table)
    assert np.isfinite(np.asarray(said, float)).all()
    return boosted


OUT_OF_RANGE = {
    "learning_rate": [0, -0.1, NAN, INF, 1.5, True, "0.1", None],
    "n_estimators": [0, -1, 2.5, True, None],
    "max_bins": [1, 256, 0, NAN, 32.0, True],
    "max_leaf_nodes": [1, 0, 2.0],
    "max_depth": [0, -1, 1.0],
    "growth": ["best", None],
    "min_samples_leaf": [0, 0.1, True],
    "min_child_weight": [-1e-9, NAN, INF],
    "l1": [-1, NAN],
    "l2": [-1, NAN, INF],
    "min_gain": [-1, NAN],
    "subsample": [0, 1.01, NAN, True],
    "sampling": ["goss"],
    "top_rate": [0, 1.1, NAN],
    "other_rate": [0, 1.1, NAN],
    "features_per_tree": [0, 1.1, NAN, True],
    "features_per_level": [0, 2],
    "features_per_node": [0, "sqrt"],
    "level_smoothing": [-1, NAN],
    "level_l2": [-1, NAN],
    "level_encoding": ["target"],
    "early_stopping": ["always", 2],
    "validation_fraction": [0, 1, 1.0, -0.1, NAN],
    "n_iter_no_change": [0, 1.5],
    "tol": [-1e-9, NAN],
    "scoring": ["acuracy", 3],
    "callbacks": [3],
    "loss": ["exponential", 3],
    "init": ["best", NAN, INF],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "value"), [(name, value) for name in OUT_OF_RANGE for value in OUT_OF_RANGE[name]])
def test_parameters_out_of_range_are_refused_by_name(kind, name, value):
    with pytest.raises(ParameterError, match=name):
        kind(**{**FEW, name: value}).fit(X, Y)


@pytest.mark.parametrize(("value", "range_"), [(0, r"\(0\.0, 1\.0\]"), (NAN, r"\(0\.0, 1\.0\]")])
def test_the_range_of_the_learning_rate_is_told(value, range_):
    with pytest.raises(ParameterError, match=rf"'learning_rate'.*range {range_}"):
        tw.GradientBoostingClassifier(learning_rate=value).fit(X, Y)


def test_the_range_of_bins_is_told():
    with pytest.raises(ParameterError, match=r"'max_bins'.*int in the range \[2, 255\]"):
        tw.GradientBoostingRegressor(max_bins=300).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"sampling": "gradient", "subsample": 0.5}, "subsample=0.5"),
        ({"sampling": "gradient", "top_rate": 0.7, "other_rate": 0.5}, "top_rate=0.7 and other_rate=0.5"),
        ({"growth": "symmetric", "max_leaf_nodes": 8}, "max_leaf_nodes=8 with growth='symmetric'"),
        ({"monotonic_cst": [1, 0]}, "monotonic_cst has shape 2"),
        ({"monotonic_cst": [2, 0, 0]}, "monotonic_cst"),
        ({"interaction_cst": [[7]]}, "interaction_cst names a column"),
        ({"nominal": [0], "monotonic_cst": [1, 0, 0]}, "nominal, its levels have no order"),
        ({"init": [0.0, 1.0]}, "init"),
        ({"init": [NAN]}, "init"),
        ({"init": ["a"]}, "init"),
        ({"callbacks": [3]}, "callbacks holds 3"),
        ({"callbacks": lambda: None}, "callbacks=<lambda> must take one argument"),
        ({"scoring": lambda true: 1.0}, "scoring=<lambda> must take two arguments"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_parameters_that_do_not_go_together_are_refused(kind, parameters, told):
    table = np.round(X) if "nominal" in parameters else X
    with pytest.raises(ParameterError) as error:
        kind(**FEW, **parameters).fit(table, Y)
    assert told in str(error.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [10**30, 2**63, 2**62, 10**18])
def test_leaves_of_more_rows_than_can_be_numbered_make_stumps(kind, rows):
    with pytest.warns(DataWarning, match=f"fewer than twice min_samples_leaf={rows}"):
        boosted = kind(n_estimators=2, min_samples_leaf=rows).fit(X, Y)

    assert all(tree.n_leaves == 1 for tree in boosted.model_.trees)


@pytest.mark.parametrize("loss", ["absolute_error", "quantile"])
def test_rows_are_not_drawn_by_gradients_of_one_size(loss):
    with pytest.raises(ParameterError, match=f"sampling='gradient' with loss '{loss}'"):
        tw.GradientBoostingRegressor(**FEW, loss=loss, sampling="gradient").fit(X, Y)


def test_more_groups_of_columns_than_there_are_bits_are_refused():
    with pytest.raises(ParameterError, match=r"interaction_cst makes 66 groups.*at most 64"):
        tw.GradientBoostingRegressor(interaction_cst="pairwise").fit(np.zeros((5, 12)), np.arange(5.0))


@pytest.mark.parametrize("name", ["quantile", "huber_delta", "tweedie_power", "expectile"])
@pytest.mark.parametrize("value", [-1.0, NAN, "a", True])
def test_numbers_of_a_loss_out_of_range_are_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=name):
        tw.GradientBoostingRegressor(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("value", [[], [0.5, 0.5], [0.9, 0.1], [0.0, 0.5], ["a"]])
def test_levels_of_quantiles_are_several_that_ascend(value):
    with pytest.raises(ParameterError, match="quantile"):
        tw.GradientBoostingRegressor(loss="quantile", quantile=value).fit(X, Y)


def test_monotone_trees_and_ordered_levels_need_one_number():
    three = np.arange(60) % 3
    with pytest.raises(ParameterError, match="multiclass"):
        tw.GradientBoostingClassifier(monotonic_cst=[1, 0, 0]).fit(X, three)
    with pytest.raises(ParameterError, match="multiple outputs"):
        tw.GradientBoostingRegressor(monotonic_cst=[1, 0, 0]).fit(X, X[:, :2])
    with pytest.raises(ParameterError, match="level_encoding='ordered'"):
        tw.GradientBoostingClassifier(level_encoding="ordered").fit(X, three)


@pytest.mark.parametrize(
    ("loss", "numbers", "told"),
    [
        ("poisson", [1.0, -1.0, 2.0], r"y has 1 value.*row 1: -1\.0"),
        ("tweedie", [-2.0, -1.0, 2.0], r"y has 2 value.*row 0: -2\.0"),
        ("gamma", [1.0, 2.0, 0.0], r"y has 1 value.*row 2: 0\.0"),
        ("squared_error", [1.0, NAN, 0.0], "y has 1 missing value.*row 1"),
        ("squared_error", [1.0, INF, 0.0], "y has 1 infinite value.*row 1"),
        ("squared_error", [1.0, 1e300, 0.0], "y has 1 value"),
    ],
)
def test_targets_outside_the_domain_of_a_loss_are_refused_with_their_row(loss, numbers, told):
    with pytest.raises(DataError, match=told):
        tw.GradientBoostingRegressor(loss=loss, **FEW).fit([[1.0], [2.0], [3.0]], numbers)


def test_evaluation_rows_outside_the_domain_are_refused_as_such():
    with pytest.raises(DataError, match=r"y_val has 1 value.*first row 1: -1\.0"):
        tw.GradientBoostingRegressor(loss="poisson").fit(X[:2], [1.0, 2.0], X_val=X[:2], y_val=[1.0, -1.0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ({"X_val": X, "y_val": np.where(np.arange(60) == 7, NAN, Y)}, r"y has 1 missing value\(s\) \(first row 7\)"),
        ({"X_val": X, "y_val": Y[:-1]}, r"inconsistent numbers of samples: \[60, 59\]"),
        ({"X_val": X, "y_val": np.column_stack([Y, Y])}, "y has 2 outputs"),
        ({"X_val": X, "y_val": Y, "sample_weight_val": np.full(60, -1.0)}, "sample_weight has 60 negative"),
        ({"X_val": X, "y_val": Y, "sample_weight_val": np.zeros(60)}, "all weights are zero"),
        ({"X_val": X[:, :2], "y_val": Y}, "X has 2 features"),
        ({"X_val": X[:0], "y_val": []}, "y has 0 samples"),
    ],
)
def test_evaluation_rows_are_refused_as_such(kind, rows, told):
    with pytest.raises(
        (DataError, ColumnError), match=rf"evaluation rows \(X_val, y_val, sample_weight_val\): .*{told}"
    ):
        kind(**FEW).fit(X, Y, **rows)


def test_unseen_labels_of_evaluation_rows_are_counted():
    labels = np.where(np.arange(60) % 20 == 5, "odd", np.array(["no", "yes"])[Y])
    with pytest.raises(DataError, match=r"y has 3 row\(s\) with a label.*first row 5: 'odd'.*'no', 'yes'"):
        tw.GradientBoostingClassifier(**FEW).fit(X, np.array(["no", "yes"])[Y], X_val=X, y_val=labels)


@pytest.mark.parametrize("rows", [{"X_val": X}, {"y_val": Y}, {"sample_weight_val": Y}])
def test_half_of_the_evaluation_rows_is_refused(rows):
    with pytest.raises(ParameterError, match="X_val and y_val together"):
        tw.GradientBoostingClassifier(**FEW).fit(X, Y, **rows)


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_fit_leaves_the_estimator_as_it_was(kind):
    boosted = kind(**FEW).fit(X, Y)
    before = boosted.model_
    with pytest.raises(DataError):
        boosted.fit(X, Y, X_val=X, y_val=Y[:3])

    assert boosted.model_ is before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "table",
    [{"x": [2.0] * 6, "c": ["one"] * 6}, {"void": [None] * 6}, {"void": [NAN] * 6, "c": ["one"] * 6}, [[1.0, NAN]]],
    ids=["constant", "void", "both", "one row"],
)
def test_columns_that_tell_nothing_give_leaves(kind, table):
    target = [0, 1, 0, 0, 1, 0] if isinstance(table, dict) else [1]
    boosted = fit_quietly(kind(**FEW), table, target)

    assert (boosted.feature_importances_ == 0).all()
    assert all(tree.n_leaves == 1 for tree in boosted.model_.trees)


@pytest.mark.parametrize("labels", [["a"] * 60, np.full((60, 2), "a")])
def test_one_class_is_predicted_for_sure(labels):
    boosted = fit_quietly_labels(tw.GradientBoostingClassifier(**FEW), labels)

    assert set(np.ravel(boosted.predict(X))) == {"a"}


def fit_quietly_labels(boosted, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return boosted.fit(X, labels, X_val=X, y_val=labels)


@pytest.mark.parametrize("loss", NUMBER_LOSSES)
@pytest.mark.parametrize("number", [1.0, 3e9])
def test_a_constant_target_is_predicted(loss, number):
    boosted = fit_quietly(tw.GradientBoostingRegressor(**FEW, loss=loss), X, np.full(60, number))

    np.testing.assert_allclose(boosted.predict(X), number, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_numbers_far_from_one_are_learned_all_the_same(scale):
    boosted = tw.GradientBoostingRegressor(n_estimators=80, min_samples_leaf=1).fit(X, scale * X[:, 0])

    assert boosted.score(X, scale * X[:, 0]) > 0.99


@pytest.mark.parametrize("kind", KINDS)
def test_infinite_cells_and_cells_beyond_float32_are_values(kind):
    table = np.column_stack([np.where(Y == 1, INF, -INF), 1e300 * X[:, 1]])
    boosted = fit_quietly(kind(n_estimators=60, min_samples_leaf=1), table, Y)

    assert boosted.score(table, Y) > 0.99


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", [1e-300, 1e300])
def test_weights_beyond_float32_are_refused(kind, weight):
    with pytest.raises(DataError, match=r"sample_weight goes from 1e.300 to 1e.300.*scale them"):
        kind(**FEW).fit(X, Y, np.full(60, weight))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", [1e-25, 1e-12, 0.7, 1e12, 1e25])
def test_equal_weights_of_any_size_change_little(kind, weight):
    plain = kind(**FEW, l2=0).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        weighed = kind(**FEW, min_child_weight=0, l2=0).fit(X, Y, np.full(60, weight))

    assert np.isfinite(weighed.model_.predict_scores(X)).all()
    assert abs(weighed.score(X, Y) - plain.score(X, Y)) < 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_lie_far_apart_let_the_heavy_rows_decide(kind):
    weights = np.where(np.arange(60) < 30, 1e20, 1e-20)
    target = np.where(np.arange(60) < 30, Y, 1 - Y)
    boosted = fit_quietly(kind(n_estimators=40, min_samples_leaf=1, min_child_weight=0), X, target, weights)

    assert boosted.score(X[:30], target[:30]) > 0.95


@pytest.mark.parametrize("growth", ["leaf", "level", "symmetric"])
def test_a_rare_class_does_not_run_away(growth):
    rng = np.random.default_rng(5)
    table = rng.normal(size=(40_000, 3))
    pull = table[:, 0] + 0.5 * rng.normal(size=40_000)
    rare = (pull >= np.sort(pull)[-20]).astype(int)
    boosted = tw.GradientBoostingClassifier(30, growth=growth, max_depth=6, random_state=0).fit(table[::2], rare[::2])
    share = rare[::2].mean()
    constant = log_loss(rare[1::2], np.full(20_000, share))

    assert rare[::2].sum() > 4
    assert log_loss(rare[1::2], boosted.predict_proba(table[1::2])) < 1.5 * constant
    assert log_loss(rare[::2], boosted.predict_proba(table[::2])) < constant
    gains = boosted.model_.trees.importances
    assert gains[0].sum() <= 2 * 20_000 * log_loss(rare[::2], np.full(20_000, share))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_weight_zero_are_none_of_the_fit(kind):
    weights = np.where(np.arange(60) < 40, 1.0, 0.0)
    strange = np.where(np.arange(60) < 40, X[:, 0], 1e6)[:, None]
    weighed = fit_quietly(kind(**FEW), strange, Y, weights)
    without = fit_quietly(kind(**FEW), strange[:40], Y[:40])

    assert weighed.predict(strange[:40]).tobytes() == without.predict(strange[:40]).tobytes()


@pytest.mark.parametrize("encoding", ["subsets", "ordered", "auto"])
def test_three_hundred_levels_and_ones_never_seen(encoding):
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 300, 900)
    frame = pd.DataFrame({"c": [f"level {at}" for at in cells]})
    boosted = tw.GradientBoostingClassifier(20, level_encoding=encoding).fit(frame, cells % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        said = boosted.predict_proba(pd.DataFrame({"c": ["new", None, "level 3"]}).astype({"c": object}))

    assert np.isfinite(said).all()
    np.testing.assert_allclose(said.sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sparse_table_is_the_dense_one(kind):
    table = np.where(np.abs(X) < 0.7, 0.0, X)

    assert (
        kind(**FEW).fit(sp.csr_matrix(table), Y).predict(table).tolist()
        == kind(**FEW).fit(table, Y).predict(table).tolist()
    )


@pytest.mark.parametrize("value", [np.float32(0.1), Fraction(1, 10), np.float64(0.1)])
def test_a_number_is_a_number_or_refused(value):
    boosted = tw.GradientBoostingRegressor(**FEW, learning_rate=value)
    if isinstance(value, Fraction):
        with pytest.raises(ParameterError, match="learning_rate"):
            boosted.fit(X, Y)
    else:
        assert boosted.fit(X, Y).model_.facts["parameters"]["learning_rate"] == float(value)


def test_a_column_of_other_cells_at_evaluation_is_refused_by_name():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    with pytest.raises((DataError, ColumnError), match=r"evaluation rows.*b"):
        tw.GradientBoostingRegressor(**FEW).fit(frame, Y, X_val=frame.assign(b="text"), y_val=Y)
    with pytest.raises(ColumnError, match="evaluation rows"):
        tw.GradientBoostingRegressor(**FEW).fit(frame, Y, X_val=frame[["a"]], y_val=Y)


@pytest.mark.parametrize("kind", [*KINDS, tw.RandomForestClassifier])
def test_parameters_of_many_trees_are_not_counted(kind):
    with pytest.raises(ParameterError, match="3 trees that predict together"):
        tw.model_selection.aic(kind(n_estimators=3).fit(X, Y), X, Y)


def test_a_loss_beyond_float64_is_told_as_none_and_saved():
    boosted = tw.GradientBoostingRegressor(2, loss="poisson", init=700.0, verbose=0)
    boosted.fit(X, Y + 1.0, X_val=X, y_val=Y + 1.0)

    assert loads(dumps(boosted.model_)).facts["history"] == boosted.history_


def test_several_levels_for_several_targets_are_refused():
    X = np.arange(40.0).reshape(-1, 1)
    model = tw.GradientBoostingRegressor(3, loss="quantile", quantile=[0.1, 0.9])
    with pytest.raises(ParameterError, match="several levels need a single target"):
        model.fit(X, np.column_stack([X, -X]))
