"""The page of nearly optimal trees in a real browser: every picture is drawn, and it fits a phone."""

import numpy as np
import pytest

import treewright as tw


@pytest.fixture(scope="module")
def near():
    rng = np.random.default_rng(5)
    X = {name: rng.integers(0, 5, 60) for name in ("<b>age</b>", "height", "a_name_" * 12)}
    return tw.OptimalTreeClassifier(max_depth=2).fit(X, rng.integers(0, 2, 60)).near_optimal(tolerance=0.2)


@pytest.mark.smoke
def test_a_picture_of_each_listed_tree_is_drawn(open_page, near):
    page = open_page(near.html).page
    assert len(near) > 3
    page.locator(f"#tree-{len(near)}").scroll_into_view_if_needed()
    page.wait_for_function("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")
    assert page.locator("figure img").count() == len(near)
    assert page.locator("figcaption").first.inner_text().startswith(f"1: objective {near.least:.4}")
    assert page.locator("#columns th[scope=row]").all_inner_texts() == [
        str(column.name) for column in sorted(near.columns, key=lambda column: -column.share)
    ]


def test_the_page_fits_a_phone_and_has_no_faults(open_page, faults, near):
    for scheme in ("light", "dark"):
        page = open_page(near.html, width=360, height=700, scheme=scheme).page
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert faults(page) == []
