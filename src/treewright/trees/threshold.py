"""The decision threshold: the lowest probability at which a model of two classes predicts one of them.

Without a threshold a model predicts the more probable class, the first of equals. A threshold belongs to the model as a
whole, never to one of its trees: votes of a forest's members and all probabilities stay the same.
``evaluation.threshold`` chooses one by costs; files with one have a format of their own, so that an older
Treewright without thresholds refuses the file instead of predicting other classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.data.cells import is_hashable, shown
from treewright.exceptions import ModelFileError, ParameterError
from treewright.trees.writing import escape_controls, shorten, written_level, written_probability

_MOST_WORDS = 200  # characters of a reason in a file
_MOST_LETTERS = 40  # characters of a class in a text


@dataclass(frozen=True)
class Threshold:
    """A class and the lowest probability at which it is predicted.

    Attributes
    ----------
    positive : int, 0 or 1
        The position of the class.
    at : float, 0 to 1
        The class is predicted if its probability is at least this.
    why : str
        How it was chosen, such as "least cost of fp=1, fn=5 in 5 folds"; empty if it was given.
    cost_each : (float, float) or None
        The costs of predicting the class wrongly and of missing it, if these chose the threshold.
    """

    positive: int
    at: float
    why: str = ""
    cost_each: tuple[float, float] | None = None

    def codes(self, probabilities: np.ndarray) -> np.ndarray:
        """The classes predicted from probabilities float64[n, 2]: int32[n]."""
        return np.where(probabilities[:, self.positive] >= self.at, self.positive, 1 - self.positive).astype(np.int32)


def threshold_given(
    classes: tuple[np.ndarray, ...], at: Any, positive: Any, why: str = "", *, usual: int = 1
) -> Threshold | None:
    """The threshold of a caller's arguments, which are checked; None for ``at=None``.

    ``positive=None`` is the class ``usual``, the model's own positive class.
    """
    if at is None:
        return None
    code = code_of_positive(classes, positive, usual)
    if isinstance(at, bool) or not isinstance(at, int | float | np.integer | np.floating) or not 0.0 <= at <= 1.0:
        raise ParameterError(f"a threshold of {shown(at)}: give a probability, 0 to 1")
    return Threshold(code, float(at), why)


def positive_code(model: Any) -> int | None:
    """The position of a model's positive class; None if it does not predict one target of two classes.

    It is the class of the decision threshold, or else the one that the fit was given (the fact ``positive``), or else
    the second. Everything that is about one of two classes asks here.
    """
    if [len(labels) for labels in model.classes] != [2]:
        return None
    return int(model.facts.get("positive", 1)) if model.threshold is None else model.threshold.positive


def positive_label(model: Any) -> Any:
    """The label of a model's positive class; None if it has none."""
    code = positive_code(model)
    return None if code is None else model.classes[0].tolist()[code]


def cost_by_class(model: Any) -> np.ndarray | None:
    """What a wrong prediction costs, float64[2] by the true class; None if no costs chose the threshold.

    Of two classes a row can be predicted wrongly in one way only: the cost of the mistakes is the misclassification of
    rows that weigh as much.
    """
    threshold = model.threshold
    if threshold is None or threshold.cost_each is None:
        return None
    fp, fn = threshold.cost_each
    found = np.full(2, fp)
    found[threshold.positive] = fn
    return found


COST = "cost per row"


def decision_text(model: Any) -> str:
    """The threshold in words, or else the positive class, if the fit was given one; else an empty text."""
    if model.threshold is not None or "positive" not in model.facts or positive_code(model) is None:
        return threshold_text(model.threshold, model.classes)
    return f"positive class: {shorten(written_level(positive_label(model)), _MOST_LETTERS)}"


def code_of_positive(classes: tuple[np.ndarray, ...], positive: Any, usual: int = 1) -> int:
    """The position of the positive class; for None ``usual``. ParameterError if it is not one of two classes."""
    sizes = [len(labels) for labels in classes]
    if sizes != [2]:
        what = "numbers" if not sizes else f"{len(sizes)} targets" if len(sizes) > 1 else f"{sizes[0]} class(es)"
        raise ParameterError(
            f"a positive class, and a threshold for it, need one target of two classes; this model predicts {what}"
        )
    if positive is None:
        return usual
    labels = classes[0].tolist()
    code = {label: at for at, label in enumerate(labels)}.get(positive) if is_hashable(positive) else None
    if code is None:
        raise ParameterError(f"positive={shown(positive)}: the classes are {labels[0]!r} and {labels[1]!r}")
    return code


def threshold_text(threshold: Threshold | None, classes: tuple[np.ndarray, ...]) -> str:
    """The threshold in words; empty without a threshold.

    >>> threshold_text(Threshold(1, 0.2, "recall of at least 0.9"), (np.array(["no", "yes"]),))
    'predicts yes if its probability is at least 0.2 (recall of at least 0.9)'
    """
    if threshold is None:
        return ""
    name = shorten(written_level(classes[0].tolist()[threshold.positive]), _MOST_LETTERS)
    why = f" ({escape_controls(threshold.why)})" if threshold.why else ""
    return f"predicts {name} if its probability is at least {written_probability(threshold.at)}{why}"


def check_threshold(threshold: Threshold, task: str, classes: tuple[np.ndarray, ...]) -> None:
    """Refuse a threshold that the model of a file cannot have."""
    if task != "classification" or [len(labels) for labels in classes] != [2]:
        raise ModelFileError("threshold: only a model of one target with two classes can have one")
    if threshold.positive not in (0, 1):
        raise ModelFileError(f"threshold: its class is {threshold.positive}, expected 0 or 1")
    if not 0.0 <= threshold.at <= 1.0:
        raise ModelFileError(f"threshold: it is {threshold.at}, expected a number from 0 to 1")
    if len(threshold.why) > _MOST_WORDS:
        raise ModelFileError(f"threshold: its reason has {len(threshold.why)} characters, at most {_MOST_WORDS}")
    costs = threshold.cost_each
    if costs is not None and not (min(costs) >= 0.0 and 0.0 < sum(costs) < np.inf):
        raise ModelFileError(f"threshold: its costs are {costs[0]} and {costs[1]}, expected 0 or more, not both 0")


def threshold_to_json(threshold: Threshold) -> dict[str, Any]:
    """The threshold as JSON values; costs only if they chose it."""
    stated = {"at": float(threshold.at), "positive": int(threshold.positive), "why": threshold.why}
    if threshold.cost_each is None:
        return stated
    fp, fn = threshold.cost_each
    return {**stated, "cost": {"fn": float(fn), "fp": float(fp)}}


def threshold_from_json(stated: Mapping[str, Any]) -> Threshold:
    """The threshold in a file, not yet checked by ``check_threshold``."""
    costs = stated.get("cost")
    if not _are_typed(
        stated, {"at": float, "positive": int, "why": str} | ({"cost": dict} if "cost" in stated else {})
    ):
        raise ModelFileError("damaged model file: an entry of the threshold is missing or of the wrong type")
    if costs is not None and not _are_typed(costs, {"fn": float, "fp": float}):
        raise ModelFileError("damaged model file: the costs of the threshold are not two numbers fp and fn")
    cost_each = None if costs is None else (costs["fp"], costs["fn"])
    return Threshold(stated["positive"], stated["at"], stated["why"], cost_each)


def _are_typed(stated: Mapping[str, Any], kinds: Mapping[str, type]) -> bool:
    """Whether exactly these entries exist, each of its type."""
    return set(stated) == set(kinds) and all(type(stated[name]) is kind for name, kind in kinds.items())
