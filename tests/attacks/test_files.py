"""Hostile files. Every one gives the right table, or one error that names the file, the line and the remedy."""

from __future__ import annotations

import gzip
import os
import struct

import numpy as np
import polars as pl
import pytest

from treewright.cli.terminal import worded
from treewright.exceptions import ColumnError, DataWarning, InputFileError, ParameterError
from treewright.files import text
from treewright.files.table import read_table
from treewright.files.text import ReadOptions, open_delimited

AS_IT_IS = ReadOptions()


@pytest.fixture
def read(tmp_path):
    def read_bytes(content, name="table.csv", options=AS_IT_IS, **choices):
        path = tmp_path / name
        path.write_bytes(content)
        with worded():  # as the command tells them
            return read_table(path, options, **choices)

    return read_bytes


def rows(table):
    return table.frame.rows()


# ---------------------------------------------------------------------------------------------- encodings, line ends


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("a,b\n1,é\n2,z\n".encode("utf-8-sig"), id="byte order mark"),
        pytest.param("a,b\n1,é\n2,z\n".encode("utf-16"), id="utf-16"),
        pytest.param(b"\xfe\xff" + "a,b\n1,é\n2,z\n".encode("utf-16-be"), id="utf-16 big-endian"),
        pytest.param("a,b\n1,é\n2,z\n".encode("utf-32"), id="utf-32"),
        pytest.param("a,b\r\n1,é\r\n2,z\r\n".encode(), id="crlf"),
        pytest.param("a,b\r1,é\r2,z\r".encode(), id="lone cr"),
        pytest.param("a,b\n1,é\n2,z".encode(), id="no final newline"),
        pytest.param("\n\na,b\n\n1,é\n\n2,z\n\n".encode(), id="blank lines"),
        pytest.param('"a","b"\n"1","é"\n2,"z"\n'.encode(), id="quoted"),
        pytest.param("a;b\n1;é\n2;z\n".encode(), id="semicolons"),
        pytest.param("a\tb\n1\té\n2\tz\n".encode(), id="tabs"),
        pytest.param("a|b\n1|é\n2|z\n".encode(), id="bars"),
        pytest.param(" a , b \n 1 ,é\n 2 ,z\n".encode(), id="blanks around names and numbers"),
        pytest.param(gzip.compress("a,b\n1,é\n2,z\n".encode()), id="gzip"),
    ],
)
def test_every_way_to_write_the_same_table_is_read_the_same(read, content):
    table = read(content)

    assert table.frame.columns == ["a", "b"]
    assert rows(table) == [(1, "é"), (2, "z")]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_where_blocks_end_changes_nothing(read, monkeypatch, size):
    content = '\n"a","b"\r\n1,"x\r\ny"\r\n2,"say ""hi"""\r\n\r\n,"é"\r\n'.encode()
    whole = read(content)
    monkeypatch.setattr(text, "BLOCK_BYTES", size)

    cut = read(content, "again.csv")

    assert rows(whole) == [(1, "x\ny"), (2, 'say "hi"'), (None, "é")]
    assert rows(cut) == rows(whole)
    assert cut.lines.tolist() == whole.lines.tolist() == [3, 5, 7]


def test_latin_1_is_refused_with_its_line_and_read_when_named(read):
    content = "a,b\n1,x\n2,é\n".encode("latin-1")

    with pytest.raises(InputFileError, match=r"table\.csv:3: byte 0xE9 is not UTF-8.*--encoding latin-1"):
        read(content)
    assert rows(read(content, options=ReadOptions(encoding="latin-1"))) == [(1, "x"), (2, "é")]


@pytest.mark.parametrize("name", ["no-such-encoding", "rot13", "base64", "zlib"])
def test_an_unknown_encoding_is_refused(read, name):
    with pytest.raises(InputFileError, match=f"--encoding {name}: unknown"):
        read(b"a,b\n1,2\n", options=ReadOptions(encoding=name))


def test_a_wrong_encoding_is_refused(read):
    with pytest.raises(InputFileError, match="is not ascii text"):
        read("a,b\n1,é\n".encode(), options=ReadOptions(encoding="ascii"))


def test_a_nul_byte_is_refused_with_its_line(read):
    with pytest.raises(InputFileError, match=r"table\.csv:3: a NUL byte"):
        read(b"a,b\n1,x\n2,\0\n")


