"""The section of many trees: their sizes, their agreement, some of them, and one tree in place of all.

And the section of contributions of each column to their predictions, over the test rows and for one.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treewright.core.elementary import add_products
from treewright.evaluation.surrogate import LEAVES, SurrogateTree, surrogate_of_model
from treewright.exceptions import DataError, ParameterError
from treewright.explain.contributions import game_of
from treewright.explain.explanation import PAGE_ROWS, explain_encoded, part_of, refuse_no_sum
from treewright.predict.ensemble import contents_of
from treewright.predict.walks import Reading, Walk
from treewright.reporting.data import Options, ReportData, sampled_rows
from treewright.reporting.rounds import adaboost_curves, boosting_curves, forest_curve
from treewright.reporting.tree import chosen_rows, example_row, examples_part, tree_with_test_rows
from treewright.show.ensemble import COMBINED, how_predicted
from treewright.show.page.parts import (
    ContributionsPart,
    CurvePart,
    EnsemblePart,
    ExamplesPart,
    MemberPart,
    NodePart,
    SurrogateWords,
    TreePart,
    TreeSpreadPart,
)
from treewright.show.page.tree import tree_part
from treewright.trees.arrays import Sizes
from treewright.trees.data import ModelData, output_columns, sizes_of
from treewright.trees.summary import counted, score_names, summarize
from treewright.trees.threshold import decision_text
from treewright.trees.writing import shorten

CELLS = 12  # of a histogram
MOST_NODES = 127  # of a tree that is shown next to others
MOST_COMPARED = 200  # trees that are compared with each other
MOST_ROWS = 20_000
LEAST_ROWS = 10  # with fewer, a part of them is too few to evaluate
TO_JUDGE, TO_JUDGE_SHOWN = 1 / 3, "1/3"  # of the rows; the others grow the tree
LEAST_IN_LEAF, MOST_IN_LEAF, LEAVES_TO_FILL = 2, 20, 50


def ensemble_part(data: ReportData, options: Options, standing: Standing | None = None) -> EnsemblePart | None:
    """The section about many trees; None for a single one and for neighbours. ``standing`` is the surrogate tree."""
    if data.is_neighbors or data.model.is_single_tree:
        return None
    model = data.model
    kind = "boosting" if model.has_scores else "forest" if model.tree_weights is None else "adaboost"
    n_scores = model.aggregation.n_scores
    n_rounds = 0 if kind == "forest" else len(model.trees) // n_scores
    curves: list[CurvePart]
    notes: list[str]
    if kind == "forest":
        curve, own_notes = forest_curve(data, options)
        curves, notes = [curve], list(own_notes)
    else:
        curves, notes = (boosting_curves if kind == "boosting" else adaboost_curves)(data, options, n_rounds)
    agreement = None if kind == "boosting" else agreement_of(data, options)
    sizes = sizes_of(model)
    members = members_of(data, sizes, agreement, options.trees)
    if standing is None:
        notes.append(f"There is no tree in place of all: it needs {LEAST_ROWS} test rows, there are {data.n}.")
    return EnsemblePart(
        kind=kind,
        headline=headline_of(model, n_rounds),
        n_trees=len(model.trees),
        n_rounds=n_rounds,
        curves=tuple(curves),
        sizes=size_parts(sizes),
        agreement=None if agreement is None else agreement_part(data, agreement),
        members=members,
        surrogate=None if standing is None else standing.words,
        notes=tuple(notes),
        first=first_shown(members, agreement, standing),
    )


def first_shown(members: tuple[MemberPart, ...], agreement: Agreement | None, standing: Standing | None) -> int | None:
    """The single tree most like all, if the surrogate tree is no better than a constant.

    None for boosted trees: each predicts something else.
    """
    if standing is None or not standing.words.warning or agreement is None:
        return None
    alike = agreement.with_all[[member.number for member in members]]
    return int(np.nanargmax(alike)) if np.isfinite(alike).any() else None


def headline_of(model: ModelData, n_rounds: int) -> str:
    """How many trees there are and how they predict together."""
    trees = counted(len(model.trees), "tree")
    if model.boosting is not None:
        each = "one" if model.boosting.n_scores == 1 else f"one for each of {model.boosting.n_scores} scores"
        prediction = how_predicted(model, model.boosting)
        if members := model.facts.get("members"):
            return (
                f"{trees} of {len(members)} members, whose scores are averaged: {each} per round of a member, fitted "
                f"to what the earlier trees of the member left over. Trees are ordered by round, then by member; "
                f"{prediction}."
            )
        return (
            f"{trees}, fitted in {counted(n_rounds, 'round')} ({each} per round) to what the earlier trees left over. "
            f"Their values add up to {'a score' if model.boosting.n_scores == 1 else 'scores'}; "
            f"{prediction}."
        )
    if model.tree_weights is not None:
        prediction = (
            "the class with the largest total weight of trees"
            if model.aggregation.votes
            else "the weighted median of their predictions"
        )
        return (
            f"{trees}, fitted one after another, on rows weighted by the errors of the earlier trees. "
            f"{_decided(model, 'the share of the weight of their votes') or f'The prediction is {prediction}.'}"
        )
    prediction = COMBINED.get((model.task, model.combine), model.combine)
    share = "the share of their votes" if model.aggregation.votes else prediction
    return f"{trees}, fitted independently. {_decided(model, share) or f'The prediction is {prediction}.'}"


def _decided(model: ModelData, share: str) -> str:
    """How a model with a threshold predicts from its probabilities, which are ``share``; else an empty text."""
    return "" if model.threshold is None else f"A probability is {share}; the model {decision_text(model)}."


class Agreement(NamedTuple):
    """How far the predictions of trees agree, on some rows.

    ``with_all`` float64[n_trees]: of each tree the share of the rows with the prediction of all trees together, or the
    correlation with it; ``between`` the mean of the same over pairs of trees, nan for one tree.
    ``n_rows``: number of rows that were predicted.
    """

    with_all: np.ndarray
    between: float
    n_rows: int


def size_parts(sizes: Sizes) -> tuple[TreeSpreadPart, ...]:
    """Histograms of the numbers of leaves and the depths of the trees."""
    return tuple(
        sizes_spread(name, title, numbers.astype(np.float64))
        for name, title, numbers in (
            ("leaves", "Leaves of the trees", sizes.n_leaves),
            ("depth", "Depth of the trees", sizes.depth),
        )
    )


def sizes_spread(name: str, title: str, numbers: np.ndarray) -> TreeSpreadPart:
    """Whole numbers, one per tree, as a histogram."""
    least, most = int(numbers.min()), int(numbers.max())
    step = max(1, -(-(most - least + 1) // CELLS))
    starts = list(range(least, most + 1, step))
    counts = np.bincount(((numbers - least) // step).astype(np.int64), minlength=len(starts))
    labels = [f"{start}" if step == 1 else f"{start} to {start + step - 1}" for start in starts]
    middle = f"{float(np.median(numbers)):.1f}".removesuffix(".0")
    same = f"From {least} to {most}, median {middle}."
    if least == most:
        size = f"has {counted(least, 'leaf', 'leaves')}" if name == "leaves" else f"has depth {least}"
        same = f"Every tree {size}."
    edges = None if step == 1 else tuple(start - 0.5 for start in [*starts, starts[-1] + step])
    return TreeSpreadPart(
        name, title, same, least, float(np.median(numbers)), most, tuple(labels), tuple(counts.tolist()), edges, name
    )


def agreement_of(data: ReportData, options: Options) -> Agreement:
    """Compare the predictions of all trees for some of the test rows, for the first output.

    Not for boosted trees: each of them predicts something else.
    """
    model = data.model
    rows = sampled_rows(data.n, options.rows, options.random_state)
    weights = data.weights[rows]
    answers = predictions_of_trees(model, data.matrix[rows])
    if data.is_classification:
        together = data.codes[rows, 0]
        with_all = np.average(answers == together[:, None], axis=0, weights=weights)
        between = pairs_alike(answers, weights)
    else:
        together = data.numbers[rows, 0]
        with_all = correlations(np.column_stack([together, answers]), weights)[0, 1:]
        table = correlations(answers[:, compared(answers.shape[1])], weights)
        pairs = table[np.triu_indices(len(table), 1)]
        between = float(np.nanmean(pairs)) if np.isfinite(pairs).any() else float("nan")
    return Agreement(with_all, between, len(rows))


def agreement_part(data: ReportData, found: Agreement) -> TreeSpreadPart | None:
    """The agreement as a histogram and in words; None if no tree can be compared."""
    held = found.with_all[np.isfinite(found.with_all)]
    if not len(held):
        return None
    is_share = data.is_classification
    low, high = float(held.min()), float(held.max())
    ends = np.linspace(low, high, 11) if high > low else np.array([low, low])
    counts = np.histogram(held, ends)[0] if high > low else np.array([len(held)])

    def text(value: float) -> str:
        return f"{100 * value:.1f} %" if is_share else f"{value:.3f}"

    cells = pairwise(ends.tolist())
    labels = tuple(text(start) if start == end else f"{text(start)} to {text(end)}" for start, end in cells)
    rows = counted(found.n_rows, "test row")
    if is_share:
        words = f"On {rows} a tree agrees with all trees together for {text(float(np.mean(held)))} on average"
        pairs = f"; two trees agree for {text(found.between)}" if np.isfinite(found.between) else ""
    else:
        mean = text(float(np.mean(held)))
        words = f"On {rows} the correlation of a tree with all trees together is {mean} on average"
        pairs = f"; that of two trees is {text(found.between)}" if np.isfinite(found.between) else ""
    title = "Agreement of each tree with all together" if is_share else "Correlation of each tree with all together"
    more = ". The less alike good trees are, the better is their mean."
    return TreeSpreadPart(
        "agreement", title, words + pairs + more, low, float(np.median(held)), high, labels, tuple(counts.tolist()),
        tuple((100 * ends if is_share else ends).tolist()) if high > low else None,
        f"% of the {counts_of(data)}" if is_share else "correlation",
    )  # fmt: skip


def predictions_of_trees(model: ModelData, matrix: np.ndarray) -> np.ndarray:
    """The predictions of each tree alone, for the first output: int64 or float64 [n, n_trees]."""
    contents, trees = contents_of(model), model.trees
    columns = output_columns(model.n_classes)[0] if model.classes else slice(0, 1)
    n_trees = len(trees)
    answers = np.empty((len(matrix), n_trees), np.int64 if model.classes else np.float64)
    reading = Reading(model, matrix, None)
    for at in range(n_trees):
        of_tree = reading.of_tree(at, contents)[:, columns]
        answers[:, at] = of_tree.argmax(axis=1) if model.classes else of_tree[:, 0]
    return answers


def compared(n_trees: int) -> np.ndarray:
    """The trees that are compared pair by pair: all, or some at equal distances."""
    return np.unique(np.linspace(0, n_trees - 1, min(n_trees, MOST_COMPARED)).round().astype(np.int64))


def pairs_alike(answers: np.ndarray, weights: np.ndarray) -> float:
    """The mean over pairs of trees of the share of the rows with equal predictions; nan for one tree."""
    answers = answers[:, compared(answers.shape[1])]
    n_trees = answers.shape[1]
    if n_trees < 2:
        return float("nan")
    alike = 0.0
    for code in np.unique(answers):
        votes = (answers == code).sum(axis=1)
        # Ordered pairs of trees that both predict this class.
        alike += float((weights * votes * (votes - 1)).sum())
    return alike / (n_trees * (n_trees - 1) * float(weights.sum()))


def correlations(numbers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """float64[k, k]: correlations of columns over weighted rows; nan if a column does not vary."""
    shares = weights / weights.sum()
    scale = np.abs(numbers).max(axis=0)
    numbers = numbers / np.where(scale > 0, scale, 1.0)
    apart = numbers - (numbers * shares[:, None]).sum(axis=0)
    products = np.zeros((numbers.shape[1], numbers.shape[1]))
    add_products(np.ascontiguousarray(apart * np.sqrt(shares)[:, None]), products)
    spread = np.sqrt(np.diag(products))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = products / np.outer(spread, spread)
    found[:, spread < 1e-12] = np.nan
    found[spread < 1e-12] = np.nan
    return np.clip(found, -1.0, 1.0)


def members_of(data: ReportData, sizes: Sizes, agreement: Agreement | None, most: int) -> tuple[MemberPart, ...]:
    """Some trees to look at: the first ones, and the one most like all (of boosted trees the last)."""
    model = data.model
    n_trees = len(model.trees)
    special = n_trees - 1
    if agreement is not None and np.isfinite(agreement.with_all).any():
        special = int(np.nanargmax(agreement.with_all))
    numbers = list(range(min(most, n_trees)))
    if numbers and special not in numbers:
        numbers[-1] = special
    moves = moved_by_trees(data, numbers) if model.has_scores else []
    found = []
    for place, number in enumerate(numbers):
        leaves = counted(int(sizes.n_leaves[number]), "leaf", "leaves")
        label = f"Tree {number + 1} of {n_trees}{score_of(model, number)}, {leaves}"
        words = f"Changes its score by {moves[place]:.4g} on average over the test rows." if moves else ""
        if agreement is not None:
            words = stands(data, float(agreement.with_all[number]))
            label += ", most like all" if number == special else ""
        part = tree_part(model, number, title=f"Tree {number + 1} of {n_trees}", max_nodes=MOST_NODES)
        # Rules are long, and the page finds the path by itself.
        part = replace(part, nodes=tuple(replace(node, rule=None) for node in part.nodes))
        found.append(MemberPart(number, label, words, part))
    return tuple(found)


def moved_by_trees(data: ReportData, numbers: list[int]) -> list[float]:
    """The mean size of what some boosted trees add to their score, over the test rows."""
    walk, found = Walk(data.model.trees), []
    cells, every = walk.cells(data.matrix), np.arange(data.n, dtype=np.int32)
    for number in numbers:
        leaves, adds = walk.leaves(number, cells, every)
        found.append(float(np.average(np.abs(adds[leaves, 0].astype(np.float64)), weights=data.weights)))
    return found


def score_of(model: ModelData, number: int) -> str:
    """The round of a boosted tree and the score that it adds to; empty for other trees."""
    if model.boosting is None:
        return ""
    n_scores = model.boosting.n_scores
    if n_scores == 1:
        return f" (round {number + 1})"
    name = shorten(score_names(model)[number % n_scores] or f"score {number % n_scores + 1}", 40)
    return f" (round {number // n_scores + 1}, {name})"


def counts_of(data: ReportData) -> str:
    """What shares are computed of: rows or weight."""
    return "weight" if data.is_weighted else "rows"


def stands(data: ReportData, value: float) -> str:
    """The agreement of a tree with all trees, in words."""
    if not np.isfinite(value):
        return ""
    if data.is_classification:
        return f"Agrees with all trees together for {100 * value:.1f} % of the {counts_of(data)}."
    return f"Its correlation with all trees together is {value:.3f}."


class Standing(NamedTuple):
    """The surrogate tree of the page, its words, and the test rows as predicted by this tree alone."""

    tree: TreePart
    words: SurrogateWords
    data: ReportData


def surrogate_part(data: ReportData, options: Options) -> Standing | None:
    """Fit a tree to the predictions of many trees for two thirds of the rows, and evaluate it on the others.

    None for a single tree, for neighbours, and for fewer than ``LEAST_ROWS`` rows.
    """
    if data.is_neighbors or data.model.is_single_tree or data.n < LEAST_ROWS:
        return None
    rows = sampled_rows(data.n, MOST_ROWS, options.random_state)
    weights = None if data.weights_given is None else data.weights[rows]
    found = surrogate_of_model(
        data.model, data.matrix[rows], weights, min_samples_leaf=rows_of_a_leaf(len(rows)), test_size=TO_JUDGE,
        random_state=options.random_state, n_jobs=options.n_jobs,
    )  # fmt: skip
    title = f"One tree in place of {found.of}"
    one = found.estimator.model_
    # The truth of the test rows in its nodes, as a single tree has it.
    alone = replace(data, model=one, estimator=found.estimator)
    # Candidate tests of its nodes are not shown: a gain of probabilities is not a gain of classes.
    part = tree_with_test_rows(tree_part(one, title=title), alone, audited=found.measure != "r2" or not one.classes)
    if found.measure == "r2" and len(one.classes) == 1:
        part = replace(part, nodes=tuple(replace(node, said=with_probability(node)) for node in part.nodes))
    return Standing(part, surrogate_words(found, title, data.n, len(rows)), alone)


def with_probability(node: NodePart) -> str:
    """The predicted class with its mean predicted probability, which differs between nodes also for a rare class."""
    counts = node.values[0]
    return f"{node.said} {100 * counts[node.code or 0] / sum(counts):.1f} %"


def rows_of_a_leaf(n: int) -> int:
    """The least number of rows in a leaf, from the number of rows before some are held out.

    Examples
    --------
    >>> [rows_of_a_leaf(n) for n in (20, 300, 20_000)]
    [2, 4, 20]
    """
    return max(LEAST_IN_LEAF, min(MOST_IN_LEAF, round((1 - TO_JUDGE) * n / LEAVES_TO_FILL)))


def examples_of_trees(data: ReportData, standing: Standing, options: Options) -> ExamplesPart:
    """Rows to follow: their predictions are those of all trees, their paths those of the surrogate tree.

    Its leaves hold predictions of the trees, not the truth of rows: there is no interval around them.
    """
    part = examples_part(standing.data, replace(options, examples=0), standing.tree)
    summary = summarize(standing.data.model, 0)
    rows = tuple(example_row(data, summary, row) for row in chosen_rows(data, options).tolist())
    supports = tuple(replace(each, intervals=tuple(None for _ in each.intervals)) for each in part.supports)
    return replace(part, rows=rows, supports=supports, interval="")


def surrogate_words(found: SurrogateTree, title: str, n: int, n_asked: int) -> SurrogateWords:
    """The words of the page about the surrogate tree."""
    drawn = f" ({counted(n_asked, 'row')} sampled from {n:,})" if n_asked < n else ""
    size = f"{counted(found.n_leaves, 'leaf', 'leaves')}, depth {found.depth}"
    explains = found.fidelity > (0.0 if found.measure == "r2" else found.one_answer) or np.isnan(found.fidelity)
    always = "always predicting the most frequent class" if found.measure == "agreement" else "one number for all rows"
    if found.measure == "r2" and not np.isnan(found.agreement):
        always = "one probability for all rows"
    return SurrogateWords(
        title=title,
        words=f"A tree of {size}, fitted to {found.answers} for {counted(found.n_fit, 'row')}{drawn}, {found.words}.",
        measure="probabilities" if found.measure == "r2" and not np.isnan(found.agreement) else found.measure,
        fidelity=found.fidelity,
        low=found.low,
        high=found.high,
        n_fit=found.n_fit,
        n_judged=found.n_judged,
        n_leaves=found.n_leaves,
        command=f"treewright.model_selection.surrogate_tree(fitted, X, max_leaf_nodes={LEAVES}, "
        f"min_samples_leaf={rows_of_a_leaf(n_asked)}, test_size={TO_JUDGE_SHOWN})",
        warning="" if explains else f"This tree is no better than {always}: do not read it as the model.",
    )


LEAST_ROWS_OF_SWARM = 20  # of the swarm
MOST_NODES_PASSED = 60_000_000  # nodes that rows pass, in a second or two
MOST_COLUMNS_OF_PAIRS, NODES_OF_PAIRS = 60, 20_000_000  # pairs cost a path's length more


def contributions_part(data: ReportData, options: Options) -> ContributionsPart | None:
    """The section about contributions; None for a single tree and for neighbours."""
    if data.is_neighbors or data.model.is_single_tree:
        return None
    try:
        refuse_no_sum(data.model)
        return _contributions(data, options)
    except (DataError, ParameterError) as refused:
        return ContributionsPart(why_not=str(refused))


def _contributions(data: ReportData, options: Options) -> ContributionsPart:
    """The section for a model whose predictions are a sum over its trees."""
    model = data.model
    n_nodes = 2 * int(sizes_of(model).n_leaves.sum())
    most = int(np.clip(MOST_NODES_PASSED // n_nodes, LEAST_ROWS_OF_SWARM, PAGE_ROWS))
    drawn = sampled_rows(data.n, most, options.random_state)
    matrix = data.matrix[np.concatenate([drawn, chosen_rows(data, options)])]
    found = explain_encoded(model, matrix, n_jobs=options.n_jobs)
    players, rows_of_pairs = game_of(model).players, drawn[: NODES_OF_PAIRS // n_nodes]
    pairs: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    if len(players) > MOST_COLUMNS_OF_PAIRS or not len(rows_of_pairs):
        many = f"of {len(players)} columns" if len(rows_of_pairs) else f"through {counted(n_nodes, 'node')}"
        notes = (f"Pairs of columns are left out: {many} they take too long. explain(X, order=2) computes them.",)
    else:
        pairs = explain_encoded(model, data.matrix[rows_of_pairs], order=2, n_jobs=options.n_jobs).values
    return part_of(
        found, range(len(drawn)), range(len(drawn), len(matrix)), players, [matrix[:, at] for at in players],
        n_all=data.n, pairs=pairs, notes=notes,
    )  # fmt: skip
