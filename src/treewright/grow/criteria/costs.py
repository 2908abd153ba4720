"""Impurities of sets of rows, in float64. In: tables of statistics. Out: impurity or cost of each row of them.

A criterion is a number here and in the kernels, or a user-defined function. The cost of a set of rows is its weight
times its impurity: costs of branches add up, and the gain of a split is the decrease of the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treewright.core.elementary import log, log_of
from treewright.core.jit import inner_kernel
from treewright.exceptions import ParameterError
from treewright.grow.criteria.counts import cost_of_counts
from treewright.grow.problem import Problem
from treewright.trees.class_criteria import CLASSIFICATION_CRITERIA, ENTROPY, impurity_of_proportions

SQUARED_ERROR, POISSON, ABSOLUTE_ERROR, OWN = range(100, 104)  # above those of class counts
NUMBERS = {
    **CLASSIFICATION_CRITERIA,
    "gain_ratio": ENTROPY,
    "squared_error": SQUARED_ERROR,
    "poisson": POISSON,
    "absolute_error": ABSOLUTE_ERROR,
}

FEW = 1e-12  # share of the events of a node below which a side of a cut has none

MOST_IMPURE = 1e150  # largest value of a user-defined function: times a weight it must stay within float64

OwnCriterion = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Criterion:
    """The impurity that splits reduce.

    Attributes
    ----------
    name : str
    number : int
        One of the constants of this module; ``OWN`` for a user-defined function.
    function : callable or None
        Takes float64[k, n_classes] (weighted class counts) or float64[k, 3] (weight, mean, variance) of one output,
        returns k impurities >= 0.
    """

    name: str
    number: int
    function: OwnCriterion | None = None

    @staticmethod
    def of(given: str | OwnCriterion) -> Criterion:
        """The criterion of a name or function."""
        if callable(given):
            return Criterion(getattr(given, "__name__", type(given).__name__), OWN, given)
        return Criterion(given, NUMBERS[given])

    @property
    def by_kernel(self) -> bool:
        """Whether kernels know it."""
        return self.number <= POISSON

    def costs(self, problem: Problem, tables: np.ndarray) -> np.ndarray:
        """Weight times impurity of sets of rows.

        Parameters
        ----------
        tables : float64[..., n_stats]
            Their statistics.

        Returns
        -------
        float64[...]
            0 for an empty set; averaged over outputs.
        """
        weight = problem.weight_of(tables)
        return self.impurities(problem, tables) * weight

    def may_exist(self, problem: Problem, tables: np.ndarray) -> np.ndarray:
        """bool[...]: whether sets of rows may be a branch: not with a Poisson mean of 0. Arguments as in `costs`."""
        if self.number != POISSON:
            return np.ones(tables.shape[:-1], bool)
        return np.asarray((tables[..., problem.outputs[:-1] + 1] > 0.0).all(axis=-1))

    def may_part(self, problem: Problem, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """bool[...]: whether both sides are allowed, one being a difference: rounding errors are no events."""
        if self.number != POISSON:
            return np.ones(left.shape[:-1], bool)
        starts = problem.outputs[:-1] + 1
        some, others = left[..., starts], right[..., starts]
        have_events: np.ndarray = (np.minimum(some, others) > FEW * (some + others)).all(axis=-1)
        return have_events

    def impurities(self, problem: Problem, tables: np.ndarray) -> np.ndarray:
        """Impurity of sets of rows, float64[...]; 0 for an empty set. Arguments as in `costs`."""
        found = []
        for start, stop in zip(problem.outputs[:-1].tolist(), problem.outputs[1:].tolist(), strict=True):
            stats = tables[..., start:stop]
            weight = stats.sum(axis=-1) if problem.is_classes else stats[..., 0]
            is_empty = np.asarray(weight <= 0.0)
            safe = np.where(is_empty, 1.0, weight)
            impurity = self._of_output(problem, stats, safe, is_empty)
            found.append(np.where(is_empty, 0.0, np.maximum(impurity, 0.0)))
        mean: np.ndarray = found[0] if len(found) == 1 else np.mean(found, axis=0)
        return mean

    def _of_output(self, problem: Problem, stats: np.ndarray, weight: np.ndarray, is_empty: np.ndarray) -> np.ndarray:
        """Impurities for one output."""
        if self.function is not None:
            return self._own(self.function, problem, stats, is_empty)
        if problem.is_classes:
            return impurity_of_proportions(self.number, stats / weight[..., None])
        mean = stats[..., 1] / weight
        if self.number == POISSON:
            logs = log_of(np.where(mean > 0.0, mean, 1.0))
            return np.asarray(stats[..., 2] / weight - mean * logs)
        return np.asarray((stats[..., 2] / weight - mean * mean) * problem.square_unit)

    def _own(self, function: OwnCriterion, problem: Problem, stats: np.ndarray, is_empty: np.ndarray) -> np.ndarray:
        """The checked result of the user's function, which never gets an empty set."""
        flat = stats.reshape(-1, stats.shape[-1])
        known = ~is_empty.reshape(-1)
        given = flat[known]
        if not problem.is_classes:
            mean = given[:, 1] / given[:, 0]
            variance = np.maximum(given[:, 2] / given[:, 0] - mean * mean, 0.0)
            mean, variance = mean * problem.unit, variance * problem.square_unit
            given = np.stack([given[:, 0], mean + problem.centres[0], variance], axis=1)
        returned = function(given.copy())
        try:
            answer = np.asarray(returned)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"criterion {self.name} must return numbers, not {type(returned).__name__}") from error
        if answer.dtype.kind not in "biuf" or np.ma.isMaskedArray(returned):
            raise ParameterError(
                f"criterion {self.name} must return plain real numbers, not {type(returned).__name__} of {answer.dtype}"
            )
        answer = answer.astype(np.float64)
        if answer.shape != (len(given),):
            raise ParameterError(
                f"criterion {self.name} returned shape {answer.shape} for {len(given)} sets of rows: it gets an array "
                "with one set per row and must return one number for each"
            )
        bad = ~((answer <= MOST_IMPURE) & (answer >= -1e-9))
        if bad.any():
            at = int(bad.argmax())
            raise ParameterError(
                f"criterion {self.name} returned {answer[at]} for {given[at].tolist()}: an impurity must be a finite "
                f"number, at least 0 and at most {MOST_IMPURE:g}; 0 log 0 counts as 0"
            )
        result = np.zeros(len(flat))
        result[known] = answer
        return result.reshape(is_empty.shape)


