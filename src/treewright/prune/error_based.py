"""C4.5's error-based pruning: the rows and models it accepts, and its decision.

The errors of a leaf are estimated by the upper confidence limit of a binomial, with the leaf as the sample (Quinlan
1993, chapter 4). From the leaves up, a node becomes a leaf if that costs less than its subtree, or is replaced by its
largest branch; ``j48`` does these steps.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from treewright.core.elementary import log2_of
from treewright.data.cells import shown
from treewright.data.schema import Schema
from treewright.exceptions import DataError, ParameterError, Phrase, pruner
from treewright.grow.criteria.costs import Criterion
from treewright.grow.problem import class_problem
from treewright.predict.route import leaf_of
from treewright.prune.costs import criterion_of, leaf_sums, number_of
from treewright.prune.j48 import Impurity, Limit, Pruning, Step, added_by
from treewright.prune.methods import Decision, Rows
from treewright.trees.arrays import Tree
from treewright.trees.check import check_tree
from treewright.trees.data import ModelData
from treewright.trees.edit import collapse

_SAME_ROWS = 1e-6  # share of all weight by which the counts of a node may differ from what the tree holds


def needs_rows(model: ModelData, *, confidence: float, subtree_raising: bool) -> bool:
    """Whether the training rows are needed: to raise subtrees, and for C4.5's own trees, which divide rows."""
    limit_of(confidence)
    if not isinstance(subtree_raising, bool | np.bool_):
        raise ParameterError(f"subtree_raising={subtree_raising!r}: give True or False")
    _refuse_undefined(model)
    if subtree_raising and not _is_c45(model):
        _impurity_for_raising(model)
    return subtree_raising or _is_c45(model)


def error_based(
    model: ModelData, rows: Rows | None, *, confidence: float = 0.25, subtree_raising: bool = True
) -> Decision:
    """Prune nodes whose upper limit of the errors as a leaf is no larger than that of their subtree.

    Parameters
    ----------
    model : ModelData
        A classifier with one output.
    rows : Rows or None
        The training rows. None uses the counts that the tree holds: enough without ``subtree_raising``, except for
        C4.5's own trees. Rows that are given are always checked.
    confidence : float in (0, 0.5], default 0.25
        Chance that the true error is above the limit; smaller prunes more.
    subtree_raising : bool, default True
        Whether a node's largest branch, with all rows of the node, may take its place. Missing values then follow the
        missing branches of the raised tests.

    Returns
    -------
    Decision
        First the subtrees that have no fewer training errors than a leaf: ``training_as_leaf``,
        ``training_of_subtree``. Then, children before their parents, those decided by the estimates:
        ``estimated_as_leaf``, ``estimated_of_subtree``, ``estimated_of_branch`` (the largest branch with all rows of
        the node). nan if a number was not needed. If a raised subtree is cut later, the node is the one that had its
        test in the original tree.

    Raises
    ------
    DataError
        The rows are not the training rows of the tree.
    ParameterError
        An option is outside its range, or the method is undefined for the model: regression, several outputs; with
        ``subtree_raising`` also surrogates, monotone constraints, a user-defined criterion. Or rows are needed.

    Notes
    -----
    Quinlan, J. R. (1993), *C4.5: Programs for Machine Learning*, chapter 4, in the order of J48 of Weka 3.6, which
    tolerates 0.1 of an estimated error at each comparison.

    Examples
    --------
    >>> import treewright as tw
    >>> X, y = [[row] for row in range(12)], [0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> est = tw.DecisionTreeClassifier().fit(X, y)
    >>> small = est.prune("error_based")
    >>> est.get_n_leaves(), small.get_n_leaves()
    (4, 2)
    """
    is_needed = needs_rows(model, confidence=confidence, subtree_raising=subtree_raising)
    tree, is_c45 = model.trees[0], _is_c45(model)
    work = Pruning(tree, limit_of(confidence))
    if rows is not None:
        _refuse_unseen_levels(model, rows)
    if not is_needed:
        if rows is not None:
            _refuse_other_rows(tree, *_counts_of_rows(model, rows))
        work.keep()
        work.collapse()
        work.prune(raising=False)
        return _decision(collapse(tree, work.cut_nodes()), work.steps)
    if rows is None:
        raise ParameterError(pruner("error_based"), " needs the training rows to raise subtrees, and for C4.5's trees")
    impurity_of: Impurity = _entropy if is_c45 else _impurity_for_raising(model)
    work.send(rows.matrix, rows.target[:, 0], rows.weights, divides=model.missing == "fractional")
    _refuse_other_rows(tree, work.places.counts, work.places.n_samples)
    work.collapse()
    work.prune(raising=bool(subtree_raising))
    pruned = work.result(impurity_of, keeps_own=not is_c45)
    check_tree(pruned, model.schema, pruned.value.shape[1], n_classes=model.n_classes, missing=model.missing)
    return _decision(pruned, work.steps)


