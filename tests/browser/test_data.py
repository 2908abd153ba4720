"""The data section: findings, a table that is sorted, filtered and opened, charts with Python's numbers in them."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from typing import NamedTuple

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import DataWarning
from treewright.reporting.columns import columns_part
from treewright.reporting.data import Options, report_data
from treewright.reporting.document import columns_in_words
from treewright.reporting.findings import findings_of
from treewright.show.page.parts import Summary
from treewright.show.page.render import render

HOSTILE = '<img src=x onerror="window.broken=1">'


class Page(NamedTuple):
    """A page that shows the data section and nothing else: a whole report takes longer to make than to test."""

    summary: Summary
    html: str


def page_of(est, table, target):
    """Fitted on every second row, judged by the others."""
    first, second = (({name: cells[at::2] for name, cells in table.items()}, target[at::2]) for at in (0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        est.fit(*first)
        judged = report_data(est.model_, est, *second)
        summary = Summary(
            title="Data", subtitle="", task=est.model_.task, target="", facts=(), notes=(),
            columns=columns_in_words(judged), text="", tree=None, version="0",
            data=columns_part(judged, Options()), findings=findings_of(judged),
        )  # fmt: skip
    return Page(summary, render(summary))


def classes_table():
    rng = np.random.default_rng(0)
    table = {
        "heat": rng.normal(size=300),
        "sky": rng.choice(["sun", "rain", "fog"], 300),
        HOSTILE: rng.normal(size=300),
        "one": np.ones(300),
    }
    score = table["heat"] + (table["sky"] == "sun") + 0.3 * table[HOSTILE]
    return table, np.where(score > 1.2, "hot", np.where(score > 0, "<b>mild</b>", "cold"))


@pytest.fixture(scope="module")
def classes():
    return page_of(tw.DecisionTreeClassifier(min_samples_leaf=4), *classes_table())


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(1)
    table = {f"column {at:03d}": rng.normal(size=240) for at in range(200)}
    target = 3 * table["column 017"] - table["column 100"] + 0.1 * rng.normal(size=240)
    return page_of(tw.DecisionTreeRegressor(max_depth=5), table, target)


def names_shown(page):
    return page.locator("#data-table tbody tr[data-at]:visible .data-name").all_inner_texts()


def sort_by(page, key):
    page.locator(f'#data-table th[data-key="{key}"] button').click()


@pytest.mark.smoke
def test_the_numbers_of_the_table_are_pythons(open_page, classes):
    page = open_page(classes.html).page
    for at, part in enumerate(classes.summary.data):
        for key in ("impurity", "permutation"):
            held = page.locator(f'#data-table tr[data-at="{at}"] [data-bar="{key}"] [data-value]')
            if part.asked:
                assert float(held.get_attribute("data-value")) == getattr(part, key)
            else:
                assert held.count() == 0


def test_findings_are_read_before_the_table(open_page, classes):
    page = open_page(classes.html).page

    told = page.locator("#data .finding p").all_inner_texts()
    assert told == [f"{finding.text} {finding.advice}" for finding in classes.summary.findings]
    assert any("Column one has the same value" in text for text in told)


def test_headers_sort_by_pointer_and_by_keyboard_and_say_so(open_page, classes):
    page = open_page(classes.html).page
    parts = classes.summary.data
    head = page.locator('#data-table th[data-key="permutation"]')
    assert head.get_attribute("aria-sort") == "descending"
    assert names_shown(page) == [part.name for part in parts]

    sort_by(page, "name")
    assert names_shown(page) == sorted(part.name for part in parts)
    assert page.locator('#data-table th[data-key="name"]').get_attribute("aria-sort") == "ascending"
    assert head.get_attribute("aria-sort") is None

    page.locator('#data-table th[data-key="name"] button').press("Enter")
    assert names_shown(page) == sorted((part.name for part in parts), reverse=True)
    assert page.locator("#data-tools [role=status]").inner_text() == "Sorted by column, descending."


def test_a_column_opens_by_keyboard_and_shows_pythons_numbers(open_page, classes):
    page = open_page(classes.html).page
    parts = classes.summary.data
    at = next(at for at, part in enumerate(parts) if part.name == "sky")
    button = page.locator(f'#data-table tr[data-at="{at}"] .data-open')
    button.press("Enter")
    detail = page.locator(f"#data-detail-{at}")

    assert button.get_attribute("aria-expanded") == "true"
    figures = detail.locator("figure")
    assert figures.count() == 2
    figures.nth(1).locator("summary").click()
    figures.nth(1).locator("tbody tr").first.wait_for()  # the table is made when it opens
    rows = figures.nth(1).locator("tbody tr").all_inner_texts()
    lines = parts[at].dependence.lines
    for index, (label, row) in enumerate(zip(parts[at].dependence.labels, rows, strict=True)):
        name, *cells = row.split("\t")
        assert name == label
        assert [float(cell) for cell in cells] == [pytest.approx(line.means[index], rel=5e-4) for line in lines]

    button.press("Enter")
    assert not detail.is_visible()


def test_a_chosen_class_shows_its_single_rows(open_page, classes):
    page = open_page(classes.html).page
    part = next(part for part in classes.summary.data if part.name == "heat")
    page.locator(".data-open", has_text="heat").click()
    figure = page.locator(".dependence-class").locator("xpath=ancestor::figure")
    assert figure.locator(".dependence-row").count() == 0
    assert figure.locator(".dependence-mean").count() == 3

    figure.locator("select").select_option(label="hot")
    assert figure.locator(".dependence-row").count() == len(part.dependence.lines[-1].rows)
    assert figure.locator(".dependence-mean").count() == 1
    assert "hot: lowest" in figure.locator("svg[role=img]").get_attribute("aria-label")


def test_a_row_that_is_followed_is_marked_in_open_charts(open_page):
    table, target = classes_table()
    report = tw.report(tw.DecisionTreeClassifier(max_depth=2).fit(table, target), table, target, cv=None, examples=5)
    page = open_page(report.html).page
    page.locator(".data-open", has_text="heat").click()
    chart = page.locator(".dependence-class").locator("xpath=ancestor::figure")
    assert chart.locator(".chart-cursor").count() == 0

    select = page.locator("#follow select").first
    select.select_option(index=2)
    assert chart.locator(".chart-cursor").count() == 1


def test_names_of_html_are_text(open_page, classes):
    page = open_page(classes.html).page
    for button in page.locator(".data-open").all():
        button.click()

    assert HOSTILE in names_shown(page)
    assert page.evaluate("window.broken") is None
    assert page.locator("#data img, #data b:not(caption b)").count() == 0


def test_of_many_columns_the_first_are_shown_and_any_is_found_by_its_name(open_page, wide):
    page = open_page(wide.html).page
    assert len(names_shown(page)) == 25

    page.locator("#data-filter").fill("COLUMN 17")
    assert set(names_shown(page)) == {f"column 17{digit}" for digit in range(10)}
    assert page.locator("#data-tools [role=status]").inner_text() == "10 of 200 columns"

    page.locator("#data-filter").fill("")
    page.locator(".data-more").click()
    assert len(names_shown(page)) == 200
    page.locator(".data-more").click()
    assert len(names_shown(page)) == 25


def test_a_target_of_numbers_has_its_mean_by_value(open_page, wide):
    page = open_page(wide.html).page
    page.locator(".data-open").first.click()

    titles = page.locator("#data-detail-0 figcaption").all_inner_texts()
    assert titles == ["Values", "Mean of the target by value", "Partial dependence"]


def test_a_column_that_is_not_asked_says_so(open_page, classes):
    page = open_page(classes.html).page
    page.get_by_role("button", name="one", exact=True).click()

    assert page.get_by_text("The model does not use this column").is_visible()


@pytest.mark.parametrize("width", [360, 1280])
def test_open_columns_do_not_widen_the_page(open_page, classes, width):
    page = open_page(classes.html, width=width).page
    for button in page.locator(".data-open").all():
        button.click()

    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_in_open_columns(open_page, faults, classes, scheme):
    page = open_page(classes.html, scheme=scheme).page
    for button in page.locator(".data-open").all():
        button.click()

    assert faults(page) == []


def test_no_word_is_broken_beside_long_values(open_page):
    rng = np.random.default_rng(0)
    table = {"longitude": 1e4 * rng.normal(size=200), "latitude": 1e-3 * rng.normal(size=200)}
    held = page_of(tw.DecisionTreeClassifier(max_depth=3), table, np.where(table["longitude"] > 0, "east", "west"))
    page = open_page(held.html, width=1200).page
    kinds = page.locator("#data-table tbody tr td:nth-child(2)")

    assert kinds.all_inner_texts() == ["numeric", "numeric"]
    lines = """cell => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getClientRects().length;
    }"""
    assert [cell.evaluate(lines) for cell in kinds.all()] == [1, 1]


def test_without_scripts_the_table_is_there(classes, chromium, tmp_path):
    path = tmp_path / "plain.html"
    path.write_text(classes.html, encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    names = page.locator("#data-table tbody th").all_inner_texts()
    context.close()

    assert [name.strip() for name in names] == [part.name for part in classes.summary.data]


def test_dependence_on_dates_has_dates_on_its_axis(open_page):
    days = [dt.date(2021, 1, 1) + dt.timedelta(days=at) for at in range(300)]
    target = [0.1 * min(at, 150) for at in range(300)]
    est = tw.DecisionTreeRegressor(max_depth=4)
    page = open_page(page_of(est, {"sold": days}, target).html).page

    page.locator(".data-open", has_text="sold").click()

    texts = page.locator("#data svg text").all_text_contents()
    assert sum(bool(re.fullmatch(r"202[01]-\d\d-\d\d", text)) for text in texts) >= 3, texts
    assert not any(re.fullmatch(r"1[89],?\d\d\d", text) for text in texts), texts
