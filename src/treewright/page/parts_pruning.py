"""How far a tree can be cut back, as typed values. In: nothing. Out: ``PruningPart``. Callers: page, reporting."""

from __future__ import annotations

from dataclasses import dataclass

from treewright.page.parts_tree import TreePart

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class PrunerPart:
    """What one way to prune makes of the tree.

    Attributes
    ----------
    method : str
        ``"none"`` for the tree as it is, else a method of ``prune``.
    name : str
        In words.
    why_not : str
        Why it is not defined for this tree; empty where it is, and only then the rest is filled in.
    note : str
        What must be known to read its numbers.
    n_leaves, depth : int
    train_error, error, standard_error : float or None
        As in ``PruningPart``.
    leaves : tuple of int
        Nodes of the page's tree that become leaves, the topmost; empty where it has a tree of its own.
    tree : TreePart or None
        Its tree, where it is more than the page's tree with some nodes made leaves.
    confusion : tuple of tuple of float, or None
        Weight of the judged rows by true class and predicted class, where it cannot be added up from nodes.
    python, command : str
        What makes this tree.
    command_note : str
        What must be known to run them.
    """

    method: str
    name: str
    why_not: str = ""
    note: str = ""
    n_leaves: int = 0
    depth: int = 0
    train_error: float | None = None
    error: float | None = None
    standard_error: float | None = None
    leaves: tuple[int, ...] = ()
    tree: TreePart | None = None
    confusion: Matrix | None = None
    python: str = ""
    command: str = ""
    command_note: str = ""


@dataclass(frozen=True)
class PruningPart:
    """The subtrees of the cost-complexity path, from the largest to the root alone, and what other pruners make.

    Attributes
    ----------
    n_steps : int
        Of the whole path.
    steps : tuple of int, ascending
        The steps that the page holds; the following tuples have an entry for each.
    alphas : tuple of float
        The price of a leaf from which on each subtree is the one wanted.
    n_leaves, depth : tuple of int
    train_error : tuple of float
        Mean loss over the rows of the fit; nan where that is not known.
    error, standard_error : tuple of float, or None
        Mean loss over the rows that judge; None where nothing judges.
    loss : {"misclassification", "squared_error", "absolute_error"}
    loss_name : str
        In words.
    judged_by : {"folds", "validation", "nothing"}
    n_folds : int
        0 without folds.
    n_judged : int
        Rows that judge.
    minimum, one_se : int or None
        Positions in ``steps`` of the tree of least error, and of the smallest within one standard error of it.
    collapse_step : dict from str to int
        Per inner node of the page's tree, by its number: the step from which on it is no inner node.
    confusion : tuple, an entry per step, or None
        As in ``PrunerPart``; None where it is the sum of the leaves' ``judged``.
    has_confusion : bool
        Whether there is a confusion matrix for each step, one way or the other.
    python, command : str
        What makes the tree of a step; ``{alpha}`` stands for its price.
    pruners : tuple of PrunerPart
        The first is the tree as it is.
    rows_name : str
        What the judged rows are called: ``"the rows of the fit"`` or ``"the judged rows"``.
    notes : tuple of str
        What must be known to read the numbers.
    """

    n_steps: int
    steps: tuple[int, ...]
    alphas: tuple[float, ...]
    n_leaves: tuple[int, ...]
    depth: tuple[int, ...]
    train_error: tuple[float, ...]
    error: tuple[float, ...] | None
    standard_error: tuple[float, ...] | None
    loss: str
    loss_name: str
    judged_by: str
    n_folds: int
    n_judged: int
    minimum: int | None
    one_se: int | None
    collapse_step: dict[str, int]
    confusion: tuple[Matrix, ...] | None
    has_confusion: bool
    python: str
    command: str
    pruners: tuple[PrunerPart, ...]
    rows_name: str
    notes: tuple[str, ...]
