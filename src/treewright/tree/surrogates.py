"""Readable surrogate tests. In: a schema, a tree and a node. Out: ``Surrogate`` objects. Callers: show, plot, export.

A surrogate answers for a row whose cell in the node's own column is missing. It may be turned around: then its "yes"
leads to branch 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.data.schema import Schema
from treewright.tree.answers import MAX_LEVELS, check_branch
from treewright.tree.arrays import Tree
from treewright.tree.binary_tests import SubsetTest, ThresholdTest
from treewright.tree.tests import cut_test, set_test


@dataclass(frozen=True)
class Surrogate:
    """One surrogate test.

    Attributes
    ----------
    test : ThresholdTest or SubsetTest
        What it asks.
    flipped : bool
        Whether its "yes" leads to branch 1 of the node.
    agreement : float, 0 to 1
        Share of the weight, of rows where both are present, that it sends the way the node's own test does.
    adjusted : float, at most 1
        The same beyond what always taking the heavier branch would get right; 1 where it is right about every row.
    """

    test: ThresholdTest | SubsetTest
    flipped: bool
    agreement: float
    adjusted: float

    @property
    def question(self) -> str:
        """What it asks, such as ``petal width <= 0.8``."""
        return self.test.question()

    def edge(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return what leads into a branch of the node, with the column: ``petal width <= 0.8``.

        Raises
        ------
        ParameterError
            ``branch`` is not 0 or 1.
        """
        check_branch(branch, 2)
        own = 1 - branch if self.flipped else branch
        answer = self.test.answer(own, exact=exact, digits=digits, max_levels=max_levels)
        return f"{self.test.column} {answer}"


def surrogates_of(schema: Schema, tree: Tree, node: int) -> tuple[Surrogate, ...]:
    """Return the surrogates of a node, best first; none at a leaf or where the model has no surrogates.

    Parameters
    ----------
    schema : Schema
    tree : Tree
    node : int, 0 to n_nodes - 1
    """
    first, end = np.searchsorted(tree.surrogate_node, [node, node + 1])
    found = []
    for place in range(int(first), int(end)):
        feature = int(tree.surrogate_feature[place])
        column, start = schema.columns[feature], int(tree.surrogate_level_set[place])
        test: ThresholdTest | SubsetTest
        if start < 0:
            test = cut_test(column, feature, float(tree.surrogate_threshold[place]), 1, missing="surrogate")
        else:
            test = set_test(column, feature, tree, start, 1, missing="surrogate")
        found.append(
            Surrogate(
                test,
                flipped=bool(tree.surrogate_flipped[place]),
                agreement=float(tree.surrogate_agreement[place]),
                adjusted=float(tree.surrogate_adjusted[place]),
            )
        )
    return tuple(found)
