"""Hostile cell values: the answer is exact, or one error names the place."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import treewright as tw
from treewright.data.encoder import encode, encode_fit
from treewright.data.target import encode_numbers
from treewright.exceptions import CellTypeError, DataError, DataWarning


def test_extreme_floats_keep_every_bit() -> None:
    values = [1e40, 1.7e308, 5e-324, -0.0, 0.0, np.inf, -np.inf, np.nextafter(1, 2)]

    for X in (
        np.array(values).reshape(-1, 1),
        {"c": values},
        pl.DataFrame({"c": values}),
        [[value] for value in values],
    ):
        assert encode_fit(X)[1].tobytes() == np.array(values).tobytes()


@pytest.mark.parametrize(
    "X",
    [
        np.array([[0, 1], [2**53 + 1, 2]]),
        np.array([[0, 1], [2**64 - 1, 2]], np.uint64),
        np.array([[0, 1], [-(2**63), 2]]),
        [[0, 1], [2**53 + 1, 2]],
        [[0, 1], [10**400, 2]],
        np.array([[0, 1], [2**53 + 1, 2]], object),
    ],
    ids=["int64", "uint64", "lowest", "list", "huge", "object"],
)
def test_integers_that_would_merge_are_refused_with_place_and_remedy(X: object) -> None:
    with pytest.raises(DataError, match=r"column 0 row 1.*beyond 2\*\*53.*nominal"):
        encode_fit(X)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_large_integers_beside_a_null_are_refused_not_rounded(make: type) -> None:
    cells = pd.array([1, None, 2**53 + 1], dtype="Int64") if make is pd.DataFrame else [1, None, 2**53 + 1]

    with pytest.raises(DataError, match=r"column 'id' row 2"):
        encode_fit(make({"id": cells}))


def test_neighbouring_dates_written_as_integers_stay_apart() -> None:
    assert encode_fit(np.array([[20180131], [20180132]]))[1].ravel().tolist() == [20180131, 20180132]


def test_integers_up_to_2_to_the_53_are_exact() -> None:
    assert encode_fit(np.array([[2**53], [-(2**53)]]))[1].ravel().tolist() == [2**53, -(2**53)]


@pytest.mark.parametrize(
    "value",
    [Decimal("1e400"), Decimal("1e-400"), Fraction(10**400), np.longdouble("1e4000")],
    ids=lambda v: type(v).__name__,
)
def test_numbers_beyond_float64_are_refused(value: object) -> None:
    with pytest.raises(DataError, match=r"column 'c' row 1.*range of float64"):
        encode_fit({"c": [1, value]})


def test_long_double_arrays_pass_within_range_and_are_refused_beyond() -> None:
    assert encode_fit(np.array([[1.5], [np.inf]], np.longdouble))[1].ravel().tolist() == [1.5, np.inf]
    if np.finfo(np.longdouble).max > np.finfo(float).max:
        with pytest.raises(DataError, match=r"column 0 row 1"):
            encode_fit(np.array([["1"], ["1e4000"]]).astype(np.longdouble))


def test_every_spelling_of_missing_is_nan() -> None:
    cells = [1.5, None, np.nan, pd.NA, pd.NaT, Decimal("nan"), np.float32("nan"), np.ma.masked]

    schema, matrix = encode_fit({"c": cells})

    assert schema.columns[0].kind == "numeric"
    assert np.isnan(matrix[1:]).all()
    assert matrix[0, 0] == 1.5


def test_empty_and_nan_text_are_ordinary_levels() -> None:
    schema, matrix = encode_fit({"c": ["", "nan", "None", None, np.nan]})

    assert schema.columns[0].levels == ("", "None", "nan")
    assert np.array_equal(matrix.ravel(), [0, 2, 1, np.nan, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    "cell", [{"foo": "bar"}, [1], {1}, np.array([1]), (1, [2])], ids=lambda cell: type(cell).__name__
)
def test_a_cell_that_is_a_container_is_a_type_error_and_a_data_error(cell: object) -> None:
    X = np.empty((3, 1), object)
    X[:, 0] = [1.0, 2.0, cell]

    with pytest.raises(TypeError, match=r"argument must be .* string.* number") as caught:
        encode_fit(X)

    assert isinstance(caught.value, CellTypeError)
    assert "column 0 row 2" in str(caught.value)


@pytest.mark.parametrize("X", [np.array([[1j]]), np.array([[1j]], object), [[1j]], pd.DataFrame({"c": [1j]})])
def test_complex_is_refused(X: object) -> None:
    with pytest.raises(DataError, match=r"Complex data not supported"):
        encode_fit(X)


DAY = dt.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("cells", "family", "days"),
    [
        (pd.Series(pd.to_datetime(["2020-03-29 06:00", None])), "datetime", 18350.25),
        (pd.Series(pd.to_datetime(["2020-03-29 01:00", None])).dt.tz_localize("Europe/Berlin"), "datetime", 18350.0),
        (pd.Series(pd.to_timedelta([3600 * 10**9, None])), "duration", 1 / 24),
        (pd.Series([pd.Timestamp(DAY, tz="UTC"), pd.NaT], dtype=object), "datetime", 18262.0),
        (pl.Series([DAY, None]), "date", 18262.0),
        (pl.Series([dt.time(6), None]), "time", 0.25),
        (np.array(["2020-01-01", "NaT"], "datetime64[ns]"), "date", 18262.0),
        ([DAY, None], "date", 18262.0),
    ],
)
def test_dates_are_days_and_missing_stays_missing(cells: object, family: str, days: float) -> None:
    schema, matrix = encode_fit({"ts": cells})

    assert schema.columns[0].family == family
    assert np.array_equal(matrix[:, 0], [days, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (pd.Series(pd.period_range("2020", periods=2)), r"column 'ts' holds periods.*to_timestamp"),
        (
            pd.Series([pd.Timestamp(DAY, tz="UTC"), pd.Timestamp(DAY)], dtype=object),
            r"column 'ts' row 1: some instants have a time zone",
        ),
        (["text", DAY], r"column 'ts' row 1: .* convert the cells to one type"),
        ([DAY, dt.timedelta(1)], r"column 'ts' row 1: .* convert the cells to one type"),
    ],
)
def test_what_is_no_column_of_dates_is_refused_with_a_remedy(cells: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        encode_fit({"ts": cells})


def test_a_category_of_dates_is_nominal() -> None:
    schema, _ = encode_fit({"ts": pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"])).astype("category")})

    assert (schema.columns[0].kind, schema.columns[0].levels) == ("nominal", ("2020-01-01", "2020-01-02"))


def test_a_date_matrix_is_columns_of_dates() -> None:
    schema, matrix = encode_fit(np.array([["2020-01-01"]], "datetime64[s]"))

    assert (schema.columns[0].family, matrix.tolist()) == ("date", [[18262.0]])


def test_bytes_are_refused_unless_declared_nominal() -> None:
    with pytest.raises(DataError, match=r"column 'c' row 0.*bytes"):
        encode_fit({"c": [b"a", b"b"]})

    assert encode_fit({"c": [b"a", b"b"]}, nominal=["c"])[0].columns[0].levels == (b"a", b"b")


def test_levels_that_a_file_cannot_hold_are_refused_at_fit() -> None:
    with pytest.raises(DataError, match=r"column 'c'.*type object"):
        encode_fit({"c": [object()]}, nominal=["c"])


def test_a_repr_that_raises_does_not_hide_the_message() -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(DataError, match=r"column 'c' row 0: <Hostile>"):
        encode_fit({"c": [Hostile()]})


def test_100_000_distinct_levels_are_coded_in_order() -> None:
    cells = [f"{at:06d}" for at in range(100_000)]

    schema, matrix = encode_fit({"c": cells[::-1]})

    assert schema.columns[0].levels[:2] == ("000000", "000001")
    assert matrix[:, 0].tolist() == list(range(99_999, -1, -1))
    assert encode(schema, {"c": ["099999"]}).item() == 99_999


@pytest.mark.parametrize("kind", [name for name in tw.__all__ if name.endswith("Regressor")])
def test_every_regressor_warns_once_of_targets_that_lose_digits(kind: str) -> None:
    y = pd.Series([2**53, 2**53 + 1, 5, 6] * 3, name="id")
    few = {} if kind.startswith(("KN", "DecisionTree", "ExtraTreeR", "CHAID", "Optimal")) else {"n_estimators": 2}

    with pytest.warns(DataWarning, match="beyond 2") as told:
        getattr(tw, kind)(**few).fit(pd.DataFrame({"a": list("abcd") * 3}), y)

    lost = [str(each.message) for each in told if "beyond 2**53" in str(each.message)]
    assert len(lost) == 1
    assert lost[0].startswith("target 'id' has 3 integer(s) beyond 2**53 that lose digits (first row 1: 90071992547409")


@pytest.mark.parametrize(
    "y",
    [
        np.array([1, -(2**53) - 1]),
        np.array([1, 2**64 - 1], np.uint64),
        [1, 2**70 + 1],
        np.array([1, 2**53 + 1], object),
    ],
    ids=["int64", "uint64", "list", "object"],
)
def test_integers_of_a_target_that_lose_digits_are_named(y: object) -> None:
    with pytest.warns(DataWarning, match=r"y has 1 integer\(s\) .*first row 1: "):
        encode_numbers(y)


def test_large_targets_without_a_lost_digit_are_silent(recwarn: pytest.WarningsRecorder) -> None:
    encode_numbers([2**53, -(2**60), 2**80])
    encode_numbers(np.array([1e300, 2.0**53 + 2]))

    assert not recwarn.list
