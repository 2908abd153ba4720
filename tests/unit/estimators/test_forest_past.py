"""More trees join a forest on the same table only: the same cells, the same names of columns, levels and labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import treewright as tw
from treewright.exceptions import ParameterError

RNG = np.random.default_rng(0)
CELLS = RNG.normal(size=(60, 2))
LABELS = (CELLS[:, 0] > 0).astype(int)
TABLE = pd.DataFrame({"a": CELLS[:, 0], "b": CELLS[:, 1], "c": np.array(["u", "v", "w"])[np.arange(60) % 3]})


def grown():
    return tw.RandomForestClassifier(3, warm_start=True).fit(TABLE, LABELS).set_params(n_estimators=5)


@pytest.mark.parametrize(
    ("table", "labels", "told"),
    [
        (TABLE.rename(columns={"a": "z"}), LABELS, "columns have other names"),
        (TABLE.set_axis([0, 1, 2], axis=1), LABELS, "columns have other names"),
        (TABLE.to_numpy().tolist(), LABELS, "columns have other names"),
        (TABLE.assign(c=TABLE.c.map({"u": "x", "v": "y", "w": "z"})), LABELS, "column c has other levels"),
        (
            TABLE.assign(c=TABLE.c.map({"u": 1, "v": 2, "w": 3}).astype(object)),
            LABELS,
            "column c|different than",
        ),
        (TABLE, np.array(["n", "p"])[LABELS], "labels are different"),
        (TABLE, LABELS == 1, "labels are different"),
        (TABLE, LABELS + 1, "labels are different"),
        (TABLE, 1 - LABELS, "rows, target or weights are different"),
        (TABLE.assign(a=TABLE.a + 1), LABELS, "rows, target or weights are different"),
    ],
)
def test_other_names_levels_and_labels_are_refused_by_what_they_are(table, labels, told):
    forest = grown()
    before = forest.model_

    with pytest.raises(ParameterError, match=told):
        forest.fit(table, labels)
    assert forest.model_ is before


def test_booleans_are_not_the_numbers_that_they_equal():
    cells = pd.DataFrame({"a": LABELS == 1, "b": CELLS[:, 0] > 1})
    forest = tw.RandomForestRegressor(3, warm_start=True).fit(cells, CELLS[:, 1]).set_params(n_estimators=5)

    with pytest.raises(ParameterError, match=r"column a|rows, target or weights"):
        forest.fit(cells.astype(int), CELLS[:, 1])


@pytest.mark.parametrize("table", [TABLE, pl.DataFrame(TABLE), TABLE.to_dict("list")], ids=["pandas", "polars", "dict"])
def test_the_same_table_in_another_frame_is_the_same(table):
    assert len(grown().fit(table, LABELS.tolist())) == 5
