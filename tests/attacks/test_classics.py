"""Hostile input for ID3, C4.5, CHAID, CART's further options, audits and rules: right, or one error that says so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from classic_cases import CLASSIFIERS, INF, KINDS, LABELS, NAN, ONE_TARGET, WORDS, each_kind, fit, gini, noisy, quietly
from sklearn.exceptions import NotFittedError

import treewright as tw
from treewright.exceptions import DataError, MissingValueError, ParameterError
from treewright.trees.check_model import check_model
from treewright.trees.codec import dumps, loads

# Parameters.

OUT_OF_RANGE = {
    "max_depth": [0, -1, 1.5, "x", NAN, False],
    "min_samples_split": [1, 0, -1, 1.5, "x", NAN, -INF],
    "min_samples_leaf": [0, -1, 1.5, "x", NAN, INF, None],
    "min_impurity_decrease": [-1e-9, NAN, "x", None],
    "confidence": [0, -0.1, 0.6, 1, NAN, INF, "x", (0.1,)],
    "alpha": [0, -1, 1.5, NAN, INF, "x", None],
    "alpha_merge": [0, -1, 1.5, NAN, INF, "x", None],
    "n_bins": [1, 0, -1, 2.5, NAN, "x", None],
    "max_surrogates": [-1, 1.5, NAN, "x", None],
    "max_leaf_nodes": [1, 0, -1, 2.5, NAN, "x"],
    "test": ["g", "", None, 1],
    "missing": ["", "BRANCH", None, True, 0],
    "unseen": ["", "branch", None, True],
    "nominal_splits": ["", "binary", None, 2],
    "criterion": ["", "ginny", None, 1, ["gini"]],
    "exhaustive": ["x", None, 2],
    "bonferroni": ["x", None, 2],
    "subtree_raising": ["x", None, 2],
    "grow_trace": ["x", None, 2],
    "nominal": [1, NAN, "no such column", ["no such column"], [99], {"c": "x"}],
    "ordinal": [["c"], "c", {"no such column": ["a"]}, {"c": ["a"]}, {"c": ["a", "a"]}],
    "numeric": [1, ["no such column"], {"c": 1}],
    "class_weight": ["x", 1, {0: -1, 1: 1}, {0: NAN, 1: 1}, {0: INF, 1: 1}, [{0: 1}] * 3],
    "n_jobs": [0, 1.5, "x", NAN],
}


@each_kind
def test_each_parameter_out_of_range_is_refused_in_one_line(kind):
    known = KINDS[kind]().get_params()
    for name in sorted(set(known) & set(OUT_OF_RANGE)):
        for value in OUT_OF_RANGE[name]:
            estimator = KINDS[kind]().set_params(**{name: value})
            with pytest.raises((ParameterError, DataError)) as caught:
                quietly(estimator.fit, WORDS, LABELS)
            assert "\n" not in str(caught.value), (name, value)
            assert not hasattr(estimator, "model_")


@each_kind
def test_huge_whole_numbers_are_limits_like_others(kind):
    plain = fit(kind, max_depth=None)
    for name in ("max_depth", "max_leaf_nodes", "n_bins", "max_surrogates"):
        if name in plain.get_params():
            assert dumps(fit(kind, **{"max_depth": None, name: 2**70}).model_)
    assert fit(kind, min_samples_split=2**70).tree_.n_nodes == 1
    assert fit(kind, min_samples_leaf=10**30).tree_.n_nodes == 1


@each_kind
def test_numpy_scalars_are_the_numbers_they_hold(kind):
    plain = fit(kind, max_depth=2, min_samples_leaf=1)
    same = fit(kind, max_depth=np.int64(2), min_samples_leaf=np.int8(1), missing=np.str_(plain.missing))

    assert dumps(same.model_) == dumps(plain.model_)


@each_kind
def test_names_of_parameters_are_checked(kind):
    with pytest.raises(ValueError, match="bogus"):
        KINDS[kind]().set_params(bogus=1)


@pytest.mark.parametrize(
    "answer",
    [
        lambda t: -np.ones(len(t)),
        lambda t: np.full(len(t), NAN),
        lambda t: np.full(len(t), INF),
        lambda t: np.ones(len(t) + 1),
        lambda t: np.ones((len(t), 1)),
        lambda t: ["much"] * len(t),
        lambda _: None,
        lambda _: 1.0,
    ],
    ids=["negative", "nan", "inf", "long", "2-D", "words", "none", "scalar"],
)
@pytest.mark.parametrize("kind", [tw.DecisionTreeClassifier, tw.DecisionTreeRegressor])
def test_what_is_no_impurity_is_refused_by_the_name_of_the_function(kind, answer):
    for splits in ("subset", "multiway"):
        with pytest.raises(ParameterError, match="criterion <lambda>"):
            kind(criterion=answer, nominal_splits=splits).fit(WORDS, LABELS)


def test_a_criterion_may_write_on_what_it_is_given():
    def spoiling(tables):
        impurities = gini(tables)
        tables.fill(NAN)
        return impurities

    spoilt = tw.DecisionTreeClassifier(criterion=spoiling).fit(WORDS, LABELS)
    plain = tw.DecisionTreeClassifier(criterion=gini).fit(WORDS, LABELS)

    for array in ("feature", "value", "weight", "impurity"):
        np.testing.assert_array_equal(getattr(spoilt.tree_, array), getattr(plain.tree_, array))


def test_an_error_of_the_criterion_comes_through_and_leaves_the_estimator_unfitted():
    estimator = tw.DecisionTreeClassifier(criterion=lambda _: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        estimator.fit(WORDS, LABELS)
    with pytest.raises(NotFittedError):
        estimator.predict(WORDS)


# Tables, targets, weights.

BAD_TABLES = {
    "no rows": (np.zeros((0, 2)), [], r"0 sample\(s\)"),
    "no columns": (np.zeros((12, 0)), LABELS, r"0 feature\(s\)"),
    "one axis": (list("abcabcabcabc"), LABELS, "2D"),
    "three axes": (np.zeros((12, 1, 1)), LABELS, "dim"),
    "nothing": (None, LABELS, "2D"),
    "ragged": ([["a", "b"], ["c"]] * 6, LABELS, "ragged"),
    "complex": (np.ones((12, 1)) * 1j, LABELS, "[Cc]omplex"),
    "years of any length": (np.arange(12).astype("m8[Y]")[:, None], LABELS, "length is not fixed"),
    "lists": (pl.DataFrame({"a": [["x"]] * 12}), LABELS, "'a'"),
    "dicts": ({"a": [{}] * 12}, LABELS, "'a'"),
    "twice a name": (pd.DataFrame([["u", "v"]] * 12, columns=["a", "a"]), LABELS, "a"),
    "short y": (WORDS, [0, 1], "12.* 2"),
    "no y": (WORDS, None, "y"),
    "y missing": (WORDS, [NAN, *LABELS[1:]], "1 missing.*row 0"),
    "y of no target": (WORDS, np.zeros((12, 0)), "0 outputs"),
    "y in three axes": (WORDS, np.zeros((12, 1, 1)), "1d"),
    "y complex": (WORDS, np.ones(12) * 1j, "[Cc]omplex"),
    "y infinite": (WORDS, [INF, *LABELS[1:]], "row 0"),
    "y mixed": (WORDS, ["x", 1, 2.5] * 4, "str"),
}


@each_kind
@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_table_or_target_that_cannot_be_is_refused_in_one_line(kind, name):
    table, y, words = BAD_TABLES[name]

    with pytest.raises(DataError, match=words) as caught:
        KINDS[kind]().fit(table, y)
    assert "\n" not in str(caught.value)


@each_kind
def test_a_class_of_weight_zero_stays_a_class(kind):
    weights = [1.0 - label for label in LABELS]

    estimator = fit(kind, WORDS, LABELS, weights)

    assert estimator.tree_.n_nodes == 1
    assert quietly(estimator.predict, WORDS).tolist() == [0] * 12
    if kind in CLASSIFIERS:
        assert estimator.classes_.tolist() == [0, 1]
        assert quietly(estimator.predict_proba, WORDS).tolist() == [[1.0, 0.0]] * 12
    str(estimator.audit())
    str(estimator.rules())


def test_id3_names_the_numeric_column_and_the_remedies():
    with pytest.raises(DataError, match=r"'size' .*numeric.*C45Classifier"):
        tw.ID3Classifier().fit({"c": list("ab"), "size": [1.0, 2.0]}, [0, 1])


@each_kind
def test_several_targets_are_fitted_or_refused_by_their_number(kind):
    targets = np.array([LABELS, LABELS[::-1]]).T

    if kind in ONE_TARGET:
        with pytest.raises(ParameterError, match="one target, but y has 2"):
            KINDS[kind]().fit(WORDS, targets)
    else:
        assert quietly(fit(kind, WORDS, targets).predict, WORDS).shape == (12, 2)


LABEL_KINDS = {
    "booleans": np.array(LABELS, bool),
    "text": np.array(["no", "perhaps"])[LABELS],
    "bytes": np.array([b"n", b"y"])[LABELS],
    "negative": np.array([-1, 1])[LABELS],
    "whole floats": np.array([1.0, 2.0])[LABELS],
    "a category too many": pd.Categorical(np.array(["n", "y"])[LABELS], categories=["n", "y", "z"]),
    "tuples": [((1, 2), (2, 3))[label] for label in LABELS],
}


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("name", LABEL_KINDS)
def test_labels_come_back_as_they_went_in(kind, name):
    y = LABEL_KINDS[name]
    given = list(y)

    estimator = fit(kind, WORDS, y)

    assert set(quietly(estimator.predict, WORDS).tolist()) <= set(np.asarray(y).tolist() if name != "tuples" else given)
    assert len(estimator.classes_) == 2
    str(estimator.audit())


# Containers: the same cells, the same bytes of the model.


@each_kind
def test_arrays_of_any_layout_give_the_same_model_and_are_not_changed(kind):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (60, 4)).astype(np.float32)
    y = ((X[:, 0] > 1) ^ (rng.random(60) < 0.2)).astype(int)
    expected = dumps(fit(kind, X, y).model_)
    locked = X.copy()
    locked.flags.writeable = False
    wide = np.zeros((120, 8), np.float32)
    wide[::2, ::2] = X

    for made in (np.asfortranarray(X), X.astype(np.float64), locked, wide[::2, ::2], X.astype(">f4"), X.astype(int)):
        before = made.copy()
        weights = np.ones(60)
        weights.flags.writeable = False
        if made.dtype.kind == "f":
            assert dumps(fit(kind, made, y).model_) == expected
        fit(kind, made, y, weights).audit()
        np.testing.assert_array_equal(made, before)


@each_kind
@pytest.mark.parametrize("made", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_sparse_matrices_are_the_numbers_they_stand_for(kind, made):
    dense = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, NAN], [0.0, 0.0]] * 5)
    y = [0, 1, 1, 0] * 5

    assert dumps(fit(kind, made(dense), y).model_) == dumps(fit(kind, dense, y).model_)


@each_kind
def test_frames_of_any_library_give_the_same_predictions(kind):
    table = {"c": [*"aabbccddabc", None], "d": list("uvuvuvuvuuvv")}
    expected = quietly(fit(kind, table).predict, table)

    frames = [
        pd.DataFrame(table),
        pd.DataFrame(table).astype("string"),
        pd.DataFrame(table).astype("category"),
        pl.DataFrame(table),
        pl.DataFrame(table, schema={"c": pl.Categorical, "d": pl.Categorical}),
        pa.table(table),
    ]
    for frame in frames:
        np.testing.assert_array_equal(quietly(fit(kind, frame).predict, frame), expected)


@each_kind
def test_levels_without_rows_and_levels_without_a_category_do_no_harm(kind):
    unused = pd.DataFrame({"c": pd.Categorical(list("aabbccddabcd"), categories=list("zabqcd"))})
    ordered = pd.DataFrame({"c": pd.Categorical([*"aabbccddabc", None], categories=list("zabqcd"), ordered=True)})
    void = pd.DataFrame({"c": pd.Categorical([None] * 12, categories=list("ab")), "d": WORDS["d"]})

    for frame in (unused, ordered, void):
        estimator = fit(kind, frame)
        assert quietly(estimator.predict, frame).shape == (12,)
        check_model(loads(dumps(estimator.model_)))
        str(estimator.audit())
        str(estimator.rules())


@each_kind
def test_a_column_given_twice_is_asked_once(kind):
    table = {"first": WORDS["c"], "second": WORDS["c"]}

    estimator = fit(kind, table)

    assert set(estimator.tree_.feature[estimator.tree_.first_child >= 0].tolist()) <= {0}


# Missing cells, levels never seen, batches.

MISSING = {
    "ID3": ["branch", "direction", "fractional", "error"],
    "C4.5": ["fractional", "error"],
    "CHAID": ["branch", "error"],
    "CHAID of numbers": ["branch", "error"],
    "own function": ["direction", "surrogate", "fractional", "branch", "error"],
    "own function of numbers": ["direction", "surrogate", "fractional", "branch", "error"],
}


@pytest.mark.parametrize("unseen", ["missing", "majority", "error"])
@pytest.mark.parametrize(("kind", "missing"), [(kind, word) for kind, words in MISSING.items() for word in words])
def test_each_word_for_missing_answers_missing_and_unseen_cells_or_names_the_column(kind, missing, unseen):
    table, y = noisy(100)
    if missing == "error":
        table = {name: ["none" if cell is None else cell for cell in table[name]] for name in "pqr"}
    estimator = fit(kind, table, y, missing=missing, unseen=unseen)
    gaps = {name: [None, None] for name in table}
    strange = {name: ["zebra"] if name != "x" else [3.0] for name in table}

    if missing == "error":
        with pytest.raises(MissingValueError, match="'p'"):
            estimator.predict(gaps)
    else:
        quietly(estimator.predict, gaps)
    if unseen == "error" or (missing == "error" and unseen == "missing"):
        with pytest.raises(DataError, match=r"'p'"):
            quietly(estimator.predict, strange)
        return
    said = quietly(estimator.predict, strange)
    assert quietly(estimator.model_.predict_one, {name: cells[0] for name, cells in strange.items()}) == said[0]


@each_kind
def test_answers_do_not_depend_on_batches_threads_or_rows_around(kind):
    table, y = noisy()
    estimator = fit(kind, table, y)
    table["p"][0] = "zebra"
    whole = quietly(estimator.predict, table)

    for n_jobs in (1, 2, 64, -1):
        np.testing.assert_array_equal(quietly(estimator.set_params(n_jobs=n_jobs).predict, table), whole)
    parts = [
        quietly(estimator.predict, {name: cells[start : start + 7] for name, cells in table.items()})
        for start in range(0, 300, 7)
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    one = [
        quietly(estimator.model_.predict_one, {name: table[name][row] for name in table}) for row in range(0, 300, 9)
    ]
    np.testing.assert_array_equal(one, whole[::9])
    assert quietly(estimator.predict, {name: cells[:0] for name, cells in table.items()}).shape == (0,)
