"""A further fit of a bag: what a warm start asks to be as it was, and what is left of the fit before."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import treewright as tw
from treewright import BaggingClassifier, BaggingRegressor
from treewright.exceptions import DataWarning, ParameterError

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4)).round(1)
LABELS = (X[:, 0] + 0.5 * rng.normal(size=80) > 0).astype(int)
WEIGHTS = rng.integers(1, 4, 80).astype(float)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"estimator": tw.C45Classifier()}, "estimator"),
        ({"estimator": tw.DecisionTreeClassifier(max_depth=2)}, "estimator__max_depth"),
        ({"estimator": tw.DecisionTreeClassifier(nominal=[1])}, "estimator__nominal"),
        ({"max_samples": 0.5}, "max_samples"),
        ({"max_features": 2}, "max_features"),
        ({"bootstrap": False}, "bootstrap"),
        ({"bootstrap_features": True}, "bootstrap_features"),
        ({"random_state": 9}, "random_state"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_warm_start_refuses_another_parameter_by_name(change, named):
    bag = BaggingClassifier(n_estimators=2, warm_start=True).fit(X, LABELS)
    before = bag.predict_proba(X).tobytes()

    with pytest.raises(ParameterError, match=f"but {named} is different from the fit before"):
        bag.set_params(n_estimators=4, **change).fit(X, LABELS)
    assert bag.predict_proba(X).tobytes() == before


def test_a_base_that_was_changed_in_its_place_is_another():
    bag = BaggingClassifier(tw.DecisionTreeClassifier(), n_estimators=2, warm_start=True).fit(X, LABELS)

    with pytest.raises(ParameterError, match="estimator__min_samples_leaf"):
        bag.set_params(n_estimators=3, estimator__min_samples_leaf=9).fit(X, LABELS)


def test_a_declaration_that_was_changed_in_its_place_is_another():
    nominal = [1]
    bag = BaggingClassifier(tw.DecisionTreeClassifier(nominal=nominal), n_estimators=2, warm_start=True).fit(X, LABELS)

    nominal.append(2)
    with pytest.raises(ParameterError, match="estimator__nominal"):
        bag.set_params(n_estimators=3).fit(X, LABELS)


def test_a_function_is_another_when_it_is_not_the_same_one():
    def purity(counts):
        return 1.0 - (counts / counts.sum(axis=1, keepdims=True)).max(axis=1)

    def other(counts):
        return 1.0 - ((counts / counts.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)

    base = tw.DecisionTreeClassifier(criterion=purity, max_depth=2)
    bag = BaggingClassifier(base, n_estimators=1, warm_start=True).fit(X, LABELS)

    bag.set_params(n_estimators=2).fit(X, LABELS)
    with pytest.raises(ParameterError, match="estimator__criterion"):
        bag.set_params(n_estimators=3, estimator__criterion=other).fit(X, LABELS)


@pytest.mark.parametrize(
    ("table", "target", "weights"),
    [
        (X[:50], LABELS[:50], WEIGHTS[:50]),
        (X + (np.arange(80) == 7)[:, None], LABELS, WEIGHTS),
        (X, 1 - LABELS, WEIGHTS),
        (X, np.array(["no", "yes"])[LABELS], WEIGHTS),
        (X, LABELS, WEIGHTS + 1),
        (X, LABELS, None),
        (X[::-1], LABELS[::-1], WEIGHTS[::-1]),
    ],
    ids=["fewer rows", "a row", "target", "labels", "weights", "no weights", "order"],
)
@pytest.mark.parametrize("base", [None, KNeighborsClassifier(3)], ids=["trees", "neighbours"])
def test_a_warm_start_refuses_another_table(base, table, target, weights):
    bag = BaggingClassifier(base, n_estimators=2, warm_start=True).fit(X, LABELS, sample_weight=WEIGHTS)

    with pytest.raises(ParameterError, match="rows, target or weights are different"):
        bag.set_params(n_estimators=3).fit(table, target, sample_weight=weights)


def test_a_warm_start_refuses_renamed_columns():
    bag = BaggingClassifier(n_estimators=2, warm_start=True).fit(pd.DataFrame(X, columns=list("abcd")), LABELS)

    with pytest.raises(ParameterError, match="needs the same columns as the fit before"):
        bag.set_params(n_estimators=3).fit(pd.DataFrame(X, columns=list("abcz")), LABELS)


@pytest.mark.parametrize("make", [np.asfortranarray, lambda table: table.copy(), lambda table: table.tolist()])
def test_the_same_rows_in_another_layout_are_the_same_table(make):
    bag = BaggingClassifier(n_estimators=2, warm_start=True).fit(X, LABELS)

    assert len(bag.set_params(n_estimators=3).fit(make(X), LABELS)) == 3


def test_what_does_not_make_a_member_may_change():
    whole = BaggingClassifier(n_estimators=20, voting="hard", oob_score=True).fit(X, LABELS)
    bag = BaggingClassifier(n_estimators=3, warm_start=True).fit(X, LABELS)
    bag = pickle.loads(pickle.dumps(bag))

    bag.set_params(n_estimators=20, voting="hard", oob_score=True, n_jobs=1)
    bag.set_params(estimator=tw.DecisionTreeClassifier(random_state=5, n_jobs=2)).fit(X, LABELS)

    assert bag.predict_proba(X).tobytes() == whole.predict_proba(X).tobytes()
    assert bag.oob_score_ == whole.oob_score_


def test_parameters_without_a_plain_form_do_not_stand_in_the_way():
    base = make_pipeline(SimpleImputer(missing_values=np.nan), KNeighborsClassifier(3))
    bag = BaggingClassifier(base, n_estimators=2, warm_start=True).fit(X, LABELS)

    assert len(bag.set_params(n_estimators=3, estimator=copy.deepcopy(base)).fit(X, LABELS)) == 3
    with pytest.raises(ParameterError, match="estimator__kneighborsclassifier__n_neighbors"):
        bag.set_params(n_estimators=4, estimator__kneighborsclassifier__n_neighbors=5).fit(X, LABELS)


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_the_out_of_bag_score_of_an_earlier_fit_is_forgotten(kind):
    bag = kind(n_estimators=30, oob_score=True).fit(X, LABELS)
    named = [name for name in vars(bag) if name.startswith("oob_") and name.endswith("_")]

    bag.set_params(oob_score=False).fit(X[:50], 1 - LABELS[:50])

    assert len(named) == 2
    assert not any(hasattr(bag, name) for name in named)


def test_members_that_are_there_can_be_judged_out_of_bag_later():
    whole = BaggingClassifier(n_estimators=30, oob_score=True).fit(X, LABELS)
    bag = BaggingClassifier(n_estimators=30, warm_start=True).fit(X, LABELS)
    members = list(bag.estimators_)

    with pytest.warns(DataWarning, match="does not fit new members"):
        bag.set_params(oob_score=True).fit(X, LABELS)

    assert all(now is before for now, before in zip(bag, members, strict=True))
    assert bag.oob_score_ == whole.oob_score_
    assert bag.oob_decision_function_.tobytes() == whole.oob_decision_function_.tobytes()
