"""A model as tables that a small evaluator in any language reads. In: a model. Out: a ``Program``.

A program in another language gives the same bits only where it does the same work in the same order: all trees stand
one after another as they are walked here, with exact cuts and sets of levels, and the order of additions is part of the
description. ``export.code`` writes the tables and the evaluator.

    values of the row -> made columns behind them -> per tree: root to leaf -> contents added up in the order of trees
    -> divided by ``total`` (means, votes) or begun at ``base`` (scores) -> link -> shares or numbers -> class
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.data.dates import DATES
from treewright.data.derived import is_derived
from treewright.data.schema import Column
from treewright.exceptions import ParameterError
from treewright.model.data import ModelData
from treewright.predict.branches import Branches, Surrogates, joined
from treewright.predict.ensemble import boosted_parts


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
        What leaves say; of boosted trees k is 1.
    is_boosted : bool
        Whether a tree adds to one sum only.
    weights : float64[n_trees], or None
        What a tree's content is multiplied by before it is added.
    base : tuple of float
        Where sums begin; boosted tree t adds to sum t modulo their number, any other tree to all.
    total : float
        What sums are divided by; 1 of scores and of a single tree.
    link : {"identity", "log", "sorted", "classes"}
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
    is_boosted: bool
    weights: np.ndarray | None
    base: tuple[float, ...]
    total: float
    link: str
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


def program_of(model: ModelData) -> Program:
    """The tables of a model.

    Raises
    ------
    ParameterError
        What the model does cannot be said in tables: rows that are divided over branches, medians over trees, isolation
        forests, columns of dates.
    """
    how = model.aggregation
    if model.facts.get("algorithm") == "isolation_forest":
        raise ParameterError(
            "an isolation forest scores rows by the length of their ways: export takes models that predict"
        )
    if how.sorts:
        raise ParameterError("the model answers with a median over its trees, which export does not write")
    if model.missing == "fractional":
        raise ParameterError(
            "missing='fractional' divides a row with missing cells over branches, which export does not write: fit "
            "with missing='direction', 'branch' or 'surrogate'"
        )
    for column in model.schema.columns:
        if column.family in DATES or (column.part and not is_derived(column)):
            raise ParameterError(
                f"column {column.name!r} holds dates, which export does not read: fit on numbers made of them"
            )
    trees = list(model.trees)
    roots = np.cumsum([0, *(tree.n_nodes for tree in trees)], dtype=np.int64)
    tables, surrogates = joined(trees, roots)
    is_leaf = tables.first_child < 0
    said = np.concatenate([how.content(model, tree.value[tree.is_leaf]) for tree in trees])
    contents, row_of = np.unique(said.astype(np.float64), axis=0, return_inverse=True)
    content_of = np.full(int(roots[-1]), -1, np.int64)
    content_of[is_leaf] = row_of.ravel()
    boosting, threshold = model.boosting, model.threshold
    with np.errstate(over="ignore"):
        if not np.isfinite(np.abs(contents).max(initial=0.0) * len(trees)):
            raise ParameterError("leaves say numbers whose sum is beyond float64: export does not write such a model")
    return Program(
        columns=model.schema.columns,
        n_given=len(model.schema.given),
        tables=tables,
        surrogates=surrogates,
        roots=roots,
        content_of=content_of,
        contents=contents,
        is_boosted=boosting is not None,
        weights=None if boosting is not None else how.weights,
        base=boosted_parts(model)[1] if boosting is not None else (0.0,) * contents.shape[1],
        total=1.0 if boosting is not None or how.is_single else float(how.total(len(trees))),
        link=boosting.link if boosting is not None else "identity",
        n_classes=tuple(model.n_classes) if model.classes else (),
        classes=tuple([label.item() if hasattr(label, "item") else label for label in own] for own in model.classes),
        threshold=None if threshold is None else (int(threshold.positive), float(threshold.at)),
        refuses_missing=model.missing == "error",
        refuses_unseen=model.unseen == "error",
        takes_unseen_for_missing=model.unseen == "missing",
    )
