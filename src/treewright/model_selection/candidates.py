"""Parameters to be tried. In: an estimator, a grid. Out: a list of parameter settings. Callers: model_selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler

from treewright.data.matching import did_you_mean
from treewright.exceptions import ParameterError
from treewright.model_selection.whole import whole_number


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


def whole_grid(estimator: Any, grid: Any) -> list[dict[str, Any]]:
    """Every combination, in the order of scikit-learn's ``ParameterGrid``.

    Parameters
    ----------
    estimator : estimator
    grid : dict from parameter to list of values, or list of such dicts

    Raises
    ------
    ParameterError
        The estimator has no such parameter, or a list of values is missing or empty.

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
    """
    n_candidates = whole_number("n_candidates", n_candidates, 1)
    checked = _checked(estimator, grid)
    if is_listed(checked):
        n_candidates = min(n_candidates, len(ParameterGrid(checked)))
    return [dict(drawn) for drawn in ParameterSampler(checked, n_candidates, random_state=random_state)]


def is_listed(grid: Any) -> bool:
    """Whether all values are listed: no distribution among them."""
    parts = [grid] if isinstance(grid, Mapping) else grid
    return not any(hasattr(values, "rvs") for part in parts for values in part.values())


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
    return list(values)
