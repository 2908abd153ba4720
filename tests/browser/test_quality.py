"""The section Quality in a real browser: what stands there is what Python and scikit-learn say."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import treewright as tw

NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    est = tw.DecisionTreeClassifier(max_depth=2).fit(X[::2], NAMES[y[::2]])
    return est, X[1::2], NAMES[y[1::2]]


@pytest.fixture(scope="module")
def classes(iris):
    est, X, y = iris
    return est.report(X, y, curves=("depth",), cv=3)


def section(opened):
    opened.page.locator("#quality").scroll_into_view_if_needed()
    return opened.page.locator("#quality")


def numbers_of(figure):
    """The rows of a picture's numbers, as texts."""
    figure.locator("summary").click()
    figure.locator("tbody tr").first.wait_for()  # the table is made when it opens
    return [row.locator("th, td").all_inner_texts() for row in figure.locator("tbody tr").all()]


@pytest.mark.smoke
def test_the_measures_are_those_of_scikit_learn(open_page, iris, classes):
    est, X, y = iris
    opened = open_page(classes.html)
    shares = est.predict_proba(X)

    assert opened.number("quality-accuracy") == pytest.approx(est.score(X, y), abs=5e-4)
    assert opened.number("quality-log-loss") == pytest.approx(metrics.log_loss(y, shares), abs=5e-4)
    assert opened.number("quality-Brier-score") == pytest.approx(
        ((shares - (y[:, None] == NAMES)) ** 2).sum(axis=1).mean(), abs=5e-4
    )
    lines = section(opened).locator(".quality-classes tbody tr")
    told = metrics.classification_report(y, est.predict(X), output_dict=True)
    for line, name in zip(lines.all(), NAMES, strict=True):
        cells = line.locator("td").all_inner_texts()
        assert line.locator("th").inner_text().strip() == name
        assert float(cells[1].split()[0]) == pytest.approx(told[name]["precision"], abs=5e-4)
        assert float(cells[2].split()[0]) == pytest.approx(told[name]["recall"], abs=5e-4)


def test_the_confusion_matrix_is_scikit_learns(open_page, iris, classes):
    est, X, y = iris
    opened = open_page(classes.html)

    cells = section(opened).locator(".quality-confusion td.number").all_inner_texts()

    assert np.array(cells, float).reshape(3, 3).tolist() == metrics.confusion_matrix(y, est.predict(X)).tolist()


def test_curves_of_another_class_are_chosen_by_keyboard(open_page, iris, classes):
    est, X, y = iris
    opened = open_page(classes.html)
    quality = section(opened)
    choose = quality.get_by_label("Curves of the class")

    choose.focus()
    opened.page.keyboard.press("v")
    opened.page.keyboard.press("i")
    choose.press("Enter")

    assert choose.locator("option:checked").inner_text() == "virginica"
    area = metrics.roc_auc_score(y == "virginica", est.predict_proba(X)[:, 2])
    roc = quality.locator("figure", has_text="ROC curve").first
    assert roc.locator("figcaption").inner_text() == f'ROC curve of "virginica": area {area:.3f}'
    false_rate, true_rate, _ = metrics.roc_curve(y == "virginica", est.predict_proba(X)[:, 2])
    shown = np.array(numbers_of(roc), float)
    assert np.allclose(shown, np.column_stack([false_rate, true_rate]), atol=1e-3)
    calibration = quality.locator("figure", has_text="Calibration").first
    held = classes.summary.quality[0].calibration[2]
    assert calibration.locator("figcaption").inner_text() == f'Calibration of "virginica": error {held.error:.3f}'
    assert calibration.locator(".chart-whisker").count() == np.count_nonzero(held.n_rows)


def test_gains_and_lift_are_those_of_the_rows_taken_first(open_page, iris, classes):
    est, X, y = iris
    quality = section(open_page(classes.html))
    is_first, share = y == "setosa", est.predict_proba(X)[:, 0]
    false_rate, true_rate, _ = metrics.roc_curve(is_first, share)
    taken = is_first.mean() * true_rate + (1 - is_first.mean()) * false_rate

    gains = np.array(numbers_of(quality.locator("figure", has_text="Cumulative gains").first), float)
    lift = np.array(numbers_of(quality.locator("figure", has_text="Lift of").first), float)

    assert np.allclose(gains, np.column_stack([taken, true_rate]), atol=1e-3)
    assert lift[0, 0] == 0.01
    assert np.allclose(lift[:, 1], np.interp(lift[:, 0], taken, true_rate) / lift[:, 0], rtol=5e-3)


def test_the_depth_curve_has_the_numbers_of_the_summary(open_page, classes):
    opened = open_page(classes.html)
    (curve,) = classes.summary.quality[0].curves

    shown = numbers_of(section(opened).locator("figure", has_text="Depth curve").first)

    ticks = section(opened).locator("figure", has_text="Depth curve").first.locator("text").all_text_contents()
    assert [text for text in ticks if text in ("1", "2", "1.5", "1.0")] == ["1", "2"]
    assert [float(line[0]) for line in shown] == list(curve.x)
    assert [float(line[4]) for line in shown] == pytest.approx(list(curve.test), abs=1e-3)


def test_a_regression_has_a_point_for_each_drawn_row_and_a_column_for_each_cell(open_page):
    X, y = load_diabetes(return_X_y=True)
    est = tw.DecisionTreeRegressor(max_depth=3).fit(X[::2], y[::2])
    opened = open_page(est.report(X[1::2], y[1::2]).html, width=420)
    quality = section(opened)
    held = est.report(X[1::2], y[1::2]).summary.quality[0].residuals

    assert opened.number("quality-R2") == pytest.approx(est.score(X[1::2], y[1::2]), abs=5e-4)
    first, second = (quality.locator("figure", has_text=title).first for title in ("Predicted and true", "over pred"))
    assert first.locator("circle").count() == second.locator("circle").count() == len(held.truth) == 221
    columns = quality.locator("figure").last
    assert columns.locator("rect").count() == np.count_nonzero(held.weight)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 420


def test_precision_and_recall_of_a_class_stand_on_a_phone(open_page, classes):
    quality = section(open_page(classes.html, width=400))

    inside = quality.locator(".table-wrap:has(.quality-classes)").bounding_box()
    for place in (2, 3):
        for cell in quality.locator(f".quality-classes tbody td:nth-child({place + 1})").all():
            box = cell.bounding_box()
            assert box["x"] + box["width"] <= inside["x"] + inside["width"] + 1


def test_without_scripts_the_tables_stand_there(iris, classes, chromium, tmp_path):
    est, X, y = iris
    path = tmp_path / "plain.html"
    path.write_text(classes.html, encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())

    lead = page.locator(".quality-lead").inner_text()
    cells = page.locator(".quality-confusion td").all_inner_texts()
    context.close()

    right = metrics.confusion_matrix(y, est.predict(X))
    assert f"{np.trace(right)} of {right.sum()} rows" in lead
    assert np.array(cells, float).reshape(3, 3).tolist() == right.tolist()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_in_the_quality_of_neighbours(open_page, faults, scheme):
    X, y = load_breast_cancer(return_X_y=True)
    est = tw.KNeighborsClassifier(scale="standard").fit(X[::2, :6], y[::2])
    opened = open_page(
        est.report(X[1::2, :6], y[1::2], sample_weight=np.linspace(1, 2, len(y) // 2)).html, scheme=scheme
    )

    assert "rows of equal weight" in section(opened).inner_text()
    assert opened.page.locator("#tree").count() == 0
    assert faults(opened.page) == []
