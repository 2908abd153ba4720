"""Every algorithm once: its names, its parameters, the function that learns it, its estimators, others' words for it.

The command line, comparisons, model files and reports look up an algorithm by name here. Nothing is imported before
it is needed: the learner of one algorithm needs none of the others' kernels.

Whoever types another library's name of a parameter is told ours, in Python (`naming_keywords`, `keyword_hint`) and on
the command line (`option_hint`). The tables in docs/coming-from are the same for readers.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from treewright.data.schema import did_you_mean
from treewright.exceptions import ParameterError

if TYPE_CHECKING:
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
OPTIMAL = Algorithm(
    "optimal", "optimal", "optimal tree", "optimal", "OptimalTreeParams", "train_optimal",
    "OptimalTreeClassifier", "OptimalTreeRegressor", aliases=("optimal-tree",),
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
    CART, ID3, C45, CHAID, OPTIMAL, EXTRA_TREE, FOREST, EXTRA_TREES, BAGGING, BOOSTING, ADABOOST, NEIGHBORS, ISOLATION,
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


# Ours -> theirs.
_THEIRS = {
    "n_estimators": (
        "max_iter", "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "n_trees", "ntree", "ntrees",
        "num_round", "num_rounds", "nrounds", "num_boost_round", "iterations", "n_rounds", "trees", "num.trees",
    ),
    "learning_rate": ("eta", "shrinkage", "shrinkage_rate"),
    "max_leaf_nodes": ("num_leaves", "num_leaf", "max_leaves", "max_leaf", "max_leafs", "maxnodes"),
    "max_depth": ("depth", "maxdepth"),
    "growth": ("grow_policy",),
    "min_samples_leaf": (
        "min_data_in_leaf", "min_child_samples", "min_data", "min_data_per_leaf", "minbucket", "nodesize",
    ),
    "min_samples_split": ("minsplit",),
    "min_child_weight": ("min_sum_hessian_in_leaf", "min_sum_hessian", "min_hessian", "min_sum_hessian_per_leaf"),
    "l1": ("lambda_l1", "reg_alpha", "l1_regularization"),
    "l2": ("lambda_l2", "reg_lambda", "l2_regularization", "l2_leaf_reg", "lambda", "lambda_"),
    "min_gain": ("min_gain_to_split", "min_split_gain", "min_split_loss", "gamma"),
    "subsample": ("bagging_fraction", "sub_row"),
    "sampling": ("data_sample_strategy", "sampling_method"),
    "features_per_tree": ("feature_fraction", "colsample_bytree", "sub_feature"),
    "features_per_level": ("colsample_bylevel", "rsm"),
    "features_per_node": ("feature_fraction_bynode", "colsample_bynode", "max_features"),
    "max_features": ("mtry",),
    "max_samples": ("sampsize", "sample_fraction"),
    "bootstrap": ("replace",),
    "max_bins": ("max_bin", "border_count"),
    "max_surrogates": ("maxsurrogate",),
    "criterion": ("split_criterion",),
    "level_smoothing": ("cat_smooth",),
    "level_l2": ("cat_l2",),
    "loss": ("objective", "loss_function"),
    "huber_delta": ("huber_slope",),
    "tweedie_power": ("tweedie_variance_power",),
    "init": ("base_score", "init_score"),
    "class_weight": ("class_weights", "scale_pos_weight", "is_unbalance", "auto_class_weights", "classwt"),
    "monotonic_cst": ("monotone_constraints",),
    "interaction_cst": ("interaction_constraints",),
    "ccp_alpha": ("cp",),
    "n_neighbors": ("k",),
    "estimator": ("base_estimator",),
    "sample_weight": ("case_weights",),
    # How pandas, polars and R read a text file.
    "separator": ("sep", "delimiter", "delim"),
    "missing_tokens": ("na_values", "null_values", "na_strings", "na.strings"),
    "decimal": ("dec", "decimal_comma"),
    "skip_rows": ("skiprows", "skip"),
    "skip_footer": ("skipfooter",),
    "target": ("label", "y", "response"),
    "leave_out": ("drop", "ignore"),
}  # fmt: skip
_NAMES: dict[str, tuple[str, ...]] = {theirs: (ours,) for ours, names in _THEIRS.items() for theirs in names}
# In scikit-learn's and LightGBM's boosting it is the quantile or Huber's delta, in XGBoost the penalty.
_NAMES["alpha"] = ("quantile", "huber_delta", "l1")
_NAMES |= dict.fromkeys(("weight", "weights", "sample_weight"), ("sample_weight", "weight"))
# Of the trees of ensembles that take an estimator.
_OF_TREES = (
    "max_depth", "max_leaf_nodes", "min_samples_leaf", "min_samples_split", "min_impurity_decrease", "criterion",
    "splitter", "ccp_alpha", "max_bins", "monotonic_cst", "interaction_cst", "nominal", "ordinal", "numeric",
    "calendar", "missing", "unseen",
)  # fmt: skip


class _Advice(NamedTuple):
    """What takes the place of a parameter that has no counterpart of its own."""

    command: str
    python: str
    needs: str = ""  # the parameter that an algorithm must have for it


_OTHERWISE: dict[str, _Advice] = {
    **dict.fromkeys(
        ("eval_set", "valid_sets", "X_val", "y_val"),
        _Advice(
            "--set early_stopping=true holds out rows that evaluate the rounds; rows of your own need Python",
            "pass rows that evaluate the rounds to fit(X, y, X_val=, y_val=)",
            "early_stopping",
        ),
    ),
    **dict.fromkeys(
        ("early_stopping_rounds", "early_stopping_round", "od_wait"),
        _Advice(
            "here it is --set early_stopping=true --set n_iter_no_change=N",
            "here it is early_stopping=True and n_iter_no_change=N",
            "early_stopping",
        ),
    ),
    **dict.fromkeys(
        ("eval_metric", "metric"), _Advice("rounds are evaluated by the loss", "here it is scoring", "loss")
    ),
    **dict.fromkeys(
        ("bagging_freq", "subsample_freq"),
        _Advice("subsample samples rows for every round", "subsample samples rows for every round", "subsample"),
    ),
    **dict.fromkeys(
        ("verbose_eval", "verbosity", "silent", "logging_level"),
        _Advice("the progress bar is shown by itself on a terminal", "here it is verbose"),
    ),
    **dict.fromkeys(
        ("cat_features", "categorical_feature", "categorical_features", "enable_categorical"),
        _Advice(
            "text columns are nominal by default; --nominal COL declares others",
            "text columns are nominal by default; nominal=[...] declares others",
        ),
    ),
    **dict.fromkeys(("seed", "random_seed"), _Advice("use --seed", "here it is random_state")),
    **dict.fromkeys(("num_threads", "nthread", "thread_count"), _Advice("use --jobs", "here it is n_jobs")),
    **dict.fromkeys(
        (
            "presort",
            "behaviour",
            "leaf_size",
            "importance_type",
            "boosting_type",
            "boosting",
            "booster",
            "tree_method",
            "device",
            "device_type",
            "gpu_id",
            "task_type",
            "bootstrap_type",
            "bagging_temperature",
            "od_type",
            "use_best_model",
            "leaf_estimation_iterations",
            "leaf_estimation_method",
            "one_hot_max_size",
            "max_cat_to_onehot",
            "max_cat_threshold",
            "linear_tree",
            "force_col_wise",
            "force_row_wise",
            "allow_writing_files",
            "surrogatestyle",
        ),
        _Advice("", "leave it out: there is no such choice"),
    ),
    "xval": _Advice("use --prune ccp-min or ccp-1se", "use model_selection.pruning_path(est, X, y, cv=10)"),
    "usesurrogate": _Advice("here it is --set missing=surrogate", "here it is missing='surrogate'", "max_surrogates"),
    "method": _Advice("use --task", "use the class for your target: ...Classifier or ...Regressor"),
    "parms": _Advice("use --criterion and --class-weight", "here it is criterion and class_weight"),
    "cost": _Advice("--cost fp=1,fn=5 chooses a threshold", "use model_selection.choose_threshold(cost=...)"),
}

# Theirs -> the word of our algorithm.
_ALGORITHMS = {
    **dict.fromkeys(("tree", "decision_tree", "dt", "rpart"), "cart"),
    **dict.fromkeys(("j48", "c4.5", "c50", "c5.0"), "c45"),
    **dict.fromkeys(("rf", "random_forest", "randomforest", "ranger"), "forest"),
    **dict.fromkeys(("et", "extratrees", "extra_tree_forest"), "extra-trees"),
    **dict.fromkeys(
        ("gb", "gbm", "gbdt", "gbrt", "gradient_boosting", "xgb", "xgboost", "lgbm", "lightgbm", "catboost"), "boosting"
    ),
    **dict.fromkeys(("ada", "ada_boost"), "adaboost"),
    **dict.fromkeys(("kknn", "k_nn", "neighbors", "nearest_neighbors"), "knn"),
    **dict.fromkeys(("iforest", "isolation_forest"), "isolation"),
}


def algorithm_hint(word: str, known: Collection[str]) -> str:
    """The algorithm that an unknown word means, as a question in brackets; empty if none is near.

    Examples
    --------
    >>> algorithm_hint("rf", ["cart", "forest"]), algorithm_hint("forrest", ["forest"]), algorithm_hint("svm", ["cart"])
    (" (did you mean 'forest'?)", " (did you mean 'forest'?)", '')
    """
    meant = _ALGORITHMS.get(word.lower().replace("-", "_").replace(" ", "_"))
    return f" (did you mean {meant!r}?)" if meant in known else did_you_mean(word, known)


def option_hint(name: str, known: Collection[str]) -> str:
    """What to write on the command line instead of another library's name; empty for an unknown name.

    Parameters
    ----------
    name : str
    known : collection of str
        The parameters of the algorithm.

    Examples
    --------
    >>> option_hint("num_leaves", ["max_leaf_nodes"]), option_hint("num_leaves", []), option_hint("seed", [])
    ('here it is max_leaf_nodes', '', 'use --seed')
    """
    ours = _ours(name, known)
    advice = _OTHERWISE.get(name)
    return ours if ours or advice is None or not _fits(advice, known) else advice.command


def keyword_hint(name: str, known: Collection[str]) -> str:
    """What to write in Python instead of a keyword that does not exist, perhaps another library's or a typing error.

    Examples
    --------
    >>> keyword_hint("num_leaves", ["max_leaf_nodes"]), keyword_hint("max_dept", ["max_depth"])
    ('here it is max_leaf_nodes', "did you mean 'max_depth'?")
    >>> keyword_hint("seed", ["random_state"]), keyword_hint("colour", ["max_depth"])
    ('here it is random_state', '')
    >>> keyword_hint("num_leaves", ["estimator"])
    'it belongs to the trees: give estimator a tree with max_leaf_nodes=...'
    """
    ours = _ours(name, known)
    if ours:
        return ours
    of_trees = next((each for each in (name, *_NAMES.get(name, ())) if each in _OF_TREES), None)
    if of_trees is not None and "estimator" in known:
        return f"it belongs to the trees: give estimator a tree with {of_trees}=..."
    advice = _OTHERWISE.get(name)
    if advice is not None and _fits(advice, known):
        named = advice.python.removeprefix("here it is ")
        if named == advice.python or named.partition("=")[0].split(" ")[0] in known:
            return advice.python
    if name in _OTHERWISE or name in _NAMES:  # it has no counterpart here, so that a name like it is another thing
        return ""
    lowered = {each.lower().replace("_", ""): each for each in known}
    near = difflib.get_close_matches(name.lower().replace("_", "").replace(".", ""), list(lowered), n=1, cutoff=0.7)
    return f"did you mean {lowered[near[0]]!r}?" if near else ""


def _ours(name: str, known: Collection[str]) -> str:
    ours = [each for each in _NAMES.get(name, ()) if each in known]
    return f"here it is {' or '.join(ours)}" if ours else ""


def _fits(advice: _Advice, known: Collection[str]) -> bool:
    return not advice.needs or advice.needs in known


Method = TypeVar("Method", bound=Callable[..., Any])


def naming_keywords(method: Method, parameters: bool = False) -> Method:
    """The same ``__init__`` or ``fit``, whose error about an unknown argument names the one to use here."""
    arguments = inspect.signature(method).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in arguments.values()):
        return method  # it looks at them itself
    named = {name for name, each in arguments.items() if each.kind is not inspect.Parameter.POSITIONAL_ONLY}
    n_positional = sum(each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for each in arguments.values())

    @functools.wraps(method)
    def checked(self: Any, *positional: Any, **given: Any) -> Any:
        if not given.keys() <= named:
            word = next(name for name in given if name not in named)
            refuse_keyword(self, method.__name__, word, [name for name in arguments if name != "self"])
        if parameters and len(positional) >= n_positional:
            raise TypeError(
                f"{type(self).__name__}() takes {n_positional - 1} arguments by position, not {len(positional)}: give "
                f"its parameters by name, as in {type(self).__name__}({list(arguments)[n_positional]}=...)"
            )
        return method(self, *positional, **given)

    return checked  # type: ignore[return-value]


def refuse_keyword(estimator: Any, method: str, word: str, known: Collection[str], hint: str = "") -> None:
    """Raise a TypeError about a keyword that a method does not have; the known ones are those of the method."""
    owner = type(estimator).__name__
    hint = hint or keyword_hint(word, known)
    if not hint and method == "fit":
        of_class = estimator._parameters()
        meant = word if word in of_class else keyword_hint(word, of_class).removeprefix("here it is ")
        is_name = meant.partition("=")[0].split(" ")[0] in of_class
        hint = f"here it is a parameter of {owner}: {meant}" if is_name else meant
    hint = hint or f"choose one of {', '.join(sorted(known))}"
    raise TypeError(f"{owner}.{method}() got an unexpected keyword argument {word!r}: {hint}")
