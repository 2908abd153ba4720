"""Grown trees as packed ones, and a boosted model with fewer rounds. In: ``GradientTree``, leaf values. Out: models.

``fewer_rounds`` is the pruning of boosted models; it is here, not in ``prune``, because rounds are evaluated by the
model's loss.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.boosting.losses import CLASS_LOSSES, NUMBER_LOSSES, Huber, Loss, build_loss
from treewright.core.elementary import whole_number
from treewright.data.bins import Bins
from treewright.exceptions import ParameterError
from treewright.grow.gradient.grower import GradientTree
from treewright.predict.ensemble import staged_scores
from treewright.prune.methods import Rows
from treewright.trees.data import BoostedTrees, ModelData, predictions_of_scores
from treewright.trees.packed import PackedTrees, pack_many, take
from treewright.trees.summary import counted

_LEAST_COVER = float(np.finfo(np.float64).tiny)  # a weight is above 0


@dataclass(frozen=True, eq=False)
class KeptTree:
    """A grown tree with the values of its leaves, until all are packed.

    ``tree``: its ``order`` must not be read any more.
    ``adds`` (float64[n_leaves]): what each leaf adds to a score.
    """

    tree: GradientTree
    adds: np.ndarray


def packed_trees(bins: Bins, kept: Sequence[KeptTree]) -> PackedTrees:
    """Pack all trees, at least one."""
    trees = [each.tree for each in kept]
    sizes = np.array([tree.n_nodes for tree in trees], np.int64)
    roots = np.concatenate([[0], np.cumsum(sizes)])
    first_child = np.concatenate([tree.first_child for tree in trees]).astype(np.int64)
    offsets = np.repeat(roots[:-1], sizes)
    is_leaf = first_child < 0
    is_set = np.concatenate([tree.is_set for tree in trees])
    has_sets = len(trees[0].sets) == trees[0].n_nodes
    column = np.concatenate([tree.column for tree in trees])
    gain = np.concatenate([tree.gain for tree in trees])
    at_leaves = np.flatnonzero(is_leaf)
    of_tree, p = np.repeat(np.arange(len(trees)), sizes), bins.n_columns  # leaves gain 0
    return pack_many(
        bins,
        "gradient",
        (),
        roots=roots,
        column=column,
        cut=np.concatenate([tree.cut for tree in trees]),
        missing_branch=np.concatenate([tree.missing_branch for tree in trees]),
        first_child=np.where(is_leaf, -1, first_child + offsets),
        set_of=np.where(is_set, np.arange(len(is_set)), -1),
        sets=np.concatenate([tree.sets for tree in trees]) if has_sets else np.empty((0, 4), np.uint64),
        seen=np.concatenate([tree.seen for tree in trees]) if has_sets else np.empty((0, 4), np.uint64),
        leaf_value=_of_nodes(at_leaves, len(is_leaf), np.concatenate([each.adds for each in kept]))[:, None],
        leaf_weight=_of_nodes(
            at_leaves, len(is_leaf), np.maximum(np.concatenate([tree.covers for tree in trees]), _LEAST_COVER)
        ),
        leaf_impurity=None,
        leaf_samples=_of_nodes(
            at_leaves, len(is_leaf), np.concatenate([tree.ends - tree.begins for tree in trees]).astype(np.int64)
        ),
        importances=np.bincount(of_tree * p + np.maximum(column, 0), gain, minlength=len(trees) * p).reshape(-1, p),
    )


def _of_nodes(at: np.ndarray, n: int, of_leaves: np.ndarray) -> np.ndarray:
    """The numbers of the leaves in an array by node; 0 for other nodes."""
    cells = np.zeros(n, of_leaves.dtype)
    cells[at] = of_leaves
    return cells


_OPTIONS = ("quantile", "huber_delta", "tweedie_power", "expectile")


@dataclass(frozen=True, eq=False)
class RoundsLog:
    """The log of the pruning of a boosted model.

    Attributes
    ----------
    before, after : int
        Rounds of the model before pruning, and those that were kept.
    loss : str
        Name of the loss by which the rounds were evaluated; empty if the number of rounds was given.
    losses : float64[before]
        The weighted mean loss of the rows after each round; empty if the number of rounds was given.
    """

    before: int
    after: int
    loss: str
    losses: np.ndarray

    def __len__(self) -> int:
        return self.before - self.after

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame: a row for each round; without losses, no rows."""
        return {"round": list(range(1, len(self.losses) + 1)), "loss": self.losses.tolist()}

    def __str__(self) -> str:
        text = f"rounds: {self.before} -> {self.after}"
        if not len(self.losses):
            return text
        first, best, last = (f"{self.losses[at]:.6g}" for at in (0, self.after - 1, -1))
        return f"{text}; {self.loss} {first} after the first, {best} after round {self.after}, {last} after the last"


