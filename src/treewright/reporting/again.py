"""The estimator that made a model. In: a model's facts. Out: an unfitted estimator. Callers: reporting.

A report that is made from a model alone has folds to fit as well: its facts name the algorithm and the parameters. They
are plain JSON, and a function, or a label without a JSON form, is there by the name of its type only. So the estimator
counts only where its own facts would be those of the model again, and where what they name is in the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from treewright.data.kinds import resolve
from treewright.data.schema import Schema
from treewright.exceptions import DataError, ParameterError
from treewright.fitted import Model
from treewright.fitted.neighbors import NeighborsModel
from treewright.learn.params import plain
from treewright.neighbors.ranks import CALLED

# Algorithm, as facts name it -> its estimator for classes, for numbers.
ONE_TREE = {
    "cart": ("DecisionTreeClassifier", "DecisionTreeRegressor"),
    "id3": ("ID3Classifier", None),
    "c45": ("C45Classifier", None),
    "chaid": ("CHAIDClassifier", "CHAIDRegressor"),
}
MANY_TREES = {
    "random_forest": ("RandomForestClassifier", "RandomForestRegressor"),
    "extra_trees": ("ExtraTreesClassifier", "ExtraTreesRegressor"),
    "bagging": ("BaggingClassifier", "BaggingRegressor"),
    "adaboost": ("AdaBoostClassifier", "AdaBoostRegressor"),
    "gradient_boosting": ("GradientBoostingClassifier", "GradientBoostingRegressor"),
}
NEIGHBORS = {"nearest_neighbors": ("KNeighborsClassifier", "KNeighborsRegressor")}
# Parameters that map columns, classes or names to something; facts hold them as pairs.
MAPPINGS = ("class_weight", "metric_params", "monotonic_cst", "nominal", "ordinal", "scale")
DECLARATIONS = ("nominal", "ordinal", "numeric")
PAIR = 2


def estimator_of(model: Model | NeighborsModel) -> Any:
    """Return an unfitted estimator with the parameters of the fit that made a model.

    Parameters
    ----------
    model : Model or NeighborsModel

    Returns
    -------
    estimator or None
        None where the facts do not tell: a function of the user was a parameter, the model is one of many trees, or it
        comes from elsewhere. Of a generator as ``random_state`` the estimator has no seed.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.DecisionTreeClassifier(max_depth=2, class_weight={"in": 2.0})
    >>> model = est.fit({"sky": ["sun", "rain", "sun"]}, ["out", "in", "in"]).model_
    >>> estimator_of(model)
    DecisionTreeClassifier(class_weight={'in': 2.0}, max_depth=2)
    """
    if isinstance(model, NeighborsModel):
        known: Mapping[str, Any] = NEIGHBORS
        called = model.stored.metric.kind == CALLED
    else:
        known = ONE_TREE if model.combine == "single" else MANY_TREES
        called = False
    told = model.facts.get("parameters")
    if called or not isinstance(told, Mapping):
        return None
    base = None
    if isinstance(told.get("estimator"), str):
        base = _member_of(model)
        if base is None or type(base).__name__ != told["estimator"]:
            return None
    return _made(known, model, model.facts.get("algorithm"), told, base)


def _member_of(model: Model | NeighborsModel) -> Any:
    """The estimator of the members of bagging or AdaBoost; None where the facts do not tell."""
    member = model.facts.get("member")
    told = member.get("parameters") if isinstance(member, Mapping) else None
    if not isinstance(member, Mapping) or not isinstance(told, Mapping):
        return None
    return _made(ONE_TREE, model, member.get("algorithm"), told)


def _made(
    known: Mapping[str, Any], model: Model | NeighborsModel, algorithm: Any, told: Mapping[str, Any], base: Any = None
) -> Any:
    """An estimator with these parameters; None where there is none, or it would not be the same."""
    homes = known.get(algorithm) if isinstance(algorithm, str) else None
    name = None if homes is None else homes[0 if model.task == "classification" else 1]
    if name is None:
        return None
    parameters = {name: _restored(name, value) for name, value in told.items()}
    if isinstance(parameters.get("random_state"), str):
        parameters["random_state"] = None
    if base is not None:
        parameters["estimator"] = base
    try:
        made = getattr(import_module("treewright"), name)(**parameters)
        made._validate_params()
    except (TypeError, ValueError):
        return None
    return made if _is_whole(made, told) and _fits(made, model) else None


def _restored(name: str, value: Any) -> Any:
    """A parameter as a user writes it: pairs become a mapping where the parameter can be one."""
    if name not in MAPPINGS or not isinstance(value, list):
        return value
    if value and all(_is_pair(name, entry) for entry in value):
        return {entry[0]: entry[1] for entry in value}
    if name == "class_weight":  # a mapping for each output
        return [_restored(name, entry) if isinstance(entry, list) else entry for entry in value]
    return [tuple(entry) if isinstance(entry, list) else entry for entry in value]


def _is_pair(name: str, entry: Any) -> bool:
    """Whether an entry of a list is a key with its value."""
    if not isinstance(entry, list) or len(entry) != PAIR or isinstance(entry[0], list):
        return False
    return name != "nominal" or entry[1] is None or isinstance(entry[1], list)


def _is_whole(made: Any, told: Mapping[str, Any]) -> bool:
    """Whether the estimator's own facts would be these again, but for a seed that was a generator."""
    own = {name: plain(value) for name, value in made.get_params(deep=False).items() if name in told}
    return own == {
        name: None if name == "random_state" and isinstance(value, str) else value for name, value in told.items()
    }


def _fits(made: Any, model: Model | NeighborsModel) -> bool:
    """Whether the columns, levels and classes that the parameters name are those of the model."""
    given = made.get_params(deep=False)
    known = {label for labels in model.classes for label in labels.tolist()}
    if not known.issuperset(_labels_in(given.get("class_weight"))):
        return False
    groups = given.get("interaction_cst")
    if isinstance(groups, list) and not all(isinstance(group, list | tuple) for group in groups):
        return False  # sets are there by the name of their type
    return model.schema is None or _declares(given, model.schema)


def _labels_in(class_weight: Any) -> Iterator[Any]:
    """The labels that class weights are stated for."""
    for entry in class_weight if isinstance(class_weight, list) else [class_weight]:
        if isinstance(entry, Mapping):
            yield from entry


def _declares(given: Mapping[str, Any], schema: Schema) -> bool:
    """Whether declarations of columns lead to the model's own columns."""
    try:
        declared = resolve(schema.names, *(given.get(name) for name in DECLARATIONS))
        for name in ("monotonic_cst", "scale"):
            if isinstance(given.get(name), Mapping):
                resolve(schema.names, list(given[name]), None, None)
    except (DataError, ParameterError):
        return False
    return all(
        schema.columns[at].kind == said.kind and (not said.levels or said.levels == schema.columns[at].levels)
        for at, said in declared.items()
    )
