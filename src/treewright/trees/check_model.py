"""The invariants of a model: its parts, its trees and their combination fit together.

They hold for an isolation forest too, which is an ordinary model: only its facts state that it predicts path lengths,
and how these become scores.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from treewright.data.calendar import is_sound
from treewright.data.schema import Schema
from treewright.exceptions import ModelFileError
from treewright.trees.arrays import Missing
from treewright.trees.check import check_arrays, check_packed, column_facts
from treewright.trees.data import LAST_GRID, LEAST_GRID, LINKS, Combine, Grid, ModelData, check_leaf_targets
from treewright.trees.facts import check_forms, shown_fact
from treewright.trees.packed import PackedTrees
from treewright.trees.threshold import check_threshold

COMBINE: tuple[Combine, ...] = ("single", "mean", "sum", "vote", "median")
MISSING: tuple[Missing, ...] = ("direction", "branch", "surrogate", "fractional", "error")
GRADIENT = "gradient"
_GRID_DIGITS = 20
LARGEST_SCORE = 1e300  # sums up to it stay finite in any order
ISOLATION_FOREST = "isolation_forest"


def check_model(model: ModelData) -> None:
    """Refuse a model whose parts do not fit together, or one of whose trees breaks an invariant: ModelFileError."""
    _check_parts(model)
    check_columns(model.schema)
    columns, n_values, n_classes = column_facts(model.schema), value_width(model), model.counted_classes
    if isinstance(model.trees, PackedTrees):
        check_packed(model.trees, columns, n_values, n_classes)
    else:
        for position, tree in enumerate(model.trees):
            check_arrays(tree, columns, n_values, n_classes, model.missing, f"tree {position}")
    check_boosting(model)
    check_tree_weights(model)
    if model.leaf_targets is not None:
        if model.task != "regression" or model.combine != "mean":
            raise ModelFileError("targets of leaves: only a regression forest has them")
        check_leaf_targets(model.leaf_targets, int(model.trees.is_leaf.sum()), model.n_outputs)
    if model.grid is not None:
        _check_grid(model, model.grid)
    if model.threshold is not None:
        check_threshold(model.threshold, model.task, model.classes)
    check_facts(model)


def _check_grid(model: ModelData, grid: Grid) -> None:
    """Refuse grids that this model cannot have, or that would change the values of its trees."""
    single = model.combine in ("single", "median")
    wrong = not grid or not all(type(exponent) is int for exponent in grid)
    least = LAST_GRID if model.combine == "mean" else LEAST_GRID
    wrong = wrong or grid[0] < least or grid[-1] < LAST_GRID or grid[0] > _coarsest_grid(model)
    # Each has room for the digits of a part: a file cannot ask for thousands of parts.
    wrong = wrong or any(
        finer > max(coarser - _GRID_DIGITS, LAST_GRID) or finer == coarser for coarser, finer in pairwise(grid)
    )
    wrong = wrong or (len(grid) > 1 and model.combine != "mean")
    if single or wrong:
        stated = grid[0] if len(grid) == 1 else list(grid)
        expected = "none for this model" if single else "the exponent of a small part of the values of leaves"
        more = "" if single or len(grid) == 1 else ", for a mean followed by those of finer grids"
        raise ModelFileError(f"grid is {stated!r}: expected {expected}{more}")


def _coarsest_grid(model: ModelData) -> int:
    """The coarsest grid that keeps the values of trees; ``with_grid`` makes finer ones, also for many trees."""
    if model.aggregation.votes or (model.task == "classification" and model.boosting is None):
        largest = 1.0 if model.tree_weights is None else float(model.tree_weights.max())
    else:
        base = () if model.boosting is None else model.boosting.base
        largest = max(*(float(np.abs(value).max(initial=0.0)) for value in model.trees.values), 0.0, *map(abs, base))
    return max(math.frexp(largest)[1] - _GRID_DIGITS, LAST_GRID) if largest > 0 else 1023


def _check_parts(model: ModelData) -> None:
    """Check task, combine rule, outputs, classes and names."""
    check_target(model.task, model.n_outputs, model.classes, model.target_names)
    if model.combine not in COMBINE:
        raise ModelFileError(f"combine is {model.combine!r}: expected one of {', '.join(map(repr, COMBINE))}")
    if model.combine == "vote" and model.task != "classification":
        raise ModelFileError("combine is 'vote': numbers have no classes to vote for")
    if model.combine == "median" and (model.task != "regression" or model.n_outputs != 1):
        raise ModelFileError("combine is 'median': it needs one predicted number")
    if model.combine == "sum" and model.boosting is None:
        raise ModelFileError("combine is 'sum': only boosted trees are added up, others are averaged or vote")
    if model.combine != "sum" and model.boosting is not None:
        raise ModelFileError(f"combine is {model.combine!r}: expected 'sum' for boosted trees")
    if model.unseen not in ("missing", "error", "majority"):
        raise ModelFileError(f"unseen is {model.unseen!r}: expected 'missing', 'error' or 'majority'")
    if model.missing not in MISSING:
        raise ModelFileError(f"missing is {model.missing!r}: expected one of {', '.join(map(repr, MISSING))}")
    if isinstance(model.trees, PackedTrees) and model.missing in ("surrogate", "fractional"):
        raise ModelFileError(f"missing is {model.missing!r}: packed trees send a missing value to one branch")
    if not len(model.trees) or (model.combine == "single" and len(model.trees) != 1):
        raise ModelFileError(f"{len(model.trees)} trees do not fit combine={model.combine!r}")


def check_target(task: str, n_outputs: int, classes: tuple[np.ndarray, ...], target_names: tuple[str, ...]) -> None:
    """Refuse outputs, classes and names that contradict each other."""
    if task not in ("classification", "regression"):
        raise ModelFileError(f"task is {task!r}: expected 'classification' or 'regression'")
    if type(n_outputs) is not int or n_outputs < 1:
        raise ModelFileError(f"n_outputs is {n_outputs!r}: expected a whole number, at least 1")
    expected = n_outputs if task == "classification" else 0
    if len(classes) != expected:
        raise ModelFileError(f"{len(classes)} class lists for {n_outputs} outputs of a {task}: expected {expected}")
    for output, labels in enumerate(classes):
        if labels.ndim != 1 or not len(labels):
            raise ModelFileError(f"classes of output {output} have shape {labels.shape}: expected one axis, not empty")
        if len(set(labels.tolist())) != len(labels):
            raise ModelFileError(f"classes of output {output} hold one label twice")
    if target_names and len(target_names) != n_outputs:
        raise ModelFileError(f"{len(target_names)} target names for {n_outputs} outputs")


def check_columns(schema: Schema) -> None:
    """Refuse invalid kinds and levels of columns."""
    if not len(schema):
        raise ModelFileError("the schema has no columns")
    if len(set(schema.names)) != len(schema):
        raise ModelFileError("the schema holds one column name twice")
    for position, column in enumerate(schema.columns):
        if column.kind not in ("numeric", "ordinal", "nominal"):
            raise ModelFileError(f"column {position}: kind {column.kind!r} is not known")
        if column.kind == "numeric" and column.levels:
            raise ModelFileError(f"column {position}: a numeric column has {len(column.levels)} levels, expected none")
        if len(set(column.levels)) != len(column.levels):
            raise ModelFileError(f"column {position}: a level occurs twice")
    if not is_sound(schema.columns):
        raise ModelFileError(
            "the schema has parts of dates, or derived columns, that do not follow from its other columns"
        )


def value_width(model: ModelData) -> int:
    """Width of ``value`` in every tree: all classes of all outputs, or one number per output; one for a score."""
    if model.boosting is not None:
        return 1
    return sum(model.n_classes) if model.task == "classification" else model.n_outputs


def check_boosting(model: ModelData) -> None:
    """Refuse trees on gradients without boosting, and boosting that does not fit the model; its trees have passed."""
    trees, boosting = model.trees, model.boosting
    if isinstance(trees, PackedTrees) and (trees.criterion == GRADIENT) != (boosting is not None):
        raise ModelFileError("packed trees on gradients and the base and link of boosting belong together")
    if boosting is None:
        return
    if model.missing in ("surrogate", "fractional"):
        raise ModelFileError(f"missing is {model.missing!r}: boosted trees send a missing value to one branch")
    base, n_trees = boosting.base, len(trees)
    if not all(type(each) is float and math.isfinite(each) for each in base):
        raise ModelFileError("boosting: the base is not finite numbers")
    if boosting.link not in LINKS:
        raise ModelFileError(f"boosting: the link is {boosting.link!r}, expected one of {', '.join(LINKS)}"[:200])
    if (boosting.link == "classes") != (model.task == "classification"):
        raise ModelFileError(f"boosting: the link {boosting.link!r} is not for {model.task}")
    expected = sum(scores_of_classes(model.n_classes)) if model.classes else model.n_outputs
    if len(base) != expected:
        raise ModelFileError(f"boosting: the base has {len(base)} scores, and the outputs need {expected}")
    if n_trees % expected:
        raise ModelFileError(f"boosting: {n_trees} trees are not a multiple of {expected} scores")
    most = max(float(np.abs(value).max(initial=0.0)) for value in trees.values)
    if not max(map(abs, base)) <= LARGEST_SCORE or not most <= LARGEST_SCORE / n_trees:
        raise ModelFileError("boosting: base and leaves could add up to more than 1e300")


def scores_of_classes(n_classes: tuple[int, ...]) -> tuple[int, ...]:
    """The number of scores of each output: one for one or two classes, else one per class."""
    return tuple(count if count > 2 else 1 for count in n_classes)


def check_tree_weights(model: ModelData) -> None:
    """Refuse weights of trees that do not fit the model."""
    weights = model.tree_weights
    if weights is None:
        if model.combine == "median":
            raise ModelFileError("combine is 'median': the trees have no weights")
        return
    if model.combine not in ("vote", "median") or isinstance(model.trees, PackedTrees):
        raise ModelFileError("weights of trees: only unpacked trees with votes or a median have them")
    if weights.dtype != np.float64 or weights.shape != (len(model.trees),):
        raise ModelFileError(f"weights of trees: expected float64, one for each of {len(model.trees)} trees")
    with np.errstate(over="ignore", invalid="ignore"):
        is_whole = not np.signbit(weights).any() and bool(np.isfinite(weights).all()) and weights.sum() <= LARGEST_SCORE
    if not is_whole or not weights.any():
        raise ModelFileError("weights of trees: expected numbers, at least 0, not all 0, with a sum up to 1e300")


def check_facts(model: ModelData) -> None:
    """Refuse facts that contradict the model, whose trees have been checked.

    >>> from treewright.data.schema import Column, Schema
    >>> check_facts(ModelData("regression", Schema((Column("x", "numeric"),)), (), facts={"algorithm": 3}))
    Traceback (most recent call last):
        ...
    treewright.exceptions.ModelFileError: facts: algorithm is 3, expected text
    """
    check_forms(model.facts)
    if model.facts.get("algorithm") == ISOLATION_FOREST:
        _check_isolation_forest(model)


def _check_isolation_forest(model: ModelData) -> None:
    """Check the form of the model, and the two facts that make the score."""
    is_of_form = model.task == "regression" and model.n_outputs == 1 and model.combine in ("mean", "single")
    if not is_of_form or isinstance(model.trees, PackedTrees) or model.leaf_targets is not None:
        raise ModelFileError(
            f"facts: algorithm is {ISOLATION_FOREST!r}, whose trees predict one path length and are averaged; these do "
            "not"
        )
    size, offset = model.facts.get("max_samples"), model.facts.get("offset")
    for position, tree in enumerate(model.trees):
        if type(size) is not int or size != tree.n_samples[0]:
            raise ModelFileError(
                f"facts: max_samples is {shown_fact(size)}, but tree {position} of the isolation forest was fitted on "
                f"{tree.n_samples[0]} rows"
            )
        if tree.value.min() < 0:
            raise ModelFileError(f"tree {position} of the isolation forest holds a path length below 0")
    if isinstance(offset, bool) or not isinstance(offset, int | float) or not -1 <= offset <= 0:
        raise ModelFileError(
            f"facts: offset of the isolation forest is {shown_fact(offset)}, expected a number from -1 to 0"
        )
