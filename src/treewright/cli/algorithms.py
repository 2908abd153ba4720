"""Algorithms by the words of the command line. In: a word, a request. Out: estimators, their parameters.

Callers: cli.learn, cli.compare, cli.fit, cli.isolate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from treewright.cli.declared import OWN_OPTION, parse_settings
from treewright.cli.terminal import UsageRefusal, printable

if TYPE_CHECKING:
    from treewright.cli.learn import FitRequest

__all__ = [
    "ALGORITHMS",
    "BOOSTING",
    "ENSEMBLES",
    "ISOLATION",
    "NEIGHBORS",
    "check_is_one_model",
    "known_parameters",
    "made",
    "own_settings",
    "words_of",
]

# Algorithm -> estimator for classes, estimator for numbers (None where it has none).
ALGORITHMS: dict[str, tuple[str, str | None]] = {
    "cart": ("DecisionTreeClassifier", "DecisionTreeRegressor"),
    "id3": ("ID3Classifier", None),
    "c45": ("C45Classifier", None),
    "chaid": ("CHAIDClassifier", "CHAIDRegressor"),
    "forest": ("RandomForestClassifier", "RandomForestRegressor"),
    "extra-trees": ("ExtraTreesClassifier", "ExtraTreesRegressor"),
    "bagging": ("BaggingClassifier", "BaggingRegressor"),
    "boosting": ("GradientBoostingClassifier", "GradientBoostingRegressor"),
    "adaboost": ("AdaBoostClassifier", "AdaBoostRegressor"),
    "knn": ("KNeighborsClassifier", "KNeighborsRegressor"),
}
ENSEMBLES = ("forest", "extra-trees", "bagging", "boosting", "adaboost")
BOOSTING = "boosting"
NEIGHBORS = "knn"
OF_MEMBERS = ("bagging", "adaboost")  # ensembles of another algorithm's trees
ISOLATION = "isolation"  # it has no target

# What is fitted, with its verb: the one of these words that fits stands in every line about it.
_ONE_TREE, _TREES, _ROWS = ("tree", "is"), ("trees", "are"), ("model", "is")

_BASE = "estimator"  # what ensembles call the algorithm of their members, and how the parameters of that begin
_OF_BASE = f"{_BASE}__"
_OF_COLUMNS = ("nominal", "ordinal", "numeric", "unseen")


def words_of(algorithm: str) -> tuple[str, str]:
    """What an algorithm fits, in a word, and the verb that goes with it: ``("tree", "is")``."""
    if algorithm == NEIGHBORS:
        return _ROWS
    return _TREES if algorithm in ENSEMBLES else _ONE_TREE


def known_parameters(request: FitRequest, is_classification: bool) -> dict[str, Any]:
    """The parameters that ``--set`` can name, with their defaults.

    Raises
    ------
    UsageRefusal
        The algorithm, or that of its members, does not predict such a target.
    """
    known: dict[str, Any] = _class_of(request.algorithm, request, is_classification)().get_params(deep=False)
    if request.algorithm in OF_MEMBERS:
        base = _base_of(request, is_classification).get_params()
        # Threads and seeds are those of the whole; a trace is of one fit.
        without = {*OWN_OPTION, "grow_trace"}
        known |= {f"{_OF_BASE}{name}": value for name, value in base.items() if name not in without}
    return known


def own_settings(request: FitRequest, is_classification: bool) -> dict[str, Any]:
    """What ``--set`` says.

    Raises
    ------
    UsageRefusal
        A word is no parameter with its value, or members are to be what cannot be one.
    """
    known = known_parameters(request, is_classification)
    other: dict[str, Any] = {}
    with suppress(UsageRefusal):  # an algorithm may be for classes alone
        other = known_parameters(request, not is_classification)
    meant, found = ("numbers", "classes") if is_classification else ("classes", "numbers")
    why = f"is for targets of {meant}, and {printable(request.target)} holds {found} (--task says it otherwise)"
    return parse_settings(request.settings, known, dict.fromkeys(set(other) - set(known), why))


def made(request: FitRequest, is_classification: bool, settings: Mapping[str, Any], own: Mapping[str, Any]) -> Any:
    """A fresh estimator.

    Parameters
    ----------
    request : FitRequest
    is_classification : bool
    settings : mapping
        As ``own_settings`` gives them.
    own : mapping
        What has an option of its own; parameters that the algorithm lacks are left out.

    Returns
    -------
    estimator

    Raises
    ------
    ValueError
        A parameter is out of range.
    """
    kind = _class_of(request.algorithm, request, is_classification)
    given = {name: value for name, value in settings.items() if not name.startswith(_BASE)}
    known = kind().get_params(deep=False)
    estimator = kind(**given, **{name: value for name, value in own.items() if name in known and name not in given})
    if request.algorithm in OF_MEMBERS:
        base = _base_of(request, is_classification)
        of_base = {name: value for name, value in own.items() if name in _OF_COLUMNS and name in base.get_params()}
        for name, value in settings.items():
            if name.startswith(_OF_BASE):
                of_base[name.removeprefix(_OF_BASE)] = value
        estimator.set_params(estimator=base.set_params(**of_base))
        estimator.estimator._validate_params()
    estimator._validate_params()
    return estimator


def check_is_one_model(estimator: Any, n_columns: int) -> None:
    """Refuse a fit whose trees could be neither shown nor saved as one model.

    Parameters
    ----------
    estimator : estimator
        As it was made.
    n_columns : int
        Of the table.

    Raises
    ------
    UsageRefusal
        Trees are to be bagged on some of the columns.
    """
    if not hasattr(estimator, "bootstrap_features"):  # no bag
        return
    from treewright.learn.settings import columns_of_each

    if estimator.bootstrap_features or columns_of_each(estimator.max_features, n_columns) < n_columns:
        raise UsageRefusal(
            "--set max_features, bootstrap_features: bagged trees on some of the columns are no one model that could "
            "be shown or saved here; --set estimator__max_features=0.5 draws columns for each node, or use Python"
        )


def _base_of(request: FitRequest, is_classification: bool) -> Any:
    """What members are copies of: ``--set estimator=c45``, or the ensemble's own choice.

    Raises
    ------
    UsageRefusal
        There is no such algorithm, it is no single tree, or does not predict such a target.
    """
    algorithm = _algorithm_of_members(request.settings)
    if algorithm is None:
        return _class_of(request.algorithm, request, is_classification)()._default_base()
    return _class_of(algorithm, request, is_classification)()


def _algorithm_of_members(words: Sequence[str]) -> str | None:
    """The algorithm that ``--set estimator=`` names; None where nothing is said.

    Raises
    ------
    UsageRefusal
        There is no such algorithm, or it is no single tree.
    """
    for word in words:
        name, equals, value = (part.strip() for part in word.partition("="))
        if name == _BASE and equals:
            trees = [algorithm for algorithm in ALGORITHMS if algorithm not in (*ENSEMBLES, NEIGHBORS)]
            if value not in trees:
                raise UsageRefusal(f"--set {word!r}: members can be trees of {', '.join(trees)}")
            return value
    return None


def _class_of(algorithm: str, request: FitRequest, is_classification: bool) -> Any:
    """The estimator of an algorithm.

    Raises
    ------
    UsageRefusal
        It does not predict numbers.
    """
    import treewright

    name = ALGORITHMS[algorithm][0 if is_classification else 1]
    if name is None:
        able = ", ".join(word for word, (_, regressor) in ALGORITHMS.items() if regressor)
        raise UsageRefusal(
            f"--algorithm {algorithm} predicts classes, and target {printable(request.target)} holds numbers: "
            f"use one of {able}, or --task classification"
        )
    return getattr(treewright, name)
