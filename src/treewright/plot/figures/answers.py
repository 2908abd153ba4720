"""What a model says at every point of a plane. In: anything with predict, ``Plane``. Out: ``Answers``.

Caller: ``figures.regions``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from treewright.data.schema import Schema
from treewright.exceptions import ParameterError
from treewright.plot.figures.grid import Plane

TASKS: dict[str, Literal["classification", "regression"]] = {
    "classifier": "classification",
    "regressor": "regression",
}


@dataclass(frozen=True)
class Answers:
    """What is said at each point of the grid.

    Attributes
    ----------
    numbers : float64[up, across], or None
        Regression.
    codes : int64[up, across], or None
        Classes.
    likelihood : float64[up, across], or None
        Probability of the class that is predicted.
    classes : list
    """

    numbers: npt.NDArray[np.float64] | None
    codes: npt.NDArray[np.int64] | None
    likelihood: npt.NDArray[np.float64] | None
    classes: list[Hashable]


def answers_of(est: Any, plane: Plane) -> Answers:
    """Ask the model at every point of the grid.

    Raises
    ------
    ParameterError
        It does not give one answer for each row, gives a label that is none of its classes, or is a regressor and
        gives no numbers.
    """
    shape = (len(plane.up.centres), len(plane.across.centres))
    task = task_of(est)
    classes = None if task == "regression" else classes_of(est)
    asks = classes is not None and callable(getattr(est, "predict_proba", None))
    said, likelihoods = [], []
    for table in plane.tables():
        answer = np.asarray(est.predict(table))
        n_rows = len(table[next(iter(table))] if isinstance(table, dict) else table)
        if answer.size != n_rows:
            raise ParameterError(
                f"predict gave shape {answer.shape} for {n_rows} rows: a figure shows one answer for each row; give a "
                "model of one output"
            )
        said.append(answer.reshape(-1))
        if asks:
            likelihoods.append(np.asarray(est.predict_proba(table)))
    answer = np.concatenate(said)
    # Only where the object does not say what it is, its numbers have to: a regressor may predict whole numbers.
    if task == "regression" or (task is None and classes is None and answer.dtype.kind == "f"):
        return Answers(as_numbers(est, answer).reshape(shape), None, None, [])
    values = answer.tolist()
    if classes is None:
        classes = sorted(set(values), key=lambda label: (str(type(label)), label))
    place = {label: code for code, label in enumerate(classes)}
    strange = sorted(map(repr, set(values) - set(place)))
    if strange:
        raise ParameterError(f"predict gave {strange[0]}, which is not among the classes_ of {type(est).__name__}")
    codes = np.array([place[label] for label in values], np.int64)
    likelihood = None
    if asks and all(part.ndim == 2 and part.shape[1] == len(classes) for part in likelihoods):
        likelihood = np.take_along_axis(np.concatenate(likelihoods), codes[:, None], axis=1)[:, 0].reshape(shape)
    return Answers(None, codes.reshape(shape), likelihood, list(classes))


def task_of(est: Any) -> Literal["classification", "regression"] | None:
    """Return what an object says that it is; None where it says nothing.

    Models of this library have a ``task``, estimators of scikit-learn have tags, and older ones ``_estimator_type``.
    """
    own = model_of(est)
    if own is not None:
        return "regression" if own.task == "regression" else "classification"
    tags = getattr(est, "__sklearn_tags__", None)
    kind = None
    if callable(tags):
        try:
            kind = getattr(tags(), "estimator_type", None)
        except AttributeError:  # a mixin of scikit-learn without its base class
            kind = None
    if kind is None:
        kind = getattr(est, "_estimator_type", None)
    return TASKS.get(str(kind))


def model_of(est: Any) -> Any:
    """Return the model of this library that an object is, or holds; None for anything else."""
    own = getattr(est, "model_", est)
    return own if isinstance(getattr(own, "schema", None), Schema) else None


def schema_of(est: Any) -> Schema | None:
    """Return what a model of this library knows of its columns."""
    own = model_of(est)
    return None if own is None else own.schema


def classes_of(est: Any) -> list[Hashable] | None:
    """Return the labels that a classifier knows, in its order; None for anything else."""
    held = getattr(est, "classes_", None)
    if held is None and model_of(est) is not None and getattr(est, "classes", None):
        held = est.classes[0]
    if held is None or (isinstance(held, list) and held and np.ndim(held[0])):
        return None
    labels: list[Hashable] = np.asarray(held).tolist()
    return labels


def as_numbers(est: Any, answer: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the predictions of a regressor.

    Raises
    ------
    ParameterError
        They are no numbers.
    """
    try:
        return np.asarray(answer, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"a {type(est).__name__} says that it is a regressor, and predict gave no numbers: {error}"
        ) from error
