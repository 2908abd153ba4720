"""The tree in the browser: every card says what the model says, and it folds, finds, zooms, keeps and prints."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import treewright as tw
from treewright.show.drawing import tidy
from treewright.show.page import render as renderer
from treewright.show.page.render import render
from treewright.show.page.tree import tree_page, tree_part, tree_summary

SKIES = np.array(["sun", "rain", "fog", "snow", "wind"])


@pytest.fixture(scope="module")
def weather():
    """Rows with levels, numbers and gaps, and a tree of about forty leaves."""
    rng = np.random.default_rng(3)
    n = 600
    sky = SKIES[rng.integers(0, 5, n)].astype(object)
    X = {"sky": sky, "wind speed": np.round(rng.gamma(2, 9, n), 1), "warmth": np.round(rng.normal(15, 8, n), 1)}
    score = (X["warmth"] > 14).astype(int) + np.isin(sky, ["rain", "snow"]) + (rng.random(n) < 0.2)
    y = np.array(["swim", "walk", "read", "sleep"])[score]
    sky[rng.random(n) < 0.05] = None
    return X, y, tw.DecisionTreeClassifier(min_samples_leaf=5).fit(X, y)


@pytest.fixture(scope="module")
def weather_report(weather):
    X, y, est = weather
    return tw.report(est, X, y, examples=0, cv=2).html


@pytest.fixture(scope="module")
def weather_page(weather):
    """The tree alone, as notebooks show it: the same drawing, and quicker to open."""
    return tree_page(weather[2].model_)


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 6))
    y = rng.integers(0, 3, 5000)
    est = tw.DecisionTreeClassifier(max_leaf_nodes=1000).fit(X, y)
    return est, render(replace(tree_summary(est.model_), tree=tree_part(est.model_)), template="tree")


@pytest.fixture
def with_hooks(monkeypatch):
    """Pages whose scripts can be reached from outside; no page that a user gets has that."""
    own = renderer.asset

    def asset(folder, name):
        text = own(folder, name)
        return (
            text + "\nwindow.hooks = { state, layout, tree, treeModel };\n"
            if name in ("main.js", "main_tree.js")
            else text
        )

    monkeypatch.setattr(renderer, "asset", asset)
    renderer.script_text.cache_clear()
    yield
    renderer.script_text.cache_clear()


def on_paper(page, selector="#tree .tree-card"):
    """Ids of open cards, wherever the window is: as paper has them."""
    return page.evaluate(
        """selector => {
          dispatchEvent(new Event('beforeprint'));
          const found = [...document.querySelectorAll(selector)].map(card => Number(card.dataset.node));
          dispatchEvent(new Event('afterprint'));
          return found;
        }""",
        selector,
    )


def cards(page):
    return on_paper(page)


def in_page(page):
    """How many cards the page holds now."""
    return page.locator("#tree .tree-card").count()


def until(page, claim):
    """Wait until a claim of the page is true; the page's policy forbids what Playwright has for that."""
    for _ in range(100):
        if page.evaluate(claim):
            return
        page.wait_for_timeout(20)
    pytest.fail(f"it never came true: {claim}")


def opened_all(page):
    page.get_by_role("button", name="open every node").click()


def card(page, node):
    return page.locator(f'#tree .tree-card[data-node="{node}"]')


def on_path(page, kind="on-path"):
    return sorted(on_paper(page, f"#tree .tree-card.{kind}"))


def brought(page, node):
    """The card of a node, in sight."""
    box = page.get_by_role("searchbox", name="Find")
    box.fill(f"node {node}")
    box.press("Enter")
    box.fill("")
    return card(page, node)


def way_to(est, node):
    way = [node]
    while est.node(way[-1]).parent is not None:
        way.append(est.node(way[-1]).parent)
    return sorted(way)


# ---- what cards say ----


