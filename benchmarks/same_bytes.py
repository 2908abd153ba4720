"""Whether two checkouts answer the same, to the byte: models, predictions, texts, pictures, reports, complaints.

    python benchmarks/same_bytes.py OLD/src NEW/src [--only WORD ...] [--verbose]

Every configuration is fitted on small made-up tables, once by each checkout in a process of its own, through public
names alone. Each answer becomes a digest, an error its message; what differs is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

LONGEST = 300  # characters of an answer that are shown where answers differ

# Tables --------------------------------------------------------------------------------------------------------------


def tables():
    """Tables by name: X and targets. Values are multiples of 1/8, so that there are ties."""
    import numpy as np

    random = np.random.default_rng(7)
    n = 160
    X = np.round(random.normal(size=(n, 5)) * 8) / 8
    signal = X[:, 0] + 0.5 * X[:, 1] * (X[:, 2] > 0) + 0.2 * random.normal(size=n)
    gaps = X.copy()
    gaps[random.random((n, 5)) < 0.12] = np.nan
    colours = np.array(["red", "green", "blue", "grey", "black"])[random.integers(0, 5, n)]
    sizes = np.array(["S", "M", "L"])[np.digitize(X[:, 3], [-0.5, 0.5])]
    mixed = {
        "length": [None if value < -1.2 else float(value) for value in X[:, 0]],
        "colour": [None if i % 23 == 5 else str(value) for i, value in enumerate(colours)],
        "size": [str(value) for value in sizes],
        "is_old": [bool(value > 0.2) for value in X[:, 4]],
        "width": [float(value) for value in X[:, 1]],
    }
    levels = {name: cells for name, cells in mixed.items() if name in ("colour", "size", "is_old")}
    levels["colour"] = [str(value) for value in colours]
    bonus = np.where(np.isin(colours, ["red", "grey"]), 1.0, 0.0)
    numbers = np.round((signal + bonus) * 16) / 16
    return {
        "X": X,
        "gaps": gaps,
        "mixed": mixed,
        "levels": levels,
        "yes": (signal > 0.2).astype(int),
        "three": np.array(["low", "mid", "top"])[np.digitize(signal + bonus, [-0.3, 0.9])],
        "numbers": numbers,
        "positive": np.exp(np.round(signal * 8) / 8),
        "counts": random.poisson(np.exp(np.clip(signal, -2, 2))).astype(float),
        "two labels": np.column_stack([(signal > 0).astype(int), np.digitize(X[:, 1], [-0.5, 0.5])]),
        "two numbers": np.column_stack([signal, X[:, 1] - signal]),
        "weights": np.round(random.random(n) * 8) / 4,
        "new": np.round(random.normal(size=(40, 5)) * 8) / 8,
    }


# Configurations ------------------------------------------------------------------------------------------------------

SIZES = {"size": ["S", "M", "L"]}


def configurations():
    """Name, a function from ``tables()`` to what was fitted, its X and its y, and words: what else to ask of it."""
    import treewright as tw

    jobs = []

    def add(name, make, X, y, *asked, weight=None, **fit):
        def fitted(given):
            words = dict(fit)
            if weight:
                words["sample_weight"] = given[weight]
            return make().fit(given[X], given[y], **words), given[X], given[y]

        jobs.append((name, fitted, asked))

    def warm(name, make, X, y, first, then, *asked):
        def fitted(given):
            est = make(n_estimators=first, warm_start=True).fit(given[X], given[y])
            return est.set_params(n_estimators=then).fit(given[X], given[y]), given[X], given[y]

        jobs.append((name, fitted, asked))

    Tree, Numbers = tw.DecisionTreeClassifier, tw.DecisionTreeRegressor
    shapes = {"ordinal": SIZES}
    for criterion in ("gini", "entropy", "log_loss", "misclassification"):
        add(
            f"tree {criterion}",
            partial(Tree, criterion=criterion),
            "X",
            "three",
            "report" if criterion == "gini" else "",
        )
    for criterion in ("squared_error", "absolute_error", "poisson"):
        y = "counts" if criterion == "poisson" else "numbers"
        asked = "report" if criterion == "squared_error" else ""
        add(f"tree {criterion}", partial(Numbers, criterion=criterion, max_depth=5), "X", y, asked)
    own = partial(Tree, criterion=_own_criterion, max_depth=4)
    add("tree own criterion", own, "X", "three")
    for splitter in ("random", "hist"):
        add(f"tree {splitter}", partial(Tree, splitter=splitter, random_state=3), "mixed", "three")
        add(
            f"tree {splitter} numbers",
            partial(Numbers, splitter=splitter, random_state=3, max_depth=6),
            "gaps",
            "numbers",
        )
        leaves = partial(Tree, splitter=splitter, max_leaf_nodes=9, max_features=2, random_state=1)
        add(f"tree {splitter} leaves", leaves, "X", "yes", weight="weights")
    add("tree hist few bins", partial(Tree, splitter="hist", max_bins=8, class_weight="balanced"), "gaps", "three")
    add("tree mixed", partial(Tree, **shapes), "mixed", "three", "report")
    add("tree mixed numbers", partial(Numbers, **shapes, min_samples_leaf=3), "mixed", "numbers", weight="weights")
    add("tree weights", partial(Tree, min_weight_fraction_leaf=0.02), "gaps", "yes", weight="weights")
    add("tree class weights", partial(Tree, class_weight={"low": 3.0, "mid": 1.0, "top": 0.5}), "X", "three")
    add("tree best first", partial(Tree, max_leaf_nodes=12, min_impurity_decrease=0.001), "mixed", "three")
    add("tree multiway", partial(Tree, nominal_splits="multiway", max_p_value=0.2), "mixed", "three")
    for missing in ("surrogate", "fractional", "branch", "error"):
        add(f"tree missing {missing}", partial(Tree, missing=missing, max_depth=5), "mixed", "three")
    add("tree several labels", Tree, "X", "two labels")
    add("tree several numbers", partial(Numbers, max_depth=5), "gaps", "two numbers", weight="weights")
    monotonic = partial(
        Numbers, monotonic_cst=[1, 0, 0, -1, 0], interaction_cst=[[0, 1], [2, 3, 4]], max_depth=6, splitter="hist"
    )
    add("tree constraints", monotonic, "X", "numbers")
    add("tree trace", partial(Tree, grow_trace=True, max_depth=4), "mixed", "three", "trace")
    add("tree ccp", partial(Tree, ccp_alpha=0.01), "X", "three", "path")
    add("tree max_p_value", partial(Tree, max_p_value=0.05), "X", "yes")
    add("ID3", tw.ID3Classifier, "levels", "three")
    add("C4.5", tw.C45Classifier, "mixed", "three", "report")
    add("C4.5 unpruned", partial(tw.C45Classifier, confidence=None, nominal_splits="grouped"), "mixed", "yes")
    add("C4.5 no raising", partial(tw.C45Classifier, subtree_raising=False), "gaps", "three", weight="weights")
    add("CHAID", partial(tw.CHAIDClassifier, **shapes, alpha=0.2), "mixed", "three")
    add("CHAID exhaustive", partial(tw.CHAIDClassifier, exhaustive=True, test="likelihood_ratio"), "mixed", "yes")
    add("CHAID numbers", partial(tw.CHAIDRegressor, alpha=0.3), "mixed", "numbers")

    seeded = {"random_state": 11, "n_jobs": 2}
    Forest, Forests = partial(tw.RandomForestClassifier, **seeded), partial(tw.RandomForestRegressor, **seeded)
    asked = ("importances", "curve")
    add("forest", partial(Forest, 12, oob_score=True), "mixed", "three", *asked, "report", "proximity")
    add(
        "forest hard votes",
        partial(Forest, 9, voting="hard", oob_score=True),
        "gaps",
        "three",
        *asked,
        weight="weights",
    )
    balanced = partial(Forest, 9, class_weight="balanced_subsample", max_samples=0.5, oob_score=True)
    add("forest balanced", balanced, "X", "three", *asked)
    add("forest entropy columns", partial(Forest, 7, criterion="entropy", max_features_per_tree=3), "X", "yes")
    add("forest several labels", partial(Forest, 7, oob_score=True), "X", "two labels", *asked)
    add("forest no bootstrap", partial(Forest, 6, bootstrap=False, max_leaf_nodes=10), "X", "three")
    add("forest numbers", partial(Forests, 12, oob_score=True), "gaps", "numbers", *asked, "report", "jackknife")
    add("forest medians", partial(Forests, 6, criterion="absolute_error", oob_score=True), "X", "numbers", *asked)
    add("forest poisson", partial(Forests, 6, criterion="poisson"), "X", "counts", weight="weights")
    add("forest several numbers", partial(Forests, 7, oob_score=True), "X", "two numbers", *asked)
    quantiles = partial(Forests, 9, quantiles=True, min_samples_leaf=4, oob_score=True)
    add("forest quantiles", quantiles, "mixed", "numbers", "quantiles", weight="weights")
    add("extra trees", partial(tw.ExtraTreesClassifier, 9, **seeded), "mixed", "three", *asked)
    extra = partial(tw.ExtraTreesRegressor, 9, **seeded, bootstrap=True, oob_score=True)
    add("extra trees numbers", extra, "gaps", "numbers", *asked)
    warm("forest warm start", partial(Forest, oob_score=True), "mixed", "three", 4, 9, *asked)
    warm("forest warm start numbers", partial(Forests, oob_score=True), "X", "numbers", 3, 8, *asked)

    Boost = partial(tw.GradientBoostingClassifier, n_estimators=12, learning_rate=0.2, min_samples_leaf=5, **seeded)
    Boosts = partial(tw.GradientBoostingRegressor, n_estimators=12, learning_rate=0.2, min_samples_leaf=5, **seeded)
    asked = ("boosting",)
    add("boosting", Boost, "X", "yes", *asked, "report", weight="weights")
    add("boosting classes", partial(Boost, class_weight="balanced"), "mixed", "three", *asked)
    for loss in ("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie", "expectile"):
        y = {"poisson": "counts", "gamma": "positive", "tweedie": "counts"}.get(loss, "numbers")
        add(f"boosting {loss}", partial(Boosts, loss=loss), "gaps", y, *asked)
    quantiles = partial(Boosts, loss="quantile", quantile=[0.1, 0.5, 0.9])
    add("boosting quantiles", quantiles, "mixed", "numbers", *asked)
    add("boosting own loss", partial(Boosts, loss=_own_loss), "X", "numbers", *asked)
    for growth in ("level", "symmetric"):
        add(f"boosting {growth}", partial(Boost, growth=growth, max_depth=3), "mixed", "yes", *asked)
    add("boosting gradient sampling", partial(Boost, sampling="gradient"), "X", "yes", *asked)
    add("boosting rows", partial(Boosts, subsample=0.6, features_per_tree=0.8), "gaps", "numbers", *asked)
    add("boosting weights", partial(Boosts, l2=0.5, l1=0.1, min_gain=0.01), "X", "numbers", *asked, weight="weights")
    add("boosting several numbers", Boosts, "X", "two numbers", *asked)
    stopping = {"early_stopping": True, "n_iter_no_change": 2, "tol": 0.001, "n_estimators": 60}
    add("boosting early stopping", partial(Boost, **stopping), "mixed", "three", *asked)
    add("boosting early stopping numbers", partial(Boosts, **stopping), "X", "numbers", *asked, weight="weights")
    add("boosting constraints", partial(Boosts, monotonic_cst=[1, 0, 0, 0, -1]), "X", "numbers", *asked)
    add("boosting levels", partial(Boost, level_encoding="ordered"), "mixed", "yes", *asked)
    add("boosting start", partial(Boosts, init=0.5), "X", "numbers", *asked)
    warm("boosting warm start", Boost, "mixed", "three", 5, 9, *asked)
    warm("boosting warm start numbers", Boosts, "X", "numbers", 5, 9, *asked)

    Bag, Bags = partial(tw.BaggingClassifier, n_jobs=1, random_state=5), partial(tw.BaggingRegressor, random_state=5)
    add("bagging", partial(Bag, oob_score=True), "mixed", "three")
    add("bagging columns", partial(Bag, max_features=0.6, max_samples=0.7, voting="hard"), "X", "three")
    add("bagging C4.5", partial(Bag, tw.C45Classifier(), 5), "mixed", "yes")
    add("bagging neighbours", partial(Bag, tw.KNeighborsClassifier(3), 4, max_features=3), "X", "three")
    add("bagging numbers", partial(Bags, tw.DecisionTreeRegressor(max_depth=4), 6, oob_score=True), "gaps", "numbers")
    add("bagging copies", partial(Bag, tw.CHAIDClassifier(), 4, bootstrap=False, max_samples=0.5), "mixed", "three")
    add("bagging forest", partial(Bag, tw.RandomForestClassifier(3), 3), "X", "yes")
    warm("bagging warm start", partial(Bag, bootstrap_features=True), "X", "three", 3, 6)
    Ada, Adas = partial(tw.AdaBoostClassifier, random_state=2), partial(tw.AdaBoostRegressor, random_state=2)
    add("AdaBoost", partial(Ada, n_estimators=8), "mixed", "three", "ada", "report")
    deep = partial(Ada, tw.DecisionTreeClassifier(max_depth=3), n_estimators=6, keep_row_weights=True)
    add("AdaBoost deeper", deep, "X", "three", "ada", weight="weights")
    add("AdaBoost resampled", partial(Ada, n_estimators=6, bootstrap=True, learning_rate=0.5), "gaps", "yes", "ada")
    add("AdaBoost C4.5", partial(Ada, tw.C45Classifier(max_depth=2), n_estimators=4), "mixed", "yes", "ada")
    for loss in ("linear", "square", "exponential"):
        add(f"AdaBoost {loss}", partial(Adas, n_estimators=6, loss=loss), "gaps", "numbers", "ada")
    warm("AdaBoost warm start", Ada, "X", "three", 3, 6, "ada")

    add("isolation", partial(tw.IsolationForest, n_estimators=12, random_state=4), "gaps", "yes")
    isolating = partial(tw.IsolationForest, n_estimators=8, random_state=4, contamination=0.1, max_features=0.6)
    add("isolation mixed", isolating, "mixed", "yes")
    warm("isolation warm start", partial(tw.IsolationForest, random_state=4, max_samples=60), "X", "yes", 3, 7)
    for metric in ("auto", "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "hamming", "canberra"):
        p = 3.0 if metric == "minkowski" else 2.0
        asked = ("neighbours", "report") if metric == "euclidean" else ("neighbours",)
        add(f"neighbours {metric}", partial(tw.KNeighborsClassifier, metric=metric, p=p), "X", "three", *asked)
    add(
        "neighbours mixed",
        partial(tw.KNeighborsClassifier, 3, metric="gower", **shapes),
        "mixed",
        "three",
        "neighbours",
    )
    add("neighbours distance", partial(tw.KNeighborsRegressor, weights="distance"), "X", "numbers", "neighbours")
    for algorithm in ("brute", "kd_tree"):
        add(f"neighbours {algorithm}", partial(tw.KNeighborsRegressor, 4, algorithm=algorithm), "X", "two numbers")

    pruners = {
        "cost_complexity": {"alpha": 0.01}, "depth": {"max_depth": 2}, "leaves": {"max_leaves": 4}, "reduced_error": {},
        "error_based": {}, "pessimistic": {}, "minimum_error": {}, "significance": {}, "description_length": {},
        "merge_equal_leaves": {},
    }  # fmt: skip
    for method, options in pruners.items():
        jobs.append((f"pruned {method}", partial(_pruned, method, options), ()))
    jobs.append(("pruned rounds", _fewer_rounds, ("boosting",)))
    jobs.append(("complaints", None, ()))
    jobs.append(("selection", None, ()))
    return jobs


def _own_criterion(counts):
    import numpy as np

    shares = counts / counts.sum(axis=-1, keepdims=True)
    return 1.0 - np.max(shares, axis=-1)


def _own_loss(y, score):
    return score - y, 1.0 + 0.0 * y


def _pruned(method, options, given):
    import treewright as tw

    X, y = given["mixed"], given["three"]
    tree = tw.DecisionTreeClassifier(random_state=0).fit(X, y)
    return tree.prune(method, *((X, y) if method in ("reduced_error", "error_based") else ()), **options), X, y


def _fewer_rounds(given):
    import treewright as tw

    X, y = given["X"], given["three"]
    boosted = tw.GradientBoostingClassifier(n_estimators=15, learning_rate=0.3, min_samples_leaf=4, random_state=0)
    return boosted.fit(X, y).prune("rounds", given["X"][::-1], given["three"][::-1]), X, y


# Answers -------------------------------------------------------------------------------------------------------------


def plain(thing):
    """Text that is the same where answers are the same to the bit."""
    import numpy as np
    from scipy.sparse import issparse

    if isinstance(thing, np.ndarray) and thing.dtype != object:
        thing = np.ascontiguousarray(thing)
        body = hashlib.sha256(thing.tobytes()).hexdigest()[:16] if thing.size > 12 else repr(thing.tolist())
        return f"array {thing.dtype} {thing.shape} {body}"
    if issparse(thing):
        return f"sparse {plain(thing.toarray())}"
    if isinstance(thing, np.generic):
        return f"{thing.dtype} {thing!r}"
    if isinstance(thing, dict):
        return "{" + ", ".join(f"{key!r}: {plain(value)}" for key, value in thing.items()) + "}"
    if isinstance(thing, (list, tuple, np.ndarray)):
        return "[" + ", ".join(plain(each) for each in thing) + "]"
    if isinstance(thing, bytes):
        return f"bytes {len(thing)} {hashlib.sha256(thing).hexdigest()}"
    if hasattr(thing, "__next__"):
        return plain(list(thing))
    if hasattr(thing, "to_dict") and not hasattr(thing, "columns"):
        return f"{thing}\n{plain(thing.to_dict())}"
    return re.sub(r" at 0x[0-9a-f]+", "", str(thing))


def attributes(est):
    """What a fit leaves on the estimator: public names that end in ``_``."""
    found = {}
    for name in sorted(each for each in dir(est) if each.endswith("_") and not each.startswith("_")):
        try:
            value = getattr(est, name)
        except Exception as error:
            value = f"{type(error).__name__}: {error}"
        is_plain = not hasattr(value, "fit") and name not in (
            "model_",
            "estimators_",
            "tree_",
            "fit_seconds_",
        )  # seconds are no answer
        found[name] = plain(value) if is_plain else type(value).__name__
    return found


def command(*words):
    """What the command prints."""
    from treewright.__main__ import main

    printed, complained = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    before, sys.argv = sys.argv, ["treewright", *words]
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complained):
            main()
    except SystemExit as end:
        code = end.code
    else:
        code = 0
    finally:
        sys.argv = before
    printed.flush()
    complained.flush()
    return f"{code}\n{printed.buffer.getvalue().decode()}\n{complained.buffer.getvalue().decode()}"


def questions(est, X, y, asked, folder):
    """Name and function of everything that is asked of a fitted estimator."""
    import numpy as np

    path = Path(folder) / "model.tree"
    model = getattr(est, "model_", None)
    n = len(y)

    def saved():
        path.unlink(missing_ok=True)
        est.save(path)
        return path.read_bytes()

    def shown(*words):
        return command("show", str(path), *words)

    yield "saved", saved
    yield "repr", lambda: repr(est)
    yield "attributes", lambda: attributes(est)
    for verb in ("predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples", "apply"):
        if hasattr(est, verb):
            yield verb, lambda verb=verb: getattr(est, verb)(X)
    if not isinstance(X, dict):
        rows = np.vstack([X[:3], np.full((1, X.shape[1]), 100.0)])
        yield "predict new", lambda: est.predict(rows)
        yield "one row", lambda: [model.predict_one(row) for row in rows[:2]]
    for verb in ("decision_path", "staged_predict", "staged_predict_proba"):
        if hasattr(est, verb):
            yield verb, lambda verb=verb: getattr(est, verb)(X)
    if hasattr(est, "score"):
        yield "score", lambda: est.score(X, y)
    yield "show", lambda: str(model.show())
    yield "show repr", lambda: repr(model)
    one = model if model is None or not hasattr(model, "n_trees") else model.tree(0)
    yield "rules", lambda: str(one.rules())
    yield "feature importances", lambda: model.feature_importances
    for form in ("text", "json", "dot", "rules", "rules-csv"):
        yield f"show --format {form}", lambda form=form: shown("--format", form)
    yield "show --importances", lambda: shown("--importances")
    yield "show --tree 0", lambda: shown("--tree", "0")
    yield "svg", lambda: one.plot().text
    if hasattr(model, "n_trees"):
        yield "audit", lambda: one.audit(X, y)
        yield "prune log", lambda: model.prune_log
    if hasattr(est, "audit"):
        yield "audit node", lambda: est.audit(1)
    if hasattr(model, "partial_dependence"):
        column = "width" if isinstance(X, dict) else 0
        yield "dependence", lambda: model.partial_dependence(X, column)
    if hasattr(est, "counterfactual"):
        row = {name: cells[3] for name, cells in X.items()} if isinstance(X, dict) else X[3]
        yield "counterfactual", lambda: est.counterfactual(row, **({} if model.classes else {"at_least": 0.5}))
    if "path" in asked:
        yield "path", lambda: dict(est.cost_complexity_pruning_path(X, y))
    if "trace" in asked:
        yield "trace", lambda: est.trace_
    if "curve" in asked:
        yield "curve", lambda: est.oob_curve_ if hasattr(est, "oob_curve_") else "none"
    if "importances" in asked:
        yield "importances", lambda: str(est.importances())
        for kind in ("debiased", "permutation"):
            yield f"importances {kind}", lambda kind=kind: est.importances(kind)
            yield f"importances {kind} all", lambda kind=kind: est.importances(kind, X, y, rows="all")
    if "proximity" in asked or "jackknife" in asked:
        yield "proximity", lambda: est.proximity(X)
    if "jackknife" in asked:
        yield "predict_std", lambda: est.predict_std(X)
    if "quantiles" in asked:
        yield "predict_quantile", lambda: est.predict_quantile(X, (0.1, 0.5))
        yield "predict_interval", lambda: est.predict_interval(X, 0.8)
    if "boosting" in asked:
        for kind in ("gain", "cover", "frequency"):
            yield f"importances {kind}", lambda kind=kind: est.importances(kind)
        yield "importances permutation", lambda: est.importances("permutation", X, y, n_repeats=2)
        yield "staged_score", lambda: est.staged_score(X, y)
        yield "history", lambda: est.history_
    if "ada" in asked:
        yield "staged_score", lambda: est.staged_score(X, y)
    if "neighbours" in asked:
        yield "kneighbors", lambda: est.kneighbors(X, 4)
        yield "radius", lambda: [plain(each) for each in est.radius_neighbors(X, 0.5)]
    if "report" in asked:
        yield "report", lambda: est.report(X, y).to_dict()
        yield "report page", lambda: re.sub(r"\d{4}-\d\d-\d\d[^<\"]*", "DAY", est.report(X, y).html)
        yield "show --audit", lambda: shown("--audit", "--data", str(_table(folder, X, y)), "--target", "y")
        yield "show --row", lambda: shown("--row", "3", "--data", str(_table(folder, X, y)))
        yield "predict --out", lambda: command("predict", str(path), str(_table(folder, X, y)))
        yield "evaluate", lambda: command("evaluate", str(path), str(_table(folder, X, y)), "--target", "y")
        yield "prune", lambda: command("prune", str(path), "--method", "leaves", "--prune-set", "max_leaves=3")
    assert n


def _table(folder, X, y):
    """A CSV file of the rows."""
    path = Path(folder) / "rows.csv"
    columns = dict(X) if isinstance(X, dict) else {f"x{j}": X[:, j].tolist() for j in range(X.shape[1])}
    columns["y"] = y.tolist()
    lines = [",".join(columns)]
    lines += [
        ",".join("" if cell is None or str(cell) == "nan" else str(cell) for cell in row)
        for row in zip(*columns.values(), strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def complaints(given):
    """What is refused, and in which words."""
    import numpy as np

    import treewright as tw

    X, y, numbers, mixed = given["X"], given["three"], given["numbers"], given["mixed"]
    Tree, Forest, Boost = tw.DecisionTreeClassifier, tw.RandomForestRegressor, tw.GradientBoostingRegressor
    tree, forest = Tree(max_depth=2).fit(X, y), Forest(3, random_state=0).fit(X, numbers)
    boosted = Boost(n_estimators=3).fit(X, numbers)
    asked = {
        "depth": lambda: Tree(max_depth=0).fit(X, y),
        "criterion": lambda: Tree(criterion="ginny").fit(X, y),
        "splitter": lambda: Tree(splitter="fast").fit(X, y),
        "leaf": lambda: Tree(min_samples_leaf="2").fit(X, y),
        "columns": lambda: tree.predict(X[:, :3]),
        "unseen": lambda: Tree(unseen="error").fit(mixed, y).predict({**mixed, "colour": ["pink"] * len(y)}),
        "infinite": lambda: Tree().fit(np.where(X > 2, np.inf, X), y),
        "lengths": lambda: Tree().fit(X[:5], y),
        "weights": lambda: Tree().fit(X, y, sample_weight=-np.ones(len(y))),
        "unfitted": lambda: Tree().predict(X),
        "method": lambda: tree.prune("leafs"),
        "rows": lambda: tree.prune("reduced_error"),
        "option": lambda: tree.prune("leaves", max_leafs=3),
        "trees": lambda: Forest(0).fit(X, numbers),
        "bootstrap": lambda: Forest(3, bootstrap=False, oob_score=True).fit(X, numbers),
        "samples": lambda: Forest(3, max_samples=2.5).fit(X, numbers),
        "kind": lambda: forest.importances("gain"),
        "warm": lambda: Forest(2, warm_start=True).fit(X, numbers).set_params(n_estimators=1).fit(X, numbers),
        "quantile": lambda: forest.predict_quantile(X, 1.5),
        "loss": lambda: Boost(loss="absolute").fit(X, numbers),
        "gamma": lambda: Boost(loss="gamma").fit(X, numbers),
        "rate": lambda: Boost(learning_rate=0).fit(X, numbers),
        "growth": lambda: Boost(growth="symetric").fit(X, numbers),
        "rounds": lambda: boosted.prune("rounds"),
        "boosted tree": lambda: boosted.model_.audit(X, numbers),
        "bag": lambda: tw.BaggingClassifier("tree").fit(X, y),
        "ada": lambda: tw.AdaBoostClassifier(tw.KNeighborsClassifier()).fit(X, y),
        "far": lambda: tw.KNeighborsClassifier(400).fit(X, y).predict(X),
        "metric": lambda: tw.KNeighborsClassifier(metric="euclid").fit(X, y),
        "missing": lambda: tw.KNeighborsClassifier().fit(given["gaps"], y),
        "id3": lambda: tw.ID3Classifier().fit(mixed, y),
        "text": lambda: tw.DecisionTreeRegressor().fit(X, y),
        "isolation": lambda: tw.IsolationForest(contamination=0.9).fit(X),
        "node": lambda: tree.node(99),
        "file": lambda: tw.load(__file__),
    }
    for verb in ("fit", "predict", "evaluate", "show", "report", "prune", "compare"):
        asked[f"{verb} --help"] = lambda verb=verb: command(verb, "--help")
        asked[f"{verb} nothing"] = lambda verb=verb: command(verb, "nothing.csv")
    return asked


def selections(given, folder):
    """Judging and choosing, by Python and by the command."""
    import treewright as tw

    choose = tw.model_selection
    X, y, numbers = given["X"], given["three"], given["numbers"]
    Tree, Numbers = (
        partial(tw.DecisionTreeClassifier, random_state=0),
        partial(tw.DecisionTreeRegressor, random_state=0),
    )
    table = str(_table(folder, given["mixed"], y))
    fit = ("fit", table, "--target", "y", "--force")
    asked = {
        "pruning_path": lambda: choose.pruning_path(Tree(), X, y),
        "cross_validate": lambda: choose.cross_validate(Tree(max_depth=3), X, y, cv=4),
        "cross_validate numbers": lambda: choose.cross_validate(Numbers(max_depth=3), X, numbers, cv=4),
        "leave_one_out": lambda: choose.leave_one_out(Tree(max_depth=2), X[:40], y[:40]),
        "holdout": lambda: choose.holdout(Tree(max_depth=3), X, y),
        "compare": lambda: choose.compare({"one": Tree(max_depth=1), "two": Tree(max_depth=3)}, X, y),
        "compare_pruning": lambda: choose.compare_pruning(Tree(), X[::2], y[::2], X[1::2], y[1::2]),
        "error_curve": lambda: choose.error_curve(Tree(), X, y),
        "learning_curve": lambda: choose.learning_curve(Tree(max_depth=3), X, y),
        "bias_variance": lambda: choose.bias_variance(
            Numbers(max_depth=3), X[::2], numbers[::2], X[1::2], numbers[1::2], n_rounds=5
        ),
        "aic": lambda: choose.aic(Tree(max_depth=3).fit(X, y), X, y),
        "neighbor_curve": lambda: choose.neighbor_curve(tw.KNeighborsClassifier(), X, y),
        "surrogate_tree": lambda: choose.surrogate_tree(tw.RandomForestClassifier(5, random_state=0).fit(X, y), X),
        "tune": lambda: choose.tune(Tree(), X, y, {"max_depth": [1, 2, 4]}),
        "compare command": lambda: command("compare", table, "--target", "y", "--folds", "3"),
        "fit --cv": lambda: command(*fit, "--cv", "3"),
    }
    for algorithm in (
        "cart",
        "c45",
        "chaid",
        "forest",
        "extra-trees",
        "boosting",
        "bagging",
        "adaboost",
        "knn",
        "isolation",
    ):
        asked[f"fit {algorithm}"] = lambda algorithm=algorithm: command(*fit, "--algorithm", algorithm)
    for pruning in ("ccp-1se", "ccp-min", "reduced-error", "mdl"):
        asked[f"fit --prune {pruning}"] = lambda pruning=pruning: command(*fit, "--prune", pruning)
    return asked


def answer(question):
    """An answer as text, with the warnings that came with it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            said = plain(question())
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
    said += "".join(f"\n{each.category.__name__}: {each.message}" for each in caught)
    # Times of day and durations are no answers.
    return re.sub(r"\b\d+(\.\d+)? ?(s|ms|seconds)\b", "TIME", said)


