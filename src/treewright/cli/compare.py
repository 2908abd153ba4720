"""``treewright compare``. In: a request and candidates. Out: a table of cross-validated scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from treewright.cli.algorithms import ALGORITHMS, ISOLATION, known_parameters
from treewright.cli.holdout import Learnable, add_rows, score_for
from treewright.cli.options import CompareRequest, FitRequest
from treewright.cli.parsing import Value
from treewright.cli.pruning import option_words, options_of_pruning, pruning_named, pruning_of
from treewright.cli.request import check_request, fit_of, fit_words, learner_of, positive_of, read_request
from treewright.cli.streams import is_standard
from treewright.cli.terminal import (
    UsageRefusal,
    as_set,
    check_output,
    csv_of,
    guarded_labels,
    is_typed_short,
    note,
    printable,
    printable_lines,
    progress,
    results_after,
    say,
    say_json,
    say_prose,
    worded,
    write_text,
    wrote,
)
from treewright.cli.threshold import ThresholdRequest, costs_given, is_of_two, threshold_request
from treewright.data.schema import did_you_mean
from treewright.evaluation.measures import LabelScore, are_unequal, cost_matrix, label_counts, plain_label
from treewright.evaluation.threshold import Aim
from treewright.exceptions import DataError, ParameterError, TreewrightError
from treewright.learn.registry import algorithm_hint
from treewright.trees.summary import counted

if TYPE_CHECKING:
    from treewright.evaluation.comparison import Compared, Comparison

__all__ = ["run_compare"]


def run_compare(request: CompareRequest) -> None:
    """Cross-validate every candidate on the same folds, and print the p-values of the differences."""
    decides = request.cost if request.cost is not None and is_of_two(request.cost) else None
    fit = fit_of(
        request, force=request.force, jobs=request.jobs, positive=request.positive,
        decision=threshold_request(decides, request.threshold),
    )  # fmt: skip
    options = option_words(request.prune_settings, "--prune-set")
    cost = None if request.cost is None else costs_given(request.cost)
    scoring = [] if request.scoring is None else [name.strip() for name in request.scoring.split(",")]
    if request.json and is_standard(request.out):
        raise UsageRefusal("--json and --out - both take standard output: name a file for the table")
    # A word without any candidate stays, to be refused: an empty word is a mistake, not the default.
    named = [[part.strip() for part in word.split(",") if part.strip()] or [word] for word in request.candidate]
    requests = _requests_of(fit, tuple(part for parts in named for part in parts), options)
    if request.cv < 2 or request.repeats < 1:
        raise UsageRefusal(f"--cv {request.cv} --repeats {request.repeats}: give 2 folds and 1 repeat, or more")
    check_output(request.out, request.force)
    shared = replace(fit, settings=())  # which candidate has a parameter is known only with the task
    for each in requests.values():
        check_request(replace(each, settings=()))
    data = read_request(shared)
    requests = requests or _requests_of(fit, _usual(data), options)
    from treewright.model_selection import compare

    target = data.target.to_numpy()
    if request.baseline is not None and request.baseline not in requests:
        guess = did_you_mean(request.baseline, sorted(requests))
        raise UsageRefusal(
            f"--baseline {request.baseline!r}: not a candidate{guess}; choose one of {', '.join(requests)}"
        )  # fmt: skip
    positive = positive_of(fit, data)
    _check_costs(cost, data)
    if "cost" in scoring and cost is None:
        raise UsageRefusal("--measure cost needs the costs of mistakes: give --cost fp=1,fn=5")
    if (chosen := _threshold_by(cost, positive, data)) is not None:
        requests = {word: replace(each, decision=chosen) for word, each in requests.items()}
    folds = _folds(request, target, data.is_classification)
    with progress(), worded(fit_words):
        settled, idle = _with_settings(requests, data)
        makers = {word: learner_of(each, data, as_estimator=True) for word, each in settled.items()}
        table = compare(
            makers, data.features, target, **folds,
            sample_weight=data.weights, scoring=scoring or _usual_scores(cost, data, makers.values()),
            cost=cost, positive=positive, baseline=request.baseline, random_state=request.seed,
            n_jobs=request.jobs, errors="show",
        )  # fmt: skip
    table = replace(table, rows=tuple(map(_with_options, table.rows)))
    if "repeats" not in folds:
        table = replace(table, repeats=request.repeats)  # a splitter repeats by itself
        note(f"a class has fewer than {request.cv} rows: the folds are not stratified")
    for line in (*idle, *_idle_options(requests, options)):
        note(line)
    written = []
    if request.out is not None:
        columns = table.to_dict()  # a refusal quotes the data, which must not run as a formula in a spreadsheet
        refusals = guarded_labels([text or "" for text in columns["failure"]])
        write_text(request.out, csv_of({**columns, "failure": refusals}), request.force)
        written.append(wrote(request.out, "table"))
    if request.json:
        say_json(_facts(request, data, table))
        return
    with results_after(written):
        if data.remark:
            say_prose(data.remark)
        say(f"{printable(request.data)}: {counted(len(data.target), 'row')}, target {printable(request.target)}")
        say()
        say(printable_lines(str(table)))


def _facts(request: CompareRequest, data: Learnable, table: Comparison) -> dict[str, Any]:
    """The table as JSON values; docs/reference/command-line.md lists the names."""
    from treewright.evaluation.comparison import FORMER_NAMES

    names = (
        "name", "mean", "standard_error", "margin", "n_leaves", "depth", "difference", "difference_low",
        "difference_high", "p_value", "p_adjusted", "failure",
    )  # fmt: skip
    return {
        "document": "treewright comparison",
        "version": 1,
        "data": str(request.data),
        "target": str(request.target),
        "task": "classification" if data.is_classification else "regression",
        "seed": request.seed,
        "n_rows": table.n_rows,
        "n_folds": table.n_folds,
        "repeats": table.repeats,
        "scoring": table.score,
        "constant": table.constant,
        "positive": None if table.positive is None else plain_label(table.positive),
        "best": table.best.name,
        "baseline": table.baseline,
        "beyond_chance": list(table.beyond_chance),
        "candidates": [
            {name: getattr(row, name) for name in names}
            | {former: getattr(row, name) for former, name in FORMER_NAMES.items()}  # for one version more
            | {
                "scores": row.scores.tolist(),
                "other_scores": dict(row.others),
                "other_margins": dict(row.other_margins),
            }
            for row in table
        ],
        "files": {} if request.out is None else {"table": str(request.out)},
        "warning": table._warning() or None,
    }


def _check_costs(cost: Any, data: Learnable) -> None:
    """Refuse costs for numbers, and fp and fn for many classes."""
    if cost is None:
        return
    if not data.is_classification:
        raise UsageRefusal(f"--cost is for classes, and target {data.target.name} holds numbers: leave it out")
    labels = data.target.drop_nulls().unique().sort().to_list()
    if isinstance(cost, dict) and set(cost) == {"fp", "fn"} and len(labels) != 2:
        raise UsageRefusal(
            f"--cost with fp and fn is for two classes, and target {data.target.name} has {len(labels)}: give the "
            'costs as JSON, the true class first: {"a": {"b": 1, "c": 2}, ...}'
        )


def _threshold_by(cost: Any, positive: Any, data: Learnable) -> ThresholdRequest | None:
    """The threshold by costs that are a table of two classes, as fp and fn would choose it; None for other costs."""
    if cost is None or (isinstance(cost, dict) and set(cost) == {"fp", "fn"}):
        return None
    labels = data.target.drop_nulls().unique().sort().to_list()
    try:
        matrix = cost_matrix(cost, labels)
    except ParameterError as error:
        raise UsageRefusal(f"--cost {str(error).removeprefix('cost=')}") from None
    if len(labels) != 2 or matrix.diagonal().any():
        return None
    at = 1 if positive is None else labels.index(positive)
    return ThresholdRequest("--cost", Aim("cost", float(matrix[1 - at, at]), float(matrix[at, 1 - at])))


def _usual_scores(cost: Any, data: Learnable, estimators: Iterable[Any]) -> dict[str, Any] | None:
    """The default scores: more than accuracy for unequal classes, since it says little about a rare class.

    The first is what chooses the models: costs, or weights of the classes.
    """
    if not (data.is_classification and are_unequal(dict(label_counts(data.target)))):
        return None
    from treewright.evaluation.scoring import class_weight_of

    weights = [weight for each in estimators if (weight := class_weight_of(each)) is not None]
    scores: dict[str, Any] = {"accuracy": "accuracy", "balanced_accuracy": _balanced_accuracy}
    if cost is not None:
        scores = {"cost": "cost"} | scores
    elif weights and not all(isinstance(weight, str) for weight in weights):
        return None  # compare weighs them
    elif weights:
        scores = {"balanced_accuracy": _balanced_accuracy, "accuracy": "accuracy"}
    if data.weights is None:
        scores |= {name: partial(_measure, name) for name in ("ROC AUC", "log loss")}
    return scores


def _balanced_accuracy(estimator: Any, X: Any, y: np.ndarray, sample_weight: np.ndarray | None = None) -> float:
    """scikit-learn's balanced accuracy, without its warning about classes that a fold does not contain."""
    is_right = np.asarray(estimator.predict(X)) == y
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    held = [y == label for label in np.unique(y)]
    return float(np.mean([np.average(is_right[each], weights=weights[each]) for each in held if weights[each].any()]))