def prune_error_based(
    tree: Tree,
    matrix: npt.NDArray[np.floating],
    codes: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float64] | None = None,
    *,
    confidence: float = 0.25,
    raising: bool = True,
    schema: Schema | None = None,
) -> Tree:
    """A classification tree pruned as C4.5 does after growing it; nodes are in level order.

    ``tree`` has class counts of one output and no surrogates. ``matrix`` float64 or float32 [n, p], ``codes`` int32[n]:
    its encoded training rows and their classes; a row with a missing value is divided among all branches, regardless of
    the tree's ``missing_branch``. ``confidence`` in (0, 0.5]: of the upper limit of the errors; smaller prunes more.
    ``raising``: whether the largest branch of a node may take its place. ``schema``: checks the result, if given.
    Counts, weight, ``n_samples`` and impurity (entropy in bits) are computed again from the rows.
    """
    limit = limit_of(confidence)
    if len(tree.surrogate_node):
        raise ParameterError(f"the tree has {len(tree.surrogate_node)} surrogates: error-based pruning divides rows")
    work = Pruning(tree, limit)
    work.send(matrix, codes, weights)
    work.collapse()
    work.prune(raising=raising)
    pruned = work.result(_entropy)
    if schema is not None:
        n_classes = pruned.value.shape[1]
        check_tree(pruned, schema, n_classes, n_classes=(n_classes,), missing="fractional")
    return pruned


def _decision(pruned: Tree, steps: list[Step]) -> Decision:
    """The pruned tree and its steps as a ``Decision``."""
    training = np.array([step.training for step in steps]).reshape(-1, 2)
    estimated = np.array([step.estimated for step in steps]).reshape(-1, 3)
    numbers = {
        "training_as_leaf": training[:, 0],
        "training_of_subtree": training[:, 1],
        "estimated_as_leaf": estimated[:, 0],
        "estimated_of_subtree": estimated[:, 1],
        "estimated_of_branch": estimated[:, 2],
    }
    return Decision(
        pruned, np.array([step.node for step in steps], np.int64), numbers, tuple(step.action for step in steps)
    )


def _is_c45(model: ModelData) -> bool:
    """Whether it is one of C4.5's own trees, whose counts are computed again from the rows."""
    return model.facts.get("algorithm") == "c45"


