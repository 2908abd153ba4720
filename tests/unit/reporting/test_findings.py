"""What a report finds wrong about a table, and what it leaves alone."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import treewright as tw
from treewright.exceptions import DataWarning
from treewright.reporting.data import report_data
from treewright.reporting.findings import findings_of

N = 200
RNG = np.random.default_rng(0)
NOISE = {"a": RNG.normal(size=N), "b": RNG.normal(size=N)}
LABEL = np.where(NOISE["a"] + 0.5 * RNG.normal(size=N) > 0, "yes", "no")


def found(table, target, other=None, est=None, *, model_only=False, weights=None):
    """The findings of a report of an estimator fitted on a table, judged by it or by another one; by their kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        est = (est or tw.DecisionTreeClassifier(max_depth=3)).fit(table, target)
        X, y = other or (table, target)
        judged = report_data(est.model_, None if model_only else est, X, y, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {finding.kind: finding for finding in findings_of(judged)}


def halves(table, target):
    """The first and the second half of the rows."""
    parts = [slice(None, N // 2), slice(N // 2, None)]
    return [({name: cells[part] for name, cells in table.items()}, target[part]) for part in parts]


def test_nothing_is_found_where_nothing_is_wrong():
    (table, target), other = halves(NOISE, LABEL)

    assert found(table, target, other) == {}


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_well_known_tables_tell_no_target_and_hold_no_identifier(load):
    X, y = load(return_X_y=True)
    kinds = set(found(X[::2], y[::2], (X[1::2], y[1::2])))

    assert kinds <= {"duplicate rows", "beyond the fit"}


def test_a_column_that_equals_the_target_is_serious_and_named():
    finding = found({**NOISE, "outcome": LABEL}, LABEL)["equals the target"]

    assert finding.serious
    assert finding.columns == ("outcome",)
    assert finding.text == "Column outcome equals the target in every row."


def test_so_is_one_that_tells_it_under_other_names():
    codes = np.where(LABEL == "yes", "paid", "open")
    finding = found({**NOISE, "status": codes}, LABEL)["tells the target"]

    assert finding.serious
    assert finding.columns == ("status",)


def test_numbers_that_are_made_from_a_target_of_numbers_tell_it():
    X, y = load_diabetes(return_X_y=True)
    table = {"bmi": X[:, 2], "double": 2 * y + 1, "s": X[:, 5]}
    kinds = found(table, y, est=tw.DecisionTreeRegressor(max_depth=3))

    assert kinds["tells the target"].columns == ("double",)
    assert "equals the target" in found({**table, "y": y}, y, est=tw.DecisionTreeRegressor(max_depth=3))


def test_columns_that_are_left_out_are_named_with_the_reason():
    names = np.array([f"row {at}" for at in range(N)])
    kinds = found({"row": np.arange(N), "who": names, **NOISE}, LABEL)

    assert kinds["left out"].columns == ("row", "who")
    assert f"row (counts the rows), who ({N} different texts in {N} rows)" in kinds["left out"].text
    assert not {"identifier", "numbered rows", "constant", "same column twice"} & set(kinds)


def test_a_name_for_every_row_tells_nothing_but_is_an_identifier():
    names = np.array([f"row {at}" for at in range(N)])
    (table, target), other = halves({**NOISE, "who": names}, LABEL)
    kinds = found(table, target, other, tw.DecisionTreeClassifier(nominal=["who"]))

    assert kinds["identifier"].columns == ("who",)
    assert "left out" not in kinds
    assert "tells the target" not in kinds
    # They are other names than at the fit, not missing cells.
    assert kinds["unseen levels"].n == N // 2
    assert "nothing there" not in kinds
    assert "nearly nothing there" not in kinds


def test_numbered_rows_may_be_an_identifier_and_measurements_are_none():
    kinds = found({**NOISE, "number": np.arange(N)[::-1]}, LABEL)

    assert kinds["numbered rows"].columns == ("number",)
    assert not kinds["numbered rows"].serious
    # Numbers beyond 2**53 have no fraction because float64 has no room for one.
    assert "numbered rows" not in found({**NOISE, "large": 1e300 * NOISE["a"]}, LABEL)


def test_empty_nearly_empty_and_constant_columns_are_told_apart():
    nearly = np.full(N, np.nan)
    nearly[:5] = np.arange(5)
    table = {**NOISE, "empty": np.full(N, np.nan), "nearly": nearly, "one": np.full(N, 3.0), "word": np.full(N, "x")}
    kinds = found(table, LABEL)

    assert kinds["nothing there"].columns == ("empty",)
    assert kinds["nearly nothing there"].columns == ("nearly",)
    assert kinds["constant"].columns == ("one", "word")
    assert kinds["constant"].text == "2 columns have the same value in all rows: one, word."


def test_classes_with_few_rows_are_told_with_their_numbers():
    label = LABEL.copy().astype(object)
    label[:6] = "perhaps"
    (table, target), other = halves(NOISE, label)
    finding = found(table, target, other)["few rows of a class"]

    assert finding.text == "1 class with fewer than 5 test rows: perhaps (0)."


def test_levels_that_the_fit_never_saw_are_named_with_their_rows():
    sky = np.array(["sun", "rain"] * (N // 2), object)
    size = np.array(["s", "l"] * (N // 2), object)
    other = {**NOISE, "sky": sky.copy(), "size": size.copy()}
    other["sky"][:3] = ["hail", "fog", "fog"]
    other["size"][7] = "xl"
    est = tw.DecisionTreeClassifier(max_depth=2, ordinal={"size": ["s", "l"]})
    finding = found({**NOISE, "sky": sky, "size": size}, LABEL, (other, LABEL), est)["unseen levels"]

    assert finding.n == 4
    assert finding.columns == ("sky", "size")
    assert finding.text == "Levels without training rows: sky (3 rows: fog, hail), size (1 row: xl)."


def test_rows_of_weight_0_are_not_looked_at():
    sky = np.array(["sun", "rain"] * (N // 2), object)
    other = sky.copy()
    other[0] = "hail"
    weights = np.ones(N)
    weights[0] = 0.0

    kinds = found({**NOISE, "sky": sky}, LABEL, ({**NOISE, "sky": other}, LABEL), weights=weights)
    assert "unseen levels" not in kinds


def test_missing_cells_where_the_fit_had_none_are_told():
    (table, target), (other, truth) = halves(NOISE, LABEL)
    other["b"] = other["b"].copy()
    other["b"][:4] = np.nan
    finding = found(table, target, (other, truth))["new missing cells"]

    assert (finding.n, finding.columns) == (4, ("b",))


def test_numbers_beyond_those_of_the_fit_are_told_where_its_rows_are_known():
    (table, target), (other, truth) = halves(NOISE, LABEL)
    other["a"] = other["a"] + 3.0
    finding = found(table, target, (other, truth))["beyond the fit"]
    n_beyond = int((other["a"] > table["a"].max()).sum())

    assert (finding.columns, finding.n) == (("a",), n_beyond)
    assert "beyond the fit" not in found(table, target, (other, truth), model_only=True)


def test_judged_rows_that_the_fit_saw_are_serious():
    (table, target), (other, truth) = halves(NOISE, LABEL)
    mixed = {name: np.concatenate([other[name][:90], table[name][:10]]) for name in table}
    finding = found(table, target, (mixed, np.concatenate([truth[:90], target[:10]])))["rows of the fit"]

    assert finding.serious
    assert finding.text.startswith("10 test rows of 100 are, with the same target, among")


def test_equal_rows_of_a_table_with_few_different_ones_are_no_leak():
    rng = np.random.default_rng(1)
    table = {"a": rng.integers(0, 3, N), "b": rng.integers(0, 3, N)}
    (fit, target), other = halves(table, LABEL)
    kinds = found(fit, target, other)

    assert "rows of the fit" not in kinds
    assert kinds["duplicate rows"].n == N // 2 - len({*zip(other[0]["a"], other[0]["b"], strict=True)})


def test_rows_with_the_same_cells_and_other_classes_bound_every_model():
    table = {"a": np.repeat(np.arange(4.0), 10)}
    label = np.tile([0, 0, 0, 1, 0, 0, 0, 0, 0, 1], 4)
    finding = found(table, label)["same cells, other class"]

    assert "at least 20.0 %" in finding.text
    assert np.mean(tw.DecisionTreeClassifier().fit(table, label).predict(table) != label) == pytest.approx(0.2)


def test_a_column_twice_is_told_with_its_twin():
    finding = found({**NOISE, "copy of a": NOISE["a"]}, LABEL)["same column twice"]

    assert finding.text == "Columns with the same cells as another one: copy of a as a."


def test_names_are_written_ready_to_be_read():
    name = "<script>\n" + "x" * 100
    finding = found({**NOISE, name: np.full(N, 1.0)}, LABEL)["constant"]

    assert finding.columns[0].startswith("<script>\\n")
    assert len(finding.columns[0]) <= 40


def test_forests_boosting_and_neighbours_are_looked_at_too():
    table = {**NOISE, "one": np.full(N, 1.0)}
    for est in (
        tw.RandomForestClassifier(3, random_state=0), tw.GradientBoostingClassifier(n_estimators=2),
        tw.KNeighborsClassifier(3),
    ):  # fmt: skip
        assert "constant" in found(table, LABEL, est=est)


def test_what_is_serious_stands_first():
    kinds = list(found({"one": np.full(N, 1.0), **NOISE, "outcome": LABEL}, LABEL).values())

    assert [finding.serious for finding in kinds] == sorted((finding.serious for finding in kinds), reverse=True)


def test_a_page_speaks_of_columns_that_are_left_out_as_such():
    with pytest.warns(DataWarning, match="left out"):
        est = tw.DecisionTreeClassifier(max_depth=2).fit({"row": np.arange(N), **NOISE}, LABEL)
    page = tw.report(est, {"row": np.arange(N), **NOISE}, LABEL).to_dict()

    assert {fact["name"]: fact["value"] for fact in page["facts"]}["columns"] == f"{len(NOISE)} (1 left out)"
    assert [column["left_out"] for column in page["columns"]] == ["counts the rows", *[""] * len(NOISE)]
    assert next(column for column in page["data"] if column["name"] == "row")["told"] == "left out: counts the rows"
    assert {barred.column: barred.reason for barred in est.audit().barred}["row"] == "left out: counts the rows"
