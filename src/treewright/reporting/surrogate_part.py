"""The one tree that stands for many. In: ``Judged``. Out: its tree and how faithful it is. Callers: reporting."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from treewright.model.summary import counted, summarize
from treewright.model_selection.surrogate import LEAVES, SurrogateTree, surrogate_of_model
from treewright.page.parts_ensemble import SurrogateWords
from treewright.page.parts_rows import ExamplesPart
from treewright.page.parts_tree import TreePart
from treewright.page.tree_part import tree_part
from treewright.reporting.drawn import rows_drawn
from treewright.reporting.examples_part import chosen_rows, example_row, examples_part
from treewright.reporting.judged import Judged
from treewright.reporting.options import Options
from treewright.reporting.tree_judged import tree_with_judges

MOST_ROWS = 20_000
LEAST_ROWS = 10  # with fewer, a part of them tells nothing
TO_JUDGE, TO_JUDGE_SHOWN = 1 / 3, "1/3"  # of the rows; the others grow the tree
LEAST_IN_LEAF, MOST_IN_LEAF, LEAVES_TO_FILL = 2, 20, 50


class Standing(NamedTuple):
    """The tree as the page shows it, its words, and the judged rows as this tree alone judges them."""

    tree: TreePart
    words: SurrogateWords
    judged: Judged


def surrogate_part(judged: Judged, options: Options) -> Standing | None:
    """Grow a tree on what many trees say of two thirds of the judged rows, and judge it on the others.

    None of a single tree, of neighbours, and of fewer than ``LEAST_ROWS`` rows.
    """
    if judged.is_neighbors or judged.model.is_single_tree or judged.n < LEAST_ROWS:
        return None
    rows = rows_drawn(judged.n, MOST_ROWS, options.random_state)
    weights = None if judged.weights_given is None else judged.weights[rows]
    found = surrogate_of_model(
        judged.model, judged.matrix[rows], weights, min_samples_leaf=rows_of_a_leaf(len(rows)), test_size=TO_JUDGE,
        random_state=options.random_state, n_jobs=options.n_jobs,
    )  # fmt: skip
    title = f"One tree in place of {found.of}"
    one = found.estimator.model_
    # The truth of the judged rows in its nodes, as a single tree has it.
    alone = replace(judged, model=one, estimator=found.estimator)
    part = tree_with_judges(tree_part(one, title=title), alone)
    return Standing(part, in_words(found, title, judged.n, len(rows), one_answer=part.nodes[0].said), alone)


def rows_of_a_leaf(n: int) -> int:
    """How many rows a leaf has at least, of so many before some are kept aside: a single row says little.

    Examples
    --------
    >>> [rows_of_a_leaf(n) for n in (20, 300, 20_000)]
    [2, 4, 20]
    """
    return max(LEAST_IN_LEAF, min(MOST_IN_LEAF, round((1 - TO_JUDGE) * n / LEAVES_TO_FILL)))


def examples_beside(judged: Judged, standing: Standing, options: Options) -> ExamplesPart:
    """Rows to follow: what is said of them is what all trees say, the way is that of the tree that stands for them.

    Its leaves hold answers of the trees, not the truth of rows: there is no interval around them.
    """
    part = examples_part(standing.judged, replace(options, examples=0), standing.tree)
    summary = summarize(standing.judged.model, 0)
    rows = tuple(example_row(judged, summary, row) for row in chosen_rows(judged, options).tolist())
    supports = tuple(replace(each, intervals=tuple(None for _ in each.intervals)) for each in part.supports)
    return replace(part, rows=rows, supports=supports, interval="")


def in_words(found: SurrogateTree, title: str, n: int, n_asked: int, one_answer: str) -> SurrogateWords:
    """What the page says of the tree."""
    drawn = f" ({counted(n_asked, 'row')} of {n:,} drawn at random)" if n_asked < n else ""
    size = f"{counted(found.n_leaves, 'leaf', 'leaves')}, depth {found.depth}"
    says_more = not found.fidelity <= found.one_answer  # also where the rows do not tell
    always = f"always answering {one_answer}" if found.measure == "agreement" else "one number for all rows"
    return SurrogateWords(
        title=title,
        words=f"A tree of {size}, grown on what {found.of} {found.verb} of {counted(found.n_fit, 'row')}{drawn}, "
        f"{found.words}.",
        measure=found.measure,
        fidelity=found.fidelity,
        low=found.low,
        high=found.high,
        n_fit=found.n_fit,
        n_judged=found.n_judged,
        n_leaves=found.n_leaves,
        command=f"treewright.model_selection.surrogate_tree(fitted, X, max_leaf_nodes={LEAVES}, "
        f"min_samples_leaf={rows_of_a_leaf(n_asked)}, test_size={TO_JUDGE_SHOWN})",
        warning="" if says_more else f"This tree tells no more than {always}: do not read it as the model.",
    )
