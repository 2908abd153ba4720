"""``treewright compare``. In: a request and candidates. Out: a table of cross-validated scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from treewright.cli.algorithms import ALGORITHMS, ISOLATION, known_parameters
from treewright.cli.holdout import add_rows, score_for
from treewright.cli.options import Value
from treewright.cli.prune import asked_pruning, options_of_pruning, pruning_named
from treewright.cli.request import (
    FitRequest,
    Learnable,
    check_request,
    fit_words,
    learner_of,
    positive_of,
    read_request,
)
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
from treewright.cli.threshold import Asked
from treewright.data.schema import did_you_mean
from treewright.evaluation.measures import LabelScore, are_unequal, cost_matrix, label_counts, plain_label
from treewright.evaluation.threshold import Aim
from treewright.exceptions import DataError, ParameterError, TreewrightError
from treewright.learn.other_names import algorithm_hint
from treewright.trees.summary import counted

if TYPE_CHECKING:
    from treewright.evaluation.comparison import Compared, Comparison

__all__ = ["CompareRequest", "run_compare"]


@dataclass(frozen=True)
class CompareRequest:
    """The options of the command line; see ``treewright compare --help``.

    Attributes
    ----------
    fit : FitRequest
        The options that the candidates have in common.
    candidates : tuple of str
        ``ALGORITHM`` or ``ALGORITHM+PRUNING``; empty for a list that suits the target.
    prune_options : mapping from name to value
        Options of the pruners.
    n_folds, repeats : int
    scoring : tuple of str
    baseline : str or None
        A candidate.
    cost : mapping or list of lists, or None
        What mistakes cost.
    out : Path or None
    json : bool
        Whether the results are one JSON document.
    """

    fit: FitRequest
    candidates: tuple[str, ...] = ()
    prune_options: Mapping[str, Value] = field(default_factory=dict)
    n_folds: int = 10
    repeats: int = 1
    scoring: tuple[str, ...] = ()
    baseline: str | None = None
    cost: Any = None
    out: Path | None = None
    json: bool = False


def run_compare(request: CompareRequest) -> None:
    """Cross-validate every candidate on the same folds, and print the p-values of the differences."""
    if request.json and is_standard(request.out):
        raise UsageRefusal("--json and --out - both take standard output: name a file for the table")
    requests = _requests_of(request, request.candidates)
    if request.n_folds < 2 or request.repeats < 1:
        raise UsageRefusal(f"--cv {request.n_folds} --repeats {request.repeats}: give 2 folds and 1 repeat, or more")
    check_output(request.out, request.fit.force)
    shared = replace(request.fit, settings=())  # which candidate has a parameter is known only with the task
    for each in requests.values():
        check_request(replace(each, settings=()))
    data = read_request(shared)
    requests = requests or _requests_of(request, _usual(data))
    from treewright.model_selection import compare

    target = data.target.to_numpy()
    if request.baseline is not None and request.baseline not in requests:
        guess = did_you_mean(request.baseline, sorted(requests))
        raise UsageRefusal(
            f"--baseline {request.baseline!r}: not a candidate{guess}; choose one of {', '.join(requests)}"
        )  # fmt: skip
    positive = positive_of(request.fit, data)
    _check_costs(request, data)
    if "cost" in request.scoring and request.cost is None:
        raise UsageRefusal("--measure cost needs the costs of mistakes: give --cost fp=1,fn=5")
    if (asked := _threshold_by(request.cost, positive, data)) is not None:
        requests = {word: replace(each, threshold=asked) for word, each in requests.items()}
    folds = _folds(request, target, data.is_classification)
    with progress(), worded(fit_words):
        settled, idle = _with_settings(requests, data)
        makers = {word: learner_of(each, data, as_estimator=True) for word, each in settled.items()}
        table = compare(
            makers, data.features, target, **folds,
            sample_weight=data.weights, scoring=list(request.scoring) or _usual_scores(request, data, makers.values()),
            cost=request.cost, positive=positive, baseline=request.baseline, random_state=request.fit.seed,
            n_jobs=request.fit.jobs, errors="show",
        )  # fmt: skip
    table = replace(table, rows=tuple(map(_with_options, table.rows)))
    if "repeats" not in folds:
        table = replace(table, repeats=request.repeats)  # a splitter repeats by itself
        note(f"a class has fewer than {request.n_folds} rows: the folds are not stratified")
    for line in (*idle, *_idle_options(requests, request.prune_options)):
        note(line)
    written = []
    if request.out is not None:
        write_text(request.out, _csv_of_table(table.to_dict()), request.fit.force)
        written.append(wrote(request.out, "table"))
    if request.json:
        say_json(_facts(request, data, table))
        return
    with results_after(written):
        if data.remark:
            say_prose(data.remark)
        say(
            f"{printable(request.fit.data)}: {counted(len(data.target), 'row')}, target {printable(request.fit.target)}"
        )
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
        "data": str(request.fit.data),
        "target": str(request.fit.target),
        "task": "classification" if data.is_classification else "regression",
        "seed": request.fit.seed,
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


def _check_costs(request: CompareRequest, data: Learnable) -> None:
    """Refuse costs for numbers, and fp and fn for many classes."""
    if request.cost is None:
        return
    if not data.is_classification:
        raise UsageRefusal(f"--cost is for classes, and target {request.fit.target} holds numbers: leave it out")
    labels = data.target.drop_nulls().unique().sort().to_list()
    if isinstance(request.cost, dict) and set(request.cost) == {"fp", "fn"} and len(labels) != 2:
        raise UsageRefusal(
            f"--cost with fp and fn is for two classes, and target {request.fit.target} has {len(labels)}: give the "
            'costs as JSON, the true class first: {"a": {"b": 1, "c": 2}, ...}'
        )


def _threshold_by(cost: Any, positive: Any, data: Learnable) -> Asked | None:
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
    return Asked("--cost", Aim("cost", float(matrix[1 - at, at]), float(matrix[at, 1 - at])))


def _usual_scores(request: CompareRequest, data: Learnable, estimators: Iterable[Any]) -> dict[str, Any] | None:
    """The default scores: more than accuracy for unequal classes, since it says little about a rare class.

    The first is what chooses the models: costs, or weights of the classes.
    """
    if not (data.is_classification and are_unequal(dict(label_counts(data.target)))):
        return None
    from treewright.evaluation.scoring import class_weight_of

    weights = [weight for each in estimators if (weight := class_weight_of(each)) is not None]
    scores: dict[str, Any] = {"accuracy": "accuracy", "balanced_accuracy": _balanced_accuracy}
    if request.cost is not None:
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
    if n < request.n_folds:
        raise DataError(f"{n} rows are too few for {request.n_folds} folds: give --cv {n} or less")
    cv = folds_within(
        request.n_folds, target, is_classification=is_classification, random_state=request.fit.seed
    )  # fmt: skip
    if cv == request.n_folds:
        return {"cv": cv, "repeats": request.repeats}
    if request.repeats > 1:
        cv = RepeatedKFold(n_splits=request.n_folds, n_repeats=request.repeats, random_state=request.fit.seed)
    return {"cv": cv}


def _csv_of_table(columns: Mapping[str, list[Any]]) -> str:
    """The table as CSV; a refusal quotes the data, which must not run as a formula in a spreadsheet."""
    refusals = guarded_labels([text or "" for text in columns["failure"]])
    return csv_of({**columns, "failure": refusals})


def _requests_of(request: CompareRequest, words: tuple[str, ...]) -> dict[str, FitRequest]:
    """The request of each candidate, by its word; options go to the candidates whose pruner has them."""
    requests: dict[str, FitRequest] = {}
    known: set[str] = set()
    for word in words:
        name, algorithm, pruning = _parts_of(word)
        if name in requests:
            raise UsageRefusal(f"--candidate {word!r}: given twice")
        if pruning is None:
            requests[name] = replace(request.fit, algorithm=algorithm)
            continue
        known |= set(options_of_pruning(pruning))
        own = {key: value for key, value in request.prune_options.items() if key in options_of_pruning(pruning)}
        asked = asked_pruning(f"--candidate {word!r}", pruning, own)
        requests[name] = replace(request.fit, algorithm=algorithm, prune=asked)
    for key in request.prune_options if words else ():
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
        without = [word for word, each in requests.items() if each.prune and name not in each.prune.options]
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
        pruned_otherwise = [word for word in having if requests[word].prune and name in OWN_PRUNING]
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
