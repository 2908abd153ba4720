"""One row at a time, rows as dicts, weights as a table of one column: what a caller has at hand is understood."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treewright as tw
from treewright.exceptions import ColumnError, DataError

N = 40
RANDOM = np.random.default_rng(0)
TABLE = {
    "size": [None if at % 9 == 0 else float(at % 7) for at in range(N)],
    "kind": RANDOM.choice(["a", "b", "c"], N).tolist(),
}
ROWS = [dict(zip(TABLE, cells, strict=True)) for cells in zip(*TABLE.values(), strict=True)]
LABELS = np.array(["x", "y", "z"])[RANDOM.integers(0, 3, N)]
NUMBERS = RANDOM.normal(size=N)
FEW = {"n_estimators": 3, "random_state": 0}
CLASSIFIERS = {
    "tree": tw.DecisionTreeClassifier(),
    "fractional": tw.DecisionTreeClassifier(missing="fractional"),
    "c45": tw.C45Classifier(),
    "forest": tw.RandomForestClassifier(**FEW),
    "votes": tw.RandomForestClassifier(voting="hard", **FEW),
    "boosting": tw.GradientBoostingClassifier(**FEW),
    "neighbours": tw.KNeighborsClassifier(3),
}
REGRESSORS = [tw.DecisionTreeRegressor(), tw.GradientBoostingRegressor(**FEW), tw.KNeighborsRegressor(3)]


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("labels", [LABELS, LABELS == "x"], ids=["three", "two"])
def test_the_answer_to_one_row_is_that_row_of_the_answers(name, labels):
    fitted = CLASSIFIERS[name].fit(TABLE, labels)
    answers, shares = fitted.predict(TABLE), fitted.predict_proba(TABLE)
    for at in range(0, N, 3):
        assert fitted.predict_one(ROWS[at]) == answers[at]
        assert np.array_equal(fitted.predict_proba_one(ROWS[at]), shares[at])
        assert np.array_equal(fitted.model_.predict_proba_one(list(ROWS[at].values())), shares[at])


def test_of_several_outputs_one_row_has_a_list_of_shares():
    fitted = tw.DecisionTreeClassifier(max_depth=2).fit(TABLE, np.column_stack([LABELS, LABELS[::-1]]))
    one, all_rows = fitted.predict_proba_one(ROWS[5]), fitted.predict_proba(TABLE)
    assert [shares.tolist() for shares in one] == [shares[5].tolist() for shares in all_rows]


@pytest.mark.parametrize("regressor", REGRESSORS, ids=lambda each: type(each).__name__)
def test_numbers_have_one_row_and_no_shares(regressor):
    fitted = regressor.fit(TABLE, NUMBERS)
    assert fitted.predict_one(ROWS[1]) == fitted.predict(TABLE)[1]
    with pytest.raises(AttributeError):
        fitted.model_.predict_proba_one(ROWS[1])


def test_what_is_changed_in_the_shares_of_a_row_does_not_change_the_model():
    fitted = tw.DecisionTreeClassifier(max_depth=1).fit(TABLE, LABELS)
    fitted.predict_proba_one(ROWS[0])[:] = 7.0
    assert fitted.predict_proba_one(ROWS[0]).sum() == pytest.approx(1.0)


def test_rows_may_be_dicts_whose_names_come_in_any_order():
    turned = [dict(reversed(row.items())) for row in ROWS]
    of_columns = tw.DecisionTreeClassifier().fit(TABLE, LABELS)
    of_rows = tw.DecisionTreeClassifier().fit(ROWS, LABELS)
    assert of_rows.feature_names_in_.tolist() == ["size", "kind"]
    assert of_rows.predict(turned).tolist() == of_columns.predict(TABLE).tolist()
    assert of_columns.model_.predict(ROWS[3:4]).tolist() == of_columns.predict(TABLE)[3:4].tolist()


def test_a_name_that_a_dict_has_not_is_a_missing_cell():
    fitted = tw.DecisionTreeClassifier().fit(TABLE, LABELS)
    without = [{name: cell for name, cell in row.items() if cell is not None} for row in ROWS]
    assert fitted.predict(without).tolist() == fitted.predict(TABLE).tolist()


def test_a_name_that_no_dict_has_is_a_missing_column():
    fitted = tw.DecisionTreeClassifier().fit(TABLE, LABELS)
    with pytest.raises(ColumnError, match="kind"):
        fitted.predict([{"size": 1.0}])


@pytest.mark.parametrize(
    "form", [pd.DataFrame, lambda columns: np.array(columns["w"])[:, None]], ids=["frame", "array"]
)
def test_weights_may_be_a_table_of_one_column(form):
    weights = RANDOM.integers(1, 4, N)
    plain = tw.DecisionTreeClassifier().fit(TABLE, LABELS, sample_weight=weights)
    framed = tw.DecisionTreeClassifier().fit(TABLE, LABELS, sample_weight=form({"w": weights}))
    assert framed.model_.trees[0].weight.tolist() == plain.model_.trees[0].weight.tolist()


def test_weights_of_two_columns_are_refused():
    with pytest.raises(DataError, match="2D"):
        tw.DecisionTreeClassifier().fit(TABLE, LABELS, sample_weight=np.ones((N, 2)))


def test_an_isolation_forest_answers_one_row_as_it_answers_many():
    fitted = tw.IsolationForest(contamination=0.2, **FEW).fit(TABLE)
    found = [fitted.predict_one(row) for row in ROWS]
    assert found == fitted.predict(TABLE).tolist()
    assert {*found} == {-1, 1}
