"""Following a row in a real browser: the leaf, the words and the changes are those of Python."""

from __future__ import annotations

import datetime as dt
import math
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import treewright as tw
from treewright.reporting.data import Options, report_data
from treewright.reporting.document import columns_in_words
from treewright.reporting.tree import examples_part
from treewright.show.page import tree as page_levels
from treewright.show.page.parts import Summary
from treewright.show.page.render import render
from treewright.show.page.tree import tree_part

TOWNS = [f"town {at:03}" for at in range(120)]


def table(n, seed):
    rng = np.random.default_rng(seed)
    X = {
        "age": rng.integers(18, 80, n).astype(float).tolist(),
        "income": rng.normal(50, 15, n).round(1).tolist(),
        "kind": rng.choice(["new", "old", "odd"], n).tolist(),
        "size": rng.choice(["S", "M", "L"], n).tolist(),
        "town": rng.choice(TOWNS, n).tolist(),
        "noise": rng.normal(size=n).tolist(),
    }
    X["income"] = [None if rng.random() < 0.1 else cell for cell in X["income"]]
    age, kind = np.array(X["age"]), np.array(X["kind"])
    size = np.array([["S", "M", "L"].index(cell) for cell in X["size"]])
    income = np.array([40.0 if cell is None else cell for cell in X["income"]])
    score = age / 10 + 3 * (kind == "old") + 2 * size + income / 20 + rng.normal(0, 1, n)
    return X, score


def labels(score):
    return np.array(["low", "middle", "high"])[np.digitize(score, [8.5, 11])]


def page_of(est, X, y, examples=40):
    """A page with the tree and the rows to follow, and nothing else."""
    judged = report_data(est.model_, est, X, y)
    tree = tree_part(est.model_)
    summary = Summary(
        title="Follow", subtitle="", task=est.model_.task, target="", facts=(), notes=(),
        columns=columns_in_words(judged), text="", tree=tree, version="0",
        examples=examples_part(judged, Options(examples=examples), tree),
    )  # fmt: skip
    summary = page_levels.with_named_levels(summary)
    return render(summary), summary


@pytest.fixture(scope="module")
def data():
    X, score = table(400, 0)
    return X, labels(score), score


@pytest.fixture(scope="module")
def classes(data):
    X, y, _ = data
    options = {"max_depth": 5, "min_samples_leaf": 6, "ordinal": {"size": ["S", "M", "L"]}}
    est = tw.DecisionTreeClassifier(missing="surrogate", **options).fit(X, y)
    return est, *page_of(est, X, y)


@pytest.fixture(scope="module")
def numbers(data):
    X, _, score = data
    est = tw.DecisionTreeRegressor(max_depth=4, min_samples_leaf=6, ordinal={"size": ["S", "M", "L"]}).fit(X, score)
    return est, *page_of(est, X, score)


def row_at(X, at):
    return {name: cells[at] for name, cells in X.items()}


