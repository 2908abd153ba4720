"""Learning and depth curves. In: ``Judged``, ``Options``. Out: ``ErrorCurvePart``. Caller: reporting.quality_part.

Copies of the estimator are fitted on parts of the judged rows: the curves tell of such rows, not of the model itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.cells import shown
from treewright.exceptions import DataError, ParameterError
from treewright.judge.folds import as_array, folds_within
from treewright.judge.scores import WORDS
from treewright.model_selection.curves import Curve, error_curve, learning_curve
from treewright.model_selection.family import family_of, usually_over
from treewright.page.parts_quality import ErrorCurvePart
from treewright.reporting.again import estimator_of
from treewright.reporting.judged import Judged
from treewright.reporting.options import Options
from treewright.tree.writing import shorten

FOLDS = 10
# Depths to try where each has to be fitted; one tree is cut off at every depth instead.
DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16)
WORDS_OF = {"rows": "training rows", "max_depth": "depth of the trees", "leaves": "leaves"}
UNKNOWN = "the facts of the model do not tell all parameters of its fit: make the report from the estimator"
PRUNED = "The copies are not cut back as this tree was."
LONGEST_WHY = 300


def curve_parts(judged: Judged, options: Options) -> tuple[tuple[ErrorCurvePart, ...], tuple[str, ...]]:
    """Return the curves that were asked for, and why one is not there.

    Parameters
    ----------
    judged : Judged
    options : Options
        ``cv``: "auto" and None are ten folds here, fewer where rows are few.

    Raises
    ------
    ParameterError
        ``cv`` makes no folds.
    """
    if not options.curves:
        return (), ()
    estimator = judged.estimator if judged.estimator is not None else estimator_of(judged.model)
    found, without = [], []
    for name in dict.fromkeys(options.curves):
        if estimator is None:
            without.append(f"No {name} curve: {UNKNOWN}.")
            continue
        try:
            folds = _folds(judged, options)
        except DataError as error:
            without.append(f"No {name} curve: {shorten(str(error), LONGEST_WHY)}")
            continue
        try:
            curve = _curve(name, estimator, judged, options, folds)
        except (DataError, ParameterError) as error:  # parameters that a part of the rows does not suit
            without.append(f"No {name} curve: {shorten(str(error), LONGEST_WHY)}")
            continue
        if isinstance(curve, str):
            without.append(f"No {name} curve: {curve}.")
        else:
            found.append(_part(name, curve, PRUNED if "pruning" in judged.model.facts else ""))
    return tuple(found), tuple(without)


def _curve(name: str, estimator: Any, judged: Judged, options: Options, folds: Any) -> Curve | str:
    """One curve, or why there is none."""
    held: dict[str, Any] = {
        "cv": folds,
        "sample_weight": judged.weights_given,
        "random_state": options.random_state,
        "n_jobs": options.n_jobs,
    }
    if name == "learning":
        return learning_curve(estimator, judged.table, judged.target_given, **held)
    try:
        over = usually_over(estimator)
    except ParameterError:
        return f"{type(estimator).__name__} has no depth to vary"
    values = None if family_of(estimator, over) is not None else list(DEPTHS)
    return error_curve(estimator, judged.table, judged.target_given, over=over, values=values, **held)


def _folds(judged: Judged, options: Options) -> Any:
    """What ``cv`` means for curves.

    Raises
    ------
    DataError
        There is one row.
    """
    cv = options.cv
    if isinstance(cv, str) or cv is None:
        if isinstance(cv, str) and cv != "auto":
            raise ParameterError(f"cv={shown(cv)}: give 'auto', a number of folds, a splitter, or None")
        n = len(as_array(judged.target_given))
        if n < 2:
            raise DataError("one row cannot both be learned from and be tested.")
        cv = min(FOLDS, n)
    return folds_within(
        cv, judged.target_given, is_classification=judged.is_classification, random_state=options.random_state
    )


def _part(name: str, curve: Curve, note: str) -> ErrorCurvePart:
    """A curve as a page shows it."""
    numbers = (curve.train_error, curve.train_standard_error, curve.test_error, curve.test_standard_error)
    train, train_se, test, test_se = (tuple(np.asarray(each).tolist()) for each in numbers)
    return ErrorCurvePart(
        name=name,
        over=WORDS_OF.get(curve.over, curve.over),
        loss=WORDS[curve.loss],
        x=tuple(float(value) for value in curve.x),
        train=train,
        train_se=train_se,
        test=test,
        test_se=test_se,
        n_folds=curve.n_folds,
        n_rows=curve.n_rows,
        note=note,
    )
