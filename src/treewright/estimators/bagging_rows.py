"""Which rows each member of a bag is fitted on. In: a table, target, weights, seed. Out: ``BagRows``.

Callers: estimators.bagging_base, estimators.bagging_plan, estimators.adaboost_base, estimators.adaboost_members.

The draws are those of the forests: they depend on what the rows hold, not on where they stand, and a row of weight k
is k equal rows.
"""

from __future__ import annotations

from hashlib import blake2b
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from treewright.data.memory import check_fits
from treewright.data.row_content import content_of, rough_content_of
from treewright.data.target import Labels, Numbers
from treewright.exceptions import ParameterError
from treewright.forest.chance import COLUMNS, GROWTH
from treewright.forest.draws import Draws, counts_of_rows, number_of_draws, row_order, seeds_of

_BYTES_PER_ROW = 32  # of the order of the rows and of a draw
_BLOCK = 65_536  # rows that are hashed at a time


class BagRows:
    """The rows of a fit and the draws from them.

    Parameters
    ----------
    X : table of n rows
    target : Labels or Numbers of n rows
    weights : float64[n] or None
    max_samples : int, float or None
    replace : bool
        Whether a row may be drawn again.
    seed : int
    is_ours : bool
        Whether X is a table as our estimators take it, which is refused where it is none.

    Attributes
    ----------
    n_rows : int
    kept : int64[m], ascending
        Rows with weight; only these are drawn.
    own_weights : float64[m] or None
        What a drawn row weighs, where weights are neither numbers of rows nor chances: without replacement.
    leaves_none_out : bool
        Whether every member gets every row.
    digest : str
        The same for the same rows, targets and weights in the same order.
    """

    def __init__(
        self,
        X: Any,
        target: Labels | Numbers,
        weights: np.ndarray | None,
        *,
        max_samples: float | None,
        replace: bool,
        seed: int,
        is_ours: bool,
    ) -> None:
        self.n_rows = len(target[0])
        check_fits(_BYTES_PER_ROW * self.n_rows, f"drawing from {self.n_rows} rows")
        content = content_of(X) if is_ours else rough_content_of(X)
        self.digest = _digest_of(content, target, weights)
        self.kept = np.arange(self.n_rows) if weights is None else np.flatnonzero(weights > 0)
        weights = None if weights is None else weights[self.kept]
        self.own_weights = None if replace or weights is None or counts_of_rows(weights) is not None else weights
        weights = weights if self.own_weights is None else None
        self._order = self._order_of(content, target, weights)
        n_draws = number_of_draws(max_samples, len(self.kept), weights)
        self.leaves_none_out = not replace and n_draws == number_of_draws(None, len(self.kept), weights)
        self._draws = Draws(self._order, n_draws, seed, weights=weights, replace=replace)

    def _order_of(self, content: np.ndarray, target: Labels | Numbers, weights: np.ndarray | None) -> np.ndarray:
        """The rows with weight in an order that does not depend on where they stand."""
        numbers = target[0][self.kept]
        if isinstance(target, Labels):
            # Ranks among the labels of these rows: a label of weight 0 must not change anything.
            ranks = [np.unique(numbers[:, output], return_inverse=True)[1] for output in range(numbers.shape[1])]
            numbers = np.stack(ranks, axis=1).astype(np.int32)
        nothing = np.empty((len(self.kept), 0), np.uint8)
        if not content.shape[1]:
            return np.arange(len(self.kept), dtype=np.int32)
        content = content if len(self.kept) == self.n_rows else content[self.kept]
        return row_order(nothing, numbers, weights=weights, matrix=content)

    def drawn(self, member: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows that a member draws.

        Returns
        -------
        rows : int64[k], ascending
            Positions in the table.
        times : float64[k], > 0
            How often each is drawn, or what it weighs.
        """
        rows, counts = self._draws.counts(member)
        times = counts.astype(np.float64) if self.own_weights is None else self.own_weights[rows]
        return self.kept[rows], times

    def as_weights(self, member: int) -> np.ndarray:
        """float64[n_rows]: how often a member draws each row of the table."""
        rows, times = self.drawn(member)
        weights = np.zeros(self.n_rows)
        weights[rows] = times
        return weights

    def in_order(self, member: int) -> np.ndarray:
        """The rows that a member draws, each as often as it is drawn, in an order that does not depend on the table's.

        Returns
        -------
        int64[n_draws]
            Positions in the table.
        """
        rows, counts = self._draws.counts(member)
        by_row = np.zeros(len(self.kept), np.int64)
        by_row[rows] = counts
        return self.repeated(by_row)

    def repeated(self, by_row: np.ndarray) -> np.ndarray:
        """Rows as often as they are counted, in an order that does not depend on the table's.

        Parameters
        ----------
        by_row : int64[m], >= 0
            Of the rows ``kept``.

        Returns
        -------
        int64[k]
            Positions in the table.
        """
        return self.kept[np.repeat(self._order, by_row[self._order])]

    def counts_by_chance(self, member: int, chances: np.ndarray) -> np.ndarray:
        """How often a member draws each row, with replacement and by other chances than the weights of the rows.

        Parameters
        ----------
        member : int
        chances : float64[m], > 0
            Of the rows ``kept``. Whole numbers with a sum below 2**31 are exact.

        Returns
        -------
        int64[m]
        """
        draws = Draws(self._order, self._draws.n_draws, self._draws.seed, weights=chances)
        by_row = np.zeros(len(self.kept), np.int64)
        rows, counts = draws.counts(member)
        by_row[rows] = counts
        return by_row

    def left_out(self, member: int) -> np.ndarray:
        """The rows with weight that a member does not draw.

        Returns
        -------
        int64[k], ascending
            Positions in the table.
        """
        return self.kept[self._draws.left_out(member)]


def _digest_of(content: np.ndarray, target: Labels | Numbers, weights: np.ndarray | None) -> str:
    """See ``BagRows.digest``."""
    made = blake2b(digest_size=16)
    labels = [known.tolist() for known in target.classes] if isinstance(target, Labels) else None
    made.update(repr(labels).encode("utf-8", "surrogatepass"))
    for array in (content, target[0], np.empty(0) if weights is None else weights):
        made.update(repr(array.shape).encode())
        for start in range(0, len(array), _BLOCK):
            made.update(np.ascontiguousarray(array[start : start + _BLOCK], np.float64).data)
    return made.hexdigest()


def member_columns(n_columns: int, n_chosen: int, seed: int, member: int, *, replace: bool) -> np.ndarray:
    """The columns that a member gets.

    Parameters
    ----------
    n_columns, n_chosen : int >= 1
    seed, member : int
    replace : bool
        Whether a column may be drawn again.

    Returns
    -------
    int64[n_chosen], ascending

    Examples
    --------
    >>> member_columns(3, 3, 0, 0, replace=False).tolist()
    [0, 1, 2]
    """
    # Columns are drawn as rows are, with a seed of their own; here each is as good as another and has no content.
    own_seed = int(seeds_of(seed, 0, 1)[0, COLUMNS])
    columns = Draws(np.arange(n_columns, dtype=np.int32), n_chosen, own_seed, replace=replace)
    chosen, times = columns.counts(member)
    return np.repeat(chosen, times).astype(np.int64)


def columns_of_each(max_features: float, n_columns: int) -> int:
    """How many columns a member gets.

    Parameters
    ----------
    max_features : int >= 1, or float in (0, 1]
    n_columns : int

    Raises
    ------
    ParameterError
        More than there are.

    Examples
    --------
    >>> columns_of_each(0.5, 5), columns_of_each(3, 5), columns_of_each(0.1, 5)
    (2, 3, 1)
    """
    if not isinstance(max_features, Integral):
        return max(1, int(max_features * n_columns))
    if max_features > n_columns:
        raise ParameterError(f"max_features={max_features}, but X has {n_columns} columns: give at most {n_columns}")
    return int(max_features)


def seed_of(random_state: Any) -> int:
    """The seed: ``random_state`` if that is an int, 0 for None (a fit repeats unless told otherwise)."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def seeded(estimator: Any, seed: int, member: int) -> Any:
    """The estimator itself; whatever chance is inside it got seeds that no other member has.

    Parameters
    ----------
    estimator : estimator
        Changed.
    seed, member : int
    """
    state = int(seeds_of(seed, member, 1)[0, GROWTH])
    names = sorted(n for n in estimator.get_params(deep=True) if n == "random_state" or n.endswith("__random_state"))
    seeds = (seeds_of(state, 0, max(1, len(names)))[:, 0] % np.uint64(2**31 - 1)).tolist()
    return estimator.set_params(**dict(zip(names, seeds, strict=False))) if names else estimator
