"""Worked examples of lectures and textbooks: the library's numbers are those of arithmetic on the raw table.

The arithmetic below counts rows with a dict and takes logarithms with ``math``; nothing of the library is in it. The
pages under docs/check-by-hand show the same examples.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

import treewright as tw

FIGURES = Path(__file__).parents[1] / "reference" / "figures" / "tables.json"
EXACT = 1e-12


def textbook(name):
    """Columns and target of a table."""
    runs = json.loads(FIGURES.read_text(encoding="utf-8"))["runs"]
    run = next(run for run in runs if run["name"] == name)
    columns = dict(run["columns"])
    target = columns.pop(run["target"])
    return columns, target


def entropy(labels, log=math.log2):
    """Of a list of labels."""
    shares = [count / len(labels) for count in Counter(labels).values()]
    return -sum(share * log(share) for share in shares)


def gini(labels):
    """Of a list of labels."""
    return 1 - sum((count / len(labels)) ** 2 for count in Counter(labels).values())


def wrong(labels):
    """Share of the labels that are not the most frequent one."""
    return 1 - max(Counter(labels).values()) / len(labels)


def parts(cells, labels):
    """Labels by cell."""
    found = {}
    for cell, label in zip(cells, labels, strict=True):
        found.setdefault(cell, []).append(label)
    return found


def after(cells, labels, impurity=entropy):
    """Weighted impurity once the cell is known: the conditional entropy, for entropy."""
    return sum(len(part) / len(labels) * impurity(part) for part in parts(cells, labels).values())


def gain(cells, labels, impurity=entropy):
    """What knowing the cell lowers."""
    return impurity(labels) - after(cells, labels, impurity)


def by_column(audit):
    """Rows of an audit by their column."""
    return {row.column: row for row in audit}


def root_of(est):
    """Name of the column that the root asks."""
    return est.model_.schema.columns[est.tree_.feature[0]].name


def where(table, labels, column, cell):
    """The rows of a table that hold a cell."""
    kept = [at for at, value in enumerate(table[column]) if value == cell]
    return {name: [cells[at] for at in kept] for name, cells in table.items()}, [labels[at] for at in kept]


# Nine movies, with the spelling of the table that was typed by hand.
MOVIES = {
    "Type": ["Comedy", "Animated", "Drama", "animated", "Comedy", "Drama", "animated", "Comedy", "Drama"],
    "Length": ["Short", "Short", "Medium", "long", "Long", "Medium", "Short", "Long", "Medium"],
    "Director": ["Adamson", "Lasseter", "Adamson", "Lasseter", "Lasseter", "Singer", "Singer", "Adamson", "Lasseter"],
    "Famous actors": ["No", "No", "No", "Yes", "Yes", "Yes", "No", "Yes", "No"],
}
LIKED = ["Yes", "No", "Yes", "No", "No", "Yes", "Yes", "Yes", "Yes"]
CLEAN = {name: [cell.capitalize() for cell in cells] for name, cells in MOVIES.items()}


@pytest.fixture(scope="module")
def movies():
    """ID3 on the nine movies."""
    levels = {
        "Type": ["Animated", "Comedy", "Drama"],
        "Length": ["Short", "Medium", "Long"],
        "Director": None,
        "Famous actors": None,
    }
    return tw.ID3Classifier(nominal=levels, grow_trace=True).fit(MOVIES, LIKED)


def test_the_movies_have_an_entropy_of_0_918_bits(movies):
    assert movies.tree_.impurity[0] == pytest.approx(entropy(LIKED), abs=EXACT)
    assert entropy(LIKED) == pytest.approx(0.918, abs=0.0005)


@pytest.mark.parametrize(
    ("column", "conditional", "gained"),
    [("Type", 0.61, 0.306), ("Length", 0.61, 0.306), ("Director", 0.36, 0.558), ("Famous actors", 0.85, 0.073)],
)
def test_conditional_entropies_and_gains_of_the_movies(movies, column, conditional, gained):
    row = by_column(movies.audit())[column]

    assert row.after == pytest.approx(after(CLEAN[column], LIKED), abs=EXACT)
    assert row.gain == pytest.approx(gain(CLEAN[column], LIKED), abs=EXACT)
    assert row.after == pytest.approx(conditional, abs=0.0051)
    assert row.gain == pytest.approx(gained, abs=0.0005)


def test_the_gains_of_the_lecture_come_from_numbers_that_were_cut_to_two_digits(movies):
    for column, printed in {"Type": 0.3, "Length": 0.3, "Director": 0.55, "Famous actors": 0.06}.items():
        row = by_column(movies.audit())[column]
        assert 0.91 - round(row.after, 2) == pytest.approx(printed, abs=1e-9)
        assert row.gain == pytest.approx(printed, abs=0.0135)


def test_the_director_is_asked_first_and_the_type_for_one_director(movies):
    asked = [(step.node, step.column) for step in movies.trace_]

    assert asked == [(0, "Director"), (2, "Type")]
    assert movies.predict(MOVIES).tolist() == LIKED


def test_for_one_director_type_and_length_tie_and_the_first_column_is_taken(movies):
    rest, labels = where(CLEAN, LIKED, "Director", "Lasseter")
    rows = by_column(movies.audit(2))

    assert movies.tree_.impurity[2] == pytest.approx(entropy(labels), abs=EXACT)
    assert entropy(labels) == pytest.approx(0.81, abs=0.005)
    for column, conditional, gained in (("Type", 0, 0.81), ("Length", 0, 0.81), ("Famous actors", 0.5, 0.31)):
        assert rows[column].after == pytest.approx(after(rest[column], labels), abs=EXACT)
        assert rows[column].after == pytest.approx(conditional, abs=EXACT)
        assert rows[column].gain == pytest.approx(gained, abs=0.005)
    assert movies.audit(2).tied == ("Length",)
    assert [row.column for row in movies.audit(2) if row.chosen] == ["Type"]


def test_the_tie_goes_to_length_where_length_comes_first():
    order = ["Length", "Type", "Director", "Famous actors"]

    est = tw.ID3Classifier().fit({name: CLEAN[name] for name in order}, LIKED)

    assert est.model_.schema.columns[est.tree_.feature[2]].name == "Length"


def test_declared_levels_are_what_cleans_the_movies(movies):
    as_typed = tw.ID3Classifier().fit(MOVIES, LIKED)
    cleaned = tw.ID3Classifier().fit(CLEAN, LIKED)

    assert [row.gain for row in movies.audit()] == [row.gain for row in cleaned.audit()]
    assert by_column(as_typed.audit())["Type"].gain == pytest.approx(gain(MOVIES["Type"], LIKED), abs=EXACT)
    assert gain(MOVIES["Type"], LIKED) - gain(CLEAN["Type"], LIKED) > 0.08
    film = {"Type": "ANIMATED ", "Length": "sHORT", "Director": "Lasseter", "Famous actors": "No"}
    assert movies.model_.predict_one(film) == "No"


def test_the_restaurants_ask_for_patrons_and_every_gain_is_that_of_arithmetic():
    table, waits = textbook("restaurant")
    est = tw.ID3Classifier().fit(table, waits)
    rows = by_column(est.audit())

    assert root_of(est) == "patrons"
    assert rows["patrons"].gain == pytest.approx(0.541, abs=0.0005)
    assert sorted(rows) == sorted(table)
    for column, row in rows.items():
        assert row.gain == pytest.approx(gain(table[column], waits), abs=EXACT)
    assert est.predict(table).tolist() == waits


@pytest.mark.parametrize(
    ("criterion", "impurity"), [("misclassification", wrong), ("gini", gini), ("entropy", entropy)]
)
def test_the_bar_gains_nothing(criterion, impurity):
    table, waits = textbook("restaurant")

    est = tw.DecisionTreeClassifier(criterion=criterion, nominal_splits="multiway", max_depth=1).fit(table, waits)
    rows = by_column(est.audit())

    assert root_of(est) == "patrons"
    assert rows["bar"].before == pytest.approx(impurity(waits), abs=EXACT)
    assert [branch.impurity for branch in rows["bar"].branches] == [rows["bar"].before] * 2
    assert rows["bar"].gain == pytest.approx(0, abs=EXACT)
    for column, row in rows.items():
        assert row.gain == pytest.approx(gain(table[column], waits, impurity), abs=EXACT)


def test_the_restaurants_make_the_tree_of_the_textbook():
    table, waits = textbook("restaurant")
    est = tw.ID3Classifier(grow_trace=True).fit(table, waits)

    assert [step.column for step in est.trace_] == ["patrons", "hungry", "type", "fri_sat"]


def test_a_column_of_v_levels_has_2_to_the_v_minus_1_divisions_but_one():
    table, waits = textbook("restaurant")
    est = tw.DecisionTreeClassifier(criterion="entropy").fit(table, waits)

    for column in ("type", "price", "patrons", "bar"):
        levels = sorted(set(table[column]))
        listed = est.audit(every=column)
        sides = [set(part) for size in range(1, len(levels)) for part in combinations(levels, size)]
        left = [{level: level in part for level in levels} for part in sides if levels[0] in part]
        wanted = [gain([mask[cell] for cell in table[column]], waits) for mask in left]
        assert len(listed) == len(wanted) == 2 ** (len(levels) - 1) - 1
        assert sorted(row.gain for row in listed) == pytest.approx(sorted(wanted), abs=EXACT)


def test_equally_wrong_splits_are_told_apart_by_gini_and_entropy():
    labels = ["A"] * 50 + ["B"] * 50
    table = {
        "first": ["left"] * 10 + ["right"] * 40 + ["left"] * 40 + ["right"] * 10,
        "second": ["left"] * 50 + ["left"] * 20 + ["right"] * 30,
    }
    asked = {}
    for criterion, impurity in (("misclassification", wrong), ("gini", gini), ("entropy", entropy)):
        est = tw.DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(table, labels)
        asked[criterion] = root_of(est)
        rows = by_column(est.audit())
        assert [branch.counts for branch in rows["first"].branches] == [(10, 40), (40, 10)]
        assert [branch.counts for branch in rows["second"].branches] == [(50, 20), (0, 30)]
        for column, row in rows.items():
            assert row.after == pytest.approx(after(table[column], labels, impurity), abs=EXACT)
        if criterion == "misclassification":
            assert [row.after for row in rows.values()] == pytest.approx([0.2, 0.2], abs=EXACT)
            assert est.audit().tied == ("second",)

    assert asked == {"misclassification": "first", "gini": "second", "entropy": "second"}


@pytest.mark.parametrize("classifier", [tw.DecisionTreeClassifier, tw.ID3Classifier])
def test_xor_gains_nothing_at_the_root_and_is_learned_all_the_same(classifier):
    table = {"a": ["0", "0", "1", "1"], "b": ["0", "1", "0", "1"]}
    labels = ["no", "yes", "yes", "no"]

    est = classifier().fit(table, labels)
    stopped = classifier(min_impurity_decrease=1e-9).fit(table, labels)

    assert [row.gain for row in est.audit()] == pytest.approx([0, 0], abs=EXACT)
    assert est.predict(table).tolist() == labels
    assert (est.get_n_leaves(), est.get_depth(), stopped.get_n_leaves()) == (4, 2, 1)


POINTS = {"x1": [2, 5, 6, 8, 1, 2, 3, 5, 6, 9], "x2": [2, 4, 2, 4, 6, 8, 8, 6, 8, 6]}
COLOURS = ["red"] * 4 + ["blue"] * 5 + ["red"]


def fewest_errors(columns, labels, leaves):
    """Of every tree with at most so many leaves whose tests are single columns of two levels."""
    fewest = len(labels) - max(Counter(labels).values(), default=0)
    if leaves == 1 or not fewest:
        return fewest
    for cells in columns.values():
        sides = [[at for at, cell in enumerate(cells) if cell == level] for level in sorted(set(cells))]
        if len(sides) < 2:
            continue
        tables = [
            ({name: [column[at] for at in side] for name, column in columns.items()}, [labels[at] for at in side])
            for side in sides
        ]
        for left in range(1, leaves):
            found = fewest_errors(*tables[0], left) + fewest_errors(*tables[1], leaves - left)
            fewest = min(fewest, found)
    return fewest


EVENINGS = {
    "late": ["yes", "yes", "yes", "yes", "yes", "no", "no", "no", "no"],
    "dark": ["yes", "yes", "yes", "yes", "no", "yes", "yes", "no", "no"],
    "moves": ["yes", "yes", "yes", "no", "yes", "no", "no", "yes", "yes"],
}
LIGHT = ["on"] * 3 + ["off"] * 6
STAIRS = {"upstairs": ["down", "down", "up", "up"], "downstairs": ["down", "up", "down", "up"]}


@pytest.mark.parametrize(
    ("table", "labels", "errors", "sizes"),
    [
        (EVENINGS, LIGHT, [3, 2, 0, 0], [2, 3, 3]),
        (STAIRS, ["off", "on", "on", "off"], [2, 2, 1, 0], [1, 3, 4]),
    ],
    ids=["evenings", "xor"],
)
def test_an_optimal_tree_errs_as_the_best_of_all_trees_and_has_the_fewest_leaves(table, labels, errors, sizes):
    assert [fewest_errors(table, labels, leaves) for leaves in (1, 2, 3, 4)] == errors
    for leaves, size in zip((2, 3, 4), sizes, strict=True):
        est = tw.OptimalTreeClassifier(max_leaf_nodes=leaves).fit(table, labels)
        assert (est.objective_, est.get_n_leaves()) == (errors[leaves - 1] / len(labels), size)
        assert est.proven_


def test_greedy_asks_first_what_gains_most_and_needs_one_leaf_more_on_nine_evenings():
    gains = [gain(cells, LIGHT, gini) for cells in EVENINGS.values()]
    greedy = tw.DecisionTreeClassifier().fit(EVENINGS, LIGHT)
    optimal = tw.OptimalTreeClassifier().fit(EVENINGS, LIGHT)

    assert gains == pytest.approx([4 / 9 - 4 / 15, 1 / 9, 1 / 9])
    assert [row.gain for row in greedy.audit()] == pytest.approx(gains)
    assert (root_of(greedy), greedy.get_n_leaves(), optimal.get_n_leaves()) == ("late", 4, 3)
    found = optimal.model_.facts["optimal"]
    assert (found["greedy_objective"], found["greedy_leaves"]) == (0.0, 4)
    # Each subtree with the weighted gini that its tests remove: 4/15 with two of them, 4/9 - 4/15 with the last.
    prices = greedy.cost_complexity_pruning_path(EVENINGS, LIGHT).ccp_alphas
    assert prices == pytest.approx([0, 4 / 15 / 2, 4 / 9 - 4 / 15])


@pytest.mark.parametrize(("table", "labels", "leaves"), [(EVENINGS, LIGHT, 3), (STAIRS, ["off", "on", "on", "off"], 4)])
def test_an_optimal_tree_is_one_leaf_from_a_price_of_a_sixth_on(table, labels, leaves):
    for price, size in ((1 / 6 - 1e-3, leaves), (1 / 6 + 1e-3, 1)):
        est = tw.OptimalTreeClassifier(ccp_alpha=price).fit(table, labels)
        alone = fewest_errors(table, labels, 1) / len(labels) + price
        assert est.get_n_leaves() == size
        assert est.objective_ == pytest.approx(min(leaves * price, alone))


def test_the_cut_of_ten_points_at_2_5_has_an_objective_of_6_69():
    est = tw.DecisionTreeClassifier(criterion="entropy", min_samples_split=5).fit(POINTS, COLOURS)
    cut = next(row for row in est.audit(every="x1", log_base="e") if row.threshold == 2.5)
    left, right = cut.branches
    by_hand = [-(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3)]
    by_hand.append(-(3 / 7) * math.log(3 / 7) - (4 / 7) * math.log(4 / 7))

    assert [left.counts, right.counts] == [(2, 1), (3, 4)]
    assert [left.impurity, right.impurity] == pytest.approx(by_hand, abs=EXACT)
    assert by_hand == pytest.approx([0.64, 0.68], abs=0.005)
    assert 10 * cut.after == pytest.approx(3 * by_hand[0] + 7 * by_hand[1], abs=EXACT)
    assert 10 * cut.after == pytest.approx(6.69, abs=0.005)


def test_every_cut_of_ten_points_is_that_of_arithmetic_and_the_tree_has_three_leaves():
    est = tw.DecisionTreeClassifier(criterion="entropy", min_samples_split=5).fit(POINTS, COLOURS)
    n_cuts = 0
    for column, values in POINTS.items():
        distinct = sorted(set(values))
        middles = [(low + high) / 2 for low, high in pairwise(distinct)]
        rows = est.audit(every=column)
        assert [row.threshold for row in rows] == middles
        for row in rows:
            below = [value <= row.threshold for value in values]
            assert row.gain == pytest.approx(gain(below, COLOURS), abs=EXACT)
        n_cuts += len(rows)

    assert n_cuts == 9
    assert (root_of(est), float(est.tree_.threshold[0]), est.get_n_leaves()) == ("x2", 5.0, 3)


def test_the_base_of_the_logarithm_changes_every_number_by_one_factor():
    est = tw.DecisionTreeClassifier(criterion="entropy").fit(POINTS, COLOURS)
    bits, nats = est.audit(every="x1"), est.audit(every="x1", log_base="e")

    assert [row.gain * math.log(2) for row in bits] == pytest.approx([row.gain for row in nats], abs=EXACT)


def test_the_divergence_from_even_shares_is_log_c_minus_the_entropy():
    rng = np.random.default_rng(3)
    table = {"x": rng.random(60), "y": rng.random(60)}
    labels = rng.choice(["a", "b", "c"], 60)
    tree = tw.DecisionTreeClassifier(criterion="entropy", max_depth=4).fit(table, labels).tree_

    for counts, impurity in zip(tree.value, tree.impurity, strict=True):
        shares = (counts / counts.sum()).tolist()
        divergence = sum(p * math.log2(p / (1 / 3)) for p in shares if p > 0)
        assert divergence == pytest.approx(math.log2(3) - impurity, abs=1e-9)


def test_the_tree_farthest_from_even_shares_is_the_tree_of_least_entropy():
    rng = np.random.default_rng(4)
    table = {"x": rng.random(60), "y": rng.random(60)}
    labels = rng.choice(["a", "b", "c"], 60)

    def nearness(counts):
        shares = counts / counts.sum(axis=1, keepdims=True)
        logs = np.log2(np.where(shares > 0, shares * counts.shape[1], 1.0))
        return np.maximum(math.log2(counts.shape[1]) - (shares * logs).sum(axis=1), 0)

    by_distance = tw.DecisionTreeClassifier(criterion=nearness).fit(table, labels).tree_
    by_entropy = tw.DecisionTreeClassifier(criterion="entropy").fit(table, labels).tree_

    assert by_distance.feature.tolist() == by_entropy.feature.tolist()
    assert by_distance.threshold.tolist() == by_entropy.threshold.tolist()


@pytest.mark.parametrize(
    ("column", "gained", "ratio"),
    [("outlook", 0.246, 0.156), ("temperature", 0.029, 0.019), ("humidity", 0.151, 0.151), ("windy", 0.048, 0.049)],
)
def test_quinlans_gains_and_gain_ratios_of_play_tennis(column, gained, ratio):
    table, play = textbook("tennis")
    split_info = entropy(table[column])
    for est in (tw.ID3Classifier(), tw.C45Classifier(confidence=None)):
        row = by_column(est.fit(table, play).audit())[column]
        assert row.gain == pytest.approx(gain(table[column], play), abs=EXACT)
        assert row.split_info == pytest.approx(split_info, abs=EXACT)
        assert row.gain_ratio == pytest.approx(gain(table[column], play) / split_info, abs=EXACT)
        # He subtracts numbers of three digits: the third may be one lower.
        assert row.gain == pytest.approx(gained, abs=0.0011)
        assert row.gain_ratio == pytest.approx(ratio, abs=0.0011)


@pytest.mark.parametrize("est", [tw.ID3Classifier(), tw.C45Classifier()], ids=["id3", "c45"])
def test_play_tennis_makes_quinlans_tree(est):
    table, play = textbook("tennis")
    est.fit(table, play)

    rules = {(rule.conditions, rule.prediction) for rule in est.rules()}

    assert rules == {
        (("outlook = overcast",), "yes"),
        (("outlook = rainy", "windy = false"), "yes"),
        (("outlook = rainy", "windy = true"), "no"),
        (("outlook = sunny", "humidity = high"), "no"),
        (("outlook = sunny", "humidity = normal"), "yes"),
    }


def test_row_numbers_win_by_gain_and_by_gain_ratio_but_not_under_c45():
    table, play = textbook("tennis")
    numbered = {"morning": [f"m{at}" for at in range(14)], **table}
    multiway = tw.DecisionTreeClassifier(criterion="gain_ratio", nominal_splits="multiway")
    row = by_column(multiway.fit(numbered, play).audit())["morning"]

    assert row.gain == pytest.approx(entropy(play), abs=EXACT)
    assert row.gain_ratio == pytest.approx(entropy(play) / math.log2(14), abs=EXACT)
    assert root_of(multiway) == root_of(tw.ID3Classifier().fit(numbered, play)) == "morning"
    assert root_of(tw.C45Classifier(confidence=None).fit(numbered, play)) == "outlook"


def chi_squared(rows):
    """Pearson's statistic of a table of counts."""
    columns = [sum(column) for column in zip(*rows, strict=True)]
    due = [[sum(row) * column / sum(columns) for column in columns] for row in rows]
    return sum((o - e) ** 2 / e for seen, row in zip(rows, due, strict=True) for o, e in zip(seen, row, strict=True))


