"""``treewright fit``. In: a request. Out: a tree on the screen, its held-out score, files. Callers: cli.app.

The tree that is shown, the tree that is scored and the tree that is saved are one and the same, fitted on the rows that
are not held out. (Under ``--cv`` the score is that of the fits on the folds; the tree is fitted on every row.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from treewright.cli.declared import Declared, parse_settings, parse_value
from treewright.cli.delimited import ReadOptions
from treewright.cli.files import Table, pick, read_table
from treewright.cli.holdout import HeldOut, Score, Task, cross_validate, fit_and_hold_out
from treewright.cli.outputs import check_output, write_text
from treewright.cli.scores import LabelScore, NumberScore, label_counts
from treewright.cli.targets import rows_with_target
from treewright.cli.terminal import UsageRefusal, note, printable, progress, say
from treewright.exceptions import ColumnError, DataError

__all__ = ["ALGORITHMS", "FitRequest", "run_fit"]

# Algorithm -> estimator for classes, estimator for numbers (None where it has none).
ALGORITHMS: dict[str, tuple[str, str | None]] = {
    "cart": ("DecisionTreeClassifier", "DecisionTreeRegressor"),
    "id3": ("ID3Classifier", None),
    "c45": ("C45Classifier", None),
    "chaid": ("CHAIDClassifier", "CHAIDRegressor"),
}

_MOST_CLASSES = 20

# What an estimator's error advises in Python -> the same on the command line.
_REMEDIES = (
    (re.compile(r"nominal=\[(.*?)\]"), r"--nominal \1"),
    (re.compile(r"C4\.5 \(C45Classifier\)"), "--algorithm c45"),
)


@dataclass(frozen=True)
class FitRequest:
    """Everything that was asked for on the command line; see ``treewright fit --help``."""

    data: Path
    target: str
    algorithm: str = "cart"
    task: str = "auto"
    settings: tuple[str, ...] = ()
    declared: Declared = field(default_factory=Declared)
    drop: tuple[str, ...] = ()
    skip_missing_target: bool = False
    weight: str | None = None
    reading: ReadOptions = field(default_factory=ReadOptions)
    unseen: str = "missing"
    test_size: float = 0.25
    n_folds: int | None = None
    seed: int = 0
    out: Path | None = None
    svg: Path | None = None
    force: bool = False
    jobs: int | None = None
    trace: bool = False


def run_fit(request: FitRequest) -> None:
    """Fit, show, score and save.

    Raises
    ------
    TreewrightError
        The table, a parameter or an output was refused.
    UsageRefusal
        The words of the request contradict each other.
    """
    _check_request(request)
    check_output(request.out, request.force)
    check_output(request.svg, request.force)
    required = [request.target, *([request.weight] if request.weight else [])]
    table = read_table(request.data, request.reading, request.declared.cell_types, request.drop, required)
    table = _with_target(request, table)
    is_classification, remark = _is_classification(request.task, table.frame[request.target])
    task = Task(
        pick(table.frame, [name for name in table.frame.columns if name not in required]),
        table.frame[request.target],
        _weights_of(table, request.weight),
        is_classification,
        request.seed,
        _maker(request, table, is_classification),
    )
    if not task.features.width:
        raise DataError(f"{request.data}: no column is left to learn from beside the target")
    with progress(), _remedies_as_options():
        folds = cross_validate(task, request.n_folds) if request.n_folds else None
        held_out = fit_and_hold_out(task, 0.0 if folds else request.test_size)
    _say_what_is_in_it(request, task, held_out.estimator)
    if remark:
        say(remark)
    _say_split(request, held_out)
    say()
    say(held_out.estimator.show().rstrip("\n"))
    say()
    if request.trace:
        say(str(held_out.estimator.trace_).rstrip("\n"))
        say()
    if folds is not None:
        _say_cross_validated(*folds)
    elif held_out.score is not None and held_out.baseline is not None:
        _say_score("held-out", held_out.score, held_out.baseline)
    _write(request, held_out.estimator)


@contextmanager
def _remedies_as_options() -> Iterator[None]:
    """Errors about columns name options instead of parameters."""
    try:
        yield
    except ColumnError as error:
        text = str(error)
        for in_python, on_command_line in _REMEDIES:
            text = in_python.sub(on_command_line, text)
        if text == str(error):
            raise
        raise ColumnError(text) from None


def _check_request(request: FitRequest) -> None:
    """What can be wrong before any file is read."""
    if request.algorithm not in ALGORITHMS:
        raise UsageRefusal(f"--algorithm {request.algorithm}: there are: {', '.join(ALGORITHMS)}")
    if not 0 <= request.test_size < 1:
        raise UsageRefusal(f"--test-size {request.test_size}: give a share from 0 to below 1, such as 0.25")
    if request.n_folds is not None and request.n_folds < 2:
        raise UsageRefusal(f"--cv {request.n_folds}: give 2 folds or more")
    if request.target in request.drop or request.target == request.weight:
        raise UsageRefusal(f"column {request.target!r} cannot be the target and be dropped or weigh rows")
    if request.out is not None and request.svg is not None and request.out == request.svg:
        raise UsageRefusal(f"--out and --svg name the same file {request.out}")
    gone = sorted(set(request.drop) & {*request.declared.cell_types, request.weight})
    if gone:
        raise UsageRefusal(f"column {gone[0]!r} is dropped and used: keep one")
    if request.target in {*request.declared.ordinal, *request.declared.levels}:
        raise UsageRefusal(
            f"the target {request.target!r} cannot be ordinal or have declared levels: "
            "use --task to choose how it is learned"
        )
    # Under "auto" the estimator is known only when the target is; a name that neither has is wrong already now.
    if request.task == "regression":
        known = _estimator_class(request, False)().get_params()
    else:
        known = _estimator_class(request, True)().get_params()
        if request.task == "auto" and ALGORITHMS[request.algorithm][1]:
            known |= _estimator_class(request, False)().get_params()
    parse_settings(request.settings, known)


def _is_classification(task: str, target: pl.Series) -> tuple[bool, str]:
    """The sort of task, and a remark where the rule may surprise.

    Text and booleans are classes, numbers with a fraction are numbers; whole numbers are classes when there are at most
    20 different ones.
    """
    numeric = target.dtype.is_numeric()
    if task != "auto":
        if task == "regression" and not numeric:
            raise DataError(f"target {target.name!r} holds {target.dtype}, not numbers: use --task classification")
        return task == "classification", ""
    if not numeric:
        return True, ""
    if not target.dtype.is_integer():
        return False, ""
    n_different = target.drop_nulls().n_unique()
    if n_different <= _MOST_CLASSES:
        remark = f"{n_different} different whole numbers are taken as classes; --task regression takes them as numbers"
        return True, f"target {printable(target.name)}: {remark}"
    return False, ""


def _with_target(request: FitRequest, table: Table) -> Table:
    """The rows that have a target: all of them, unless the user said to skip the others."""
    kept = rows_with_target(table.path, table.frame[request.target], table.place, skip=request.skip_missing_target)
    if kept is None:
        return table
    return Table(table.path, table.frame.filter(kept), None if table.lines is None else table.lines[kept.to_numpy()])


def _weights_of(table: Table, name: str | None) -> np.ndarray | None:
    """The weight column as numbers, or None."""
    if name is None:
        return None
    weights = table.frame[name]
    if not weights.dtype.is_numeric():
        raise DataError(f"{table.path}: weight column {name!r} holds {weights.dtype}, not numbers")
    wrong = ~(weights.cast(pl.Float64).is_finite() & (weights >= 0)).fill_null(value=False)
    if wrong.any():
        first = int(wrong.arg_max() or 0)
        raise DataError(
            f"{table.path}: weight column {name!r} is missing, negative or infinite in {int(wrong.sum())} rows "
            f"(first: {table.place(first)}): weights are numbers >= 0"
        )
    return weights.cast(pl.Float64).to_numpy()


def _estimator_class(request: FitRequest, is_classification: bool) -> Any:
    """The estimator of the algorithm."""
    import treewright

    name = ALGORITHMS[request.algorithm][0 if is_classification else 1]
    if name is None:
        able = ", ".join(algorithm for algorithm, (_, regressor) in ALGORITHMS.items() if regressor)
        raise UsageRefusal(
            f"--algorithm {request.algorithm} predicts classes, and target {printable(request.target)} holds numbers: "
            f"use one of {able}, or --task classification"
        )
    return getattr(treewright, name)


def _maker(request: FitRequest, table: Table, is_classification: bool) -> Callable[[], Any]:
    """Gives fresh estimators with the parameters asked for."""
    estimator_class = _estimator_class(request, is_classification)
    settings: dict[str, Any] = dict(parse_settings(request.settings, estimator_class().get_params()))
    not_features = {request.target, request.weight}
    declared = request.declared
    features = [name for name in table.frame.columns if name not in not_features]
    nominal = declared.nominal_of(features, lambda name, words: _levels(table.frame[name], words))
    numeric = [name for name in declared.numeric if name not in not_features]
    ordinal = {name: _levels(table.frame[name], levels) for name, levels in declared.ordinal.items()}
    own = {
        "unseen": request.unseen,
        "n_jobs": request.jobs,
        "random_state": request.seed,
        "grow_trace": settings.pop("grow_trace", False) or request.trace,
    }
    own = {name: value for name, value in own.items() if name in estimator_class().get_params()}

    def make() -> Any:
        columns = {"nominal": nominal, "ordinal": ordinal or None, "numeric": numeric or None}
        return estimator_class(**settings, **own, **columns)

    return make


def _levels(column: pl.Series, words: list[str]) -> list[Any]:
    """Declared levels as values of the column (Parquet columns may hold numbers or booleans)."""
    fitting: type | tuple[type, ...] = ()
    if column.dtype.is_numeric():
        fitting = (int, float)
    elif column.dtype == pl.Boolean:
        fitting = bool
    values = [parse_value(word) for word in words]
    # A word of another type stays a word; the error of the column's own cells names it.
    return [
        value if isinstance(value, fitting) and isinstance(value, bool) == (fitting is bool) else word
        for value, word in zip(values, words, strict=True)
    ]


def _say_what_is_in_it(request: FitRequest, task: Task, estimator: Any) -> None:
    """One line about the columns, one about the target."""
    kinds = [column.kind for column in estimator.model_.schema.columns]
    counted = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("numeric", "ordinal", "nominal") if kind in kinds)
    missing = sum(task.features.null_count().row(0))
    n = len(task.target)
    width = f"{len(kinds)} column{'s' * (len(kinds) != 1)}"
    say(f"{printable(request.data)}: {n} rows, {width} ({counted}), {missing} cells missing")
    if not task.is_classification:
        low, high = printable(task.target.min()), printable(task.target.max())
        mean = float(task.target.cast(pl.Float64).to_numpy().mean())
        say(f"target {printable(request.target)}: regression, {low} to {high}, mean {mean:.4g}")
        return
    counts = label_counts(task.target)
    shares = [f"{printable(label)} {100 * count / n:.1f} %" for label, count in counts[:6]]
    more = f", {len(counts) - 6} more" if len(counts) > 6 else ""
    say(f"target {printable(request.target)}: classification, {len(counts)} classes ({', '.join(shares)}{more})")


def _say_split(request: FitRequest, held_out: HeldOut) -> None:
    """Which rows the tree has seen."""
    if held_out.score is None:
        say(f"the tree below is fitted on all {held_out.n_fitted} rows")
        return
    how = "stratified, " if held_out.stratified else ""
    say(
        f"the tree below is fitted on {held_out.n_fitted} rows; {held_out.score.n} are held out "
        f"({how}seed {request.seed}; --test-size 0 fits on all)"
    )


def _say_score(what: str, score: Score, baseline: Score) -> None:
    """The score beside that of the constant answer."""
    if isinstance(score, LabelScore) and isinstance(baseline, LabelScore):
        constant = next(iter(baseline.predicted_totals()))
        say(score.line(f"{what} accuracy"))
        say(f"always answering {printable(constant)!r}: {baseline.right / baseline.n:.3f}")
    elif isinstance(score, NumberScore) and isinstance(baseline, NumberScore):
        say(score.line(what))
        say(f"always answering the mean: mean absolute error {baseline.absolute_error:.4g}")


def _say_cross_validated(score: Score, baseline: Score, per_fold: list[Score]) -> None:
    """The pooled score, and how it varied from fold to fold."""
    _say_score(f"{len(per_fold)}-fold cross-validated", score, baseline)
    each = [fold.right / fold.n if isinstance(fold, LabelScore) else fold.r2 for fold in per_fold]
    name = "accuracy" if isinstance(score, LabelScore) else "R2"
    say(f"{name} per fold: mean {np.mean(each):.3f}, lowest {min(each):.3f}, highest {max(each):.3f}")
    say(f"(the score is that of {len(per_fold)} fits, each on the other folds; the tree above is fitted on every row)")


def _write(request: FitRequest, estimator: Any) -> None:
    """Save what was asked for."""
    if request.out is not None:
        check_output(request.out, request.force)
        estimator.save(request.out)
        say(f"wrote {printable(request.out)} (model)")
    if request.svg is not None:
        write_text(request.svg, estimator.plot().text, request.force)
        say(f"wrote {printable(request.svg)} (picture)")
    if request.out is None:
        note("the model was not kept; --out model.tw saves it")
