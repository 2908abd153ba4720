"""Facts of a file that was written by hand: refused at the door, or everything that reads them bears them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from rotating import few

import treewright as tw
from treewright.exceptions import ModelFileError, TreewrightError
from treewright.prune.methods import METHODS
from treewright.trees.check_model import check_model

RNG = np.random.default_rng(0)
X = {"a": RNG.normal(size=24).round(1), "b": RNG.choice(list("xyz"), 24)}
LABELS = np.where(X["a"] + (X["b"] == "x") > 0, "p", "q")
NUMBERS = X["a"] * 3 + (X["b"] == "x")
BAD = [
    None,
    True,
    -1,
    0,
    2.5,
    10**400,
    int(1.7e308),
    1e308,
    "x",
    "",
    [],
    [1],
    ["x"],
    [[1, 2]],
    [["x", 1]],
    {},
    {"x": 1},
    [None],
]
LOOSE = {"alpha": 1.0, "min_samples_leaf": 1, "min_samples_split": 2}
MAKERS = {
    "CART": lambda: tw.DecisionTreeClassifier(max_depth=2).fit(X, LABELS),
    "CART, weights": lambda: tw.DecisionTreeClassifier(max_depth=2, class_weight="balanced").fit(X, LABELS),
    "CART, numbers": lambda: tw.DecisionTreeRegressor(max_depth=2).fit(X, NUMBERS),
    "C4.5": lambda: tw.C45Classifier().fit(X, LABELS),
    "ID3": lambda: tw.ID3Classifier(nominal="all").fit({"b": X["b"]}, LABELS),
    "CHAID": lambda: tw.CHAIDClassifier(**LOOSE).fit(X, LABELS),
    "CHAID, numbers": lambda: tw.CHAIDRegressor(**LOOSE).fit(X, NUMBERS),
    "forest": lambda: tw.RandomForestClassifier(3).fit(X, LABELS),
    "boosting": lambda: tw.GradientBoostingClassifier(n_estimators=3, min_samples_leaf=5).fit(
        X, LABELS, X_val=X, y_val=LABELS
    ),
    "boosting, quantile": lambda: tw.GradientBoostingRegressor(n_estimators=3, min_samples_leaf=5, loss="quantile").fit(
        X, NUMBERS
    ),
    "bagging": lambda: tw.BaggingClassifier(tw.C45Classifier(), 3).fit(X, LABELS),
    "AdaBoost": lambda: tw.AdaBoostClassifier(n_estimators=3).fit(X, LABELS),
    "isolation": lambda: tw.IsolationForest(n_estimators=3).fit(X),
}


def ways(facts, above=()):
    """The way to every fact, and to every fact inside one."""
    for name, value in facts.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from ways(value, (*above, name))


def changed(facts, way, value):
    """The facts with another value at the end of a way; the very same object means none."""
    name, *rest = way
    if rest:
        return {**facts, name: changed(facts[name], rest, value)}
    return {key: held for key, held in facts.items() if key != name} | ({} if value is BAD else {name: value})


def questions(model, target):
    """Everything that reads facts."""
    table = {name: X[name] for name in model.schema.names}
    yield model.show
    yield lambda: repr(model)
    if model.is_single_tree:
        yield lambda: str(model.audit(table, target))
        for method in METHODS:
            rows = (table, target) if METHODS[method].needs != "none" else ()
            yield lambda method=method, rows=rows: model.prune(method, *rows)
    elif target is not None:
        yield lambda: model.prune("rounds", table, target)


def is_refused(model):
    """Whether a file with this model would be refused for its facts."""
    try:
        check_model(model)
    except ModelFileError as error:
        return str(error).startswith("facts: ")
    return False


def ask_naming(ask, way, value):
    """Ask; an error that is none of ours names the fact."""
    try:
        ask()
    except TreewrightError:
        raise
    except Exception as error:
        raise AssertionError(f"{'.'.join(way)} = {value!r}: {error!r}") from error


@pytest.mark.parametrize("name", few(list(MAKERS), 4))
def test_a_fact_of_another_type_is_refused_or_borne(name):
    model = MAKERS[name]().model_
    target = {"regression": NUMBERS, "classification": LABELS}[model.task] if name != "isolation" else None
    facts = {**model.facts, "parameters": {**model.facts["parameters"], "max_p_value": None}, "pruning": []}
    check_model(replace(model, facts=facts))
    refused = 0
    for way in list(ways(facts)):
        for value in (*BAD, BAD):
            other = replace(model, facts=changed(facts, way, value))
            if is_refused(other):
                refused += 1
                continue
            for ask in questions(other, target):
                with suppress(TreewrightError):
                    ask_naming(ask, way, value)

    assert refused > 40


def test_the_error_names_the_fact_and_what_is_expected():
    model = MAKERS["CART"]().model_

    with pytest.raises(ModelFileError, match=r"facts: parameters\.criterion is \[1\], expected text"):
        check_model(replace(model, facts=changed(model.facts, ("parameters", "criterion"), [1])))


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (tw.DecisionTreeRegressor, "max_depth", True),
        (tw.CHAIDRegressor, "max_depth", True),
        (tw.DecisionTreeRegressor, "min_samples_leaf", 10**400),
        (tw.RandomForestRegressor, "min_samples_leaf", 10**400),
        (tw.DecisionTreeRegressor, "min_samples_split", Fraction(1, 4)),
        (tw.DecisionTreeRegressor, "ccp_alpha", 10**400),
        (tw.RandomForestRegressor, "min_impurity_decrease", np.float32(0.25)),
        (tw.DecisionTreeRegressor, "monotonic_cst", {"a": np.int8(1)}),
        (tw.DecisionTreeRegressor, "monotonic_cst", np.array([1.0, 0.0])),
    ],
)
def test_what_a_fit_takes_its_file_says_and_a_load_takes(kind, name, value, tmp_path):
    fitted = kind(**{name: value}).fit({"a": X["a"], "c": NUMBERS}, NUMBERS)

    fitted.save(tmp_path / "model.tw")

    assert tw.load(tmp_path / "model.tw").facts == fitted.model_.facts


def test_facts_that_nobody_knows_may_be_anything():
    model = MAKERS["CART"]().model_

    check_model(replace(model, facts={**model.facts, "of_my_own": [{"x": None}]}))
