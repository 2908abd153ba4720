"""Checks of pruning options and models, and the criterion that a model's tree was grown by."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from treewright.exceptions import ParameterError, pruner
from treewright.grow.criteria.costs import NUMBERS
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData

_LEAST_IMPURITY = 2.0**-1000  # squares near the end of float64 have fewer digits
_LARGEST_SQUARE = 2.0**990  # sums of squares over many rows have to stay within float64


def number_of(value: Any) -> float:
    """An option as a number; nan if it is no number (or a bool), infinite if it is beyond float64."""
    # NumPy's numbers register as Real; its truth values do not, Python's do.
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number:
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def checked_number(name: str, value: Any, low: float = 0.0, high: float = math.inf) -> float:
    """An option, checked to be a finite number from ``low`` to ``high`` (inclusive)."""
    number = number_of(value)
    if math.isfinite(number) and low <= number <= high:
        return number
    stated = f">= {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
    raise ParameterError(f"{name}={value!r}: give a finite number {stated}")


def require_squared_error(model: ModelData, method: str, *, one_output: bool = False) -> None:
    """Refuse a regression model whose nodes do not hold means and squared errors.

    ``one_output`` refuses several outputs, too: a node holds only the mean of their impurities.
    """
    criterion = criterion_of(model)
    if criterion != "squared_error":
        parameters = model.facts.get("parameters")
        # A user's function may have the name of a built-in criterion: its parameter shows that it is a function.
        stated = parameters.get("criterion") if isinstance(parameters, dict) else None
        grown_by = criterion or str(stated or model.facts.get("criterion", "unknown"))
        raise ParameterError(
            pruner(method),
            f" needs means and squared errors in the nodes, but the tree was fitted with criterion={grown_by!r}: use ",
            pruner("cost_complexity"),
            ", or ",
            pruner("reduced_error"),
            " with held-out rows",
        )
    if one_output and model.n_outputs > 1:
        raise ParameterError(
            pruner(method),
            " needs the squared error of each output, but the nodes of this tree hold only the mean over "
            f"{model.n_outputs} outputs: use ",
            pruner("cost_complexity"),
            ", or fit a tree for each output",
        )
    require_true_impurity(model.trees[0], _LARGEST_SQUARE)


def require_true_impurity(tree: Tree, largest: float = float(np.nextafter(np.finfo(np.float64).max, 0.0))) -> None:
    """Refuse a tree whose impurities are too large or too small for float64.

    They are squares of numbers that differ by about 1e154 and more, or by 1e-151 and less.
    """
    found = float(tree.impurity.max())
    if found and not _LEAST_IMPURITY <= found <= largest:
        raise ParameterError(
            f"impurities of this tree are as {'large' if found > 1 else 'small'} as {found:.3g}, which float64 cannot "
            "add up with all digits: scale the target towards 1 and fit again"
        )


# The impurity in the nodes of CHAID's trees, which are not grown by impurity.
_HELD = {"chi_squared": "gini", "f_test": "squared_error"}


def criterion_of(model: ModelData) -> str | None:
    """Name of the criterion whose impurity the nodes hold; None if it was a user's function, or is not stated."""
    parameters = model.facts.get("parameters")
    # A user's function may be called "gini": only the parameter shows it, as the name of a type.
    stated = parameters.get("criterion") if isinstance(parameters, dict) else None
    name = stated or model.facts.get("criterion")
    name = _HELD.get(str(name), name)
    return str(name) if name in NUMBERS else None
