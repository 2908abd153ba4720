"""The pruners by name. In: a name. Out: ``Method``: the function, what rows it needs. Callers: prune.door, estimators.

A pruner's module is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, Literal

from treewright.data.matching import did_you_mean
from treewright.exceptions import ParameterError
from treewright.model.data import ModelData
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
    counts_rows : bool
        Whether it takes the weights of classes for numbers of rows: weights that are shares then mean hardly any rows.
    asks : str
        Name of a function of the module, ``(model, **options) -> bool``: whether rows are needed, and not only taken;
        it refuses models and options that the method is not defined for. Empty: what takes rows needs them.
    """

    name: str
    module: str
    needs: Needs
    counts_rows: bool = False
    asks: str = ""

    @property
    def function(self) -> Callable[..., Decision]:
        """``(model, **options)``, or ``(model, rows, **options)``."""
        return self._of_module(self.name)

    def needs_rows(self, model: ModelData, options: Mapping[str, Any]) -> bool:
        """Whether it cannot do without rows.

        Raises
        ------
        ParameterError
            The method is undefined for the model, or an option is out of range.
        """
        if self.asks:
            return bool(self._of_module(self.asks)(model, **options))
        return self.needs != "none"

    def _of_module(self, name: str) -> Any:
        return getattr(import_module(f"treewright.prune.{self.module}"), name)

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
        Method("error_based", "error_based", "training", counts_rows=True, asks="needs_rows"),
        Method("pessimistic", "pessimistic", "none", counts_rows=True),
        Method("minimum_error", "minimum_error", "none", counts_rows=True),
        Method("significance", "significance", "none", counts_rows=True),
        Method("description_length", "description_length", "none", counts_rows=True),
        Method("merge_equal_leaves", "equal_leaves", "none"),
    )
}

# What people call them, the command line among others.
_CALLED = {"mdl": "description_length", "ccp": "cost_complexity", "rep": "reduced_error", "ebp": "error_based"}
ROUNDS = "rounds"  # of boosted models; ``boosting.fewer_rounds``
CROSS_VALIDATED = ("ccp_1se", "ccp_min")  # prunings that a tree alone cannot decide


def method_of(name: Any) -> Method:
    """The pruner of that name.

    Raises
    ------
    ParameterError
        There is none.
    """
    if not (isinstance(name, str) and name in METHODS):  # not everything that comes in can be looked up
        word = str(name).lower().replace("-", "_").replace(" ", "_")
        if word in CROSS_VALIDATED:
            raise ParameterError(
                f"pruning method {name!r} needs cross-validation, so it takes an estimator that is not fitted: "
                f"model_selection.pruning_path(est, X, y), or PrunedTree(est, {word!r})"
            )
        if word == ROUNDS:
            raise ParameterError(
                "prune('rounds') drops the last trees of a boosted model: ask the estimator or the model of all trees"
            )
        right = _CALLED.get(word, word)
        guess = f" (did you mean {right!r}?)" if right in METHODS else did_you_mean(str(name), METHODS)
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
