"""Our trees in the shape that Weka's figures have, and where two of them differ first.

Callers: the tests of this folder, benchmarks/reference/compare.py.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from reference_sets import DataSet, figures, find
from sklearn.model_selection import StratifiedKFold

import treewright as tw
from treewright.data.encoder import encode
from treewright.prune.error_based import _entropy, limit_of
from treewright.prune.j48 import Pruning
from treewright.trees.arrays import THRESHOLD

# What each run of J48 is called with us; -U is finished by `collapsed`.
J48_OPTIONS = {
    "-C 0.25 -M 2": {},
    "-U": {"confidence": None},
    "-S": {"subtree_raising": False},
    "-C 0.25 -M 5": {"min_samples_leaf": 5},
}
# Weka's Id3 makes a leaf where the best gain is 0; ours goes on while columns are left.
SOME_GAIN = 1e-9


def id3_data(run, folder=None) -> DataSet | None:
    """The data of a run of Weka's Id3, which refuses missing cells."""
    data = find(run["data"], folder)
    if data is None or "note" not in run:
        return data
    return data.without("stalk-root") if run["data"] == "mushroom" else data.missing_as_level()


def fit_like_id3(data: DataSet):
    est = tw.ID3Classifier(min_impurity_decrease=SOME_GAIN, nominal=data.levels)
    return est.fit(data.X, data.y).model_


def fit_like_j48(data: DataSet, options: str):
    """The model of C4.5 with the options of a run of J48."""
    est = tw.C45Classifier(nominal=data.levels, **J48_OPTIONS[options])
    with warnings.catch_warnings():
        # Some sets hold a column that is constant, or a level that one fold lacks.
        warnings.simplefilter("ignore", tw.exceptions.DataWarning)
        model = est.fit(data.X, data.y).model_
        return collapsed(model, data) if options == "-U" else model


def ten_fold_accuracies(data: DataSet, run):
    """Our accuracy over ten stratified folds, J48's over its own, and two standard errors of J48's."""
    correct = 0
    folds = StratifiedKFold(10, shuffle=True, random_state=1)
    with warnings.catch_warnings():
        # Soybean has classes of fewer than ten rows, and columns whose missing cells are all in one fold.
        warnings.simplefilter("ignore", UserWarning)
        for train, held_out in folds.split(data.y, data.y):
            model = fit_like_j48(data.rows(train), run["options"])
            test = data.rows(held_out)
            correct += int((model.predict(test.X) == test.y).sum())
    theirs = run["ten_fold"]["correct"] / run["rows"]
    return correct / run["rows"], theirs, 2.0 * (theirs * (1.0 - theirs) / run["rows"]) ** 0.5


def collapsed(model, data: DataSet):
    """The model without the subtrees that make no fewer training errors than a leaf: J48 folds those up with -U too."""
    matrix = encode(model.schema, data.X, unseen=model.unseen, missing=model.missing)
    codes = np.searchsorted(model.classes[0], data.y).astype(np.int32)
    work = Pruning(model.trees[0], limit_of(0.25))
    work.send(matrix, codes, None)
    work.collapse()
    return type(model).of(replace(model, trees=(work.result(_entropy),)))


def shape_of(model, node=0):
    """A tree as Weka's figures show it, without gains."""
    tree = model.trees[0]
    if tree.is_leaf[node]:
        counts, weight = tree.value[node], float(tree.weight[node])
        leaf = {"leaf": str(model.classes[0][counts.argmax()]), "n": weight, "e": weight - float(counts.max())}
        return leaf if weight else {"empty": True}
    column, first = model.schema.columns[tree.feature[node]], int(tree.first_child[node])
    if tree.kind[node] == THRESHOLD:
        names = ("<=", ">")
        shown = {"attribute": str(column.name), "threshold": float(tree.threshold[node])}
    else:
        names = [str(level) for level in column.levels]
        shown = {"attribute": str(column.name)}
    return shown | {"branches": {name: shape_of(model, first + at) for at, name in enumerate(names)}}


def first_difference(ours, theirs, path="root"):
    """Where two trees differ first, going down branch by branch, in words; None where they are the same.

    Leaves that no training row reached are equal whatever stands in them: they are judged by what they predict.
    """
    if "cut" in theirs:
        return None
    empty = ours.get("empty", False), theirs.get("empty", False) or ("leaf" in theirs and theirs["leaf"] is None)
    if any(empty):
        return None if all(empty) else f"{path}: one of them has no rows here: {ours} | {theirs}"
    if "leaf" in ours or "leaf" in theirs:
        return _difference_of_leaves(ours, theirs, path)
    for key in ("attribute", "threshold"):
        if ours.get(key) != theirs.get(key):
            return f"{path}: {key} {ours.get(key)!r} | {theirs.get(key)!r}"
    if set(ours["branches"]) != set(theirs["branches"]):
        return f"{path}: branches {sorted(set(ours['branches']) ^ set(theirs['branches']))} on one side only"
    below = (
        first_difference(branch, theirs["branches"][name], f"{path} / {ours['attribute']} {name}")
        for name, branch in ours["branches"].items()
    )
    return next(filter(None, below), None)


def _difference_of_leaves(ours, theirs, path):
    if ("leaf" in ours) != ("leaf" in theirs):
        return f"{path}: one is a leaf: {ours.get('attribute', ours)} | {theirs.get('attribute', theirs)}"
    same = ours["leaf"] == theirs["leaf"]
    for key in ("n", "e"):
        same &= key not in theirs or abs(ours[key] - theirs[key]) <= 1e-9 * max(1.0, theirs["n"])
    return None if same else f"{path}: {ours} | {theirs}"


def class_codes(run):
    """Predicted classes of a run: the place of each row's class, -1 where the program had no answer."""
    signs = "0123456789abcdefghijklmnopqrstuvwxyz"
    return np.array([signs.find(sign) for sign in run["predicted"]])


def class_shares(run):
    """Predicted distribution of a run, float64[n, n_classes], as written: 7 digits."""
    distinct = np.zeros((len(run["distribution"]["distinct"]), len(run["classes"])))
    for at, text in enumerate(run["distribution"]["distinct"]):
        for part in text.split():
            code, share = part.split(":")
            distinct[at, int(code)] = float(share)
    return distinct[[int(row) for row in run["distribution"]["row"].split()]]


def whole_runs(file):
    """The runs of a file, each with its tree and predictions though they are those of another run."""
    seen, whole = {}, []
    for run in figures(file):
        full = seen[run["data"], run["same_tree_as"]] | run if "same_tree_as" in run else run
        seen[run["data"], run["options"]] = full
        whole.append(full)
    return whole