def test_utf_16_without_a_mark_is_refused_with_a_hint(read):
    with pytest.raises(InputFileError, match="--encoding utf-16"):
        read("a,b\n1,2\n".encode("utf-16-le"))


# ------------------------------------------------------------------------------------------------- shape of the table


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n\n\n", "only blank lines"),
        (b"a,b\n", "no rows"),
        (b"a,b", "no rows"),
        (b"a,b\n1,2\n3\n", r":3: 1 cell where the header has 2"),
        (b"a,b\n1,2\n3,4,5\n6\n", r":3: 3 cells where the header has 2 \(and in 1 other"),
        (b'a,b\n1,"x\n2,y\n', r":2: the quote that opens here never closes"),
        (b'a,b\n1,"x\n2,y\n3,"z"\n', r":4: text after the closing quote of the cell that opens on line 2"),
        (b'a,b\n1,x"y"\n', r":2: a quote in the middle of a cell"),
        (b'a,b\n1,"x"y\n', r":2: text after the closing quote of the cell that opens on line 2"),
        (b'a,b\n1,"x""y"z\n', r":2: text after the closing quote of the cell that opens on line 2"),
        (b'a,"b\n1,2\n', r":1: a quote in the header never closes"),
        (b"a,b,a\n1,2,3\n", "column name 'a' occurs more than once"),
        (b"a, a\n1,2\n", "column name 'a' occurs more than once"),
    ],
)
def test_a_table_of_the_wrong_shape_is_refused_with_its_line(read, content, message):
    with pytest.raises(InputFileError, match=message):
        read(content)


def test_quotes_within_cells_are_read(read):
    table = read(b'a,b\n"x ""q"" y",1\n"""",2\n"",3\n"a,b",4\n')

    assert rows(table) == [('x "q" y', 1), ('"', 2), (None, 3), ("a,b", 4)]


def test_lines_are_counted_through_quoted_newlines(read):
    with pytest.raises(InputFileError, match=r":6: 3 cells"):
        read(b'a,b\n1,"x\ny\nz"\n2,u\n3,4,5\n')


def test_a_quote_that_never_closes_does_not_swallow_memory(read, monkeypatch):
    monkeypatch.setattr(text, "_LONGEST_RECORD", 1000)
    monkeypatch.setattr(text, "BLOCK_BYTES", 100)

    with pytest.raises(InputFileError, match=r":2: the record that begins here is longer"):
        read(b'a,b\n1,"' + b"x,y\n" * 1000)


def test_many_newlines_in_a_quoted_header_are_read_quickly(read):
    with pytest.raises(InputFileError, match="never closes"):
        read(b'a,"' + b"\n" * 2_000_000)


# --------------------------------------------------------------------------------------------------- no ordinary file


@pytest.mark.parametrize("name", [b"a" * 200_000, b'"' + b"a\n" * 100_000 + b'"'])
def test_an_enormous_column_name_is_refused_with_its_line(read, name):
    with pytest.raises(InputFileError, match=r":2: a column name in the header is longer than 131,072 characters"):
        read(b"\n" + name + b",y\n1,2\n")


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(InputFileError, match="no such file"):
        read_table(tmp_path / "absent.csv", ReadOptions())
    with pytest.raises(InputFileError, match="there is no Parquet file or text table"):
        read_table(tmp_path, ReadOptions())
    with pytest.raises(InputFileError, match="is a pipe or a device"):
        read_table(tmp_path / "pipe", ReadOptions())
    with pytest.raises(InputFileError, match="is a pipe or a device"):
        read_table(tmp_path / "/dev/zero", ReadOptions())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04rest", "zip archive or a spreadsheet"),
        (b"\x80\x04\x95rest", "pickle, which is never read"),
        (b"\xfd7zXZ\x00", "xz-compressed"),
        (b"\x1f\x8b\x08\x00junk", "gzip file is damaged"),
        (gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:-9], "gzip file is damaged"),
    ],
)
def test_files_of_another_kind_are_named(read, content, message):
    with pytest.raises(InputFileError, match=message):
        read(content)


def test_a_gzip_bomb_is_refused_while_it_unpacks(read, monkeypatch):
    monkeypatch.setattr(text, "_ALWAYS_INFLATED", 1 << 20)

    with pytest.raises(InputFileError, match="grows more than 200 times"):
        read(gzip.compress(b"a,b\n" + b"1,2\n" * 2_000_000, mtime=0))


# ------------------------------------------------------------------------------------------------------------- types


