"""Classes as many as rows, as an identifier in the place of the target has: refused before any work, or warned of."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from rotating import few

import treewright as tw
from treewright.data import memory
from treewright.exceptions import DataWarning, TooLargeError

N = 60_000
QUESTION = "an identifier as the class target?"
REFUSING = [
    tw.DecisionTreeClassifier(), tw.DecisionTreeClassifier(splitter="hist"), tw.ExtraTreeClassifier(),
    tw.C45Classifier(), tw.RandomForestClassifier(), tw.ExtraTreesClassifier(), tw.BaggingClassifier(),
    tw.BaggingClassifier(tw.C45Classifier()), tw.AdaBoostClassifier(tw.DecisionTreeClassifier()),
    tw.GradientBoostingClassifier(),
]  # fmt: skip
# Their trees are too small, or there are none, to need memory for each class of each row.
FITTING = [
    tw.AdaBoostClassifier(n_estimators=2), tw.KNeighborsClassifier(), tw.CHAIDClassifier(),
    tw.DecisionTreeClassifier(max_depth=2),
]  # fmt: skip


@pytest.fixture
def eight_gigabytes(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 8 * 2**30)


@pytest.mark.parametrize("estimator", REFUSING, ids=repr)
def test_a_class_for_each_row_is_refused_before_memory_is_allocated(eight_gigabytes, estimator):
    X, y = np.arange(2.0 * N).reshape(N, 2), np.arange(N)

    tracemalloc.start()
    with pytest.raises(TooLargeError, match=f"on {N} rows of {N} classes needs .*: an identifier as the class target"):
        estimator.fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert most < 40 * X.nbytes


@pytest.mark.parametrize("estimator", [each for each in REFUSING if "Boost" not in repr(each)], ids=repr)
def test_two_rows_of_each_class_are_refused_where_the_tree_alone_would_not_fit(monkeypatch, estimator):
    """A tree that separates the classes keeps their counts in each node, and growth holds them three times."""
    monkeypatch.setattr(memory, "available_memory", lambda: 20 * 2**30)
    X, y = np.arange(2.0 * N).reshape(N, 2), np.arange(N) % (N // 2)

    with pytest.raises(TooLargeError, match=f"on {N} rows of {N // 2} classes needs"):
        estimator.fit(X, y)


@pytest.mark.parametrize("estimator", few([tw.DecisionTreeClassifier(), tw.C45Classifier(min_samples_leaf=1),
                                           tw.RandomForestClassifier(4, n_jobs=1)], 1), ids=repr)  # fmt: skip
def test_the_bytes_of_classes_are_those_of_a_fit_that_separates_them(estimator):
    y = np.repeat(np.arange(400), 3)
    X = (y * 7 % 400)[:, None]  # each class its own number, in another order
    needed = estimator._check_parameters().bytes_of_classes(len(y), [400])
    estimator.fit(X, y)  # what a first fit imports and what it loads of its kernels is not counted

    tracemalloc.start()
    estimator.fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert needed / 2 < most
    assert needed > most / 3


@pytest.mark.parametrize("estimator", FITTING, ids=repr)
def test_half_as_many_classes_as_rows_are_warned_of(estimator):
    X = np.arange(100.0).reshape(50, 2)

    with pytest.warns(DataWarning, match=r"y has 25 classes in 50 rows: an identifier as the class target\?") as told:
        estimator.fit(X, np.arange(50) % 25)
    assert sum(QUESTION in str(each.message) for each in told) == 1


def test_the_warning_names_the_target_and_the_trees_of_boosting():
    X, y = np.arange(100.0).reshape(50, 2), pd.Series(np.arange(50) % 25, name="plot")

    with pytest.warns(
        DataWarning, match="target 'plot' has 25 classes in 50 rows.*grows a tree for each class in ever"
    ):
        tw.GradientBoostingClassifier(2).fit(X, y)


def test_fewer_classes_are_not_warned_of(recwarn):
    X = np.arange(102.0).reshape(51, 2)

    tw.DecisionTreeClassifier().fit(X, np.arange(51) % 25)
    tw.DecisionTreeClassifier().fit(X[:24], np.arange(24))

    assert [str(each.message) for each in recwarn if QUESTION in str(each.message)] == []


def test_a_million_rows_of_ten_classes_are_not_refused(eight_gigabytes):
    for estimator in REFUSING:
        if hasattr(estimator, "_check_parameters") and not hasattr(estimator, "estimator"):
            assert estimator._check_parameters().bytes_of_classes(1_000_000, [10]) < 2**28


def test_memory_that_runs_out_within_a_fit_is_a_named_error(monkeypatch):
    def run_out(*_):
        raise MemoryError("Unable to allocate 27.8 GiB")

    monkeypatch.setattr("treewright.learn.single.train_tree", run_out)

    with pytest.raises(TooLargeError, match=r"CART on 4 rows x 1 columns of 2 classes .*\(Unable to allocate 27\.8"):
        tw.DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
