"""What a node says, ready to be written. In: a model and a tree. Out: ``TreeSummary``. Callers: the readers of trees.

Text, picture and JSON read the same summary, so they cannot disagree about a count or a prediction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from treewright.exceptions import ParameterError
from treewright.tree.arrays import Tree
from treewright.tree.growth import GRADIENT_BOOSTING
from treewright.tree.model import ModelData
from treewright.tree.single import single_tree
from treewright.tree.walk import depth_of_tree
from treewright.tree.words import escape_controls, shorten, written_level, written_name

NAME_WIDTH = 60
# What the stored value of a regression node is, by criterion.
CENTRES = {"absolute_error": "median"}
# The impurity that a node holds where the criterion compares splits, not nodes.
IMPURITIES = {"gain_ratio": "entropy", "chi_squared": "gini", "f_test": "squared_error"}
ADDS = "adds"
# Of the largest number of a tree: more than what gradients lose as whole numbers, less than anybody reads.
_ROUNDED_AWAY = 1e-7
# What the numbers of a boosted tree are.
ADDS_NOTE = (
    "adds: what a leaf adds to the score, of other nodes the mean of theirs; weight: sum of hessians; "
    "variance: of what leaves add"
)
# What a headline adds where missing values do not simply take one branch.
MISSING_NOTES = {
    "branch": "missing values have a branch of their own where training rows had some, else they take the heaviest one",
    "surrogate": "missing values follow the first surrogate test that answers, else the heavier branch",
    "fractional": "missing values take every branch in part, as the weights of the branches are",
    "error": "missing values are refused",
    "floating": "missing values are in the group of levels that they differ least from, or in a branch of their own",
}


@dataclass(frozen=True)
class Output:
    """One target of the model.

    Attributes
    ----------
    name : str
        Its name, ready to be read; empty where the target had none.
    start, stop : int
        Its columns in ``Tree.value``.
    classes : tuple of str
        Class labels, ready to be read; empty where the value is a number.
    """

    name: str
    start: int
    stop: int
    classes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TreeSummary:
    """A tree with everything that a reader of it wants to know.

    Attributes
    ----------
    model : ModelData
        Of a boosted model the tree alone, as ``tree.single`` makes it.
    tree : Tree
    position : int
        Which of the model's trees it is.
    n_trees : int
        How many trees the model has.
    outputs : tuple of Output
    weighted : bool
        Whether some node's weight differs from its number of samples.
    criterion : str
        Name of the impurity that nodes hold; ``"impurity"`` where the model does not say.
    centre : str
        ``"mean"``, ``"median"`` or ``"adds"``: what the value of a regression node is.
    """

    model: ModelData
    tree: Tree
    position: int
    outputs: tuple[Output, ...]
    weighted: bool
    criterion: str
    centre: str
    n_trees: int = 1

    @property
    def counts_classes(self) -> bool:
        """Whether the values are class counts."""
        return bool(self.outputs[0].classes)

    @property
    def adds(self) -> bool:
        """Whether the tree is one of a boosted model: its leaves add to a score."""
        return self.centre == ADDS

    @property
    def algorithm(self) -> str:
        """Name of the algorithm that grew the tree; empty where the model does not say."""
        return escape_controls(str(self.model.facts.get("algorithm", "")))

    @property
    def origin(self) -> str:
        """The algorithm that grew the tree and the prunings that cut it; empty where the model does not say."""
        return ", ".join(filter(None, (self.algorithm and f"grown by {self.algorithm}", self.prunings)))

    @property
    def prunings(self) -> str:
        """The prunings that cut the tree, first to last; empty where there was none."""
        told = ", then by ".join(pruning_text(entry) for entry in cuts_of(self.model))
        return f"pruned by {told}" if told else ""

    @property
    def missing_note(self) -> str:
        """How missing values go; empty where each takes one branch of every node, or where none was ever met."""
        met = any(column.missing_seen for column in self.model.schema.columns) or len(self.tree.surrogate_node) > 0
        if not met and self.model.missing != "error":
            return ""
        way = "floating" if self.algorithm == "chaid" and self.model.missing == "branch" else self.model.missing
        return MISSING_NOTES.get(way, "")

    def is_empty(self, node: int) -> bool:
        """Whether no training row came to the node: then its value is its parent's."""
        return int(self.tree.n_samples[node]) == 0

    def values(self, node: int, output: Output) -> np.ndarray:
        """Return float64[n]: the weighted class counts of an output, or its one number."""
        return np.asarray(self.tree.value[node, output.start : output.stop])

    def amount(self, node: int, output: Output) -> float:
        """Return the one number of an output as readers write it.

        What a node of a boosted tree adds is 0 where gradients cancel out, but for their rounding.
        """
        number = float(self.tree.value[node, output.start])
        return 0.0 if self.adds and abs(number) < self._next_to_nothing else number

    @cached_property
    def _next_to_nothing(self) -> float:
        return _ROUNDED_AWAY * float(np.abs(self.tree.value).max())

    def predicted_class(self, node: int, output: Output) -> int:
        """Return the position of the class with the most weight; the first of several equals."""
        return int(np.argmax(self.values(node, output)))

    def headline(self, *, prunings: bool = True) -> str:
        """Return one line: what kind of tree, of what target, how large; and what cut it, unless told not to."""
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


def cuts_of(model: ModelData) -> list[Mapping[str, Any]]:
    """The prunings of a model that cut something, first to last, as its facts tell them.

    Parameters
    ----------
    model : ModelData
        Of a file, perhaps: what is no entry of a pruning is left out.
    """
    told = model.facts.get("pruning")
    entries = told if isinstance(told, list | tuple) else ()
    return [one for one in entries if isinstance(one, Mapping) and isinstance(one.get("cuts"), int) and one["cuts"] > 0]


def pruning_text(entry: Mapping[str, Any]) -> str:
    """Return one pruning in words: its method, and the options that have a value.

    Examples
    --------
    >>> pruning_text({"method": "leaves", "options": {"max_leaves": 3, "risk": "impurity"}})
    'leaves (max_leaves=3, risk=impurity)'
    """
    options = entry.get("options")
    told = options.items() if isinstance(options, Mapping) else ()
    values = [f"{name}={_option(value)}" for name, value in told if value is not None]
    text = f"{entry.get('method')} ({', '.join(values)})" if values else str(entry.get("method"))
    return shorten(escape_controls(text), 2 * NAME_WIDTH)


def _option(value: Any) -> str:
    """A value of an option as it is read."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "leaf", "leaves"), counted(20000, "row")
    ('1 leaf', '20,000 rows')
    """
    grouped = f"{number:,}" if number >= 10_000 else str(number)
    return f"{grouped} {one if number == 1 else many or one + 's'}"


def summarize(model: ModelData, tree: int = 0) -> TreeSummary:
    """Return the summary of one of a model's trees.

    Parameters
    ----------
    model : ModelData
    tree : int, 0 to len(model.trees) - 1

    Raises
    ------
    ParameterError
        The model has no such tree.
    """
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


def written_labels(labels: np.ndarray) -> tuple[str, ...]:
    """Return class labels as texts."""
    # tolist() turns nanoseconds into bare integers.
    held = [str(label) for label in labels] if labels.dtype.kind in "mM" else labels.tolist()
    return tuple(written_level(label) for label in held)


def outputs_of(model: ModelData, tree: Tree) -> tuple[Output, ...]:
    """Return the outputs and where their values lie."""
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
