"""The data sets that the figures are of, as the other programs saw them. In: a name. Out: `DataSet`.

Callers: the tests of this folder, benchmarks/reference/compare.py (which gives a folder of larger sets).
"""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "figures"
OWN_SETS = HERE / "data"
PENGUINS = HERE.parents[1] / "examples" / "penguins.csv"
BUNDLED = ("iris", "wine", "breast_cancer", "digits")


@dataclass(frozen=True, eq=False)
class DataSet:
    """Features column by column; a missing cell is None (nominal) or nan. Some rows keep the levels of all rows."""

    name: str
    X: dict
    y: np.ndarray
    levels: dict

    def rows(self, chosen):
        """Some rows, by position."""
        X = {name: [cells[row] for row in chosen] for name, cells in self.X.items()}
        return replace(self, X=X, y=self.y[chosen])

    def blanked(self, columns):
        """The features with nothing in these columns."""
        nothing = {name: [None if name in self.levels else np.nan] * len(self.y) for name in columns}
        return self.X | nothing

    def without(self, *columns):
        X, levels = ({name: of[name] for name in of if name not in columns} for of in (self.X, self.levels))
        return replace(self, X=X, levels=levels)

    def missing_as_level(self, level="missing"):
        """Nominal columns with one more level in place of their missing cells."""
        named = {name: [level if cell is None else cell for cell in self.X[name]] for name in self.levels}
        return replace(self, X=self.X | named, levels={name: sorted(set(cells)) for name, cells in named.items()})


@cache
def figures(file):
    """The runs of a file of figures."""
    return json.loads((FIGURES / file).read_text(encoding="utf-8"))["runs"]


def find(name, folder=None):
    """The data set of that name; None where only a folder could have it, and that one has not."""
    tables = {table["name"]: table for table in figures("tables.json")}
    if name in tables:
        table = tables[name]
        return _of_cells(name, table["columns"], tuple(table["nominal"]), table["target"])
    if name in BUNDLED:
        return _bundled(name)
    if name == "airquality":
        columns = {column["column"]: column["cells"] for column in figures("airquality.json")}
        return _of_cells(name, columns, (), "Ozone")
    if name == "penguins":
        with PENGUINS.open(encoding="utf-8", newline="") as file:
            return _of_cells(name, _columns(file), ("island", "sex", "species"), "species")
    for place in filter(None, (OWN_SETS, folder)):
        if (Path(place) / f"{name}.json").is_file():
            return _of_folder(name, Path(place))
    return None


def _columns(file):
    header, *rows = csv.reader(file)
    return {name: [row[at] or None for row in rows] for at, name in enumerate(header)}


def _of_folder(name, folder):
    about = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    with gzip.open(folder / about["file"], "rt", encoding="utf-8", newline="") as file:
        columns = _columns(file)
    target = about["target"]
    nominal = (*about["nominal"], *(() if about["task"] == "regression" else (target,)))
    return _of_cells(name, columns, nominal, target)


def _of_cells(name, columns, nominal, target):
    made = {
        label: list(cells) if label in nominal else [np.nan if cell is None else float(cell) for cell in cells]
        for label, cells in columns.items()
    }
    y = np.array(made.pop(target), dtype=None if target not in nominal else str)
    levels = {label: sorted(set(made[label]) - {None}) for label in made if label in nominal}
    return DataSet(name, made, y, levels)


def _bundled(name):
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    X = {str(label): bunch.data[:, at].tolist() for at, label in enumerate(bunch.feature_names)}
    return DataSet(name, X, np.array([str(bunch.target_names[code]) for code in bunch.target]), {})
