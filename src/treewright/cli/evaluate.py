"""``treewright evaluate``. In: a model and rows with the truth. Out: how good the model is. Callers: cli.app.

Classes: accuracy with its interval, a table per class, the confusion matrix. Numbers: R2 and the errors.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from treewright.cli.delimited import ReadOptions
from treewright.cli.ensembles import refuse_isolation
from treewright.cli.kinds_of_models import of_trees, target_type
from treewright.cli.matching import rows_for
from treewright.cli.scores import LabelScore, Score, score_for
from treewright.cli.terminal import note, printable, progress, say
from treewright.exceptions import DataError

__all__ = ["run_evaluate"]

_MOST_SHOWN = 20


def run_evaluate(
    model_path: Path, data: Path, options: ReadOptions, target: str | None, *, importances: bool = False
) -> None:
    """Compare a model's predictions with the truth.

    Parameters
    ----------
    model_path, data : Path
    options : ReadOptions
    target : str or None
        The column with the truth; None takes the name the model was fitted with.
    importances : bool
        Whether to tell as well how much worse its trees get when a column is shuffled; then the rows have to fit into
        memory.

    Raises
    ------
    TreewrightError
        The model or the table was refused, a true value is missing, or there are no rows.
    UsageRefusal
        The model predicts several targets, or knows no target name and none is given; or its trees have no single
        answers to judge.
    """
    import treewright
    from treewright.cli.importances import check_can_be_judged, permutation_importances
    from treewright.cli.labelled import target_name

    model = treewright.load(model_path)
    refuse_isolation(model, model_path, "nothing can be scored")
    name = target_name(model, model_path, target, "evaluate")
    score = score_for(model)
    if importances:
        check_can_be_judged(of_trees(model, model_path, "--importances"), model_path)
    n_missing = 0
    with progress():
        for rows in rows_for(model, data, options, (name, target_type(model))):
            if rows.target is None:
                continue
            n_missing += rows.target.null_count()
            if n_missing or not rows.n_rows:
                continue
            predicted = np.asarray(model.predict(rows.features))
            if isinstance(score, LabelScore):
                score.add(rows.target, predicted)
            else:
                score.add(rows.target.cast(pl.Float64).to_numpy(), predicted.astype(np.float64))
    if n_missing:
        raise DataError(f"{data}: target {name!r} is missing in {n_missing} rows: remove them")
    if score.n == 0:
        raise DataError(f"{data}: there are no rows to evaluate on")
    matter = ""
    if importances:
        from treewright.cli.labelled import labelled_rows

        with progress():
            judged = of_trees(model, model_path, "--importances")
            matter = permutation_importances(judged, *labelled_rows(judged, data, options, name, skip=False))
    _say(score)
    if matter:
        say()
        say(matter)


def _say(score: Score) -> None:
    """The score, and for classes where it comes from."""
    if not isinstance(score, LabelScore):
        say(score.line("predictions:"))
        return
    say(score.line("accuracy"))
    labels = sorted({*score.true_totals(), *score.predicted_totals()}, key=lambda label: (str(type(label)), label))
    say()
    _say_classes(score, labels)
    if len(labels) > _MOST_SHOWN:
        note(f"the confusion matrix of {len(labels)} classes is not shown; it is for up to {_MOST_SHOWN}")
        return
    say()
    _say_confusion(score, labels)


def _say_classes(score: LabelScore, labels: list[object]) -> None:
    """Precision and recall per class; a dash where a class was never predicted, or never true."""
    true, predicted = score.true_totals(), score.predicted_totals()
    rows = [["class", "rows", "precision", "recall"]]
    for label in labels:
        right = score.counts.get((label, label), 0)
        precision = f"{right / predicted[label]:.3f}" if predicted.get(label) else "-"
        recall = f"{right / true[label]:.3f}" if true.get(label) else "-"
        rows.append([printable(label), str(true.get(label, 0)), precision, recall])
    _say_table(rows)


def _say_confusion(score: LabelScore, labels: list[object]) -> None:
    """Rows are the truth, columns what was predicted."""
    rows = [["true \\ predicted", *(printable(label) for label in labels)]]
    rows += [[printable(true), *(str(score.counts.get((true, guess), 0)) for guess in labels)] for true in labels]
    _say_table(rows)


def _say_table(rows: list[list[str]]) -> None:
    """Columns lined up: the first to the left, numbers to the right."""
    shown = [[cell if len(cell) <= 24 else cell[:21] + "..." for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]))]
    for row in shown:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        say("  ".join(cells).rstrip())