@pytest.mark.smoke
def test_every_card_says_the_rows_the_test_and_the_answer_of_its_node(open_page, weather, weather_page):
    _, _, est = weather
    page = open_page(weather_page).page
    opened_all(page)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # every card, wherever the window is

    found = page.eval_on_selector_all(
        "#tree .tree-card",
        "all => all.map(one => [+one.dataset.node, one.querySelector('.tree-title').textContent,"
        " one.querySelector('.tree-small').textContent, one.querySelector('.tree-answer')?.textContent])",
    )

    assert len(found) == est.tree_.n_nodes
    for number, title, small, answer in found:
        node = est.node(number)
        assert small.split()[0] == str(node.samples)
        if node.is_leaf:
            assert title == node.prediction
        else:
            assert title.replace("\u2264", "<=") == node.test.question()
        if node.parent is not None:
            above = est.node(node.parent)
            branch = above.children.index(number)
            assert answer.replace("\u2264", "<=") == above.test.edge(branch, max_levels=6)


@pytest.mark.smoke
def test_the_panel_tells_the_rule_the_counts_and_the_audit_of_a_node(open_page, weather, weather_report):
    _, _, est = weather
    page = open_page(weather_report).page
    number = est.node(0).children[0]

    card(page, number).hover()

    panel = page.locator(".tree-panel")
    node = est.node(number)
    rule = panel.locator(".rule li").all_inner_texts()
    assert len(rule) == 1
    assert rule[0].startswith(est.node(0).test.column)
    counts = [float(text) for text in panel.locator("[data-count]").all_inner_texts()]
    assert counts == sorted((count for count in node.value.values() if count), reverse=True)
    audit = est.audit(number)
    first = panel.locator(".tree-audit tbody tr").first
    assert first.locator("th").inner_text().replace("\u2264", "<=") == f"{audit.winner.test} (chosen)"
    assert float(first.locator("td").first.inner_text()) == pytest.approx(audit.winner.gain, rel=1e-3)


def test_without_a_rule_the_panel_tells_the_answers_on_the_way(open_page, weather):
    _, _, est = weather
    summary = tree_summary(est.model_)
    bare = tuple(replace(node, rule=None) for node in summary.tree.nodes)
    page = open_page(render(replace(summary, tree=replace(summary.tree, nodes=bare)), template="tree")).page
    deepest = int(np.argmax(est.tree_.depth))

    brought(page, deepest)

    told = page.locator(".tree-panel .rule li").all_inner_texts()
    assert len(told) == est.tree_.depth[deepest]
    way = way_to(est, deepest)
    for text, above, below in zip(told, way, way[1:], strict=False):
        test = est.node(above).test
        answer = test.edge(est.node(above).children.index(below), max_levels=6)
        assert text.replace("\u2264", "<=") == f"{test.column} {answer}"


def test_cards_of_one_level_do_not_overlap(open_page, weather_page):
    page = open_page(weather_page).page
    opened_all(page)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")

    boxes = page.eval_on_selector_all(
        "#tree .tree-card",
        "all => all.map(one => [parseFloat(one.style.top), parseFloat(one.style.left), parseFloat(one.style.width)])",
    )

    levels = {}
    for top, left, width in boxes:
        levels.setdefault(top, []).append((left, left + width))
    for row in levels.values():
        row.sort()
        assert all(before[1] < after[0] for before, after in pairwise(row))


def test_a_long_name_is_shortened_and_the_threshold_is_not(open_page):
    X = {
        "the length of a name that no card can hold " * 2: np.arange(40.0),
        "city": np.array([f"town {n % 20}" for n in range(40)]),
    }
    est = tw.DecisionTreeClassifier(max_depth=1).fit({next(iter(X)): next(iter(X.values()))}, np.arange(40) > 17)
    page = open_page(tree_page(est.model_)).page

    title, name = card(page, 0).locator(".tree-title"), card(page, 0).locator(".tree-name")

    assert title.inner_text().endswith(" \u2264 17.5")
    assert title.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert name.evaluate("one => one.scrollWidth > one.clientWidth")

    towns = tw.DecisionTreeClassifier(max_depth=1).fit({"city": X["city"]}, np.arange(40) % 20 % 2)
    page = open_page(tree_page(towns.model_)).page
    assert card(page, 0).locator(".tree-title").inner_text() == "city in {town 0, ... 9 more}"


# ---- the first view ----


