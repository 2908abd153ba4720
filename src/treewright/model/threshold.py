"""From which probability on a model of two classes predicts one of them.

Without a threshold a model predicts the class with the larger share, the first of equals. A threshold belongs to the
model as a whole, never to one of its trees: members of a forest vote as they did, and every share stays what it is.
``model_selection.threshold`` chooses one by costs; files state it in a format of their own, so that a Treewright that
does not know thresholds refuses the file instead of predicting other classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.data.cells import is_hashable, shown
from treewright.exceptions import ModelFileError, ParameterError
from treewright.tree.writing import escape_controls, shorten, written_level, written_number

_MOST_WORDS = 200  # letters of a reason in a file
_MOST_LETTERS = 40  # of a class in a text


@dataclass(frozen=True)
class Threshold:
    """A class and the least share from which on it is predicted.

    Attributes
    ----------
    positive : int, 0 or 1
        The position of the class.
    at : float, 0 to 1
        It is predicted where its share is at least that.
    why : str
        What chose it, such as "least cost of fp=1, fn=5 in 5 folds"; empty where it was given.
    cost_each : (float, float) or None
        What predicting the class wrongly costs, and what missing it costs, where that chose.
    """

    positive: int
    at: float
    why: str = ""
    cost_each: tuple[float, float] | None = None

    def codes(self, shares: np.ndarray) -> np.ndarray:
        """The classes predicted of shares float64[n, 2]: int32[n].

        Examples
        --------
        >>> Threshold(1, 0.2).codes(np.array([[0.8, 0.2], [0.9, 0.1]])).tolist()
        [1, 0]
        """
        return np.where(shares[:, self.positive] >= self.at, self.positive, 1 - self.positive).astype(np.int32)


def threshold_given(classes: tuple[np.ndarray, ...], at: Any, positive: Any, why: str = "") -> Threshold | None:
    """The threshold that a caller asks for; None for none.

    Parameters
    ----------
    classes : tuple of ndarray
        Of the model; empty where it predicts numbers.
    at : float, 0 to 1, or None
    positive : class label, or None for the second class

    Raises
    ------
    ParameterError
        The model has not two classes; there is no such class; ``at`` is out of range.
    """
    if at is None:
        return None
    code = code_of_positive(classes, positive)
    if isinstance(at, bool) or not isinstance(at, int | float | np.integer | np.floating) or not 0.0 <= at <= 1.0:
        raise ParameterError(f"a threshold of {shown(at)}: give a probability, 0 to 1")
    return Threshold(code, float(at), why)


def code_of_positive(classes: tuple[np.ndarray, ...], positive: Any) -> int:
    """The position of the class that a threshold is for; of None the second.

    Raises
    ------
    ParameterError
        There are not two classes of one target, or none is called so.
    """
    sizes = [len(labels) for labels in classes]
    if sizes != [2]:
        what = "numbers" if not sizes else f"{len(sizes)} targets" if len(sizes) > 1 else f"{sizes[0]} class(es)"
        raise ParameterError(f"a threshold stands between two classes of one target; this model predicts {what}")
    if positive is None:
        return 1
    labels = classes[0].tolist()
    code = {label: at for at, label in enumerate(labels)}.get(positive) if is_hashable(positive) else None
    if code is None:
        raise ParameterError(f"positive={shown(positive)}: the classes are {labels[0]!r} and {labels[1]!r}")
    return code


def threshold_words(threshold: Threshold | None, classes: tuple[np.ndarray, ...]) -> str:
    """What a model predicts from where on; empty without a threshold.

    Examples
    --------
    >>> threshold_words(Threshold(1, 0.2, "recall of at least 0.9"), (np.array(["no", "yes"]),))
    'predicts yes from a probability of 0.2 on (recall of at least 0.9)'
    """
    if threshold is None:
        return ""
    name = shorten(written_level(classes[0].tolist()[threshold.positive]), _MOST_LETTERS)
    why = f" ({escape_controls(threshold.why)})" if threshold.why else ""
    return f"predicts {name} from a probability of {written_number(threshold.at, exact=True)} on{why}"


def check_threshold(threshold: Threshold, task: str, classes: tuple[np.ndarray, ...]) -> None:
    """Refuse a threshold that the model of a file cannot have.

    Raises
    ------
    ModelFileError
    """
    if task != "classification" or [len(labels) for labels in classes] != [2]:
        raise ModelFileError("threshold: only a model of one target with two classes has one")
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
    """What a file states; costs only where they chose."""
    stated = {"at": float(threshold.at), "positive": int(threshold.positive), "why": threshold.why}
    if threshold.cost_each is None:
        return stated
    fp, fn = threshold.cost_each
    return {**stated, "cost": {"fn": float(fn), "fp": float(fp)}}


def threshold_from_json(stated: Mapping[str, Any]) -> Threshold:
    """The threshold that a file states; ``check_threshold`` has still to be asked.

    Raises
    ------
    ModelFileError
        An entry is missing, unknown or of another type.
    """
    costs = stated.get("cost")
    if not _are_typed(
        stated, {"at": float, "positive": int, "why": str} | ({"cost": dict} if "cost" in stated else {})
    ):
        raise ModelFileError("damaged model file: the threshold lacks an entry, or holds one of another type")
    if costs is not None and not _are_typed(costs, {"fn": float, "fp": float}):
        raise ModelFileError("damaged model file: the costs of the threshold are not the two numbers fp and fn")
    cost_each = None if costs is None else (costs["fp"], costs["fn"])
    return Threshold(stated["positive"], stated["at"], stated["why"], cost_each)


def _are_typed(stated: Mapping[str, Any], kinds: Mapping[str, type]) -> bool:
    """Whether these entries are there, each of its type, and no others."""
    return set(stated) == set(kinds) and all(type(stated[name]) is kind for name, kind in kinds.items())
