"""The door: what ``report`` takes, refuses, writes and gives back."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_iris

import treewright as tw
from treewright.core.progress import COMPILING, listen
from treewright.exceptions import DataError, InputFileError, ParameterError
from treewright.show.page.render import json_for_script, plain

X, Y = load_iris(return_X_y=True)
TREE = tw.DecisionTreeClassifier().fit(X[::2], Y[::2])


@pytest.fixture(scope="module")
def made():
    return TREE.report(X[1::2], Y[1::2])


def test_the_estimators_door_and_the_function_make_the_same_page(made):
    assert tw.report(TREE, X[1::2], Y[1::2]).html == made.html


def test_a_model_from_a_file_gives_the_page_of_its_estimator_but_for_commands(tmp_path, made):
    TREE.save(tmp_path / "iris.tw")
    again = tw.report(tw.load(tmp_path / "iris.tw"), X[1::2], Y[1::2]).to_dict()
    held = made.to_dict()

    for name in ("quality", "data", "columns", "examples", "text", "facts"):
        assert again[name] == held[name], name


def test_html_and_json_are_written_in_one_step_and_hold_the_same_numbers(tmp_path, made):
    page, summary = tmp_path / "page.html", tmp_path / "page.json"

    made.save(page)
    TREE.report(X[1::2], Y[1::2], summary)

    found = re.search(r'<script type="application/json" id="summary">(.*?)</script>', page.read_text(), re.DOTALL)
    assert json.loads(found[1]) == json.loads(summary.read_text()) == made.to_dict()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "page.json"]


@pytest.mark.parametrize("name", ["page.pdf", "page", ".html.txt", ""])
def test_other_endings_are_refused_before_any_work(tmp_path, name):
    with pytest.raises(ParameterError, match=r"\.html"):
        TREE.report("no table", "no target", tmp_path / name if name else "")


def test_a_folder_that_is_not_there_loses_nothing(tmp_path):
    with pytest.raises(InputFileError):
        TREE.report(X[1::2], Y[1::2], tmp_path / "none" / "page.html")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cv": 1}, "cv=1"),
        ({"cv": "ten"}, "cv='ten'"),
        ({"cv": True}, "cv=True"),
        ({"curves": "learning"}, "curves='learning'"),
        ({"curves": ["learn"]}, "curves="),
        ({"examples": -1}, "examples=-1"),
        ({"examples": 1.5}, "examples=1.5"),
        ({"random_state": -1}, "random_state=-1"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_options_out_of_range_are_refused(options, said):
    with pytest.raises(ParameterError, match=re.escape(said)):
        TREE.report(X[1::2], Y[1::2], **options)


@pytest.mark.parametrize(
    ("fitted", "error"),
    [
        (tw.DecisionTreeClassifier(), ParameterError),
        (object(), ParameterError),
        (None, ParameterError),
        (tw.IsolationForest(n_estimators=3, random_state=0).fit(X), ParameterError),
    ],
)
def test_what_is_no_fitted_model_is_refused(fitted, error):
    with pytest.raises(error):
        tw.report(fitted, X, Y)


@pytest.mark.parametrize(
    ("table", "target"),
    [(X[:0], Y[:0]), (X[:5], Y[:4]), (X[:5], ["no such class"] * 5), (X[:5, :2], Y[:5]), (X[:5], [np.nan] * 5)],
)
def test_rows_that_cannot_judge_are_refused(table, target):
    with pytest.raises(DataError):
        TREE.report(table, target)


def test_the_page_does_not_depend_on_threads(made):
    assert TREE.report(X[1::2], Y[1::2], n_jobs=1).html == TREE.report(X[1::2], Y[1::2], n_jobs=3).html == made.html


def test_rows_of_the_fit_are_known_as_such_and_the_page_says_so():
    seen, other = TREE.report(X[::2], Y[::2]), TREE.report(X[1::2], Y[1::2])

    assert any("training rows" in note for note in seen.summary.notes)
    assert seen.summary.pruning.judged_by == "folds"
    assert not any("training rows" in note for note in other.summary.notes)


def test_a_page_without_examples_holds_no_row_to_follow():
    assert len(TREE.report(X[1::2], Y[1::2], examples=7).summary.examples.rows) == 7
    without = TREE.report(X[1::2], Y[1::2], examples=0).summary.examples

    assert without is None or not without.rows


def test_a_notebook_gets_a_frame_with_the_page_inside(made):
    shown = made._repr_html_()

    assert shown.count("<iframe") == 1
    assert 'sandbox="allow-scripts' in shown
    assert "&lt;!doctype html&gt;" in shown


def test_weights_count_as_rows():
    weights = np.where(np.arange(75) % 5 == 0, 2, 1)
    by_weight = TREE.report(X[1::2], Y[1::2], sample_weight=weights).summary.quality[0]
    by_rows = TREE.report(np.repeat(X[1::2], weights, axis=0), np.repeat(Y[1::2], weights)).summary.quality[0]

    assert by_weight.confusion.counts == by_rows.confusion.counts


def test_plain_values_are_exact_and_cannot_end_a_script():
    assert plain((float("inf"), float("nan"), np.float64(0.1), np.array([1, 2]))) == ["inf", None, 0.1, [1, 2]]
    assert "<" not in json_for_script(["</script>", "<!--", "&"])
    assert json.loads(json_for_script(["</script>", "\u2028", "\ud800"])) == ["</script>", "\u2028", "\ud800"]


def test_progress_of_a_report_names_its_sections_and_never_begins_again():
    heard = []
    with listen(lambda done, what: heard.append((done, what))):
        TREE.report(X[1::2], Y[1::2], cv=3, n_jobs=1)
    shares, words = zip(*(each for each in heard if each[1] != COMPILING), strict=True)

    assert list(shares) == sorted(shares)
    assert {"report, pruning: 2 of 3 folds", "report, columns", "report, contributions"} <= set(words)
