"""What many trees say after each round. In: ``ModelData``, encoded rows. Out: an answer per round.

Callers: model, prune. A round of boosting is a tree per score; of trees with weights each tree is one. The last answer
is that of ``combined``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treewright.predict.boosted import staged_boosted_scores
from treewright.predict.ensemble import predictions_of_trees, said_by_tree, weighted_median
from treewright.predict.ensemble_blocks import empty_sums
from treewright.predict.ensemble_content import contents_of
from treewright.predict.links import answers_of, boosted_parts
from treewright.tree.model import ModelData


def has_rounds(model: ModelData) -> bool:
    """Whether the trees were grown round by round, each for what those before it got wrong."""
    return model.boosting is not None or model.tree_weights is not None


def staged_scores(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> Iterator[np.ndarray]:
    """Scores of a boosted model after each round.

    Yields
    ------
    float64[n, n_scores]
    """
    packed, boosting = boosted_parts(model)
    return staged_boosted_scores(packed, boosting.base, matrix, n_jobs)


def staged_answers(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> Iterator[np.ndarray]:
    """What the trees say together after each round.

    Parameters
    ----------
    model : ModelData
        For which ``has_rounds`` holds.
    matrix : float64 or float32 [n, p]
    n_jobs : int or None
        Threads; the result does not depend on it.

    Yields
    ------
    float64[n, n_values]
        As ``predict.ensemble.combined`` of the rounds up to there. Rounds whose trees all have weight 0 count alike.
    """
    if model.boosting is not None:
        return (answers_of(model, scores) for scores in staged_scores(model, matrix, n_jobs))
    return _medians(model, matrix, n_jobs) if model.combine == "median" else _votes(model, matrix, n_jobs)


def _votes(model: ModelData, matrix: np.ndarray, n_jobs: int | None) -> Iterator[np.ndarray]:
    """Shares of the weight that votes for each class."""
    weights, contents = _weights_of(model), contents_of(model)
    sums = empty_sums(len(matrix), contents[0].shape[1])
    total = 0.0
    alike = np.zeros_like(sums)  # of the first rounds, while no tree has a weight
    for at, (tree, content) in enumerate(zip(model.trees, contents, strict=True)):
        said = said_by_tree(model, tree, content, matrix, n_jobs)
        sums += said * weights[at]
        total += float(weights[at])
        if total == 0:
            alike += said
        yield sums / total if total > 0 else alike / (at + 1)


def _medians(model: ModelData, matrix: np.ndarray, n_jobs: int | None) -> Iterator[np.ndarray]:
    """Weighted medians."""
    weights = _weights_of(model)
    said = predictions_of_trees(model, matrix, n_jobs)
    for end in range(1, len(weights) + 1):
        yield weighted_median(said[:, :end], weights[:end])[:, None]


def _weights_of(model: ModelData) -> np.ndarray:
    """float64[n_trees]."""
    return np.ones(len(model.trees)) if model.tree_weights is None else model.tree_weights