def test_types_are_decided_on_the_whole_file(read):
    late = b"".join([b"n,f,t\n", b"1,2,3\n" * 10_000, b"2,1.5,4\n", b",,5\n"])

    table = read(late)

    assert table.frame.schema == {"n": pl.Int64, "f": pl.Float64, "t": pl.Int64}
    assert table.frame["f"][10_000] == 1.5
    assert rows(table)[-1] == (None, None, 5)


def test_many_columns_take_no_more_steps_of_polars_than_few(read, monkeypatch):
    steps = []
    names, collect = pl.DataFrame.columns.fget, pl.LazyFrame.collect
    monkeypatch.setattr(pl.DataFrame, "columns", property(lambda frame: steps.append("names") or names(frame)))
    monkeypatch.setattr(pl.LazyFrame, "collect", lambda *args, **given: steps.append("run") or collect(*args, **given))
    taken = []
    for n_columns in (4, 400):
        steps.clear()
        lines = [",".join(f"{sign}{at}" for at in range(n_columns)) for sign in ("c", "1", "+2", "0.")]
        table = read("\n".join(lines).encode() + b"\n")
        assert table.frame.dtypes == [pl.Float64] * n_columns
        taken.append(len(steps))
    assert taken[0] == taken[1]


def test_a_word_late_in_a_numeric_column_is_refused_with_its_line(read):
    content = b"price,q\n" + b"1,2\n" * 10_000 + b"1.5,2\n" + b"n/a,2\n" + b"abc,2\n"

    with pytest.raises(InputFileError, match=r":10003: column 'price': 'n/a' is not a number.*--missing-tokens n/a"):
        read(content)
    with pytest.raises(InputFileError, match=r":10004: column 'price': 'abc'.*--types price=nominal"):
        read(content, options=ReadOptions(missing_tokens=("n/a",)))
    assert read(content, options=ReadOptions(missing_tokens=("n/a", "abc"))).frame["price"].null_count() == 2
    assert read(content, declared={"price": "text"}).frame["price"].dtype == pl.String


def test_a_day_that_there_is_not_is_refused_with_its_line(read):
    content = b"sold,q\n" + b"2021-03-04,2\n" * 50 + b"2021-02-30,2\n" + b" 2021-03-05 ,2\n,2\nnever,3\n"

    with pytest.raises(
        InputFileError,
        match=r":52: column 'sold': '2021-02-30' is not a date \(there is no such day\), though 51 of 53 cells are: .*"
        r"--missing-tokens 2021-02-30.*--types sold=nominal",
    ):
        read(content)
    with pytest.raises(InputFileError, match=r":55: column 'sold': 'never' is not a date, though 51 of 52"):
        read(content, options=ReadOptions(missing_tokens=("2021-02-30",)))
    assert read(content, declared={"sold": "text"}).frame["sold"][50] == "2021-02-30"
    assert read(content + b"name,1\n" * 9).frame["sold"].dtype == pl.String


def test_times_with_and_without_a_zone_are_refused_with_the_line_of_the_rarer(read):
    content = b"at,q\n2021-03-04T10:00,1\n2021-03-05T10:00Z,2\n2021-03-05T10:00,2\n"

    with pytest.raises(InputFileError, match=r":3: column 'at': '2021-03-05T10:00Z' has a time zone, though 2 of 3"):
        read(content)


def test_ids_with_leading_zeros_stay_text(read):
    assert read(b"id,x\n00123,1\n456,2\n").frame["id"].to_list() == ["00123", "456"]


@pytest.mark.parametrize(
    ("cells", "last"),
    [
        pytest.param([f"{at * 3 + 0.5}" for at in range(120)] + ["007.5"], 7.5, id="one padded price"),
        pytest.param([f"{17 + at % 90}" for at in range(400)] + ["045"], 45, id="one padded age"),
        pytest.param([f"{100 + at}" for at in range(400)] + ["045"], 45, id="one padded age of the width of the rest"),
        pytest.param(["10.5", "01.5", "00.5"], 0.5, id="decimals of one width"),
        pytest.param(["1e3", "005"], 5.0, id="a power of ten beside a padded cell"),
    ],
)
def test_a_padded_cell_among_numbers_is_a_number(read, cells, last):
    column = read(("x,y\n" + "".join(f"{cell},1\n" for cell in cells)).encode()).frame["x"]

    assert column.dtype.is_numeric()
    assert column[-1] == last


