"""Nearest neighbours at the terminal, where they differ from trees. In: requests, models. Out: words, or a refusal.

Callers: cli.learn, cli.fit, cli.predict, cli.evaluate, cli.show, cli.audit, cli.prune, cli.matching.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from treewright.cli.algorithms import NEIGHBORS
from treewright.cli.terminal import UsageRefusal, printable

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from treewright.cli.learn import FitRequest
    from treewright.data.schema import Schema
    from treewright.model import Model
    from treewright.model.neighbors import NeighborsModel

    AnyModel = Model | NeighborsModel

__all__ = ["check_neighbors", "columns_of", "is_neighbors", "of_trees", "written_in_words"]


def is_neighbors(model: AnyModel) -> TypeIs[NeighborsModel]:
    """Whether a model holds rows and looks for the nearest, instead of trees."""
    from treewright.model import Model

    return not isinstance(model, Model)  # the other class would bring kernels that a model of trees does not need


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


def check_neighbors(request: FitRequest) -> None:
    """Refuse options that nearest neighbours have no use for.

    Raises
    ------
    UsageRefusal
    """
    why = f"and --algorithm {NEIGHBORS} grows no tree"
    if request.prune is not None:
        raise UsageRefusal(f"{request.prune.named} cuts a tree back, {why}: choose --set n_neighbors=N instead")
    if request.trace:
        raise UsageRefusal(f"--trace tells how a tree grew, {why}: leave it out")
    if request.svg is not None:
        raise UsageRefusal(f"--svg draws a tree, {why}: leave it out")
    if request.weight is not None:
        raise UsageRefusal(
            f"--weight {printable(request.weight)}: --algorithm {NEIGHBORS} counts every row alike; leave it out, with "
            f"--drop {printable(request.weight)} if the column is not to be looked at"
        )


def written_in_words(path: Path, n_rows: int) -> str:
    """What is said of a model file that holds rows: how large they make it.

    Parameters
    ----------
    path : Path
        A file that was written.
    n_rows : int
        How many rows it holds.
    """
    return f"model, {path.stat().st_size:,} bytes: it holds the {n_rows:,} rows of the fit"
