"""``treewright fit --algorithm isolation``. In: a request without a target. Out: a forest, what it finds odd, a file.

Callers: cli.app. There is nothing to hold out rows for: no truth says how odd a row is.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from treewright.cli.algorithms import ISOLATION
from treewright.cli.declared import parse_settings
from treewright.cli.ensembles import columns_in_words, summary
from treewright.cli.files import pick, read_table
from treewright.cli.learn import FitRequest, declared_columns, remedies_as_options, weights_of
from treewright.cli.outputs import check_output
from treewright.cli.terminal import UsageRefusal, note, printable, progress, results_after, say
from treewright.exceptions import DataError

__all__ = ["run_isolation"]

_SHOWN = 5


def run_isolation(request: FitRequest) -> None:
    """Fit an isolation forest on all rows, show and save it.

    Raises
    ------
    TreewrightError
        The table, a parameter or an output was refused.
    UsageRefusal
        Options that need a target or a single tree.
    """
    _check_words(request)
    import treewright

    settings: dict[str, Any] = dict(parse_settings(request.settings, treewright.IsolationForest().get_params()))
    treewright.IsolationForest(**settings)._validate_params()
    check_output(request.out, request.force)
    required = [request.weight] if request.weight else []
    table = read_table(request.data, request.reading, request.declared.cell_types, request.drop, required)
    features = pick(table.frame, [name for name in table.frame.columns if name not in required])
    if not features.width:
        raise DataError(f"{request.data}: no column is left to look at")
    forest = treewright.IsolationForest(
        **settings, **declared_columns(request, table), unseen=request.unseen or "missing", n_jobs=request.jobs,
        random_state=request.seed,
    )  # fmt: skip
    with progress(), remedies_as_options():
        forest.fit(features, sample_weight=weights_of(table, request.weight))
        scores = -forest.score_samples(features)
        n_outliers = int((forest.predict(features) == -1).sum())
    written = []
    if request.out is not None:
        check_output(request.out, request.force)
        forest.save(request.out)
        written.append(f"wrote {printable(request.out)} (model)")
    with results_after(written):
        say(f"{printable(request.data)}: {len(scores)} rows, {columns_in_words(forest.model_)}, no target")
        say()
        say(summary(forest.model_, request.out))
        say()
        _say_odd(table, scores, n_outliers, -forest.offset_)
    if request.out is None:
        note("the model was not kept; --out model.tw saves it")


def _check_words(request: FitRequest) -> None:
    """Refuse options that would be passed over in silence."""
    if request.target is not None:
        raise UsageRefusal(
            f"--algorithm {ISOLATION} learns without a target: leave out --target {printable(request.target)}, and add "
            f"--drop {printable(request.target)} if the column is not to be looked at"
        )
    given = {
        "--task": request.task != "auto",
        "--cv": request.n_folds is not None,
        "--prune": request.prune is not None,
        "--trace": request.trace,
        "--svg": request.svg is not None,
        "--report": request.report is not None,
        "--skip-missing-target": request.skip_missing_target,
        "--test-size": request.test_size not in (0.0, FitRequest.test_size),
    }
    idle = [option for option, is_given in given.items() if is_given]
    if idle:
        raise UsageRefusal(f"{', '.join(idle)}: not with --algorithm {ISOLATION}, which has no target and many trees")


def _say_odd(table: Any, scores: Any, n_outliers: int, threshold: float) -> None:
    """The oddest rows, and how many are called outliers."""
    order = pl.Series(scores).arg_sort(descending=True).to_list()[:_SHOWN]
    say(f"outliers (score above {threshold:.3f}): {n_outliers} of {len(scores)} rows; the oddest:")
    for row in order:
        say(f"  {scores[row]:.3f}  {table.place(row)}")
