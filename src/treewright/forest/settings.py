"""What forest to grow. In: the estimator's parameters, resolved. Out: ``ForestSettings``.

Callers: estimators, forest.grower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treewright.data.weights import Factors
from treewright.exceptions import ParameterError
from treewright.grow.settings import BinnedSettings

# Criteria that no histogram of sums can follow: their trees are grown on the cells.
EXACT_CRITERIA = ("absolute_error",)


ClassWeights = Factors | Callable[[np.ndarray, np.ndarray | None], Factors] | None


@dataclass(frozen=True)
class ForestSettings:
    """Everything that decides which forest is grown, and the number of threads, which does not.

    Attributes
    ----------
    tree : BinnedSettings
        Of every tree; ``seed``, ``candidates``, ``counts_rows`` and ``n_threads`` are set by the forest.
    n_trees : int >= 0
    n_classes : tuple of int
        Classes per output; empty for regression.
    seed : int
    n_draws : int >= 1, or None
        Rows that each tree draws; None: every tree sees every row.
    replace : bool
        Whether a tree may draw a row again (``draws.Draws``).
    class_factors : tuple of float64[n_classes], or callable, or None
        What a row weighs by its classes, after the draw: a number > 0 for each class of each output, or a function that
        takes the codes of the drawn rows, int32[m, n_outputs] (a row that was drawn twice is there twice), and their
        weights, float64[m] or None.
    max_features_per_tree : int >= 1, or None
        Columns drawn once for each tree, beside those that its nodes draw from them.
    out_of_bag : bool
        Whether trees vote on the rows that they did not draw.
    one_vote_each : bool
        Whether such a vote goes to one class, not to all by their shares.
    n_threads : int >= 1
    first_tree : int >= 0
        The number of the first tree: a tree depends on its number, not on those grown before.
    """

    tree: BinnedSettings
    n_trees: int
    n_classes: tuple[int, ...] = ()
    seed: int = 0
    n_draws: int | None = None
    replace: bool = True
    class_factors: ClassWeights = None
    max_features_per_tree: int | None = None
    out_of_bag: bool = False
    one_vote_each: bool = False
    n_threads: int = 1
    first_tree: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether trees are grown on the cells, and kept as ``Tree``."""
        return self.tree.criterion in EXACT_CRITERIA

    def check(self) -> None:
        """Refuse what cannot be grown.

        Raises
        ------
        ParameterError
        """
        if self.out_of_bag and self.n_draws is None:
            raise ParameterError("oob_score=True needs trees that leave rows out: set bootstrap=True")
        if self.is_exact:
            for is_asked, name in ((self.tree.random_cuts, "random cuts"), (self.tree.interactions, "interaction_cst")):
                if is_asked:
                    raise ParameterError(
                        f"criterion={self.tree.criterion!r} grows trees on the cells, which know no {name}: use "
                        "criterion='squared_error'"
                    )
