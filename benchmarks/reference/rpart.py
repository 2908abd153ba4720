"""R's rpart with surrogate splits: frame, splits, routing of rows with missing cells, paths, written by `rpart.R`.

In: data sets. Out: rpart.json, rpart_blanked.json, rpart_paths.json and airquality.json (their shape: README.md).
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import sets
from tables import Table

HERE = Path(__file__).resolve().parent
SETS = ("penguins", "auto_mpg", "credit_g", "vote", "breast_cancer_w", "airquality", "car_evaluation", "gaps")
DEFAULT = {"usesurrogate": 2, "maxsurrogate": 5, "cp": 0.01}
FULL = {"usesurrogate": 2, "maxsurrogate": 5, "cp": 0, "minsplit": 20}
BLANKED = ("root", "root and first surrogate", "all")
BLANKED_SETS = ("penguins", "auto_mpg", "breast_cancer_w", "vote", "gaps")
PATH_SETS = (
    "iris", "wine", "breast_cancer", "penguins", "tic_tac_toe", "car_evaluation", "credit_g", "auto_mpg", "airquality",
)  # fmt: skip
GROWN_OUT = {"cp": 0, "minsplit": 2, "minbucket": 1, "maxdepth": 30, "usesurrogate": 0, "maxsurrogate": 0}
OTHER_FITS = (
    {"control": DEFAULT | {"usesurrogate": 1}},
    {"control": DEFAULT | {"usesurrogate": 0}},
    {"control": DEFAULT | {"surrogatestyle": 1}},
    {"control": DEFAULT, "split": "information"},
)


def airquality() -> Table:
    """R's own table of New York's air in 1973 (public domain); Ozone is the target."""
    command = ["Rscript", "-e", "write.csv(airquality, stdout(), row.names = FALSE, na = '', quote = FALSE)"]
    header, *rows = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    names = header.split(",")
    cells = [row.split(",") for row in rows]
    columns: dict[str, list[str | None]] = {name: [row[i] or None for row in cells] for i, name in enumerate(names)}
    columns["Ozone"] = columns.pop("Ozone")
    return Table("airquality", columns, (), "Ozone")


def run(folder: Path | None) -> Iterator[tuple[str, dict]]:
    """File name and figures."""
    air = airquality()
    tables = [air if name == "airquality" else sets.find(name, folder) for name in SETS]
    numbers = [
        {"column": name, "cells": [None if cell is None else float(cell) for cell in air.columns[name]]}
        for name in air.columns
    ]
    yield "airquality.json", {"program": "R datasets", "target": air.target, "runs": numbers}
    found = [air if name == "airquality" else sets.find(name, folder) for name in PATH_SETS]
    yield "rpart_paths.json", _paths([table for table in found if table])
    yield "rpart.json", _figures([table for table in tables if table], _fits)
    yield "rpart_blanked.json", _figures([table for table in tables if table and table.name in BLANKED_SETS], _blanked)


def _method(table: Table) -> str:
    return "class" if table.target in table.nominal else "anova"


def _fits(table: Table) -> list[dict]:
    blank = list(BLANKED) if table.name in BLANKED_SETS else []
    return [{"method": _method(table), "control": control, "blank": blank} for control in (DEFAULT, FULL)]


def _blanked(table: Table) -> list[dict]:
    others = [fit for fit in OTHER_FITS if _method(table) == "class" or "split" not in fit]
    return [{"method": _method(table), "blank": list(BLANKED), **fit} for fit in others]


def _figures(tables: list[Table], fits) -> dict:
    version, runs = "", []
    for table in tables:
        asked = fits(table)
        answer = ask(table, asked)
        version = answer["version"]
        for fit, made in zip(asked, answer["fits"], strict=True):
            print(f"  {table.name:<16} {fit['control']}", flush=True)
            runs.append(_described(table, fit) | _lean(made, fits is _blanked or fit["control"] == FULL))
    return {"program": "rpart", "version": version, "runs": runs}


def _paths(tables: list[Table]) -> dict:
    """The table of complexities of trees grown out on the rows that lack no cell."""
    version, runs = "", []
    for table in tables:
        fits: list[dict] = [{"method": _method(table), "control": GROWN_OUT, "path": True, "complete": True}]
        if _method(table) == "class":
            fits.append(fits[0] | {"split": "information"})
        answer = ask(table, fits)
        version = answer["version"]
        print(f"  {table.name:<16} paths", flush=True)
        runs += [_described(table, fit) | made for fit, made in zip(fits, answer["fits"], strict=True)]
    return {"program": "rpart", "version": version, "runs": runs}


def _lean(made: dict, no_competing: bool) -> dict:
    """The same without what the rest of the file says already."""
    if made["leaf"] == made["where"]:
        del made["leaf"]
    for node in made["nodes"]:
        if no_competing:
            node.pop("competing", None)
    return made


def _described(table: Table, fit: dict) -> dict:
    about = {"data": table.name, "rows": table.n_rows, "method": fit["method"], "control": fit["control"] | {"xval": 0}}
    if "split" in fit:
        about["split"] = fit["split"]
    about["levels"] = {name: table.levels(name) for name in table.features if name in table.nominal}
    if fit["method"] == "class":
        about["classes"] = table.levels(table.target)
    return about


def ask(table: Table, fits: list[dict], script: str = "rpart.R") -> dict:
    """What a script of R answers about fits of a table."""
    columns = [
        {"name": name, "levels": table.levels(name) if name in table.nominal else None}
        for name in [*table.features, table.target]
    ]
    with tempfile.TemporaryDirectory() as place:
        question, cells, answer = (Path(place) / name for name in ("asked.json", "table.csv", "answer.json"))
        question.write_text(json.dumps({"columns": columns, "fits": fits}), encoding="utf-8")
        sets.write_csv(table, cells)
        command = ["Rscript", "--vanilla", str(HERE / script), str(question), str(cells), str(answer)]
        subprocess.run(command, check=True)
        return json.loads(answer.read_text(encoding="utf-8"))