def answers(only):
    """Print one line of JSON for each answer of the checkout that is on the path."""
    given = tables()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)

        def tell(name, part, said):
            print(
                json.dumps([name, part, hashlib.sha256(said.encode()).hexdigest()[:20], said[: 40 * LONGEST]]),
                flush=True,
            )

        for name, fitted, asked in configurations():
            if only and not any(word in name for word in only):
                continue
            if fitted is None:
                parts = complaints(given) if name == "complaints" else selections(given, folder)
                for part, question in parts.items():
                    tell(name, part, answer(question).replace(str(folder), "FOLDER"))
                continue
            kept = {}
            said = answer(lambda fitted=fitted, kept=kept: kept.update(zip("eXy", fitted(given), strict=True)))
            tell(name, "fit", said)
            if kept:
                for part, question in questions(kept["e"], kept["X"], kept["y"], asked, folder):
                    tell(name, part, answer(question).replace(str(folder), "FOLDER"))


def ask(source, only):
    """All answers of a checkout: (configuration, part) -> (digest, beginning)."""
    environment = {
        **os.environ, "PYTHONPATH": str(source), "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "COLUMNS": "100",
        "NO_COLOR": "1",
    }  # fmt: skip
    words = [sys.executable, __file__, "--answer", "--only", *only]
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, encoding="utf-8")


