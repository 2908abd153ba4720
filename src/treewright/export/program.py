"""A model as tables that a small evaluator in any language reads. In: a model. Out: a ``Program``.

A program in another language is bit-identical only if it does the same operations in the same order: all trees follow
one another as they are walked here, with exact cuts and sets of levels, and the order of additions is part of the
description. ``export.code`` writes the tables and the evaluator.

    values of the row -> derived columns appended -> per tree: root to leaf -> contents added up in the order of trees
    -> divided by ``total`` (means, votes) or started at ``base`` (scores) -> parts of each number added up
    -> link -> probabilities or numbers -> class

Some models do more than that (``EXTRAS``). A writer names the extras that its format supports; a model with another one
is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treewright.data.dates import DATES
from treewright.data.derived import is_derived
from treewright.data.schema import Column
from treewright.exceptions import ParameterError
from treewright.model.aggregation import class_shares
from treewright.model.check import ISOLATION_FOREST
from treewright.model.data import ModelData
from treewright.model.isolation import average_path_length
from treewright.predict.branches import Branches, Surrogates, joined
from treewright.predict.ensemble import boosted_parts
from treewright.predict.fractional import portions_of
from treewright.tree.arrays import SUBSET

EXTRAS = {
    "divides": "missing='fractional' divides a row with missing cells among branches",
    "sorts": "the model predicts the weighted median of its trees",
    "isolates": "an isolation forest scores rows by the length of their paths",
    "dates": "a column holds dates, which are converted to numbers of days",
}


@dataclass(frozen=True, eq=False)
class Program:
    """The tables and settings that an evaluator needs.

    Attributes
    ----------
    columns : tuple of Column
        Those of the table, followed by the derived ones; tests refer to positions.
    n_given : int
        Number of columns of the table.
    tables, surrogates : Branches, Surrogates
        Of all nodes of all trees.
    roots : int64[n_trees + 1]
    content_of : int64[n_nodes]
        Row of ``contents`` of a leaf; -1 of an inner node.
    contents : float64[m, k]
        Values of leaves; with boosted trees k is 1. With ``votes`` it holds class proportions, followed by the vote.
        With ``n_parts`` above 1 the first part of each value, then the second of each, ...
    n_parts : int
        A mean may have several sums for each of its values: a value is the sum, from the first part on, of the means of
        its parts (``model.aggregation.parts_of``).
    portions : float64[n_nodes], or None
        If rows are divided: the part of a missing value that a node gets from its parent. A row with missing cells goes
        down each branch whose part is above 0, level by level, and the contents of its leaves are added up in this
        order, each times the row's part in it.
    room : int
        The largest number of nodes of a tree that wait while a row is divided.
    votes : bool
        Whether a tree that divides a row votes by the sum of its parts: for the first of the largest proportions. A row
        without missing cells has the vote of its leaf.
    is_boosted : bool
        Whether a tree adds to one sum only.
    weights : float64[n_trees], or None
        Factors of the trees' contents before they are added.
    sorts : bool
        Whether the sum is a weighted median: the first content, in ascending order (the first tree of equals), at which
        the running sum of ``weights`` reaches half of their total.
    base : tuple of float
        Start values of all sums; boosted tree t adds to sum t modulo their number, any other tree to all.
    total : float
        Divisor of the sums; 1 for scores and for a single tree.
    link : {"identity", "log", "sorted", "classes", "isolation"}
    isolation : (float, float), or None
        Of an isolation forest, whose sums are mean path lengths: the average length that they are divided by, and the
        score that outliers are below. The score is -(2 ** -quotient); the quotient of length 0.0 is 1.
    n_classes : tuple of int
        Per output; empty for regression.
    classes : tuple of list
        The labels per output.
    threshold : (int, float), or None
        With two classes: the one that is predicted if its probability is at least this, and the decision threshold.
    refuses_missing, refuses_unseen : bool
        Whether the model, and so the evaluator, refuses missing cells or unknown levels.
    takes_unseen_for_missing : bool
        Whether an unknown level is a missing cell; if not, its code is the one after the last level.
    """

    columns: tuple[Column, ...]
    n_given: int
    tables: Branches
    surrogates: Surrogates
    roots: np.ndarray
    content_of: np.ndarray
    contents: np.ndarray
    n_parts: int
    portions: np.ndarray | None
    room: int
    votes: bool
    is_boosted: bool
    weights: np.ndarray | None
    sorts: bool
    base: tuple[float, ...]
    total: float
    link: str
    isolation: tuple[float, float] | None
    n_classes: tuple[int, ...]
    classes: tuple[list[object], ...]
    threshold: tuple[int, float] | None
    refuses_missing: bool
    refuses_unseen: bool
    takes_unseen_for_missing: bool

    @property
    def n_values(self) -> int:
        """Number of probabilities or numbers that are predicted for a row."""
        return sum(self.n_classes) if self.n_classes else self.n_sums

    @property
    def n_sums(self) -> int:
        """Number of sums over the trees after the parts of each are put together."""
        return len(self.base) // self.n_parts


def program_of(model: ModelData, says: Collection[str] = ()) -> Program:
    """The tables of a model.

    Parameters
    ----------
    says : collection of str
        The ``EXTRAS`` that the format supports.

    Raises
    ------
    ParameterError
        The model needs another extra, or parts of dates.
    """
    _refuse(model, says)
    how, boosting, threshold = model.aggregation, model.boosting, model.threshold
    trees = list(model.trees)
    roots = np.cumsum([0, *(tree.n_nodes for tree in trees)], dtype=np.int64)
    tables, surrogates = joined(trees, roots)
    divides, weights = model.missing == "fractional", None if boosting is not None else how.weights
    if how.sorts:
        weights = how.weights_of(len(trees))
        weights = weights if weights.any() else np.ones(len(trees))
    n_values, said = 0, []
    for tree in trees:
        value = tree.value[tree.is_leaf]
        content = how.addends(model, value)
        n_values = content.shape[1]
        said.append(np.hstack([class_shares(model, value), content]) if divides and how.votes else content)
    contents, row_of = np.unique(np.concatenate(said).astype(np.float64), axis=0, return_inverse=True)
    content_of = np.full(int(roots[-1]), -1, np.int64)
    content_of[tables.first_child < 0] = row_of.ravel()
    with np.errstate(over="ignore"):
        if not np.isfinite(np.abs(contents).max(initial=0.0) * len(trees)):
            raise ParameterError("the sum of the leaf values is beyond float64: such a model cannot be exported")
    isolation = None
    if model.facts.get("algorithm") == ISOLATION_FOREST:
        whole = average_path_length(np.array([model.facts["max_samples"]]))
        isolation = (float(whole[0]), float(model.facts["offset"]))
    return Program(
        columns=model.schema.columns,
        n_given=len(model.schema.given),
        tables=tables,
        surrogates=surrogates,
        roots=roots,
        content_of=content_of,
        contents=contents,
        n_parts=model.n_parts,
        portions=np.concatenate([portions_of(tree) for tree in trees]) if divides else None,
        # Waiting nodes have different leaves below them.
        room=max(tree.n_leaves for tree in trees) if divides else 1,
        votes=divides and how.votes,
        is_boosted=boosting is not None,
        weights=weights,
        sorts=how.sorts,
        base=boosted_parts(model)[1] if boosting is not None else (0.0,) * n_values,
        total=1.0 if boosting is not None or how.is_single or how.sorts else float(how.total(len(trees))),
        link="isolation" if isolation else boosting.link if boosting is not None else "identity",
        isolation=isolation,
        n_classes=tuple(model.n_classes) if model.classes else (),
        classes=tuple([label.item() if hasattr(label, "item") else label for label in own] for own in model.classes),
        threshold=None if threshold is None else (int(threshold.positive), float(threshold.at)),
        refuses_missing=model.missing == "error",
        refuses_unseen=model.unseen == "error",
        takes_unseen_for_missing=model.unseen == "missing",
    )


def _refuse(model: ModelData, says: Collection[str]) -> None:
    """Refuse a model with an extra that the format does not support, or with parts of dates."""
    columns = model.schema.columns
    does = {
        "divides": model.missing == "fractional",
        "sorts": model.aggregation.sorts,
        "isolates": model.facts.get("algorithm") == ISOLATION_FOREST,
        "dates": any(column.family in DATES for column in columns if not column.part),
    }
    for extra, is_so in does.items():
        if is_so and extra not in says:
            raise ParameterError(
                f"{EXTRAS[extra]}: this format does not support that; source code does (.c, .mjs, .py, .java)"
            )
    for column in columns:
        if column.part and not is_derived(column):
            raise ParameterError(
                f"column {column.name!r} is a part of dates, which exports do not support: fit on numbers made of them"
            )


class StandIn(NamedTuple):
    """A surrogate of a node: its column, and the branches of values up to a cut and above it, or of each code.

    Without a cut ``branches`` are per level, that of an unknown one last; None if the surrogate does not decide.
    """

    column: int
    cut: float | None
    branches: list[int | None]


def branches_of_codes(program: Program, node: int) -> list[int]:
    """The branch of each code in a test of levels, that of an unknown level last."""
    tables = program.tables
    begin, count = int(tables.level_set[node]), len(program.columns[int(tables.feature[node])].levels) + 1
    if tables.kind[node] == SUBSET:
        return [1 - bit for bit in _bits(tables.words, begin, count)]
    entries = tables.level_branch[begin : begin + count]
    return np.where(entries < 0, ~entries, entries).tolist()


def stand_ins_of(program: Program, node: int) -> Iterator[StandIn]:
    """The surrogates of a node, best first."""
    held = program.surrogates
    if not len(held.feature):
        return
    for at in range(int(held.begins[node]), int(held.begins[node + 1])):
        column, begin, flipped = int(held.feature[at]), int(held.level_set[at]), int(held.flipped[at])
        if begin < 0:
            yield StandIn(column, float(held.threshold[at]), [flipped, 1 - flipped])
        else:
            count = len(program.columns[column].levels) + 1
            seen, left = _bits(held.seen, begin, count), _bits(program.tables.words, begin, count)
            answers = [(1 - bit) ^ flipped if is_seen else None for is_seen, bit in zip(seen, left, strict=True)]
            yield StandIn(column, None, answers)


def _bits(words: np.ndarray, begin: int, count: int) -> list[int]:
    """The first bits of a set of codes."""
    held = np.ascontiguousarray(words[begin : begin + (count + 63) // 64]).astype("<u8").view(np.uint8)
    return np.unpackbits(held, bitorder="little")[:count].astype(np.int64).tolist()
