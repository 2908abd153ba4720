"""Parts of dates are columns that the model makes of its dates, wherever it encodes a table."""

from __future__ import annotations

import datetime as dt
import pickle
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw
from treewright.data.calendar import is_sound, part_cells, requested_parts
from treewright.data.categories import schema_from_json, schema_to_json
from treewright.data.encoder import encode, encode_fit, encode_row
from treewright.data.schema import Column
from treewright.exceptions import ColumnError, DataError, DataWarning, ParameterError

PARTS = ["year", "month", "day", "weekday", "hour", "days since 2000-03-01"]
WHEN = ["2021-03-05 14:30", "2019-12-31 23:59:59.999999", None, "1969-07-20 20:17"]


def by_python(moment):
    """The slow twin: what Python's own datetime says."""
    since = (moment.replace(tzinfo=None) - dt.datetime(2000, 3, 1)) / dt.timedelta(days=1)  # noqa: DTZ001
    return [moment.year, moment.month - 1, moment.day, moment.weekday(), moment.hour, since]


@given(
    st.lists(st.datetimes(dt.datetime(1822, 1, 1), dt.datetime(2118, 12, 30)), min_size=1, max_size=20),  # noqa: DTZ001
    st.sampled_from(
        ["", "Europe/Oslo", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "+05:45", "-09:30"]
    ),
)
def test_parts_are_those_of_pythons_own_datetime(moments, zone):
    there = ZoneInfo(zone) if "/" in zone else dt.datetime.strptime(zone, "%z").tzinfo if zone else None
    days = [(moment - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1) for moment in moments]  # noqa: DTZ001
    source = Column("at", "numeric", family="datetime", zone=zone)
    local = [moment.replace(tzinfo=dt.UTC).astimezone(there) if zone else moment for moment in moments]

    found = np.column_stack([part_cells(part, source, np.array(days)) for part in PARTS])

    np.testing.assert_allclose(found, [by_python(moment) for moment in local], rtol=0, atol=1e-9)
    assert (found[:, :5] == [by_python(moment)[:5] for moment in local]).all()


def test_hours_at_a_change_of_the_clock_are_those_of_the_zone():
    utc = pd.date_range("2021-10-30 22:00", periods=300, freq="53s", tz="UTC").append(
        pd.date_range("2021-03-27 22:00", periods=300, freq="53s", tz="UTC")
    )
    for zone in ("Europe/Oslo", "Australia/Lord_Howe"):  # the clocks of the latter change by half an hour
        at = utc.tz_convert(zone)
        schema, matrix = encode_fit({"at": pd.Series(at)}, calendar=["hour", "weekday", "day"])
        assert schema.columns[0].zone == zone
        expected = np.column_stack([at.hour, at.day_of_week, at.day])
        assert (matrix[:, 1:] == expected).all()


CONTAINERS = {
    "dict of text": {"age": [1, 2, 3, 4], "at": WHEN},
    "pandas": pd.DataFrame({"age": [1, 2, 3, 4], "at": pd.to_datetime(pd.Series(WHEN), format="ISO8601")}),
    "polars": pl.DataFrame({"age": [1, 2, 3, 4], "at": WHEN}).with_columns(pl.col("at").str.to_datetime(strict=False)),
    "arrow": pl.DataFrame({"age": [1, 2, 3, 4], "at": WHEN})
    .with_columns(pl.col("at").str.to_datetime(strict=False))
    .to_arrow(),
    "dicts": [{"age": age, "at": at} for age, at in zip([1, 2, 3, 4], WHEN, strict=True)],
}


