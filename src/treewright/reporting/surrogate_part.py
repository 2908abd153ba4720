"""The one tree that stands for many. In: ``Judged``. Out: its tree and how faithful it is. Callers: reporting."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

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
from treewright.tree.summary import counted, summarize

MOST_ROWS = 20_000
LEAST_ROWS = 10  # with fewer, half of them tell nothing


class Standing(NamedTuple):
    """The tree as the page shows it, its words, and the judged rows as this tree alone judges them."""

    tree: TreePart
    words: SurrogateWords
    judged: Judged


def surrogate_part(judged: Judged, options: Options) -> Standing | None:
    """Grow a tree on what many trees say of half the judged rows, and judge it on the other half.

    None of a single tree, of neighbours, and of fewer than ``LEAST_ROWS`` rows.
    """
    if judged.is_neighbors or judged.model.combine == "single" or judged.n < LEAST_ROWS:
        return None
    rows = rows_drawn(judged.n, MOST_ROWS, options.random_state)
    weights = None if judged.weights_given is None else judged.weights[rows]
    found = surrogate_of_model(
        judged.model, judged.matrix[rows], weights, random_state=options.random_state, n_jobs=options.n_jobs
    )
    title = f"One tree in place of {found.of}"
    one = found.estimator.model_
    # The truth of the judged rows in its nodes, as a single tree has it.
    alone = replace(judged, model=one, estimator=found.estimator)
    part = tree_with_judges(tree_part(one, title=title), alone)
    return Standing(part, in_words(found, title, judged.n, len(rows)), alone)


def examples_beside(judged: Judged, standing: Standing, options: Options) -> ExamplesPart:
    """Rows to follow: what is said of them is what all trees say, the way is that of the tree that stands for them.

    Its leaves hold answers of the trees, not the truth of rows: there is no interval around them.
    """
    part = examples_part(standing.judged, replace(options, examples=0), standing.tree)
    summary = summarize(standing.judged.model, 0)
    rows = tuple(example_row(judged, summary, row) for row in chosen_rows(judged, options).tolist())
    supports = tuple(replace(each, intervals=tuple(None for _ in each.intervals)) for each in part.supports)
    return replace(part, rows=rows, supports=supports, interval="")


def in_words(found: SurrogateTree, title: str, n: int, n_asked: int) -> SurrogateWords:
    """What the page says of the tree."""
    drawn = f" ({counted(n_asked, 'row')} of {n:,} drawn at random)" if n_asked < n else ""
    size = f"{counted(found.n_leaves, 'leaf', 'leaves')}, depth {found.depth}"
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
        command=f"treewright.model_selection.surrogate_tree(fitted, X, max_leaf_nodes={LEAVES})",
    )
