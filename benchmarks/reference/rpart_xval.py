"""R's rpart: its table of complexities, cross-validated on folds that are written down, by `rpart_xval.R`.

In: data sets. Out: rpart_xval.json (its shape: README.md).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import rpart
import sets
from tables import Table

GROWN_OUT = {
    "cp": 0, "minsplit": 2, "minbucket": 1, "maxdepth": 30, "maxsurrogate": 0, "usesurrogate": 0, "maxcompete": 0,
}  # fmt: skip
STOPPED = GROWN_OUT | {"minsplit": 20, "minbucket": 7}
# Which tables are grown how. Grown out, credit_g and auto_mpg have nodes of few rows where columns tie.
RUNS = (
    ("tennis", (GROWN_OUT,)),
    ("movies", (GROWN_OUT,)),
    ("contact_lenses", (GROWN_OUT,)),
    ("iris", (GROWN_OUT, STOPPED)),
    ("wine", (GROWN_OUT, STOPPED)),
    ("breast_cancer", (GROWN_OUT, STOPPED)),
    ("tic_tac_toe", (GROWN_OUT, STOPPED)),
    ("car_evaluation", (GROWN_OUT, STOPPED)),
    ("credit_g", (STOPPED,)),
    ("auto_mpg", (STOPPED,)),
)
WEIGHTED = ("breast_cancer",)  # once more, rows weighing 1, 2, 3, 1, 2, 3, ...


def run(folder: Path | None) -> Iterator[tuple[str, dict]]:
    """File name and figures."""
    version, runs = "", []
    for name, controls in RUNS:
        table = sets.find(name, folder)
        if table is None:
            continue
        # What becomes of missing cells without surrogates is rpart's own.
        table = sets.without(table, *sets.with_missing(table))
        asked = fits_of(table, controls)
        answer = rpart.ask(table, asked, "rpart_xval.R")
        version = answer["version"]
        for fit, made in zip(asked, answer["fits"], strict=True):
            print(f"  {table.name:<16} {len(made['cp'])} subtrees", flush=True)
            about = {"data": table.name, "rows": table.n_rows, "method": fit["method"], "control": fit["control"]}
            weights = {"weights": "1 2 3"} if "weights" in fit else {}
            runs.append(about | weights | {"fold": " ".join(map(str, fit["fold"]))} | made)
    yield "rpart_xval.json", {"program": "rpart", "version": version, "runs": runs}


def fits_of(table: Table, controls: tuple[dict, ...]) -> list[dict]:
    """The fits of a table on ten folds drawn at random, five where there are few rows."""
    method = "class" if table.target in table.nominal else "anova"
    n_folds = 10 if table.n_rows >= 100 else 5
    fold = [1 + row % n_folds for row in range(table.n_rows)]
    random.Random(f"folds of {table.name}").shuffle(fold)
    fits = [{"method": method, "control": control, "fold": fold} for control in controls]
    if table.name in WEIGHTED:
        fits.append(fits[-1] | {"weights": [1 + row % 3 for row in range(table.n_rows)]})
    return fits
