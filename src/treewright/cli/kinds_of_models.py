"""What kinds of models a file may hold. In: models. Out: which kind, columns, a refusal. Callers: modules of cli."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from treewright.cli.terminal import UsageRefusal, printable

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from treewright.cli.columns import CellType
    from treewright.data.schema import Schema
    from treewright.fitted import Model
    from treewright.fitted.neighbors import NeighborsModel

    AnyModel = Model | NeighborsModel

__all__ = ["columns_of", "is_neighbors", "of_trees", "target_type"]


def is_neighbors(model: AnyModel) -> TypeIs[NeighborsModel]:
    """Whether a model holds rows and looks for the nearest, instead of trees."""
    return not model.has_trees


def of_trees(model: AnyModel, path: Path, what: str) -> Model:
    """The same model, which holds trees.

    Parameters
    ----------
    model : Model or NeighborsModel
    path : Path
        Its file, for messages.
    what : str
        The option or command that is for trees only, such as ``"--tree"``.

    Raises
    ------
    UsageRefusal
        It holds nearest neighbours.
    """
    if is_neighbors(model):
        raise UsageRefusal(
            f"{what}: for trees only, and {printable(path)} holds nearest neighbours; show as text, predict and "
            "evaluate are for both"
        )
    return model


def columns_of(model: AnyModel) -> Schema:
    """The columns that a model knows.

    Raises
    ------
    UsageRefusal
        It was fitted on sparse rows.
    """
    if model.schema is None:
        raise UsageRefusal(
            "the model was fitted on sparse rows, which no table of a file can be matched with: use it in Python, by "
            "treewright.load(path).predict(rows)"
        )
    return model.schema


def target_type(model: AnyModel) -> CellType:
    """How the cells of the target are to be parsed."""
    kind = model.classes[0].dtype.kind if model.task == "classification" else "f"
    return {"b": "boolean", "i": "number", "u": "number", "f": "number"}.get(kind, "text")  # type: ignore[return-value]