@pytest.mark.parametrize(("width", "least"), [(1280, 0.65), (420, 0.42)])
def test_the_first_view_holds_the_root_and_all_that_is_open_from_left_to_right(
    open_page, weather, weather_report, width, least
):
    _, _, est = weather
    page = open_page(weather_report, width=width).page
    frame = page.locator(".tree-frame").bounding_box()

    shown = cards(page)
    boxes = [card(page, node).bounding_box() for node in shown if card(page, node).count()]

    assert {0, *est.node(0).children} <= set(shown)
    assert all(frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"] for box in boxes)
    assert 0 < boxes[0]["y"] - frame["y"] < 40
    assert least - 1e-4 <= transform(page)[2] <= 1


def test_a_card_that_asks_shows_its_column_with_the_cut(open_page, weather, weather_report):
    X, y, est = weather
    page = open_page(weather_report).page
    summary = tw.report(est, X, y, examples=0, cv=2).summary.tree
    asked = summary.asked[0]

    picture = card(page, 0).locator(".asked")
    # A class per colour, and the cut where the bars of the branches meet.
    assert picture.locator("path").count() == sum(any(part) for part in asked.parts)
    across = picture.locator(".asked-cut").evaluate(
        "line => line.getAttribute('x1') / line.ownerSVGElement.viewBox.baseVal.width"
    )
    assert across == pytest.approx(asked.cuts[0] / len(asked.parts[0]))
    box, inside = card(page, 0).bounding_box(), picture.bounding_box()
    assert inside["y"] + inside["height"] < box["y"] + box["height"]
    assert inside["height"] >= 20

    leaf = next(each.id for each in summary.nodes if each.test is None)
    assert card(page, leaf).locator(".asked").count() == 0
    card(page, 0).hover()
    assert page.locator(".tree-panel .asked").count() == 1
    assert "training rows" in page.locator(".tree-panel figcaption").first.inner_text()


def test_a_card_of_numbers_shows_column_target_and_means(open_page):
    rng = np.random.default_rng(0)
    X = {"x": rng.normal(size=200), "z": rng.normal(size=200)}
    y = np.where(X["x"] > 0, 10.0, 0.0) + rng.normal(size=200)
    est = tw.DecisionTreeRegressor(max_depth=2).fit(X, y)

    picture = card(open_page(tw.report(est, X, y, examples=0, cv=None).html).page, 0).locator(".asked")

    assert picture.locator(".asked-cells").count() > 2
    low, high = (float(line.get_attribute("y1")) for line in picture.locator(".asked-mean").all())
    assert low > high  # the mean of the left branch lies lower


def test_a_notebook_700_pixels_wide_cuts_no_small_tree(open_page, weather):
    X, y, _ = weather
    small = tw.DecisionTreeClassifier(max_leaf_nodes=4).fit(X, y)
    page = open_page(tree_page(small.model_), width=700, height=600).page
    frame = page.locator(".tree-frame").bounding_box()

    boxes = [each.bounding_box() for each in page.locator(".tree-card").all()]

    assert all(frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"] for box in boxes)
    assert all(frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"] for box in boxes)


def test_all_levels_of_a_large_tree_show_boxes_and_the_map_beside_the_window(open_page, large):
    page = open_page(large[1]).page

    opened_all(page)
    page.wait_for_timeout(50)

    assert transform(page)[2] >= 0.05 - 1e-4
    assert in_page(page) > 50
    frame, small = page.locator(".tree-frame").bounding_box(), page.locator(".tree-map").bounding_box()
    assert small["x"] >= frame["x"] + frame["width"]
    page.get_by_role("button", name="Fit the whole tree").click()
    until(page, "document.querySelector('.tree-map').hidden")
    assert 0 < card(page, 0).bounding_box()["y"] - frame["y"] < 40


def test_of_many_classes_the_legend_names_the_largest_and_a_button_all(open_page):
    y = np.repeat([f"class {n:02}" for n in range(26)], np.arange(4, 30))
    est = tw.DecisionTreeClassifier(max_leaf_nodes=8).fit(np.arange(len(y), dtype=float)[:, None], y)
    page = open_page(tree_page(est.model_)).page
    names = page.locator(".legend-name")

    assert names.all_inner_texts() == [f"class {n:02}" for n in range(15, 26)], "the largest, in the order of the bars"
    assert "the 11 largest of 26" in page.locator(".legend").inner_text()
    page.get_by_role("button", name="all classes").click()

    assert names.all_inner_texts() == [f"class {n:02}" for n in range(26)]


# ---- places ----


def random_children(rng, n, most):
    """A tree as lists of children, parents before children."""
    children = [[] for _ in range(n)]
    for node in range(1, n):
        while True:
            above = int(rng.integers(0, node))
            if len(children[above]) < most:
                break
        children[above].append(node)
    return children


def test_places_are_those_of_the_picture(open_page, weather, with_hooks):
    _, _, est = weather
    page = open_page(tree_page(est.model_)).page
    rng = np.random.default_rng(1)
    for n, most in ((1, 2), (2, 2), (40, 2), (300, 3), (500, 9)):
        children, widths = random_children(rng, n, most), rng.uniform(20, 200, n).tolist()

        found = page.evaluate("([c, w]) => [...hooks.layout.tidy(c, w, 18)]", [children, widths])

        assert found == pytest.approx(tidy(children, widths, gap=18), abs=1e-6)


def test_a_chain_of_20000_cards_has_places(open_page, weather, with_hooks):
    _, _, est = weather
    page = open_page(tree_page(est.model_)).page

    found = page.evaluate(
        """() => {
          const children = [];
          for (let at = 0; at < 40001; at += 1) children.push(at % 2 === 0 && at < 40000 ? [at + 1, at + 2] : []);
          const places = hooks.layout.tidy(children, children.map(() => 100), 10);
          return [places.length, Math.min(...places.slice(0, 9)) >= 0, Number.isFinite(places[40000])];
        }"""
    )

    assert found == [40001, True, True]


# ---- folding ----


def test_a_button_folds_a_node_and_says_how_many_it_hides(open_page, weather, weather_page):
    _, _, est = weather
    page = open_page(weather_page).page
    first = est.node(0).children[0]
    below = [node for node in range(est.tree_.n_nodes) if first in way_to(est, node) and node != first]
    before = cards(page)
    assert set(below) & set(before)

    brought(page, first).locator("button").click()

    assert card(page, first).get_attribute("aria-expanded") == "false"
    assert card(page, first).locator(".toggle").inner_text() == f"+{len(below)}"
    assert not set(below) & set(cards(page))

    brought(page, first).locator("button").click()

    assert cards(page) == before


def test_levels_go_one_by_one(open_page, weather, weather_page):
    _, _, est = weather
    page = open_page(weather_page).page
    less = page.get_by_role("button", name="One level less")
    for _ in range(20):
        less.click()
    assert cards(page) == [0]

    page.get_by_role("button", name="One level more").click()

    assert cards(page) == [0, *est.node(0).children]


def test_what_is_not_in_the_page_is_counted_and_told(open_page, weather):
    _, _, est = weather
    part = tree_part(est.model_, max_nodes=9)
    page = open_page(render(replace(tree_summary(est.model_), tree=part), template="tree")).page

    assert sorted(cards(page)) == [node.id for node in part.nodes]
    for node in part.nodes:
        if node.hidden:
            held = brought(page, node.id)
            assert held.locator(".toggle").inner_text().split()[0] == f"+{node.hidden}"
            assert held.get_attribute("aria-expanded") is None
            assert f"The {node.hidden} nodes below are not in this page" in page.locator(".tree-panel").inner_text()


# ---- keys ----


def focused(page):
    return page.evaluate("Number(document.activeElement.dataset.node ?? -1)")


def test_keys_walk_open_and_close_as_in_every_tree(open_page, weather, weather_page):
    _, _, est = weather
    page = open_page(weather_page).page
    left, right = est.node(0).children
    card(page, 0).focus()

    page.keyboard.press("ArrowRight")
    assert focused(page) == left
    page.keyboard.press("ArrowLeft")  # closes it
    assert card(page, left).get_attribute("aria-expanded") == "false"
    assert focused(page) == left
    page.keyboard.press("ArrowDown")
    assert focused(page) == right
    page.keyboard.press("ArrowUp")
    assert focused(page) == left
    page.keyboard.press("ArrowRight")  # opens it
    assert card(page, left).get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert focused(page) == 0
    page.keyboard.press("End")
    assert focused(page) == cards(page)[-1]
    page.keyboard.press("Home")
    assert focused(page) == 0


def test_one_card_is_a_tab_stop_and_tells_its_level(open_page, weather, weather_page):
    _, _, est = weather
    page = open_page(weather_page).page

    stops = page.eval_on_selector_all("#tree [role=treeitem][tabindex='0']", "found => found.length")

    assert stops == 1
    child = est.node(0).children[1]
    held = card(page, child)
    assert [held.get_attribute(f"aria-{name}") for name in ("level", "setsize", "posinset")] == ["2", "2", "2"]


# ---- finding ----


def test_search_finds_levels_questions_classes_and_numbers(open_page, weather, weather_page):
    _, _, est = weather
    page = open_page(weather_page).page
    nodes = [est.node(node) for node in range(est.tree_.n_nodes)]
    box = page.get_by_role("searchbox", name="Find")

    for typed, n_hits in (
        ("wind SPEED", sum(not node.is_leaf and node.test.column == "wind speed" for node in nodes)),
        ("swim", sum(node.is_leaf and node.prediction == "swim" for node in nodes)),
        ("snow", sum(not node.is_leaf and node.test.column == "sky" for node in nodes)),
        ("node 1", 1),
        ("no such thing", 0),
    ):
        box.fill(typed)
        shown = page.locator(".search-count").inner_text()
        assert shown == ("nothing found" if not n_hits else "1 hit" if n_hits == 1 else f"{n_hits} hits")


def test_enter_goes_from_hit_to_hit_and_opens_the_way(open_page, large):
    est, html = large
    page = open_page(html).page
    deepest = int(np.argmax(est.tree_.depth))
    assert deepest not in cards(page)
    box = page.get_by_role("searchbox", name="Find")

    box.fill(f"leaf {deepest}")
    box.press("Enter")

    assert page.locator(".search-count").inner_text() == "1 of 1"
    held = card(page, deepest)
    assert "is-current-hit" in held.get_attribute("class")
    inside, frame = held.bounding_box(), page.locator(".tree-frame").bounding_box()
    assert frame["x"] <= inside["x"]
    assert inside["x"] + inside["width"] <= frame["x"] + frame["width"]
    assert frame["y"] <= inside["y"]
    assert inside["y"] + inside["height"] <= frame["y"] + frame["height"]
    assert page.locator(".tree-panel h3").inner_text() == f"Leaf {deepest}"


def test_search_finds_a_branch_by_column_and_answer(open_page, weather, weather_page):
    _, _, est = weather
    page = open_page(weather_page).page
    box = page.get_by_role("searchbox", name="Find")
    asking = [node for node in range(est.tree_.n_nodes) if not est.node(node).is_leaf]
    node = next(node for node in asking if est.node(node).test.column == "wind speed")
    question, (_, above) = est.node(node).test.question(), est.node(node).children
    number = question.split()[-1]
    assert sum(number in est.node(each).test.question() for each in asking) == 1

    for typed, found in (
        (f"wind speed > {number}", above),
        (f"WIND SPEED>{number}", above),
        (question, node),
        (f"wind speed \u2264{number}", node),
    ):
        box.fill(typed)
        box.press("Enter")
        assert page.locator(".search-count").inner_text() == "1 of 1"
        assert page.locator(".tree-panel").get_attribute("data-node") == str(found)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (420, 800)])
def test_hits_and_keys_end_in_sight_above_the_bar(open_page, weather, weather_report, width, height):
    _, _, est = weather
    page = open_page(weather_report, width=width, height=height, reduced_motion="reduce").page
    inside = """chosen => {
      const card = document.querySelector(chosen).getBoundingClientRect();
      const head = document.querySelector('.sections').getBoundingClientRect(),
        bar = document.querySelector('.pruning-bar').getBoundingClientRect();
      return card.top >= head.bottom && card.bottom <= bar.top && card.left >= 0 && card.right <= innerWidth;
    }"""
    deepest = int(np.argmax(est.tree_.depth))

    brought(page, deepest)
    page.wait_for_timeout(60)
    assert page.evaluate(inside, f'#tree .tree-card[data-node="{deepest}"]')

    page.evaluate("scrollTo(0, 0)")
    card(page, deepest).focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_timeout(60)
    assert page.evaluate(inside, "#tree .tree-card:focus")


# ---- paths ----


def test_a_click_keeps_the_way_and_escape_lets_go(open_page, weather, weather_page):
    _, _, est = weather
    page = open_page(weather_page).page
    node = next(each for each in cards(page) if len(way_to(est, each)) == 3)

    brought(page, node).click(position={"x": 20, "y": 12})

    assert on_path(page) == way_to(est, node)
    assert card(page, node).get_attribute("aria-selected") == "true"
    card(page, node).focus()
    page.keyboard.press("Escape")
    assert on_path(page) == []


def test_the_way_of_a_row_is_the_decision_path(open_page, weather, with_hooks):
    X, y, est = weather
    page = open_page(tw.report(est, X, y, examples=0, cv=2).html).page
    matrix, _, _ = est.model_.encode_rows(X, y, None)
    paths = est.decision_path(X)
    for row in (0, 7, 101):
        cells = [None if np.isnan(cell) else cell for cell in matrix[row].tolist()]

        page.evaluate("cells => hooks.state.set('row', {cells, label: 'row'})", cells)

        assert on_path(page, "on-row") == sorted(paths[row].indices.tolist())


# ---- shapes ----


def test_a_shape_makes_leaves_and_moves_nothing_else(open_page, weather, with_hooks):
    _, _, est = weather
    page = open_page(tree_page(est.model_)).page
    first = next(node for node in range(est.tree_.n_nodes) if est.node(node).depth == 3 and not est.node(node).is_leaf)
    opened_all(page)
    where = "one => [one.dataset.node, one.style.left, one.style.top]"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    before = {tuple(each) for each in page.eval_on_selector_all("#tree .tree-card", f"all => all.map({where})")}

    page.evaluate(
        "id => hooks.state.set('shape', {name: 'cut', title: '', step: 1, tree: null, isLeaf: node => node.id === id})",
        first,
    )
    page.evaluate("dispatchEvent(new Event('beforeprint'))")

    below = {str(node) for node in range(est.tree_.n_nodes) if first in way_to(est, node) and node != first}
    shown = page.eval_on_selector_all("#tree .tree-card", f"all => all.map({where})")
    assert {each[0] for each in shown} == {each[0] for each in before} - below
    assert {tuple(each) for each in shown if each[0] != str(first)} <= before
    assert card(page, first).locator(".tree-title").inner_text() == est.node(first).prediction
    page.evaluate("hooks.state.set('shape', null)")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    after = page.eval_on_selector_all("#tree .tree-card", f"all => all.map({where})")
    assert {tuple(each) for each in after} == before


def test_a_folded_card_and_the_panel_tell_how_many_are_cut_away(open_page, weather, with_hooks):
    _, _, est = weather
    page = open_page(tree_page(est.model_)).page
    first = est.node(0).children[0]
    below = [node for node in range(est.tree_.n_nodes) if first in way_to(est, node) and node != first]
    cut = [node for node in below if est.node(node).depth > 3]
    brought(page, first).locator("button").click()

    page.evaluate(
        """() => hooks.state.set('shape', {
          name: 'cut', title: '', step: 1, tree: null, isLeaf: node => node.depth === 3,
        })"""
    )
    if card(page, first).get_attribute("aria-expanded") == "true":  # few cards are open as a whole
        card(page, first).locator("button").click()
    assert card(page, first).locator(".toggle").inner_text() == f"+{len(below) - len(cut)}, {len(cut)} pruned"

    page.evaluate(
        "id => hooks.state.set('shape', {name: 'cut', title: '', step: 1, tree: null, isLeaf: node => node.id === id})",
        first,
    )
    brought(page, first)
    assert card(page, first).locator(".toggle").inner_text() == f"{len(below)} pruned"
    assert f"{len(below)} pruned" in page.locator(".tree-panel").inner_text()


def test_another_tree_takes_the_place_of_the_pages_own(open_page, weather, with_hooks):
    _, _, est = weather
    page = open_page(tree_page(est.model_)).page
    before = cards(page)

    page.evaluate(
        """() => {
          const own = hooks.state.summary.tree;
          const stump = {...own, nodes: own.nodes.filter(node => node.id < 3).map(node => ({...node,
            test: node.id ? null : node.test, hidden: 0}))};
          hooks.state.set('shape', {name: 'other', title: '', step: null, isLeaf: () => false, tree: stump});
        }"""
    )
    assert cards(page) == [0, 1, 2]

    page.evaluate("hooks.state.set('shape', null)")
    assert cards(page) == before


def test_a_small_shape_of_a_large_tree_is_open_as_a_whole(open_page, large, with_hooks):
    est, _ = large
    page = open_page(render(replace(tree_summary(est.model_), tree=tree_part(est.model_)), template="tree")).page
    n_rows = est.tree_.n_samples
    least = np.sort(n_rows[~est.tree_.is_leaf])[-25]  # 25 nodes ask, not those nearest to the root
    asking = [node for node in np.flatnonzero(~est.tree_.is_leaf).tolist() if n_rows[node] >= least]
    shape = sorted({0, *(child for node in asking for child in est.node(node).children)})
    assert len(shape) <= 60
    assert not set(shape) <= set(cards(page))

    page.evaluate(
        """least => hooks.state.set('shape', {
          name: 'few', title: '', step: 9, tree: null, isLeaf: node => node.n_rows < least,
        })""",
        int(least),
    )

    assert sorted(cards(page)) == shape


def test_a_kept_path_that_pruning_cuts_tells_of_its_last_card(open_page, weather, with_hooks):
    _, _, est = weather
    page = open_page(tree_page(est.model_)).page
    node = next(node for node in range(est.tree_.n_nodes) if est.node(node).depth == 4)
    page.evaluate("id => hooks.state.set('path', id)", node)

    page.evaluate(
        """() => hooks.state.set('shape', {
          name: 'cut', title: '', step: 1, tree: null, isLeaf: node => node.depth === 2,
        })"""
    )

    way = [each for each in way_to(est, node) if est.node(each).depth <= 2]
    assert on_path(page) == way
    assert page.locator(".tree-panel h3").inner_text().startswith(f"Leaf {way[-1]}")


# ---- the window ----


def transform(page):
    return page.evaluate(
        """() => {
          const m = new DOMMatrix(document.querySelector('.tree-stage').style.transform);
          return [m.e, m.f, m.a];
        }"""
    )


def test_wheel_drag_and_keys_move_the_window(open_page, weather_page):
    page = open_page(weather_page).page
    page.locator(".tree-frame").scroll_into_view_if_needed()
    held = card(page, 0).bounding_box()  # a drag may begin on a card
    x, y = held["x"] + 30, held["y"] + 12
    before = transform(page)

    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 40, steps=4)
    page.mouse.up()
    dragged = transform(page)
    assert [dragged[0] - before[0], dragged[1] - before[1]] == pytest.approx([60, 40], abs=0.1)

    page.keyboard.down("Control")
    page.mouse.wheel(0, -50)
    page.keyboard.up("Control")
    until(page, f"new DOMMatrix(document.querySelector('.tree-stage').style.transform).a > {dragged[2]}")

    page.locator(".tree-frame").focus()
    zoomed = transform(page)
    page.keyboard.press("ArrowRight")
    assert transform(page)[0] < zoomed[0]
    page.keyboard.press("-")
    assert transform(page)[2] < zoomed[2]
    assert on_path(page) == [], "a drag is no click"