@pytest.mark.parametrize("held", CONTAINERS)
def test_every_container_has_the_same_parts_at_fit_and_at_predict(held):
    schema, matrix = encode_fit(CONTAINERS["dict of text"], calendar={"at": PARTS})
    mine, same = encode_fit(CONTAINERS[held], calendar=PARTS)

    assert mine == schema
    np.testing.assert_array_equal(same, matrix)
    np.testing.assert_array_equal(encode(schema, CONTAINERS[held]), matrix)
    np.testing.assert_array_equal(encode_row(schema, {"at": WHEN[0], "age": 1}), matrix[0])
    np.testing.assert_array_equal(encode_row(schema, [1, WHEN[0]]), matrix[0])
    assert schema.names == ("age", "at", *(f"at.{part}" for part in PARTS))
    assert np.isnan(matrix[2, 1:]).all()
    assert schema.columns[3].levels[int(matrix[0, 3])] == "March"
    assert schema.columns[5].levels[int(matrix[0, 5])] == "Friday"


def test_a_family_has_the_parts_that_it_can_have():
    table = {
        "day": [dt.date(2021, 3, 5), dt.date(2021, 4, 5)],
        "time": [dt.time(14, 30), dt.time(7)],
        "took": [dt.timedelta(days=3), dt.timedelta(days=4)],
        "age": [1, 2],
    }
    schema, matrix = encode_fit(table, calendar=["month", "hour"])

    assert schema.names[4:] == ("day.month", "time.hour")
    assert matrix[:, 4:].tolist() == [[2, 14], [3, 7]]
    assert [column.name for column in schema.given] == list(table)


@pytest.mark.parametrize(
    ("calendar", "error", "words"),
    [
        (["mont"], ParameterError, r"did you mean 'month'"),
        (["days since 2021-02-30"], ParameterError, r"not a part of a date"),
        ([], ParameterError, r"must list parts"),
        ({"at": []}, ParameterError, r"calendar\['at'\] must list parts"),
        ({"at": {"month"}}, ParameterError, r"must list parts"),
        ({"at": ["month"], 0: ["hour"]}, ParameterError, r"names column 'at' twice"),
        ({"att": ["month"]}, ColumnError, r"did you mean 'at'"),
        ({"age": ["month"]}, ColumnError, r"'age', whose cells are not dates \(number cells"),
        ({"day": ["hour"]}, ColumnError, r"'day' holds date cells, which have no hour"),
        ({"at": ["year"]}, ColumnError, r"has a column 'at.year'"),
    ],
)
def test_what_cannot_be_made_is_refused(calendar, error, words):
    table = {"at": WHEN[:2], "age": [1, 2], "day": ["2021-03-05", "2021-03-06"], "at.year": [1, 2]}
    with pytest.raises(error, match=words):
        encode_fit(table, calendar=calendar)


def test_a_table_without_dates_is_told_so():
    with pytest.warns(DataWarning, match="no column holds dates"):
        schema, _ = encode_fit({"age": [1, 2]}, calendar=["month"])
    assert len(schema) == 1
    with pytest.warns(DataWarning, match="no column holds dates"):
        encode_fit(np.eye(3), calendar=["month"])


def test_a_zone_that_the_machine_does_not_know_has_no_hours():
    source = Column("at", "numeric", family="datetime", zone="Moon/Tranquility")
    with pytest.raises(DataError, match=r"time zone 'Moon/Tranquility', which this machine does not know.*tzdata"):
        part_cells("hour", source, np.array([3.0]))


def test_a_schema_comes_back_from_json_and_a_wrong_one_is_refused():
    schema, _ = encode_fit({"at": WHEN}, calendar=["month", "hour"])
    written = schema_to_json(schema)
    assert schema_from_json(written) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema

    for change in ({"part": 3}, {"sources": [1]}, {"sources": [-1]}, {"sources": [True]}, {"part": ""}, {"sources": 0}):
        wrong = {**written, "columns": [*written["columns"][:1], {**written["columns"][1], **change}]}
        with pytest.raises(ValueError, match=r"'sources'|invalid 'part'"):
            schema_from_json(wrong)


def test_parts_that_no_fit_makes_are_not_sound():
    at, month, hour = encode_fit({"at": WHEN}, calendar=["month", "hour"])[0].columns
    assert is_sound((at, month, hour))
    for wrong in (
        (at, Column("at.month", "numeric", part="month", sources=(0,))),
        (at, Column("at.weekday", **{**vars_of(month), "part": "weekday"})),
        (at, Column("month", **vars_of(month))),
        (Column("at", "numeric"), month),
        (month, at),
        (at, month, Column("age", "numeric")),
        (at, month, Column("at.month.hour", "numeric", missing_seen=True, part="hour", sources=(1,))),
    ):
        assert not is_sound(wrong)


