"""Words of the command line as mappings: columns, parameters, tokens."""

from __future__ import annotations

import pytest

from treewright.cli.algorithms import parse_settings
from treewright.cli.parsing import Declared, declare, one_separator, parse_value, split_tokens
from treewright.cli.terminal import UsageRefusal, printable

KNOWN = {"max_depth": None, "criterion": "gini", "n_jobs": None, "random_state": None}


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("4", 4),
        ("-1", -1),
        ("0.5", 0.5),
        ("1e-3", 0.001),
        ("true", True),
        ("False", False),
        ("none", None),
        ("sqrt", "sqrt"),
        ("", ""),
        ("1_000", 1000),
    ],
)
def test_values_get_the_type_they_look_like(word, value):
    parsed = parse_value(word)

    assert parsed == value
    assert type(parsed) is type(value)


def test_settings_are_split_at_the_first_equals_sign():
    assert parse_settings(["criterion=a=b", " max_depth = 3 "], KNOWN) == {"criterion": "a=b", "max_depth": 3}


@pytest.mark.parametrize(
    ("word", "message"), [("max_dept=1", "did you mean max_depth"), ("zzz=1", "choose one of criterion")]
)
def test_an_unknown_setting_lists_the_known_ones(word, message):
    with pytest.raises(UsageRefusal, match=message):
        parse_settings([word], KNOWN)


def test_columns_are_declared_in_any_of_the_ways():
    declared = declare(["a"], ["p=$,$$,$$$", 'q="x,y",z'], ["b"], ["c=nominal,d=numeric", "e=boolean", "a=nominal"])

    assert declared == Declared(("a", "c"), ("b", "d"), ("e",), {"p": ["$", "$$", "$$$"], "q": ["x,y", "z"]})
    assert declared.cell_types == {
        "a": "text",
        "c": "text",
        "p": "text",
        "q": "text",
        "b": "number",
        "d": "number",
        "e": "boolean",
    }


@pytest.mark.parametrize("word", ["p", "p=", "p=a", "p=a,a", "=a,b"])
def test_an_order_without_two_different_levels_is_refused(word):
    with pytest.raises(UsageRefusal, match="lowest"):
        declare([], [word], [], [])


def test_nominal_levels_are_declared_as_ordinal_ones_are():
    declared = declare(["Type=Drama,Comedy", 'q="x,y", z', "zip", "zip", "Type=Drama,Comedy"], [], [], ["q=nominal"])

    assert declared == Declared(nominal=("zip",), levels={"Type": ["Drama", "Comedy"], "q": ["x,y", "z"]})
    assert declared.cell_types == {"zip": "text", "Type": "text", "q": "text"}
    assert declared.nominal_of(["q", "zip", "Type"], lambda name, words: words) == {
        "zip": None,
        "Type": ["Drama", "Comedy"],
        "q": ["x,y", "z"],
    }


@pytest.mark.parametrize("word", ["a=", "a=b", "a=b,b", "=a,b", "all="])
def test_nominal_levels_that_are_none_or_one_are_refused(word):
    with pytest.raises(UsageRefusal, match=r"column=level,...,level.*--types '.*=nominal'"):
        declare([word], [], [], [])


def test_levels_given_twice_must_be_the_same():
    with pytest.raises(UsageRefusal, match="has two lists of levels"):
        declare(["a=x,y", "a=y,x"], [], [], [])
    with pytest.raises(UsageRefusal, match="declared nominal and ordinal"):
        declare(["a=x,y"], ["a=x,y"], [], [])


def test_a_column_with_an_equals_sign_in_its_name_is_nominal_by_its_type():
    assert declare([], [], [], ["a=b=nominal"]).nominal == ("a=b",)


def test_all_is_every_column_or_the_one_of_that_name():
    declared = declare(["all", "b"], ["o=l,h"], ["n"], [])

    assert declared.cell_types == {"b": "text", "o": "text", "n": "number"}
    assert declared.nominal_of(["a", "b", "o", "n"], lambda name, words: words) == "all"
    assert declared.nominal_of(["a", "all", "b"], lambda name, words: words) == ["all", "b"]


def test_all_and_declared_levels_go_together():
    declared = declare(["all", "c=x,y"], ["o=l,h"], ["n"], [])

    assert declared.nominal_of(["a", "c", "o", "n"], lambda name, words: words) == {"a": None, "c": ["x", "y"]}


def test_a_column_named_all_may_be_declared_by_its_type():
    declared = declare([], [], [], ["all=nominal"])

    assert declared.cell_types == {"all": "text"}
    assert declared.nominal_of(["all", "b"], lambda name, words: words) == ["all"]


def test_no_declaration_is_none():
    assert declare(["target"], [], [], []).nominal_of(["a"], lambda name, words: words) is None


def test_tokens_may_come_together_or_apart():
    assert split_tokens(["NA,n/a", "?", "NA"]) == ("NA", "n/a", "?")


def test_tab_can_be_said_in_words():
    assert [one_separator(word) for word in (None, ";", "tab", "\\t")] == [None, ";", "\t", "\t"]
    with pytest.raises(UsageRefusal):
        one_separator('"')


def test_control_characters_are_shown_not_obeyed():
    assert printable("a\x1b[0m\u202e\nb é 😀") == "a\\x1b[0m\\u202e\\nb é 😀"


@pytest.mark.parametrize(
    ("words", "calendar"),
    [
        ([], None),
        (["month,hour"], ["month", "hour"]),
        (["month", "hour"], ["month", "hour"]),
        (["sold=month,days since 2020-01-01", "sold=hour"], {"sold": ["month", "days since 2020-01-01", "hour"]}),
        (["a=b=month"], {"a=b": ["month"]}),
    ],
)
def test_parts_of_dates_are_named_for_all_columns_or_for_some(words, calendar):
    assert declare([], [], [], [], words).calendar == calendar


def test_parts_for_all_columns_and_for_some_are_refused():
    with pytest.raises(UsageRefusal, match="name the column each time, or never"):
        declare([], [], [], [], ["month", "sold=hour"])


def test_a_model_of_the_command_makes_the_parts_of_the_dates_in_a_file(command, tmp_path):
    lines = [f"2024-03-{day:02} {hour:02}:15,{day % 5}" for day in range(1, 29) for hour in (6, 15)]
    labels = ["no" if line[11:13] == "06" else "yes" for line in lines]
    data, model = tmp_path / "d.csv", tmp_path / "m.tw"
    data.write_text("\n".join(["at,n,open", *map(",".join, zip(lines, labels, strict=True))]))

    done = command("fit", str(data), "--target", "open", "--calendar", "at=hour,weekday", "--out", str(model))
    assert "2 columns (1 numeric, 1 date; plus 2 parts of dates)" in done.stdout
    assert "at.hour <= " in done.stdout
    data.write_text("n,at\n3,2031-01-01 05:00\n3,2031-01-01 16:00\n")
    assert command("predict", str(model), str(data)).stdout.split() == ["prediction", "no", "yes"]
    assert "at.hour > " in command("follow", str(model), str(data), "--row", "1").stdout
    assert "  is 16" in command("follow", str(model), str(data), "--row", "1").stdout
    wrong = command("fit", str(data), "--target", "n", "--calendar", "at=months")
    assert wrong.returncode != 0
    assert "did you mean 'month'" in wrong.stderr