def collect(process):
    lines = [json.loads(line) for line in process.stdout]
    if process.wait():
        sys.exit(f"a checkout failed with code {process.returncode}")
    return {(name, part): (digest, said) for name, part, digest, said in lines}


def first_difference(old, new):
    """Both answers from a little before the first character that differs."""
    place = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, place - LONGEST // 4)
    return old[start : start + LONGEST], new[start : start + LONGEST]


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("sources", nargs="*", type=Path, metavar="SRC", help="the old and the new folder src")
    words.add_argument(
        "--only", nargs="*", default=[], help="only configurations with one of these words in their name"
    )
    words.add_argument("--errors", action="store_true", help="name the questions that ended in an error, too")
    words.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.answer:
        answers(given.only)
        return
    if len(given.sources) != 2:
        words.error("give two folders: OLD/src NEW/src")
    # One after the other: both would compile at once.
    old, new = (collect(ask(source.resolve(), given.only)) for source in given.sources)
    n_different = 0
    for key in [*old, *(key for key in new if key not in old)]:
        before, after = (each.get(key, ("", "not asked")) for each in (old, new))
        if before[0] != after[0]:
            n_different += 1
            was, now = first_difference(before[1], after[1])
            print(f"{key[0]} | {key[1]}\n  old: {was!r}\n  new: {now!r}")
    errors = [key for key, (_, said) in old.items() if re.match(r"\w*(Error|Exception)\w*: ", said)]
    if given.errors:
        print("\n".join(f"{name} | {part}: {old[name, part][1][:150]!r}" for name, part in errors))
    n_fits = len({name for name, _ in old})
    print(f"{len(old)} answers of {n_fits} configurations, {len(errors)} of them errors; {n_different} differ")
    sys.exit(n_different > 0)


if __name__ == "__main__":
    main()
