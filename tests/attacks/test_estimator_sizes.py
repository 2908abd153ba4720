"""Very deep, very wide, very many: bounded time and memory, or one error before anything is allocated."""

from __future__ import annotations

import pickle
import sys
import tracemalloc

import numpy as np
import pytest
from rotating import crossed

import treewright as tw
from treewright.data import memory
from treewright.exceptions import DataWarning, TooLargeError

DEPTH = 20_000


@pytest.fixture(scope="module")
def chain():
    """A tree of depth 20,000: among alternating labels nothing gains more than to split off the first row alone."""
    X = np.arange(DEPTH + 1.0)[:, None]
    y = np.arange(DEPTH + 1) % 2
    tree = tw.DecisionTreeClassifier().fit(X, y)
    return X, y, tree


def test_the_chain_is_as_deep_as_it_can_be(chain):
    X, y, tree = chain

    assert tree.get_depth() == DEPTH
    assert tree.get_n_leaves() == DEPTH + 1
    assert tree.predict(X).tolist() == y.tolist()


VERBS = {
    "predict": lambda X, tree, folder: tree.predict(X),
    "predict_one": lambda X, tree, folder: tree.model_.predict_one(X[-1]),
    "apply": lambda X, tree, folder: tree.apply(X),
    "decision_path": lambda X, tree, folder: tree.decision_path(X[-10:]),
    "show": lambda X, tree, folder: tree.show(),
    "show in part": lambda X, tree, folder: tree.show(max_depth=3),
    "plot": lambda X, tree, folder: tree.plot(),
    "rules": lambda X, tree, folder: tree.model_.rules()[:3],
    "importances": lambda X, tree, folder: tree.feature_importances_,
    "prune": lambda X, tree, folder: tw.DecisionTreeClassifier(ccp_alpha=1e-9).fit(X, np.arange(len(X)) % 2),
    "pickle": lambda X, tree, folder: pickle.loads(pickle.dumps(tree)).get_depth(),
    "save and load": lambda X, tree, folder: (tree.save(folder / "m.tw"), tw.load(folder / "m.tw")),
    "repr": lambda X, tree, folder: repr(tree.model_),
    "notebook": lambda X, tree, folder: tree.model_._repr_html_(),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_every_verb_bears_a_chain_of_20000_nodes(chain, verb, tmp_path):
    X, _, tree = chain
    limit = sys.getrecursionlimit()

    verb(X, tree, tmp_path)

    assert sys.getrecursionlimit() == limit


@pytest.mark.slow
@pytest.mark.parametrize("kind", [tw.DecisionTreeClassifier, tw.DecisionTreeRegressor])
def test_200000_columns_of_50_rows(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 200_000)).astype(np.float32)
    y = np.arange(50) % 2
    X[:, 123_456] = 5 * y
    kind().fit(X[:, :9], y)  # the kernels are compiled by now

    tree = kind().fit(X, y)

    assert tree.tree_.feature.tolist() == [123_456, -1, -1]
    assert tree.predict(X).tolist() == y.tolist()


@pytest.mark.filterwarnings("ignore:column 'name' .100000 levels.")
def test_100000_levels():
    names = np.array([f"level {at:06d}" for at in range(100_000)], object)
    y = np.arange(100_000) % 2
    tw.DecisionTreeClassifier().fit({"name": names[:9]}, y[:9])  # the kernels are compiled by now

    tree = tw.DecisionTreeClassifier(nominal=["name"]).fit({"name": names}, y)

    assert tree.get_n_leaves() == 2  # one set of levels parts them
    assert tree.predict({"name": names}).tolist() == y.tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:column 'name' .100000 levels.")
def test_100000_levels_and_three_classes():
    names = np.array([f"level {at:06d}" for at in range(100_000)], object)
    y = np.arange(100_000) % 3
    tw.DecisionTreeClassifier().fit({"name": names[:9]}, y[:9])

    tree = tw.DecisionTreeClassifier(max_depth=4, nominal=["name"]).fit({"name": names}, y)

    assert tree.predict({"name": names}).tolist() == y.tolist()


@pytest.mark.slow
def test_10000_classes_of_20000_rows_are_learned():
    X, y = np.arange(20_000.0)[:, None], np.arange(20_000) // 2
    tw.DecisionTreeClassifier().fit(X[:9], y[:9])  # the kernels are compiled by now

    with pytest.warns(DataWarning, match="10000 classes in 20000 rows"):
        tree = tw.DecisionTreeClassifier(max_depth=3).fit(X, y)

    assert tree.get_depth() == 3
    # A leaf is an eighth of the classes, each as frequent as the others: the first of them is predicted.
    assert tree.predict([[0.0]]).tolist() == [0]


def test_counts_that_would_not_fit_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 200 * 2**20)
    X, y = np.arange(20_000.0)[:, None], np.arange(20_000) % 1000
    tree = tw.DecisionTreeClassifier()

    # 39,999 nodes with 1,000 counts each would be 300 MB; a leaf for half of the classes would fit.
    with pytest.raises(TooLargeError, match=r"a tree of \d+ nodes \(1000 sums each\).*max_depth"):
        tree.fit(X, y)
    assert not hasattr(tree, "model_")


def test_a_table_whose_sorted_columns_would_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 30 * 2**20)

    with pytest.raises(TooLargeError, match=r"growing on 3000000 rows x 6 columns needs"):
        tw.DecisionTreeRegressor().fit(np.broadcast_to(np.zeros(1), (3_000_000, 1)).repeat(6, axis=1), np.zeros(3))


@pytest.mark.parametrize(
    ("shape", "dtype"), crossed([(2**31 + 10, 1), (2**20, 2**20), (1, 2**40)], [np.float64, np.int8, object])
)
def test_a_virtual_table_beyond_memory_is_refused_before_allocating(shape, dtype):
    cell = np.zeros(1, dtype)
    X = np.broadcast_to(cell, shape)
    y = np.broadcast_to(np.zeros(1), shape[:1])
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError):
            tw.DecisionTreeRegressor().fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 2**30  # names of a million columns; the table would take 8 GB at least