def fewer_rounds(model: ModelData, rows: Rows | None, *, n_rounds: Any = None) -> tuple[ModelData, RoundsLog]:
    """Keep the first rounds of a boosted model.

    Facts about dropped rounds are removed: ``history`` ends with the last round that is kept, and ``best_iteration`` is
    the best up to there.

    ``model``: a model of gradient boosting; it is not changed. ``rows``, rows that the trees were not fitted on: the
    rounds up to the lowest loss on them are kept, the fewest of equals. The loss is the model's own, log loss for
    classification, squared error if it is a function or not known. ``n_rounds`` (>= 1, or None): the number of rounds
    to keep, without rows. Raises ``ParameterError``: the model is not boosted; or not exactly one of ``rows`` and
    ``n_rounds`` in range is given. ``DataError``: a target is outside the domain of the loss.
    """
    if not model.has_scores:
        raise ParameterError("prune('rounds') drops the last rounds of gradient boosting, and this model has none")
    trees, n_scores = model.trees, model.aggregation.n_scores
    before = len(trees) // n_scores
    if (rows is None) == (n_rounds is None):
        raise ParameterError(
            "prune('rounds') needs either n_rounds=, or X and y: rows that the trees were not fitted on"
        )
    loss, losses = "", np.empty(0)
    if rows is not None:
        loss, losses = losses_of_rounds(model, rows)
        kept = int(losses.argmin()) + 1
    else:
        kept = whole_number("n_rounds", n_rounds, 1)
        if kept > before:
            raise ParameterError(f"n_rounds={kept}: the model has {counted(before, 'round')}; give 1 to {before}")
    log = RoundsLog(before, kept, loss, losses)
    if kept == before:
        return model, log
    earlier = model.facts.get("pruning")
    entry = {"method": "rounds", "rounds_before": before, "rounds": kept}
    facts = {
        **model.facts,
        **_evaluated(model.facts, kept),
        "pruning": [*(earlier if isinstance(earlier, list) else []), entry],
    }
    first = kept * n_scores
    fewer = take(trees, np.arange(first)) if isinstance(trees, PackedTrees) else BoostedTrees(trees[:first])
    return replace(model, trees=fewer, facts=facts), log


def _evaluated(facts: Mapping[str, Any], kept: int) -> dict[str, Any]:
    """The history of the fit up to the round ``kept``, and the best of these rounds; facts may lack both."""
    found: dict[str, Any] = {}
    history, best = facts.get("history"), facts.get("best_iteration")
    curves: dict[str, list[Any]] = {}
    if isinstance(history, dict):
        curves = {name: values[: kept + 1] for name, values in history.items() if isinstance(values, list)}
        found["history"] = curves
    if isinstance(best, int) and best > kept:
        judged = (curves.get("validation") or curves.get("train") or [])[1:]
        known = [value if isinstance(value, int | float) else math.inf for value in judged]
        found["best_iteration"] = known.index(min(known)) + 1 if known else kept
    if "members" in facts:
        found["members"] = _members_up_to(facts["members"], kept)
    return found


def _members_up_to(lengths: Sequence[int], kept: int) -> list[int]:
    """How many of the first ``kept`` rounds belong to each member: they alternate as long as members have rounds."""
    left, n = [0] * len(lengths), 0
    for turn in range(kept):  # the facts in a file may state fewer rounds than it has
        for member, length in enumerate(lengths):
            if turn < length and n < kept:
                left[member], n = turn + 1, n + 1
        if n == kept:
            break
    return left


def options_of_rounds(options: dict[str, Any]) -> dict[str, Any]:
    """The options; any other than ``n_rounds`` is refused with a ParameterError."""
    unknown = [name for name in options if name != "n_rounds"]
    if unknown:
        raise ParameterError(f"rounds has no option {unknown[0]!r}: its only option is n_rounds")
    return options


def losses_of_rounds(model: ModelData, rows: Rows) -> tuple[str, np.ndarray]:
    """The name of a boosted model's loss, and its weighted mean on rows after each round.

    Returns the name of the loss, and float64[n_rounds]: inf if one is beyond float64.
    """
    known = losses_of_model(model, rows)
    weights = np.ones(len(rows.target)) if rows.weights is None else rows.weights
    shares = weights / weights.max()
    shares = shares / shares.sum()
    found = []
    with np.errstate(over="ignore", invalid="ignore"):
        for scores in staged_scores(model, rows.matrix):
            by_row = _loss_of_rows(known, rows.target, scores) if known else _squares(model, rows.target, scores)
            found.append((by_row * shares).sum())
    # Sums beyond float64 may be nan, which argmin would treat as the least.
    return known[0].name if known else "squared_error", np.nan_to_num(np.array(found), nan=np.inf, posinf=np.inf)


def _loss_of_rows(losses: list[Loss], target: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """float64[n]: the losses of all outputs, added up."""
    total, begin = np.zeros(len(target)), 0
    for output, loss in enumerate(losses):
        total += loss.values(target[:, output], np.ascontiguousarray(scores[:, begin : begin + loss.n_scores].T))
        begin += loss.n_scores
    return total


def _squares(model: ModelData, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """float64[n]: squared errors of the predictions, the mean over the outputs."""
    squares: np.ndarray = np.square(predictions_of_scores(model, scores) - target).mean(axis=1)
    return squares


def losses_of_model(model: ModelData, rows: Rows) -> list[Loss]:
    """The losses of a boosted model by its facts, one per column of the target.

    Empty if the facts have none that fits: the loss was a function.
    """
    if model.classes:
        return [build_loss(CLASS_LOSSES[0], n_classes=count) for count in model.n_classes]
    told, parameters = model.facts.get("loss"), model.facts.get("parameters")
    known: dict[str, Any] = dict(parameters) if isinstance(parameters, dict) else {}
    known |= told if isinstance(told, dict) else {"name": told}
    name = known.get("name")
    if not isinstance(name, str) or name not in NUMBER_LOSSES or model.boosting is None:
        return []
    losses = []
    for output in range(model.n_targets):
        options = {option: known[option] for option in _OPTIONS if known.get(option) is not None}
        delta = options.get("huber_delta")
        if isinstance(delta, list):  # each output has its own
            if len(delta) != model.n_targets:
                return []
            options["huber_delta"] = delta[output]
        loss, target = build_loss(name, **options), rows.target[:, output]
        loss.check(target)
        losses.append(loss.bound(target, rows.weights) if isinstance(loss, Huber) else loss)
    fits = all(loss.link == model.boosting.link for loss in losses)
    return losses if fits and sum(loss.n_scores for loss in losses) == model.boosting.n_scores else []
