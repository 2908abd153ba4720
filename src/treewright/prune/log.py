"""What a pruning did. In: a pruner's decision. Out: ``PruneLog``, one entry a cut. Callers: prune.door, users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from treewright.model.data import ModelData
from treewright.model.growth import node_test
from treewright.model.summary import counted
from treewright.prune.decision import Action
from treewright.tree.arrays import Tree

_DONE = {"leaf": "made a leaf", "raise": "replaced by its largest branch", "merge": "equal leaves merged"}
_SHOWN = 20  # cuts that print shows


@dataclass(frozen=True)
class PrunedNode:
    """One cut.

    Attributes
    ----------
    node : int
        Position in the tree as it was before.
    depth : int
    test : str
        What the node asked.
    action : {"leaf", "raise", "merge"}
    n_samples : int
        Training rows in the node.
    n_leaves : int
        Leaves that hung below it in the tree as it was.
    rise : float
        What the cut costs on the training rows, were it the only one: the misclassified share of all weight (for
        numbers, the weighted impurity) that it adds; 0 where that is rounding. nan for a node that was raised.
    numbers : dict from str to float
        The numbers that decided.
    """

    node: int
    depth: int
    test: str
    action: Action
    n_samples: int
    n_leaves: int
    rise: float
    numbers: dict[str, float]

    def __str__(self) -> str:
        lost = f"{counted(self.n_leaves, 'leaf', 'leaves')}, {counted(self.n_samples, 'row')}"
        if self.action != "raise":
            lost += f", training error {self.rise:+.4g}"
        # nan: a number that this cut did not ask for.
        numbers = ", ".join(f"{name} {value:.6g}" for name, value in self.numbers.items() if value == value)
        parts = (_DONE[self.action], lost, numbers)
        return f"node {self.node} ({self.test}): {'; '.join(filter(None, parts))}"


@dataclass(frozen=True, eq=False)
class PruneLog(Sequence[PrunedNode]):
    """Every cut of one pruning, in the order of the decisions; a sequence of ``PrunedNode``.

    Attributes
    ----------
    method : str
    options : dict
        The pruner's options, defaults included, those that were left to it with the values that it took.
    model : ModelData
        The model as it was, without what came before it: a log holds one tree beside the pruned one.
    before, after : Tree
    nodes : int64[k]
        Positions in ``before``. A node below another one of them was cut first, then went with it.
    actions : tuple of str
    n_leaves : int64[k]
        Leaves below each node in ``before``.
    rise : float64[k]
        See ``PrunedNode``.
    numbers : dict from str to float64[k]
    """

    method: str
    options: Mapping[str, Any]
    model: ModelData
    before: Tree
    after: Tree
    nodes: np.ndarray
    actions: tuple[Action, ...]
    n_leaves: np.ndarray
    rise: np.ndarray
    numbers: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.nodes)

    @overload
    def __getitem__(self, at: int) -> PrunedNode: ...
    @overload
    def __getitem__(self, at: slice) -> list[PrunedNode]: ...
    def __getitem__(self, at: int | slice) -> PrunedNode | list[PrunedNode]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        node = int(self.nodes[at])
        return PrunedNode(
            node=node,
            depth=int(self.before.depth[node]),
            test=node_test(self.model, self.before, node).question(),
            action=self.actions[at],
            n_samples=int(self.before.n_samples[node]),
            n_leaves=int(self.n_leaves[at]),
            rise=float(self.rise[at]),
            numbers={name: float(column[at]) for name, column in self.numbers.items()},
        )

    def __iter__(self) -> Iterator[PrunedNode]:
        return (self[at] for at in range(len(self)))

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame: one row a cut, the numbers that decided last."""
        cuts = list(self)
        names = ("node", "depth", "test", "action", "n_samples", "n_leaves", "rise")
        columns: dict[str, list[Any]] = {name: [getattr(cut, name) for cut in cuts] for name in names}
        return columns | {name: column.tolist() for name, column in self.numbers.items()}

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        lines = [
            f"{self.method}({options}): leaves {self.before.n_leaves} -> {self.after.n_leaves}, "
            f"depth {self.before.max_depth} -> {self.after.max_depth}, {counted(len(self), 'cut')}"
        ]
        lines += [f"  {cut}" for cut in self[:_SHOWN]]
        if len(self) > _SHOWN:
            lines.append(f"  ... and {len(self) - _SHOWN} more; to_dict() has them all")
        return "\n".join(lines)
