"""Columns of dates are ordered numbers of days, the same from every container, and are shown as dates."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from treewright.data.dates import days_of, written_days
from treewright.data.encoder import encode, encode_fit
from treewright.exceptions import ColumnError, DataError

TEXTS = ["2021-03-04", "1969-12-31", None]
DAYS = [18690.0, -1.0]
PLAIN = [None if text is None else dt.date.fromisoformat(text) for text in TEXTS]
SAME = {
    "text": TEXTS,
    "dates": PLAIN,
    "datetimes": [None if day is None else dt.datetime.combine(day, dt.time()) for day in PLAIN],
    "nanoseconds": np.array(TEXTS, "M8[ns]"),
    "days": np.array(TEXTS, "M8[D]"),
    "hours": np.array(TEXTS, "M8[h]"),
    "polars": pl.Series(PLAIN),
    "polars datetime": pl.Series(PLAIN).cast(pl.Datetime("ms")),
    "arrow 32": pa.chunked_array([pa.array(PLAIN, pa.date32())]),
    "arrow 64": pa.chunked_array([pa.array(PLAIN, pa.date64())]),
    "arrow timestamp": pa.chunked_array([pa.array(PLAIN, pa.date32()).cast(pa.timestamp("us"))]),
    "pandas": pd.Series(pd.to_datetime(TEXTS)),
    "pandas arrow": pd.Series(PLAIN, dtype=pd.ArrowDtype(pa.date32())),
    "pandas objects": pd.Series(PLAIN, dtype=object),
}


@pytest.mark.parametrize("held", SAME)
@pytest.mark.parametrize("then", SAME)
def test_a_date_is_the_same_number_of_days_in_every_container(then, held):
    schema, matrix = encode_fit({"day": SAME[then]})

    assert (schema.columns[0].kind, schema.columns[0].family) == ("numeric", "date")
    assert matrix[:2, 0].tolist() == DAYS
    assert np.isnan(matrix[2, 0])
    assert encode(schema, {"day": SAME[held]})[:2, 0].tolist() == DAYS


def test_instants_of_two_zones_are_compared_as_instants_and_shown_in_the_zone_of_the_fit():
    noon = pl.Series([dt.datetime(2021, 3, 4, 12, tzinfo=dt.UTC)])
    schema, matrix = encode_fit({"at": noon.dt.convert_time_zone("Europe/Oslo")})

    assert schema.columns[0].zone == "Europe/Oslo"
    assert matrix.tolist() == [[18690.5]]
    assert encode(schema, {"at": ["2021-03-04T14:00+02:00"]}).tolist() == [[18690.5]]
    assert written_days(18690.5, "datetime", "Europe/Oslo") == "2021-03-04 13:00+01:00"
    with pytest.raises(ColumnError, match=r"in the time zone Europe/Oslo at fit and .* without a time zone now"):
        encode(schema, {"at": ["2021-03-04 12:00"]})


def test_durations_and_times_of_day_are_parts_of_days():
    schema, matrix = encode_fit({"took": [dt.timedelta(hours=36), None], "at": [dt.time(6), dt.time(18)]})

    assert [column.family for column in schema.columns] == ["duration", "time"]
    assert matrix[0].tolist() == [1.5, 0.25]
    assert written_days(-1.5, "duration") == "-1 day 12:00:00"
    assert encode(schema, {"took": np.array([90], "m8[m]"), "at": pl.Series([dt.time(12)])}).tolist() == [[0.0625, 0.5]]


SPANS = [dt.timedelta(hours=6), None, dt.timedelta(days=-1, hours=-12)]


@pytest.mark.parametrize(
    "held",
    [
        SPANS,
        np.array([6, "NaT", -36], "m8[h]"),
        pl.Series(SPANS),
        pd.Series(SPANS, dtype="timedelta64[ns]"),
        pd.Series(SPANS, dtype=pd.ArrowDtype(pa.duration("ms"))),
        pa.chunked_array([pa.array(SPANS, pa.duration("s"))]),
        ["PT6H", None, "-P1DT12H"],
        ["0 days 06:00:00", None, "-2 days +12:00:00"],  # as pandas writes them
        ["0 days 06:00:00", None, "-1 day 12:00:00"],  # as models show them
    ],
    ids=["objects", "numpy", "polars", "pandas", "pandas arrow", "arrow", "ISO text", "text of pandas", "own text"],
)
def test_a_duration_is_the_same_number_of_days_in_every_container(held):
    schema, matrix = encode_fit({"took": held})

    assert (schema.columns[0].kind, schema.columns[0].family) == ("numeric", "duration")
    assert matrix[[0, 2], 0].tolist() == [0.25, -1.5]
    assert np.isnan(matrix[1, 0])


def test_a_list_of_dicts_holds_dates_too():
    schema, matrix = encode_fit([{"day": dt.date(1970, 1, 2)}, {"day": dt.date(1970, 1, 3)}])

    assert schema.columns[0].family == "date"
    assert matrix.tolist() == [[1.0], [2.0]]


def test_text_of_times_of_day_is_read_as_them():
    schema, matrix = encode_fit({"at": ["06:00", "18:00:00", None]})

    assert schema.columns[0].family == "time"
    assert matrix[:2].tolist() == [[0.25], [0.75]]
    assert encode(schema, {"at": [dt.time(12)]}).tolist() == [[0.5]]
    with pytest.raises(ColumnError, match=r"held time cells at fit and holds string cells now \(row 1: '26:30'"):
        encode(schema, {"at": ["06:00", "26:30"]})


@pytest.mark.parametrize(
    "other", ["26:30", "6:30", "2021-03-04", "1 day", "P1Y", "P", "PT", "noon", "9" * 30 + " days"]
)
def test_one_text_of_another_sort_keeps_a_column_of_times_nominal(other):
    assert encode_fit({"at": ["06:00", other]})[0].columns[0].kind == "nominal"


@pytest.mark.parametrize("year", [1821, 1970, 2024, 2118])
def test_a_microsecond_reads_back_as_itself(year):
    moment = dt.datetime(year, 12, 31, 23, 59, 58, 123457)  # noqa: DTZ001 - naive on purpose

    assert written_days(days_of(moment)[1], "datetime") == f"{year}-12-31 23:59:58.123457"


@pytest.mark.parametrize("text", ["03/04/2021", "2021", "never"])
def test_text_that_is_no_iso_date_keeps_a_column_nominal_and_is_refused_where_dates_were(text):
    assert encode_fit({"day": ["2021-03-04", text]})[0].columns[0].kind == "nominal"
    schema, _ = encode_fit({"day": TEXTS})
    with pytest.raises(ColumnError, match=rf"row 1: '{text}'"):
        encode(schema, {"day": ["2021-03-04", text]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2021-02-30", r"is not a date \(there is no such day\), though 59 of 60 cells are"),
        ("0000-00-00", r"is not a date \(years are 1 to 9999\)"),
        ("2021-03-05T24:00", r"is not a date \(hours are 00 to 23"),
        ("2021-03-05T10:60", r"is not a date \(minutes are"),
        ("2016-12-31T23:59:60", r"is not a date \(seconds are 00 to 59, without leap seconds"),
        ("2021-03-05 10:00:00.1234567891", r"is not a date \(at most 9 decimals"),
        ("9999-12-31T23:00-05:00", r"is not a date \(in UTC it is not within the years 1 to 9999"),
        ("0001-01-01T00:00+05:00", r"is not a date \(in UTC it is not within the years 1 to 9999"),
        ("2021-03-05T10:00Z", r"has a time zone, though 59 of 60 cells have none"),
        ("14:30", r"is not a date, though 59 of 60 cells are"),
        ("never", r"is not a date, though 59 of 60 cells are"),
    ],
)
def test_the_one_text_that_is_no_date_is_named_with_its_fault(text, message):
    days = [f"2021-{1 + at % 12:02}-{1 + at % 28:02}" for at in range(60)]
    days[37] = text

    message = rf"column 'day' row 37: '{text.replace('+', '.')}' {message}"
    with pytest.raises(DataError, match=rf"{message}.*nominal=\['day'\]") as refused:
        encode_fit({"day": days})
    assert (refused.value.row, refused.value.column) == (37, "day")
    with pytest.raises(DataError, match=message):
        encode_fit(pd.DataFrame({"day": days}), numeric=["day"])
    assert encode_fit({"day": days}, nominal=["day"])[0].columns[0].kind == "nominal"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["2021-02-30"], r"'2021-02-30' is not a date \(there is no such day\): fix"),
        (["06:00"] * 9 + ["24:00"], "row 9: '24:00' is not a time of day, though 9 of 10"),
        (["P1D"] * 9 + ["long"], "row 9: 'long' is not a duration, though 9 of 10"),
        (["2021-03-04T10:00Z", "2021-03-04T10:00"], "row 1: .* has no time zone, though 1 of 2 cells have one"),
    ],
)
def test_nine_of_ten_cells_make_a_column_of_dates_or_times(texts, message):
    with pytest.raises(DataError, match=message):
        encode_fit({"at": texts})
    assert encode_fit({"at": [*texts, *["name"] * 9]})[0].columns[0].kind == "nominal"


def test_years_beyond_the_calendar_of_utc_are_refused_of_objects_too():
    beyond = dt.datetime(9999, 12, 31, 23, tzinfo=dt.timezone(dt.timedelta(hours=-5)))
    with pytest.raises(DataError, match="'at' row 1: 9999-12-31 23:00:00-05:00 is not within the years 1 to 9999 of"):
        encode_fit({"at": [None, beyond]})


def test_what_is_wrong_with_dates_at_predict_is_named_as_it_is_written():
    schema, _ = encode_fit({"at": ["2021-03-04T10:00", "2021-03-05T10:00"]})

    with pytest.raises(ColumnError, match="row 1: '2021-03-05T10:00Z' has a time zone, though 2 of 3 cells have none"):
        encode(schema, {"at": ["2021-03-04T10:00", "2021-03-05T10:00Z", "2021-03-06T10:00"]})
    with pytest.raises(ColumnError, match=r"row 1: '2021-02-30' is not a date \(there is no such day"):
        encode(schema, {"at": ["2021-03-04T10:00", "2021-02-30"]})
    with pytest.raises(ColumnError, match=r"row 0: 05:00\)"):
        encode(schema, {"at": [dt.time(5)]})
    numbers, _ = encode_fit({"at": [1.5, 2.5]})
    with pytest.raises(ColumnError, match=r"held number cells at fit and .* \(row 1: 2021-03-04 12:00"):
        encode(numbers, {"at": [None, dt.datetime(2021, 3, 4, 12)]})  # noqa: DTZ001 - naive on purpose


def test_dates_that_are_declared_nominal_are_levels_of_text():
    schema, _ = encode_fit({"day": PLAIN}, nominal=["day"])

    assert schema.columns[0].levels == ("1969-12-31", "2021-03-04")
    assert encode(schema, {"day": ["2021-03-04"]}).tolist() == [[1.0]]


def test_numbers_in_place_of_dates_and_mixed_zones_are_refused():
    schema, _ = encode_fit({"day": TEXTS})
    with pytest.raises(ColumnError, match="held date cells such as 2021-03-05 at fit and holds number cells now"):
        encode(schema, {"day": [18690.0]})
    aware = dt.datetime(2021, 3, 4, tzinfo=dt.UTC)
    with pytest.raises(DataError, match="row 1: some instants have a time zone"):
        encode_fit({"day": [aware, aware.replace(tzinfo=None)]})
