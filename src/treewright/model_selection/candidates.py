"""Parameters to be tried. In: an estimator, a grid. Out: a list of parameter settings. Callers: model_selection."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler

from treewright.core.whole import whole_number
from treewright.data.matching import did_you_mean
from treewright.estimators.trees import SingleTree as TreeEstimator
from treewright.exceptions import ParameterError, TooLargeError

MOST_CANDIDATES = 100_000
OWN_PRUNING = {"ccp_alpha": 0.0, "confidence": None}  # what an estimator calls its own pruning, and none of it


def check_parameter(estimator: Any, name: str) -> None:
    """Refuse a parameter that the estimator has not.

    Raises
    ------
    ParameterError
    """
    known = estimator.get_params(deep=True)
    if name not in known:
        guess = did_you_mean(name, known)
        raise ParameterError(
            f"{type(estimator).__name__} has no parameter {name!r}{guess}; it has {', '.join(sorted(known))}"
        )


def with_parameters(estimator: Any, parameters: Mapping[str, Any]) -> Any:
    """A fresh copy with some parameters set; values that are estimators are copied as well."""
    values = {name: clone(value, safe=False) for name, value in parameters.items()}
    return clone(estimator).set_params(**values)


def check_prunable(estimator: Any) -> None:
    """Refuse what is not a single-tree estimator of this library.

    Raises
    ------
    ParameterError
    """
    if not isinstance(estimator, TreeEstimator):
        given = f"{estimator.__name__} (a class)" if isinstance(estimator, type) else type(estimator).__name__
        raise ParameterError(
            f"estimator={given}: give a single-tree estimator of treewright, such as "
            "treewright.DecisionTreeClassifier(); nothing else can be pruned"
        )


def unpruned(estimator: Any) -> Any:
    """A fresh copy of a tree estimator that does not cut back by itself."""
    known = estimator.get_params(deep=False)
    return with_parameters(estimator, {name: value for name, value in OWN_PRUNING.items() if name in known})


def whole_grid(estimator: Any, grid: Any) -> list[dict[str, Any]]:
    """Every combination, in the order of scikit-learn's ``ParameterGrid``.

    Parameters
    ----------
    estimator : estimator
    grid : dict from parameter to list of values, or list of such dicts

    Raises
    ------
    ParameterError
        The estimator has no such parameter; a list of values is missing, empty, or holds a value twice.
    TooLargeError
        There are more than ``MOST_CANDIDATES``.

    Examples
    --------
    >>> import treewright as tw
    >>> whole_grid(tw.ID3Classifier(), {"max_depth": [1, 2]})
    [{'max_depth': 1}, {'max_depth': 2}]
    """
    checked = _checked(estimator, grid)
    for part in checked:
        for name, values in part.items():
            if hasattr(values, "rvs"):
                raise ParameterError(f"{name!r} is a distribution: list its values, or use method='random'")
    _check_number(_size(checked), "the grid has")
    return [dict(parameters) for parameters in ParameterGrid(checked)]


def sampled(estimator: Any, grid: Any, n_candidates: int, random_state: Any) -> list[dict[str, Any]]:
    """Some combinations at random; without repeating one, where all values are listed.

    Parameters
    ----------
    estimator : estimator
    grid : dict from parameter to list of values or to a distribution of scipy.stats, or list of such dicts
    n_candidates : int >= 1
        The whole grid where it has no more than that.
    random_state : int, RandomState or None

    Raises
    ------
    ParameterError
        As ``whole_grid``, or ``n_candidates`` is below 1.
    TooLargeError
        More than ``MOST_CANDIDATES`` are asked for, or the grid has more than 2**63.
    """
    n_candidates = whole_number("n_candidates", n_candidates, 1)
    checked = _checked(estimator, grid)
    if is_listed(checked):
        n_candidates = min(n_candidates, _size(checked))
        if _size(checked) > sys.maxsize:
            raise TooLargeError(
                f"the grid has {_size(checked)} candidates, more than can be numbered: give fewer values"
            )
    _check_number(n_candidates, "n_candidates asks for")
    return [dict(drawn) for drawn in ParameterSampler(checked, n_candidates, random_state=random_state)]


def is_listed(grid: Any) -> bool:
    """Whether all values are listed: no distribution among them."""
    parts = [grid] if isinstance(grid, Mapping) else grid
    return not any(hasattr(values, "rvs") for part in parts for values in part.values())


def _size(grid: Sequence[Mapping[str, Any]]) -> int:
    """How many combinations a grid of lists has."""
    return sum(math.prod(len(values) for values in part.values()) for part in grid)


def _check_number(n_candidates: int, what: str) -> None:
    """Refuse a number of candidates that nobody can wait for."""
    if n_candidates > MOST_CANDIDATES:
        raise TooLargeError(
            f"{what} {n_candidates} candidates, at most {MOST_CANDIDATES} can be tried: give fewer values, or draw "
            "some with method='random' and n_candidates"
        )


def _checked(estimator: Any, grid: Any) -> list[dict[str, Any]]:
    """The grid as a list of dicts of lists or distributions."""
    parts = [grid] if isinstance(grid, Mapping) else grid
    if (
        not isinstance(parts, list | tuple)
        or not parts
        or not all(isinstance(part, Mapping) and part for part in parts)
    ):
        raise ParameterError(
            f"grid={grid!r}: give a dict from parameter to the values to try, such as {{'max_depth': [2, 4]}}"
        )
    return [{str(name): _values(estimator, str(name), values) for name, values in part.items()} for part in parts]


def _values(estimator: Any, name: str, values: Any) -> Any:
    """The values of one parameter."""
    check_parameter(estimator, name)
    if hasattr(values, "rvs"):
        return values
    if isinstance(values, range | np.ndarray) and np.ndim(values) == 1:
        values = np.asarray(values).tolist()
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ParameterError(f"the values of {name!r} are {values!r}: give a list, such as [{values!r}]")
    if not len(values):
        raise ParameterError(f"the list of values of {name!r} is empty: give at least one, or leave {name!r} out")
    _refuse_twice(name, values)
    return list(values)


def _refuse_twice(name: str, values: Sequence[Any]) -> None:
    """Refuse a value that comes twice: it would be tried twice."""
    seen = set()
    for value in values:
        if not isinstance(value, str | int | float | None):
            continue
        known = (type(value), value)  # 1 and 1.0 may mean different things: a number and a share
        if known in seen:
            raise ParameterError(f"the values of {name!r} hold {value!r} twice: give each once")
        seen.add(known)
