"""What to boost. In: an estimator's parameters, an encoded table. Out: settings, checked; bins with statistics.

Caller: estimators.boosting_base.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from treewright.boosting.settings import BoostSettings, BoostTable, Sampling
from treewright.boosting.statistics import with_ordered_statistics
from treewright.data.bin_edges import MAX_LEVEL_BINS
from treewright.data.schema import Schema
from treewright.estimators import resolve
from treewright.estimators.binned import BinnedTable
from treewright.estimators.table import FitTable
from treewright.exceptions import ParameterError
from treewright.grow.gradient.settings import GradientSettings, Order

# A level of few rows can be told from others only in a set with them, and the set is chosen on the very rows that it
# then explains: a statistic that leaves a row's own target out is safer. Where levels have rows enough, sets lose less
# than the statistic's noise. A column of more levels than bins has no sets of single levels.
ORDERED_FROM = 32
FEW_ROWS_OF_LEVEL = 16
SYMMETRIC_DEPTH = 6  # 64 leaves, as in CatBoost
MOST_GROUPS = 64
_MORE_THAN_ALL_ROWS = 2**60  # by far, also twice it fits into 64 bits
_LEAVES = 31  # the default of max_leaf_nodes, which symmetric trees do not heed


def tree_settings(parameters: Any, schema: Schema, n_outputs: int, n_classes: Sequence[int]) -> GradientSettings:
    """Parameters of each tree as numbers.

    Parameters
    ----------
    parameters : estimator
    schema : Schema
    n_outputs : int
    n_classes : sequence of int
        Per output; empty for numbers.

    Raises
    ------
    ParameterError
        Constraints that do not fit the table or the target; more than 64 groups of columns; symmetric trees of a number
        of leaves.
    """
    monotone = resolve.monotone(parameters.monotonic_cst, schema)
    if monotone is not None and any(monotone):
        resolve.refuse_no_order(n_outputs, n_classes)
    interactions = resolve.interactions(parameters.interaction_cst, schema)
    if interactions is not None and len(interactions) > MOST_GROUPS:
        raise ParameterError(
            f"interaction_cst makes {len(interactions)} groups of columns, boosting takes at most {MOST_GROUPS}: "
            "name the groups that matter, as in interaction_cst=[['age', 'price']]"
        )
    max_depth = parameters.max_depth
    max_leaf_nodes = parameters.max_leaf_nodes
    if parameters.growth == "symmetric":
        if max_leaf_nodes not in (None, _LEAVES):
            raise ParameterError(
                f"max_leaf_nodes={max_leaf_nodes} with growth='symmetric': such a tree has up to 2**max_depth leaves; "
                "set max_depth, and leave max_leaf_nodes out"
            )
        max_depth, max_leaf_nodes = max_depth or SYMMETRIC_DEPTH, None
    return GradientSettings(
        order=cast("Order", parameters.growth),
        max_leaf_nodes=None if max_leaf_nodes is None else int(max_leaf_nodes),
        max_depth=None if max_depth is None else min(int(max_depth), 2**31 - 1),
        min_samples_leaf=min(int(parameters.min_samples_leaf), _MORE_THAN_ALL_ROWS),
        min_child_weight=resolve.finite(parameters.min_child_weight),
        l1=resolve.finite(parameters.l1),
        l2=resolve.finite(parameters.l2),
        min_gain=resolve.finite(parameters.min_gain),
        level_smoothing=resolve.finite(parameters.level_smoothing),
        level_l2=resolve.finite(parameters.level_l2),
        features_per_tree=float(parameters.features_per_tree),
        features_per_level=float(parameters.features_per_level),
        features_per_node=float(parameters.features_per_node),
        monotone=monotone,
        interactions=interactions,
    )


def boost_settings(parameters: Any, tree: GradientSettings, losses: tuple[Any, ...], seed: int) -> BoostSettings:
    """Parameters of all rounds as numbers; who evaluates and who is told is added later."""
    return BoostSettings(
        losses=losses,
        tree=tree,
        n_rounds=int(parameters.n_estimators),
        learning_rate=float(parameters.learning_rate),
        subsample=float(parameters.subsample),
        sampling=cast("Sampling", parameters.sampling),
        top_rate=float(parameters.top_rate),
        other_rate=float(parameters.other_rate),
        seed=seed,
    )


def check_together(parameters: Any) -> None:
    """Refuse parameters that contradict each other, before any table is read.

    Raises
    ------
    ParameterError
    """
    if parameters.sampling == "gradient":
        if parameters.subsample != 1:
            raise ParameterError(
                f"subsample={parameters.subsample} draws all rows alike, sampling='gradient' by top_rate and "
                "other_rate: leave one of them out"
            )
        if float(parameters.top_rate) + float(parameters.other_rate) > 1:
            raise ParameterError(
                f"top_rate={parameters.top_rate} and other_rate={parameters.other_rate} are shares of all rows: "
                "together they are at most 1"
            )
    for each in callbacks_of(parameters.callbacks):
        if not callable(each):
            raise ParameterError(f"callbacks holds {each!r}: each is a function that takes a Round")


def callbacks_of(given: Any) -> list[Callable[..., Any]]:
    """One function, several or none, as a list."""
    if given is None:
        return []
    return [given] if callable(given) else list(given)


def base_scores(init: Any, n_scores: int) -> list[float] | None:
    """Where scores begin.

    Parameters
    ----------
    init : None, "zero", number or sequence of numbers
    n_scores : int

    Returns
    -------
    list of n_scores floats, or None for the best constant of the loss

    Raises
    ------
    ParameterError
        Not finite numbers, or another number of them.
    """
    if init is None:
        return None
    if isinstance(init, str):
        return [0.0] * n_scores
    try:
        scores = np.asarray(init, np.float64).ravel()
    except (TypeError, ValueError, OverflowError):
        scores = np.array([np.nan])
    if len(scores) == 1:
        scores = np.repeat(scores, n_scores)
    if len(scores) != n_scores or not np.isfinite(scores).all():
        raise ParameterError(
            f"init={init!r}: give None, 'zero', a finite number, or one for each of the {n_scores} score(s) of a row"
        )
    numbers: list[float] = scores.tolist()
    return numbers


def binned_with_statistics(
    table: FitTable, parameters: Any, seed: int, n_threads: int, *, one_number: bool
) -> tuple[BinnedTable, BoostTable]:
    """The rows as bins; nominal columns of many levels in the order of a target statistic.

    Parameters
    ----------
    table : FitTable
    parameters : estimator
    seed : int
    n_threads : int
    one_number : bool
        Whether the target is one number or one of two classes: others have no statistic.

    Raises
    ------
    ParameterError
        ``level_encoding="ordered"`` of a target that has no statistic.
    """
    binned = BinnedTable.of(table, parameters.max_bins, n_threads)
    columns = ordered_columns(table.schema, parameters.level_encoding, len(table.matrix), one_number=one_number)
    made = BoostTable(binned.bins, table.schema, np.zeros(len(table.schema), bool))
    if not len(columns):
        return binned, made
    target = np.ascontiguousarray(table.target[0][:, 0], np.float64)
    made, codes = with_ordered_statistics(
        made, binned.codes, table.matrix, columns, target, table.weights, max_bins=int(parameters.max_bins), seed=seed,
        n_threads=n_threads,
    )  # fmt: skip
    return replace(binned, bins=made.bins, codes=codes), made


def ordered_columns(schema: Schema, encoding: str, n_rows: int, *, one_number: bool) -> np.ndarray:
    """int64[k]: nominal columns whose levels are put in the order of a target statistic.

    Parameters
    ----------
    schema : Schema
    encoding : {"auto", "subsets", "ordered"}
        ``"auto"``: columns of more levels than bins, and those of ``ORDERED_FROM`` levels or more whose levels have
        fewer than ``FEW_ROWS_OF_LEVEL`` rows each in the mean.
    n_rows : int
    one_number : bool
        As in ``binned_with_statistics``.

    Raises
    ------
    ParameterError
        ``"ordered"`` of a target that has no statistic.
    """
    if encoding == "ordered" and not one_number:
        raise ParameterError(
            "level_encoding='ordered' puts levels in the order of one number, and this target has several outputs or "
            "more than two classes: use 'auto' or 'subsets'"
        )
    if encoding == "subsets" or not one_number:
        return np.empty(0, np.int64)
    return np.array(
        [
            at
            for at, column in enumerate(schema.columns)
            if column.kind == "nominal" and (encoding == "ordered" or _has_many_levels(len(column.levels), n_rows))
        ],
        np.int64,
    )


def _has_many_levels(n_levels: int, n_rows: int) -> bool:
    """Whether a statistic of the target serves better than sets of levels."""
    return n_levels > MAX_LEVEL_BINS or (n_levels >= ORDERED_FROM and n_rows < FEW_ROWS_OF_LEVEL * n_levels)
