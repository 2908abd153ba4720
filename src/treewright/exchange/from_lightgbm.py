"""Models of LightGBM. In: the text that ``Booster.save_model`` writes, or a fitted object. Out: a ``ModelData``.

    tree, version=v4, num_tree_per_iteration=..., objective=..., feature_names=...     the head
    Tree=0, split_feature=..., threshold=..., left_child=..., leaf_value=...           one tree after another
    end of trees, parameters: [name: value], pandas_categorical: [[...], ...]          the rest

An object is read through the same text. Cells are compared in float64 with float64 cuts and leaves are added in the
order of the trees, so raw scores are bit-identical. Three things differ from our tests:

- A cell of at most 1e-35 in absolute value counts as 0, so no cut lies between such cells.
- The test decides what a missing cell does. None: it counts as 0. NaN: it takes the test's missing branch. Zero: it
  takes the missing branch, and so does a 0. If 0 would take another branch by the cut, three of our tests replace the
  one: below, at, and above 0. Its branches then occur more than once, without the tests that are decided above them.
- Categories are whole numbers; those that are not among the ones that go left, and missing cells, go right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from treewright.data.cells import LARGEST_WHOLE
from treewright.data.schema import Column, Schema
from treewright.data.target import encode_labels
from treewright.exceptions import InputFileError, ParameterError
from treewright.exchange.foreign import ForeignTree, imported, json_of, named_once
from treewright.trees.check_model import LARGEST_SCORE
from treewright.trees.data import Boosting, Link, ModelData

ZERO = float(np.float32(1e-35))  # kZeroThreshold of LightGBM
_BELOW_ZERO = float(np.nextafter(-ZERO, -np.inf))
_VERSIONS = ("v3", "v4")
_CATEGORICAL, _DEFAULT_LEFT = 1, 2  # bits of decision_type; two more bits hold the kind of missing values
_NOTHING, _ZEROS, _NAN = 0, 1, 2
_LARGEST_GAIN = float(np.finfo(np.float32).max)
_MOST_NODES = 1 << 21  # including branches that are repeated because of zeros
_MOST_WORDS = 1 << 25  # of all sets of levels

_LOSSES: dict[str, tuple[Link, str]] = {
    "regression": ("identity", "squared_error"),
    "regression_l1": ("identity", "absolute_error"),
    "huber": ("identity", "huber"),
    "fair": ("identity", ""),
    "quantile": ("identity", "quantile"),
    "mape": ("identity", ""),
    "poisson": ("log", "poisson"),
    "gamma": ("log", "gamma"),
    "tweedie": ("log", "tweedie"),
    "lambdarank": ("identity", ""),
    "rank_xendcg": ("identity", ""),
    "binary": ("classes", "log_loss"),
    "cross_entropy": ("classes", "log_loss"),
    "multiclass": ("classes", "log_loss"),
    "": ("identity", ""),  # a user-defined objective: the sums of the trees are the prediction
}
_CUTS_APART = {"below": _BELOW_ZERO, "zero": ZERO}
_OPTIONS = {
    "quantile": ("quantile", "alpha"),
    "huber": ("huber_delta", "alpha"),
    "tweedie": ("tweedie_power", "tweedie_variance_power"),
}
_REFUSED = {
    "multiclassova": "is not read, as the probabilities of its classes do not add up to 1: train with multiclass",
    "cross_entropy_lambda": "predicts log(1 + exp(score)), a link that is not read: train with cross_entropy",
}


class _Text(NamedTuple):
    """The parts of a model file as text."""

    head: dict[str, str]
    trees: list[dict[str, str]]
    parameters: dict[str, str]
    pandas: list[list[Any]]


class _Test(NamedTuple):
    """Properties of a tree's nodes that ``ForeignTree`` does not have."""

    missing: np.ndarray  # _NOTHING, _ZEROS or _NAN
    is_apart: np.ndarray  # of _ZEROS: a 0 does not go where the cut would send it


def begins(head: bytes, ending: str) -> bool:
    """Whether a file with these first bytes is a model of LightGBM."""
    del ending
    return head.startswith((b"tree\nversion=", b"tree\r\nversion="))