def _measure(name: str, estimator: Any, X: Any, y: np.ndarray) -> float:
    """A measure of a fitted estimator's class probabilities; nan if it has none."""
    score = score_for(estimator.model_)
    add_rows(score, estimator.model_, estimator, X, pl.Series(y), always=True)
    found = score.shares.measures() if isinstance(score, LabelScore) and score.shares is not None else {}
    return found.get(name, math.nan)


def _with_options(row: Compared) -> Compared:
    """A row of the table, with options instead of parameters in its refusal."""
    if not isinstance(row.error, TreewrightError):
        return row
    return replace(row, failure=" ".join(str(row.error.worded(fit_words)).split()))


def _folds(request: CompareRequest, target: np.ndarray, is_classification: bool) -> dict[str, Any]:
    """The folds for ``compare``: not stratified if a class has too few rows, as in ``fit --cv``."""
    from sklearn.model_selection import RepeatedKFold

    from treewright.evaluation.folds import folds_within

    n = len(target)
    if n < 2:
        raise DataError("1 row is too few for cross-validation: give more rows")
    if n < request.cv:
        raise DataError(f"{n} rows are too few for {request.cv} folds: give --cv {n} or less")
    cv = folds_within(
        request.cv, target, is_classification=is_classification, random_state=request.seed
    )  # fmt: skip
    if cv == request.cv:
        return {"cv": cv, "repeats": request.repeats}
    if request.repeats > 1:
        cv = RepeatedKFold(n_splits=request.cv, n_repeats=request.repeats, random_state=request.seed)
    return {"cv": cv}


