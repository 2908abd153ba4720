"""How one member is fitted. In: a base estimator, a table, draws. Out: fitted members.

Callers: estimators.bagging_base, estimators.members, estimators.adaboost_members.

A bootstrap sample is a multiset of rows. Our own estimators get the whole table and the numbers of times as weights:
weight k is k rows to them, and levels and classes stay known that a sample happens to miss. Any other estimator gets
the rows themselves, repeated: then nothing depends on what it makes of weights, or whether it takes any.
"""

from __future__ import annotations

import copy
import pickle
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from treewright.data.memory import check_fits
from treewright.data.take import take_rows
from treewright.estimators.bagging_columns import BagColumns
from treewright.estimators.bagging_rows import BagRows, member_columns, seeded
from treewright.exceptions import ParameterError

MEMBER_BYTES = 4096  # the least that a fitted member takes
_MANY = 100  # members whose size is looked at before memory is gone


def is_of_treewright(estimator: Any) -> bool:
    """Whether an estimator is one of ours, or made from one by inheritance."""
    return any(kind.__module__.partition(".")[0] == "treewright" for kind in type(estimator).__mro__)


@dataclass(frozen=True)
class Plan:
    """What all members of a fit have in common.

    Attributes
    ----------
    base : estimator
        Cloned for each member, never fitted itself.
    X : table of n rows
    y : ndarray[n] or ndarray[n, n_outputs]
    rows : BagRows
    columns : BagColumns or None
        None: X is no table with columns, but something that the base understands.
    n_chosen : int
        Columns of each member.
    replace_columns : bool
    seed : int
    n_members : int
        Of the finished ensemble.
    verbose : int
    """

    base: Any
    X: Any
    y: np.ndarray
    rows: BagRows
    columns: BagColumns | None
    n_chosen: int
    replace_columns: bool
    seed: int
    n_members: int
    verbose: int

    def fit(self, member: int) -> Any:
        """A fitted member.

        Parameters
        ----------
        member : int
            Its number.

        Raises
        ------
        Exception
            Whatever the base raises, with a note that names the member.
        """
        try:
            fitted = self._fitted(member)
        except Exception as error:
            name = type(self.base).__name__
            error.add_note(f"while fitting member {member} of {self.n_members} ({name})")
            raise
        if self.verbose > 0:
            sys.stderr.write(f"member {member + 1} of {self.n_members} fitted\n")
        return fitted

    def columns_of(self, member: int) -> np.ndarray | None:
        """int64[n_chosen], the columns of a member; None where there are none to choose from."""
        if self.columns is None:
            return None
        return member_columns(len(self.columns), self.n_chosen, self.seed, member, replace=self.replace_columns)

    def _fitted(self, member: int) -> Any:
        estimator = seeded(clone(self.base), self.seed, member)
        X, chosen, is_ours = self.X, self.columns_of(member), is_of_treewright(self.base)
        if chosen is not None and self.columns is not None:
            X = self.columns.part_of(X, chosen)
            if is_ours:
                estimator.set_params(**self.columns.told_again(estimator.get_params(deep=True), chosen))
        takes_weights = has_fit_parameter(self.base, "sample_weight")
        if is_ours and takes_weights:
            estimator.fit(X, self.y, sample_weight=self.rows.as_weights(member))
            # The rows that it may keep for audits would be kept once for each member; copies leave them behind.
            return copy.copy(estimator)
        if self.rows.own_weights is not None:
            if not takes_weights:
                raise ParameterError(
                    f"fit of {type(self.base).__name__} takes no sample_weight, and these weights are no numbers of "
                    "rows: leave them out, or draw with replacement (bootstrap=True), where they are the rows' chances"
                )
            rows, weights = self.rows.drawn(member)
            return estimator.fit(take_rows(X, rows), self.y[rows], sample_weight=weights)
        rows = self.rows.in_order(member)
        return estimator.fit(take_rows(X, rows), self.y[rows])


def refuse_too_many(fitted: Any, n_more: int) -> None:
    """Refuse members that would not fit in memory, going by the first.

    Raises
    ------
    TooLargeError
    """
    if n_more < _MANY:
        return
    try:
        size = len(pickle.dumps(fitted, protocol=5))
    except Exception:  # what cannot be pickled cannot be measured
        return
    check_fits(size * n_more, f"{n_more} members as large as the first, {size} bytes,", "use fewer or smaller ones")