def vars_of(column):
    """The fields of a column but its name."""
    return {name: getattr(column, name) for name in column.__dataclass_fields__ if name != "name"}


def weekends(n=400):
    """A table whose target is the weekend, and early hours of other days."""
    rng = np.random.default_rng(0)
    at = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 24_000, n), unit="h")
    table = pd.DataFrame({"age": rng.integers(0, 50, n).astype(float), "at": at})
    return table, np.where(at.day_of_week >= 5, "free", np.where(at.hour < 9, "asleep", "at work"))


ESTIMATORS = {
    "cart": (tw.DecisionTreeClassifier(), 1.0),
    "hist": (tw.DecisionTreeClassifier(splitter="hist"), 1.0),
    "c45": (tw.C45Classifier(), 1.0),
    "chaid": (tw.CHAIDClassifier(), 1.0),
    "forest": (tw.RandomForestClassifier(n_estimators=10), 0.9),
    "extra": (tw.ExtraTreesClassifier(n_estimators=10), 0.9),
    "boosting": (tw.GradientBoostingClassifier(n_estimators=20), 0.9),
    "neighbours": (tw.KNeighborsClassifier(), 0.6),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_algorithm_learns_from_parts_and_its_model_makes_them(name, tmp_path):
    est, least = ESTIMATORS[name]
    X, y = weekends()
    est.set_params(calendar=["weekday", "hour"]).fit(X[:300], y[:300])

    assert est.score(X[300:], y[300:]) >= least
    assert (est.n_features_in_, list(est.feature_names_in_)) == (2, ["age", "at"])
    est.model_.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    predicted = est.predict(X).tolist()
    assert loaded.predict(X[["at", "age"]]).tolist() == predicted
    assert pickle.loads(pickle.dumps(est)).predict(X.to_dict("records")).tolist() == predicted
    assert est.predict_one(X.iloc[7].to_dict()) == predicted[7]
    with pytest.raises(ColumnError, match="'at'"):
        loaded.predict(X[["age"]])


@pytest.mark.parametrize("calendar", [["weekday", "hour"], {"at": ["weekday", "hour"]}, {1: ["weekday", "hour"]}])
def test_members_of_a_bag_have_the_parts_of_their_columns(calendar):
    X, y = weekends()
    X = X.assign(day=X["at"].dt.floor("D"))  # whichever column is drawn, there are dates, of whole days or not
    base = tw.DecisionTreeClassifier(calendar=calendar)
    bag = tw.BaggingClassifier(base, n_estimators=6, max_features=2, random_state=3).fit(X, y)
    assert bag.score(X, y) > 0.9
    boosted = tw.AdaBoostClassifier(tw.DecisionTreeClassifier(max_depth=3, calendar=calendar), n_estimators=3).fit(X, y)
    assert boosted.score(X, y) == 1.0


def test_a_table_without_names_has_parts_by_position():
    X, y = weekends()
    cells = X["at"].to_numpy()[:, None]
    est = tw.DecisionTreeClassifier(calendar={0: ["weekday", "hour"]}).fit(cells, y)
    assert est.model_.schema.names == ("x0", "x0.weekday", "x0.hour")
    assert est.score(cells, y) == 1.0
    with pytest.raises(ColumnError, match=r"X has 3 features, but .* expecting 1"):
        est.predict(np.zeros((2, 3)))


def test_a_counterfactual_changes_no_date_whose_parts_are_asked_for():
    X, y = weekends()
    y = np.where(X["age"] > 25, "old", y)
    est = tw.DecisionTreeClassifier(calendar=["weekday", "hour"]).fit(X, y)
    row = {"age": 10.0, "at": "2021-03-06 12:00"}

    found = est.counterfactual(row, to="old")
    assert [change.column for change in found.changes] == ["age"]
    assert list(found.row) == ["age", "at"]
    assert est.predict_one(found.row) == "old"
    never = est.counterfactual(row, to="asleep")
    assert not never.found
    assert "the dates whose parts are tested" in str(never)


def test_monotone_and_interaction_constraints_take_parts_by_name():
    X, y = weekends()
    target = (y == "free").astype(float) + 0.01 * X["age"]
    est = tw.DecisionTreeRegressor(calendar=["weekday"], monotonic_cst={"at.weekday": 1}, max_depth=4).fit(X, target)
    assert "at.weekday" in est.show()


def test_fixed_offsets_of_every_library_are_offsets():
    instants = ["2021-01-02T23:00+03:00", "2021-01-03T10:00+03:00"] * 50
    fixed = dt.timezone(dt.timedelta(hours=3), "office")
    series = pd.Series(pd.to_datetime(instants))
    for at in (series, series.dt.tz_convert(fixed), series.dt.to_pydatetime(), instants):
        est = tw.DecisionTreeClassifier(calendar=["weekday", "hour"]).fit({"at": at}, [0, 1] * 50)
        assert est.model_.schema.columns[0].zone == "+03:00"
        assert est.score({"at": at}, [0, 1] * 50) == 1.0


def test_two_parts_of_one_name_are_refused_at_fit():
    when = ["2021-03-05", "2021-04-06"] * 20
    with pytest.raises(ColumnError, match=r"the table has a column '1\.month'"):
        tw.DecisionTreeClassifier(calendar=["month"]).fit(pd.DataFrame({1: when, "1": when}), [0, 1] * 20)


@pytest.mark.parametrize("parts", [np.array("month"), np.array(["month"]), pd.Series(["month"]), pl.Series(["month"])])
def test_parts_may_be_an_array_or_a_series(parts):
    assert requested_parts(parts, ["a"])[0].parts == ("month",)


@pytest.mark.parametrize("parts", [np.array([["month"]]), [np.array(["month", "day"])], 3, []])
def test_what_lists_no_parts_is_refused_by_its_name(parts):
    with pytest.raises(ParameterError, match="calendar") as refused:
        requested_parts(parts, ["a"])
    assert refused.value.parameter == "calendar"


def test_isolation_forests_and_trees_count_the_columns_that_they_draw_from():
    X, _ = weekends()
    odd = tw.IsolationForest(n_estimators=3, calendar=["weekday", "hour"], max_features=3, contamination=0.1).fit(X)
    assert {len(columns) for columns in odd.estimators_features_} == {3}
    whole = tw.IsolationForest(n_estimators=2, calendar=["weekday", "hour"], contamination=0.1).fit(X)
    assert [columns.tolist() for columns in whole.estimators_features_] == [[0, 1, 2, 3]] * 2
    assert tw.DecisionTreeRegressor(calendar=["weekday", "hour"]).fit(X, X["age"] % 7).max_features_ == 4


def test_partial_dependence_on_a_date_sets_its_parts_as_well():
    X, _ = weekends()
    target = X["at"].dt.day_of_week + X["at"].dt.hour / 24
    est = tw.DecisionTreeRegressor(calendar=["weekday", "hour"]).fit(X, target)
    days = [pd.Timestamp(2021, 3, day, 12) for day in (1, 4, 6)]

    found = est.partial_dependence(X, "at", grid=[(day - pd.Timestamp(0)) / pd.Timedelta(days=1) for day in days])
    assert found.values[0].tolist() == pytest.approx([est.predict(X.assign(at=day)).mean() for day in days])


def test_signs_are_of_the_columns_of_the_table():
    X, _ = weekends()
    est = tw.DecisionTreeRegressor(calendar=["weekday"], monotonic_cst=[0, 1], max_depth=2)
    est.fit(X, X["age"] % 7)
    with pytest.raises(ParameterError, match="the input data X has 2 features"):
        est.set_params(monotonic_cst=[1]).fit(X, X["age"] % 7)
