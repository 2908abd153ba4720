"""``treewright report``. In: a model file, rows with their target. Out: a page, or its summary.

``treewright fit --report`` makes the same page about the model just fitted, with the held-out rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from treewright.cli.models import load_model, refuse_isolation, target_name, weighted_rows
from treewright.cli.options import ReportRequest
from treewright.cli.terminal import UsageRefusal, check_output, open_output, progress, results_after, wrote
from treewright.exceptions import ParameterError

__all__ = ["check_report_output", "run_report", "write_report"]


def run_report(request: ReportRequest) -> None:
    """Evaluate a model on the rows of a file, and write the page about it."""
    options = {
        "cv": _folds(request.cv),
        "curves": _curves(request.curves),
        "examples": request.examples,
        "title": request.title,
        "random_state": request.seed,
        "n_jobs": request.jobs,
    }
    if request.examples < 0:
        raise UsageRefusal(f"--examples {request.examples}: give 0 or more rows; 0 shows no row of the table")
    check_report_output(request.out, request.force)
    model = load_model(request.model)
    refuse_isolation(model, request.model, "report needs one")
    name = target_name(model, request.model, request.target, "report")
    with progress():
        features, truth, weights = weighted_rows(
            model, request.data, request.reading.options, name, request.weight, skip=request.skip_missing_target
        )
        line = write_report(request.out, request.force, model, features, truth, weights, **options)
    with results_after([line]):
        pass


def check_report_output(path: Path | None, force: bool) -> None:
    """Refuse a path to which the page cannot, or should not, be written; called before the work."""
    if path is None:
        return
    from treewright.reporting.document import check_path

    try:
        check_path(path)
    except ParameterError as error:
        raise UsageRefusal(str(error)) from None
    check_output(path, force)


def write_report(path: Path, force: bool, fitted: Any, features: Any, target: Any, weights: Any, **options: Any) -> str:
    """Make a report and write it, as a page or as its summary, in one step."""
    import treewright
    from treewright.reporting.document import check_path

    is_summary = check_path(path) == ".json"
    made = treewright.report(fitted, features, target, sample_weight=weights, **options)
    text = made.to_json() + "\n" if is_summary else made.html
    with open_output(path, force) as file:
        file.write(text.encode("utf-8", "backslashreplace"))
    return wrote(path, "summary" if is_summary else "report")


def _folds(word: str) -> Any:
    """The folds as ``treewright.report`` takes them."""
    if word == "auto":
        return word
    if word == "none":
        return None
    if word.isascii() and word.isdigit() and len(word) < 10 and int(word) >= 2:
        return int(word)
    raise UsageRefusal(f"--cv {word}: give 2 folds or more, none (the rows of DATA evaluate the subtrees), or auto")


def _curves(words: tuple[str, ...]) -> tuple[str, ...]:
    """The curves to show, each once."""
    from treewright.reporting.data import CurveName

    known = get_args(CurveName)
    named = tuple(dict.fromkeys(part.strip() for word in words for part in word.split(",")))
    for name in named:
        if name not in known:
            raise UsageRefusal(f"--curves {name!r}: choose from {', '.join(known)}")
    return named
