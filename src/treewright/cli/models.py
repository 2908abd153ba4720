"""Models at the terminal: which kind a file holds, which commands refuse it, and rows with their target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from treewright import files
from treewright.cli.streams import in_words
from treewright.cli.terminal import UsageRefusal, note, printable, printable_lines
from treewright.data.derived import is_derived
from treewright.evaluation.measures import plain_label
from treewright.exceptions import ParameterError, TreewrightError
from treewright.files.matching import columns_of
from treewright.trees.summary import counted
from treewright.trees.threshold import cost_by_class
from treewright.trees.wording import clock_of

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import TypeIs

    from treewright.model import Model
    from treewright.model.neighbors import NeighborsModel

    AnyModel = Model | NeighborsModel

__all__ = [
    "check_importances",
    "columns_in_words",
    "is_ensemble",
    "is_isolation",
    "is_neighbors",
    "labelled_rows",
    "load_model",
    "note_left_out",
    "of_trees",
    "one_tree",
    "permutation_importances",
    "refuse_isolation",
    "summary",
    "target_name",
    "weighted_rows",
]

_REPEATS = 5  # shuffles of a column, if all trees are evaluated together


def load_model(path: Path) -> AnyModel:
    """The model in a file; errors about a model from a pipe name standard input."""
    import treewright

    try:
        return treewright.load(path)
    except TreewrightError as error:
        told = in_words(path, str(error))
        if told == str(error):
            raise
        raise type(error)(told) from None


# --- which kind


def is_neighbors(model: AnyModel) -> TypeIs[NeighborsModel]:
    """Whether a model is one of nearest neighbours, which holds rows instead of trees."""
    from treewright.model import Model

    return not isinstance(model, Model)  # importing the other class would load kernels that trees do not need


def is_ensemble(model: Model) -> bool:
    """Whether the model has many trees that predict together."""
    return model.combine != "single"


def is_isolation(model: AnyModel) -> TypeGuard[Model]:
    """Whether the model is an isolation forest, which predicts no target."""
    return model.facts.get("algorithm") == "isolation_forest"


def of_trees(model: AnyModel, path: Path, what: str) -> Model:
    """The same model if it holds trees; nearest neighbours, which do not have ``what`` (``"--tree"``), are refused."""
    if is_neighbors(model):
        raise UsageRefusal(
            f"{what}: for trees only, and {printable(path)} holds nearest neighbours; show as text, predict and "
            "evaluate are for both"
        )
    return model


def refuse_isolation(model: AnyModel, path: Path, what: str) -> None:
    """Refuse an isolation forest where a target is needed."""
    if is_isolation(model):
        raise UsageRefusal(f"{path} is an isolation forest, which has no target: {what}; predict gives anomaly scores")


def one_tree(model: Model, path: Path, tree: int | None, what: str) -> Model:
    """The tree of that number as a model of its own; ``what`` names the option that needs one tree."""
    if tree is None and is_ensemble(model):
        raise UsageRefusal(
            f"{what} is for one tree, and {path} has {model.n_trees}: choose one with --tree N, from 0 to "
            f"{model.n_trees - 1}"
        )
    try:
        return model.tree(tree or 0)
    except ParameterError as error:
        raise UsageRefusal(f"--{error}") from None


# --- in words


def columns_in_words(model: AnyModel) -> str:
    """How many columns a model has, and of what kinds."""
    schema = columns_of(model)
    kinds = ["date" if any(clock_of(column)) else column.kind for column in schema.needed]
    by_kind = ", ".join(
        f"{kinds.count(kind)} {kind}" for kind in ("numeric", "date", "ordinal", "nominal") if kind in kinds
    )
    if len(kinds) < len(schema.given):
        by_kind += f"; {len(schema.given) - len(kinds)} left out"
    n_derived = sum(map(is_derived, schema.columns))
    if n_parts := len(schema) - len(schema.given) - n_derived:
        by_kind += f"; plus {counted(n_parts, 'part')} of dates"
    if n_derived:
        by_kind += f"; plus {counted(n_derived, 'derived column')}"
    return f"{counted(len(kinds), 'column')} ({by_kind})"


def summary(model: Model, path: Path | None) -> str:
    """A summary of many trees, and the command that shows one of them."""
    lines = model.show().rstrip("\n").split("\n")[:-1]  # the last line is for Python
    return "\n".join([*lines, f"treewright show {path or 'MODEL'} --tree 0 shows the first tree"])


# --- its rows


def target_name(model: AnyModel, model_path: Path, target: str | None, what: str) -> str:
    """The target column: the name that the user gave, or the one that the model was fitted with.

    ``what`` is the command or option that needs it.
    """
    if model.n_targets != 1:
        raise UsageRefusal(f"{model_path} predicts {model.n_targets} targets at once; {what} works with one target")
    name = target or (model.target_names[0] if model.target_names else None)
    if name is None:
        raise UsageRefusal(f"{model_path} does not hold the name of its target: give it with --target")
    if target is None and model.n_outputs > 1:  # several quantiles: the name of each output ends in its level
        return name.removesuffix(f" {name.rpartition(' ')[2]}")
    return name


def labelled_rows(
    model: AnyModel, data: Path, options: files.ReadOptions, name: str, *, skip: bool
) -> tuple[Any, np.ndarray]:
    """Features and target of all rows of a file; a note counts the rows that are left out without a target."""
    return weighted_rows(model, data, options, name, None, skip=skip)[:2]


def note_left_out(n_left_out: int, n_rows: int) -> None:
    """Print how many rows are left out because they have no target."""
    verbs = "has no target and is" if n_left_out == 1 else "have no target and are"
    note(f"{n_left_out} of {counted(n_rows, 'row')} {verbs} left out")


def weighted_rows(
    model: AnyModel, data: Path, options: files.ReadOptions, name: str, weight: str | None, *, skip: bool
) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """As ``labelled_rows``, with a weight for each row."""
    rows = files.labelled_rows(model, data, options, name, weight, skip=skip)
    if rows.n_skipped:
        note_left_out(rows.n_skipped, rows.n_skipped + len(rows.target))
    return rows.features, rows.target, rows.weights


# --- how much columns matter


def check_importances(model: Model, path: Path) -> None:
    """Refuse models that have no permutation importances.

    In these a row with missing cells ends in several leaves, or the loss of boosting is not in the file.
    """
    loss = model.facts.get("loss")
    if model.boosting is not None and isinstance(loss, dict) and loss.get("name") == "own":
        raise UsageRefusal(f"--importances: the loss of {path} is a Python function, which the file does not contain")
    if model.missing == "fractional" and model.tree_weights is None:
        raise UsageRefusal(
            f"--importances: {path} divides rows with missing cells among leaves (missing='fractional'), so such a row "
            "has no single leaf: leave it out"
        )


def permutation_importances(model: Model, features: Any, truth: np.ndarray) -> str:
    """How much worse the trees predict these rows when a column is shuffled (Breiman 2001); the seed is 0.

    If costs chose the threshold, all trees are evaluated together, by the cost per row. Else each tree is evaluated by
    itself. Boosted trees, of which each only adds to the others, are evaluated together, by
    their loss; those of AdaBoost, which depend on the trees before, by their joint predictions.
    """
    from treewright.core.threads import resolve_jobs
    from treewright.data.bin_rows import bin_rows
    from treewright.forest.importance import EvaluationRows, permutation_importances
    from treewright.trees.packed import PackedTrees

    n_threads = resolve_jobs(None)
    matrix, target, weights = model.encode_rows(features, truth, routed=True)
    if cost_by_class(model) is not None:
        from treewright.forest.importance import permutation_of_trees

        found = permutation_of_trees(model, matrix, target, weights, n_repeats=_REPEATS, seed=0, n_jobs=n_threads)
        return printable_lines(str(found))
    if model.boosting is not None:
        from treewright.boosting.growth import losses_of_model
        from treewright.forest import importance as boosting_importance
        from treewright.prune.methods import Rows
        from treewright.prune.methods import Rows as OtherRows

        losses = losses_of_model(model, Rows(matrix, target, weights))
        judged = OtherRows(matrix, target, weights)
        return printable_lines(
            str(boosting_importance.permutation_of_boosted(model, losses, judged, _REPEATS, 0, n_threads))
        )
    if model.tree_weights is not None:
        from treewright.forest.importance import permutation_of_trees

        found = permutation_of_trees(
            model, matrix, target, weights, n_repeats=_REPEATS, seed=0, n_jobs=n_threads, kind="error", what=""
        )
        return printable_lines(str(found))
    cells = bin_rows(model.trees.bins, matrix, n_threads) if isinstance(model.trees, PackedTrees) else matrix
    rows = EvaluationRows(cells, target, weights)
    return printable_lines(str(permutation_importances(model, rows, n_threads=n_threads)))


def decision_facts(model: AnyModel) -> dict[str, Any]:
    """The positive class and the threshold as JSON values; None where the model has none."""
    positive, threshold = None if model.positive is None else plain_label(model.positive), model.threshold
    about = None if threshold is None else {"class": positive, "at": threshold.at, "why": threshold.why}
    return {"positive": positive, "threshold": about}
