"""The charts of a page: what stands in them, for eyes, for screen readers and in any width."""

from __future__ import annotations

import json

import pytest

from treewright.show.page.render import asset, style_text

HOSTILE = "<img src=x onerror=alert(1)>&amp;"
LINES = {
    "title": "Error", "x": [0, 0.001, 0.01, 0.1], "xlabel": "alpha", "ylabel": "share", "logx": True, "cursor": 0.01,
    "marks": [{"x": 0.01, "label": "least error"}, {"x": 0.1, "label": "1-SE"}],
    "series": [
        {"name": "training", "y": [0, 0.1, 0.2, 0.4], "step": True},
        {"name": HOSTILE, "y": [0.3, None, 0.2, "inf"], "low": [0.2, 0.2, 0.1, 0.1], "high": [0.4, 0.4, 0.3, 0.3]},
    ],
}  # fmt: skip
BARS = {"title": "Importance", "labels": ["a", HOSTILE, "c"], "values": [0.5, -0.1, None], "low": [0.4, -0.2, None],
        "high": [0.6, 0, None], "xlabel": "loss"}  # fmt: skip
STACKED = {"title": "Ages", "labels": ["0 to 1", "1 to 2", "missing"], "edges": [0, 1, 2], "ylabel": "rows",
           "parts": [{"name": "no", "values": [3, 0, 1], "color": "var(--class-0)"},
                     {"name": HOSTILE, "values": [2, 5, 0], "color": "var(--class-1)"}]}  # fmt: skip
POINTS = {"title": "Residuals", "x": [1, 2, 3], "y": [0.5, -1, "inf"], "xlabel": "predicted", "ylabel": "residual",
          "zero": True}  # fmt: skip
MATRIX = {"title": "Confusion", "labels": ["no", HOSTILE], "counts": [[5, 0], [1.5, 4]]}
CHARTS = {"lines": LINES, "bars": BARS, "stacked": STACKED, "points": POINTS, "matrix": MATRIX}


ODD = ([], [None], [5], [1e308, -1e308], ["inf", "-inf"], [0, 0], [1e-320, 2e-320])


def page_with(charts):
    """A page with charts, (kind, options) each; what drew them is ``made``."""
    names = ("dom", "numbers", "chart_axes", "chart_bars", "chart")
    scripts = "\n".join(asset("scripts", f"{name}.js") for name in names)
    calls = "\n".join(f'made.push(chart.{kind}(dom.byId("host"), {json.dumps(options)}));' for kind, options in charts)
    return (
        f'<!doctype html><html lang="en"><title>Charts</title><style>{style_text()}</style><main><h1>Charts</h1>'
        f'<section id="host"></section></main><script>(() => {{ "use strict"; {scripts}\n'
        f"const made = globalThis.made = [];\n{calls}\n"
        'document.documentElement.dataset.ready = "yes"; })();</script></html>'
    )


ALL = page_with(CHARTS.items())


@pytest.mark.smoke
def test_a_chart_has_a_caption_a_gist_and_its_numbers(open_page):
    opened = open_page(ALL)

    for place, (kind, options) in enumerate(CHARTS.items()):
        figure = opened.page.locator("figure.chart").nth(place)
        assert figure.locator("figcaption").inner_text() == options["title"]
        if kind != "matrix":
            gist = figure.locator("svg[role=img]").get_attribute("aria-label")
            assert gist.startswith(options["title"] + ". ")
            assert len(gist) > 40
            figure.locator("summary").click()
        figure.locator("table").wait_for()
        assert figure.locator("tbody tr").count() == len(options.get("x") or options["labels"])


@pytest.mark.smoke
def test_names_made_of_html_are_text(open_page):
    opened = open_page(ALL)

    assert opened.page.locator("img").count() == 0
    for place, kind in enumerate(CHARTS):
        if kind != "points":
            assert HOSTILE in opened.page.locator("figure").nth(place).evaluate("(one) => one.textContent")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_in_a_chart(open_page, faults, scheme):
    opened = open_page(ALL, scheme=scheme)

    assert faults(opened.page) == []


def test_charts_are_drawn_anew_where_their_width_changes(open_page):
    opened = open_page(ALL)
    for width in (1100, 360):
        opened.page.set_viewport_size({"width": width, "height": 700})
        opened.page.wait_for_function(
            "() => [...document.querySelectorAll('svg.chart-drawing')].every((svg) =>"
            " Math.abs(svg.viewBox.baseVal.width - svg.parentNode.clientWidth) <= 1)"
        )
        outside = opened.page.evaluate("""() => {
            const frame = document.querySelector("figure").getBoundingClientRect();
            return [...document.querySelectorAll(".chart-drawing text")].filter((text) => {
                const box = text.getBoundingClientRect();
                return box.left < frame.left - 1 || box.right > frame.right + 1;
            }).map((text) => text.textContent);
        }""")
        assert outside == []
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_cursor_and_counts_follow_an_update(open_page):
    opened = open_page(ALL)
    before = opened.page.locator(".chart-cursor").get_attribute("x1")

    opened.page.evaluate("made[0].update({ cursor: 0.1 })")
    opened.page.evaluate("made[4].update({ counts: [[1, 2], [3, 4]] })")

    assert opened.page.locator(".chart-cursor").count() == 1
    assert float(opened.page.locator(".chart-cursor").get_attribute("x1")) > float(before)
    assert opened.page.locator("td.chart-cell").all_inner_texts() == ["1", "2", "3", "4"]
    assert "33.3 % of the row" in opened.page.locator("td.chart-cell").first.get_attribute("title")


def test_strange_numbers_are_drawn_or_left_out(open_page):
    charts = []
    for values in ODD:
        x, names = list(range(len(values))), [str(at) for at in range(len(values))]
        charts += [
            (
                "lines",
                {"title": "Odd", "x": x, "series": [{"name": "odd", "y": values, "low": values, "high": values}]},
            ),
            ("points", {"title": "Odd", "x": x, "y": values, "diagonal": True}),
            ("bars", {"title": "Odd", "labels": names, "values": values}),
            (
                "stacked",
                {"title": "Odd", "labels": names, "parts": [{"name": "odd", "values": values, "color": "red"}]},
            ),
        ]
    opened = open_page(page_with(charts))

    drawn = opened.page.evaluate("() => [...document.querySelectorAll('svg')].map((svg) => svg.outerHTML).join('')")
    assert "NaN" not in drawn
    assert "Infinity" not in drawn


def test_values_above_the_top_leave_the_picture_and_stay_in_the_table(open_page):
    lines = {"title": "Loss", "x": list(range(1, 41)), "xlabel": "rounds", "ylabel": "loss", "top": 2,
             "series": [{"name": "loss", "y": [1000, 100, *(2 - at / 40 for at in range(38))]}]}  # fmt: skip
    page = open_page(page_with([("lines", lines)])).page

    ticks = [text for text in page.locator("svg text").all_text_contents() if text.replace(".", "").isdigit()]
    assert "1000" not in ticks
    box = page.locator("svg").first.bounding_box()
    line = page.locator("path.chart-line").first.bounding_box()
    assert line["y"] >= box["y"]
    page.locator("details > summary").click()
    assert "1000" in page.locator("tbody").inner_text()