def of_file(data: bytes) -> ModelData:
    """The model of a text file."""
    return _model(_parts_of(data), None, {"class": "Booster"})


def of_object(source: Any) -> ModelData:
    """The model of a ``Booster`` or of a fitted ``LGBMModel``, with the trees that its ``predict`` uses."""
    booster, labels = source, None
    if hasattr(source, "__sklearn_is_fitted__"):  # a wrapper
        if not source.__sklearn_is_fitted__():
            raise ParameterError(f"{type(source).__name__} is not fitted")
        booster, labels = source.booster_, getattr(source, "classes_", None)
    if not hasattr(booster, "model_to_string"):
        raise ParameterError(f"{type(source).__name__}: give a Booster, an LGBMClassifier, LGBMRegressor or LGBMRanker")
    from lightgbm import __version__  # installed, as the object is from it

    text = booster.model_to_string().encode("utf-8")
    return _model(_parts_of(text), labels, {"version": __version__, "class": type(source).__name__})


def _parts_of(data: bytes) -> _Text:
    """The parts of a model file."""
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputFileError(f"not UTF-8 text: {error}") from None
    body, end, rest = text.partition("\nend of trees\n")
    if not end:
        raise InputFileError("the file ends before 'end of trees': the model is incomplete")
    head, *trees = body.split("\nTree=")
    if not trees:
        raise InputFileError("the model has no trees")
    pandas = rest.rpartition("\npandas_categorical:")
    parameters = (line[1:-1].partition(": ") for line in pandas[0].splitlines() if line.startswith("["))
    categories = json_of(pandas[2].encode()) or [] if pandas[1] else []
    if not isinstance(categories, list) or not all(isinstance(each, list) for each in categories):
        raise InputFileError("pandas_categorical is not a list of lists of categories")
    return _Text(
        _fields(head),
        [_fields(f"Tree={tree}") for tree in trees],
        named_once([(name, value) for name, _, value in parameters]),
        categories,
    )


def _fields(text: str) -> dict[str, str]:
    """The lines ``name=value`` as a dict."""
    lines = (line.partition("=") for line in text.split("\n") if line)
    return named_once([(name, value) for name, _, value in lines])


