"""Which loss an estimator's parameters mean. In: parameters. Out: a ``Loss``. Callers: estimators."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from treewright.boosting.losses import Loss
from treewright.boosting.losses_classes import ManyClasses, OneClass, TwoClasses
from treewright.boosting.losses_numbers import (
    AbsoluteError,
    Expectile,
    Gamma,
    Huber,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
)
from treewright.boosting.losses_own import OwnLoss
from treewright.data.matching import did_you_mean
from treewright.exceptions import ParameterError

NUMBER_LOSSES = (
    "squared_error",
    "absolute_error",
    "huber",
    "quantile",
    "poisson",
    "gamma",
    "tweedie",
    "expectile",
)
CLASS_LOSSES = ("log_loss",)


def build_loss(
    loss: Any,
    *,
    n_classes: int | None = None,
    quantile: Any = 0.5,
    huber_delta: Any = None,
    tweedie_power: Any = 1.5,
    expectile: Any = 0.5,
) -> Loss:
    """The loss of one output.

    Parameters
    ----------
    loss : str, Loss, callable or object
        One of ``NUMBER_LOSSES``, or of ``CLASS_LOSSES`` for classes; or a user's own, as ``losses_own.OwnLoss`` has it.
    n_classes : int >= 1, or None
        None: the target holds numbers.
    quantile : float, or sequence of ascending floats, between 0 and 1
        Of ``"quantile"``.
    huber_delta : float > 0, or None
        Of ``"huber"``; None finds it from the rows.
    tweedie_power : float, between 1 and 2
        Of ``"tweedie"``.
    expectile : float, between 0 and 1
        Of ``"expectile"``.

    Raises
    ------
    ParameterError
        An unknown name; a parameter of this loss is out of range; a loss of classes for numbers, or the reverse.

    Examples
    --------
    >>> build_loss("quantile", quantile=[0.1, 0.9])
    Quantile(levels=(0.1, 0.9))
    >>> build_loss("log_loss", n_classes=4)
    ManyClasses(n_scores=4)
    """
    if isinstance(loss, Loss):
        return _fitting(loss, n_classes)
    if not isinstance(loss, str):
        if isinstance(loss, type):
            raise ParameterError(f"loss={loss.__name__} is a class: give an object of it, {loss.__name__}(...)")
        if not callable(loss) and not callable(getattr(loss, "gradients", None)):
            raise ParameterError(
                f"loss={loss!r}: give a name, a function of (y, raw) that returns gradient and hessian, or an object "
                f"with such a method, gradients"
            )
        return OneClass() if n_classes == 1 else OwnLoss(loss, n_classes)
    names = NUMBER_LOSSES if n_classes is None else CLASS_LOSSES
    if loss not in names:
        kind = "numbers" if n_classes is None else "classes"
        raise ParameterError(
            f"loss={loss!r}: the losses of {kind} are {', '.join(map(repr, names))}{did_you_mean(loss, names)}"
        )
    if n_classes is not None:
        return _class_loss(n_classes)
    by_name: dict[str, Callable[[], Loss]] = {
        "squared_error": SquaredError,
        "absolute_error": AbsoluteError,
        "huber": lambda: Huber(None if huber_delta is None else _above_zero("huber_delta", huber_delta)),
        "quantile": lambda: Quantile(_levels(quantile)),
        "poisson": Poisson,
        "gamma": Gamma,
        "tweedie": lambda: Tweedie(power=_between("tweedie_power", tweedie_power, 1, 2)),
        "expectile": lambda: Expectile(_between("expectile", expectile, 0, 1)),
    }
    return by_name[loss]()


def _class_loss(n_classes: int) -> Loss:
    """Log loss of so many classes."""
    if n_classes == 1:
        return OneClass()
    return TwoClasses() if n_classes == 2 else ManyClasses(n_classes)


def _fitting(loss: Loss, n_classes: int | None) -> Loss:
    """A loss as it is, if it reads such targets."""
    if (loss.link == "classes") != (n_classes is not None):
        kind = "numbers" if n_classes is None else "classes"
        raise ParameterError(f"loss={loss!r} is not a loss of {kind}: its link is {loss.link!r}")
    if n_classes is not None and loss.n_scores != (1 if n_classes <= 2 else n_classes):
        raise ParameterError(f"loss={loss!r} has {loss.n_scores} score(s), which is not what {n_classes} classes need")
    return loss


def _is_number(value: Any) -> bool:
    """Whether something is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _above_zero(name: str, value: Any) -> float:
    """A finite number above 0."""
    if not _is_number(value) or not 0 < value < float("inf"):
        raise ParameterError(f"{name}={value!r}: give a number > 0, or None")
    return float(value)


def _between(name: str, value: Any, low: int, high: int) -> float:
    """A number strictly between two others."""
    if not _is_number(value) or not low < float(value) < high:
        raise ParameterError(f"{name}={value!r}: give a number between {low} and {high}, both excluded")
    return float(value)


def _levels(value: Any) -> tuple[float, ...]:
    """Levels of quantiles, ascending."""
    if _is_number(value):
        return (_between("quantile", value, 0, 1),)
    if isinstance(value, str | bytes) or not np.iterable(value):
        raise ParameterError(f"quantile={value!r}: give a number between 0 and 1, or several such numbers")
    given = list(value)
    levels = tuple(_between("quantile", level, 0, 1) for level in given)
    if not levels or any(later <= earlier for earlier, later in pairwise(levels)):
        raise ParameterError(
            f"quantile={value!r}: give one level or several different ones in ascending order, such as [0.1, 0.5, 0.9]"
        )
    return levels


def loss_words(name: str) -> str:
    """The name of a loss in words; that of squares is half of them, so that its slope is the residual.

    Examples
    --------
    >>> loss_words("squared_error"), loss_words("log_loss")
    ('half the squared error', 'log loss')
    """
    return "half the squared error" if name == "squared_error" else name.replace("_", " ")