def test_a_date_among_padded_ages_is_refused_with_its_line(read):
    content = ("age,y\n" + "".join(f"{17 + at % 90},1\n" for at in range(400)) + "045,1\n01/02/2020,1\n").encode()

    with pytest.raises(InputFileError, match=r":403: column 'age': '01/02/2020' is not a number, though 401 of 402"):
        read(content)


def test_padded_numbers_of_one_length_are_refused_unless_most_are_padded(read):
    mostly, seldom = b"zip,y\n" + b"02134,1\n10001,2\n" * 9, b"zip,y\n" + b"02134,1\n" + b"10001,2\n" * 9

    assert read(mostly).frame["zip"][0] == "02134"
    with pytest.raises(InputFileError, match=r":2: column 'zip': '02134' is padded .* 1 of 10 .*--types zip=nominal"):
        read(seldom)
    assert read(seldom, declared={"zip": "number"}).frame["zip"][0] == 2134


def test_zero_and_fractions_are_no_ids(read):
    assert read(b"x,y\n0,1\n0.5,2\n-0.25,3\n").frame["x"].to_list() == [0.0, 0.5, -0.25]


def test_na_is_text_unless_it_is_said_to_mean_missing(read):
    content = b"country,x\nNA,1\nFR,2\n"

    assert read(content).frame["country"].to_list() == ["NA", "FR"]
    assert read(content, options=ReadOptions(missing_tokens=("NA",))).frame["country"].to_list() == [None, "FR"]


def test_the_words_nan_and_null_are_text(read):
    assert read(b"w,x\nnan,1\nnull,2\nNone,3\n").frame["w"].to_list() == ["nan", "null", "None"]


def test_powers_of_ten_and_infinities_are_numbers(read):
    assert read(b"x,y\n1e5,1\n-inf,2\n+2,3\n.5,4\n").frame["x"].to_list() == [1e5, -np.inf, 2.0, 0.5]


def test_a_number_beyond_float64_is_not_quietly_infinite(read):
    with pytest.raises(InputFileError, match=r":32: column 'x': '1e999' is not a number"):
        read(b"x,y\n" + b"1,2\n" * 30 + b"1e999,2\n")


@pytest.mark.parametrize("word", ["1180591620717411303424", "9007199254740993", "-9007199254740993"])
def test_integers_that_float64_cannot_tell_apart_are_refused(read, word):
    with pytest.raises(InputFileError, match=rf":3: column 'id': '{word}' is at or beyond 2\^53.*--drop id"):
        read(f"id,x\n1,1\n{word},2\n".encode())
    assert read(f"id,x\n1,1\n{word},2\n".encode(), declared={"id": "text"}).frame["id"][1] == word
    assert read(f"id,x\n1,1\n{word},2\n".encode(), leave_out=["id"]).frame.columns == ["x"]


def test_true_and_false_are_booleans_and_yes_is_text(read):
    table = read(b"b,w\nTrue,yes\nfalse,no\n,yes\nTRUE,no\n")

    assert table.frame["b"].to_list() == [True, False, None, True]
    assert table.frame["w"].dtype == pl.String


def test_thousands_separators_are_refused(read):
    with pytest.raises(InputFileError, match=r":3: column 'p': '1,234' seems to hold thousands separators"):
        read(b'p,q\n12,1\n"1,234",1\n"12,345.5",2\n')


def test_a_comma_is_the_decimal_mark_between_semicolons(read):
    assert read(b"a;b\n1,5;x\n-0,25;y\n2;z\n").frame["a"].to_list() == [1.5, -0.25, 2.0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("p;y\n2.155;1\n999;2\n", r":2: column 'p': '2\.155' may be 2155 or 2\.155, .*--thousands \. or --decimal \."),
        ("p;y\n1,250;1\n3;2\n", r":2: column 'p': '1,250' may be 1250 or 1\.250, .*--thousands , or --decimal ,"),
        ("p;y\n999;1,5\n2.155;2\n", r":3: column 'p': '2\.155' seems to hold thousands .*--thousands \."),
        ("p;y\n999;1\n1.234.567;2\n", r":3: column 'p': '1\.234\.567' seems to hold thousands .*--thousands \."),
        ("p;y\n1.234,5;1\n2;2\n", r":2: column 'p': '1\.234,5' seems to hold thousands .*--thousands \."),
        ("p;y\n1,5;1\n2.5;2\n", r":3: column 'p': '2\.5' and '1,5' in column 'p' \(line 2\) have different decimal"),
        ("p;y\n1,5;0.5\n2;2\n", r":2: .*have different decimal marks"),
        ("p\ty\n1,5\t1\n2,25\t2\n", r":2: column 'p': '1,5' has a decimal comma, .*--decimal ,"),
        ("p,y\n1'250,1\n999,2\n", r""":2: column 'p': "1'250" seems to hold thousands .*--thousands '"""),
        ("p;y\n1\u00a0250,5;1\n999;2\n", r":2: column 'p': .* seems to hold thousands .*--thousands space"),
    ],
)
def test_a_number_that_may_mean_two_things_is_refused_with_its_line_and_the_option(read, content, message):
    with pytest.raises(InputFileError, match=message):
        read(content.encode())


