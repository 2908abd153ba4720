"""Hostile containers, columns, weights and levels: the same model from every door, or one error."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import treewright as tw
from treewright.exceptions import ColumnError, DataError, DataWarning, UnseenLevelError

BOTH = [tw.DecisionTreeClassifier, tw.DecisionTreeRegressor]


def same_tree(first, second):
    """Whether two trees are the same, array by array, to the last bit."""
    return all(getattr(first, name).tobytes() == getattr(second, name).tobytes() for name in first.__dataclass_fields__)


@pytest.fixture(scope="module")
def grid():
    """200 rows of 4 columns of small exact numbers, a third zero, and labels."""
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(200, 4)), 2) * (rng.random((200, 4)) > 0.33)
    return X, np.where(X[:, 0] + X[:, 1] > 0.2, "up", "down")


def _memmap(X, folder):
    mapped = np.memmap(folder / "cells", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    return np.memmap(folder / "cells", np.float64, "r", shape=X.shape)


def _read_only(X, folder):
    copied = X.copy()
    copied.flags.writeable = False
    return copied


def _strided(X, folder):
    wide = np.full((2 * len(X), 2 * X.shape[1]), np.nan)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def _record_field(X, folder):
    packed = np.zeros(len(X), [("byte", "u1"), ("cells", np.float64, X.shape[1])])
    packed["cells"] = X
    return packed["cells"]


NAMES = list("abcd")
UNNAMED = {
    "column-major": lambda X, folder: np.asfortranarray(X),
    "strided": _strided,
    "backwards": lambda X, folder: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": _read_only,
    "memmap": _memmap,
    "other byte order": lambda X, folder: X.astype(X.dtype.newbyteorder()),
    "misaligned": _record_field,
    "objects": lambda X, folder: X.astype(object),
    "rows": lambda X, folder: X.tolist(),
    "csr": lambda X, folder: scipy.sparse.csr_matrix(X),
    "csc array": lambda X, folder: scipy.sparse.csc_array(X),
    "dict of keys": lambda X, folder: scipy.sparse.dok_matrix(X),
    "dict of keys array": lambda X, folder: scipy.sparse.dok_array(X),
}
NAMED = {
    "pandas": lambda X, folder: pd.DataFrame(X, columns=NAMES),
    "pandas nullable": lambda X, folder: pd.DataFrame(X, columns=NAMES).astype("Float64"),
    "polars": lambda X, folder: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X, folder: pa.table({name: X[:, at] for at, name in enumerate(NAMES)}),
    "dict": lambda X, folder: {name: X[:, at].tolist() for at, name in enumerate(NAMES)},
}


@pytest.mark.parametrize("make", [*UNNAMED.values(), *NAMED.values()], ids=[*UNNAMED, *NAMED])
def test_every_container_gives_the_same_tree_and_the_same_bits(grid, make, tmp_path):
    X, y = grid
    plain = tw.DecisionTreeClassifier().fit(X, y)

    table = make(X, tmp_path)
    tree = tw.DecisionTreeClassifier().fit(table, y)

    assert same_tree(tree.tree_, plain.tree_)
    assert tree.predict_proba(table).tobytes() == plain.predict_proba(X).tobytes()
    assert tree.apply(table).tobytes() == plain.apply(X).tobytes()


@pytest.mark.parametrize("make", UNNAMED.values(), ids=UNNAMED)
def test_rows_one_by_one_are_the_batch(grid, make, tmp_path):
    X, y = grid
    tree = tw.DecisionTreeClassifier().fit(X, y)
    batch = tree.predict_proba(make(X, tmp_path))

    assert all(tree.predict_proba(X[at : at + 1]).tobytes() == batch[at].tobytes() for at in range(0, 200, 17))
    assert [tree.model_.predict_one(row) for row in X[:20]] == tree.predict(X[:20]).tolist()


@pytest.mark.parametrize("kind", BOTH)
def test_neither_table_nor_target_nor_weights_are_modified(grid, kind):
    X, y = np.asfortranarray(grid[0]), (grid[1] == "up") * 1.5
    weights = np.arange(200.0)
    before = X.copy(), y.copy(), weights.copy()
    y = (y > 0).astype(int) if kind is tw.DecisionTreeClassifier else y
    held = y.copy()

    kind().fit(X, y, weights).predict(X)

    assert X.tobytes("F") == before[0].tobytes("F")
    assert y.tobytes() == held.tobytes()
    assert weights.tobytes() == before[2].tobytes()


def test_columns_may_be_reordered_and_extra_ones_are_ignored_with_one_warning(grid, tmp_path):
    X, y = grid
    table = pd.DataFrame(X, columns=NAMES)
    tree = tw.DecisionTreeClassifier().fit(table, y)
    tree.save(tmp_path / "model.tw")

    for predictor in (tree, tw.load(tmp_path / "model.tw")):
        assert predictor.predict(table[list("dbca")]).tolist() == tree.predict(table).tolist()
        with pytest.warns(DataWarning, match="1 column.*'extra'") as caught:
            found = predictor.predict(table.assign(extra="text")[["extra", *"dcba"]])
        assert len(caught) == 1
        assert found.tolist() == tree.predict(table).tolist()
        with pytest.raises(ColumnError, match="yet now missing:\n- b\n"):
            predictor.predict(table.drop(columns="b"))
        with pytest.raises(ColumnError, match="did you mean 'B'"):
            predictor.predict(table.rename(columns={"b": "B"}))


def test_an_array_after_a_frame_warns_and_another_width_is_refused(grid):
    X, y = grid
    tree = tw.DecisionTreeClassifier().fit(pd.DataFrame(X, columns=NAMES), y)

    with pytest.warns(DataWarning, match="does not have valid feature names"):
        assert tree.predict(X).tolist() == y.tolist()
    with pytest.raises(ColumnError, match="X has 3 features, but DecisionTreeClassifier is expecting 4 features"):
        tree.predict(X[:, :3])


LABELS = {
    "integers": ([3, 5, 3, 5], np.int64),
    "signs": ([-1, 1, -1, 1], np.int64),
    "floats": ([1.0, 2.0, 1.0, 2.0], np.float64),
    "booleans": ([True, False, True, False], np.bool_),
    "text of any length": (["no", "certainly not", "no", "certainly not"], None),
    "bytes": ([b"a", b"long \xff", b"a", b"long \xff"], None),
    "tuples": ([("a", 1), ("b", 2), ("a", 1), ("b", 2)], None),
    "days": ([np.datetime64("2020-01-01"), np.datetime64("2020-05-01")] * 2, None),
    "moments": ([dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1)] * 2, None),  # noqa: DTZ001 - naive on purpose
    "small integers": (np.array([7, 9, 7, 9], np.int8), np.int8),
    "categories": (pd.Series(["x", "y", "x", "y"], dtype=pd.CategoricalDtype(["z", "y", "x"])), None),
}


@pytest.mark.parametrize(("labels", "dtype"), LABELS.values(), ids=LABELS)
def test_labels_come_back_as_they_were_also_from_a_file(labels, dtype, tmp_path):
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    tree = tw.DecisionTreeClassifier().fit(X, labels)
    tree.save(tmp_path / "model.tw")

    for predictor in (tree, tw.load(tmp_path / "model.tw")):
        found = predictor.predict(X)
        assert list(found) == list(labels)
        assert dtype is None or found.dtype == dtype
        assert len(predictor.predict_proba(X)[0]) == 2
    assert tree.classes_.dtype == found.dtype
    assert tree.model_.predict_one([1.0]) == list(labels)[1]


@pytest.mark.parametrize("label", ["only", 7, True])
def test_one_class_is_predicted_with_probability_one(label):
    tree = tw.DecisionTreeClassifier().fit([[1.0], [2.0]], [label, label])

    assert tree.predict([[5.0]]).tolist() == [label]
    assert tree.predict_proba([[5.0], [6.0]]).tolist() == [[1.0], [1.0]]


def test_continuous_labels_and_text_targets_name_the_other_estimator():
    with pytest.raises(DataError, match="egressor"):
        tw.DecisionTreeClassifier().fit([[1.0], [2.0]], [0.5, 1.7])
    with pytest.raises(DataError, match="classifier"):
        tw.DecisionTreeRegressor().fit([[1.0], [2.0]], ["1", "2"])


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0, 0, 0, 0], "zero"),
        ([1, -1, 1, -2], r"2 negative value\(s\) \(first row 1\)"),
        ([1, 1, np.nan, 1], "row 2"),
        ([1, 1, 1, np.inf], "row 3"),
        ([1, 1], "expected"),
        ("heavy", "weight"),
        (["1", "1", "1", "1"], "weight"),
    ],
)
def test_impossible_weights_are_refused_with_count_and_row(kind, weights, message):
    with pytest.raises(DataError, match=message):
        kind().fit(np.arange(4.0)[:, None], [0, 1, 0, 1], weights)


@pytest.fixture(params=["gini", "entropy", "squared_error", "absolute_error", "poisson"])
def learner(request):
    """An estimator of each family of criteria."""
    kind = tw.DecisionTreeClassifier if request.param in {"gini", "entropy"} else tw.DecisionTreeRegressor
    return kind(criterion=request.param)


@pytest.fixture(scope="module")
def weighed():
    """60 rows with ties and a nominal column, counts as target, whole weights."""
    rng = np.random.default_rng(11)
    table = pd.DataFrame({"x": rng.integers(0, 9, 60) / 4, "town": rng.choice(list("pqrst"), 60)})
    return table, rng.integers(0, 4, 60), rng.integers(0, 4, 60)


def test_rows_of_weight_0_are_as_good_as_removed(learner, weighed):
    table, y, weights = weighed
    kept = weights > 0

    removed = learner.fit(table[kept], y[kept], weights[kept]).tree_
    with_zeros = learner.fit(table, y, weights).tree_

    assert same_tree(removed, with_zeros)


def test_whole_weights_are_repeats(learner, weighed):
    table, y, weights = weighed
    repeated = learner.fit(table.loc[table.index.repeat(weights)], np.repeat(y, weights)).tree_
    weighted = learner.fit(table, y, weights).tree_

    for name in ("kind", "feature", "threshold", "first_child", "missing_branch", "levels_left", "weight"):
        assert np.array_equal(getattr(repeated, name), getattr(weighted, name)), name
    np.testing.assert_allclose(repeated.value, weighted.value, rtol=1e-12)
    np.testing.assert_allclose(repeated.impurity, weighted.impurity, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e-300, 1e290])
def test_the_scale_of_the_weights_changes_nothing(learner, weighed, scale):
    table, y, weights = weighed
    plain = learner.fit(table, y, weights)
    expected, structure = plain.predict(table), plain.tree_

    scaled = learner.fit(table, y, weights * scale)

    assert scaled.tree_.feature.tolist() == structure.feature.tolist()
    assert scaled.tree_.threshold.tolist() == structure.threshold.tolist()
    np.testing.assert_allclose(scaled.predict(table), expected, rtol=1e-9)
    assert np.isfinite(scaled.tree_.value).all()


def test_one_row_with_weight_decides_alone(learner):
    tree = learner.fit(np.arange(4.0)[:, None], [0, 1, 2, 3], [0, 0, 5e-324, 0])

    assert tree.get_n_leaves() == 1
    assert tree.predict([[0.0], [9.0]]).tolist() == [2, 2]


TOWNS = pd.DataFrame({"town": ["Lima", "Lima", "Lima", "Oslo", "Oslo", "Riga"], "x": np.arange(6.0) % 2})
NEW_TOWN = pd.DataFrame({"town": ["Rome"], "x": [0.0]})


def fitted_towns(unseen):
    """Three rows say no (Lima), three say yes."""
    return tw.DecisionTreeClassifier(unseen=unseen, max_depth=1).fit(TOWNS, ["no"] * 3 + ["yes"] * 2 + ["yes"])


@pytest.mark.parametrize("unseen", ["missing", "majority"])
def test_a_level_never_seen_follows_the_policy_also_after_saving(unseen, tmp_path):
    tree = fitted_towns(unseen)
    tree.save(tmp_path / "model.tw")
    missing = pd.DataFrame({"town": [None], "x": [0.0]})

    for predictor in (tree, tw.load(tmp_path / "model.tw")):
        found = predictor.predict(NEW_TOWN).tolist()
        assert found == [predictor_one(predictor, "Rome")]
        if unseen == "missing":
            with pytest.warns(DataWarning, match="missing values"):
                assert predictor.predict(missing).tolist() == found


def predictor_one(predictor, town):
    """The same row through the other door."""
    return getattr(predictor, "model_", predictor).predict_one({"town": town, "x": 0.0})


def test_majority_sends_a_level_never_seen_to_the_heavier_branch():
    table = pd.DataFrame({"town": ["Lima"] * 2 + ["Oslo"] * 5})
    tree = tw.DecisionTreeClassifier(unseen="majority").fit(table, ["few"] * 2 + ["many"] * 5)
    other = tw.DecisionTreeClassifier(unseen="majority").fit(table, ["few"] * 2 + ["many"] * 5, [9.0] * 2 + [1.0] * 5)

    assert tree.predict(pd.DataFrame({"town": ["Rome"]})).tolist() == ["many"]
    assert other.predict(pd.DataFrame({"town": ["Rome"]})).tolist() == ["few"]


def test_a_level_never_seen_is_refused_by_name_where_asked(tmp_path):
    tree = fitted_towns("error")
    tree.save(tmp_path / "model.tw")

    for predictor in (tree, tw.load(tmp_path / "model.tw")):
        with pytest.raises(UnseenLevelError, match=r"'town'.*'Rome'"):
            predictor.predict(NEW_TOWN)
        with pytest.raises(UnseenLevelError, match=r"'town'.*'Rome'"):
            predictor_one(predictor, "Rome")


def test_levels_of_rows_without_weight_are_known():
    tree = tw.DecisionTreeClassifier(unseen="error").fit(TOWNS, list("aabbbc"), [1, 1, 1, 1, 1, 0])

    assert tree.classes_.tolist() == ["a", "b", "c"]
    assert tree.predict(pd.DataFrame({"town": ["Riga"], "x": [1.0]})).shape == (1,)
    assert tree.predict_proba(TOWNS)[:, 2].tolist() == [0.0] * 6
