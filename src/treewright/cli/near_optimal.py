"""``treewright near-optimal``. In: rows with their target. Out: all trees nearly as good as the best one."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from treewright.cli.options import FitRequest, NearOptimalRequest
from treewright.cli.request import check_request, fit_words, learner_of, read_request
from treewright.cli.streams import is_standard
from treewright.cli.terminal import (
    UsageRefusal,
    check_output,
    open_output,
    printable,
    printable_lines,
    progress,
    results_after,
    say,
    say_json,
    say_prose,
    worded,
    wrote,
)
from treewright.exceptions import InputFileError, ParameterError
from treewright.trees.summary import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treewright.learn.near_optimal import NearOptimalTrees

__all__ = ["run_near_optimal"]

_OWN = re.compile(r"\b(tolerance|extra_loss|distinct|max_trees|max_search)=")


def run_near_optimal(request: NearOptimalRequest) -> None:
    """Count the trees near the optimum on all rows, list the best, and write the page and the models."""
    fit = FitRequest(
        data=request.data, target=request.target, algorithm="optimal", task=request.task, settings=request.settings,
        jobs=request.jobs, test_size=0.0, columns=request.columns, reading=request.reading, force=request.force,
    )  # fmt: skip
    if request.json and is_standard(request.out):
        raise UsageRefusal("--json and --out - both take standard output: name a file for the page")
    from treewright.grow.optimal.search import CTRL_C
    from treewright.learn.near_optimal import Wanted

    options: dict[str, Any] = {
        "tolerance": request.tolerance, "extra_loss": request.extra_loss, "distinct": request.distinct.value,
        "max_trees": request.max_trees, "max_search": request.max_search or None,
    }  # fmt: skip
    check_request(fit)
    with _own_words():
        Wanted.of(**options)
        if request.out is not None:
            _ending(request)
    check_output(request.out, request.force)
    data = read_request(fit)
    estimator = learner_of(fit, data, as_estimator=True)
    with progress(), _own_words(), worded(fit_words):
        estimator.fit(data.features, data.target, sample_weight=data.weights)
        if estimator.model_.facts["optimal"]["stopped"] == CTRL_C:  # a fit keeps its tree; this command ends
            raise KeyboardInterrupt
        near = estimator.near_optimal(data.features, data.target, data.weights, **options)
        written = _write(request, near)
    if request.json:
        say_json({"document": "treewright near-optimal", "version": 1, **_facts(request, near)})
        return
    with results_after(written):
        if data.remark:
            say_prose(data.remark)
        say(f"{printable(request.data)}: {counted(len(data.target), 'row')}, target {printable(request.target)}")
        say()
        say(printable_lines(str(near)))


@contextmanager
def _own_words() -> Iterator[None]:
    """Errors about what this command counts, in its options."""
    try:
        yield
    except UsageRefusal:
        raise
    except ParameterError as error:
        text = _OWN.sub(lambda found: f"--{found[1].replace('_', '-')} ", str(error.worded(fit_words)))
        raise UsageRefusal(text.replace("larger max_search", "larger --max-search")) from None


def _ending(request: NearOptimalRequest) -> str:
    from treewright.learn.near_optimal import check_ending_of_page

    return check_ending_of_page(request.out or "") if not is_standard(request.out) else ".html"


def _facts(request: NearOptimalRequest, near: NearOptimalTrees) -> dict[str, Any]:
    """The numbers of the page, without its format."""
    found = json.loads(near.to_json())
    return {"data": str(request.data), "target": str(request.target)} | {
        name: value for name, value in found.items() if not name.startswith("format")
    }


def _write(request: NearOptimalRequest, near: NearOptimalTrees) -> list[str]:
    """Write the page and the models; returns a line about each."""
    written = []
    if request.out is not None:
        text = near.to_json() + "\n" if _ending(request) == ".json" else near.html
        with open_output(request.out, request.force) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        written.append(wrote(request.out, "nearly optimal trees"))
    if request.models is not None:
        digits = len(str(len(near)))
        paths = [request.models / f"tree-{at:0{digits}d}.tw" for at in range(1, len(near) + 1)]
        try:
            request.models.mkdir(exist_ok=True)
        except OSError as error:
            raise InputFileError(f"{request.models}: the folder cannot be made ({error.strerror})") from None
        for path in paths:
            check_output(path, request.force)
        for path, model in zip(paths, near, strict=True):
            model.save(path)
        written.append(wrote(request.models, counted(len(near), "model")))
    return written