@pytest.mark.parametrize(
    ("content", "options", "numbers"),
    [
        ("p;y\n2.155;1\n999;2\n", {"thousands": "."}, [2155, 999]),
        ("p;y\n2.155;1\n999;2\n", {"decimal": "."}, [2.155, 999]),
        ("p;y\n1.234.567,25;1\n-2,5;2\n", {"thousands": "."}, [1234567.25, -2.5]),
        ("p;y\n1,250;1\n0,5;2\n", {}, [1.25, 0.5]),
        ("p;y\n1.250;1\n0.5;2\n", {}, [1.25, 0.5]),
        ("p;y\n1'250;1,5\n999;2\n", {"thousands": "'"}, [1250, 999]),
        ("p;y\n1\u00a0250,5;1\n1 000;2\n", {"thousands": "space"}, [1250.5, 1000]),
        ("p\ty\n1,5\t1\n2\t2\n", {"decimal": ","}, [1.5, 2]),
        ('p,y\n"1,250",1\n"12,345.5",2\n', {"thousands": ","}, [1250, 12345.5]),
        ("p,y\n2.155,1\n999,2\n", {}, [2.155, 999]),
    ],
)
def test_marks_are_those_of_the_file_or_of_the_options(read, content, options, numbers):
    assert read(content.encode(), options=ReadOptions(**options)).frame["p"].to_list() == numbers


def test_a_date_format_makes_dates_of_text_and_names_the_cell_that_is_none(read):
    content, options = b"sold,y\n" + b"13/04/2020,1\n" * 20, ReadOptions(date_format="%d/%m/%Y")

    assert read(content, options=options).frame["sold"][0] == "2020-04-13"
    with pytest.raises(InputFileError, match=r":22: column 'sold': '31/02/2020' is not a date, though 20 of 21"):
        read(content + b"31/02/2020,1\n", options=options)
    with pytest.raises(InputFileError, match=r":22: column 'sold': '13/04/20' is not a date"):
        read(content + b"13/04/20,1\n", options=options)


def test_lines_around_the_table_are_left_out_and_still_counted(read):
    content = b'Report\n"made today\n\na;b\n1,5;x\n2;y\n\nTotal;"2\n\nend\n\n'

    table = read(content, options=ReadOptions(skip_rows=3, skip_footer=2))

    assert rows(table) == [(1.5, "x"), (2.0, "y")]
    assert table.lines.tolist() == [5, 6]
    with pytest.raises(InputFileError, match="fewer lines than --skip-footer 9"):
        read(b"a,b\n1,2\n", options=ReadOptions(skip_footer=9))
    with pytest.raises(InputFileError, match="has 2 lines, so that --skip-rows 9 leaves no header: leave out fewer"):
        read(b"a,b\n1,2\n", options=ReadOptions(skip_rows=9))
    with pytest.raises(InputFileError, match="has 1 line, so that"):
        read(b"a,b", options=ReadOptions(skip_rows=2))


def test_a_line_that_names_the_separator_is_understood(read):
    table = read(b"\xef\xbb\xbfsep=;\r\na,x;b\r\n1;2\r\n")

    assert table.frame.columns == ["a,x", "b"]
    assert (rows(table), table.lines.tolist()) == ([(1, 2)], [3])


