"""One name per job, whatever the statistics. In: a statistics tuple. Out: the kernel made for it.

Callers: grow.subsets, grow.exact.

The *type* of the statistics tuple chooses the kernel when a caller is compiled, so a fit compiles only what its
criterion needs, and nothing is dispatched at run time. A new family of criteria is one file like ``means.py`` and one
entry in ``_KERNELS``. The functions of a family are plain Python: compiled as part of their callers (a layer of calls
between costs half a second of compile time each).
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import overload

from treewright.grow import counts, means, medians, poisson
from treewright.grow.statistics import CountStats, MeanStats, MedianStats, PoissonStats

_KERNELS: dict[type, dict[str, Any]] = {
    MeanStats: means.KERNELS,
    CountStats: counts.KERNELS,
    PoissonStats: poisson.KERNELS,
    MedianStats: medians.KERNELS,
}


def _kernel_for(stats: Any, job: str) -> Any:
    """The function for a job: ``stats`` is a tuple in plain Python, its Numba type while compiling."""
    family = stats.instance_class if isinstance(stats, types.BaseNamedTuple) else type(stats)  # type: ignore[attr-defined]
    return _KERNELS[family][job]


def scan_cuts(stats, node, nodes, items, n_present, limits, direction, target, after, way, work):
    """The best cut of a node in a column; parameters and result as ``means.scan_means``."""
    return _kernel_for(stats, "scan")(stats, node, nodes, items, n_present, limits, direction, target, after, way, work)


@overload(scan_cuts)
def _scan_cuts(stats, node, nodes, items, n_present, limits, direction, target, after, way, work):
    return _kernel_for(stats, "scan")


def few_gain(stats, items, totals, node_weight, min_leaf, min_leaf_weight):
    """The best gain of a short segment, or ``NOT_FEW``; parameters and result as ``means.few_of_means``."""
    return _kernel_for(stats, "few")(stats, items, totals, node_weight, min_leaf, min_leaf_weight)


@overload(few_gain)
def _few_gain(stats, items, totals, node_weight, min_leaf, min_leaf_weight):
    return _kernel_for(stats, "few")


def summarise(stats, node, nodes, items):
    """Fill in a new node; parameters and result as ``means.summarise_means``."""
    return _kernel_for(stats, "summarise")(stats, node, nodes, items)


@overload(summarise)
def _summarise(stats, node, nodes, items):
    return _kernel_for(stats, "summarise")


def level_rank(stats, node, nodes, items):
    """What a level is ordered by when one number says all; as ``means.mean_rank``."""
    return _kernel_for(stats, "rank")(stats, node, nodes, items)


@overload(level_rank)
def _level_rank(stats, node, nodes, items):
    return _kernel_for(stats, "rank")


def gain_of(stats, node, nodes, left, left_weight):
    """Gain of a split with these sums on the left; as ``means.gain_of_means``."""
    return _kernel_for(stats, "gain")(stats, node, nodes, left, left_weight)


@overload(gain_of)
def _gain_of(stats, node, nodes, left, left_weight):
    return _kernel_for(stats, "gain")


def add_rows(stats, items, totals):
    """Add the sums of some rows to ``totals``; as ``means.add_mean_rows``."""
    return _kernel_for(stats, "add")(stats, items, totals)


@overload(add_rows)
def _add_rows(stats, items, totals):
    return _kernel_for(stats, "add")


def has_one_number(stats):
    """Whether one number a row says all; as ``means.is_one_mean``."""
    return _kernel_for(stats, "one")(stats)


@overload(has_one_number)
def _has_one_number(stats):
    return _kernel_for(stats, "one")


def place_rows(stats, columns, lo, hi):
    """Note each row's place among its node's rows sorted by target, where the criterion needs medians."""
    return _kernel_for(stats, "place")(stats, columns, lo, hi)


@overload(place_rows)
def _place_rows(stats, columns, lo, hi):
    return _kernel_for(stats, "place")


def prediction_of(stats, node, nodes):
    """The number that monotone constraints compare (first output); as ``means.mean_prediction``."""
    return _kernel_for(stats, "prediction")(stats, node, nodes)


@overload(prediction_of)
def _prediction_of(stats, node, nodes):
    return _kernel_for(stats, "prediction")
