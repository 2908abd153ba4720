"""The loss as facts; rounds judged by a user's own score. In: losses, scores. Out: plain JSON, numbers.

Caller: estimators.boosting_base.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treewright.estimators.forest_score import name_of
from treewright.exceptions import ParameterError
from treewright.predict.links import answers_of
from treewright.predict.shares import output_columns
from treewright.tree.model import ModelData

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss
    from treewright.data.schema import Schema
    from treewright.tree.boosting import Boosting


# The number of a loss, by the loss's name, and the parameter that is called otherwise.
_NUMBERS = {
    "quantile": ("levels", "quantile"),
    "huber": ("delta", "huber_delta"),
    "tweedie": ("power", "tweedie_power"),
    "expectile": ("level", "expectile"),
}


def facts_of(losses: Sequence[Loss]) -> dict[str, Any]:
    """The loss as plain JSON: its name and its numbers, under the names of the parameters.

    Parameters
    ----------
    losses : sequence of Loss, at least one
        Of one kind, one per output, bound to the rows.

    Returns
    -------
    dict
        A list of numbers where each output has its own.

    Examples
    --------
    >>> from treewright.boosting.losses_by_name import build_loss
    >>> facts_of([build_loss("quantile", quantile=[0.1, 0.9])])
    {'name': 'quantile', 'quantile': [0.1, 0.9]}
    >>> facts_of([build_loss("huber", huber_delta=2), build_loss("huber", huber_delta=3)])
    {'name': 'huber', 'huber_delta': [2.0, 3.0]}
    """
    name = losses[0].name
    if name not in _NUMBERS:
        return {"name": name}
    attribute, parameter = _NUMBERS[name]
    own = [getattr(loss, attribute) for loss in losses]
    if isinstance(own[0], tuple):
        return {"name": name, parameter: list(own[0]) if len(own[0]) > 1 else own[0][0]}
    return {"name": name, parameter: own[0] if all(value == own[0] for value in own) else own}


@dataclass(frozen=True, eq=False)
class Judge:
    """A user's own score of the rounds, as a number to be lowered.

    Attributes
    ----------
    score : callable
        Of the true answers and the predicted ones; higher is better.
    model : ModelData
        Without trees: classes, outputs and link.
    true : ndarray[n], or [n, n_outputs]
        Labels or numbers.
    """

    score: Callable[[Any, Any], Any]
    model: ModelData
    true: np.ndarray

    @classmethod
    def of(
        cls,
        score: Callable[[Any, Any], Any],
        classes: tuple[np.ndarray, ...],
        boosting: Boosting,
        schema: Schema,
        target: np.ndarray,
    ) -> Judge:
        """For codes or numbers [n, n_targets]."""
        task: Literal["classification", "regression"] = "classification" if classes else "regression"
        n_outputs = len(classes) or boosting.n_scores
        model = ModelData(task, schema, (), classes, n_outputs, combine="sum", boosting=boosting)
        columns = [labels.take(codes) for labels, codes in zip(model.classes, target.T, strict=False)] or list(target.T)
        return cls(score, model, columns[0] if len(columns) == 1 else np.stack(columns, axis=1))

    def __call__(self, scores: np.ndarray) -> float:
        """Minus the score of the rows' scores, float64[n_scores, n].

        Raises
        ------
        ParameterError
            The user's function gave no finite number.
        """
        value = self.score(self.true, self.answers(scores))
        if not hasattr(value, "__float__") or np.ndim(value) or not math.isfinite(float(value)):
            raise ParameterError(f"scoring={name_of(self.score)} must return a finite number, not {value!r}")
        return -float(value)

    def answers(self, scores: np.ndarray) -> Any:
        """What scores mean: numbers as ``predict`` gives them; shares of classes, of two the second's alone."""
        said = answers_of(self.model, np.array(scores.T, order="C"))
        if self.model.task == "regression":
            return said[:, 0] if said.shape[1] == 1 else said
        parts = [np.ascontiguousarray(said[:, columns]) for columns in output_columns(self.model)]
        parts = [part[:, 1] if part.shape[1] == 2 else part for part in parts]
        return parts[0] if len(parts) == 1 else parts