def _requests_of(fit: FitRequest, words: Iterable[str], options: Mapping[str, Value]) -> dict[str, FitRequest]:
    """The request of each candidate, by its word; options go to the candidates whose pruner has them."""
    requests: dict[str, FitRequest] = {}
    known: set[str] = set()
    for word in words:
        name, algorithm, pruning = _parts_of(word)
        if name in requests:
            raise UsageRefusal(f"--candidate {word!r}: given twice")
        if pruning is None:
            requests[name] = replace(fit, algorithm=algorithm)
            continue
        known |= set(options_of_pruning(pruning))
        own = {key: value for key, value in options.items() if key in options_of_pruning(pruning)}
        requests[name] = replace(fit, algorithm=algorithm, pruning=pruning_of(f"--candidate {word!r}", pruning, own))
    for key in options if requests else ():
        if key not in known:
            has = f"; choose one of {', '.join(sorted(known))}" if known else ": add one, such as cart+leaves"
            guess = did_you_mean(key, sorted(known))
            raise UsageRefusal(f"--prune-set {key!r}: no candidate's pruner has it{guess}{has}")
    return requests


def _parts_of(word: str) -> tuple[str, str, str | None]:
    """Name, algorithm and pruner of a candidate."""
    algorithm, plus, pruning = (part.strip() for part in word.partition("+"))
    if algorithm == ISOLATION:
        raise UsageRefusal(f"--candidate {word!r}: an isolation forest has no target, so it cannot be scored")
    if algorithm not in ALGORITHMS:
        raise UsageRefusal(
            f"--candidate {word!r}: no such algorithm{algorithm_hint(algorithm, ALGORITHMS)}; write ALGORITHM or "
            f"ALGORITHM+PRUNING, and choose one of {', '.join(ALGORITHMS)}"
        )
    if not plus:
        return algorithm, algorithm, None
    pruning = pruning_named(pruning, f"--candidate {word!r}, pruning {pruning!r}")
    return f"{algorithm}+{pruning}", algorithm, pruning


def _idle_options(requests: Mapping[str, FitRequest], options: Mapping[str, Value]) -> list[str]:
    """A line about each option that not all pruners have."""
    lines = []
    for name in options:
        without = [word for word, each in requests.items() if each.pruning and name not in each.pruning.options]
        if without:
            lines.append(f"--prune-set {name} is no option of {', '.join(without)}")
    return lines


def _usual(data: Learnable) -> tuple[str, ...]:
    """The candidates by default."""
    if not data.is_classification:
        return ("cart", "cart+ccp-1se", "cart+ccp-min", "cart+reduced-error", "chaid")
    return ("cart", "cart+ccp-1se", "cart+ccp-min", "cart+reduced-error", "cart+pessimistic", "c45", "chaid")


def _with_settings(requests: dict[str, FitRequest], data: Learnable) -> tuple[dict[str, FitRequest], list[str]]:
    """Each candidate with the settings that it has, and a line about each setting that not all have.

    A parameter that prunes does not apply to a candidate that is pruned in another way.
    """
    from treewright.evaluation.path import OWN_PRUNING

    known = {word: known_parameters(request, data.is_classification) for word, request in requests.items()}
    taken: dict[str, list[str]] = {word: [] for word in requests}
    lines = []
    for each in next(iter(requests.values())).settings:
        name = each.partition("=")[0].strip()
        having = [word for word in requests if name in known[word]]
        pruned_otherwise = [word for word in having if requests[word].pruning and name in OWN_PRUNING]
        if having and having == pruned_otherwise:
            raise UsageRefusal(
                f"{as_set(name)} prunes, and {', '.join(having)} prunes in another way: leave it out, or add a "
                "candidate without another pruner"
            )
        # A parameter that no candidate has is refused as in a single fit.
        takers = [word for word in having if word not in pruned_otherwise] or list(requests)[:1]
        for word in takers:
            taken[word].append(each)
        if len(takers) < len(requests):
            asked = as_set(name, each.partition("=")[2]) if is_typed_short(name) else f"--set {each}"
            lines.append(f"{asked} is not used by {', '.join(word for word in requests if word not in takers)}")
    return {word: replace(request, settings=tuple(taken[word])) for word, request in requests.items()}, lines
