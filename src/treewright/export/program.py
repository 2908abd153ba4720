"""A model as tables that a small evaluator in any language reads. In: a model. Out: a ``Program``.

A program in another language gives the same bits only where it does the same work in the same order: all trees stand
one after another as they are walked here, with exact cuts and sets of levels, and the order of additions is part of the
description. ``export.code`` writes the tables and the evaluator.

    values of the row -> made columns behind them -> per tree: root to leaf -> contents added up in the order of trees
    -> divided by ``total`` (means, votes) or begun at ``base`` (scores) -> link -> shares or numbers -> class

Some models do more than that (``EXTRAS``). Who writes a program names those that its format can say; of a model that
does another one there is no program for it.
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
    "divides": "missing='fractional' divides a row with missing cells over branches",
    "sorts": "the model answers with a weighted median over its trees",
    "isolates": "an isolation forest scores rows by the length of their ways",
    "dates": "a column holds dates, which are days as numbers here",
}


@dataclass(frozen=True, eq=False)
class Program:
    """What an evaluator needs.

    Attributes
    ----------
    columns : tuple of Column
        Those of the table, and behind them those that are made of them; tests ask by position.
    n_given : int
        How many are of the table.
    tables, surrogates : Branches, Surrogates
        Of all nodes of all trees.
    roots : int64[n_trees + 1]
    content_of : int64[n_nodes]
        Row of ``contents`` of a leaf; -1 of an inner node.
    contents : float64[m, k]
        What leaves say; of boosted trees k is 1. Where ``votes`` it holds shares, and behind them the vote.
    portions : float64[n_nodes], or None
        Where rows are divided: what part of a missing value a node gets of its parent. A row with missing cells goes
        down each branch with its part where that is above 0, level by level, and the contents of its leaves are added
        up in this order, each times the row's part in it.
    room : int
        How many nodes of a tree wait at most while a row is divided.
    votes : bool
        Whether a tree that divides a row votes by what comes of it: for the first of the largest shares. A row
        without missing cells has the vote of its leaf.
    is_boosted : bool
        Whether a tree adds to one sum only.
    weights : float64[n_trees], or None
        What a tree's content is multiplied by before it is added.
    sorts : bool
        Whether the first content, in ascending order (the first tree of equals), whose ``weights`` and those before
        it reach half of all is the sum, instead.
    base : tuple of float
        Where sums begin; boosted tree t adds to sum t modulo their number, any other tree to all.
    total : float
        What sums are divided by; 1 of scores and of a single tree.
    link : {"identity", "log", "sorted", "classes", "isolation"}
    isolation : (float, float), or None
        Of an isolation forest, whose sums are mean path lengths: the average length that they are divided by, and the
        score that outliers are below. The score is -(2 ** -quotient); the quotient of length 0.0 is 1.
    n_classes : tuple of int
        Per output; empty for numbers.
    classes : tuple of list
        The labels per output.
    threshold : (int, float), or None
        Of two classes: the one that is predicted where its share is at least so large.
    refuses_missing, refuses_unseen : bool
        What the model refuses, the evaluator refuses too.
    takes_unseen_for_missing : bool
        Else a level that fit never saw has the code behind the last.
    """

    columns: tuple[Column, ...]
    n_given: int
    tables: Branches
    surrogates: Surrogates
    roots: np.ndarray
    content_of: np.ndarray
    contents: np.ndarray
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
        """How many shares or numbers a row is answered with."""
        return sum(self.n_classes) if self.n_classes else len(self.base)


def program_of(model: ModelData, says: Collection[str] = ()) -> Program:
    """The tables of a model.

    Parameters
    ----------
    says : collection of str
        Which of ``EXTRAS`` the format can say.

    Raises
    ------
    ParameterError
        The model does one that it cannot, or reads parts of dates.
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
        content = how.content(model, value)
        n_values = content.shape[1]
        said.append(np.hstack([class_shares(model, value), content]) if divides and how.votes else content)
    contents, row_of = np.unique(np.concatenate(said).astype(np.float64), axis=0, return_inverse=True)
    content_of = np.full(int(roots[-1]), -1, np.int64)
    content_of[tables.first_child < 0] = row_of.ravel()
    with np.errstate(over="ignore"):
        if not np.isfinite(np.abs(contents).max(initial=0.0) * len(trees)):
            raise ParameterError("leaves say numbers whose sum is beyond float64: export does not write such a model")
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
        portions=np.concatenate([portions_of(tree) for tree in trees]) if divides else None,
        # Nodes that wait have different leaves below them.
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
    """What the model does beyond adding up leaves has to be among what the format says."""
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
                f"{EXTRAS[extra]}: this format cannot say that; source code can (.c, .mjs, .py, .java)"
            )
    for column in columns:
        if column.part and not is_derived(column):
            raise ParameterError(
                f"column {column.name!r} is a part of dates, which export does not make: fit on numbers made of them"
            )


class StandIn(NamedTuple):
    """A surrogate of a node: its column, and the branch of values up to a cut and above, or of each code.

    Without a cut ``branches`` are of levels, that of an unknown one last; None where the surrogate does not answer.
    """

    column: int
    cut: float | None
    branches: list[int | None]


def branches_of_codes(program: Program, node: int) -> list[int]:
    """Of a test of levels: the branch of each code, that of an unknown level last."""
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
