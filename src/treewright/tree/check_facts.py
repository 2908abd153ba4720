"""What must hold of a model's facts where an answer depends on them. In: ``ModelData``. Out: nothing, or an error.

Caller: tree.check. An isolation forest is an ordinary model; that its prediction is a path length, and what makes a
score of it, stands in the facts alone.
"""

from __future__ import annotations

from treewright.exceptions import ModelFileError
from treewright.tree.model import ModelData
from treewright.tree.packed import PackedTrees

ISOLATION_FOREST = "isolation_forest"


def check_facts(model: ModelData) -> None:
    """Refuse facts that contradict the model.

    Parameters
    ----------
    model : ModelData
        Its trees hold their invariants already.

    Raises
    ------
    ModelFileError
        The algorithm is no text. Of an isolation forest, or one of its trees: the model is none that predicts path
        lengths; ``max_samples`` is not the number of rows in the root of every tree; ``offset`` is no number from -1
        to 0.

    Examples
    --------
    >>> from treewright.data.schema import Column, Schema
    >>> check_facts(ModelData("regression", Schema((Column("x", "numeric"),)), (), facts={"algorithm": 3}))
    Traceback (most recent call last):
        ...
    treewright.exceptions.ModelFileError: facts: algorithm is 3, expected text
    """
    algorithm = model.facts.get("algorithm", "")
    if not isinstance(algorithm, str):
        raise ModelFileError(f"facts: algorithm is {algorithm!r}, expected text"[:200])
    if algorithm == ISOLATION_FOREST:
        _check_isolation_forest(model)


def _check_isolation_forest(model: ModelData) -> None:
    """The form of the model, and the two facts that a score is made from."""
    is_of_form = model.task == "regression" and model.n_outputs == 1 and model.combine in ("mean", "single")
    if not is_of_form or isinstance(model.trees, PackedTrees) or model.leaf_targets is not None:
        raise ModelFileError(
            f"facts: algorithm is {ISOLATION_FOREST!r}, whose trees predict one path length and are averaged; these do "
            "not"
        )
    size, offset = model.facts.get("max_samples"), model.facts.get("offset")
    for position, tree in enumerate(model.trees):
        if type(size) is not int or size != tree.n_samples[0]:
            raise ModelFileError(
                f"facts: max_samples is {_shown(size)}, tree {position} of the isolation forest was grown on "
                f"{tree.n_samples[0]} rows"
            )
        if tree.value.min() < 0:
            raise ModelFileError(f"tree {position} of the isolation forest holds a path length below 0")
    if isinstance(offset, bool) or not isinstance(offset, int | float) or not -1 <= offset <= 0:
        raise ModelFileError(
            f"facts: offset of the isolation forest is {_shown(offset)}, expected a number from -1 to 0"
        )


def _shown(value: object) -> str:
    """A fact, not longer than a line."""
    return "missing" if value is None else repr(value)[:40]