@pytest.mark.parametrize("size", [1, 5])
def test_where_blocks_end_changes_nothing_of_what_is_left_out(read, monkeypatch, size):
    monkeypatch.setattr(text, "BLOCK_BYTES", size)

    table = read(b"first\nsep=;\na;b\n1;2\n3;4\nlast\n\n", options=ReadOptions(skip_rows=1, skip_footer=1))

    assert (rows(table), table.lines.tolist()) == ([(1, 2), (3, 4)], [4, 5])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": ";"}, "--decimal ;: give"),
        ({"thousands": "12"}, "--thousands 12: give one character"),
        ({"thousands": ",", "decimal": ","}, "is the decimal mark too"),
        ({"date_format": "%H:%M"}, "--date-format %H:%M: name day, month and year"),
        ({"skip_rows": -1}, "--skip-rows -1: give a number of lines"),
        ({"separator": ";;"}, "--separator ;;: give one character"),
        ({"missing_tokens": 3}, "--missing-tokens 3: give a list of texts"),
    ],
)
def test_options_of_reading_that_mean_nothing_are_refused(options, message):
    with pytest.raises(ParameterError, match=message), worded():
        ReadOptions(**options)


def test_one_missing_token_is_a_token_and_not_its_letters(read):
    table = read(b"a,b\nN,1\nNA,2\n", options=ReadOptions(missing_tokens="NA"))

    assert rows(table) == [("N", 1), (None, 2)]


@pytest.mark.parametrize("content", [b"a,b\n1,2,\n3,4,\n", b"a,b,\n1,2\n3,4\n"])
def test_a_separator_at_the_end_of_some_lines_is_named_as_a_cause(read, content):
    with pytest.raises(InputFileError, match="if lines end with a separator, all must"):
        read(content)


@pytest.mark.parametrize(("content", "n"), [("a,b,\n1,2,\n3,4,\n", "1 column"), ("a;b;;\n1;2;;\n3;4;;\n", "2 columns")])
def test_columns_without_a_name_and_without_a_cell_are_left_out_with_a_word(read, content, n):
    with pytest.warns(DataWarning, match=f"{n} without a name and without a cell"):
        table = read(content.encode())

    assert table.frame.columns == ["a", "b"]
    assert rows(table) == [(1, 2), (3, 4)]


def test_a_column_without_a_name_that_holds_cells_stays_unless_there_are_two(read):
    with pytest.warns(DataWarning, match="1 column without a name"):
        assert rows(read(b",a,\n7,1,\n8,2,\n")) == [(7, 1), (8, 2)]
    with pytest.raises(InputFileError, match=r":3: column 3 has no name, like one before it, and holds 'x'"):
        read(b",a,\n7,1,\n8,2,x\n")


def test_a_level_with_a_fraction_of_zeros_is_the_level_without(read):
    with pytest.warns(DataWarning, match=r":3: column 'code': '1010.0' is read as the level '1010' \(2 such cells\)"):
        assert read(b"code,y\n1010,1\n1010.0,2\nA,3\n7.0,4\n").frame["code"].to_list() == ["1010", "1010", "A", "7"]
    assert read(b"version,y\n1.1,1\n1.10,2\n2.x,3\n").frame["version"].to_list() == ["1.1", "1.10", "2.x"]


def test_an_empty_column_is_numeric_and_missing(read):
    column = read(b"a,b\n,1\n,2\n").frame["a"]

    assert column.dtype.is_numeric()
    assert column.null_count() == 2


def test_a_column_declared_numeric_that_is_not_is_refused_with_its_line(read):
    with pytest.raises(InputFileError, match=r":3: column 'a': 'x' is not a number \(2 such cells\)"):
        read(b"a,b\n1,1\nx,2\ny,3\n", declared={"a": "number"})


def test_a_column_that_is_not_there_is_refused_with_the_nearest_name(read):
    with pytest.raises(ColumnError, match=r"no column 'Incme': did you mean 'income'\? \(the columns are: age"):
        read(b"age,income\n1,2\n", required=["Incme"])


