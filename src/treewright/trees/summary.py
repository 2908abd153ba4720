"""Summaries of one tree of a model: the whole tree, one node, or the tree as a model of its own.

Text, picture and JSON use the same summary, so they cannot disagree about a count or a prediction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from treewright.data.cells import shown
from treewright.exceptions import ParameterError
from treewright.trees.arrays import Tree, children, depth_of_tree, path_to
from treewright.trees.data import ModelData
from treewright.trees.edit import Mark, marks_of
from treewright.trees.facts import BY_HAND, GRADIENT_BOOSTING, cuts_of, node_test, proof_of
from treewright.trees.wording import NodeTest, Surrogate, surrogates_of
from treewright.trees.writing import escape_controls, shorten, written_level, written_name

NAME_WIDTH = 60
# The meaning of the value of a regression node, by criterion.
CENTRES = {"absolute_error": "median"}
# The impurity stored in nodes if the criterion compares splits, not nodes.
IMPURITIES = {"gain_ratio": "entropy", "chi_squared": "gini", "f_test": "squared_error"}
ADDS = "adds"
# Relative to the largest number of a tree: more than the rounding of gradients to whole numbers, less than is shown.
_ROUNDED_AWAY = 1e-7
# The legend of a boosted tree.
ADDS_NOTE = (
    "adds: what a leaf adds to the score; for inner nodes the mean over their leaves; weight: sum of hessians; "
    "variance: that of what the leaves add"
)
# Notes for a headline if missing values do not simply take one branch.
MISSING_NOTES = {
    "branch": "missing values have their own branch if training rows had some, else they take the heaviest branch",
    "surrogate": "missing values follow the first surrogate test whose column is known, else the heavier branch",
    "fractional": "missing values take every branch, in proportion to the branch weights",
    "error": "missing values are refused",
    "floating": "missing values are in the group of levels that they differ least from, or have their own branch",
}
AnyModel = TypeVar("AnyModel", bound=ModelData)


def grown_by(facts: Mapping[str, Any]) -> str:
    """The algorithm and library that grew the trees: "grown by cart", "grown by random_forest of scikit-learn"."""
    algorithm, source = escape_controls(str(facts.get("algorithm", ""))), facts.get("imported")
    if BY_HAND in facts:
        return "grown by hand"
    if not algorithm or not isinstance(source, Mapping) or "library" not in source:
        proof = shorten(escape_controls(proof_of(facts)), 2 * NAME_WIDTH)
        return algorithm and f"grown by {algorithm}{', ' * bool(proof)}{proof}"
    return f"grown by {algorithm} of {shorten(escape_controls(str(source['library'])), NAME_WIDTH)}"


@dataclass(frozen=True)
class Output:
    """One target of the model."""

    name: str  # its name, with control characters escaped; empty if the target had none
    # start, stop: its columns in ``Tree.value``
    start: int
    stop: int
    classes: tuple[str, ...]  # class labels, with control characters escaped; empty if the value is a number


@dataclass(frozen=True, eq=False)
class TreeSummary:
    """A tree with the facts that are shown with it."""

    model: ModelData  # for a boosted model the tree alone, as ``single_tree`` makes it
    tree: Tree
    position: int  # the number of the tree in the model
    outputs: tuple[Output, ...]
    weighted: bool  # whether the weight of a node differs from its number of samples
    criterion: str  # name of the impurity in the nodes; ``"impurity"`` if the model does not state it
    centre: str  # ``"mean"``, ``"median"`` or ``"adds"``: the meaning of the value of a regression node
    n_trees: int = 1  # the number of trees in the model

    @property
    def counts_classes(self) -> bool:
        """Whether the values are class counts."""
        return bool(self.outputs[0].classes)

    @property
    def adds(self) -> bool:
        """Whether the tree is one of a boosted model, whose leaves add to a score."""
        return self.centre == ADDS

    @property
    def algorithm(self) -> str:
        """Name of the algorithm that grew the tree; empty if the model does not state it."""
        return escape_controls(str(self.model.facts.get("algorithm", "")))

    @property
    def origin(self) -> str:
        """The algorithm that grew the tree and the pruners applied to it; empty if the model does not state them."""
        return ", ".join(filter(None, (grown_by(self.model.facts), self.prunings)))

    @property
    def prunings(self) -> str:
        """The pruners applied to the tree, first to last; empty if there were none."""
        texts = ", then by ".join(pruning_text(entry) for entry in cuts_of(self.model.facts))
        return f"pruned by {texts}" if texts else ""

    @property
    def missing_note(self) -> str:
        """How missing values are treated; empty if they take one branch of every node, or if there were none."""
        met = any(column.missing_seen for column in self.model.schema.columns) or len(self.tree.surrogate_node) > 0
        if not met and self.model.missing != "error":
            return ""
        way = "floating" if self.algorithm == "chaid" and self.model.missing == "branch" else self.model.missing
        return MISSING_NOTES.get(way, "")

    def is_empty(self, node: int) -> bool:
        """Whether no training row reached the node, which then has the value of its parent."""
        return int(self.tree.n_samples[node]) == 0

    def values(self, node: int, output: Output) -> np.ndarray:
        """Return float64[n]: the weighted class counts of an output, or its one number."""
        return np.asarray(self.tree.value[node, output.start : output.stop])

    def shown_values(self, node: int, output: Output) -> np.ndarray:
        """As ``values``, but for a leaf decided by hand the values of its rows."""
        mark = self.marks.get(node)
        if mark is None or mark.rows_say is None:
            return self.values(node, output)
        return np.array(mark.rows_say[output.start : output.stop])

    @cached_property
    def marks(self) -> dict[int, Mark]:
        """The marks of nodes from the workbench."""
        return marks_of(self.model.facts, self.tree) if len(self.model.trees) == 1 else {}

    def is_decided(self, node: int) -> bool:
        """Whether the prediction of the leaf was decided by hand."""
        mark = self.marks.get(node)
        return mark is not None and mark.rows_say is not None

    def amount(self, node: int, output: Output) -> float:
        """The number of an output as it is shown.

        For a node of a boosted tree whose gradients cancel except for their rounding it is 0.
        """
        number = float(self.tree.value[node, output.start])
        return 0.0 if self.adds and abs(number) < self._next_to_nothing else number

    @cached_property
    def _next_to_nothing(self) -> float:
        return _ROUNDED_AWAY * float(np.abs(self.tree.value).max())

    def predicted_class(self, node: int, output: Output) -> int:
        """Return the position of the class that the node would predict as a leaf."""
        values, threshold = self.values(node, output), self.model.threshold
        if threshold is None:  # the class with the most weight, the first of several equals
            return int(np.argmax(values))
        return int(threshold.codes(values[None, :] / values.sum())[0])

    def headline(self, *, prunings: bool = True) -> str:
        """Return one line: task, target and size of the tree; with ``prunings`` also the pruners applied to it."""
        names = shorten(", ".join(shorten(output.name, NAME_WIDTH) for output in self.outputs), 2 * NAME_WIDTH)
        what = f"{self.model.task} tree" + (f" for {names}" if names else "")
        if self.n_trees > 1:
            what += f" ({self.position + 1} of {self.n_trees} trees)"
        tree = self.tree
        sizes = (
            counted(int(tree.n_samples[0]), "row"),
            counted(tree.n_nodes, "node"),
            counted(tree.n_leaves, "leaf", "leaves"),
            f"depth {depth_of_tree(tree)}",
        )
        cut = f"; {self.prunings}" if prunings and self.prunings else ""
        return f"{what[0].upper()}{what[1:]}: {', '.join(sizes)}{cut}"


def summarize(model: ModelData, tree: int = 0) -> TreeSummary:
    """The summary of one of a model's trees."""
    if not 0 <= tree < len(model.trees):
        raise ParameterError(f"tree is {tree}; the model has {counted(len(model.trees), 'tree')}, counted from 0")
    n_trees = len(model.trees)
    if model.boosting is not None:
        model = single_tree(model, tree)
    arrays = model.trees[0 if len(model.trees) == 1 else tree]
    adds = model.facts.get("criterion") == "gradient" and model.facts.get("algorithm") == GRADIENT_BOOSTING
    criterion = escape_controls(str(model.facts.get("criterion", "impurity")))
    criterion = "variance" if adds else IMPURITIES.get(criterion, criterion)
    return TreeSummary(
        model=model,
        tree=arrays,
        position=tree,
        outputs=outputs_of(model, arrays),
        weighted=not np.array_equal(arrays.weight, arrays.n_samples),
        criterion=criterion,
        centre=ADDS if adds else CENTRES.get(criterion, "mean"),
        n_trees=n_trees,
    )