def test_the_wheel_alone_scrolls_the_page(open_page, weather_report):
    page = open_page(weather_report).page
    before = transform(page)
    frame = page.locator(".tree-frame").bounding_box()

    page.mouse.move(frame["x"] + 30, frame["y"] + 200)
    page.mouse.wheel(0, 300)
    until(page, "scrollY > 0")

    assert transform(page) == before


def test_two_fingers_zoom_and_one_scrolls_the_page(open_page, weather_report):
    opened = open_page(weather_report, width=420, has_touch=True, is_mobile=True)
    page = opened.page
    page.locator(".tree-frame").scroll_into_view_if_needed()
    frame = page.locator(".tree-frame").bounding_box()
    x, y = frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2
    fingers = page.context.new_cdp_session(page)

    def touch(kind, *points):
        spots = [{"x": px, "y": py, "id": at} for at, (px, py) in enumerate(points)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": spots})

    before, scrolled = transform(page), page.evaluate("scrollY")
    touch("touchStart", (x - 60, y), (x + 60, y))
    for by in range(10, 61, 10):
        touch("touchMove", (x - 60 - by, y), (x + 60 + by, y))
    touch("touchEnd")
    zoomed = transform(page)
    assert zoomed[2] == pytest.approx(2 * before[2], rel=0.15)

    touch("touchStart", (x, y))
    for by in range(10, 121, 10):
        touch("touchMove", (x, y - by))
    touch("touchEnd")
    until(page, f"scrollY > {scrolled}")
    assert transform(page)[2] == zoomed[2]


# ---- size ----


@pytest.mark.smoke
def test_a_large_tree_opens_folded_and_holds_only_what_is_seen(open_page, large):
    est, html = large
    page = open_page(html).page
    assert est.tree_.n_nodes == 1999
    assert len(cards(page)) <= 60

    opened_all(page)
    page.wait_for_timeout(50)
    assert len(cards(page)) == 1999
    assert in_page(page) < 1000, "boxes in sight, not those left and right of it"
    page.get_by_role("button", name="Fit the whole tree").click()
    until(page, "document.querySelectorAll('#tree .tree-card').length === 1999")

    assert page.locator("#tree .tree-card .tree-title").count() == 0, "cards too small to read hold no text"


def test_a_chain_2500_levels_deep_opens_and_closes(open_page):
    X = np.arange(2501.0)[:, None]
    y = np.arange(2501) % 2
    est = tw.DecisionTreeClassifier().fit(X, y)
    assert est.get_depth() == 2500
    part = tree_part(est.model_, max_nodes=10_000)
    page = open_page(render(replace(tree_summary(est.model_), tree=part), template="tree")).page

    opened_all(page)
    card(page, 0).focus()
    page.keyboard.press("End")

    assert page.evaluate("Number(document.activeElement.getAttribute('aria-level'))") == 2501


# ---- everybody ----


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_while_the_tree_is_used(open_page, faults, weather, weather_report, scheme):
    _, _, est = weather
    page = open_page(weather_report, scheme=scheme).page
    page.get_by_role("searchbox", name="Find").fill("sky")
    page.get_by_role("button", name="One level less").click()
    card(page, est.node(0).children[0]).dispatch_event("click")

    assert faults(page) == []


def test_paper_holds_every_open_card_as_wide_as_it_is(open_page, weather_report):
    page = open_page(weather_report, width=700).page
    opened_all(page)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")

    boxes = page.eval_on_selector_all(
        "#tree .tree-card",
        "all => all.map(one => { const box = one.getBoundingClientRect(); return [box.left, box.right] })",
    )

    assert min(box[0] for box in boxes) >= 0
    assert max(box[1] for box in boxes) <= 700
    assert page.evaluate("document.querySelector('.tree-frame').getBoundingClientRect().width") <= 700


# ---- notebooks ----


@pytest.mark.smoke
def test_a_notebook_shows_the_tree_in_a_frame_of_its_own(open_page, weather):
    _, _, est = weather
    page = open_page(f"<!doctype html><html data-ready='yes'><body>{est.model_._repr_html_()}</body></html>").page
    frame = page.frame_locator("iframe")

    root = frame.locator('.tree-card[data-node="0"]')

    assert root.locator(".tree-title").inner_text().replace("\u2264", "<=") == est.node(0).test.question()
    root.click()
    assert "on-path" in root.get_attribute("class")
    box = page.locator("iframe").bounding_box()
    assert frame.locator("#tree").evaluate("one => one.getBoundingClientRect().bottom") <= box["height"] + 1
