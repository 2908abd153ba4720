"""Warnings that are told once."""

from __future__ import annotations

import threading
import warnings

import pandas as pd
import pytest
from sklearn.inspection import permutation_importance
from sklearn.pipeline import make_pipeline

import treewright as tw
from treewright.core.notices import listening, warn
from treewright.exceptions import DataWarning


def say(text):
    warn(text, stacklevel=2)


def test_without_a_listener_a_warning_is_a_warning_at_the_line_of_the_caller():
    with pytest.warns(DataWarning, match=r"^odd$") as told:
        say("odd")

    assert told[0].filename == __file__


def test_what_one_line_says_is_told_once_with_its_first_text_and_how_often():
    with listening() as notices:
        for fold in range(3):
            say(f"fold {fold}")
        warn("other", stacklevel=1)

    with pytest.warns(DataWarning) as told:
        notices.tell(5, "folds")

    assert [str(each.message) for each in told] == ["fold 0 (in 3 of 5 folds)", "other (in 1 of 5 folds)"]
    assert told[0].filename == __file__


def test_who_listens_above_hears_what_is_told_below():
    with listening() as above:
        with listening() as below:
            say("a")
            say("b")
        below.tell(2, "folds")

    assert list(above.heard.values()) == [("a", 2)]


def test_each_thread_listens_for_itself():
    heard = []
    told = []

    def beside():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            say("beside")
        told.extend(str(each.message) for each in caught)

    with listening() as notices:
        thread = threading.Thread(target=beside)
        thread.start()
        thread.join()
        say("here")
        heard += notices.heard.values()

    assert heard == [("here", 1)]
    assert told == ["beside"]


def test_after_an_error_nobody_listens_any_more():
    with pytest.raises(ValueError, match=r"^bad$"), listening():
        raise ValueError("bad")

    with pytest.warns(DataWarning, match="again"):
        say("again")


@pytest.mark.parametrize(
    "act",
    [
        lambda tree, table: tree.predict(table),
        lambda tree, table: tree.predict_proba(table),
        lambda tree, table: tree.model_.predict(table),
        lambda tree, table: tree.report(table, ["a", "b"]),
        lambda tree, table: tree.predict({**table, "other": [1, 2]}),
        lambda tree, table: tree.predict([[None], [2.0]]),
        lambda tree, table: tree.score(table, ["a", "b"]),
        lambda tree, table: make_pipeline(tree).predict(table),
        lambda tree, table: permutation_importance(tree, pd.DataFrame(table), ["a", "b"], n_repeats=1),
    ],
)
def test_a_warning_points_at_the_line_of_the_caller(act):
    tree = tw.DecisionTreeClassifier().fit({"x": [1.0, 2.0]}, ["a", "b"])

    with pytest.warns(DataWarning) as told:
        act(tree, {"x": [None, 2.0]})

    assert {each.filename for each in told} == {__file__}