def test_chaid_merges_the_soils_that_differ_least_and_pays_for_the_choice():
    table = {"clay": (4, 16), "loam": (6, 14), "sand": (15, 5)}
    soil = [name for name, counts in table.items() for _ in range(sum(counts))]
    flowered = [label for yes, no in table.values() for label in ["yes"] * yes + ["no"] * no]
    statistics = {pair: chi_squared([table[name] for name in pair]) for pair in combinations(table, 2)}
    merged = chi_squared([(10, 30), (15, 5)])

    est = tw.CHAIDClassifier().fit({"soil": soil}, flowered)
    free = tw.CHAIDClassifier(bonferroni=False).fit({"soil": soil}, flowered)

    assert min(statistics, key=statistics.get) == ("clay", "loam")
    assert merged == pytest.approx(1600 / 36 * (3 / 50 + 3 / 70 + 6 / 50 + 6 / 70))  # every difference is 20/3
    assert [rule.conditions for rule in est.rules()] == [("soil in {clay, loam}",), ("soil = sand",)]
    # One degree of freedom; 3 ways to make two groups of three.
    assert est.audit()[0].p_value == pytest.approx(3 * math.erfc(math.sqrt(merged / 2)), rel=1e-9)
    assert free.audit()[0].p_value == pytest.approx(math.erfc(math.sqrt(merged / 2)), rel=1e-9)


@pytest.mark.parametrize(
    ("table", "n_leaves"), [("tennis_numeric", 5), ("tennis", 5), ("restaurant", 5), ("contact_lenses", 7)]
)
def test_no_smaller_tree_is_without_errors(table, n_leaves):
    columns, target = textbook(table)
    for name in ("temperature", "humidity") if table == "tennis_numeric" else ():
        columns[name] = [float(cell) for cell in columns[name]]
    est = tw.OptimalTreeClassifier(objective="smallest").fit(columns, target)
    assert (est.get_n_leaves(), est.proven_, est.score(columns, target)) == (n_leaves, True, 1.0)


def test_no_tree_of_two_leaves_is_without_errors_on_the_movies():
    est = tw.OptimalTreeClassifier(objective="smallest").fit(CLEAN, LIKED)
    assert (est.get_n_leaves(), est.proven_) == (3, True)
