"""The pruners by name. In: a name. Out: ``Method``: the function, what rows it needs. Callers: prune.door, estimators.

A pruner's module is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, Literal

from treewright.data.matching import did_you_mean
from treewright.exceptions import ParameterError
from treewright.prune.decision import Decision

Needs = Literal["none", "training", "holdout"]


@dataclass(frozen=True)
class Method:
    """One pruner.

    Attributes
    ----------
    name : str
        Name of the method, and of the function.
    module : str
        The module that holds it.
    needs : {"none", "training", "holdout"}
        What rows it takes: none, those of the fit, or rows that the tree was not grown on.
    """

    name: str
    module: str
    needs: Needs

    @property
    def function(self) -> Callable[..., Decision]:
        """``(model, **options)``, or ``(model, rows, **options)``."""
        return getattr(import_module(f"treewright.prune.{self.module}"), self.name)

    def options(self) -> dict[str, Any]:
        """Names of its options with their defaults; ``Parameter.empty`` where one must be given."""
        parameters = signature(self.function).parameters.values()
        return {each.name: each.default for each in parameters if each.kind is Parameter.KEYWORD_ONLY}


METHODS: dict[str, Method] = {
    each.name: each
    for each in (
        Method("cost_complexity", "cost_complexity", "none"),
        Method("depth", "cost_complexity", "none"),
        Method("leaves", "cost_complexity", "none"),
        Method("reduced_error", "reduced_error", "holdout"),
        Method("error_based", "error_based", "training"),
        Method("pessimistic", "pessimistic", "none"),
        Method("minimum_error", "minimum_error", "none"),
        Method("significance", "significance", "none"),
        Method("description_length", "description_length", "none"),
        Method("merge_equal_leaves", "equal_leaves", "none"),
    )
}


def method_of(name: Any) -> Method:
    """The pruner of that name.

    Raises
    ------
    ParameterError
        There is none.
    """
    if not (isinstance(name, str) and name in METHODS):  # not everything that comes in can be looked up
        guess = did_you_mean(str(name), METHODS)
        raise ParameterError(f"there is no pruning method {name!r}{guess}: choose one of {', '.join(METHODS)}")
    return METHODS[name]


def options_of(method: Method, given: dict[str, Any]) -> dict[str, Any]:
    """A pruner's options, defaults filled in.

    Raises
    ------
    ParameterError
        An option is unknown, or one that has no default is not given.
    """
    known = method.options()
    for name in given:
        if name not in known:
            has = f"its options are {', '.join(known)}" if known else "it has no options"
            raise ParameterError(f"{method.name} has no option {name!r}: {has}")
    options = known | given
    lacking = [name for name, value in options.items() if value is Parameter.empty]
    if lacking:
        raise ParameterError(f"{method.name} needs {lacking[0]}=: give it a value")
    return options
