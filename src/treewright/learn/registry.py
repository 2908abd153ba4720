"""Every algorithm once: its names, its parameters, the function that learns it, and its estimators.

The command line, comparisons, model files and reports look up an algorithm by name here. Nothing is imported before it
is needed: the learner of one algorithm needs none of the others' kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from treewright.exceptions import ParameterError

if TYPE_CHECKING:  # the command reads the table before it needs numpy
    from treewright.learn.params import Params, Task


@dataclass(frozen=True)
class Algorithm:
    """One algorithm.

    Attributes
    ----------
    word : str
        Its name on the command line.
    name : str
        Its name in the facts of a model and in ``Params.algorithm_name``; trees of random cuts have "cart" there.
    title : str
        Its name in a sentence.
    module, params, learner : str
        The module that learns it, and the names of its dataclass of parameters and of its function in there.
    classifier, regressor : str or None
        Its estimators; None if it does not predict such a target.
    kind : {"tree", "trees", "members", "rows", "outliers"}
        What a fit makes: one tree; many trees; copies of another estimator; only the kept rows; scores without a
        target.
    aliases : tuple of str
        Other accepted words for it.
    detector : str or None
        Its estimator if there is no target.
    """

    word: str
    name: str
    title: str
    module: str
    params: str
    learner: str
    classifier: str | None
    regressor: str | None
    kind: str = "tree"
    aliases: tuple[str, ...] = ()
    detector: str | None = None

    @property
    def is_ensemble(self) -> bool:
        """Whether many trees predict together."""
        return self.kind in ("trees", "members")

    @property
    def is_neighbors(self) -> bool:
        """Whether it keeps the rows and grows nothing."""
        return self.kind == "rows"

    @property
    def of_members(self) -> bool:
        """Whether it fits copies of another estimator."""
        return self.kind == "members"

    @property
    def words(self) -> tuple[str, str]:
        """What a fit makes, and the verb that goes with it: ``("tree", "is")``."""
        return {"tree": ("tree", "is"), "rows": ("model", "is")}.get(self.kind, ("trees", "are"))

    def params_class(self) -> Any:
        """The dataclass of its parameters, a child of ``Params``."""
        return getattr(import_module(f"treewright.learn.{self.module}"), self.params)

    @property
    def estimators(self) -> dict[Task, str]:
        """The name of its estimator for each task; one that needs no target is listed under classes."""
        first = self.classifier or self.detector
        both: dict[Task, str | None] = {"classification": first, "regression": self.regressor}
        return {task: name for task, name in both.items() if name is not None}

    def estimator(self, task: Task) -> Any:
        """Its estimator for a task; None if it does not predict such a target."""
        name = self.classifier if task == "classification" else self.regressor
        return None if name is None else getattr(import_module("treewright"), name)


# fmt: off
CART = Algorithm(
    "cart", "cart", "CART", "single", "TreeParams", "train_tree",
    "DecisionTreeClassifier", "DecisionTreeRegressor", aliases=("tree", "decision-tree"),
)
ID3 = Algorithm("id3", "id3", "ID3", "single", "ID3Params", "train_tree", "ID3Classifier", None)
C45 = Algorithm(
    "c45", "c45", "C4.5", "single", "C45Params", "train_tree", "C45Classifier", None, aliases=("c4.5", "j48")
)
CHAID = Algorithm(
    "chaid", "chaid", "CHAID", "single", "ChaidParams", "train_tree", "CHAIDClassifier", "CHAIDRegressor"
)
EXTRA_TREE = Algorithm(
    "extra-tree", "extra_tree", "tree of random cuts", "single", "ExtraTreeParams", "train_tree",
    "ExtraTreeClassifier", "ExtraTreeRegressor",
)
FOREST = Algorithm(
    "forest", "random_forest", "random forest", "forest", "ForestParams", "train_forest",
    "RandomForestClassifier", "RandomForestRegressor", "trees", ("random-forest",),
)
EXTRA_TREES = Algorithm(
    "extra-trees", "extra_trees", "extra-trees", "forest", "ExtraTreesParams", "train_forest",
    "ExtraTreesClassifier", "ExtraTreesRegressor", "trees",
)
BAGGING = Algorithm(
    "bagging", "bagging", "bagging", "members", "BaggingParams", "",
    "BaggingClassifier", "BaggingRegressor", "members", ("bag",),
)
BOOSTING = Algorithm(
    "boosting", "gradient_boosting", "gradient boosting", "boosting", "BoostingParams", "train_boosting",
    "GradientBoostingClassifier", "GradientBoostingRegressor", "trees", ("gradient-boosting", "gbm"),
)
ADABOOST = Algorithm(
    "adaboost", "adaboost", "AdaBoost", "members", "AdaBoostParams", "",
    "AdaBoostClassifier", "AdaBoostRegressor", "members",
)
NEIGHBORS = Algorithm(
    "knn", "nearest_neighbors", "nearest neighbours", "neighbors", "NeighborsParams", "train_neighbors",
    "KNeighborsClassifier", "KNeighborsRegressor", "rows", ("nearest-neighbours", "nearest-neighbors"),
)
ISOLATION = Algorithm(
    "isolation", "isolation_forest", "isolation forest", "isolation", "IsolationParams", "train_isolation",
    None, None, "outliers", ("isolation-forest",), "IsolationForest",
)
ALGORITHMS = (
    CART, ID3, C45, CHAID, EXTRA_TREE, FOREST, EXTRA_TREES, BAGGING, BOOSTING, ADABOOST, NEIGHBORS, ISOLATION,
)
# fmt: on


@cache
def _by_name() -> dict[str, Algorithm]:
    """Every spelling of every algorithm."""
    return {name: each for each in ALGORITHMS for name in (each.word, each.name, *each.aliases)}


def algorithm_of(name: str) -> Algorithm | None:
    """The algorithm for a word, a name in a model's facts or an alias; None if there is none.

    Examples
    --------
    >>> algorithm_of("random_forest").word, algorithm_of("j48").title, algorithm_of("svm")
    ('forest', 'C4.5', None)
    """
    return _by_name().get(name)


def algorithm_of_estimator(estimator: Any) -> Algorithm | None:
    """The algorithm of an estimator of this library, or of a class made from one; None for any other object."""
    name = getattr(type(estimator), "_algorithm", None)
    return algorithm_of(name) if isinstance(name, str) else None


def learner_of(params: Params) -> Callable[..., Any]:
    """The function that learns by these parameters.

    Raises
    ------
    ParameterError
        Members are copies of an estimator, and only the ensemble's own estimator can fit those.
    """
    algorithm = _by_name()[params.algorithm_name]
    if not algorithm.learner:
        raise ParameterError(
            f"{algorithm.title} fits copies of an estimator: use {algorithm.classifier} or {algorithm.regressor}"
        )
    learner: Callable[..., Any] = getattr(import_module(f"treewright.learn.{algorithm.module}"), algorithm.learner)
    return learner
