"""Words that a reader needs beside numbers and fields: which row, what was typed wrong, what a command needs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification

import treewright as tw

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :5]
NAMES = Y.map({0: "malignant", 1: "benign"})
FIELD = ".follow-field input[inputmode=decimal]"


@pytest.fixture(scope="module")
def report():
    est = tw.DecisionTreeClassifier(max_leaf_nodes=8).fit(X[::2], NAMES[::2])
    return tw.report(est, X[1::2], NAMES[1::2], examples=10)


@pytest.fixture
def opened(open_page, report):
    return open_page(report.html)


@pytest.mark.smoke
def test_a_row_is_named_with_its_truth_and_what_was_predicted(opened, report):
    texts = opened.page.locator("#follow-example option").all_inner_texts()[1:]

    rows = report.summary.examples.rows
    assert [row.name for row in rows] == [str(2 * row.number + 1) for row in rows]
    told = ["correct" if row.right else f"predicted {row.said}" for row in rows]
    assert texts == [f"{row.name}: {row.truth}, {words}" for row, words in zip(rows, told, strict=True)]
    assert opened.page.locator(".follow-counted").inner_text() == "Rows are named by the index of the table."


@pytest.mark.parametrize("typed", ["abc", "12,5"])
def test_what_is_no_number_is_told_below_its_field(opened, typed):
    field = opened.page.locator(FIELD).first
    before = field.input_value()

    field.fill(typed)

    words = opened.page.locator(f"#{field.get_attribute('aria-describedby')}")
    assert words.inner_text().startswith("not a number; ")
    assert words.inner_text().endswith(" stays; the decimal sign is a point")
    assert field.get_attribute("aria-invalid") == "true"
    field.fill(before)
    assert words.is_hidden()
    assert field.get_attribute("aria-invalid") == "false"


def test_with_every_column_kept_the_page_says_what_puts_answers_out_of_reach(opened):
    for box in opened.page.locator(".follow-keep input:visible").all():
        box.check()

    told = opened.page.locator("[data-name=follow-never]").inner_text()
    assert told.startswith("Out of reach while these columns are kept: ")


def test_the_whole_tree_takes_no_command_and_reduced_error_says_which_rows(opened):
    assert opened.text("python") == "The whole tree: nothing to do."
    assert opened.page.locator("[data-copy=python]").is_disabled()

    opened.page.locator("[data-pruner=reduced_error]").click()

    assert "DATA" in opened.text("command")
    assert "must be the test rows of this page" in opened.text("command-note")


def test_many_classes_have_one_matrix_with_names_upright(open_page):
    table, target = make_classification(
        600, 8, n_informative=7, n_redundant=0, n_classes=14, n_clusters_per_class=1, random_state=0
    )
    labels = np.array([f"class number {code}" for code in target])
    est = tw.DecisionTreeClassifier(max_leaf_nodes=20).fit(table[::2], labels[::2])
    page = open_page(tw.report(est, table[1::2], labels[1::2], examples=0, cv=None).html).page

    assert page.locator("#pruning .chart-matrix").count() == 0
    assert page.locator("#pruning a[href='#quality']").count() == 1
    matrix = page.locator("#quality .chart-matrix .table-wrap")
    assert matrix.evaluate("wrap => wrap.scrollWidth <= wrap.clientWidth")


def test_the_page_of_a_forest_begins_with_one_of_its_trees_where_the_other_tells_nothing(open_page):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 8))
    target = np.where(rng.random(300) < 0.25, "bad", "good")
    est = tw.RandomForestClassifier(n_estimators=30, random_state=0).fit(table[:200], target[:200])
    report = tw.report(est, table[200:], target[200:], examples=2)
    page = open_page(report.html)

    part = report.summary.ensemble
    assert page.page.locator("#tree-title").inner_text() == part.members[part.first].tree.title
    assert part.surrogate.warning in page.text("surrogate-warning")


def test_a_narrow_page_of_an_optimal_tree_shows_what_greedy_lost_in_whole_words(open_page):
    lamp = {"left": [0, 0, 1, 1, 0, 1], "right": [0, 1, 0, 1, 0, 1], "hour": [5, 1, 5, 5, 5, 7]}
    target = ["dark", "light", "light", "dark", "dark", "dark"]
    est = tw.OptimalTreeClassifier(max_depth=2, ccp_alpha=0.001).fit(lamp, target)
    page = open_page(tw.report(est, lamp, target, cv=None).html, width=360).page

    rows = [row.locator("th, td").all_inner_texts() for row in page.locator(".tree-proof tr").all()]
    assert rows[1:] == [["CART, pruned", "0.1687", "2"], ["as fitted", "0.004", "4"], ["lower bound", "0.004", ""]]
    head = page.locator(".tree-proof thead th").last
    head.evaluate("th => { window.text = new Range(); window.text.selectNodeContents(th) }")
    assert page.evaluate("window.text.getClientRects().length") == 1
