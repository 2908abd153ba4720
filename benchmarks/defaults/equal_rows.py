"""Tables of many equal rows: surveys, counts, rounded measurements. In: a folder of tables. Out: ``Table`` objects.

Rows that are drawn by their content must be drawn one by one there (docs/decisions/0018). The counts are facts of
public record: the passengers of the Titanic (Dawson 1995, "The unusual episode data revisited") and the admissions to
Berkeley in 1973 (Bickel, Hammel and O'Connell 1975, Science 187, 398).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from libraries import Table
from real_data import data_sets, read

# Class (first, second, third, crew) of each sex and age: died, survived.
_TITANIC = {
    ("male", "child"): ((0, 0, 35, 0), (5, 11, 13, 0)),
    ("female", "child"): ((0, 0, 17, 0), (1, 13, 14, 0)),
    ("male", "adult"): ((118, 154, 387, 670), (57, 14, 75, 192)),
    ("female", "adult"): ((4, 13, 89, 3), (140, 80, 76, 20)),
}
# Of each department: men admitted and rejected, women admitted and rejected.
_BERKELEY = {
    "A": (512, 313, 89, 19),
    "B": (353, 207, 17, 8),
    "C": (120, 205, 202, 391),
    "D": (138, 279, 131, 244),
    "E": (53, 138, 94, 299),
    "F": (22, 351, 24, 317),
}
NAMES = ("titanic", "berkeley", "survey", "abalone_rounded", "mushroom_few")
_FEW_OF_MUSHROOM = ("cap_shape", "cap_surface", "cap_color", "stalk_shape", "habitat")


def tables(folder: Path, names: list[str] | None, most_rows: int) -> Iterator[Table]:
    """The five tables, shuffled; those whose rows are not in the folder are left out."""
    made = {"titanic": _titanic, "berkeley": _berkeley, "survey": _survey}
    for name, make in made.items():
        if names is None or name in names:
            yield _shuffled(name, *make(), n_classes=2, most_rows=most_rows)
    if names is None or "abalone_rounded" in names:
        for facts in data_sets(folder, ["abalone"]):
            frame, target = read(facts, folder)
            rounded = frame.with_columns(pl.selectors.float().round(1))
            numbers = target.to_numpy().astype(np.float64)
            yield _shuffled("abalone_rounded", rounded, numbers, n_classes=0, most_rows=most_rows)
    if names is None or "mushroom_few" in names:
        for facts in data_sets(folder, ["mushroom"]):
            frame, target = read(facts, folder)
            few = frame.select(name for name in frame.columns if name.replace("-", "_") in _FEW_OF_MUSHROOM)
            codes = np.unique(target.to_numpy().astype(str), return_inverse=True)[1].astype(np.int64)
            yield _shuffled("mushroom_few", few, codes, n_classes=2, most_rows=most_rows)


def _shuffled(name: str, frame: pl.DataFrame, y: np.ndarray, *, n_classes: int, most_rows: int) -> Table:
    rows = np.random.default_rng(0).permutation(len(frame))[:most_rows]
    nominal = tuple(column for column in frame.columns if frame[column].dtype == pl.String)
    return Table(name, frame[rows], nominal, y[rows], n_classes)


def _titanic() -> tuple[pl.DataFrame, np.ndarray]:
    cells = [
        (of_class, sex, age, survived, n)
        for (sex, age), of_outcomes in _TITANIC.items()
        for survived, counts in enumerate(of_outcomes)
        for of_class, n in zip(("first", "second", "third", "crew"), counts, strict=True)
    ]
    return _spread(cells, ("class", "sex", "age"))


def _berkeley() -> tuple[pl.DataFrame, np.ndarray]:
    cells = [
        (department, sex, admitted, counts[2 * at + 1 - admitted])
        for department, counts in _BERKELEY.items()
        for at, sex in enumerate(("male", "female"))
        for admitted in (0, 1)
    ]
    return _spread(cells, ("department", "sex"))


def _spread(cells: list[tuple], names: tuple[str, ...]) -> tuple[pl.DataFrame, np.ndarray]:
    """As many rows for each cell of a table of counts as it counts."""
    table = pl.DataFrame(cells, schema=[*names, "y", "n"], orient="row")
    rows = table.select(pl.all().repeat_by("n").explode())
    return rows.select(names), rows["y"].to_numpy().astype(np.int64)


def _survey() -> tuple[pl.DataFrame, np.ndarray]:
    """8,000 rows of 200 cells, each with a probability of its own."""
    rng = np.random.default_rng(0)
    sizes = {"region": 5, "job": 4, "age": 5, "sex": 2}
    answers = {name: rng.integers(0, size, 8_000) for name, size in sizes.items()}
    probability = rng.beta(1.2, 1.6, tuple(sizes.values()))[tuple(answers.values())]
    y = (rng.random(8_000) < probability).astype(np.int64)
    return pl.DataFrame({name: [f"{name} {code}" for code in codes] for name, codes in answers.items()}), y
