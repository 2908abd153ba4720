"""One estimator on many training sets. In: an unfitted estimator, where rows come from. Out: predictions of each round.

Callers: model_selection.decompose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from treewright.core.whole import whole_number
from treewright.data.target import check_weights
from treewright.exceptions import DataError, ParameterError
from treewright.model_selection.parallel import answers
from treewright.model_selection.rows import count_rows, take_rows
from treewright.model_selection.task import fresh

Draw = Callable[[np.random.Generator], tuple[Any, Any]]
TrainingSet = tuple[Any, Any, np.ndarray | None]


class Bootstrap(NamedTuple):
    """Training sets of n rows, drawn from n rows with replacement.

    ``kept`` int64[k] are the rows of positive weight; only they are drawn. ``weights`` float64[n] or None.
    """

    X: Any
    y: Any
    weights: np.ndarray | None
    kept: np.ndarray

    def sample(self, rng: np.random.Generator) -> TrainingSet:
        """One training set."""
        at = self.kept[rng.integers(len(self.kept), size=len(self.kept))]
        return take_rows(self.X, at), take_rows(self.y, at), None if self.weights is None else self.weights[at]


class Drawn(NamedTuple):
    """Training sets that the user's function makes."""

    draw: Draw

    def sample(self, rng: np.random.Generator) -> TrainingSet:
        """One training set.

        Raises
        ------
        ParameterError
            The function gives no pair.
        DataError
            X and y of the pair differ in length.
        """
        pair: Any = self.draw(rng)
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ParameterError(f"draw must return the pair (X, y), not a {type(pair).__name__}")
        X, y = pair
        if count_rows(X) != count_rows(y):
            raise DataError(f"draw returned X with {count_rows(X)} rows and y with {count_rows(y)}")
        return X, y, None


def source_of(X: Any, y: Any, draw: Draw | None, sample_weight: Any) -> Bootstrap | Drawn:
    """Where training sets come from.

    Raises
    ------
    ParameterError
        Neither rows nor ``draw``, or both; ``draw`` is no function; weights come with ``draw``.
    DataError
        X and y differ in length or are empty; a weight was refused.
    """
    if draw is not None:
        if not callable(draw):
            raise ParameterError(f"draw={draw!r}: give a function that takes a random generator and returns (X, y)")
        if X is not None or y is not None:
            raise ParameterError("draw makes the training sets: pass X=None and y=None with it, or leave draw out")
        if sample_weight is not None:
            raise ParameterError("sample_weight belongs to the rows of X; with draw there are none")
        return Drawn(draw)
    if X is None or y is None:
        raise ParameterError("pass X and y to draw bootstrap samples from, or draw=, a function that makes (X, y)")
    n = count_rows(y)
    if count_rows(X) != n:
        raise DataError(f"X has {count_rows(X)} rows and y has {n}: give a target for each row")
    if n == 0:
        raise DataError("X and y have 0 rows; at least 1 is needed")
    weights = check_weights(sample_weight, n)
    kept = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
    return Bootstrap(X, y, weights, kept)


class Experiment(NamedTuple):
    """Everything that the predictions of the rounds hang on.

    Attributes
    ----------
    estimator : estimator
        Stays as it is.
    source : Bootstrap or Drawn
    X_test : table of m rows
    n_rounds : int
    random_state : int >= 0, or None
        Round r has the r-th child of this seed, whichever thread works on it. ``random_state`` parameters of the
        estimator that are None are set from it too.
    n_jobs : int or None
        Threads; None means every processor available.
    """

    estimator: Any
    source: Bootstrap | Drawn
    X_test: Any
    n_rounds: int
    random_state: int | None
    n_jobs: int | None


def predictions(experiment: Experiment, keep: Callable[[int, Any], Any]) -> list[Any]:
    """What a copy of the estimator, fitted anew in each round, says of the test rows.

    Parameters
    ----------
    experiment : Experiment
    keep : callable
        Makes what is kept of ``predict``, given the round.

    Returns
    -------
    list of n_rounds
    """
    estimator, source, X_test, n_rounds, random_state, n_jobs = experiment
    seeds = np.random.SeedSequence(random_state).spawn(n_rounds)

    def one(number: int) -> Any:
        rng = np.random.default_rng(seeds[number])
        try:
            X, y, weights = source.sample(rng)
            fitted = fresh(estimator, rng)
            fitted = fitted.fit(X, y) if weights is None else fitted.fit(X, y, sample_weight=weights)
            return keep(number, fitted.predict(X_test))
        except Exception as error:
            error.add_note(f"in round {number} of bias_variance")
            raise

    return answers(one, n_rounds, n_jobs, "rounds")


def check_seed(random_state: Any) -> int | None:
    """A seed as ``SeedSequence`` takes it.

    Raises
    ------
    ParameterError
        It is neither a whole number >= 0 nor None.
    """
    return None if random_state is None else whole_number("random_state", random_state, 0)
