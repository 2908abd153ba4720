"""The section of contributions: of each column to the predictions of many trees, over the test rows and for one."""

from __future__ import annotations

import numpy as np

from treewright.exceptions import DataError, ParameterError
from treewright.explain.contributions import game_of
from treewright.explain.explanation import PAGE_ROWS, explain_encoded, part_of, refuse_no_sum
from treewright.reporting.judged import Judged, Options, rows_drawn
from treewright.reporting.tree import chosen_rows
from treewright.show.page.parts import ContributionsPart
from treewright.trees.data import sizes_of
from treewright.trees.summary import counted

LEAST_ROWS = 20  # of the swarm
MOST_NODES = 60_000_000  # nodes that rows pass, in a second or two
MOST_COLUMNS_OF_PAIRS, NODES_OF_PAIRS = 60, 20_000_000  # pairs cost a path's length more


def contributions_part(judged: Judged, options: Options) -> ContributionsPart | None:
    """The section about contributions; None for a single tree and for neighbours."""
    if judged.is_neighbors or judged.model.is_single_tree:
        return None
    try:
        refuse_no_sum(judged.model)
        return _part(judged, options)
    except (DataError, ParameterError) as refused:
        return ContributionsPart(why_not=str(refused))


def _part(judged: Judged, options: Options) -> ContributionsPart:
    """The section for a model whose predictions are a sum over its trees."""
    model = judged.model
    n_nodes = 2 * int(sizes_of(model).n_leaves.sum())
    most = int(np.clip(MOST_NODES // n_nodes, LEAST_ROWS, PAGE_ROWS))
    drawn = rows_drawn(judged.n, most, options.random_state)
    matrix = judged.matrix[np.concatenate([drawn, chosen_rows(judged, options)])]
    found = explain_encoded(model, matrix, n_jobs=options.n_jobs)
    players, rows_of_pairs = game_of(model).players, drawn[: NODES_OF_PAIRS // n_nodes]
    pairs: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    if len(players) > MOST_COLUMNS_OF_PAIRS or not len(rows_of_pairs):
        many = f"of {len(players)} columns" if len(rows_of_pairs) else f"through {counted(n_nodes, 'node')}"
        notes = (f"Pairs of columns are left out: {many} they take too long. explain(X, order=2) computes them.",)
    else:
        pairs = explain_encoded(model, judged.matrix[rows_of_pairs], order=2, n_jobs=options.n_jobs).values
    return part_of(
        found, range(len(drawn)), range(len(drawn), len(matrix)), players, [matrix[:, at] for at in players],
        n_all=judged.n, pairs=pairs, notes=notes,
    )  # fmt: skip
