"""What must hold of scores and of trees' weights. In: ``ModelData``. Out: nothing, or an error. Caller: tree.check."""

from __future__ import annotations

import math

import numpy as np

from treewright.exceptions import ModelFileError
from treewright.tree.boosting import LINKS
from treewright.tree.model import ModelData
from treewright.tree.packed import PackedTrees

GRADIENT = "gradient"
LARGEST_SCORE = 1e300  # sums of what leaves add stay finite in any order


def scores_of_classes(n_classes: tuple[int, ...]) -> tuple[int, ...]:
    """How many scores each output has: one for two classes or one, else one per class."""
    return tuple(count if count > 2 else 1 for count in n_classes)


def check_boosting(model: ModelData) -> None:
    """Refuse trees on gradients without boosting, and boosting that does not fit the model.

    Parameters
    ----------
    model : ModelData
        Its trees hold their invariants already.

    Raises
    ------
    ModelFileError
        Boosting and trees of criterion ``"gradient"`` are not there together; the link is not known or not one of the
        task; the base has a number of scores that does not fit the outputs or the trees; a score could leave float64.
    """
    packed, boosting = model.trees, model.boosting
    is_gradient = isinstance(packed, PackedTrees) and packed.criterion == GRADIENT
    if is_gradient != (boosting is not None):
        raise ModelFileError("trees on gradients, packed, and the base and link of boosting belong together")
    if boosting is None or not isinstance(packed, PackedTrees):
        return
    base = boosting.base
    if not all(type(each) is float and math.isfinite(each) for each in base):
        raise ModelFileError("boosting: the base is not finite numbers")
    if boosting.link not in LINKS:
        raise ModelFileError(f"boosting: the link is {boosting.link!r}, expected one of {', '.join(LINKS)}"[:200])
    if (boosting.link == "classes") != (model.task == "classification"):
        raise ModelFileError(f"boosting: the link {boosting.link!r} is not one of a {model.task}")
    expected = sum(scores_of_classes(model.n_classes)) if model.classes else model.n_outputs
    if len(base) != expected:
        raise ModelFileError(f"boosting: the base has {len(base)} scores, the outputs need {expected}")
    if packed.n_trees % expected:
        raise ModelFileError(f"boosting: {packed.n_trees} trees are no whole rounds of {expected} scores")
    most = float(np.abs(packed.leaf_value).max())
    if not max(map(abs, base)) <= LARGEST_SCORE or not most <= LARGEST_SCORE / packed.n_trees:
        raise ModelFileError("boosting: base and leaves could add up to more than 1e300")


def check_tree_weights(model: ModelData) -> None:
    """Refuse weights of trees that do not fit the model.

    Raises
    ------
    ModelFileError
        They are not one finite number per tree, not negative, some above 0; the trees neither vote nor give a median,
        or are packed. Or a median has none.
    """
    weights = model.tree_weights
    if weights is None:
        if model.combine == "median":
            raise ModelFileError("combine is 'median': the trees have no weights")
        return
    if model.combine not in ("vote", "median") or isinstance(model.trees, PackedTrees):
        raise ModelFileError("weights of trees: only trees that are not packed and vote or give a median have them")
    if weights.dtype != np.float64 or weights.shape != (len(model.trees),):
        raise ModelFileError(f"weights of trees: expected float64, one for each of {len(model.trees)} trees")
    with np.errstate(over="ignore", invalid="ignore"):
        is_whole = not np.signbit(weights).any() and bool(np.isfinite(weights).all()) and weights.sum() <= LARGEST_SCORE
    if not is_whole or not weights.any():
        raise ModelFileError("weights of trees: expected numbers, at least 0, not all 0, with a sum up to 1e300")
