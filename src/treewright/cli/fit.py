"""``treewright fit``: a request becomes a tree on the screen, its held-out score, and files.

The tree that is shown, scored and saved is the same one, fitted on the rows that are not held out. (Under ``--cv`` the
score is that of the fits on the folds; the tree is fitted on all rows.) An isolation forest has no target and therefore
no held-out score: it is fitted on all rows, and the rows with the highest anomaly scores are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from treewright.cli.algorithms import ALGORITHMS, ISOLATION, check_options, own_settings, parse_settings
from treewright.cli.evaluate import unequal_lines
from treewright.cli.holdout import HeldOut, Learnable, fit_and_hold_out, score_by_folds, warning_of
from treewright.cli.models import columns_in_words, decision_facts, summary
from treewright.cli.options import FitRequest
from treewright.cli.pruning import DEFAULT_PRUNING
from treewright.cli.report import check_report_output, write_report
from treewright.cli.request import (
    check_is_one_model,
    check_request,
    check_rows,
    declared_columns,
    fit_words,
    learner_of,
    made,
    read_request,
    settled,
    weights_of,
    with_chosen_size,
)
from treewright.cli.show import say_tree
from treewright.cli.streams import bytes_of, check_stdout, clear_stdout, is_standard, write_stdout
from treewright.cli.terminal import (
    UsageRefusal,
    as_option,
    check_output,
    note,
    open_output,
    printable,
    progress,
    results_after,
    say,
    say_json,
    say_prose,
    worded,
    wrote,
)
from treewright.evaluation.measures import LabelScore, NumberScore, QuantileScore, Score, label_counts, plain_label
from treewright.exceptions import DataError, TreewrightError, setting
from treewright.files import ReadOptions, Table, read_table
from treewright.files.table import pick
from treewright.show.spans import fitted
from treewright.show.svg import check_ending
from treewright.trees.summary import counted, n_named

__all__ = ["run_fit"]

_NAME_WIDTH = 60
_SHOWN = 5  # rows with the highest anomaly scores
_CLASSES = 6  # most classes listed with their proportions

_Folds = tuple[Score, Score, list[Score]]  # the pooled score, that of the constant prediction, and each fold's


def run_fit(request: FitRequest) -> None:
    """Fit, show, score and save; with ``--out -`` only the model goes to standard output."""
    request = settled(request)
    is_piped = is_standard(request.out)
    if is_piped and request.json:
        raise UsageRefusal("--json and --out - both take standard output: name a file for the model")
    check_stdout(request.out)
    run = _run_with_target if request.memory is None else _run_on_files
    run = _run_isolation if request.algorithm == ISOLATION else run
    is_saved = request.out is not None
    with clear_stdout(is_piped):
        estimator = run(replace(request, out=None) if is_piped else request, is_saved=is_saved)
    if is_piped:
        write_stdout(bytes_of(estimator.model_))


@contextmanager
def _at_work(*, is_saved: bool) -> Iterator[None]:
    """Show the plan and the progress of a fit; who forgot ``--out`` learns it before the wait."""
    remark = "" if is_saved else "the model is not saved; --out model.tw saves it"
    with progress(remark), _plan_noted(), worded(fit_words):
        yield


@contextmanager
def _plan_noted() -> Iterator[None]:
    """Note the plan of a fit, which a bar or a line now and then would hardly show."""
    from treewright.core.progress import listen, report
    from treewright.learn.params import PLAN

    above, plans = copy_context(), list[str]()

    def heard(done: float, what: str) -> None:
        above.run(report, done, what)
        if what.startswith(PLAN) and not plans:
            plans.append(what)
            note(what)

    with listen(heard):
        yield


def _run_with_target(request: FitRequest, *, is_saved: bool) -> Any:
    """Fit a model with a target, show, score and save it."""
    check_request(request)
    check_output(request.out, request.force)
    check_output(request.svg, request.force)
    if request.svg is not None:
        check_ending(request.svg.suffix)
    check_report_output(request.report, request.force)
    data = read_request(request)
    request, remark = with_chosen_size(request, data)
    estimator = learner_of(request, data, as_estimator=False)
    check_is_one_model(estimator, data.features.width)
    with _at_work(is_saved=is_saved):
        if ALGORITHMS[request.algorithm].is_neighbors:
            check_rows(estimator, data.table.path, data.features, data.target, data.table.place)
        wanted = {"every_measure": request.json}
        folds = score_by_folds(estimator, data, request.seed, request.cv, **wanted) if request.cv else None
        held_out = fit_and_hold_out(estimator, data, request.seed, 0.0 if folds else request.test_size, **wanted)
    # Files first: the reader of the results (head, less) may close the pipe before they end.
    written = _write(request, held_out.estimator)
    with results_after(written):
        refused: TreewrightError | None = None
        if request.report is not None:
            try:
                written.append(_written_report(request, request.report, data, held_out))
            except TreewrightError as error:  # the results of the fit are still printed
                refused = error
        scored = (held_out.score, held_out.baseline) if folds is None else folds[:2]
        warning = warning_of(scored[0], held_out.estimator.model_, scored[1])
        if request.json:
            say_json(_results(request, data, held_out, folds, warning))
            written.clear()
        else:
            _say_results(request, data, held_out, folds, remark, warning)
    if refused is not None:
        raise refused
    return held_out.estimator


def _say_results(
    request: FitRequest, data: Learnable, held_out: HeldOut, folds: _Folds | None, remark: str, warning: str
) -> None:
    """Print the table, the tree and its score as text."""
    _say_what_is_in_it(request, data, held_out.estimator)
    if data.remark:
        say_prose(data.remark)
    _say_split(request, held_out)
    if request.pruning:
        pruning = request.pruning if request.decision is None else request.pruning.for_thresholds()
        how = f"{pruning.word} by log loss" if pruning.options.get("loss") == "log_loss" else pruning.word
        words = _tree_words(held_out.estimator)
        if request.pruning == DEFAULT_PRUNING:
            say_prose(f"size by cross-validation ({how}): {words}; --prune none keeps every leaf")
        else:
            say_prose(f"pruned by {how}: {words}")
    if request.pruning and request.pruning.is_by_folds and (why := held_out.estimator.path_.why_one_leaf):
        say_prose(f"{why}; --prune ccp-min keeps them" if request.pruning.word == "ccp-1se" else why)
    if hasattr(held_out.estimator, "threshold_choice_"):
        from treewright.cli.threshold import chosen_words

        say_prose(printable(chosen_words(held_out.estimator.threshold_choice_)))
    if remark:
        say_prose(remark)
    say()
    _say_model(request, held_out.estimator)
    say()
    if request.trace:
        say(str(held_out.estimator.trace_).rstrip("\n"))
        say()
    if folds is not None:
        _say_cross_validated(*folds, "{} above {}".format(*ALGORITHMS[request.algorithm].words))
    elif held_out.score is not None and held_out.baseline is not None:
        _say_score("held-out", held_out.score, held_out.baseline)
    _say_cost(request, held_out.estimator.model_, held_out.score if folds is None else folds[0])
    if warning:
        say_prose(warning)


def _results(
    request: FitRequest, data: Learnable, held_out: HeldOut, folds: _Folds | None, warning: str
) -> dict[str, Any]:
    """The results as JSON values; docs/reference/command-line.md lists the names."""
    model, features = held_out.estimator.model_, data.features
    facts: dict[str, Any] = {
        "document": "treewright fit",
        "version": 1,
        "data": str(request.data),
        "target": str(request.target),
        "task": model.task,
        "algorithm": request.algorithm,
        "pruning": None if request.pruning is None else request.pruning.word,
        "seed": request.seed,
        "n_rows": len(data.target),
        "n_columns": features.width,
        "n_missing_cells": sum(features.null_count().row(0)),
        "n_fitted_rows": held_out.n_fitted,
        "classes": None,
        "files": {
            name: str(path)
            for name, path in (("model", request.out), ("picture", request.svg), ("report", request.report))
            if path is not None
        },
        "tree": None,
        **decision_facts(model),
        "held_out": None,
        "cross_validation": None,
        "warning": warning or None,
    }
    if data.is_classification:
        counts = label_counts(data.target)
        facts["classes"] = [{"class": plain_label(label), "n_rows": count} for label, count in counts]
    if ALGORITHMS[request.algorithm].words[0] == "tree":
        facts["tree"] = {"n_leaves": model.trees[0].n_leaves, "depth": model.trees[0].max_depth}
    if folds is not None:
        score, baseline, per_fold = folds
        each = [fold.facts() for fold in per_fold]
        facts["cross_validation"] = {"score": score.facts(), "baseline": baseline.facts(), "folds": each}
    elif held_out.score is not None and held_out.baseline is not None:
        facts["held_out"] = {"score": held_out.score.facts(), "baseline": held_out.baseline.facts()}
    return facts


def _say_what_is_in_it(request: FitRequest, data: Learnable, estimator: Any) -> None:
    """Print one line about the columns, one about the target."""
    missing = sum(data.features.null_count().row(0))
    n = len(data.target)
    cells = f"{counted(missing, 'cell')} missing"
    say_prose(f"{printable(request.data)}: {counted(n, 'row')}, {columns_in_words(estimator.model_)}, {cells}")
    if not data.is_classification:
        low, high = printable(data.target.min()), printable(data.target.max())
        mean = float(data.target.cast(pl.Float64).to_numpy().mean())
        say_prose(f"target {printable(request.target)}: regression, {low} to {high}, mean {mean:.4g}")
        return
    counts = label_counts(data.target)
    shown = counts[: n_named(len(counts), _CLASSES)]
    shares = [f"{fitted(printable(label), _NAME_WIDTH)} {100 * count / n:.1f} %" for label, count in shown]
    more = f", {len(counts) - len(shown)} more" if len(counts) > len(shown) else ""
    classes = counted(len(counts), "class", "classes")
    say_prose(f"target {printable(request.target)}: classification, {classes} ({', '.join(shares)}{more})")


def _say_model(request: FitRequest, estimator: Any) -> None:
    """Print the tree, or a summary of many trees with their out-of-bag score if there is one."""
    algorithm = ALGORITHMS[request.algorithm]
    if algorithm.words[0] == "tree":
        say_tree(estimator.model_, request.out)
        return
    if not algorithm.is_ensemble:
        say(estimator.model_.show().rstrip("\n"))
        return
    say(summary(estimator.model_, request.out))
    if estimator.model_.boosting is not None:
        _say_rounds(estimator)
    if hasattr(estimator, "oob_score_"):
        name = "accuracy" if estimator.model_.task == "classification" else "R2"
        say()
        say(f"out-of-bag {name} {estimator.oob_score_:.3f} (each row by the trees that did not sample it)")


def _say_rounds(estimator: Any) -> None:
    """Print how many rounds were kept, and the score or loss after the best of them."""
    from treewright.learn.boosting import n_rounds_of

    facts = estimator.model_.facts
    if facts.get("members"):
        lengths = sorted(set(facts["members"]))
        rounds = " to ".join(map(str, dict.fromkeys((lengths[0], lengths[-1]))))
        say()
        say_prose(
            f"early stopping: {len(facts['members'])} members of {rounds} rounds, stopped on their held-out rows, then "
            "replayed on all rows; the prediction is their mean"
        )
        return
    history, best = facts["history"], int(facts["best_iteration"])
    n_grown = max((len(values) - 1 for values in history.values()), default=0)
    values = history.get("validation") or history.get("train")
    if not values:
        return
    whose = "held-out rows" if history.get("validation") else "the training rows"
    sign, what, end = (-1, "score", "highest") if facts.get("scored") else (1, "loss", "lowest")
    value = "beyond float64" if values[best] is None else f"{sign * values[best]:.4g}"
    say()
    say_prose(
        f"early stopping: {n_rounds_of(estimator.model_)} of {n_grown} rounds are kept; after round {best} the "
        f"{what} of {whose} is the {end}, {value}"
    )


def _tree_words(estimator: Any) -> str:
    """Leaves before and after pruning, and the depth after it."""
    steps, tree = estimator.model_.facts["pruning"], estimator.model_.trees[0]
    return f"{counted(steps[0]['leaves_before'], 'leaf', 'leaves')} -> {tree.n_leaves}, depth {tree.max_depth}"


def _say_split(request: FitRequest, held_out: HeldOut) -> None:
    """Print how many rows the tree is fitted on, and how many are held out."""
    below = "the {} below {}".format(*ALGORITHMS[request.algorithm].words)
    if held_out.score is None:
        words = "one row" if held_out.n_fitted == 1 else f"all {counted(held_out.n_fitted, 'row')}"
        say_prose(f"{below} fitted on {words}")
        return
    how = "stratified, " if held_out.stratified else ""
    say_prose(
        f"{below} fitted on {counted(held_out.n_fitted, 'row')}; {counted(held_out.score.n, 'is', 'are')} held out "
        f"({how}seed {request.seed}; --test-size 0 fits on all)"
    )


def _say_score(what: str, score: Score, baseline: Score) -> None:
    """Print the score, and that of the constant prediction."""
    if isinstance(score, LabelScore) and isinstance(baseline, LabelScore):
        constant = next(iter(baseline.predicted_totals()))
        say_prose(score.line(f"{what} accuracy"))
        say_prose(f"always predicting {fitted(printable(constant), _NAME_WIDTH)!r}: {baseline.main:.3f}")
        for line in unequal_lines(score, "held-out rows" if what == "held-out" else "rows"):
            say_prose(line)
    elif isinstance(score, NumberScore) and isinstance(baseline, NumberScore):
        say_prose(score.line(what))
        say_prose(f"always predicting the mean: mean absolute error {baseline.absolute_error:.4g}")
    elif isinstance(score, QuantileScore) and isinstance(baseline, QuantileScore):
        say_prose(score.line(what))
        say_prose(f"always predicting the quantiles of the other rows: mean pinball loss {baseline.main:.4g}")


def _say_cost(request: FitRequest, model: Any, score: Score | None) -> None:
    """Print what the mistakes cost on the held-out rows, if costs chose the threshold."""
    asked = request.decision
    if asked is None or asked.aim is None or asked.aim.wish != "cost" or not isinstance(score, LabelScore):
        return
    from treewright.cli.threshold import Costs

    costs = Costs(asked.aim, model.positive)
    say_prose(costs.line(score))
    if warning := costs.warning(score):
        say_prose(warning)


def _say_cross_validated(score: Score, baseline: Score, per_fold: list[Score], shown: str) -> None:
    """Print the pooled score, and its range over the folds."""
    _say_score(f"{len(per_fold)}-fold cross-validated", score, baseline)
    each = [fold.main for fold in per_fold]
    mean, lowest, highest = (f"{value:{score.digits}}" for value in (np.mean(each), min(each), max(each)))
    say_prose(f"{score.name} per fold: mean {mean}, lowest {lowest}, highest {highest}")
    say_prose(f"(the score is that of {len(per_fold)} fits, each on the other folds; the {shown} fitted on every row)")


def _write(request: FitRequest, estimator: Any) -> list[str]:
    """Save the files that the request names; returns a line about each."""
    written = []
    if request.out is not None:
        check_output(request.out, request.force)
        estimator.model_.save(request.out)
        what = "model"
        if request.algorithm != ISOLATION and ALGORITHMS[request.algorithm].is_neighbors:
            n_rows = estimator.model_.facts["n_samples"]
            what += f", {request.out.stat().st_size:,} bytes: it holds the {counted(n_rows, 'training row')}"
        written.append(wrote(request.out, what))
    if request.svg is not None:
        content = estimator.model_.plot().content(request.svg.suffix)
        with open_output(request.svg, request.force) as file:
            file.write(content)
        written.append(wrote(request.svg, "picture"))
    return written


def _written_report(request: FitRequest, path: Path, data: Learnable, held_out: HeldOut) -> str:
    """Write the page about the held-out rows, or about all rows if there are none; returns a line about it."""
    rows = slice(None) if held_out.rows is None else held_out.rows
    weights = None if data.weights is None else data.weights[rows]
    with progress(), worded(fit_words):
        return write_report(
            path, request.force, held_out.estimator, data.features[rows], data.target[rows], weights,
            random_state=request.seed, n_jobs=request.jobs,
        )  # fmt: skip


# --- rows that need not fit in memory


def _run_on_files(request: FitRequest, *, is_saved: bool) -> Any:
    """Fit on Parquet files block by block; show and save the model."""
    needs_rows: dict[str, Any] = {
        "--cv": request.cv, "--report": request.report, "--trace": request.trace or None,
        "--cost or --threshold": request.decision, "--positive": request.positive, "--json": request.json or None,
        "--prune": None if request.pruning is None else request.pruning.named,
        "--test-size": None if request.test_size in (0.0, FitRequest.test_size) else request.test_size,
    }  # fmt: skip
    needed = next((option for option, given in needs_rows.items() if given is not None), None)
    if needed is not None:
        raise UsageRefusal(f"{needed} needs the rows in memory: leave --memory out")
    check_request(request)
    if ALGORITHMS[request.algorithm].is_neighbors:
        raise UsageRefusal(f"--algorithm {request.algorithm} keeps all rows in memory: leave --memory out")
    check_output(request.out, request.force)
    check_output(request.svg, request.force)
    if request.svg is not None:
        check_ending(request.svg.suffix)
    from treewright.files.sources import parquet_source

    kind, target = parquet_source(request.data).schema().get(str(request.target)), str(request.target)
    if request.task == "auto" and kind is not None and kind.is_numeric():
        raise UsageRefusal(
            f"target {target} holds numbers, and --memory does not check whether they are classes: give --task "
            "classification or --task regression"
        )
    is_classification = request.task == "classification" or (request.task == "auto" and kind is not None)
    settings = own_settings(request, is_classification)
    own = {"n_jobs": request.jobs, "random_state": request.seed, **request.columns.given_unseen}
    estimator = made(request, is_classification, settings, own, as_estimator=True)
    with _at_work(is_saved=is_saved):
        task = "classification" if is_classification else "regression"
        rows = _rows_in_files(request, target, task, getattr(estimator, "max_bins", 255))
        estimator.fit(rows)
    written = _write(request, estimator)
    with results_after(written):
        say_prose(f"{printable(request.data)}: {counted(len(rows), 'row')}, {columns_in_words(estimator.model_)}")
        where = "read in blocks" if rows.is_remote else "held in memory"
        say_prose(
            f"target {printable(target)}: {estimator.model_.task}; fitted on all rows, {where}; none are held "
            "out: treewright evaluate scores the model on other rows"
        )
        say()
        _say_model(request, estimator)
    return estimator


def _rows_in_files(request: FitRequest, target: str | None, task: str | None, max_bins: int = 255) -> Any:
    """The dataset of Parquet files, within the memory of the request."""
    from treewright.files.dataset import Dataset
    from treewright.files.sources import parquet_source

    plain, read, columns = ReadOptions(), request.reading.options, request.columns
    given = [each.name for each in fields(plain) if getattr(read, each.name) != getattr(plain, each.name)]
    if given:
        raise UsageRefusal(
            f"--memory reads Parquet, whose cells need no parsing: leave {as_option(setting(given[0]))} out"
        )
    table = Table(request.data, pl.DataFrame(schema=parquet_source(request.data).schema()))
    declared = declared_columns(request, table)
    if declared.pop("calendar"):
        raise UsageRefusal("--calendar makes columns of dates, which --memory cannot: leave one of them out")
    return Dataset.from_parquet(
        request.data, target=target, task=task, weight=columns.weight, leave_out=columns.drop,
        skip_missing_target=columns.skip_missing_target, memory=request.memory, n_jobs=request.jobs, max_bins=max_bins,
        **declared,
    )  # fmt: skip


# --- isolation forests


def _run_isolation(request: FitRequest, *, is_saved: bool) -> Any:
    """Fit an isolation forest on all rows, show and save it."""
    check_options(request)
    if request.json:
        raise UsageRefusal("--json: an isolation forest has no held-out score; treewright predict scores every row")
    if request.positive is not None:
        raise UsageRefusal("--positive: an isolation forest has no classes: leave it out")
    if request.decision is not None:
        raise UsageRefusal(
            f"{request.decision.option}: an isolation forest has no classes; --set contamination=0.05 sets the "
            "share of outliers"
        )
    import treewright
    from treewright.learn.isolation import IsolationParams
    from treewright.learn.params import parameters_of

    settings = parse_settings(request.settings, parameters_of(IsolationParams))
    treewright.IsolationForest(**settings)._check_parameters()
    check_output(request.out, request.force)
    if request.memory is not None:
        return _isolated_in_files(request, settings, is_saved=is_saved)
    columns = request.columns
    required = [columns.weight] if columns.weight else []
    table = read_table(request.data, request.reading.options, columns.declared.cell_types, columns.drop, required)
    features = pick(table.frame, [name for name in table.frame.columns if name not in required])
    if not features.width:
        raise DataError(f"{request.data}: no column is left to learn from")
    forest = treewright.IsolationForest(
        **settings, **declared_columns(request, table), **columns.given_unseen, n_jobs=request.jobs,
        random_state=request.seed,
    )  # fmt: skip
    with _at_work(is_saved=is_saved):
        forest.fit(features, sample_weight=weights_of(table, columns.weight))
        scores = -forest.score_samples(features)
        n_outliers = int((forest.predict(features) == -1).sum())
    written = []
    if request.out is not None:
        check_output(request.out, request.force)
        forest.save(request.out)
        written.append(wrote(request.out, "model"))
    with results_after(written):
        say(f"{printable(request.data)}: {counted(len(scores), 'row')}, {columns_in_words(forest.model_)}, no target")
        say()
        say(summary(forest.model_, request.out))
        say()
        _say_odd(table, scores, n_outliers, -forest.offset_)
    return forest


def _isolated_in_files(request: FitRequest, settings: dict[str, Any], *, is_saved: bool) -> Any:
    """Fit an isolation forest on Parquet files; ``predict`` lists the outliers."""
    import treewright

    forest = treewright.IsolationForest(
        **settings, **request.columns.given_unseen, n_jobs=request.jobs, random_state=request.seed
    )
    with _at_work(is_saved=is_saved):
        rows = _rows_in_files(request, None, None)
        forest.fit(rows)
    written = _write(request, forest)
    with results_after(written):
        words = columns_in_words(forest.model_)
        say(f"{printable(request.data)}: {counted(len(rows), 'row')}, {words}, no target")
        say()
        say(summary(forest.model_, request.out))
        say()
        say(f"outliers have a score above {-forest.offset_:.3f}: treewright predict lists them")
    return forest


def _say_odd(table: Table, scores: Any, n_outliers: int, threshold: float) -> None:
    """Print the number of outliers, and the rows with the highest scores."""
    order = pl.Series(scores).arg_sort(descending=True).to_list()[:_SHOWN]
    say(f"outliers (score above {threshold:.3f}): {n_outliers} of {counted(len(scores), 'row')}; the highest scores:")
    for row in order:
        say(f"  {scores[row]:.3f}  {table.place(row)}")
