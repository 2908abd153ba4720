"""What pruners ask of options and models. In: an option, a model. Out: the number, or an error. Callers: prune."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from treewright.exceptions import ParameterError
from treewright.tree.model import ModelData
from treewright.tree.summary import IMPURITIES


def checked_number(name: str, value: Any, low: float = 0.0, high: float = math.inf) -> float:
    """An option that has to be a finite number within a range.

    Parameters
    ----------
    name : str
    value : Any
        What was given.
    low, high : float
        The range, both ends in it.

    Raises
    ------
    ParameterError
        It is no number, not finite, or outside the range.
    """
    # NumPy's numbers register as Real; its truth values do not, Python's do.
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond float64
            number = math.inf
        if math.isfinite(number) and low <= number <= high:
            return number
    stated = f">= {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
    raise ParameterError(f"{name}={value!r}: give a finite number {stated}")


def require_squared_error(model: ModelData, method: str, *, one_output: bool = False) -> None:
    """Refuse a regression model whose nodes do not hold means and squared errors.

    Parameters
    ----------
    model : ModelData
        Of a regression task.
    method : str
        The pruner, for the message.
    one_output : bool
        Whether several outputs are refused, too: a node holds only the mean of their impurities.

    Raises
    ------
    ParameterError
    """
    criterion = str(model.facts.get("criterion", "unknown"))
    if IMPURITIES.get(criterion, criterion) != "squared_error":
        raise ParameterError(
            f"{method} needs means and squared errors in the nodes, but the tree was grown with "
            f"criterion={criterion!r}: use cost_complexity, or reduced_error with rows kept aside"
        )
    if one_output and model.n_outputs > 1:
        raise ParameterError(
            f"{method} needs the squared error of each output, but the nodes of this tree hold only the mean over "
            f"{model.n_outputs} outputs: use cost_complexity, or fit a tree for each output"
        )