def outputs_of(model: ModelData, tree: Tree) -> tuple[Output, ...]:
    """Return the outputs with the positions of their values."""
    n_values = tree.value.shape[1]
    counts = model.task == "classification" and n_values == sum(model.n_classes)
    widths = model.n_classes if counts else (1,) * n_values
    outputs = []
    start = 0
    for position, width in enumerate(widths):
        if position < len(model.target_names):
            name = written_name(model.target_names[position])
        else:
            name = f"y{position}" if len(widths) > 1 else ""
        labels = written_labels(model.classes[position]) if counts else ()
        outputs.append(Output(name, start, start + width, labels))
        start += width
    return tuple(outputs)


def written_labels(labels: np.ndarray) -> tuple[str, ...]:
    """Return class labels as texts."""
    # tolist() turns nanoseconds into bare integers.
    held = [str(label) for label in labels] if labels.dtype.kind in "mM" else labels.tolist()
    return tuple(written_level(label) for label in held)


def pruning_text(entry: Mapping[str, Any]) -> str:
    """One pruning in words: its method, and the options that have a value.

    >>> pruning_text({"method": "leaves", "options": {"max_leaves": 3, "risk": "impurity"}})
    'leaves (max_leaves=3, risk=impurity)'
    """
    options = entry.get("options")
    given = options.items() if isinstance(options, Mapping) else ()
    values = [
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in given
        if value is not None
    ]
    text = f"{entry.get('method')} ({', '.join(values)})" if values else str(entry.get("method"))
    return shorten(escape_controls(text), 2 * NAME_WIDTH)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: "1 leaf", "20,000 rows"."""
    grouped = f"{number:,}" if number >= 10_000 else str(number)
    return f"{grouped} {one if number == 1 else many or one + 's'}"


def n_named(n: int, most: int) -> int:
    """How many of ``n`` items to list if there is room for ``most``: the last item instead of "1 more"."""
    return n if n <= most + 1 else most


def single_tree(model: AnyModel, i: int) -> AnyModel:
    """One of the trees as a model of the same type, with the same columns.

    A tree of a boosted model predicts the number that it adds to its score; its target is named after the score.
    """
    alone: dict[str, Any] = {"trees": (model.trees[i],), "combine": "single", "leaf_targets": None}
    alone |= {"tree_weights": None, "threshold": None, "grid": None}
    if model.boosting is not None:
        name = score_names(model)[i % model.boosting.n_scores]
        alone |= {"boosting": None, "task": "regression", "classes": (), "n_outputs": 1}
        alone["target_names"] = (name,) if name else ()
        # By these two, readers of one tree see that it adds to a score.
        alone["facts"] = {**model.facts, "algorithm": GRADIENT_BOOSTING, "criterion": "gradient"}
    return replace(model, **alone)


def score_names(model: ModelData) -> tuple[str, ...]:
    """The name of each score of a boosted model; an empty text if there is one and its target has no name.

    >>> from treewright.data.schema import Schema
    >>> from treewright.trees.data import Boosting
    >>> labels, boosting = (np.array(["no", "yes"]),), Boosting((0.0,), "classes")
    >>> score_names(ModelData("classification", Schema(()), (), labels, combine="sum", boosting=boosting))
    ('log odds of yes',)
    """
    names = []
    before = "log of " if model.boosting is not None and model.boosting.link == "log" else ""
    for output in range(model.n_outputs):
        name = model.target_names[output] if output < len(model.target_names) else ""
        if not name and model.n_outputs > 1:
            name = f"y{output}"
        if not model.classes:
            names.append(f"{before}{name}" if name else "")
            continue
        labels = [str(label) for label in model.classes[output]]
        scores = [f"score of {label}" for label in labels] if len(labels) > 2 else [f"log odds of {labels[-1]}"]
        names += [f"{name}: {score}" if model.n_outputs > 1 else score for score in scores]
    return tuple(names)


@dataclass(frozen=True)
class Node:
    """A node: its test, rows and prediction.

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
        The prediction of the node as a leaf.
    missing_branch : int or None
        The branch that missing values follow, the heavier one if surrogates or fractions decide first; None for a leaf.
    surrogates : tuple of Surrogate
        Best first; empty without surrogate tests.
    adds : bool
        Whether the tree is one of a boosted model, whose value and prediction are what it adds to a score.
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
        rows = counted(self.samples, "row")
        lines = [f"node {self.position}, depth {self.depth}: {rows} ({holds}), impurity {self.impurity:.6g}"]
        if self.test is None:
            lines.append(f"a leaf that {'adds' if self.adds else 'predicts'} {self.prediction}")
        else:
            lines.append(f"tests {self.test.question()}")
            lines.extend(f"  {self.test.edge(branch)} -> node {child}" for branch, child in enumerate(self.children))
        lines.extend(
            f"  ~ {surrogate.edge(0)} (agreement {surrogate.agreement:.3f}, adjusted {surrogate.adjusted:.3f})"
            for surrogate in self.surrogates
        )
        return "\n".join(lines)

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no test."""
        return self.test is None

    @property
    def exact(self) -> bool | None:
        """Whether the split is known to be the best partition of the column's values; None for a leaf.

        False for trees that were grown on bins or with random cuts. See also ``test.exact``.
        """
        return None if self.test is None else self.test.exact


def node_of(model: ModelData, position: int, *, tree: int = 0) -> Node:
    """One node of a model."""
    if isinstance(position, bool) or not isinstance(position, int | np.integer):
        raise ParameterError(f"node is {shown(position)}; give a whole number")
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
    return dict(zip(_labels_of(summary, place, output), numbers, strict=True)) if output.classes else float(numbers[0])


def prediction_of(summary: TreeSummary, node: int, place: int) -> Any:
    """Return the label with the most weight, or the number."""
    output = summary.outputs[place]
    if not output.classes:
        return float(summary.values(node, output)[0])
    return _labels_of(summary, place, output)[summary.predicted_class(node, output)]


def _labels_of(summary: TreeSummary, place: int, output: Output) -> list[Any]:
    """Return the labels of an output as Python values; dates as text, as nanoseconds would become bare integers."""
    labels = summary.model.classes[place]
    return list(output.classes) if labels.dtype.kind in "mM" else labels.tolist()
