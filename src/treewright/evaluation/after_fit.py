"""What was done to a fitted model, and belongs to what its clone repeats: a pruning, a decision threshold.

scikit-learn's ``clone`` copies parameters only, so a pruned tree would be grown again unpruned in every fold that a
caller makes. Each estimator keeps its steps in ``_after_fit``; ``fit`` repeats them on the model that it makes, and
``clone`` copies them. A pruning that was decided by held-out rows cannot be repeated, so fit and clone refuse it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from treewright.exceptions import ParameterError
from treewright.prune.methods import ROUNDS, Rows, method_of, request_of

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.trees.threshold import Threshold


@dataclass(frozen=True, eq=False)
class Pruned:
    """A call of ``prune``; ``by_rows`` says that rows decided which are no training rows."""

    method: str
    options: dict[str, Any]
    by_rows: bool

    @classmethod
    def of(cls, method: str, options: dict[str, Any], *, rows_given: bool) -> Pruned:
        """The step of a call of ``prune`` that was accepted."""
        return cls(method, options, rows_given if method == ROUNDS else method_of(method).needs == "holdout")

    def check(self) -> None:
        """ParameterError if a fit cannot repeat it."""
        if not self.by_rows:
            return
        if self.method == ROUNDS:
            how, remedy = "prune('rounds', X, y)", "prune('rounds', n_rounds=k), or early_stopping=True"
        else:
            how = f"prune({self.method!r}, X, y)"
            remedy = f"model_selection.PrunedTree(estimator, {self.method!r}), which holds rows out in every fit"
        raise ParameterError(
            f"this estimator was pruned by {how} with held-out rows, which a new fit or a clone does not have, so it "
            f"would be grown again unpruned: use {remedy}; or give the estimator as it was before prune"
        )

    def repeated(self, model: Any, dataset: Dataset) -> Any:
        """The model of a new fit, pruned in the same way."""
        if self.method == ROUNDS:
            return model.pruned(ROUNDS, None, **self.options)
        _, _, needs_rows = request_of(model, self.method, self.options)
        rows = Rows(dataset.matrix, dataset.target_array, dataset.weights) if needs_rows else None
        return model.pruned(self.method, rows, **self.options)


@dataclass(frozen=True, eq=False)
class Decided:
    """A decision threshold that was chosen for the model, and the two classes that it decides between."""

    threshold: Threshold
    classes: list[Any]

    def check(self) -> None:
        """A fit can always repeat it."""

    def repeated(self, model: Any, dataset: Dataset | None = None) -> Any:  # noqa: ARG002 - as of ``Pruned``
        """The model of a new fit with the same threshold; rows of one class leave nothing to decide."""
        is_same = [labels.tolist() for labels in model.classes] == [self.classes]
        return replace(model, threshold=self.threshold) if is_same else model


def has_steps(estimator: Any) -> bool:
    """Whether something was done to the fitted model that a clone repeats."""
    return bool(getattr(estimator, "_after_fit", ()))


def decision_of(estimator: Any) -> Decided | None:
    """The decision threshold of a fitted classifier, or the one that an unfitted copy will get; None without one."""
    model: Any = getattr(estimator, "model_", None)
    threshold = getattr(model, "threshold", None)
    if threshold is not None:
        return Decided(threshold, model.classes[0].tolist())
    decided = [step for step in getattr(estimator, "_after_fit", ()) if isinstance(step, Decided)]
    return decided[-1] if decided and model is None else None


def repeat_decision(estimator: Any, decided: Decided) -> None:
    """Let the clones of an estimator get this threshold."""
    estimator._after_fit = (*getattr(without_steps(estimator, Decided), "_after_fit", ()), decided)


def clone_with_steps(estimator: Any) -> Any:
    """An unfitted copy that repeats the steps; ParameterError if it cannot."""
    from sklearn.base import clone  # not at the top: the command imports this module without scikit-learn

    for step in estimator._after_fit:
        step.check()
    copied = clone(without_steps(estimator))
    copied._after_fit = estimator._after_fit
    return copied


def without_steps(estimator: Any, kind: type = object) -> Any:
    """The same estimator, whose clones repeat no steps, or none of a kind."""
    bare = copy.copy(estimator)
    kept = tuple(step for step in bare.__dict__.pop("_after_fit", ()) if not isinstance(step, kind))
    if kept:
        bare._after_fit = kept
    return bare
