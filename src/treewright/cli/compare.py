"""``treewright compare``. In: a request, candidates. Out: a table of cross-validated scores. Callers: cli.app."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from treewright.cli.learn import (
    ALGORITHMS,
    FitRequest,
    Learnable,
    check_request,
    estimator_class,
    read_request,
    remedies_as_options,
    task_of,
)
from treewright.cli.outputs import check_output, csv_of, write_text
from treewright.cli.prunings import check_pruning
from treewright.cli.terminal import UsageRefusal, printable, progress, say

__all__ = ["CompareRequest", "run_compare"]


@dataclass(frozen=True)
class CompareRequest:
    """Everything that was asked for on the command line; see ``treewright compare --help``.

    Attributes
    ----------
    fit : FitRequest
        What the candidates have in common.
    candidates : tuple of str
        ``ALGORITHM`` or ``ALGORITHM+PRUNING``; empty for those that fit the target.
    repeats : int
    scoring : str or None
    """

    fit: FitRequest
    candidates: tuple[str, ...] = ()
    n_folds: int = 10
    repeats: int = 1
    scoring: str | None = None
    out: Path | None = None


def run_compare(request: CompareRequest) -> None:
    """Cross-validate every candidate on the same folds, and say how sure the differences are.

    Raises
    ------
    TreewrightError
        The table, a parameter or an output was refused.
    UsageRefusal
        A candidate or an option makes no sense.
    """
    requests = {word: _request_of(request.fit, word) for word in request.candidates}
    if request.n_folds < 2 or request.repeats < 1:
        raise UsageRefusal(f"--cv {request.n_folds} --repeats {request.repeats}: give 2 folds and 1 repeat, or more")
    check_output(request.out, request.fit.force)
    shared = replace(request.fit, settings=())  # which candidate has a parameter is known only with the task
    for each in requests.values():
        check_request(replace(each, settings=()))
    data = read_request(shared)
    requests = requests or {word: _request_of(request.fit, word) for word in _usual(data)}
    from treewright.model_selection import compare

    with progress(), remedies_as_options():
        makers = {word: task_of(each, data).make() for word, each in _with_settings(requests, data).items()}
        table = compare(
            makers, data.features, data.target.to_numpy(), cv=request.n_folds, repeats=request.repeats,
            sample_weight=data.weights, scoring=request.scoring, random_state=request.fit.seed,
        )  # fmt: skip
    if data.remark:
        say(data.remark)
    say(f"{printable(request.fit.data)}: {len(data.target)} rows, target {printable(request.fit.target)}")
    say()
    say(str(table))
    if request.out is not None:
        write_text(request.out, csv_of(table.to_dict()), request.fit.force)
        say(f"wrote {printable(request.out)} (table)")


def _request_of(shared: FitRequest, word: str) -> FitRequest:
    """The request of one candidate."""
    algorithm, plus, pruning = word.partition("+")
    if algorithm not in ALGORITHMS:
        raise UsageRefusal(
            f"--candidate {word!r}: write ALGORITHM or ALGORITHM+PRUNING; there are: {', '.join(ALGORITHMS)}"
        )
    if plus:
        check_pruning(pruning)
    return replace(shared, algorithm=algorithm, prune=pruning if plus else None)


def _usual(data: Learnable) -> tuple[str, ...]:
    """What is compared where nothing is named."""
    if not data.is_classification:
        return ("cart", "cart+ccp-1se", "cart+ccp-min", "cart+reduced-error", "chaid")
    return ("cart", "cart+ccp-1se", "cart+ccp-min", "cart+reduced-error", "cart+pessimistic", "c45", "chaid")


def _with_settings(requests: dict[str, FitRequest], data: Learnable) -> dict[str, FitRequest]:
    """Each candidate with those of the settings that are parameters of its algorithm."""
    known = {
        word: estimator_class(request, data.is_classification)().get_params() for word, request in requests.items()
    }
    settled = {}
    for word, request in requests.items():
        own = tuple(each for each in request.settings if each.partition("=")[0].strip() in known[word])
        settled[word] = replace(request, settings=own)
    for each in next(iter(requests.values())).settings:
        name = each.partition("=")[0].strip()
        if not any(name in names for names in known.values()):
            # The refusal of a parameter that nobody has is that of a single fit.
            settled[next(iter(settled))] = replace(next(iter(settled.values())), settings=(each,))
    return settled
