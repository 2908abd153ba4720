"""Ways to prune, as they are written on the command line. In: a word. Out: what it stands for. Callers: cli."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treewright.cli.terminal import UsageRefusal
from treewright.data.matching import did_you_mean
from treewright.prune.methods import METHODS

__all__ = ["FIT_PRUNINGS", "check_pruning", "method_named", "pruning_of"]

_SHORT = {"mdl": "description_length", "ccp": "cost_complexity"}
# Those that need no number to be chosen.
FIT_PRUNINGS = (
    "ccp-1se", "ccp-min", "reduced-error", "error-based", "pessimistic", "minimum-error", "significance", "mdl",
    "merge-equal-leaves",
)  # fmt: skip


def check_pruning(word: str) -> None:
    """Refuse what is no way to prune after a fit.

    Raises
    ------
    UsageRefusal
    """
    if word not in FIT_PRUNINGS:
        guess = did_you_mean(word, FIT_PRUNINGS)
        raise UsageRefusal(f"--prune {word!r}: there is no such pruning{guess}; there are: {', '.join(FIT_PRUNINGS)}")


def pruning_of(word: str | None, seed: int) -> Callable[[Any], Any]:
    """What makes of an estimator one that also prunes; for None the estimator itself."""
    if word is None:
        return lambda estimator: estimator
    from treewright.model_selection.pruned import PrunedTree

    method = _SHORT.get(word, word.replace("-", "_"))
    return lambda estimator: PrunedTree(estimator, method, random_state=seed)


def method_named(word: str) -> str:
    """The method of ``Model.prune`` that a word means.

    Raises
    ------
    UsageRefusal
        There is none.
    """
    name = _SHORT.get(word, word.replace("-", "_"))
    if name not in METHODS:
        words = [method.replace("_", "-") for method in METHODS]
        more = " (it needs the rows to grow on: use fit --prune)" if word in FIT_PRUNINGS else did_you_mean(word, words)
        raise UsageRefusal(f"--method {word!r}: there is no such method{more}; there are: {', '.join(words)}")
    return name
