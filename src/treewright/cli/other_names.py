"""What others call our parameters. In: a name of theirs. Out: a hint with ours. Callers: cli.declared.

Others: scikit-learn, LightGBM, XGBoost, CatBoost, with their aliases; the table in ``docs/guides/from-scikit-learn.md``
is the same for readers.
"""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["hint_for"]

# Ours -> theirs.
_THEIRS = {
    "n_estimators": (
        "max_iter", "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "n_trees", "ntree",
        "num_round", "num_rounds", "nrounds", "num_boost_round", "iterations",
    ),
    "learning_rate": ("eta", "shrinkage", "shrinkage_rate"),
    "max_leaf_nodes": ("num_leaves", "num_leaf", "max_leaves", "max_leaf"),
    "max_depth": ("depth", "maxdepth"),
    "growth": ("grow_policy",),
    "min_samples_leaf": (
        "min_data_in_leaf", "min_child_samples", "min_data", "min_data_per_leaf", "minbucket", "nodesize",
    ),
    "min_samples_split": ("minsplit",),
    "min_child_weight": ("min_sum_hessian_in_leaf", "min_sum_hessian", "min_hessian"),
    "l1": ("lambda_l1", "reg_alpha", "l1_regularization"),
    "l2": ("lambda_l2", "reg_lambda", "l2_regularization", "l2_leaf_reg", "lambda"),
    "min_gain": ("min_gain_to_split", "min_split_gain", "min_split_loss", "gamma"),
    "subsample": ("bagging_fraction", "sub_row"),
    "sampling": ("data_sample_strategy", "sampling_method"),
    "features_per_tree": ("feature_fraction", "colsample_bytree", "sub_feature"),
    "features_per_level": ("colsample_bylevel", "rsm"),
    "features_per_node": ("feature_fraction_bynode", "colsample_bynode", "max_features"),
    "max_features": ("mtry",),
    "max_bins": ("max_bin", "border_count"),
    "level_smoothing": ("cat_smooth",),
    "level_l2": ("cat_l2",),
    "loss": ("objective", "loss_function"),
    "huber_delta": ("huber_slope",),
    "tweedie_power": ("tweedie_variance_power",),
    "init": ("base_score", "init_score"),
    "class_weight": ("class_weights", "scale_pos_weight", "is_unbalance", "auto_class_weights"),
    "monotonic_cst": ("monotone_constraints",),
    "interaction_cst": ("interaction_constraints",),
    "ccp_alpha": ("cp",),
}  # fmt: skip
_NAMES: dict[str, tuple[str, ...]] = {theirs: (ours,) for ours, names in _THEIRS.items() for theirs in names}
# Of the boosting of scikit-learn and LightGBM it is the level or the distance, in XGBoost the penalty.
_NAMES["alpha"] = ("quantile", "huber_delta", "l1")

# Theirs -> what to say, and the parameter without which it means nothing.
_OTHERWISE = {
    **dict.fromkeys(
        ("eval_set", "valid_sets", "X_val", "y_val"),
        (
            "--set early_stopping=true keeps rows aside that judge the rounds, rows of your own are for Python",
            "early_stopping",
        ),
    ),
    **dict.fromkeys(
        ("early_stopping_rounds", "early_stopping_round", "od_wait"),
        ("here it is --set early_stopping=true --set n_iter_no_change=N", "early_stopping"),
    ),
    **dict.fromkeys(("eval_metric", "metric"), ("rounds are judged by the loss", "loss")),
    **dict.fromkeys(("bagging_freq", "subsample_freq"), ("subsample draws rows for every round", "subsample")),
    **dict.fromkeys(
        ("verbose_eval", "verbosity", "silent", "logging_level"),
        ("the bar is shown by itself where a person looks on", ""),
    ),
    **dict.fromkeys(
        ("cat_features", "categorical_feature", "categorical_features", "enable_categorical"),
        ("columns of text are nominal by themselves, others by --nominal COL", ""),
    ),
    **dict.fromkeys(("seed", "random_seed"), ("use --seed", "")),
    **dict.fromkeys(("num_threads", "nthread", "thread_count"), ("use --jobs", "")),
}


def hint_for(name: str, known: Collection[str]) -> str:
    """What to write instead of a name of theirs; empty where none is meant.

    Parameters
    ----------
    name : str
    known : collection of str
        Parameters that there are.

    Examples
    --------
    >>> hint_for("num_leaves", ["max_leaf_nodes"]), hint_for("num_leaves", []), hint_for("seed", [])
    ('here it is max_leaf_nodes', '', 'use --seed')
    """
    ours = [each for each in _NAMES.get(name, ()) if each in known]
    if ours:
        return f"here it is {' or '.join(ours)}"
    hint, needed = _OTHERWISE.get(name, ("", ""))
    return hint if not needed or needed in known else ""
