"""Many trees in the browser: the charts hold Python's numbers, the picture goes from tree to tree and back."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import treewright as tw

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :6]  # other sections take their time for each column
NAMES = Y.map({0: "malignant", 1: "benign"})
CHOICE = "#ensemble-tree"


@pytest.fixture(scope="module")
def forest():
    return tw.RandomForestClassifier(n_estimators=30, oob_score=True).fit(X[::2], NAMES[::2])


@pytest.fixture(scope="module")
def report(forest):
    return tw.report(forest, X[1::2], NAMES[1::2], examples=5)


@pytest.fixture(scope="module")
def boosted():
    est = tw.GradientBoostingClassifier(n_estimators=60, learning_rate=0.3, early_stopping=True)
    return est.fit(X[::2], NAMES[::2])


def unbroken(words):
    return words.replace(" %", "\u00a0%")


def numbers_of(page, key):
    """The table below a chart: a list of rows."""
    chart = page.locator(f'[data-chart="{key}"]')
    chart.locator("details > summary").click()
    chart.locator("tbody tr").first.wait_for()  # the table is made when it opens
    return [[cell.inner_text() for cell in row.locator("th, td").all()] for row in chart.locator("tbody tr").all()]


def test_the_picture_begins_with_the_tree_that_stands_for_all(open_page, report):
    opened = open_page(report.html)

    part = report.summary.ensemble
    assert opened.page.locator("#tree-title").inner_text() == "One tree in place of the 30 trees"
    assert opened.text("surrogate-words") == unbroken(part.surrogate.words)
    assert opened.text("tree-stands") == unbroken(part.surrogate.words)


def test_what_is_summed_from_probabilities_is_not_called_rows(open_page, report):
    page = open_page(report.html).page
    head = page.locator(".tree-table thead th").nth(1)

    page.locator("#tree-host .tree-card").first.click()
    assert head.inner_text() == "sum of probabilities"
    page.select_option(CHOICE, "2")
    page.locator("#tree-host .tree-card").first.click()
    assert head.inner_text() in ("rows", "weight")


@pytest.mark.smoke
def test_the_list_shows_another_tree_and_comes_back(open_page, report, forest):
    page = open_page(report.html).page
    before = page.locator("#tree-host .tree-card").first.inner_text()

    page.select_option(CHOICE, "2")

    member = report.summary.ensemble.members[2]
    assert page.locator("#tree-title").inner_text() == "Tree 3 of 30"
    assert page.locator("#tree .subtitle").inner_text().startswith(member.tree.headline)
    root = page.locator("#tree-host .tree-card").first.inner_text()
    assert root != before
    assert f"{forest.tree(2).trees[0].n_samples[0]} rows" in root
    assert page.locator('[data-member="2"] button').get_attribute("aria-pressed") == "true"

    page.select_option(CHOICE, "all")

    assert page.locator("#tree-title").inner_text() == "One tree in place of the 30 trees"
    assert page.locator("#tree-host .tree-card").first.inner_text() == before
    assert page.locator('[data-member="2"] button').get_attribute("aria-pressed") == "false"


def test_a_button_beside_each_tree_shows_it(open_page, report):
    page = open_page(report.html).page

    page.locator('[data-member="1"] button').press("Enter")

    assert page.locator(CHOICE).input_value() == "1"
    assert page.locator("#tree-title").inner_text() == "Tree 2 of 30"
    page.wait_for_function("document.getElementById('tree').getBoundingClientRect().top < innerHeight")


def test_the_chart_of_a_forest_ends_with_the_scores_of_python(open_page, report, forest):
    rows = numbers_of(open_page(report.html).page, "error")

    last = [float(cell) for cell in rows[-1]]
    error = 1 - forest.score(X[1::2], NAMES[1::2])
    assert last == pytest.approx([30, error, 1 - forest.oob_score_], rel=1e-3)


@pytest.mark.smoke
def test_the_chart_of_rounds_has_the_losses_of_python(open_page, boosted):
    report = tw.report(boosted, X[1::2], NAMES[1::2], examples=0)
    page = open_page(report.html).page

    rows = numbers_of(page, "loss")

    log = boosted.model_.prune("rounds", X[1::2], NAMES[1::2]).prune_log
    for round_text, loss, *_ in rows:
        if int(round_text) and loss != "-":
            assert float(loss) == pytest.approx(log.losses[int(round_text) - 1], rel=1e-3)
    assert f"round {int(np.argmin(log.losses)) + 1}" in page.locator('[data-chart="loss"] svg[role=img]').text_content()


def test_a_boosted_tree_says_that_it_adds(open_page, boosted):
    opened = open_page(tw.report(boosted, X[1::2], NAMES[1::2], examples=0).html)

    opened.page.select_option(CHOICE, "0")

    assert opened.text("tree-stands").startswith("Its values are what it adds to the score.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(open_page, faults, report, scheme):
    page = open_page(report.html, scheme=scheme).page
    page.select_option(CHOICE, "1")

    assert faults(page) == []


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_is_never_wider_than_the_window(open_page, report, width):
    page = open_page(report.html, width=width).page
    page.select_option(CHOICE, "1")

    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_names_of_classes_are_text(open_page):
    evil = np.where(Y == 1, "<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>")
    forest = tw.RandomForestClassifier(n_estimators=5).fit(X[::2], evil[::2])

    page = open_page(tw.report(forest, X[1::2], evil[1::2], examples=0).html).page
    page.select_option(CHOICE, "1")

    assert page.locator("script").count() == 3  # the summary, the trees as code, what shows them
    assert page.locator("img").count() == 0


def test_without_scripts_the_words_are_there(report, chromium, tmp_path):
    path = tmp_path / "plain.html"
    path.write_text(report.html, encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())

    text = page.locator("#ensemble").inner_text()
    context.close()

    assert unbroken(report.summary.ensemble.surrogate.words) in text
    assert unbroken(report.summary.ensemble.curves[0].words) in text
    assert "Show" not in text


@pytest.mark.parametrize("kind", ["classes", "numbers", "hostile"])
def test_of_typed_values_the_page_says_what_all_trees_say(open_page, kind):
    """By the script that ``export`` writes."""
    rng = np.random.default_rng(0)
    table = {
        "x": rng.normal(size=300), "</script>": rng.normal(size=300),
        "town": rng.choice(["a", "</script><b>", "<!-- c"], 300).tolist(),
    }  # fmt: skip
    score = table["x"] * 2 + np.array([len(town) for town in table["town"]])
    y = {
        "classes": np.array(["low", "mid", "high"])[np.digitize(score, [4, 12])],
        "numbers": score,
        "hostile": np.where(score > 6, "</script>", "<!--").tolist(),
    }[kind]
    make = tw.GradientBoostingRegressor if kind == "numbers" else tw.RandomForestClassifier
    est = make(20, random_state=0, nominal=["town"]).fit(table, y)
    report = tw.report(est, table, y, examples=3)
    page = open_page(report.html).page
    names = [column.name for column in report.summary.columns]
    for details in page.locator(".follow-fields details").all():
        details.locator("summary").click()
    row = {name: cells[0] for name, cells in table.items()}  # the example that the form begins with may be another
    page.select_option("#follow-example", "0")
    for x in (-3.0, 0.25, 3.5):
        for name in ("x", "</script>"):
            field = page.locator(f"#follow-field-{names.index(name)}")
            if field.count():
                field.fill(str(x))
        page.locator(f"#follow-field-{names.index('town')}").select_option(label="</script><b>")
        said = page.locator('[data-name="follow-all"]')
        row |= {"x": x, "</script>": x, "town": "</script><b>"}
        wanted = est.model_.predict_one(row)
        page.wait_for_function("document.querySelector('#follow-example').value === ''")
        if kind == "numbers":
            assert float(said.inner_text().replace(",", "").replace("\u2212", "-")) == pytest.approx(wanted, rel=1e-3)
        else:
            assert said.inner_text() == str(wanted)
