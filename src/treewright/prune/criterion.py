"""What a model's tree was grown to lower. In: a model's facts. Out: a name, impurities. Callers: prune."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treewright.grow.by_node.criteria import NUMBERS, Criterion
from treewright.grow.by_node.problem import class_problem
from treewright.model.data import ModelData

# What the nodes of CHAID's trees hold, which are not grown by impurity.
_HELD = {"chi_squared": "gini", "f_test": "squared_error"}


def criterion_of(model: ModelData) -> str | None:
    """Name of the criterion whose impurity the nodes hold; None where it was a function of the user's, or not told.

    Parameters
    ----------
    model : ModelData
    """
    parameters = model.facts.get("parameters")
    # A user's function may be called "gini": then only the parameter tells, which is the name of a type.
    stated = parameters.get("criterion") if isinstance(parameters, dict) else None
    name = stated or model.facts.get("criterion")
    name = _HELD.get(str(name), name)
    return str(name) if name in NUMBERS else None


def class_impurities(model: ModelData, name: str, counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Impurities of class counts.

    Parameters
    ----------
    model : ModelData
        Of classes.
    name : str
        As ``criterion_of`` gives it.
    counts : float64[k, n_values]

    Returns
    -------
    float64[k]
        0.0 where there are no counts.
    """
    # A criterion asks the problem only how the statistics of the outputs lie: one row says that as well as all.
    one_row = np.full((1, len(model.schema)), np.nan)
    codes = np.zeros((1, model.n_outputs), np.int32)
    problem = class_problem(one_row, model.schema, codes, model.n_classes, None, model.missing)
    return Criterion.of(name).impurities(problem, counts)
