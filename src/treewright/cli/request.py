"""The request of a fit: its file is read and checked, and its options become what is fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from warnings import catch_warnings, simplefilter

import numpy as np
import polars as pl

from treewright.cli.algorithms import (
    ALGORITHMS,
    BASE,
    OF_BASE,
    algorithm_of_members,
    check_options,
    estimator_name,
    known_parameters,
    own_settings,
    parameters_for,
    parse_settings,
    with_typed_labels,
)
from treewright.cli.holdout import Learnable
from treewright.cli.models import note_left_out
from treewright.cli.options import CompareRequest, FitRequest, WorkbenchRequest
from treewright.cli.parsing import parse_value
from treewright.cli.pruning import (
    DEFAULT_PRUNING,
    NO_PRUNING,
    Pruning,
    option_words,
    pruning_of,
    pruning_words,
    refuse_for_numbers,
)
from treewright.cli.terminal import UsageRefusal, as_set, printable
from treewright.core.progress import compiling_announced
from treewright.core.threads import tell_of_junk
from treewright.data.identifiers import without_zero_fraction
from treewright.data.target import are_classes
from treewright.exceptions import DataError, ParameterError, Phrase, setting
from treewright.files import Table, read_table
from treewright.files.matching import as_whole
from treewright.files.table import checked_weights, pick, rows_with_target
from treewright.learn.params import CLASSES, NUMBERS
from treewright.learn.registry import Algorithm, algorithm_of
from treewright.learn.train import Trained, check_domain, encoded_target, make_dataset, train
from treewright.trees.summary import counted

__all__ = [
    "Learner",
    "check_is_one_model",
    "check_request",
    "check_rows",
    "check_target",
    "declared_columns",
    "fit_of",
    "fit_words",
    "read_request",
    "learner_of",
    "made",
    "positive_of",
    "settled",
    "weights_of",
    "with_chosen_size",
]


_OF_COLUMNS = ("nominal", "ordinal", "numeric", "calendar", "unseen")  # parameters of the members of a bag, too
# Parameters of ``PrunedTree`` itself; all others are options of the method.
_OF_PRUNED_TREE = ("cv", "prune_size")
# The options that ``fit`` has in common with ``compare`` and the workbench.
_OF_EVERY_FIT = ("data", "target", "task", "settings", "seed", "columns", "reading")


def fit_of(request: CompareRequest | WorkbenchRequest, **more: Any) -> FitRequest:
    """The fit that the options of another command describe."""
    return FitRequest(**{name: getattr(request, name) for name in _OF_EVERY_FIT}, **more)


def settled(request: FitRequest) -> FitRequest:
    """The request with the meaning of the words about algorithm, threshold and pruning."""
    if (known := algorithm_of(request.algorithm)) is not None:  # an alias, or its name in a model's facts
        request = replace(request, algorithm=known.word)
    if (request.cost, request.threshold) != (None, None):
        from treewright.cli.threshold import threshold_request

        request = replace(request, decision=threshold_request(request.cost, request.threshold))
    how, words = request.prune, request.prune_settings
    if how is None and words:
        raise UsageRefusal(f"--prune-set {words[0]} is an option of a pruner: name one with --prune")
    if how is None or how == NO_PRUNING:
        return request
    options = option_words(words, "--prune-set")
    return replace(request, pruning=pruning_of(f"--prune {how or repr(how)}", how, options))


def check_request(request: FitRequest) -> None:
    """Refuse what is wrong before any file is read."""
    check_options(request)
    if not 0 <= request.test_size < 1:
        raise UsageRefusal(f"--test-size {request.test_size}: give a share from 0 to below 1, such as 0.25")
    if request.cv is not None and request.cv < 2:
        raise UsageRefusal(f"--cv {request.cv}: give 2 folds or more")
    if request.target in request.columns.drop or request.target == request.columns.weight:
        raise UsageRefusal(f"column {request.target!r} cannot be the target and also dropped or the weight: keep one")
    gone = sorted(set(request.columns.drop) & {*request.columns.declared.cell_types, request.columns.weight})
    if gone:
        raise UsageRefusal(f"column {gone[0]!r} is dropped and used: keep one")
    if request.target in {*request.columns.declared.ordinal, *request.columns.declared.levels}:
        raise UsageRefusal(
            f"the target {request.target!r} cannot be ordinal or have declared levels: "
            "use --task to choose classification or regression"
        )
    # Under "auto" the estimator depends on the target; a name that neither estimator has is refused now.
    if request.task != "auto":
        settings = own_settings(request, request.task == "classification")
    else:
        known = known_parameters(request, True)
        if ALGORITHMS[request.algorithm].regressor:
            with suppress(UsageRefusal):  # the members of a bag may be for classification only
                known |= known_parameters(request, False)
        settings = parse_settings(request.settings, known)
    if request.pruning is None:
        return
    from treewright.evaluation.path import OWN_PRUNING

    if request.trace or settings.get("grow_trace"):
        word = "--trace" if request.trace else "--set grow_trace"
        raise UsageRefusal(
            f"{word} shows how the tree grew, which {request.pruning.named} then changes: leave one of them out"
        )
    for name, off in OWN_PRUNING.items():
        if settings.get(name, off) != off:
            raise UsageRefusal(f"{as_set(name)} prunes, and so does {request.pruning.named}: leave one of them out")


# Parameters that limit the size of a tree.
_SIZES = (
    "max_depth", "max_leaf_nodes", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf",
    "min_impurity_decrease", "max_p_value", "ccp_alpha",
)  # fmt: skip
_FEWEST_ROWS = 100  # cross-validation on fewer is too noisy, and small trees are read whole
_MOST_CELLS = 5_000_000


def with_chosen_size(request: FitRequest, data: Learnable) -> tuple[FitRequest, str]:
    """The request, pruned by cross-validation if no option limits the tree's size; and a remark if that is too slow.

    docs/decisions/0011 has the figures behind this. Trees of C4.5, ID3 and CHAID stop or are pruned by rules of their
    own.
    """
    if request.prune is not None or request.trace or request.algorithm != "cart":
        return request, ""
    settings = own_settings(request, data.is_classification)
    if settings.get("grow_trace") or any(name in settings for name in _SIZES):
        return request, ""
    n_rows = len(data.target)
    n_cells = n_rows * data.features.width
    if n_rows < _FEWEST_ROWS:
        return request, ""
    if n_cells > _MOST_CELLS:
        return request, (
            f"the tree is not pruned: with {n_cells:,} cells that is slow; --prune ccp-min chooses its size by "
            "cross-validation in about ten times the time, --prune none hides this line"
        )
    return replace(request, pruning=DEFAULT_PRUNING), ""


def read_request(request: FitRequest) -> Learnable:
    """Read the file of a request; rows without a target are refused, unless the request skips them."""
    name = str(request.target)
    required = [name, *([request.columns.weight] if request.columns.weight else [])]
    table = read_table(
        request.data, request.reading.options, request.columns.declared.cell_types, request.columns.drop, required
    )
    kept = rows_with_target(table.path, table.frame[name], table.place, skip=request.columns.skip_missing_target)
    if kept is not None:
        note_left_out(int((~kept).sum()), len(kept))
        table = table.filter(kept)
    target = table.frame[name]
    is_classification, remark = _is_classification(request.task, target)
    if is_classification:
        target = as_whole(target)
        _check_classes(table, target)
    features = pick(table.frame, [name for name in table.frame.columns if name not in required])
    if not features.width:
        raise DataError(f"{request.data}: no column is left to learn from except the target")
    return Learnable(table, features, target, weights_of(table, request.columns.weight), is_classification, remark)


def _check_classes(table: Table, target: pl.Series) -> None:
    """Refuse numbers that are not classes (infinite ones and fractions) before any row is held out."""
    if not target.dtype.is_float():
        return
    broken = target.is_infinite() | (target != target.floor())
    if not broken.any():
        return
    row, n_broken, is_infinite = int(broken.arg_max() or 0), int(broken.sum()), bool(target.is_infinite().any())
    is_text = table.lines is not None  # the cells of Parquet have types of their own
    raise DataError(
        f"{table.path}: target {target.name!r}: {target[row]} ({table.place(row)}; {counted(n_broken, 'such cell')})"
        " is not a class: numbers are classes if all are whole and finite: correct it",
        "" if is_infinite else ", use --task regression",
        *((", or read the target as text with ", setting("declared", {target.name: "text"})) if is_text else ()),
        column=target.name,
        row=row,
    )


def _is_classification(task: str, target: pl.Series) -> tuple[bool, str]:
    """Whether the task is classification, and a remark if the rule may surprise.

    Text and booleans are classes; numbers are classes by the rule of ``data.target.are_classes``.
    """
    numeric = target.dtype.is_numeric()
    if task != "auto":
        if task == "regression" and not numeric:
            raise DataError(f"target {target.name!r} holds {target.dtype}, not numbers: use --task classification")
        return task == "classification", ""
    if not numeric:
        return True, ""
    values = target.drop_nulls().to_numpy()
    if not are_classes(values.astype(np.float64) if values.dtype.kind == "O" else values):
        return False, ""
    n_different = len(np.unique(values))
    several = f"{n_different} different whole numbers are treated as classes; --task regression treats them as numbers"
    one = "one whole number is treated as a class; --task regression treats it as a number"
    remark = one if n_different == 1 else several
    return True, f"target {printable(target.name)}: {remark}"


def weights_of(table: Table, name: str | None) -> np.ndarray | None:
    """The weight column as numbers, or None."""
    if name is None:
        return None
    return checked_weights(table.path, table.frame[name], table.place)


def learner_of(request: FitRequest, data: Learnable, *, as_estimator: bool) -> Any:
    """The object that the request fits; parameters out of range are refused before the rows are split.

    With ``as_estimator`` it is always an estimator; otherwise see ``made``.
    """
    table, target, is_classification = data.table, data.target, data.is_classification
    settings = with_typed_labels(
        own_settings(request, is_classification),
        target.drop_nulls().unique().sort().to_list() if is_classification else (),
        lambda words: _levels(target, words),
    )
    own = {
        **({} if request.positive is None else {"positive": positive_of(request, data)}),
        **request.columns.given_unseen,
        "n_jobs": request.jobs,
        "random_state": request.seed,
        "grow_trace": settings.pop("grow_trace", False) or request.trace,
        **declared_columns(request, table),
    }
    pruning = (
        request.pruning if request.pruning is None or request.decision is None else request.pruning.for_thresholds()
    )
    if pruning is not None and not is_classification:
        refuse_for_numbers(
            pruning.named, pruning.word, f"target {request.target} holds numbers",
            "ccp-1se, minimum-error or significance, or --task classification",
        )  # fmt: skip

    estimator = made(request, is_classification, settings, own, as_estimator=as_estimator)
    if not is_classification:
        check_target(estimator, table.path, target, data.weights, table.place)
    if pruning is not None:
        estimator = _pruned_by(estimator, pruning, request.seed)
    if request.decision is None:
        return estimator
    if not is_classification:
        raise UsageRefusal(
            f"{request.decision.option} is for two classes, and target {request.target} holds numbers: leave it out, "
            "or give --task classification"
        )
    from treewright.cli.threshold import WithThreshold

    return WithThreshold(estimator, request.decision, request.seed, request.jobs)


def positive_of(request: FitRequest, data: Learnable) -> Any:
    """The class of the target that ``--positive`` names; None without it."""
    if request.positive is None:
        return None
    if not data.is_classification:
        raise UsageRefusal(
            f"--positive is for two classes, and target {request.target} holds numbers: leave it out, or give --task "
            "classification"
        )
    from treewright.cli.threshold import check_two_classes, label_named

    return label_named(check_two_classes("--positive", data.target), request.positive)


def declared_columns(request: FitRequest, table: Table) -> dict[str, Any]:
    """The parameters of estimators that declare the kinds of columns."""
    declared, not_features = request.columns.declared, {request.target, request.columns.weight}
    features = [name for name in table.frame.columns if name not in not_features]
    ordinal = {name: _levels(table.frame[name], levels) for name, levels in declared.ordinal.items()}
    return {
        "nominal": declared.nominal_of(features, lambda name, words: _levels(table.frame[name], words)),
        "ordinal": ordinal or None,
        "numeric": [name for name in declared.numeric if name not in not_features] or None,
        "calendar": declared.calendar,
    }


def _pruned_by(estimator: Any, pruning: Pruning, seed: int) -> Any:
    """An estimator that also prunes; if folds choose the size, a ``Learner`` does it itself."""
    if isinstance(estimator, Learner):
        return estimator.pruned_by(pruning, seed)
    from treewright.evaluation.pruning import PrunedTree

    own: dict[str, Any] = {name: value for name, value in pruning.options.items() if name in _OF_PRUNED_TREE}
    options = {name: value for name, value in pruning.options.items() if name not in own}
    return PrunedTree(estimator, pruning.method, options=options or None, random_state=seed, **own)


def _levels(column: pl.Series, words: list[str]) -> list[Any]:
    """Declared levels as values of the column, which in Parquet may be numbers or booleans."""
    fitting: type | tuple[type, ...] = ()
    if column.dtype.is_numeric():
        fitting = (int, float)
    elif column.dtype == pl.Boolean:
        fitting = bool
    else:
        words = _spelled(column, words)
    values = [parse_value(word) for word in words]
    # A word of another type stays a word; the error about the column's cells names it.
    return [
        value if isinstance(value, fitting) and isinstance(value, bool) == (fitting is bool) else word
        for value, word in zip(values, words, strict=True)
    ]


def _spelled(column: pl.Series, words: list[str]) -> list[str]:
    """Declared levels as a column of text spells them, which may have 1.0 for 1."""
    cells = {cell for cell in column.unique().drop_nulls().to_list() if isinstance(cell, str)}
    spelled = {without_zero_fraction(cell): cell for cell in sorted(cells, key=len, reverse=True)}
    found: dict[str, str] = {}
    for word in words:
        level = word if word in cells else spelled.get(without_zero_fraction(word), word)
        if found.setdefault(level, word) != word:
            raise UsageRefusal(
                f"the levels {found[level]} and {word} of column {column.name} are one level, because a text file may "
                "write a fraction of zeros or not: list one of them"
            )
    return [*found] if len(found) == len(words) else words


def check_target(
    estimator: Any, path: Path, target: pl.Series, weights: np.ndarray | None, place: Callable[[int], str]
) -> None:
    """Refuse a target that an estimator cannot learn, before any row is held out.

    The error names the column and the place of the first value outside the domain of the loss or criterion.
    """

    def words(phrase: Phrase) -> str:
        if phrase.kind == "row":
            return f"first: {place(phrase.value)}"
        return "the target" if phrase.kind == "target" else fit_words(phrase)

    try:
        estimator._check_target(target, weights)
    except DataError as error:
        # The message begins with its subject, here the column.
        parts = error.parts[1:] if isinstance(error.parts[0], Phrase) else (": ", *error.parts)
        raise DataError(f"{path}: target {target.name!r}", *parts, row=error.row).worded(words) from None


def check_rows(
    estimator: Any, path: Path, features: pl.DataFrame, target: pl.Series, place: Callable[[int], str]
) -> None:
    """Refuse a table that the metric does not accept, before any row is held out, by storing its rows.

    The error names the column and the place of the first such cell.
    """
    tell_of_junk()  # it warns once in a process, so not within the block below
    with catch_warnings(), suppress(ParameterError):  # the fit itself raises and warns
        simplefilter("ignore")
        try:
            estimator.fit(features, target)
        except DataError as error:
            if error.row is None:
                raise
            raise error.worded(
                lambda phrase: f"first: {place(phrase.value)}" if phrase.kind == "row" else fit_words(phrase),
                f"{path}: ",
            ) from None


def fit_words(phrase: Phrase) -> str:
    """A piece of an error of a fit in the words of the command line."""
    if phrase.kind == "algorithm":
        return f"--algorithm {phrase.value}"
    if phrase.kind == "scorers":
        return "scores are scikit-learn's, such as accuracy, balanced_accuracy, f1_macro or r2"
    if phrase.kind == "draw rows":  # the command chooses the rows to prune with, not the user
        return "Give more rows, another --seed, or --prune-set prune_size=0.5"
    return pruning_words(phrase)


# --- what is fitted


class Learner:
    """One algorithm for one kind of target; after ``fit`` it holds a model. ``name`` is the estimator's, for messages.

    Estimators have the same parameters and the same ``learn.train``, but need scikit-learn, whose import takes longer
    than a small fit. The command makes one only if it must (``made``): for members of ensembles, pruning within the
    fit, out-of-bag scores, reports.

    With ``pruning``, a way to prune by cross-validation and the seed of its folds, a fit prunes the tree to the size
    that the folds choose, as ``PrunedTree`` does, which would import scikit-learn.
    """

    _trained: Trained

    def __init__(
        self, algorithm: Algorithm, task: Any, values: Mapping[str, Any], pruning: tuple[Pruning, int] | None = None
    ) -> None:
        self._algorithm, self._task, self._values, self._pruning = algorithm, task, values, pruning
        self.name = algorithm.classifier if task == CLASSES else algorithm.regressor
        self.params = algorithm.params_class()(task=task, owner=self.name, **values)

    def __sklearn_clone__(self) -> Self:
        """An unfitted copy, by scikit-learn's protocol."""
        return type(self)(self._algorithm, self._task, self._values, self._pruning)

    def pruned_by(self, pruning: Pruning, seed: int) -> Self:
        """The same, pruned in its fit; parameters that prune in another way are left out."""
        from treewright.evaluation.path import OWN_PRUNING

        own = {name: off for name, off in OWN_PRUNING.items() if hasattr(self.params, name)}
        return type(self)(self._algorithm, self._task, {**self._values, **own}, (pruning, seed))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to a table and its target."""
        if self._pruning is None:
            return self._grow(X, y, sample_weight)
        from treewright.evaluation.path import size_by_folds

        pruning, seed = self._pruning
        options: dict[str, Any] = dict(pruning.options)
        whole = type(self)(self._algorithm, self._task, self._values)
        self.path_ = size_by_folds(
            lambda *rows: copy(whole)._grow(*rows), X, y, sample_weight, pruning=pruning.method,
            is_classification=self._task == CLASSES, random_state=seed, n_jobs=self.params.n_jobs, **options,
        )  # fmt: skip
        self.model_ = self.path_.estimator.model_
        return self

    def prune(self, method: str, **options: Any) -> Self:
        """A copy whose model is pruned."""
        pruned = copy(self)
        pruned.model_ = self.model_.prune(method, **options)
        return pruned

    def _grow(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit once."""
        with compiling_announced():
            if self._algorithm.is_neighbors:
                from treewright.learn.neighbors import neighbors_dataset

                dataset = neighbors_dataset(X, y, self.params)
            else:
                dataset = make_dataset(X, y, self.params, sample_weight)
            self._trained = train(dataset, self.params)
        self.model_ = self._trained.model
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict each row."""
        found: np.ndarray = self.model_.predict(X, n_jobs=self.params.n_jobs, owner=self.name)
        return found

    @property
    def trace_(self) -> Any:
        """The trace of the fit."""
        from treewright.explain.trace import trace_of

        return trace_of(self.model_, self._trained.trace or ())

    def _check_target(self, target: Any, weights: np.ndarray | None) -> None:
        """Refuse a target that ``fit`` would refuse with any table."""
        check_domain(encoded_target(target, self.params), weights, self.params)


def made(
    request: FitRequest,
    is_classification: bool,
    settings: Mapping[str, Any],
    own: Mapping[str, Any],
    *,
    as_estimator: bool,
) -> Any:
    """The object to fit: a ``Learner``, or an estimator if one is asked for or needed.

    ``settings`` are those of ``own_settings``; ``own`` holds the parameters that have options of their own: those that
    the algorithm does not have are left out.
    """
    algorithm = ALGORITHMS[request.algorithm]
    known = parameters_for(request.algorithm, request, is_classification)
    given = {name: value for name, value in settings.items() if not name.startswith(BASE)}
    given |= {name: value for name, value in own.items() if name in known and name not in given}
    if not (as_estimator or _needs_estimator(request, settings)):
        if given.get("scoring") is not None:
            from treewright.evaluation.scoring import round_score

            name = given["scoring"]
            try:
                given["scoring"] = round_score(name)
            except ParameterError as error:
                raise UsageRefusal(str(error).replace(f"scoring={name!r}", f"--set scoring={name}")) from None
        return Learner(algorithm, CLASSES if is_classification else NUMBERS, given)
    estimator = _class_of(request.algorithm, request, is_classification)(**given)
    if algorithm.of_members:
        base = _base_of(request, is_classification)
        of_base = {name: value for name, value in own.items() if name in _OF_COLUMNS and name in base.get_params()}
        for name, value in settings.items():
            if name.startswith(OF_BASE):
                of_base[name.removeprefix(OF_BASE)] = value
        estimator.set_params(estimator=base.set_params(**of_base))
        estimator.estimator._check_parameters()
    estimator._check_parameters()
    return estimator


def _needs_estimator(request: FitRequest, settings: Mapping[str, Any]) -> bool:
    """Whether a fit needs scikit-learn, whose import takes longer than the fit of a small table."""
    prunes = request.pruning is not None and not request.pruning.is_by_folds
    by_hand = prunes or request.report is not None or settings.get("oob_score", False)
    return by_hand or ALGORITHMS[request.algorithm].of_members


def _base_of(request: FitRequest, is_classification: bool) -> Any:
    """The estimator that members are copies of: by ``--set estimator=c45``, or the ensemble's default."""
    algorithm = algorithm_of_members(request.settings)
    if algorithm is None:
        return _class_of(request.algorithm, request, is_classification)()._default_base()
    return _class_of(algorithm, request, is_classification)()


def _class_of(algorithm: str, request: FitRequest, is_classification: bool) -> Any:
    """The estimator of an algorithm."""
    import treewright

    return getattr(treewright, estimator_name(algorithm, request, is_classification))


def check_is_one_model(estimator: Any, n_columns: int) -> None:
    """Refuse a fit whose trees could be neither shown nor saved as one model."""
    if not hasattr(estimator, "bootstrap_features"):  # no bag
        return
    from treewright.learn.settings import columns_of_each

    if estimator.bootstrap_features or columns_of_each(estimator.max_features, n_columns) < n_columns:
        raise UsageRefusal(
            "--set max_features, bootstrap_features: bagged trees on some of the columns cannot be shown or saved as "
            "one model here; --set estimator__max_features=0.5 samples columns for each node, or use Python"
        )
