"""The *Pruning* section in a browser: what slider and buttons show is what Python says."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import confusion_matrix

import treewright as tw
from treewright.model_selection import pruning_path

X, Y = load_breast_cancer(return_X_y=True)
LEARNED, ASIDE = (X[::2], Y[::2]), (X[1::2], Y[1::2])


@pytest.fixture(scope="module")
def est():
    return tw.DecisionTreeClassifier().fit(*LEARNED)


@pytest.fixture(scope="module")
def report(est):
    return tw.report(est, *ASIDE)


@pytest.fixture
def opened(open_page, report):
    return open_page(report.html)


def to_step(opened, at):
    """Move the slider as a hand does: its value changes and it says so."""
    opened.page.locator("#pruning-slider").fill(str(at))


def exact(opened, name):
    """The number behind the text that ``data-name`` names."""
    return float(opened.page.locator(f'#pruning [data-name="{name}"]').get_attribute("data-value"))


def matrix(opened):
    rows = opened.page.locator("#pruning .chart-matrix tbody tr")
    return [[float(cell) for cell in row.locator("td").all_inner_texts()] for row in rows.all()]


def wait_for_leaves(opened, n_leaves):
    """Wait until the drawing has so many leaves: every level open and the whole of it in the window."""
    for name in ("Open every node", "Fit the whole tree in the window"):
        opened.page.get_by_role("button", name=name).click()
    leaves = "document.querySelectorAll('#tree-host [role=treeitem]:not([aria-expanded])')"
    opened.page.wait_for_function(f"wanted => {leaves}.length === wanted", arg=n_leaves, timeout=3000)


@pytest.mark.smoke
def test_numbers_of_every_step_are_those_of_pruning_path(opened):
    path = pruning_path(tw.DecisionTreeClassifier(), *LEARNED, validation=ASIDE)

    for step in range(len(path)):
        to_step(opened, step)
        assert exact(opened, "n_leaves") == path.n_leaves[step]
        assert exact(opened, "depth") == path.depth[step]
        assert exact(opened, "alpha") == path.alphas[step]
        assert exact(opened, "train_error") == pytest.approx(path.train_error[step], rel=1e-12)
        assert exact(opened, "error") == pytest.approx(path.cv_error[step], rel=1e-12)
        assert exact(opened, "standard_error") == pytest.approx(path.standard_error[step], rel=1e-9)
        assert opened.number("error") == pytest.approx(path.cv_error[step], rel=1e-3)
        said = opened.page.locator("#pruning-slider").get_attribute("aria-valuetext")
        assert said.startswith(f"step {step} of {len(path) - 1}: {path.n_leaves[step]} lea")


def test_confusion_matrix_and_tree_follow_the_slider(opened, est, report):
    part = report.summary.pruning

    for at in (0, 2, 4, len(part.steps) - 1):
        to_step(opened, at)
        small = est.prune("cost_complexity", alpha=part.alphas[at])
        assert matrix(opened) == confusion_matrix(ASIDE[1], small.predict(ASIDE[0])).tolist()
        assert exact(opened, "accuracy") == pytest.approx(small.score(*ASIDE), abs=1e-15)
        wait_for_leaves(opened, small.get_n_leaves())


def test_the_keyboard_moves_the_slider(opened, report):
    opened.page.locator("#pruning-slider").focus()
    opened.page.keyboard.press("ArrowRight")
    assert exact(opened, "step") == 1
    opened.page.keyboard.press("End")
    assert exact(opened, "n_leaves") == 1
    opened.page.keyboard.press("Home")
    assert exact(opened, "n_leaves") == report.summary.pruning.n_leaves[0]


def test_buttons_jump_to_the_least_error_the_simplest_and_the_whole(opened, report):
    part = report.summary.pruning
    button = lambda name: opened.page.get_by_role("button", name=name, exact=True)  # noqa: E731

    for name, at in (("least error", part.minimum), ("1-SE", part.one_se), ("whole tree", 0)):
        button(name).click()
        assert exact(opened, "n_leaves") == part.n_leaves[at]
        assert button(name).get_attribute("aria-pressed") == "true"
        assert opened.page.locator("#pruning-slider").input_value() == str(at)


def test_a_click_on_the_curve_takes_its_step(opened, report):
    drawing = opened.page.locator("#pruning-host .chart-pick")
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    opened.page.mouse.click(box["x"] + box["width"] - 12, box["y"] + box["height"] / 2)
    assert exact(opened, "n_leaves") == 1


@pytest.mark.smoke
def test_another_pruner_shows_its_tree_its_numbers_and_what_it_rests_on(opened, est, report):
    for each in report.summary.pruning.pruners[1:]:
        assert each.why_not == ""
        button = opened.page.locator(f'[data-pruner="{each.method}"]')
        button.click()
        small = est.prune(each.method, *(ASIDE if each.method == "reduced_error" else ()))
        assert button.get_attribute("aria-pressed") == "true"
        assert opened.page.locator('[data-pruner][aria-pressed="true"]').count() == 1
        assert exact(opened, "n_leaves") == small.get_n_leaves()
        wait_for_leaves(opened, small.get_n_leaves())
        assert exact(opened, "error") == pytest.approx(1 - small.score(*ASIDE), abs=1e-12)
        assert matrix(opened) == confusion_matrix(ASIDE[1], small.predict(ASIDE[0])).tolist()
        assert ("error on them is too low" in opened.text("pruning_note")) == (each.method == "reduced_error")


def test_the_line_of_python_on_the_page_makes_the_tree_of_the_page(opened, est, report):
    given = {"est": est, "X": ASIDE[0], "y": ASIDE[1]}
    for at in (1, 3, len(report.summary.pruning.steps) - 1):
        to_step(opened, at)
        line = opened.text("python")
        assert eval(line, given).get_n_leaves() == exact(opened, "n_leaves")
        assert opened.text("command").startswith("treewright prune MODEL --method cost-complexity --set alpha=")
        told = opened.text("command").split("alpha=")[1].split()[0]
        assert float(told) == report.summary.pruning.alphas[at]


@pytest.mark.parametrize("clipboard", ["there", "refused"])
def test_copy_says_that_it_copied_or_that_the_text_is_selected(open_page, report, clipboard):
    opened = open_page(report.html, permissions=["clipboard-read", "clipboard-write"])
    if clipboard == "refused":
        opened.page.evaluate("""() => {
            Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
            document.execCommand = () => false;
        }""")
    to_step(opened, 2)

    opened.page.locator('[data-copy="python"]').click()

    line = opened.text("python")
    if clipboard == "there":
        opened.page.get_by_text("copied", exact=True).wait_for()
        assert opened.page.evaluate("navigator.clipboard.readText()") == line
    else:
        opened.page.get_by_text("selected", exact=False).first.wait_for()
        assert opened.page.evaluate("getSelection().toString()").strip() == line


def test_a_raised_subtree_is_drawn_as_it_is_and_the_way_back_is_free(open_page):
    X, y = load_iris(return_X_y=True)
    for seed in range(20):
        draw = np.random.default_rng(seed)
        noisy = np.where(draw.random(len(y)) < 0.2, draw.integers(0, 3, len(y)), y)
        est = tw.C45Classifier(confidence=None, min_samples_leaf=1).fit(X[::2], noisy[::2])
        if "raise" in est.prune("error_based").prune_log_.actions:
            break
    aside = X[1::2], noisy[1::2]
    opened = open_page(tw.report(est, *aside).html)

    opened.page.locator('[data-pruner="error_based"]').click()

    small = est.prune("error_based")
    wait_for_leaves(opened, small.get_n_leaves())
    assert matrix(opened) == confusion_matrix(aside[1], small.predict(aside[0])).tolist()
    opened.page.get_by_role("button", name="whole tree", exact=True).click()
    wait_for_leaves(opened, est.get_n_leaves())


def test_numbers_have_errors_in_their_own_unit_and_no_confusion_matrix(open_page):
    X, y = load_diabetes(return_X_y=True)
    est = tw.DecisionTreeRegressor(min_samples_leaf=5).fit(X[::2], y[::2])
    opened = open_page(tw.report(est, X[1::2], y[1::2]).html)

    to_step(opened, 5)

    small = est.prune("cost_complexity", alpha=exact(opened, "alpha"))
    squares = ((small.predict(X[1::2]) - y[1::2]) ** 2).mean()
    assert exact(opened, "error") == pytest.approx(squares, rel=1e-9)
    assert exact(opened, "rmse") == pytest.approx(squares**0.5, rel=1e-9)
    assert opened.page.locator("#pruning .chart-matrix").count() == 0


def test_why_a_pruner_is_not_defined_is_read_on_a_phone(open_page, est):
    page = open_page(tw.report(est.model_, *ASIDE).html, width=400).page
    why = page.locator("#why-error_based")

    assert why.inner_text() == "needs the training rows, which are not available"
    inside = page.locator(".table-wrap:has(.pruning-others)").bounding_box()
    box = why.locator(".pruning-why").bounding_box()
    assert box["x"] + box["width"] <= inside["x"] + inside["width"]


def test_rows_of_the_fit_are_judged_by_folds_and_what_is_not_defined_says_why(open_page, est):
    opened = open_page(tw.report(est, *LEARNED).html)

    button = opened.page.locator('[data-pruner="reduced_error"]')
    assert button.is_disabled()
    why = opened.page.locator("#" + button.get_attribute("aria-describedby")).inner_text()
    assert "not fitted on" in why
    assert "10 folds" in opened.page.locator("#pruning").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_section_has_no_serious_fault_of_accessibility(open_page, report, axe_source, scheme):
    opened = open_page(report.html, scheme=scheme)
    to_step(opened, 2)
    opened.page.locator("#pruning .chart-numbers summary").click()
    opened.page.locator("#pruning .chart-numbers table").wait_for()

    opened.page.evaluate(axe_source)
    asked = "axe.run({include: [['#pruning'], ['#pruning-bar']]}, {resultTypes: ['violations']})"
    found = opened.page.evaluate(f"async () => (await {asked}).violations")

    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in found if fault["impact"] != "minor"] == []


def test_a_step_of_a_large_tree_takes_less_than_a_tenth_of_a_second(open_page):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(2500, 6))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + draw.normal(size=2500) > 0).astype(int)
    est = tw.DecisionTreeClassifier().fit(X, y)
    assert est.tree_.n_nodes > 700
    aside = draw.normal(size=(500, 6))
    opened = open_page(tw.report(est, aside, (aside[:, 0] > 0).astype(int), examples=0).html)

    took = opened.page.evaluate("""() => {
        const slider = document.getElementById("pruning-slider"), times = [];
        for (let at = 1; at <= 20; at++) {
            const begin = performance.now();
            slider.value = String(Math.round(at * slider.max / 20));
            slider.dispatchEvent(new Event("input"));
            document.body.offsetHeight;
            times.push(performance.now() - begin);
        }
        return times.sort((one, other) => one - other);
    }""")

    # The middle one: a machine that does something else now and then must not decide.
    assert took[len(took) // 2] < 100


def test_of_several_outputs_the_page_says_which_one_is_counted(open_page):
    table, target = LEARNED[0], np.column_stack([LEARNED[1], np.roll(LEARNED[1], 1)])
    est = tw.DecisionTreeClassifier(max_depth=2).fit(table, target)
    opened = open_page(tw.report(est, table, target, cv=2, examples=1).html)

    told = opened.page.locator("#pruning").inner_text()
    assert "Confusion matrix of y0 on the training rows" in told
    assert "Errors are means over the outputs." in told
    assert "Share of each class of y0 in the leaf" in opened.page.locator("#follow").inner_text()