def _counts_of_rows(model: ModelData, rows: Rows) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Class weights and number of the rows that reach each node, by the paths of ``predict``."""
    tree, codes = model.trees[0], rows.target[:, 0]
    if model.missing == "fractional":
        work = Pruning(tree, limit_of(0.25))
        work.send(rows.matrix, codes, rows.weights)
        return work.places.counts, work.places.n_samples
    leaves = leaf_of(tree, rows.matrix)
    at_leaf = np.zeros((tree.n_nodes, tree.value.shape[1] + 1))
    np.add.at(at_leaf, (leaves, codes), 1.0 if rows.weights is None else rows.weights)
    at_leaf[:, -1] = np.bincount(leaves, minlength=tree.n_nodes)
    sums = np.stack([leaf_sums(tree, column) for column in at_leaf.T], axis=1)
    return sums[:, :-1], sums[:, -1].astype(np.int64)


def _refuse_undefined(model: ModelData) -> None:
    """Refuse models for which the number of errors is undefined."""
    if model.task != "classification":
        raise ParameterError(
            pruner("error_based"),
            " counts misclassified rows, and this tree predicts numbers: use ",
            pruner("cost_complexity"),
            ", or ",
            pruner("reduced_error"),
            " with held-out rows",
        )
    if model.n_outputs > 1:
        raise ParameterError(
            pruner("error_based"),
            f" is for one target, and this tree has {model.n_outputs}: use ",
            pruner("cost_complexity"),
            ", or ",
            pruner("reduced_error"),
            " with held-out rows",
        )


def _impurity_for_raising(model: ModelData) -> Impurity:
    """The impurity function for nodes that get other rows by raising; refuses models that cannot be raised."""
    n_surrogates = len(model.trees[0].surrogate_node)
    parameters = model.facts.get("parameters")
    stated = parameters.get("monotonic_cst") if isinstance(parameters, dict) else None
    criterion = criterion_of(model)
    why = None
    if n_surrogates:
        why = f"the tree has {n_surrogates} surrogates, which were chosen for the rows that their nodes hold"
    elif stated and any(sign[1] if isinstance(sign, list) else sign for sign in stated):
        why = "the tree was fitted with monotonic_cst, and raised subtrees may violate it"
    elif criterion is None:
        why = "the criterion was a function, which a model does not hold: impurities cannot be computed again"
    if why is not None:
        remedy = Phrase("Pass subtree_raising=False", "without raising")
        raise ParameterError(f"{why}. ", remedy, ": nodes then only become leaves", parameter="subtree_raising")
    return lambda counts, _: class_impurities(model, str(criterion), counts)


def _refuse_unseen_levels(model: ModelData, rows: Rows) -> None:
    """Refuse the code of a level that fit never saw."""
    for at, column in enumerate(model.schema.columns):
        if column.kind == "nominal" and len(rows.matrix):
            unseen = np.flatnonzero(rows.matrix[:, at] >= len(column.levels))
            if len(unseen):
                raise DataError(
                    f"column {shown(column.name)} has {len(unseen)} cell(s) with a level that fit never saw: ",
                    pruner("error_based"),
                    " takes the rows that the tree was fitted on",
                    column=column.name,
                )


def _refuse_other_rows(tree: Tree, counts: npt.NDArray[np.float64], n_samples: npt.NDArray[np.int64]) -> None:
    """Refuse rows whose counts in the nodes differ from those that the tree holds."""
    held = np.where(tree.n_samples[:, None] > 0, tree.value, 0.0)
    odd = (np.abs(counts - held).max(axis=1) > _SAME_ROWS * tree.weight[0]) | (n_samples != tree.n_samples)
    if odd.any():
        node = int(odd.argmax())
        raise DataError(
            f"these are not the rows that the tree was fitted on: {n_samples[node]} of them, with class weights "
            f"{counts[node].tolist()}, reach node {node}, which holds {tree.n_samples[node]} with "
            f"{held[node].tolist()}. Pass the rows and weights of the fit, or use ",
            pruner("reduced_error"),
            ", which takes other rows",
        )


def _entropy(counts: npt.NDArray[np.float64], total: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Entropy in bits of each row of counts; 0.0 where there are none."""
    shares = counts / np.where(total > 0, total, 1.0)[:, None]
    bits, held = np.zeros_like(shares), shares > 0  # of many classes most nodes hold few
    bits[held] = shares[held] * log2_of(shares[held])
    return np.abs(bits.sum(axis=1))


def limit_of(confidence: float) -> Limit:
    """The upper limit that belongs to a confidence in (0, 0.5]; smaller prunes more."""
    chance = number_of(confidence)
    if not 0.0 < chance <= 0.5:
        raise ParameterError(f"confidence={confidence!r}: give a number above 0 and at most 0.5")
    return Limit(chance, -NormalDist().inv_cdf(chance))


def added_errors(total: float, errors: float, confidence: float = 0.25) -> float:
    """Errors that the upper confidence limit adds to the errors of a leaf.

    Parameters
    ----------
    total : float > 0
        Weight of the rows in the leaf.
    errors : float, 0 to ``total``
        Weight of those that are not of its class.
    confidence : float in (0, 0.5]

    Returns
    -------
    float
        The limit, as a number of errors, minus ``errors``.

    Examples
    --------
    Six rows without an error (Quinlan 1993, section 4.2):

    >>> round(added_errors(6, 0) / 6, 3)
    0.206
    """
    return float(added_by(limit_of(confidence), float(total), float(errors)))


def class_impurities(model: ModelData, name: str, counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Impurities of class counts: float64[k].

    ``model``: a classifier; ``name``: as ``criterion_of`` gives it; ``counts`` float64[k, n_values]. 0.0 where there
    are no counts.
    """
    # A criterion reads from the problem only the layout of the outputs' statistics: one row is enough for that.
    one_row = np.full((1, len(model.schema)), np.nan)
    codes = np.zeros((1, model.n_outputs), np.int32)
    problem = class_problem(one_row, model.schema, codes, model.n_classes, None, model.missing)
    return Criterion.of(name).impurities(problem, counts)
