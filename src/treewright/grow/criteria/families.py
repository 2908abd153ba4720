"""One name per job for all kinds of statistics. In: a statistics tuple. Out: the kernel made for it.

The *type* of the statistics tuple chooses the kernel when a caller is compiled, so a fit compiles only what its
criterion needs, and nothing is dispatched at run time. A new family of criteria is one file like ``means.py`` and one
entry in each table of this kind: here, and in ``grow.binned`` where it is grown on bins. A family without an entry is
a KeyError when a caller is compiled; for a job that a family does not need, a kernel states that (``never_few``). The
functions of a family are plain Python: compiled as part of their callers (a layer of calls between costs half a second
of compile time each).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from numba.extending import overload

from treewright.core.numba_inside import AS_PART
from treewright.grow.criteria import counts, means, medians, poisson
from treewright.grow.objective import CountStats, MeanStats, MedianStats, PoissonStats

_KERNELS: dict[type, dict[str, Any]] = {
    MeanStats: means.KERNELS,
    CountStats: counts.KERNELS,
    PoissonStats: poisson.KERNELS,
    MedianStats: medians.KERNELS,
}


def by_family(kernels: Mapping[type, Any], doc: str, **options: Any) -> Callable[..., Any]:
    """A function that kernels call by one name and Numba compiles as the kernel of its first argument's family.

    Parameters
    ----------
    kernels : mapping
        From every type of statistics to its kernel.
    doc : str
        What the function does.
    **options
        Of ``numba.extending.overload``.
    """

    def of_family(stats: Any, *arguments: Any) -> Any:
        return kernels[type(stats)](stats, *arguments)

    def while_compiling(stats: Any, *_arguments: Any) -> Any:
        kind = getattr(stats, "instance_class", None)  # of a struct, and of a NamedTuple where there are no structs
        return None if kind is None else kernels[kind]

    of_family.__doc__ = doc
    overload(of_family, strict=False, jit_options=cast("Any", AS_PART), **options)(while_compiling)
    return of_family


def _job(name: str, doc: str) -> Callable[..., Any]:
    return by_family({family: jobs[name] for family, jobs in _KERNELS.items()}, doc)


scan_cuts = _job("scan", "The best cut of a node in a column; parameters and result as ``means.scan_means``.")
few_gain = _job("few", "The best gain of a short segment, or ``NOT_FEW``; as ``means.few_of_means``.")
summarise = _job("summarise", "Fill in a new node; parameters and result as ``means.summarise_means``.")
level_rank = _job("rank", "The number that orders levels if one number describes a row; as ``means.mean_rank``.")
gain_of = _job("gain", "Gain of a split with these sums on the left; as ``means.gain_of_means``.")
add_rows = _job("add", "Add the sums of some rows to ``totals``; as ``means.add_mean_rows``.")
has_one_number = _job("one", "Whether one number describes a row; as ``means.is_one_mean``.")
place_rows = _job("place", "Note each row's place in its node's rows sorted by target, if medians are needed.")
prediction_of = _job("prediction", "What monotone constraints compare (first output); as ``means.mean_prediction``.")