def painted(page):
    """Wait until what was typed has been answered: at the next picture."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def told(opened):
    """What the section says about the row."""
    page = opened.page
    painted(page)
    return {
        "leaf": int(page.locator("[data-name=follow-leaf]").get_attribute("data-leaf")),
        "said": page.locator("[data-name=follow-said]").inner_text(),
        "nodes": page.locator(".follow-steps li").evaluate_all(
            "items => items.map((each) => Number(each.dataset.node))"
        ),
        "edges": page.locator(".follow-edge").evaluate_all("items => items.map((item) => item.lastChild.textContent)"),
        "cards": page.locator(".follow-card").evaluate_all(
            "cards => cards.map((card) => [card.dataset.want, Number(card.dataset.leaf)])"
        ),
    }


@pytest.mark.smoke
def test_every_example_ends_in_the_leaf_that_apply_gives(open_page, classes, data):
    est, html, summary = classes
    X = data[0]
    opened = open_page(html)
    edges = {node.id: node.edge.replace("<=", "\u2264") for node in summary.tree.nodes}
    nodes = est.decision_path(X).toarray()
    for at, example in enumerate(summary.examples.rows[:8]):
        opened.page.select_option("#follow-example", str(at))
        found = told(opened)

        row = row_at(X, example.number)
        assert found["leaf"] == est.apply({name: [cell] for name, cell in row.items()})[0]
        assert found["said"] == est.model_.predict_one(row)
        way = np.flatnonzero(nodes[example.number])[1:].tolist()
        assert found["nodes"] == way
        assert found["edges"] == [edges[node] for node in way]
        expected = {}
        for label in set(est.classes_) - {found["said"]}:
            other = est.counterfactual(row, label, like=X)
            if other.found:
                expected[label] = other.leaf
        assert dict(found["cards"]) == expected


def test_the_interval_is_that_of_the_rules(open_page, classes):
    est, html, _ = classes
    opened = open_page(html)
    leaf = told(opened)["leaf"]
    [rule] = [rule for rule in est.rules() if rule.leaf == leaf]

    low, high = rule.interval
    expected = f"95 % interval of the share of {rule.prediction}: {100 * low:.1f} % to {100 * high:.1f} % (Wilson)"
    assert opened.text("follow-interval").replace("\u00a0", " ") == expected


def test_the_suggested_change_gives_the_class(open_page, classes):
    opened = open_page(classes[1])
    tried = 0
    for at in range(5):
        for card in range(2):
            opened.page.select_option("#follow-example", str(at))
            found = told(opened)
            if card >= len(found["cards"]):
                continue
            wanted, leaf = found["cards"][card]
            opened.page.locator(".follow-card").nth(card).get_by_role("button").click()
            after = told(opened)

            assert (after["said"], after["leaf"]) == (wanted, leaf)
            assert opened.page.locator("#follow-example").input_value() == ""
            tried += 1
    assert tried > 5


@pytest.mark.smoke
def test_typed_values_are_followed(open_page, classes, data):
    est, html, summary = classes
    opened = open_page(html)
    page, names = opened.page, [column.name for column in summary.columns]
    field = lambda name: page.locator(f"#follow-field-{names.index(name)}")  # noqa: E731
    for details in page.locator(".follow-fields details").all():
        details.locator("summary").click()
    for age, income, kind, size in ((20, "", "new", "S"), (70, "61.5", "old", "L"), (44.5, "30", "odd", "M")):
        field("age").fill(str(age))
        field("income").fill(income)
        field("kind").select_option(label=kind)
        field("size").select_option(label=size)
        field("town").fill("town 007")
        row = {
            "age": age, "income": float(income) if income else None, "kind": kind, "size": size, "town": "town 007",
            "noise": 0.5,
        }  # fmt: skip
        field("noise").fill("0.5")

        found = told(opened)

        assert found["leaf"] == est.apply({name: [cell] for name, cell in row.items()})[0]
        assert found["said"] == est.model_.predict_one(row)


def test_a_text_that_is_no_number_or_no_level_is_marked_and_changes_nothing(open_page, classes):
    _, html, summary = classes
    opened = open_page(html)
    page, names = opened.page, [column.name for column in summary.columns]
    before = told(opened)
    age = page.locator(f"#follow-field-{names.index('age')}")

    age.fill("twelve")

    assert age.get_attribute("aria-invalid") == "true"
    assert told(opened) == before
    age.fill("12")
    assert age.get_attribute("aria-invalid") == "false"
    for details in page.locator(".follow-fields details").all():
        details.locator("summary").click()
    town = page.locator(f"#follow-field-{names.index('town')}")
    town.fill("nowhere")
    assert town.get_attribute("aria-invalid") == "true"
    assert page.locator("datalist option").count() == 0
    town.fill("town 01")
    assert page.locator("datalist option").count() == 10


def test_a_level_that_the_fit_saw_elsewhere_only_is_said_to_be_new_here(open_page):
    X = {"x": [0.0] * 12 + [1.0] * 12, "kind": ["a", "b"] * 6 + ["c"] * 12}
    y = np.array(["one", "two"] * 6 + ["three"] * 12)
    est = tw.DecisionTreeClassifier().fit(X, y)
    html, summary = page_of(est, X, y)
    opened = open_page(html)
    opened.page.select_option("#follow-example", "0")
    for name, text in (("x", "0"), ("kind", "c")):
        at = [column.name for column in summary.columns].index(name)
        field = opened.page.locator(f"#follow-field-{at}")
        field.fill(text) if name == "x" else field.select_option(label=text)

    found = told(opened)

    assert found["leaf"] == est.apply({"x": [0.0], "kind": ["c"]})[0]
    lines = opened.page.locator(".follow-has").all_inner_texts()
    assert lines == ["x is 0", "kind is c: not in this node's training rows, it takes this branch"]


def test_a_kept_column_is_not_changed(open_page, classes, data):
    est, html, summary = classes
    opened = open_page(html)
    names, X = [column.name for column in summary.columns], data[0]
    row = row_at(X, summary.examples.rows[0].number)
    said = told(opened)["said"]
    found = {label: est.counterfactual(row, label, like=X) for label in set(est.classes_) - {said}}
    kept = next(each for each in found.values() if each.found).changes[0].column

    opened.page.check(f"#follow-field-{names.index(kept)}-keep")

    expected = {}
    for label in found:
        other = est.counterfactual(row, label, keep=[kept], like=X)
        if other.found:
            expected[label] = other.leaf
    assert dict(told(opened)["cards"]) == expected


def test_only_wrong_answers_are_offered_where_that_is_asked(open_page, classes):
    _, html, summary = classes
    opened = open_page(html)
    wrong = sum(row.right is False for row in summary.examples.rows)

    opened.page.check("#follow-wrong")

    assert opened.page.locator("#follow-example option").count() == wrong + 1
    assert ", predicted " in opened.page.locator("#follow-example option:checked").inner_text()
    opened.page.get_by_role("button", name="Next row").click()
    assert ", predicted " in opened.page.locator("#follow-example option:checked").inner_text()


def test_numbers_are_followed_and_asked_for(open_page, numbers, data):
    est, html, summary = numbers
    X = data[0]
    opened = open_page(html)
    page = opened.page
    row = row_at(X, summary.examples.rows[0].number)
    now = est.model_.predict_one(row)
    found = told(opened)
    assert found["leaf"] == est.apply({name: [cell] for name, cell in row.items()})[0]

    wanted = round(now + 1.5, 2)
    page.fill("#follow-target", str(wanted))
    page.locator("#follow-target").press("Enter")

    cards = dict(told(opened)["cards"])
    assert cards[f"at least {wanted:g}"] == est.counterfactual(row, at_least=wanted, like=X).leaf
    assert cards["a greater number"] == est.counterfactual(row, at_least=math.nextafter(now, math.inf), like=X).leaf
    assert cards["a smaller number"] == est.counterfactual(row, at_most=math.nextafter(now, -math.inf), like=X).leaf


def test_a_report_without_rows_begins_with_middle_values(open_page, classes, data):
    est, _, _ = classes
    html, summary = page_of(est, data[0], data[1], examples=0)
    opened = open_page(html)

    assert opened.page.locator("#follow-example").count() == 0
    middle = {
        column.name: column.middle if column.kind == "numeric" else column.levels[0] for column in summary.columns
    }
    assert told(opened)["leaf"] == est.apply({name: [cell] for name, cell in middle.items()})[0]


def test_a_model_that_refuses_missing_values_says_so(open_page):
    X, score = table(200, 3)
    X["income"] = [40.0 if cell is None else cell for cell in X["income"]]
    est = tw.DecisionTreeClassifier(max_depth=4, missing="error").fit(X, labels(score))
    html, summary = page_of(est, X, labels(score))
    opened = open_page(html)
    at = [column.name for column in summary.columns].index("age")

    opened.page.fill(f"#follow-field-{at}", "")
    painted(opened.page)

    assert "refuses rows with missing values" in opened.page.locator(".follow-told").inner_text()


@pytest.mark.parametrize(("n_classes", "is_below"), [(3, False), (9, True)])
def test_many_changes_stand_below_the_way_across_the_page(open_page, n_classes, is_below):
    X, score = table(400, 5)
    y = np.array([f"class {at}" for at in range(n_classes)])[np.argsort(np.argsort(score)) * n_classes // 400]
    opened = open_page(page_of(tw.DecisionTreeClassifier(max_depth=5).fit(X, y), X, y)[0], width=1200)
    painted(opened.page)
    assert opened.page.locator(".follow-card").count() == n_classes - 1

    change, form, way = (
        opened.page.locator(name).bounding_box() for name in (".follow-change", ".follow-form", ".follow-way")
    )
    assert (change["x"] == form["x"]) == is_below
    assert (change["y"] >= max(one["y"] + one["height"] for one in (form, way))) == is_below


def test_the_way_lights_up_in_the_tree_once_somebody_chose_a_row(open_page, classes):
    opened = open_page(classes[1])
    painted(opened.page)
    assert opened.page.locator("#tree .on-row").count() == 0

    opened.page.get_by_role("button", name="Next row").click()
    painted(opened.page)

    assert opened.page.locator("#tree .on-row").count() > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(open_page, faults, classes, scheme):
    opened = open_page(classes[1], scheme=scheme)
    for details in opened.page.locator(".follow-fields details").all():
        details.locator("summary").click()

    assert faults(opened.page) == []


def test_the_leaf_is_that_of_the_pruned_tree_that_is_shown(open_page):
    X, y = load_breast_cancer(return_X_y=True)
    est = tw.DecisionTreeClassifier().fit(X[::2], y[::2])
    report = tw.report(est, X[1::2], y[1::2], examples=10)
    opened = open_page(report.html)
    steps = report.summary.pruning.steps
    for at in (1, len(steps) // 2, len(steps) - 1):
        pruned = est.prune("cost_complexity", alpha=report.summary.pruning.alphas[at])
        opened.page.locator("#pruning-slider").fill(str(at))
        for example in range(0, 10, 3):
            opened.page.select_option("#follow-example", str(example))
            found = told(opened)

            row = X[1::2][
                report.summary.examples.rows[example].number : report.summary.examples.rows[example].number + 1
            ]
            assert found["said"] == str(pruned.predict(row)[0])
            assert len(found["nodes"]) == pruned.decision_path(row).sum() - 1
            other = pruned.counterfactual(row, like=X[1::2])
            assert bool(found["cards"]) == other.found
            assert opened.page.locator(".follow-card li").count() == len(other.changes)


def test_hostile_names_are_shown_as_text(open_page):
    bad = ['<img src=x onerror="document.title=1">', "</script><script>document.title=2</script>", "\u202e{{7*7}}", ""]
    rng = np.random.default_rng(1)
    name, many = bad[1], [f'"><b id=own{at}>' for at in range(80)]
    X = {bad[0]: rng.normal(size=300).tolist(), name: rng.choice(bad, 300).tolist(), "n" * 3000: rng.choice(many, 300)}
    codes = (np.array(X[bad[0]]) > 0).astype(int) + 2 * (np.array(X[name]) == bad[1])
    y = np.array([f"<i>{label}</i>" for label in bad], object)[codes]
    est = tw.DecisionTreeClassifier(max_depth=4).fit(X, y)
    html, _ = page_of(est, X, y)
    opened = open_page(html)
    page = opened.page

    for details in page.locator(".follow-fields details").all():
        details.locator("summary").click()
    for at in range(4):
        page.select_option("#follow-example", str(at))
        page.locator(".follow-card").first.get_by_role("button").click()
        assert told(opened)["said"].strip('"').startswith("<i>")

    assert page.title() == "Follow"
    assert page.locator("script").count() == 2
    assert page.locator("#follow img, #follow i, #follow b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


SPANS = {
    "date": ([dt.date(2024, 1, 1) + dt.timedelta(days=7 * at) for at in range(40)], "2024-03-05", "5.3.2024"),
    "datetime": (
        [dt.datetime(2024, 1, 1, 6) + dt.timedelta(hours=5 * at) for at in range(40)],  # noqa: DTZ001
        "2024-01-03 14:30:05",
        "2024-01-03 14:30+01:00",
    ),
    "zone": (
        [
            dt.datetime(2024, 1, 1, 6, tzinfo=dt.timezone(dt.timedelta(hours=2))) + dt.timedelta(hours=at)
            for at in range(40)
        ],
        "2024-01-01T20:30+02:00",
        "2024-01-01 20:30",
    ),
    "duration": ([dt.timedelta(hours=7 * at) for at in range(40)], "3 days 04:30:00", "three days"),
    "time": ([dt.time(at // 2, 30 * (at % 2)) for at in range(40)], "14:15", "noon"),
}


@pytest.mark.parametrize("family", SPANS)
def test_dates_are_typed_and_told_as_dates(open_page, family):
    cells, typed, wrong = SPANS[family]
    y = ["a" if 8 < at < 20 or at > 33 else "b" for at in range(40)]
    est = tw.DecisionTreeClassifier().fit({"when": cells}, y)
    html, _ = page_of(est, {"when": cells}, y)
    opened = open_page(html)
    page, field = opened.page, opened.page.locator("#follow-field-0")

    shown = field.input_value()
    field.fill(typed)
    found, steps = told(opened), page.locator(".follow-has").first.inner_text()
    field.fill(wrong)
    words = page.locator("#follow-field-0-words").inner_text()

    value = {"duration": dt.timedelta(days=3, hours=4, minutes=30), "time": dt.time(14, 15)}.get(family, typed)
    assert found["leaf"] == est.apply({"when": [value]})[0]
    assert steps.startswith("when is 20" if family in ("date", "datetime", "zone") else f"when is {typed}")
    assert words.startswith("not read as a ")
    assert told(opened)["leaf"] == found["leaf"]
    assert not shown.replace(".", "").isdigit()
    field.fill(typed)
    page.get_by_role("button", name="Try it").first.click()
    assert told(opened)["said"] != found["said"]


def test_of_a_large_column_some_levels_can_be_typed_and_the_others_are_told_of(open_page, monkeypatch):
    monkeypatch.setattr(page_levels, "MOST_LEVELS", 120)
    towns = [f"town {at:03d}" for at in range(200)] * 3
    y = ["b" if at % 5 == 0 else "a" for at in range(200)] * 3
    est = tw.DecisionTreeClassifier(nominal=["town"]).fit({"town": towns}, y)
    html, _ = page_of(est, {"town": towns[:30]}, y[:30])
    opened = open_page(html)
    field = opened.page.locator("#follow-field-0")

    for town in ("town 005", "town 006"):
        field.fill(town)
        assert told(opened)["leaf"] == est.apply({"town": [town]})[0]
    field.fill("town 199")

    words = opened.page.locator("#follow-field-0-words").inner_text()
    assert words == "no such level among the 120 levels in this page (80 more are not); town 006 stays"


@pytest.mark.parametrize("zone", ["", "Europe/Oslo"])
def test_parts_of_a_date_follow_the_date_that_is_typed(open_page, zone):
    start = dt.datetime(2024, 3, 29, tzinfo=ZoneInfo(zone) if zone else None)
    cells = [start + dt.timedelta(hours=5 * at) for at in range(120)]
    y = [("free" if cell.weekday() > 4 else "early" if cell.hour < 9 else "late") for cell in cells]
    est = tw.DecisionTreeClassifier(calendar=["weekday", "hour", "month"]).fit({"when": cells}, y)
    html, _ = page_of(est, {"when": cells}, y)
    opened = open_page(html)
    page, field = opened.page, opened.page.locator("#follow-field-0")

    for text in ("2024-03-31 00:30", "2024-03-31 23:30", "2024-04-02 07:59", "2024-04-02 21:15"):
        typed = text + ("+00:00" if zone else "")
        field.fill(typed)
        assert told(opened)["leaf"] == est.apply({"when": [typed]})[0]
        assert told(opened)["said"].strip('"') == est.predict({"when": [typed]})[0]

    parts = page.locator("#follow output").all_inner_texts()
    assert parts[:2] == ["Tuesday", "23" if zone else "21"]
    field.fill("")
    assert page.locator("#follow output").first.inner_text() == "missing"
