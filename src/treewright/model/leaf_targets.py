"""The targets in the leaves of a forest.

They are separate from the trees: only a forest with ``quantiles=True`` keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from treewright.exceptions import ModelFileError

# Units of the weight of a leaf.
WHOLE = 1 << 30
NAME = "targets of the leaves"
_BLOCK = 1 << 20  # entries that are checked at a time


@dataclass(frozen=True, eq=False)
class LeafTargets:
    """The targets of the training rows in every leaf of every tree, each with its share of the leaf.

    An entry is a distinct target of a leaf. Entries are ordered by output, then by tree, then by the position of the
    leaf, then by value, ascending.

    Attributes
    ----------
    values : float64[n_values]
        The distinct targets of each output, ascending, one output after another. No -0.0.
    ranks : int32[n_entries]
        Position in ``values``.
    reached : int32[n_entries], 0 to 2**30
        Share of the leaf's weight up to and including this target, in units of 2**-30, rounded down. Only the last
        entry of a leaf has 2**30, so the beginnings of leaves need not be stored.
    """

    values: np.ndarray
    ranks: np.ndarray
    reached: np.ndarray

    def __post_init__(self) -> None:
        for each in fields(self):
            getattr(self, each.name).flags.writeable = False

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return sum(getattr(self, each.name).nbytes for each in fields(self))

    def starts(self) -> np.ndarray:
        """Return int64[n_outputs * n_leaves + 1]: the first entry of each leaf; the last is the number of entries."""
        ends = np.flatnonzero(self.reached == WHOLE)
        return np.concatenate((np.zeros(1, np.int64), ends + 1))


def check_leaf_targets(targets: LeafTargets, n_leaves: int, n_outputs: int) -> None:
    """Refuse targets that do not fit a forest's leaves, or break an invariant of ``LeafTargets``.

    Parameters
    ----------
    n_leaves : int >= 1
        Of all trees.
    n_outputs : int >= 1
    """
    values, ranks, reached = targets.values, targets.ranks, targets.reached
    for name, dtype in (("values", np.float64), ("ranks", np.int32), ("reached", np.int32)):
        array = getattr(targets, name)
        if array.dtype != dtype or array.ndim != 1:
            raise ModelFileError(f"{NAME}: {name} is not an array of {np.dtype(dtype).name} with one axis")
    if len(ranks) != len(reached) or not len(ranks) or reached[-1] != WHOLE:
        raise ModelFileError(f"{NAME}: {len(ranks)} ranks and {len(reached)} shares do not end with a whole leaf")
    if not np.isfinite(values).all() or (np.signbit(values) & (values == 0)).any():
        raise ModelFileError(f"{NAME}: a value is not finite, or is -0.0")
    is_used = np.zeros(len(values), bool)
    n_ends = 0
    for begin, some_ranks, some_reached in _blocks(ranks, reached):
        _refuse((some_ranks < 0) | (some_ranks >= len(values)), begin, f"its rank is not one of {len(values)}")
        _refuse((some_reached < 0) | (some_reached > WHOLE), begin, "its share is not between 0 and 2**30")
        goes_on = some_reached[:-1] != WHOLE
        # Compared, not subtracted: a difference of malicious numbers may overflow.
        _refuse(goes_on & (some_ranks[1:] <= some_ranks[:-1]), begin, "the next target of its leaf is not above it")
        _refuse(goes_on & (some_reached[1:] < some_reached[:-1]), begin, "the next share of its leaf is below its own")
        is_used[some_ranks] = True
        n_ends += int((some_reached[1 if begin else 0 :] == WHOLE).sum())
    if n_ends != n_leaves * n_outputs:
        raise ModelFileError(f"{NAME}: {n_ends} leaves, expected {n_leaves} for each of {n_outputs} outputs")
    if not is_used.all():
        raise ModelFileError(f"{NAME}: value {int(np.argmin(is_used))} is in no leaf")
    _check_outputs(targets, n_leaves, n_outputs)


def _check_outputs(targets: LeafTargets, n_leaves: int, n_outputs: int) -> None:
    """Check that values ascend within an output, and that each output has its own."""
    starts, first = targets.starts(), 0
    for output in range(n_outputs):
        ranks = targets.ranks[starts[output * n_leaves] : starts[(output + 1) * n_leaves]]
        lowest, highest = int(ranks.min()), int(ranks.max())
        own = targets.values[lowest : highest + 1]
        if lowest != first or (own[1:] <= own[:-1]).any():
            raise ModelFileError(f"{NAME}: the values of output {output} are not its own, or do not ascend")
        first = highest + 1


def _blocks(ranks: np.ndarray, reached: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Entries in blocks, each with the entry before it: the position of the first, and the entries."""
    for begin in range(0, len(ranks), _BLOCK):
        at = slice(max(0, begin - 1), begin + _BLOCK)
        yield at.start, ranks[at], reached[at]


def _refuse(bad: np.ndarray, begin: int, problem: str) -> None:
    """Raise an error that names the first bad entry."""
    if bad.any():
        raise ModelFileError(f"{NAME}: entry {begin + int(np.argmax(bad))}: {problem}")
