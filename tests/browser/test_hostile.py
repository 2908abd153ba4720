"""Names made of HTML, script, template and Unicode tricks are shown as text (the battery's case C8-56)."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import treewright as tw

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    '"><svg/onload=alert(3)>',
    "{{7*7}}{% raw %}",
    "\u202eright to left",
    "]]><!--<script>",
    "javascript:alert(4)",
    "'; document.title='gone'; '",
    "__proto__",
    "constructor",
    "\u2028line\u2029",
    "\U0001f600 face \u0301\u0301\u0301",
    "half a pair \ud800",
    "tab\tnew\nline\x00\x1b[31m",
    "&lt;b&gt;&amp;#39;",
)


def hostile_table(n=160):
    """A table whose names are all hostile, and a target that its levels decide; no frame holds half a pair."""
    rng = np.random.default_rng(1)
    names = [*HOSTILE[:6], "x" * 100_000]
    columns = {name: rng.normal(size=n) for name in names[:-2]}
    levels = rng.integers(0, len(HOSTILE), n)
    columns[names[-2]] = np.array(HOSTILE, dtype=object)[levels]
    columns[names[-1]] = rng.normal(size=n)
    target = np.array(HOSTILE, dtype=object)[(levels + (columns[names[0]] > 0)) % 4]
    return columns, pd.Series(target, name="<u>target</u>")


def some(table, rows):
    return {name: cells[rows] for name, cells in table.items()}


def fitted(kind):
    table, target = hostile_table()
    if kind == "regression tree":
        return tw.DecisionTreeRegressor(min_samples_leaf=5), table, pd.Series(np.arange(len(target), dtype=float))
    made = {
        "tree": tw.DecisionTreeClassifier(min_samples_leaf=3),
        "multiway tree": tw.C45Classifier(),
        "forest": tw.RandomForestClassifier(n_estimators=5, random_state=0),
        "boosting": tw.GradientBoostingClassifier(n_estimators=3),
    }
    return made[kind], table, target


@pytest.mark.parametrize("kind", ["tree", "multiway tree", "regression tree", "forest", "boosting"])
def test_hostile_names_are_shown_as_text(open_page, kind):
    estimator, table, target = fitted(kind)
    first, rest = slice(None, 100), slice(100, None)
    estimator.fit(some(table, first), target[first])
    page = tw.report(estimator, some(table, rest), target[rest], title=HOSTILE[1]).html

    n_scripts = 2 + (kind in {"forest", "boosting"})  # many trees come as code
    assert len(re.findall(r"<script", page, re.IGNORECASE)) == n_scripts
    assert "Content-Security-Policy" in page
    opened = open_page(page)
    assert opened.page.title().strip() == HOSTILE[1]
    assert opened.page.evaluate("document.scripts.length") == n_scripts
    assert opened.page.evaluate("document.querySelectorAll('img, iframe, object, embed, svg[onload], u').length") == 0
    assert opened.page.evaluate("[...document.querySelectorAll('*')].filter(e => e.onerror || e.onload).length") == 0
    assert "<img src=x onerror=alert(1)>" in opened.page.content().replace("&lt;", "<").replace("&gt;", ">")


@pytest.mark.smoke
def test_nothing_but_the_pages_own_script_could_run(open_page):
    estimator, table, target = fitted("tree")
    page = tw.report(estimator.fit(table, target), table, target).html
    opened = open_page(page)

    opened.page.evaluate(
        "() => { const made = document.createElement('script'); made.textContent = 'window.ran = 1';"
        " document.body.append(made); }"
    )

    assert opened.page.evaluate("window.ran") is None
    assert any("Content Security Policy" in said for said in opened.complaints)
    opened.complaints.clear()
