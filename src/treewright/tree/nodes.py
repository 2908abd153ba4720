"""One node for people. In: a model, a node's position. Out: ``Node``. Caller: ``treewright.model``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.exceptions import ParameterError
from treewright.tree.model import ModelData
from treewright.tree.summary import Output, TreeSummary, summarize
from treewright.tree.surrogates import Surrogate, surrogates_of
from treewright.tree.tests import NodeTest, node_test
from treewright.tree.walk import children, path_to


@dataclass(frozen=True)
class Node:
    """What a node asks, holds and predicts.

    Attributes
    ----------
    position : int
        Its number, as in ``show``.
    depth : int
        Edges from the root.
    parent : int or None
        None for the root.
    children : tuple of int
        Branch 0 first; empty for a leaf.
    test : ThresholdTest, SubsetTest, MultiwayTest, IntervalTest or None
        ``test.question()`` and ``test.edge(branch)`` are texts; None for a leaf.
    samples : int
        Training rows in the node.
    weight : float
        Sum of their weights.
    impurity : float
    value : dict of label to float, float, or a tuple of one of them per output
        Classification: the weight of each class. Regression: the mean, or what the criterion predicts.
    prediction : label, float, or a tuple of one of them per output
        What the node predicts, as a leaf would.
    missing_branch : int or None
        The branch that a missing value takes, the heavier one where surrogates or shares decide first; None for a
        leaf.
    surrogates : tuple of Surrogate
        Best first; empty without surrogate tests.
    adds : bool
        Whether the tree is one of a boosted model: value and prediction are what it adds to a score.
    """

    position: int
    depth: int
    parent: int | None
    children: tuple[int, ...]
    test: NodeTest | None
    samples: int
    weight: float
    impurity: float
    value: Any
    prediction: Any
    missing_branch: int | None
    surrogates: tuple[Surrogate, ...] = ()
    adds: bool = False

    def __str__(self) -> str:
        holds = (
            self.value
            if not isinstance(self.value, dict)
            else ", ".join(f"{label} {weight:g}" for label, weight in self.value.items())
        )
        lines = [
            f"node {self.position}, depth {self.depth}: {self.samples} rows ({holds}), impurity {self.impurity:.6g}"
        ]
        if self.test is None:
            lines.append(f"a leaf that {'adds' if self.adds else 'predicts'} {self.prediction}")
        else:
            lines.append(f"asks {self.test.question()}")
            lines.extend(f"  {self.test.edge(branch)} -> node {child}" for branch, child in enumerate(self.children))
        lines.extend(
            f"  ~ {surrogate.edge(0)} (agreement {surrogate.agreement:.3f}, adjusted {surrogate.adjusted:.3f})"
            for surrogate in self.surrogates
        )
        return "\n".join(lines)

    @property
    def is_leaf(self) -> bool:
        """Whether the node asks nothing."""
        return self.test is None

    @property
    def exact(self) -> bool | None:
        """Whether the partition of the column's values is known to be the best there is; None for a leaf.

        False for trees that were grown on bins or with random cuts. See also the test's own.
        """
        return None if self.test is None else self.test.exact


def node_of(model: ModelData, position: int, *, tree: int = 0) -> Node:
    """Return one node of a model.

    Parameters
    ----------
    model : ModelData
    position : int, 0 to n_nodes - 1
    tree : int
        Which of the model's trees.

    Returns
    -------
    Node

    Raises
    ------
    ParameterError
        The model has no such tree, or the tree no such node.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.tree.arrays import Tree
    >>> from treewright.tree.model import ModelData
    >>> ints = lambda *v: np.array(v, np.int32)
    >>> tree = Tree(np.array([1, 0, 0], np.uint8), ints(0, -1, -1), np.array([2.5, 0, 0]), ints(1, -1, -1),
    ...             ints(2, 0, 0), ints(0, 0, 0), ints(-1, -1, -1), np.array([4, 1, 3]), np.array([4.0, 1, 3]),
    ...             np.array([0.375, 0, 0]), np.array([[1.0, 3], [1, 0], [0, 3]]), np.zeros(0, np.uint64),
    ...             np.zeros(0, np.uint64))
    >>> schema = Schema((Column("age", "numeric"),))
    >>> root = node_of(ModelData("classification", schema, (tree,), (np.array(["no", "yes"]),)), 0)
    >>> root.test.question(), root.children, root.value, root.prediction
    ('age <= 2.5', (1, 2), {'no': 1.0, 'yes': 3.0}, 'yes')
    """
    if isinstance(position, bool) or not isinstance(position, int | np.integer):
        raise ParameterError(f"node is {position!r}; give a whole number")
    summary = summarize(model, tree)
    arrays = summary.tree
    steps = path_to(arrays, int(position))
    is_leaf = bool(arrays.is_leaf[position])
    values = [value_of(summary, int(position), place) for place in range(len(summary.outputs))]
    predictions = [prediction_of(summary, int(position), place) for place in range(len(summary.outputs))]
    return Node(
        position=int(position),
        depth=len(steps),
        parent=steps[-1][0] if steps else None,
        children=tuple(children(arrays, int(position))),
        test=None if is_leaf else node_test(model, arrays, int(position)),
        samples=int(arrays.n_samples[position]),
        weight=float(arrays.weight[position]),
        impurity=float(arrays.impurity[position]),
        value=values[0] if len(values) == 1 else tuple(values),
        prediction=predictions[0] if len(predictions) == 1 else tuple(predictions),
        missing_branch=None if is_leaf else int(arrays.missing_branch[position]),
        surrogates=surrogates_of(model.schema, arrays, int(position)),
        adds=summary.adds,
    )


def value_of(summary: TreeSummary, node: int, place: int) -> dict[Any, float] | float:
    """Return the weight of each class of an output, or its number."""
    output = summary.outputs[place]
    numbers = summary.values(node, output).tolist()
    return dict(zip(labels_of(summary, place, output), numbers, strict=True)) if output.classes else float(numbers[0])


def prediction_of(summary: TreeSummary, node: int, place: int) -> Any:
    """Return the label with the most weight, or the number."""
    output = summary.outputs[place]
    if not output.classes:
        return float(summary.values(node, output)[0])
    return labels_of(summary, place, output)[summary.predicted_class(node, output)]


def labels_of(summary: TreeSummary, place: int, output: Output) -> list[Any]:
    """Return the labels of an output as Python values; dates as text, for nanoseconds would become bare integers."""
    labels = summary.model.classes[place]
    return list(output.classes) if labels.dtype.kind in "mM" else labels.tolist()
