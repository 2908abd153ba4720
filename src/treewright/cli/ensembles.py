"""Models of many trees at the terminal. In: a model, a tree's number. Out: that tree, a summary, or a refusal.

Callers: cli.show, cli.audit, cli.isolate, cli.prune, cli.evaluate, cli.fit, cli.predict.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from treewright.cli.kinds_of_models import columns_of
from treewright.cli.terminal import UsageRefusal
from treewright.exceptions import ParameterError

if TYPE_CHECKING:
    from treewright.cli.kinds_of_models import AnyModel
    from treewright.fitted import Model

__all__ = ["columns_in_words", "is_ensemble", "is_isolation", "one_tree", "refuse_isolation", "summary"]


def columns_in_words(model: AnyModel) -> str:
    """How many columns a model knows, and of what kinds."""
    kinds = [column.kind for column in columns_of(model).columns]
    counted = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("numeric", "ordinal", "nominal") if kind in kinds)
    return f"{len(kinds)} column{'s' * (len(kinds) != 1)} ({counted})"


def is_ensemble(model: Model) -> bool:
    """Whether many trees answer together."""
    return not model.is_single_tree


def is_isolation(model: AnyModel) -> TypeGuard[Model]:
    """Whether it is an isolation forest, which predicts no target."""
    return model.facts.get("algorithm") == "isolation_forest"


def refuse_isolation(model: AnyModel, path: Path, what: str) -> None:
    """Refuse what needs a target.

    Raises
    ------
    UsageRefusal
    """
    if is_isolation(model):
        raise UsageRefusal(f"{path} is an isolation forest, which has no target: {what}; predict says how odd rows are")


def one_tree(model: Model, path: Path, tree: int | None, what: str) -> Model:
    """The tree that was asked for, as a model of its own.

    Parameters
    ----------
    model : Model
    path : Path
        Its file, for messages.
    tree : int or None
    what : str
        What is for one tree.

    Raises
    ------
    UsageRefusal
        There are many trees and none was chosen, or there is no such tree.
    """
    if tree is None and is_ensemble(model):
        raise UsageRefusal(
            f"{what} is for one tree, and {path} has {model.n_trees}: choose one with --tree N, from 0 to "
            f"{model.n_trees - 1}"
        )
    try:
        return model.tree(tree or 0)
    except ParameterError as error:
        raise UsageRefusal(f"--{error}") from None


def summary(model: Model, path: Path | None) -> str:
    """What many trees are like as a whole, and how to see one of them.

    Parameters
    ----------
    model : Model
    path : Path or None
        Its file; None where it has none.
    """
    lines = model.show().rstrip("\n").split("\n")[:-1]  # the last line says it for Python
    return "\n".join([*lines, f"treewright show {path or 'MODEL'} --tree 0 shows the first tree"])
