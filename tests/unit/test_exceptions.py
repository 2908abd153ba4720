"""Errors carry their facts as data, and can be told in other words."""

from __future__ import annotations

import pickle

import pytest

import treewright as tw
from treewright.exceptions import DataError, MissingLibraryError, ParameterError, first_row, setting


def test_a_message_is_its_pieces_one_after_the_other():
    error = DataError("bad cells (", first_row(3), "): try ", setting("metric", "heom"), column="age", row=3)

    assert str(error) == "bad cells (first row 3): try metric='heom'"
    assert (error.parameter, error.column, error.row) == (None, "age", 3)


def test_phrases_are_told_in_other_words_and_the_facts_stay():
    error = ParameterError("use ", setting("metric", "heom"), ", not this", parameter="metric")
    told = error.worded(lambda phrase: f"--{phrase.name} {phrase.value}", "here: ")

    assert type(told) is ParameterError
    assert str(told) == "here: use --metric heom, not this"
    assert told.parameter == "metric"
    assert str(error) == "use metric='heom', not this"


def test_facts_survive_the_way_between_processes():
    back = pickle.loads(pickle.dumps(DataError("a ", first_row(7), row=7)))

    assert (str(back), back.row) == ("a first row 7", 7)
    assert str(back.worded(lambda phrase: f"line {phrase.value + 2}")) == "a line 9"


def test_a_missing_library_is_named():
    assert MissingLibraryError("not there", name="matplotlib").name == "matplotlib"


def test_a_refused_target_tells_its_row():
    with pytest.raises(DataError) as refused:
        tw.GradientBoostingRegressor(loss="poisson").fit({"x": [1.0, 2.0, 3.0]}, [1.0, -2.0, 3.0])

    assert refused.value.row == 1
    assert "y has 1 value(s) that cannot be used (first row 1: -2.0)" in str(refused.value)
