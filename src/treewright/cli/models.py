"""Models at the terminal: which kind a file holds, what is refused of it, its rows with their target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from treewright import files
from treewright.cli.streams import in_words
from treewright.cli.terminal import UsageRefusal, note, printable, printable_lines
from treewright.data.derived import is_derived
from treewright.exceptions import ParameterError, TreewrightError
from treewright.files.matching import columns_of
from treewright.model.summary import counted
from treewright.tree.wording import clock_of

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import TypeIs

    from treewright.fitted import Model
    from treewright.fitted.neighbors import NeighborsModel

    AnyModel = Model | NeighborsModel

__all__ = [
    "check_can_be_judged",
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

_REPEATS = 5  # shuffles of a column, where all trees are judged together


def load_model(path: Path) -> AnyModel:
    """The model in a file; an error of what came through a pipe calls it standard input."""
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
    """Whether a model holds rows and looks for the nearest, instead of trees."""
    from treewright.fitted import Model

    return not isinstance(model, Model)  # the other class would bring kernels that a model of trees does not need


def is_ensemble(model: Model) -> bool:
    """Whether many trees predict together."""
    return model.combine != "single"


def is_isolation(model: AnyModel) -> TypeGuard[Model]:
    """Whether it is an isolation forest, which predicts no target."""
    return model.facts.get("algorithm") == "isolation_forest"


def of_trees(model: AnyModel, path: Path, what: str) -> Model:
    """The same model, which holds trees; ``what``, such as ``"--tree"``, is refused of nearest neighbours."""
    if is_neighbors(model):
        raise UsageRefusal(
            f"{what}: for trees only, and {printable(path)} holds nearest neighbours; show as text, predict and "
            "evaluate are for both"
        )
    return model


def refuse_isolation(model: AnyModel, path: Path, what: str) -> None:
    """Refuse what needs a target."""
    if is_isolation(model):
        raise UsageRefusal(f"{path} is an isolation forest, which has no target: {what}; predict says how odd rows are")


def one_tree(model: Model, path: Path, tree: int | None, what: str) -> Model:
    """The tree that was asked for, as a model of its own; ``what`` is for one tree."""
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
    """How many columns a model knows, and of what kinds."""
    schema = columns_of(model)
    kinds = ["date" if any(clock_of(column)) else column.kind for column in schema.needed]
    by_kind = ", ".join(
        f"{kinds.count(kind)} {kind}" for kind in ("numeric", "date", "ordinal", "nominal") if kind in kinds
    )
    if len(kinds) < len(schema.given):
        by_kind += f"; {len(schema.given) - len(kinds)} left out"
    n_derived = sum(map(is_derived, schema.columns))
    if n_parts := len(schema) - len(schema.given) - n_derived:
        by_kind += f"; {counted(n_parts, 'part')} of dates beside them"
    if n_derived:
        by_kind += f"; {n_derived} made of them beside"
    return f"{counted(len(kinds), 'column')} ({by_kind})"


def summary(model: Model, path: Path | None) -> str:
    """What many trees are like as a whole, and how to see one of them."""
    lines = model.show().rstrip("\n").split("\n")[:-1]  # the last line says it for Python
    return "\n".join([*lines, f"treewright show {path or 'MODEL'} --tree 0 shows the first tree"])


# --- its rows


def target_name(model: AnyModel, model_path: Path, target: str | None, what: str) -> str:
    """The column with the truth: what the user named, or the name the model was fitted with.

    ``what`` is the command or option that asks.
    """
    if model.n_targets != 1:
        raise UsageRefusal(f"{model_path} predicts {model.n_targets} targets at once; {what} takes one from a file")
    name = target or (model.target_names[0] if model.target_names else None)
    if name is None:
        raise UsageRefusal(f"{model_path} does not know the name of its target: give it with --target")
    if target is None and model.n_outputs > 1:  # of several quantiles: each output has its level behind the name
        return name.removesuffix(f" {name.rpartition(' ')[2]}")
    return name


def labelled_rows(
    model: AnyModel, data: Path, options: files.ReadOptions, name: str, *, skip: bool
) -> tuple[Any, np.ndarray]:
    """Features and target of all rows of a file; a note tells how many are skipped because they have no target."""
    return weighted_rows(model, data, options, name, None, skip=skip)[:2]


def note_left_out(n_left_out: int, n_rows: int) -> None:
    """Tell how many rows are left out because they have no target."""
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


def check_can_be_judged(model: Model, path: Path) -> None:
    """Refuse models that cannot be judged on shuffled rows.

    In those a row with missing cells ends in several leaves, or boosting lowered a loss that the file does not know.
    """
    loss = model.facts.get("loss")
    if model.boosting is not None and isinstance(loss, dict) and loss.get("name") == "own":
        raise UsageRefusal(f"--importances: the loss of {path} is a function of Python, which the file cannot hold")
    if model.missing == "fractional" and model.tree_weights is None:
        raise UsageRefusal(
            f"--importances: {path} divides rows with missing cells among leaves (missing='fractional'), so a tree has "
            "no one answer to judge: leave it out"
        )


def permutation_importances(model: Model, features: Any, truth: np.ndarray) -> str:
    """How much worse the trees predict these rows when a column is shuffled (Breiman 2001); the seed is 0.

    Each tree by itself. Boosted trees, of which each only adds to the others, are judged all together, by their loss;
    those of AdaBoost, grown on the rows that others got wrong, by what they predict together.
    """
    from treewright.core.threads import resolve_jobs
    from treewright.data.bin_rows import bin_rows
    from treewright.forest.importance import JudgingRows, permutation_importances
    from treewright.tree.packed import PackedTrees

    n_threads = resolve_jobs(None)
    matrix, target, weights = model.encode_rows(features, truth, routed=True)
    if model.boosting is not None:
        from treewright.boosting.fewer_rounds import losses_of_model
        from treewright.learn import importance as boosting_importance
        from treewright.prune.methods import Rows
        from treewright.prune.methods import Rows as OtherRows

        losses = losses_of_model(model, Rows(matrix, target, weights))
        judged = OtherRows(matrix, target, weights)
        return printable_lines(
            str(boosting_importance.permutation_importances(model, losses, judged, _REPEATS, 0, n_threads))
        )
    if model.tree_weights is not None:
        from treewright.learn.importance import permutation_of_weighted_trees
        from treewright.prune.methods import Rows as OtherRows

        others = OtherRows(matrix, target, weights)
        return printable_lines(str(permutation_of_weighted_trees(model, others, _REPEATS, 0, n_threads)))
    cells = bin_rows(model.trees.bins, matrix, n_threads) if isinstance(model.trees, PackedTrees) else matrix
    rows = JudgingRows(cells, target, weights)
    return printable_lines(str(permutation_importances(model, rows, n_threads=n_threads)))
