"""The frame of the page: it opens from disk, complains of nothing, loads nothing, and everybody can read it."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    est = tw.DecisionTreeClassifier(max_depth=4, min_samples_leaf=5).fit(X[:120], y[:120])
    return tw.report(est, X[120:], y[120:])


@pytest.mark.smoke
def test_the_page_opens_from_disk_and_loads_nothing(open_page, report):
    opened = open_page(report.html)

    assert opened.page.title() == report.summary.title


@pytest.mark.smoke
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(open_page, faults, report, scheme):
    opened = open_page(report.html, scheme=scheme)

    assert faults(opened.page) == []


def test_the_page_has_the_tree_as_text_without_scripts(open_page, report, chromium, tmp_path):
    path = tmp_path / "plain.html"
    path.write_text(report.html, encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())

    shown = page.locator("#text pre").inner_text()
    path_table = page.locator(".pruning-steps tbody tr").all()
    in_sight = [row.is_visible() for row in path_table]
    context.close()

    assert shown.strip() == report.summary.text.strip()
    assert len(in_sight) == len(report.summary.pruning.steps)
    assert all(in_sight)


def test_on_paper_stand_the_tables_whole_and_nothing_to_click(open_page, report):
    page = open_page(report.html, width=700).page
    page.emulate_media(media="print")

    names = page.locator("#data-table .data-name").all()
    assert [name.inner_text() for name in names if name.is_visible()] == [part.name for part in report.summary.data]
    assert page.locator("#data-table thead").is_visible()
    assert page.locator(".pruning-steps table").is_visible()
    for gone in (".sections", "#pruning-slider", "#follow-example", "[data-copy]", "#text", ".chart-numbers"):
        assert not any(each.is_visible() for each in page.locator(f"{gone} summary, {gone}:not(section)").all())
    wide = "all => all.filter(one => one.getBoundingClientRect().right > innerWidth + 1).map(one => one.className)"
    assert page.eval_on_selector_all("table, figure, p, h2, h3", wide) == []


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_is_never_wider_than_the_window(open_page, report, width):
    opened = open_page(report.html, width=width)

    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.smoke
def test_on_paper_stands_every_column(open_page):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(80, 40))
    target = (table[:, 0] > 0).astype(int) + (table[:, 1] > 0)
    page = open_page(
        tw.report(tw.DecisionTreeClassifier(max_depth=2).fit(table, target), table, target, cv=2).html
    ).page
    lines = page.locator("#data-table tr[data-at]")

    assert sum(line.is_visible() for line in lines.all()) < 40
    page.emulate_media(media="print")
    assert sum(line.is_visible() for line in lines.all()) == 40
    assert not page.locator(".data-more").is_visible()