def settled(criterion: Criterion, gains: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Gains (float64[k]), with 0.0 for those that are negative by rounding; -1.0 if a split really raises the cost.

    Only a user-defined function can raise it: all other criteria are concave, and their gains are below 0 only by
    rounding, however small the base is compared with the sums whose difference it is.
    """
    if criterion.function is None:
        return np.maximum(gains, 0.0)
    return np.where(gains < -1e-9 * np.abs(base), -1.0, np.maximum(gains, 0.0))


@inner_kernel
def cost_of(stats, outputs, number, table):
    """Weight times impurity of one set of rows (see ``Criterion.costs``), averaged over outputs.

    Parameters
    ----------
    stats : float64[n_stats], IN
    outputs : int64[n_outputs + 1], IN
        Where each output's statistics begin.
    number : int
        A criterion of class counts, ``SQUARED_ERROR`` or ``POISSON``.
    table : float64[m], IN
        ``Problem.table``; only entropy uses it.
    """
    total = 0.0
    for o in range(outputs.shape[0] - 1):
        start = outputs[o]
        if number < SQUARED_ERROR:
            total += cost_of_counts(number, stats, start, outputs[o + 1], table)
        else:
            weight = stats[start]
            first = stats[start + 1]
            if weight > 0.0:
                if number == SQUARED_ERROR:
                    total += max(stats[start + 2] - first * (first / weight), 0.0)
                elif first > 0.0:
                    total += max(stats[start + 2] - first * log(first / weight), 0.0)
    # Rounding in a nearly pure set must not make a cost negative: tolerances are shares of it.
    return max(total, 0.0) / (outputs.shape[0] - 1)
