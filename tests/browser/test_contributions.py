"""The section of contributions in a real browser: swarm, waterfall of the row that is followed, its values changed."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw

RNG = np.random.default_rng(3)
N = 200
TABLE = {
    "a": RNG.normal(size=N), "b": RNG.normal(size=N), "town": RNG.choice(["Lima", "Oslo", "Rome"], N).tolist(),
}  # fmt: skip
Y = np.where(TABLE["a"] > 0.4, "high", np.where(np.array(TABLE["town"]) == "Oslo", "low", "mid"))


@pytest.fixture(scope="module")
def forest():
    return tw.RandomForestClassifier(n_estimators=20, random_state=0).fit(TABLE, Y)


def number_in(text):
    return float(text.split()[-1].replace("\u2212", "-"))


@pytest.mark.smoke
def test_the_waterfall_is_of_the_row_that_is_followed(open_page, forest):
    report = forest.report(TABLE, Y)
    page = open_page(report.html).page
    section = page.locator("#contributions")
    row = section.locator("#contributions-row")
    first, later = report.summary.examples.rows[0], report.summary.examples.rows[7]
    names = [output.name for output in report.summary.contributions.outputs]
    assert row.locator("figcaption").inner_text() == f"Row {first.number}: share of {first.said}"
    assert number_in(row.locator("text", has_text="total").text_content()) == pytest.approx(
        first.shares[0][names.index(first.said)], abs=1e-3
    )
    page.locator("#follow-example").select_option("7")
    assert row.locator("figcaption").inner_text() == f"Row {later.number}: share of {later.said}"
    section.locator("#contributions-output").select_option(label="low")
    assert row.locator("figcaption").inner_text() == f"Row {later.number}: share of low"
    assert number_in(row.locator("text", has_text="total").text_content()) == pytest.approx(
        later.shares[0][names.index("low")], abs=1e-3
    )
    assert section.locator("#contributions-swarm circle").count() == 3 * report.summary.contributions.n_rows


def test_values_of_your_own_go_through_the_tree_in_the_picture(open_page, forest):
    report = forest.report(TABLE, Y)
    page = open_page(report.html).page
    row = page.locator("#contributions-row")
    page.locator("#contributions-output").select_option(label="high")
    before = row.locator("figcaption").inner_text()
    field = page.locator("#follow .follow-fields input[type=text]").first
    field.fill("1.5")
    field.press("Enter")
    assert row.locator("figcaption").inner_text() == "Values of your own: share of high"
    assert "the tree in the picture" in row.inner_text()
    shown = page.evaluate("document.querySelector('[data-name=follow-leaf]').dataset.leaf")
    part = report.summary.tree
    leaf = next(node for node in part.nodes if node.id == int(shown))
    counts = leaf.values[0]
    expected = counts[part.outputs[0].index("high")] / sum(counts)
    assert number_in(row.locator("text", has_text="total").text_content()) == pytest.approx(expected, abs=1e-3)
    page.locator("#follow-example").select_option("0")
    assert row.locator("figcaption").inner_text() == before


def test_numbers_on_a_phone_in_the_dark(open_page):
    y = TABLE["a"] - 2 * (np.array(TABLE["town"]) == "Rome")
    est = tw.GradientBoostingRegressor(60, random_state=0).fit(TABLE, y)
    report = est.report(TABLE, y)
    page = open_page(report.html, width=380, scheme="dark").page
    section = page.locator("#contributions")
    assert section.locator("select").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    told = section.locator("#contributions-row text", has_text="total").text_content()
    assert number_in(told) == pytest.approx(report.summary.examples.rows[0].shares[0][0], rel=1e-3)
    section.locator("#contributions-row summary").click()
    section.locator("#contributions-row tbody tr").first.wait_for()  # the table is made when it is opened
    body = section.locator("#contributions-row tbody tr").all_inner_texts()
    assert body[0].startswith("base")
    assert body[-1].startswith("total")


def test_nothing_is_wrong_for_readers_who_hear_the_page(open_page, forest, axe_source):
    page = open_page(forest.report(TABLE, Y).html).page
    page.evaluate(axe_source)
    found = page.evaluate("axe.run('#contributions', {resultTypes: ['violations']})")
    assert [each["id"] for each in found["violations"]] == []


def test_without_scripts_the_sizes_stand_in_a_table(forest):
    html = forest.report(TABLE, Y).html
    assert "mean size, high" in html
    assert "±" in html


@pytest.mark.smoke
def test_a_page_of_its_own_lets_rows_be_chosen(open_page, forest, axe_source):
    found = forest.explain(TABLE)
    page = open_page(found.html).page
    assert page.locator("h1").inner_text() == "Contributions to the share of high, low, mid"
    page.locator("#contributions-example").select_option("9")
    page.locator("#contributions-output").select_option(label="mid")
    row = int(page.locator("#contributions-example option:checked").inner_text().split(":")[0])
    assert page.locator("#contributions-row figcaption").inner_text() == f"Row {row}: share of mid"
    told = page.locator("#contributions-row text", has_text="total").text_content()
    assert number_in(told) == pytest.approx(found.totals[row, 2], abs=1e-3)
    page.evaluate(axe_source)
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    assert [each["id"] for each in found["violations"]] == []


def test_a_page_of_one_row_has_no_swarm(open_page, forest):
    page = open_page(forest.explain({name: cells[:1] for name, cells in TABLE.items()}).html).page
    assert not page.locator("#contributions-swarm").is_visible()
    assert page.locator("#contributions-row figcaption").is_visible()


def test_trees_without_a_test_and_no_rows_leave_a_page_that_works(open_page):
    est = tw.RandomForestRegressor(n_estimators=3, max_depth=1, min_samples_leaf=150).fit(TABLE, TABLE["a"])
    page = open_page(est.explain(TABLE).html).page
    assert "No column changes the base" in page.locator("#contributions-row").inner_text()
    empty = est.explain({name: cells[:0] for name, cells in TABLE.items()})
    assert open_page(empty.html).page.locator("h1").inner_text() == "Contributions to y"


def test_of_many_classes_the_page_has_those_of_its_rows(open_page):
    y = np.arange(N) % 50
    est = tw.RandomForestClassifier(n_estimators=5, random_state=0).fit(TABLE, y)
    one = {name: cells[20:21] for name, cells in TABLE.items()}
    page = open_page(est.explain(one).html).page
    assert page.locator("#contributions-row figcaption").inner_text() == f"Row 0: share of {est.predict(one)[0]}"


def test_of_several_outputs_values_of_your_own_have_no_waterfall(open_page):
    y = np.column_stack([TABLE["a"], 1000 * TABLE["b"]])
    est = tw.RandomForestRegressor(n_estimators=5, random_state=0).fit(TABLE, y)
    page = open_page(est.report(TABLE, y).html).page
    assert page.locator("#contributions-row figure").is_visible()
    field = page.locator("#follow .follow-fields input[type=text]").first
    field.fill("0.7")
    field.press("Enter")
    assert not page.locator("#contributions-row figure").is_visible()


def test_the_scale_of_scores_is_told_and_long_names_stay_inside(open_page):
    est = tw.GradientBoostingRegressor(10, loss="poisson").fit(TABLE, np.exp(TABLE["a"]))
    page = open_page(est.report(TABLE, np.exp(TABLE["a"])).html).page
    assert ": score of y" in page.locator("#contributions-row figcaption").inner_text()
    assert "exp(score)" in page.locator("#contributions-row").inner_text()
    named = tw.RandomForestClassifier(n_estimators=3).fit(TABLE, np.where(TABLE["a"] > 0, "L" * 10_000, "b"))
    page = open_page(named.explain(TABLE).html, width=400).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_rows_keep_their_numbers(open_page, forest):
    page = open_page(forest.explain(TABLE).rows(57).html).page
    assert page.locator("#contributions-row figcaption").inner_text().startswith("Row 57: ")


def test_a_threshold_that_decides_is_told_wherever_a_page_tells_a_prediction(open_page):
    truth = np.where(np.array(TABLE["a"]) > 0.8, "yes", "no")
    for est in (tw.DecisionTreeClassifier(max_depth=2), tw.GradientBoostingClassifier(5, random_state=0)):
        est.fit(TABLE, truth)
        est.model_ = est.model_.with_threshold(0.15, positive="yes")
        found, summary = est.explain(TABLE), est.report(TABLE, truth, cv=None, curves=())
        line = found.predictions.line(summary.summary.examples.rows[0].number)
        assert "threshold 0.15" in line
        page = open_page(summary.html).page
        histogram = page.locator("figure", has_text='Predicted probabilities of "yes"')
        assert histogram.locator(".chart-mark").count() == 1
        assert "threshold 0.15" in histogram.locator("svg").first.text_content()
        if len(est.model_.trees) == 1:
            assert page.locator("[data-name=follow-why]").inner_text() == f"P{line[1:]}."
        else:
            assert f"All trees together {line.replace('predicts', 'predict')}" in page.locator("#follow").inner_text()
            assert f"P{line[1:]}. Contributions to" in page.locator("#contributions-row").inner_text()
        alone = open_page(found.html).page.locator("#contributions-row").inner_text()
        whose = "the tree" if len(est.model_.trees) == 1 else "all trees together"
        assert f"P{found.predictions.line(0)[1:]}. Contributions to the prediction of {whose}." in alone