ODD_NAMES = [
    "é",
    "e\u0301",
    "😀",
    "x" * 10_000,
    "a b",
    "'",
    "=1+1",
    "<img src=x>",
    "",
    "*",
    "^.*$",
    "^t$",
    "a:b",
    "count",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_text_is_a_column_name(read, name):
    assert read(f"{name},t\n1,2\n".encode()).frame.columns == [name, "t"]


@pytest.mark.filterwarnings("ignore:.*without a name and without a cell")
def test_random_bytes_give_a_table_or_one_error(read):
    letters = np.frombuffer(b"ab1,\n" * 8 + b'.;"\r\t \0\xe9\xef', np.uint8)
    stream = np.random.default_rng(0)
    tables, refusals = [], []
    for _ in range(1500):
        content = b"a,b\n" * bool(stream.integers(2)) + stream.choice(letters, stream.integers(1, 30)).tobytes()
        try:
            tables.append(read(content))
        except InputFileError as error:
            refusals.append(str(error))

    assert min(len(tables), len(refusals)) > 50
    assert all(table.frame.height == len(table.lines) for table in tables)
    assert all("table.csv" in refusal for refusal in refusals)


def test_sound_tables_are_read_as_the_standard_library_reads_them(tmp_path):
    import csv

    stream = np.random.default_rng(1)
    cells = np.array(["x", "", 'say "hi"', "two\nlines", "a,b", " ", "é", "1", "00", "'"], object)
    for _ in range(60):
        table = stream.choice(cells, (int(stream.integers(1, 8)), 3)).tolist()
        path = tmp_path / "table.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([["a", "b", "c"], *table])

        _, blocks = open_delimited(path, ReadOptions())
        read = [row for block in blocks for row in block.frame.rows()]

        assert read == [tuple(cell if cell.strip() else None for cell in row) for row in table]


# ----------------------------------------------------------------------------------------------------------- parquet


def test_parquet_keeps_its_types(tmp_path):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"a": [1, None], "b": ["00", "NA"], "c": [True, False], "d": [0.5, 1.5]}).write_parquet(path)

    table = read_table(path, ReadOptions(missing_tokens=("NA",)))

    assert rows(table) == [(1, "00", True, 0.5), (None, None, False, 1.5)]


@pytest.mark.parametrize("keep", [0.0, 0.01, 0.5, 0.9, 0.999])
def test_truncated_parquet_is_one_error(tmp_path, keep):
    whole, path = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    pl.DataFrame({"a": range(1000), "b": [str(i) for i in range(1000)]}).write_parquet(whole)
    content = whole.read_bytes()
    path.write_bytes(content[: max(4, int(keep * len(content)))])

    with pytest.raises(InputFileError, match=r"cut\.parquet: is not a complete, readable Parquet file"):
        read_table(path, ReadOptions())


def test_parquet_with_a_lying_footer_is_one_error(tmp_path):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"a": range(100)}).write_parquet(path)
    content = bytearray(path.read_bytes())
    content[-8:-4] = struct.pack("<I", 2**31 - 1)
    path.write_bytes(bytes(content))

    with pytest.raises(InputFileError, match="not a complete, readable Parquet file"):
        read_table(path, ReadOptions())


def test_damaged_parquet_is_a_table_or_one_error(tmp_path):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"a": range(200), "b": ["x", "y"] * 100}).write_parquet(path)
    whole = path.read_bytes()
    stream = np.random.default_rng(0)
    refusals = []
    for _ in range(150):
        damaged = bytearray(whole)
        damaged[stream.integers(len(whole))] ^= 1 << int(stream.integers(8))
        path.write_bytes(bytes(damaged))
        try:
            read_table(path, ReadOptions())
        except InputFileError as error:
            refusals.append(str(error))

    assert len(refusals) > 10
    assert all("table.parquet" in refusal for refusal in refusals)


@pytest.mark.parametrize("cells", [[[1], [2]], [{"x": 1}, {"x": 2}], [b"a", b"b"]], ids=["list", "struct", "binary"])
def test_parquet_columns_that_are_not_flat_are_refused_by_name(tmp_path, cells):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"fine": [1, 2], "deep": cells}).write_parquet(path)

    with pytest.raises(InputFileError, match="column 'deep' holds"):
        read_table(path, ReadOptions())
    assert read_table(path, ReadOptions(), leave_out=["deep"]).frame.columns == ["fine"]


def test_parquet_without_rows_is_refused(tmp_path):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"a": []}, schema={"a": pl.Int64}).write_parquet(path)

    with pytest.raises(InputFileError, match="no rows"):
        read_table(path, ReadOptions())


def test_a_csv_named_parquet_is_one_error(read):
    with pytest.raises(InputFileError, match="not a complete, readable Parquet file"):
        read(b"a,b\n1,2\n", name="table.parquet")


def test_a_file_name_with_a_pattern_in_it_is_a_name(tmp_path):
    path = tmp_path / "table[1]*.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(path)
    pl.DataFrame({"a": [2]}).write_parquet(tmp_path / "table1.parquet")

    assert rows(read_table(path, ReadOptions())) == [(1,)]
