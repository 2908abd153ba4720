"""A tree alone as a page: what a notebook shows."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from steps import steps_of

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.show.page.render import plain
from treewright.show.page.tree import LEAST, MOST, tree_frame, tree_page, tree_part, tree_summary


@pytest.fixture(scope="module")
def iris():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
    return tw.DecisionTreeClassifier(max_depth=3).fit(X, y)


def inside(frame):
    """The page in a frame."""
    return html.unescape(re.search(r"srcdoc='([^']*)'", frame)[1])


def summary_in(page):
    return json.loads(re.search(r'id="summary">(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_holds_the_tree_and_nothing_else(iris):
    summary = summary_in(tree_page(iris.model_))

    assert summary["tree"] == plain(tree_part(iris.model_))
    assert summary["quality"] == []
    assert summary["pruning"] is None


def test_the_page_of_one_of_many_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    forest = tw.RandomForestRegressor(n_estimators=3).fit(X, X[:, 0] ** 2)

    summary = summary_in(tree_page(forest.model_, 2))

    assert summary["tree"] == plain(tree_part(forest.model_, 2))
    with pytest.raises(ParameterError, match="tree is 3"):
        tree_page(forest.model_, 3)


def test_a_notebook_shows_the_page_in_a_frame_that_reaches_nothing(iris):
    frame = iris.model_._repr_html_()

    assert frame.startswith('<iframe sandbox="allow-scripts" ')
    assert frame.count("<") == 2, "all else is escaped"
    assert inside(frame) == tree_page(iris.model_)


def test_the_bundle_of_an_estimator_has_a_picture_for_readers_without_frames(iris):
    bundle = iris._repr_mimebundle_()

    assert bundle["text/html"] == iris.model_._repr_html_()
    assert bundle["image/svg+xml"] == iris.plot().text == iris.model_._repr_svg_()
    assert bundle["text/plain"] == repr(iris)


def test_an_estimator_that_is_not_fitted_shows_its_parameters():
    assert "DecisionTreeClassifier" in tw.DecisionTreeClassifier()._repr_mimebundle_()["text/plain"]


def test_many_trees_have_no_picture_of_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = tw.RandomForestRegressor(n_estimators=3).fit(X, X[:, 0] ** 2).model_

    assert model._repr_svg_() is None
    assert model._repr_html_().startswith("<pre>")


def test_a_small_tree_takes_few_steps_and_little_room_to_be_shown(iris):
    iris._repr_mimebundle_()  # templates and scripts are read by now
    shown = []

    n_steps = steps_of(lambda: shown.append(iris._repr_mimebundle_()))

    (bundle,) = shown
    assert n_steps < 50_000
    assert sum(map(len, bundle.values())) < 200_000


def test_the_frame_is_as_tall_as_the_tree_wants_within_bounds():
    X = np.arange(600.0)[:, None]
    trees = [tw.DecisionTreeRegressor(max_depth=depth).fit(X, X[:, 0] ** 2) for depth in (1, 2, 3, 9)]
    leaf = tw.DecisionTreeRegressor(min_samples_split=601).fit(X, X[:, 0] ** 2)

    heights = [int(re.search(r"height:(\d+)px", tree_frame(est.model_))[1]) for est in (leaf, *trees)]

    assert heights[0] == LEAST < heights[1] < heights[2] < heights[3] <= heights[4] == MOST


def test_a_column_with_thousands_of_levels_does_not_fill_the_notebook():
    rng = np.random.default_rng(0)
    names = np.array([f"level number {at}" for at in range(3000)])
    X = {"shop": names[rng.integers(0, 3000, 6000)], "size": rng.normal(size=6000)}
    est = tw.DecisionTreeClassifier(max_leaf_nodes=60).fit(X, rng.integers(0, 2, 6000))

    assert len(est.model_._repr_html_()) < 600_000
    assert all(node.test is None or node.test.branch_of == () for node in tree_summary(est.model_).tree.nodes)


def test_hostile_names_stay_in_the_frame():
    name = "'></iframe></script><script>alert(1)</script>"
    est = tw.DecisionTreeClassifier().fit({name: [1.0, 2.0]}, [name, "'"])

    frame = est.model_._repr_html_()

    assert frame.count("<") == 2
    assert frame.count("'") == 4
    assert len(re.findall("<script", inside(frame))) == 2


def test_half_a_pair_of_surrogates_can_be_written_to_a_file():
    y = pd.Series(["a", "b"], name="half \ud800")
    est = tw.DecisionTreeClassifier().fit({"half \udfff": [1.0, 2.0]}, y)

    assert est.model_._repr_html_().encode("utf-8")
