"""Data sets by name, for every reference program alike: textbook tables, bundled sets, the penguins, and a folder's.

In: a name and, for those that are in no library, a folder of NAME.json + NAME.csv.gz (see benchmarks/README.md).
Out: a `tables.Table` of text cells, and the same as ARFF or CSV text. Levels and classes are always declared in the
order of their code points, which decides how the programs break ties.
"""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import replace
from pathlib import Path

from tables import TABLES, Table

PENGUINS = Path(__file__).resolve().parents[2] / "examples" / "penguins.csv"
BUNDLED = ("iris", "wine", "breast_cancer", "digits")


def find(name: str, folder: Path | None) -> Table | None:
    """The data set of that name; None if only a folder could have it and that one has not."""
    if name in TABLES:
        return TABLES[name]
    if name in BUNDLED:
        return _bundled(name)
    if name == "penguins":
        return _penguins()
    if folder is None or not (folder / f"{name}.json").is_file():
        return None
    return _of_folder(name, folder)


def _bundled(name: str) -> Table:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    names = [str(label) for label in bunch.feature_names]
    columns: dict[str, list[str | None]] = {
        label: [repr(float(value)) for value in bunch.data[:, i]] for i, label in enumerate(names)
    }
    columns["target"] = [str(bunch.target_names[code]) for code in bunch.target]
    return Table(name, columns, ("target",), "target")


def _read(lines) -> tuple[list[str], list[list[str]]]:
    header, *rows = csv.reader(lines)
    return header, rows


def _penguins() -> Table:
    with PENGUINS.open(encoding="utf-8", newline="") as file:
        header, rows = _read(file)
    columns = {label: [row[i] or None for row in rows] for i, label in enumerate(header)}
    columns["species"] = columns.pop("species")
    return Table("penguins", columns, ("island", "sex", "species"), "species")


def _of_folder(name: str, folder: Path) -> Table:
    about = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    with gzip.open(folder / about["file"], "rt", encoding="utf-8", newline="") as file:
        header, rows = _read(file)
    columns = {label: [row[i] or None for row in rows] for i, label in enumerate(header)}
    target = about["target"]
    nominal = tuple(about["nominal"]) + (() if about["task"] == "regression" else (target,))
    return Table(name, columns, nominal, target)


def missing_as_level(table: Table, level: str = "missing") -> Table:
    """The table with one more level in place of every missing cell of a nominal column."""
    columns = {
        label: [level if cell is None and label in table.nominal else cell for cell in cells]
        for label, cells in table.columns.items()
    }
    return replace(table, columns=columns)


def without(table: Table, *labels: str) -> Table:
    """The table without some columns."""
    kept = {label: cells for label, cells in table.columns.items() if label not in labels}
    return replace(table, columns=kept, nominal=tuple(label for label in table.nominal if label in kept))


def nominal_only(table: Table) -> Table:
    """The table without its numeric features."""
    return without(table, *[label for label in table.features if label not in table.nominal])


def with_missing(table: Table) -> list[str]:
    """Features that have a missing cell."""
    return [label for label in table.features if None in table.columns[label]]


def arff(table: Table) -> str:
    """The table as ARFF text, the target last."""
    lines = ["@relation " + _quoted(table.name)]
    order = [*table.features, table.target]
    for label in order:
        kind = "{" + ",".join(map(_quoted, table.levels(label))) + "}" if label in table.nominal else "numeric"
        lines.append(f"@attribute {_quoted(label)} {kind}")
    lines.append("@data")
    cells = [[_cell(cell, label in table.nominal) for cell in table.columns[label]] for label in order]
    lines.extend(",".join(row) for row in zip(*cells, strict=True))
    return "\n".join(lines) + "\n"


def _cell(cell: str | None, nominal: bool) -> str:
    if cell is None:
        return "?"
    return _quoted(cell) if nominal else cell


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def write_csv(table: Table, path: Path) -> None:
    """The table as CSV, the target last, a missing cell empty; columns are called V1, V2, ... for R's sake."""
    order = [*table.features, table.target]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"V{i + 1}" for i in range(len(order))])
        writer.writerows(
            ["" if cell is None else cell for cell in row]
            for row in zip(*[table.columns[label] for label in order], strict=True)
        )


def rows_of(table: Table, rows: list[int]) -> Table:
    """Some rows of the table."""
    return replace(table, columns={label: [cells[i] for i in rows] for label, cells in table.columns.items()})