def _model(text: _Text, labels: np.ndarray | None, source: dict[str, Any]) -> ModelData:
    """The model of the text of a file."""
    head = text.head
    version, n_scores, n_trees = head["version"], int(head["num_tree_per_iteration"]), len(text.trees)
    if version not in _VERSIONS:
        raise InputFileError(f"version {version!r}: {', '.join(_VERSIONS)} are read; let LightGBM 4 load and save it")
    if len(head["tree_sizes"].split()) != n_trees or not 1 <= n_scores <= n_trees or n_trees % n_scores:
        raise InputFileError(f"the number of trees, {n_trees}, contradicts the head of the file")
    name, *options = head.get("objective", "").split(" ")
    if name not in _LOSSES:
        raise InputFileError(f"objective {name} {_REFUSED.get(name, 'is not known')}")
    if "sqrt" in options:
        raise InputFileError("reg_sqrt predicts the square of the score, a link that is not read: train without it")
    link, loss = _LOSSES[name]
    stated = named_once([(option.split(":")[0], option.split(":")[1]) for option in options])
    _refuse_contradictions(head, name, stated, text.parameters)
    classes: tuple[np.ndarray, ...] = ()
    if link == "classes":
        classes = _classes(labels, int(stated["num_class"]) if name == "multiclass" else 2)
        expected = len(classes[0]) if name == "multiclass" else 1
        if n_scores != expected:
            raise InputFileError(f"{n_scores} trees per round for {len(classes[0])} classes of {name}")
    # Two scores of two classes become one here: the second minus the first.
    is_difference = name == "multiclass" and n_scores == 2
    is_mean = "average_output" in head
    averaged = is_mean and link == "identity" and n_scores == 1
    slope = float(stated.get("sigmoid", 1.0))
    if not 0.0 < slope < 1e100:
        raise InputFileError(f"sigmoid={slope} is not a positive number")
    scale = slope / (n_trees // n_scores if is_mean and not averaged else 1)
    schema, known = _schema(text)
    trees = list(_trees(text, [-scale, scale] if is_difference else [scale], schema, known))
    facts: dict[str, Any] = {"loss": _loss(loss, text.parameters)} if loss else {}
    common: dict[str, Any] = {"source": {"library": "lightgbm", "format": version, **source}, **facts}
    if averaged:
        return imported(
            trees, schema, task="regression", combine="mean", algorithm="random_forest", criterion="squared_error",
            **common,
        )  # fmt: skip
    return imported(
        trees, schema, task="classification" if classes else "regression", combine="sum",
        algorithm="gradient_boosting", criterion="gradient", classes=classes, n_outputs=1 if classes else n_scores,
        boosting=Boosting((0.0,) * (1 if is_difference else n_scores), link), **common,
    )  # fmt: skip


def _refuse_contradictions(head: dict[str, str], name: str, stated: dict[str, str], parameters: dict[str, str]) -> None:
    """Refuse what the head, the options of its objective, and the parameters of the training state differently.

    A parameter that the objective does not use may have any value, and a user-defined objective has a name of its own.
    """
    loss = parameters.get("objective", name)
    facts = {
        "num_class": (stated.get("num_class", "1" if name else head["num_class"]), head["num_class"]),
        "num_class of the parameters": (head["num_class"], parameters.get("num_class")),
        "objective": (name, loss if name and loss in {*_LOSSES, *_REFUSED} else None),
        "sigmoid": (stated.get("sigmoid"), parameters.get("sigmoid")),
        "reg_sqrt": ("0", parameters.get("reg_sqrt") if name == "regression" else None),
        "boosting=rf": ("average_output" in head, parameters["boosting"] == "rf" if "boosting" in parameters else None),
    }
    for what, (one, other) in facts.items():
        if None not in (one, other) and one != other:
            raise InputFileError(f"the file contradicts itself: {what} is {one} in one place, {other} in another")


def _classes(labels: np.ndarray | None, n_classes: int) -> tuple[np.ndarray, ...]:
    """The class labels of an object; of a file, LightGBM's numbers of the classes."""
    if labels is None:
        if not 2 <= n_classes <= _MOST_NODES:
            raise InputFileError(f"the model has {n_classes} classes, expected 2 to {_MOST_NODES:,}")
        return (np.arange(n_classes),)
    found = encode_labels(labels)
    if len(labels) != n_classes or found.codes.ravel().tolist() != list(range(n_classes)):
        raise InputFileError(f"the object has {len(labels)} classes, but its trees predict {n_classes}")
    return found.classes


def _loss(name: str, parameters: dict[str, str]) -> dict[str, Any]:
    """The loss with the names of our own fits."""
    if name not in _OPTIONS:
        return {"name": name}
    ours, theirs = _OPTIONS[name]
    return {"name": name, ours: float(parameters[theirs])} if theirs in parameters else {"name": name}


def _schema(text: _Text) -> tuple[Schema, dict[int, np.ndarray]]:
    """The columns, and for each one of categories LightGBM's numbers of its levels, ascending."""
    names, infos = text.head["feature_names"].split(" "), text.head["feature_infos"].split(" ")
    if not len(names) == len(infos) == int(text.head["max_feature_idx"]) + 1:
        raise InputFileError(f"{len(names)} column names and {len(infos)} column descriptions do not match")
    is_named = names != [f"Column_{at}" for at in range(len(names))]
    seen = {at: set(map(int, info.split(":"))) for at, info in enumerate(infos) if info != "none" and info[:1] != "["}
    never_missing: set[int] = set()
    for tree in text.trees:
        tested, kinds = _ints(tree, "split_feature"), _ints(tree, "decision_type")
        never_missing.update(tested[kinds >> 2 & 3 == _NOTHING].tolist())
        for node, codes in _sets(tree).items():
            seen.setdefault(int(tested[node]), set()).update(codes.tolist())
    levels = _levels(text, seen)
    columns = []
    for at, name in enumerate(names):
        own, shown = levels.get(at, ()), name if is_named else f"x{at}"
        missing_seen = at not in never_missing or bool(own)
        columns.append(Column(shown, "nominal" if own else "numeric", own, missing_seen, _family(own, shown)))
    known = {at: np.arange(len(own)) if text.pandas else np.array(own, np.int64) for at, own in levels.items()}
    return Schema(tuple(columns), is_named), known


def _levels(text: _Text, seen: dict[int, set[int]]) -> dict[int, tuple[Any, ...]]:
    """The levels by column: whole numbers, or the categories of pandas, which are in the order of the columns."""
    if not text.pandas:
        return {at: tuple(sorted(number for number in numbers if number >= 0)) for at, numbers in seen.items()}
    told = text.parameters.get("categorical_feature", "").split(",")
    positions = sorted(set(seen) | {int(word) for word in told if word.isdecimal()})
    if len(positions) != len(text.pandas):
        raise InputFileError(
            f"{len(text.pandas)} columns held pandas categories, but {len(positions)} are tested for categories, and "
            "the file does not assign them. Train with all of them as unordered categories, without "
            "categorical_feature"
        )
    levels = {at: tuple(own) for at, own in zip(positions, text.pandas, strict=True)}
    for at, numbers in seen.items():
        if max(numbers, default=-1) >= len(levels[at]):
            raise InputFileError(
                f"column {at} has category number {max(numbers)}, but only {len(levels[at])} pandas categories"
            )
    return levels


def _family(levels: Sequence[Any], name: str) -> str:
    """The family of a column's cells."""
    families = {bool: "boolean", int: "number", float: "number", str: "string"}
    found = {families.get(type(level), "") for level in levels}
    wide = [level for level in levels if isinstance(level, int | float) and not abs(level) <= LARGEST_WHOLE]
    if "" in found or wide:
        raise InputFileError(f"column {name!r} has a category that is not a string, a number up to 2**53 or a bool")
    return "object" if len(found) > 1 else min(found, default="number")


def _ints(tree: dict[str, str], name: str) -> np.ndarray:
    return np.array([int(word) for word in tree[name].split()], np.int64)


def _floats(tree: dict[str, str], name: str) -> np.ndarray:
    return np.array([float(word) for word in tree[name].split()], np.float64)


def _sets(tree: dict[str, str]) -> dict[int, np.ndarray]:
    """The categories that go left, for each test of categories."""
    nodes = np.flatnonzero(_ints(tree, "decision_type") & _CATEGORICAL)
    if int(tree["num_cat"]) != len(nodes):
        raise InputFileError(
            f"the file contradicts itself: tree {tree['Tree']} has {len(nodes)} tests of categories and a num_cat of "
            f"{tree['num_cat']}"
        )
    if not len(nodes):
        return {}
    begins, words = _ints(tree, "cat_boundaries"), _ints(tree, "cat_threshold").astype("<u4")
    # The sets must be in the order of the tests, each used once.
    at = _floats(tree, "threshold")[nodes]
    if len(begins) != len(nodes) + 1 or (at != np.arange(len(nodes))).any() or (np.diff(begins) < 0).any():
        raise InputFileError(f"tree {tree['Tree']} has sets of categories that do not match its tests")
    if begins[0] != 0 or begins[-1] != len(words):
        raise InputFileError(f"tree {tree['Tree']} uses a set of categories that does not exist")
    own = (words[begin:end].view(np.uint8) for begin, end in pairwise(begins.tolist()))
    return {
        node: np.flatnonzero(np.unpackbits(each, bitorder="little"))
        for node, each in zip(nodes.tolist(), own, strict=True)
    }


def _trees(text: _Text, scales: list[float], schema: Schema, known: dict[int, np.ndarray]) -> Iterator[ForeignTree]:
    """The trees as nodes, with their leaves times a factor; two factors alternate."""
    n_nodes = n_words = 0
    for number, words in enumerate(text.trees):
        if words["Tree"] != str(number):
            raise InputFileError(f"tree {number} is missing")
        if words.get("is_linear", "0") != "0":
            raise InputFileError("linear_tree: leaves with linear models are not read: train without it")
        tree, test = _tree(words, scales[number % len(scales)], schema, known)
        n_words += sum(len(schema.columns[tree.column[node]].levels) // 64 + 1 for node in tree.levels)
        if n_words > _MOST_WORDS:
            raise InputFileError("the sets of categories take more than 256 MB: train with fewer categories")
        if test.is_apart.any():
            tree = _with_zeros_apart(tree, test, _MOST_NODES - n_nodes)
        n_nodes += len(tree.left)
        yield tree


def _tree(
    text: dict[str, str], scale: float, schema: Schema, known: dict[int, np.ndarray]
) -> tuple[ForeignTree, _Test]:
    """A tree as in the file: tests, followed by leaves; a 0 still takes the branch of its cut."""
    name = f"tree {text['Tree']}"
    value, column = _floats(text, "leaf_value"), _ints(text, "split_feature")
    n_leaves, n_tests = len(value), len(column)
    left, right, kinds = (_ints(text, key) for key in ("left_child", "right_child", "decision_type"))
    cut = _floats(text, "threshold")
    count, gain = _ints(text, "leaf_count"), _floats(text, "split_gain")
    if int(text["num_leaves"]) != n_leaves or n_tests != n_leaves - 1:
        raise InputFileError(f"{name} has {n_tests} tests and {n_leaves} leaves, expected one test fewer than leaves")
    if any(len(each) != n_tests for each in (left, right, kinds, cut, gain)):
        raise InputFileError(f"{name} has {n_tests} tests, but lists of other lengths describe them")
    if len(count) not in (0, n_leaves) or not (np.abs(count) < 1 << 31).all():
        raise InputFileError(f"{name} has {n_leaves} leaves, but another number of row counts")
    with np.errstate(all="ignore"):
        value = value * scale
    if not (np.abs(value) <= LARGEST_SCORE).all():
        raise InputFileError(f"{name} has a leaf whose value is not finite, or beyond {LARGEST_SCORE:g}")
    branches = np.concatenate([left, right])
    if sorted(branches[branches >= 0].tolist()) != list(range(1, n_tests)):
        raise InputFileError(f"{name} is not a tree: a test is the branch of no other test, or of two")
    if ((branches >= 0) & (branches <= np.tile(np.arange(n_tests), 2))).any():
        raise InputFileError(f"{name} is not a tree: a branch leads back to an earlier test")
    missing, is_nominal = kinds >> 2 & 3, kinds & _CATEGORICAL != 0
    if (missing > _NAN).any():
        raise InputFileError(f"{name} has a test with an unknown treatment of missing values")
    for at, nominal in zip(column.tolist(), is_nominal.tolist(), strict=True):
        if 0 <= at < len(schema) and nominal != (schema.columns[at].kind == "nominal"):
            raise InputFileError(
                f"{name} tests column {schema.columns[at].name!r} for numbers, another tree for categories"
            )
    levels = {node: np.searchsorted(known[int(column[node])], codes) for node, codes in _sets(text).items()}
    zero_left, default_left = cut >= 0, kinds & _DEFAULT_LEFT != 0
    missing_left = np.where(missing == _NOTHING, zero_left, default_left) & ~is_nominal
    cut = np.where(np.abs(cut) > ZERO, cut, np.where(zero_left, ZERO, _BELOW_ZERO))
    n, of_leaf = n_tests + n_leaves, np.zeros(n_leaves)

    def place(child: np.ndarray) -> np.ndarray:
        """Positions of branches; an invalid branch gets a position outside the tree."""
        there = np.where(child < 0, n_tests + ~child, np.where(child < n_tests, child, n))
        return np.concatenate([there, np.full(n_leaves, -1)])

    def padded(tests: np.ndarray, leaves: np.ndarray = of_leaf) -> np.ndarray:
        return np.concatenate([tests, leaves.astype(tests.dtype)])

    tests = np.zeros(n_tests)
    tree = ForeignTree(
        left=place(left),
        right=place(right),
        column=padded(column),
        cut=padded(cut),
        missing_left=padded(missing_left),
        value=padded(tests, value)[:, None],
        weight=padded(tests, np.maximum(count, 1)) if len(count) else None,  # the weights of pred_contrib
        n_samples=padded(tests.astype(np.int64), count) if len(count) else None,
        gain=padded(np.nan_to_num(np.clip(gain, 0.0, _LARGEST_GAIN))),
        levels=levels,
    )
    is_apart = (missing == _ZEROS) & ~is_nominal & (zero_left != default_left)
    return tree, _Test(padded(np.where(is_nominal, _NOTHING, missing)), padded(is_apart))


def _with_zeros_apart(tree: ForeignTree, test: _Test, most: int) -> ForeignTree:
    """The tree with three tests in place of each one that sends 0 to another branch than its cut.

    Raises ``InputFileError``: it would have more than ``most`` nodes: they may double with each such test on a path.
    """
    first, second, column, cut = (each.tolist() for each in (tree.left, tree.right, tree.column, tree.cut))
    to_left, missing, is_apart = (each.tolist() for each in (tree.missing_left, test.missing, test.is_apart))
    # Of each new node: the old one, and its zone if it is one of the tests that separate zeros.
    nodes: list[tuple[int, str]] = []
    branches: list[list[int]] = []
    # Still to be made: an old node, the zone of each column on its path, and the node and side whose branch it is.
    waiting: list[tuple[int, dict[int, str], int, int]] = [(0, {}, -1, 0)]
    while waiting:
        node, zones, parent, side = waiting.pop()
        while first[node] >= 0 and node not in tree.levels:
            zone, tested = zones.get(column[node], ""), cut[node]
            if zone == "zero" and missing[node] == _ZEROS:
                goes_left = to_left[node]
            elif (zone == "below" and tested >= _BELOW_ZERO) or (zone == "above" and tested <= ZERO):
                goes_left = zone == "below"
            else:
                break
            node = (first if goes_left else second)[node]
        here = len(nodes)
        if here >= most:
            raise InputFileError(
                f"zero_as_missing sends 0 to a branch of its own: that takes more than {_MOST_NODES:,} nodes here. "
                "Train with fewer leaves, or with nan for missing values"
            )
        if parent >= 0:
            branches[parent][side] = here
        branches.append([-1, -1])
        if first[node] < 0 or not is_apart[node] or column[node] in zones:
            nodes.append((node, ""))
            if first[node] >= 0:
                waiting += [(second[node], zones, here, 1), (first[node], zones, here, 0)]
            continue
        below, zero, above = ({**zones, column[node]: zone} for zone in ("below", "zero", "above"))
        nodes += [(node, "below"), (node, "zero")]
        branches[here][1] = here + 1
        branches.append([-1, -1])
        waiting += [(node, above, here + 1, 1), (node, zero, here + 1, 0), (node, below, here, 0)]
    old = np.array([node for node, _ in nodes])
    own = np.array([_CUTS_APART.get(which, np.nan) for _, which in nodes])
    is_test, copies = np.isnan(own), Counter(node for node, which in nodes if not which)
    share = 1.0 / np.array([copies.get(node, 1) for node, _ in nodes])
    left, right = np.array(branches).T
    return ForeignTree(
        left=left,
        right=right,
        column=tree.column[old],
        cut=np.where(is_test, tree.cut[old], own),
        missing_left=np.where(is_test, tree.missing_left[old], own == ZERO),
        value=tree.value[old],
        weight=None if tree.weight is None else tree.weight[old] * share,
        n_samples=None if tree.n_samples is None else np.rint(tree.n_samples[old] * share),
        gain=None if tree.gain is None else np.where(is_test, tree.gain[old] * share, 0.0),
        levels={at: tree.levels[node] for at, (node, _) in enumerate(nodes) if node in tree.levels},
    )
