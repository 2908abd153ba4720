"""One plain rule per leaf. In: a model. Out: ``LeafRule`` objects and their text. Caller: ``Model.rules``.

A rule is what the tree does to the rows that reach the leaf, said once: bounds on one column are merged, and the
rules of all leaves together cover every row exactly once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treewright.tree.conditions import bounds_below, conditions
from treewright.tree.model import ModelData
from treewright.tree.summary import TreeSummary, counted, summarize
from treewright.tree.words import written_amount, written_number

MAX_COUNTS = 8


@dataclass(frozen=True)
class LeafRule:
    """The rule of one leaf.

    Attributes
    ----------
    leaf : int
        Position of the leaf in the tree.
    conditions : tuple of str
        One per column asked about, joined by "and"; empty where the tree is a single leaf.
    prediction : str
        Class label or number, one per output, joined by commas.
    samples : int
        Training rows in the leaf.
    weight : float
        Sum of their weights.
    distribution : tuple of tuple of float
        Weighted class counts, one tuple per output, in the order of ``classes``; empty for numbers.
    classes : tuple of tuple of str
        Class labels per output; empty for numbers.
    weighted : bool
        Whether weights differ from numbers of rows anywhere in the tree.
    """

    leaf: int
    conditions: tuple[str, ...]
    prediction: str
    samples: int
    weight: float
    distribution: tuple[tuple[float, ...], ...] = ()
    classes: tuple[tuple[str, ...], ...] = ()
    weighted: bool = False

    @property
    def text(self) -> str:
        """The rule as lines: ``if ...``, ``and ...``, ``then ...``."""
        steps = [f"{'if  ' if i == 0 else 'and '} {text}" for i, text in enumerate(self.conditions)]
        return "\n".join([*steps, f"then {self.prediction}  [{self.evidence}]"])

    @property
    def evidence(self) -> str:
        """What the rule rests on: rows, weight where it differs, and the class counts that are not 0."""
        parts = [f"leaf {self.leaf}", counted(self.samples, "row")]
        if self.weighted:
            parts.append(f"weight {written_amount(self.weight, digits=6)}")
        for counts, labels in zip(self.distribution, self.classes, strict=True):
            pairs = zip(counts, labels, strict=True)
            held = [f"{label} {written_amount(count, digits=6)}" for count, label in pairs if count]
            more = [f"... {len(held) - MAX_COUNTS} more"] if len(held) > MAX_COUNTS else []
            parts.append(", ".join(held[:MAX_COUNTS] + more))
        return "; ".join(parts)


def iter_leaf_rules(model: ModelData, *, tree: int = 0, max_levels: int | None = 12) -> Iterator[LeafRule]:
    """Yield the rules of `leaf_rules` one by one, left to right; a large tree needs no list of them."""
    summary = summarize(model, tree)
    schema = model.schema
    for node, bounds in bounds_below(schema, summary.tree):
        if summary.tree.is_leaf[node]:
            yield rule_of(summary, node, conditions(schema, bounds, max_levels=max_levels))


def rule_of(summary: TreeSummary, leaf: int, texts: tuple[str, ...]) -> LeafRule:
    """Return the rule of a leaf whose conditions are known."""
    predictions, counts = [], []
    for output in summary.outputs:
        if output.classes:
            predictions.append(output.classes[summary.predicted_class(leaf, output)])
            counts.append(tuple(summary.values(leaf, output).tolist()))
        else:
            predictions.append(written_number(summary.tree.value[leaf, output.start], exact=True))
    return LeafRule(
        leaf=leaf,
        conditions=texts,
        prediction=", ".join(predictions),
        samples=int(summary.tree.n_samples[leaf]),
        weight=float(summary.tree.weight[leaf]),
        distribution=tuple(counts),
        classes=tuple(output.classes for output in summary.outputs) if counts else (),
        weighted=summary.weighted,
    )


def leaf_rules(model: ModelData, *, tree: int = 0, max_levels: int | None = 12) -> list[LeafRule]:
    """Return one rule per leaf, left to right.

    Parameters
    ----------
    model : ModelData
    tree : int
        Which of the model's trees.
    max_levels : int, optional
        Name at most this many levels of a nominal column in a condition; None names all of them.

    Returns
    -------
    list of LeafRule
        Thresholds are exact: each reads back as the same float64. "or missing" is said for columns that held missing
        values at fit.

    Raises
    ------
    ParameterError
        The model has no such tree.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.tree.arrays import Tree
    >>> from treewright.tree.model import ModelData
    >>> ints = lambda *v: np.array(v, np.int32)
    >>> tree = Tree(np.array([1, 0, 0], np.uint8), ints(0, -1, -1), np.array([2.5, 0, 0]), ints(1, -1, -1),
    ...             ints(2, 0, 0), ints(0, 0, 0), ints(-1, -1, -1), np.array([4, 1, 3]), np.array([4.0, 1, 3]),
    ...             np.array([1.2, 0, 0]), np.array([[7.0], [4.0], [8.0]]), np.zeros(0, np.uint64),
    ...             np.zeros(0, np.uint64))
    >>> model = ModelData("regression", Schema((Column("age", "numeric"),)), (tree,))
    >>> print(leaf_rules(model)[1].text)
    if   age > 2.5
    then 8  [leaf 2; 3 rows]
    """
    return list(iter_leaf_rules(model, tree=tree, max_levels=max_levels))


def write_rules(model: ModelData, *, tree: int = 0, max_levels: int | None = 12) -> str:
    """Return a headline and the text of every rule, with a blank line between them.

    Raises
    ------
    ParameterError
        The model has no such tree.
    """
    rules = (rule.text for rule in iter_leaf_rules(model, tree=tree, max_levels=max_levels))
    return "\n\n".join([summarize(model, tree).headline(), *rules])
