"""What the trees of a model are like, and some of them. In: ``Judged``. Out: parts. Caller: reporting.ensemble_part."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treewright.data.bin_rows import bin_rows
from treewright.model.aggregation import output_columns
from treewright.model.data import ModelData, boosted_parts, sizes_of
from treewright.model.summary import counted, score_names
from treewright.page.parts_ensemble import MemberPart, SpreadPart
from treewright.page.tree_part import tree_part
from treewright.predict.ensemble import contents_of
from treewright.predict.walks import leaf_rows_of_bins, reading_of
from treewright.reporting.drawn import rows_drawn
from treewright.reporting.judged import Judged
from treewright.reporting.options import Options
from treewright.tree.walk import Sizes
from treewright.tree.writing import shorten

CELLS = 12  # of a histogram
MOST_NODES = 127  # of a tree that stands beside others
MOST_COMPARED = 200  # trees that are compared with each other


class Agreement(NamedTuple):
    """How trees stand to each other, on some rows.

    ``with_all`` float64[n_trees]: of each tree the share of the rows with the answer of all trees together, or the
    correlation with their number; ``between`` the mean of the same over pairs of trees, nan for one tree.
    ``n_rows``: rows that were asked about.
    """

    with_all: np.ndarray
    between: float
    n_rows: int


def size_parts(sizes: Sizes) -> tuple[SpreadPart, ...]:
    """How many leaves the trees have, and how deep they are."""
    return tuple(
        spread_of(name, title, numbers.astype(np.float64))
        for name, title, numbers in (
            ("leaves", "Leaves of the trees", sizes.n_leaves),
            ("depth", "Depth of the trees", sizes.depth),
        )
    )


def spread_of(name: str, title: str, numbers: np.ndarray) -> SpreadPart:
    """Whole numbers, one per tree, as a histogram."""
    least, most = int(numbers.min()), int(numbers.max())
    step = max(1, -(-(most - least + 1) // CELLS))
    starts = list(range(least, most + 1, step))
    counts = np.bincount(((numbers - least) // step).astype(np.int64), minlength=len(starts))
    labels = [f"{start}" if step == 1 else f"{start} to {start + step - 1}" for start in starts]
    middle = f"{float(np.median(numbers)):.1f}".removesuffix(".0")
    same = f"From {least} to {most}, half of the trees up to {middle}."
    if least == most:
        size = f"has {counted(least, 'leaf', 'leaves')}" if name == "leaves" else f"is {least} deep"
        same = f"Every tree {size}."
    edges = None if step == 1 else tuple(start - 0.5 for start in [*starts, starts[-1] + step])
    return SpreadPart(
        name, title, same, least, float(np.median(numbers)), most, tuple(labels), tuple(counts.tolist()), edges, name
    )


def agreement_of(judged: Judged, options: Options) -> Agreement:
    """Ask every tree about some of the judged rows and compare the answers, of the first output.

    Of trees that answer together, not of boosted ones: each of those answers another question.
    """
    model = judged.model
    rows = rows_drawn(judged.n, options.rows, options.random_state)
    weights = judged.weights[rows]
    said = said_by_trees(model, judged.matrix[rows])
    if judged.is_classification:
        together = judged.codes[rows, 0]
        with_all = np.average(said == together[:, None], axis=0, weights=weights)
        between = pairs_alike(said, weights)
    else:
        together = judged.numbers[rows, 0]
        with_all = correlations(np.column_stack([together, said]), weights)[0, 1:]
        table = correlations(said[:, compared(said.shape[1])], weights)
        pairs = table[np.triu_indices(len(table), 1)]
        between = float(np.nanmean(pairs)) if np.isfinite(pairs).any() else float("nan")
    return Agreement(with_all, between, len(rows))


def agreement_part(judged: Judged, found: Agreement) -> SpreadPart | None:
    """The agreement as a histogram and in words; None where no tree can be compared."""
    held = found.with_all[np.isfinite(found.with_all)]
    if not len(held):
        return None
    is_share = judged.is_classification
    low, high = float(held.min()), float(held.max())
    ends = np.linspace(low, high, 11) if high > low else np.array([low, low])
    counts = np.histogram(held, ends)[0] if high > low else np.array([len(held)])

    def text(value: float) -> str:
        return f"{100 * value:.1f} %" if is_share else f"{value:.3f}"

    cells = pairwise(ends.tolist())
    labels = tuple(text(start) if start == end else f"{text(start)} to {text(end)}" for start, end in cells)
    rows = counted(found.n_rows, "judged row")
    if is_share:
        words = f"On {rows} a tree says the same as all together for {text(float(np.mean(held)))} on average"
        pairs = f"; two trees say the same for {text(found.between)}" if np.isfinite(found.between) else ""
    else:
        mean = text(float(np.mean(held)))
        words = f"On {rows} the numbers of a tree and of all together correlate by {mean} on average"
        pairs = f"; those of two trees by {text(found.between)}" if np.isfinite(found.between) else ""
    title = "How often each tree says what all say" if is_share else "How each tree's numbers follow those of all"
    more = ". The less alike good trees are, the more their mean gains."
    return SpreadPart(
        "agreement", title, words + pairs + more, low, float(np.median(held)), high, labels, tuple(counts.tolist()),
        tuple((100 * ends if is_share else ends).tolist()) if high > low else None,
        f"% of the {counts_of(judged)}" if is_share else "correlation",
    )  # fmt: skip


def said_by_trees(model: ModelData, matrix: np.ndarray) -> np.ndarray:
    """What each tree says alone of the first output: int64 or float64 [n, n_trees]."""
    contents, n_trees = contents_of(model), len(model.trees)
    columns = output_columns(model)[0] if model.classes else slice(0, 1)
    said = np.empty((len(matrix), n_trees), np.int64 if model.classes else np.float64)
    reading = reading_of(model, matrix, None)
    for at in range(n_trees):
        of_tree = reading.of_tree(at, contents)[:, columns]
        said[:, at] = of_tree.argmax(axis=1) if model.classes else of_tree[:, 0]
    return said


def compared(n_trees: int) -> np.ndarray:
    """The trees that are compared pair by pair: all, or some at like distances."""
    return np.unique(np.linspace(0, n_trees - 1, min(n_trees, MOST_COMPARED)).round().astype(np.int64))


def pairs_alike(said: np.ndarray, weights: np.ndarray) -> float:
    """The mean over pairs of trees of the share of the rows with equal answers; nan for one tree."""
    said = said[:, compared(said.shape[1])]
    n_trees = said.shape[1]
    if n_trees < 2:
        return float("nan")
    alike = 0.0
    for code in np.unique(said):
        votes = (said == code).sum(axis=1)
        # Ordered pairs of trees that both say it.
        alike += float((weights * votes * (votes - 1)).sum())
    return alike / (n_trees * (n_trees - 1) * float(weights.sum()))


def correlations(numbers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """float64[k, k]: correlations of columns over weighted rows; nan where a column does not vary."""
    shares = weights / weights.sum()
    scale = np.abs(numbers).max(axis=0)
    numbers = numbers / np.where(scale > 0, scale, 1.0)
    apart = numbers - shares @ numbers
    products = (apart * shares[:, None]).T @ apart
    spread = np.sqrt(np.diag(products))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = products / np.outer(spread, spread)
    found[:, spread < 1e-12] = np.nan
    found[spread < 1e-12] = np.nan
    return np.clip(found, -1.0, 1.0)


def members_of(judged: Judged, sizes: Sizes, agreement: Agreement | None, most: int) -> tuple[MemberPart, ...]:
    """Some trees to look at: the first ones, and the one that is most like all (of boosted trees the last)."""
    model = judged.model
    n_trees = len(model.trees)
    special = n_trees - 1
    if agreement is not None and np.isfinite(agreement.with_all).any():
        special = int(np.nanargmax(agreement.with_all))
    numbers = list(range(min(most, n_trees)))
    if numbers and special not in numbers:
        numbers[-1] = special
    moves = moved_by_trees(judged, numbers) if model.has_scores else []
    found = []
    for place, number in enumerate(numbers):
        leaves = counted(int(sizes.n_leaves[number]), "leaf", "leaves")
        label = f"Tree {number + 1} of {n_trees}{score_of(model, number)}, {leaves}"
        words = f"Moves its score by {moves[place]:.4g} on average over the judged rows." if moves else ""
        if agreement is not None:
            words = stands(judged, float(agreement.with_all[number]))
            label += ", most like all" if number == special else ""
        part = tree_part(model, number, title=f"Tree {number + 1} of {n_trees}", max_nodes=MOST_NODES)
        # Rules are long, and the page finds the way by itself.
        part = replace(part, nodes=tuple(replace(node, rule=None) for node in part.nodes))
        found.append(MemberPart(number, label, words, part))
    return tuple(found)


def moved_by_trees(judged: Judged, numbers: list[int]) -> list[float]:
    """Of some boosted trees the mean size of what they add to their score, over the judged rows."""
    packed, _ = boosted_parts(judged.model)
    cells, every = bin_rows(packed.bins, judged.matrix), np.arange(judged.n, dtype=np.int32)
    adds = np.abs(packed.leaf_value[:, 0].astype(np.float64))
    return [
        float(np.average(adds[leaf_rows_of_bins(packed, cells, every, number)], weights=judged.weights))
        for number in numbers
    ]


def score_of(model: ModelData, number: int) -> str:
    """Of a boosted tree its round and the score that it adds to."""
    if not model.has_scores:
        return ""
    n_scores = model.aggregation.n_scores
    if n_scores == 1:
        return f" (round {number + 1})"
    name = shorten(score_names(model)[number % n_scores] or f"score {number % n_scores + 1}", 40)
    return f" (round {number // n_scores + 1}, {name})"


def counts_of(judged: Judged) -> str:
    """What shares are shares of."""
    return "weight" if judged.is_weighted else "rows"


def stands(judged: Judged, value: float) -> str:
    """How a tree stands to all."""
    if not np.isfinite(value):
        return ""
    if judged.is_classification:
        return f"Says the same as all together for {100 * value:.1f} % of the {counts_of(judged)}."
    return f"Its numbers correlate with those of all together by {value:.3f}."


__all__ = ["Agreement", "agreement_of", "agreement_part", "members_of", "size_parts", "sizes_of"]
