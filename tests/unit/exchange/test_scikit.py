"""Models of scikit-learn become ours: the same leaf for every row, the same bits where sums are of double numbers."""

from __future__ import annotations

import warnings
from runpy import run_path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor
from threadpoolctl import threadpool_limits

import treewright as tw
from treewright.exceptions import DataError, DataWarning, MissingValueError, ParameterError
from treewright.exchange.from_scikit import counts_of_shares
from treewright.exchange.structure import to_structure
from treewright.forest.isolation import anomaly_scores
from treewright.predict.ensemble import leaves_of_trees, scores_of
from treewright.trees.packed import PackedTrees

N, P = 160, 5
RNG = np.random.default_rng(0)
TWO = make_classification(N, P, n_informative=3, n_redundant=0, random_state=0)
THREE = make_classification(N, P, n_informative=4, n_redundant=0, n_classes=3, random_state=1)
NUMBERS = make_regression(N, P, noise=5.0, random_state=2)
SEVERAL = make_regression(N, P, n_targets=3, noise=5.0, random_state=3)
POSITIVE = NUMBERS[0], np.abs(NUMBERS[1])
WORDS = TWO[0], np.array(["no", "yes"])[TWO[1]]
LABELS = THREE[0], np.stack([THREE[1] * 10, THREE[1] == 1], axis=1).astype(np.int64)
WEIGHTS = RNG.uniform(0.1, 3.0, N)
COUNTS = RNG.integers(0, 3, N)
MONOTONE = [1, 0, -1, 0, 0]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads that wait for each other in small histograms take seconds where processors are shared."""
    with threadpool_limits(1):
        yield


def with_missing(data):
    X = data[0].copy()
    X[RNG.random(X.shape) < 0.1] = np.nan
    X[:, 4] = data[0][:, 4]  # a column without
    return X, data[1]


def name_of(case):
    estimator, *_ = case
    shown = repr(estimator)
    return "".join(shown.split())[:110]


def edge_rows(estimator, model, X, *, infinite):
    """Rows on and beside every cut, in float32 and float64, and cells out of the ordinary."""
    rows = [X]
    rng = np.random.default_rng(1)
    for column in range(X.shape[1]):
        if model.schema.columns[column].kind == "nominal":
            continue
        cuts = [tree.threshold[(tree.feature == column)] for tree in model.trees]
        cuts = np.unique(np.concatenate(cuts))
        cuts = cuts[np.isfinite(cuts)]
        near = cuts.astype(np.float32)
        cells = [cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf), near.astype(float)]
        cells += [np.nextafter(near, np.float32(side)).astype(float) for side in (np.inf, -np.inf)]
        cells += [np.array([0.0, -0.0, 1e37, -1e37, 1e-46])]
        cells += [np.array([np.nan])] if model.missing == "direction" else []
        cells += [np.array([np.inf, -np.inf, 1e300])] if infinite else []
        cells = np.concatenate(cells)
        cells = rng.choice(cells, 300, replace=False) if len(cells) > 300 else cells
        some = X[rng.integers(0, len(X), len(cells))].copy()
        some[:, column] = cells
        rows.append(some)
    return np.concatenate(rows)


def read(estimator, data, **fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(*data, **fit)
    return tw.read_model(estimator)


def assert_same_leaves(members, model, rows, columns=None):
    """Each tree parts the rows as its original does, and says what that says."""
    leaves = leaves_of_trees(model, rows)
    for at, member in enumerate(members):
        given = rows if columns is None else rows[:, columns[at]]
        with np.errstate(over="ignore"):
            original = member.tree_.apply(np.ascontiguousarray(given, np.float32))
        pairs = len(np.unique(np.stack([original, leaves[:, at]]), axis=1).T)
        assert pairs == len(np.unique(original)) == len(np.unique(leaves[:, at]))


SINGLE = [
    (DecisionTreeClassifier(random_state=0), TWO),
    (DecisionTreeClassifier(max_depth=4, criterion="entropy"), THREE),
    (DecisionTreeClassifier(max_leaf_nodes=9, criterion="log_loss"), WORDS),
    (DecisionTreeClassifier(max_depth=4, splitter="random", random_state=0), THREE),
    (DecisionTreeClassifier(min_samples_leaf=5), with_missing(THREE)),
    (DecisionTreeClassifier(max_depth=4), LABELS),
    (DecisionTreeClassifier(max_depth=4), TWO, {"sample_weight": COUNTS}),
    (ExtraTreeClassifier(max_depth=6, random_state=0), with_missing(TWO)),
    (DecisionTreeRegressor(max_depth=5), NUMBERS),
    (DecisionTreeRegressor(max_depth=4, criterion="absolute_error"), NUMBERS),
    (DecisionTreeRegressor(max_depth=4, criterion="poisson"), POSITIVE),
    (DecisionTreeRegressor(max_depth=5), NUMBERS, {"sample_weight": WEIGHTS}),
    (DecisionTreeRegressor(max_depth=5, monotonic_cst=MONOTONE), NUMBERS),
    (DecisionTreeRegressor(max_depth=5), with_missing(NUMBERS)),
    (DecisionTreeRegressor(max_depth=5), SEVERAL),
    (DecisionTreeRegressor(max_depth=5, ccp_alpha=1.0), NUMBERS),
    (DecisionTreeRegressor(), (np.zeros((3, P)), np.arange(3.0))),
    (ExtraTreeRegressor(max_depth=5, random_state=0), NUMBERS),
    (ExtraTreeRegressor(max_depth=5, splitter="best"), NUMBERS),
]
MEANS = [
    (RandomForestClassifier(12, random_state=0), THREE),
    (RandomForestClassifier(8, criterion="entropy", max_depth=5, bootstrap=False, random_state=0), WORDS),
    (RandomForestClassifier(8, max_samples=0.5, random_state=0), with_missing(THREE)),
    (RandomForestClassifier(8, max_depth=4, random_state=0), LABELS),
    (ExtraTreesClassifier(12, random_state=0), THREE),
    (ExtraTreesClassifier(6, max_depth=5, random_state=0), with_missing(TWO)),
    (RandomForestRegressor(12, random_state=0), NUMBERS),
    (RandomForestRegressor(6, max_depth=5, criterion="absolute_error", random_state=0), NUMBERS),
    (RandomForestRegressor(6, max_depth=5, criterion="poisson", random_state=0), POSITIVE),
    (RandomForestRegressor(6, max_depth=5, max_features=2, random_state=0), with_missing(NUMBERS)),
    (RandomForestRegressor(6, random_state=0), SEVERAL),
    (RandomForestRegressor(6, random_state=0), NUMBERS, {"sample_weight": WEIGHTS}),
    (RandomForestRegressor(1, random_state=0), NUMBERS),
    (ExtraTreesRegressor(12, random_state=0), NUMBERS),
    (BaggingClassifier(n_estimators=6, random_state=0), THREE),
    (BaggingClassifier(n_estimators=6, max_features=0.6, bootstrap_features=True, random_state=0), WORDS),
    (BaggingClassifier(ExtraTreeClassifier(max_depth=5), 6, max_samples=4, random_state=0), with_missing(THREE)),
    (BaggingRegressor(DecisionTreeRegressor(max_depth=5), 6, random_state=0), NUMBERS),
    (BaggingRegressor(DecisionTreeRegressor(max_depth=5), 6, max_features=3, random_state=0), with_missing(NUMBERS)),
]


@pytest.mark.parametrize("case", SINGLE + MEANS, ids=name_of)
def test_trees_and_means_of_trees_say_the_same_bits(case):
    estimator, data, *fit = case
    model = read(estimator, data, **(fit[0] if fit else {}))
    members = getattr(estimator, "estimators_", [estimator])
    rows = edge_rows(estimator, model, data[0], infinite=False)
    assert_same_leaves(members, model, rows, getattr(estimator, "estimators_features_", None))
    labels = estimator.predict(rows)
    assert model.predict(rows).dtype == labels.dtype
    assert np.array_equal(model.predict(rows), labels)
    if model.classes:
        shares = estimator.predict_proba(rows)
        shares = shares if isinstance(shares, list) else [shares]
        found = model.predict_proba(rows)
        found = found if isinstance(found, list) else [found]
        assert all(np.array_equal(one, other) for one, other in zip(found, shares, strict=True))


WEIGHED = [
    (RandomForestClassifier(8, max_leaf_nodes=7, monotonic_cst=MONOTONE, random_state=0), TWO),
    (DecisionTreeClassifier(max_depth=3, monotonic_cst=MONOTONE), TWO),
    (DecisionTreeClassifier(max_depth=5, class_weight="balanced"), THREE),
    (DecisionTreeClassifier(max_depth=5), TWO, {"sample_weight": WEIGHTS}),
    (DecisionTreeClassifier(max_depth=4, class_weight=[{0: 1, 10: 0.3, 20: 7.1}, {0: 1, 1: 0.7}]), LABELS),
    (RandomForestClassifier(8, class_weight="balanced_subsample", random_state=0), THREE),
    (ExtraTreesClassifier(8, max_depth=5, random_state=0), THREE, {"sample_weight": WEIGHTS}),
]


@pytest.mark.parametrize("case", WEIGHED, ids=name_of)
def test_weighed_and_monotone_shares_are_those_of_scikit_learn_but_for_the_rounding_of_their_sum(case):
    estimator, data, *fit = case
    model = read(estimator, data, **(fit[0] if fit else {}))
    rows = edge_rows(estimator, model, data[0], infinite=False)
    assert_same_leaves(getattr(estimator, "estimators_", [estimator]), model, rows)
    assert np.array_equal(model.predict(rows), estimator.predict(rows))
    shares = estimator.predict_proba(rows)
    found = model.predict_proba(rows)
    for one, other in zip(*(each if isinstance(each, list) else [each] for each in (found, shares)), strict=True):
        assert np.abs(one - other).max() < 2e-15


@given(
    st.lists(st.lists(st.integers(0, 10**6), min_size=3, max_size=3).filter(any), min_size=1, max_size=9),
    st.sampled_from([1.0, 0.5, 0.1, 1e-9, 1e9]),
)
def test_counts_come_back_from_shares(counts, each):
    counts = np.array(counts) * each
    weight = counts.sum(axis=1)
    shares = counts / weight[:, None]
    found = counts_of_shares(shares, weight)
    assert found == pytest.approx(counts, rel=1e-12)
    assert np.abs(found / found.sum(axis=1, keepdims=True) - shares).max() <= 2**-52
    assert np.array_equal(found.argmax(axis=1), shares.argmax(axis=1))
    if each == 1.0:
        assert np.array_equal(found, counts)


BOOSTED = [
    (GradientBoostingClassifier(n_estimators=12), TWO),
    (GradientBoostingClassifier(n_estimators=8, loss="exponential", max_depth=2), WORDS),
    (GradientBoostingClassifier(n_estimators=8, init="zero"), THREE),
    (GradientBoostingClassifier(n_estimators=8, subsample=0.6, max_features=2, random_state=0), THREE),
    (GradientBoostingClassifier(n_estimators=8, init=DummyClassifier(strategy="most_frequent")), TWO),
    (GradientBoostingClassifier(n_estimators=40, n_iter_no_change=2, random_state=0), TWO, {"sample_weight": WEIGHTS}),
    (GradientBoostingRegressor(n_estimators=12), NUMBERS),
    (GradientBoostingRegressor(n_estimators=8, loss="absolute_error"), NUMBERS),
    (GradientBoostingRegressor(n_estimators=8, loss="huber", alpha=0.8), NUMBERS),
    (GradientBoostingRegressor(n_estimators=8, loss="quantile", alpha=0.3), NUMBERS),
    (GradientBoostingRegressor(n_estimators=8, init="zero", learning_rate=0.37, max_leaf_nodes=6), NUMBERS),
    (GradientBoostingRegressor(n_estimators=8, min_samples_leaf=4), NUMBERS, {"sample_weight": WEIGHTS}),
    (HistGradientBoostingClassifier(max_iter=12), TWO),
    (HistGradientBoostingClassifier(max_iter=8, class_weight="balanced"), WORDS),
    (HistGradientBoostingClassifier(max_iter=8, max_leaf_nodes=5), with_missing(THREE)),
    (HistGradientBoostingClassifier(max_iter=40, early_stopping=True, n_iter_no_change=1, random_state=0), THREE),
    (HistGradientBoostingRegressor(max_iter=12), with_missing(NUMBERS)),
    (HistGradientBoostingRegressor(max_iter=8, loss="absolute_error"), NUMBERS),
    (HistGradientBoostingRegressor(max_iter=8, loss="poisson"), POSITIVE),
    (HistGradientBoostingRegressor(max_iter=8, loss="gamma"), (POSITIVE[0], POSITIVE[1] + 1)),
    (HistGradientBoostingRegressor(max_iter=8, loss="quantile", quantile=0.7), NUMBERS),
    (HistGradientBoostingRegressor(max_iter=8, monotonic_cst=MONOTONE, interaction_cst="pairwise"), NUMBERS),
    (HistGradientBoostingRegressor(max_iter=8, l2_regularization=1.0), NUMBERS, {"sample_weight": WEIGHTS}),
    (HistGradientBoostingRegressor(max_iter=8, max_bins=8, max_depth=2), NUMBERS),
]


@pytest.mark.parametrize("case", BOOSTED, ids=name_of)
def test_scores_of_boosted_trees_have_the_same_bits(case):
    estimator, data, *fit = case
    model = read(estimator, data, **(fit[0] if fit else {}))
    hist = hasattr(estimator, "_predictors")
    rows = edge_rows(estimator, model, data[0], infinite=hist)
    raw = estimator._raw_predict(np.ascontiguousarray(rows, np.float64 if hist else np.float32))
    twice = 2.0 if estimator.loss == "exponential" else 1.0
    scores = scores_of(model, np.ascontiguousarray(rows, np.float64))
    assert np.array_equal(scores, twice * raw)
    if not hist:
        assert_same_leaves(estimator.estimators_.ravel(), model, rows)
    if model.classes:
        assert np.array_equal(model.predict(rows), estimator.predict(rows))
        assert model.predict_proba(rows) == pytest.approx(estimator.predict_proba(rows), rel=1e-13, abs=1e-15)
    else:
        same = 1e-13 if estimator.loss in ("poisson", "gamma") else 0.0  # exp is each library's own
        assert model.predict(rows) == pytest.approx(estimator.predict(rows), rel=same, abs=0.0)


def test_a_score_of_zero_is_the_class_that_scikit_learn_predicts():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]] * 4)
    xor = np.logical_xor(X[:, 0], X[:, 1]).astype(int)
    for estimator in (
        GradientBoostingClassifier(n_estimators=2, max_depth=1),
        HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=2, min_samples_leaf=1),
    ):
        model = read(estimator, (X, xor))
        assert (scores_of(model, X) == 0).all()
        assert np.array_equal(model.predict(X), estimator.predict(X))


ADABOOST = [
    (AdaBoostClassifier(n_estimators=10, random_state=0), TWO),
    (AdaBoostClassifier(n_estimators=10, learning_rate=0.3, random_state=0), WORDS),
    (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=8, random_state=0), THREE),
    (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=8, random_state=0),
     (THREE[0], np.array(["c", "a", "b"])[THREE[1]])),
    (AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=8, random_state=0), TWO),  # perfect at once
]  # fmt: skip


@pytest.mark.parametrize("case", ADABOOST, ids=name_of)
def test_adaboost_has_the_shares_and_classes_of_scikit_learn(case):
    estimator, data = case
    model = read(estimator, data)
    rows = edge_rows(estimator, model, data[0], infinite=False)
    assert model.predict_proba(rows) == pytest.approx(estimator.predict_proba(rows), rel=1e-13)
    decisions = estimator.decision_function(rows)
    near = np.abs(decisions) if decisions.ndim == 1 else np.diff(np.sort(decisions, axis=1)[:, -2:])[:, 0]
    clear = near > 1e-14
    assert clear.mean() > 0.9
    assert np.array_equal(model.predict(rows)[clear], estimator.predict(rows)[clear])


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("depth", [1, 3])
def test_adaboost_for_numbers_is_the_same_median(loss, depth):
    estimator = AdaBoostRegressor(DecisionTreeRegressor(max_depth=depth), n_estimators=9, loss=loss, random_state=0)
    model = read(estimator, NUMBERS)
    rows = edge_rows(estimator, model, NUMBERS[0], infinite=False)
    assert_same_leaves(estimator.estimators_, model, rows)
    assert np.array_equal(model.predict(rows), estimator.predict(rows))


ISOLATION = [
    IsolationForest(n_estimators=12, random_state=0),
    IsolationForest(n_estimators=12, max_samples=40, max_features=0.6, random_state=0),
    IsolationForest(n_estimators=12, bootstrap=True, contamination=0.1, random_state=0),
    IsolationForest(n_estimators=3, max_samples=1, random_state=0),
]


@pytest.mark.parametrize("estimator", ISOLATION, ids=lambda estimator: name_of((estimator,)))
@pytest.mark.parametrize("missing", [False, True])
def test_isolation_forests_have_the_same_paths_and_scores(estimator, missing):
    X = with_missing(TWO)[0] if missing else TWO[0]
    estimator.fit(X)
    model = tw.read_model(estimator)
    assert "Isolation forest" in model.show()
    rows = edge_rows(estimator, model, X, infinite=True)
    assert_same_leaves(estimator.estimators_, model, rows, estimator.estimators_features_)
    with np.errstate(over="ignore"):
        scores, predicted = estimator.score_samples(rows), estimator.predict(rows)
    assert -anomaly_scores(model, rows) == pytest.approx(scores, rel=1e-14)
    assert model.facts["offset"] == estimator.offset_
    tree = model.trees[0]
    lengths = np.repeat(tree.value[tree.is_leaf, 0], tree.n_samples[tree.is_leaf])
    assert (tree.value[0, 0], tree.impurity[0]) == pytest.approx((lengths.mean(), lengths.var()), abs=1e-12)
    clear = np.abs(scores - estimator.offset_) > 1e-14
    outlier = -anomaly_scores(model, rows) < model.facts["offset"]
    assert np.array_equal(np.where(outlier, -1, 1)[clear], predicted[clear])


# Columns, levels and missing cells ------------------------------------------------------------------------------------


def towns(rng=RNG, n=N):
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "town": pd.Categorical(rng.choice([*"dcba"], n), categories=[*"dcbaz"]),
            "code": pd.Categorical(rng.choice([7, 3, 100], n)),
            "is_old": pd.Categorical(rng.random(n) < 0.5),
            "age": rng.normal(size=n),
        }
    )
    table.loc[rng.random(n) < 0.2, "town"] = np.nan
    table.loc[rng.random(n) < 0.2, "age"] = np.nan
    y = table["size"] + (table["town"].isin(["a", "c"])) * 3 + (table["code"] == 7) * 2 + (table["is_old"] == True) * 1  # noqa: E712
    return table, y.to_numpy(float)


@pytest.mark.parametrize("estimator", [HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=3)])
def test_levels_come_by_their_texts_and_unknown_ones_are_missing(estimator):
    table, y = towns()
    model = read(estimator, (table, y))
    columns = {column.name: column for column in model.schema.columns}
    assert columns["town"].levels == ("a", "b", "c", "d")
    assert (columns["code"].levels, columns["code"].family) == ((3, 7, 100), "number")
    assert columns["is_old"].levels == (False, True)
    assert any((tree.kind == 2).any() for tree in model.trees)
    other = table.sample(100, random_state=0).reset_index(drop=True)
    other["town"] = other["town"].astype(object)
    other.loc[:30, "town"] = "elsewhere"
    other.loc[30:50, "code"] = np.nan
    assert np.array_equal(model.predict(table), estimator.predict(table))
    assert np.array_equal(model.predict(table[["age", "town", "size", "is_old", "code"]]), estimator.predict(table))
    assert np.array_equal(model.predict(other), estimator.predict(other))
    strange = other.assign(code=pd.Categorical([999] * len(other)))
    with pytest.warns(DataWarning, match="levels that fit never saw: 'code'"):
        assert np.array_equal(model.predict(strange), estimator.predict(strange))


def test_levels_of_an_array_are_its_numbers():
    X = NUMBERS[0].copy()
    X[:, 3] = RNG.integers(0, 40, N)
    X[:, 1] = RNG.integers(0, 3, N) * 2.5
    X[::7, 3] = np.nan
    y = NUMBERS[1] + 300 * (X[:, 3] % 2 == 0) + 200 * (X[:, 1] == 2.5)
    estimator = HistGradientBoostingRegressor(max_iter=10, categorical_features=[3, 1], min_samples_leaf=3)
    model = read(estimator, (X, y))
    assert [column.kind for column in model.schema.columns] == ["numeric", "nominal", "numeric", "nominal", "numeric"]
    assert not model.schema.named
    rows = edge_rows(estimator, model, X, infinite=True)
    rows[::3, 3] = RNG.choice([0.0, 39.0, 40.0, -1.0, 0.5, np.nan], len(rows[::3]))
    assert np.array_equal(model.predict(rows), estimator.predict(rows))


def test_none_as_a_level_is_refused():
    X = np.array([["a", 1.0], [None, 2.0], ["b", 3.0]] * 20, object)
    estimator = HistGradientBoostingRegressor(max_iter=2, categorical_features=[0]).fit(X, np.arange(60.0))
    with pytest.raises(ParameterError, match="None as a level"):
        tw.read_model(estimator)


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingRegressor(n_estimators=2),
        AdaBoostRegressor(n_estimators=2),
        ExtraTreeRegressor(splitter="best", max_depth=2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_missing_cells_are_refused_where_the_original_refuses_them(estimator):
    model = read(estimator, NUMBERS)
    rows = NUMBERS[0][:3].copy()
    rows[1, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimator.predict(rows)
    with pytest.raises((MissingValueError, DataError)):
        model.predict(rows)


def test_names_of_columns_are_asked():
    frame = pd.DataFrame(NUMBERS[0], columns=[*"edcba"])
    model = read(DecisionTreeRegressor(max_depth=4), (frame, NUMBERS[1]))
    assert model.schema.names == tuple("edcba")
    assert np.array_equal(model.predict(frame[[*"abcde"]]), model.predict(frame))
    assert read(DecisionTreeRegressor(max_depth=4), NUMBERS).schema.names == ("x0", "x1", "x2", "x3", "x4")


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float64, str, object])
def test_labels_keep_their_type(dtype):
    y = TWO[1].astype(str).astype(object) if dtype is object else TWO[1].astype(dtype)
    for estimator in (DecisionTreeClassifier(max_depth=3), GradientBoostingClassifier(n_estimators=2)):
        model = read(estimator, (TWO[0], y))
        assert model.classes[0].dtype == estimator.classes_.dtype
        assert np.array_equal(model.predict(TWO[0]), estimator.predict(TWO[0]))


def test_rows_weights_and_impurities_of_nodes_come_along():
    estimator = DecisionTreeRegressor(max_depth=4).fit(*NUMBERS, sample_weight=WEIGHTS)
    model = tw.read_model(estimator)
    mine, original = model.trees[0], estimator.tree_
    for one, other in (("weight", "weighted_n_node_samples"), ("n_samples", "n_node_samples"), ("impurity",) * 2):
        assert np.sort(getattr(mine, one)) == pytest.approx(np.sort(getattr(original, other)), rel=1e-9, abs=1e-9)
    assert np.sort(mine.value[:, 0]) == pytest.approx(np.sort(original.value[:, 0, 0]), rel=1e-9)
    assert model.feature_importances == pytest.approx(estimator.feature_importances_)
    boosted = GradientBoostingRegressor(n_estimators=1, max_depth=3).fit(*NUMBERS)
    assert tw.read_model(boosted).feature_importances == pytest.approx(boosted.feature_importances_)
    forest = RandomForestClassifier(6, random_state=0).fit(*THREE)
    assert tw.read_model(forest).feature_importances == pytest.approx(forest.feature_importances_)


def test_a_cut_of_infinity_asks_whether_there_is_a_value():
    X = np.array([[1.0], [1.0], [np.nan], [np.nan]] * 6)
    for estimator in (DecisionTreeRegressor(), HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=1)):
        model = read(estimator, (X, np.array([0.0, 0.0, 1.0, 1.0] * 6)))
        assert np.isinf(model.trees[0].threshold[0])
        rows = np.array([[3e38], [-3e38], [np.nan], [0.0]])
        assert np.array_equal(model.predict(rows), estimator.predict(rows))


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(*TWO), r"give its last step, pipeline\[-1\]"),
        (GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=2).fit(*TWO), "give its best_estimator_"),
        (VotingRegressor([("a", DecisionTreeRegressor())]).fit(*NUMBERS), "one of its estimators_"),
        (LogisticRegression().fit(*TWO), "LogisticRegression is not read: give one of DecisionTreeClassifier"),
        (BaggingClassifier(LogisticRegression(), 2).fit(*TWO), "BaggingClassifier of LogisticRegression"),
        (AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(*TWO), "AdaBoostClassifier of LogisticRegr"),
        (GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()).fit(*TWO), "init=None"),
        (
            GradientBoostingClassifier(n_estimators=2, init=DummyClassifier(strategy="stratified")).fit(*TWO),
            "the predictions of DummyClassifier",
        ),
        (RandomForestClassifier(), "not fitted: call fit"),
        (HistGradientBoostingRegressor(), "not fitted: call fit"),
    ],
    ids=lambda case: type(case).__name__,
)
def test_others_are_refused_with_what_to_do(estimator, said):
    with pytest.raises(ParameterError, match=said):
        tw.read_model(estimator)


def test_a_model_that_lost_a_part_is_refused():
    estimator = RandomForestRegressor(3).fit(*NUMBERS)
    del estimator.estimators_
    with pytest.raises(ParameterError, match="not a completely fitted model"):
        tw.read_model(estimator)
    hist = HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=3).fit(*NUMBERS)
    hist._predictors[0][0].nodes["left"][0] = 0
    with pytest.raises(ParameterError, match="two branches lead to"):
        tw.read_model(hist)


def test_nodes_that_were_tampered_with_are_refused_or_are_a_model():
    table, y = towns()
    estimator = HistGradientBoostingRegressor(max_iter=1, min_samples_leaf=20).fit(table, y)
    nodes = estimator._predictors[0][0].nodes
    whole, n_refused = nodes.tobytes(), 0
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 0xFF
        estimator._predictors[0][0].nodes = np.frombuffer(bytes(changed), nodes.dtype)
        try:
            tw.read_model(estimator)
        except ParameterError:
            n_refused += 1
    assert n_refused > 50


# One of ours ----------------------------------------------------------------------------------------------------------

ONE_OF_EACH = [
    (DecisionTreeClassifier(max_depth=3), THREE),
    (RandomForestClassifier(5, max_depth=4, random_state=0), THREE),
    (BaggingRegressor(n_estimators=4, random_state=0), NUMBERS),
    (GradientBoostingClassifier(n_estimators=5), WORDS),
    (HistGradientBoostingRegressor(max_iter=5), NUMBERS),
    (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5, random_state=0), THREE),
    (AdaBoostRegressor(n_estimators=5, random_state=0), NUMBERS),
]


@pytest.mark.parametrize("case", ONE_OF_EACH, ids=name_of)
def test_the_model_is_one_of_ours(case, tmp_path):
    estimator, data = case
    model = read(estimator, data)
    assert model.facts["imported"]["library"] == "scikit-learn"
    assert model.facts["imported"]["class"] == type(estimator).__name__
    X = data[0]
    model.save(tmp_path / "model.tw")
    again = tw.load(tmp_path / "model.tw")
    again.save(tmp_path / "again.tw")
    assert (tmp_path / "again.tw").read_bytes() == (tmp_path / "model.tw").read_bytes()
    assert np.array_equal(again.predict(X), model.predict(X))
    assert str(model.predict_one(X[0])) == str(model.predict(X[:1])[0])
    assert model.show() if model.is_single_tree else model.tree(0).show()
    assert to_structure(model)["trees"]
    assert "<svg" in str(model.plot(tree=0))
    if not model.aggregation.sorts:
        said = (
            scores_of(model, X) if model.has_scores
            else model.predict_proba(X) if model.classes else model.predict(X)[:, None]
        )  # fmt: skip
        answers = model.explain(X[:5]).totals
        assert answers.reshape(5, -1) == pytest.approx(said[:5], rel=1e-9)
        model.export(tmp_path / "code.py")
        code = run_path(str(tmp_path / "code.py"))
        assert [code["predict"](row) for row in X[:20].tolist()] == model.predict(X[:20]).tolist()
    if model.has_scores:
        fewer = model.prune("rounds", n_rounds=2)
        assert len(fewer.trees) == 2 * model.aggregation.n_scores
        model.prune("rounds", X, data[1])
    tw.report(model, X, data[1], tmp_path / "page.html")
    assert "</html>" in (tmp_path / "page.html").read_text()


def test_friedman_s_criterion_is_named_by_its_impurity():
    estimator = DecisionTreeRegressor(max_depth=2).fit(*NUMBERS)
    estimator.criterion = "friedman_mse"
    assert tw.read_model(estimator).facts["criterion"] == "squared_error"


def test_forests_and_boosted_models_are_packed():
    assert isinstance(read(RandomForestClassifier(5, random_state=0), THREE).trees, PackedTrees)
    assert isinstance(read(GradientBoostingRegressor(n_estimators=3), NUMBERS).trees, PackedTrees)


def test_the_rounds_of_a_boosted_model_are_its_stages():
    estimator = GradientBoostingRegressor(n_estimators=6)
    model = read(estimator, NUMBERS)
    for count, stage in enumerate(estimator.staged_predict(NUMBERS[0]), 1):
        assert np.array_equal(model.prune("rounds", n_rounds=count).predict(NUMBERS[0]), stage)
