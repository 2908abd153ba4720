"""What an isolation forest says: that it is one, its trees, and when its outliers are most of the rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from treewright.estimators.isolation import IsolationForest
from treewright.exceptions import DataWarning, ParameterError


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(0).normal(size=(200, 3))


@pytest.fixture(scope="module")
def forest(cloud):
    return IsolationForest(n_estimators=12).fit(cloud)


def names_of(n):
    rng = np.random.default_rng(1)
    return {name: rng.choice(["a", "b", "c", "d"], n).tolist() for name in ("town", "size", "plan")}


def test_show_says_that_it_is_an_isolation_forest(forest):
    text = forest.show()

    head = "Isolation forest of 12 trees\n"
    assert text.startswith(head + "the score of a row is computed from the mean of its path lengths\n")
    assert text == forest.model_.show()
    assert "Regression" not in text
    assert "200 rows" in forest.show(tree=3)


def test_verbs_are_those_of_the_model(forest, cloud):
    assert forest.apply(cloud).tolist() == forest.model_.apply(cloud).tolist()
    assert forest.decision_path(cloud)[1].tolist() == forest.model_.decision_path(cloud)[1].tolist()
    assert str(forest.node(0, tree=2)) == str(forest.model_.node(0, tree=2))
    assert str(forest.rules(tree=2)) == str(forest.model_.rules(tree=2))
    assert forest.plot(tree=2).text == forest.model_.plot(tree=2).text
    for verb in (forest.rules, forest.plot, lambda: forest.node(0)):
        with pytest.raises(ParameterError, match="the model has 12 trees: choose one"):
            verb()


def test_a_forest_is_the_sequence_of_its_trees(forest, cloud):
    assert len(forest) == len(list(forest)) == 12
    assert forest[3].predict(cloud).tolist() == forest.tree(3).predict(cloud).tolist()
    assert [str(each) for each in forest[:2]] == [str(each) for each in forest.estimators_[:2]]
    assert bool(IsolationForest())


def test_verbs_need_a_fit(cloud):
    for ask in (IsolationForest().show, lambda: IsolationForest().apply(cloud)):
        with pytest.raises(NotFittedError):
            ask()


@pytest.mark.parametrize("n", [25, 300, 5000])
def test_automatic_outliers_that_are_most_of_the_rows_are_warned_of(n):
    table = names_of(n)

    with pytest.warns(DataWarning, match="contamination='auto' makes .*% of the training rows outliers") as heard:
        forest = IsolationForest(n_estimators=30).fit(table)

    share = (forest.predict(table) == -1).mean()
    assert share > 0.5
    said = int(str(heard[0].message).split("makes ")[1].split("%")[0]) / 100
    # Beyond 1,000 rows a sample of them is looked at: four standard errors, and half a percent of rounding.
    assert abs(said - share) <= 0.005 + (n > 1000) * 4 * np.sqrt(0.25 / 1000)


def test_weights_count_in_the_share_that_is_warned_of():
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(10, 2)) * 30])
    weights = np.r_[np.full(40, 0.01), np.full(10, 0.04)]

    forest = IsolationForest(n_estimators=50).fit(X)
    assert (forest.predict(X) == -1).mean() <= 0.5
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        forest.fit(X, sample_weight=weights)

    is_odd = forest.predict(X) == -1
    assert bool(heard) == (weights[is_odd].sum() / weights.sum() > 0.5)


def test_nothing_is_warned_of_where_a_share_is_asked_for_or_few_rows_are_odd(cloud):
    # Warnings are errors in the tests.
    IsolationForest(n_estimators=30, contamination=0.05).fit(names_of(300))
    IsolationForest(n_estimators=30).fit(cloud)
