"""What is suggested is kept: the changed row, sent through predict, gives the wanted answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw

TOWNS, SIZES = ["Bonn", "Graz", "Linz", "Oslo"], ["S", "M", "L"]
MAKERS = {
    "cart": lambda: tw.DecisionTreeClassifier(max_depth=5, ordinal={"size": SIZES}),
    "surrogate": lambda: tw.DecisionTreeClassifier(max_depth=5, missing="surrogate", ordinal={"size": SIZES}),
    "id3": lambda: tw.ID3Classifier(nominal=["x", "z"], ordinal={"size": SIZES}),
    "c45": lambda: tw.C45Classifier(confidence=None, ordinal={"size": SIZES}),
    "chaid": lambda: tw.CHAIDClassifier(alpha=0.6, alpha_merge=0.3, max_depth=4, ordinal={"size": SIZES}),
}


def table(seed: int, n: int, *, missing: float) -> dict[str, list]:
    """Rows of every kind of column."""
    rng = np.random.default_rng(seed)
    columns = {
        "x": rng.integers(0, 9, n).astype(float).tolist(),
        "z": rng.normal(size=n).round(2).tolist(),
        "town": rng.choice(TOWNS, n).tolist(),
        "size": rng.choice(SIZES, n).tolist(),
        "flag": rng.choice([True, False], n).tolist(),
    }
    return {name: [None if rng.random() < missing else cell for cell in cells] for name, cells in columns.items()}


def target(X: dict[str, list], seed: int) -> np.ndarray:
    """Something that the columns decide, with noise."""
    rng = np.random.default_rng(seed)
    x = np.array([4.0 if cell is None else cell for cell in X["x"]])
    town = np.array([TOWNS.index(cell or "Bonn") for cell in X["town"]])
    return np.array(["low", "middle", "high"])[((x + 2 * town + rng.integers(0, 3, len(x))) // 5).astype(int) % 3]


def row_of(X: dict[str, list], at: int) -> dict:
    return {name: cells[at] for name, cells in X.items()}


def same(one, other) -> bool:
    """Whether two cells are equal, missing ones too."""
    if one is None or other is None:
        return one is other
    return one == other and not (isinstance(one, float) and math.isnan(one))


@pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")
@pytest.mark.parametrize("name", MAKERS)
@given(seed=st.integers(0, 10_000))
def test_the_changed_row_gives_the_wanted_answer(name, seed):
    X = table(seed, 50, missing=0.1)
    y = target(X, seed)
    est = MAKERS[name]().fit(X, y)
    rows = table(seed + 1, 3, missing=0.2)
    whole = [at for at in range(50) if all(cells[at] is not None for cells in X.values())]
    # Every column may change: so whatever some whole row gets can be got.
    known = set(est.predict({column: [cells[at] for at in whole] for column, cells in X.items()}))
    for at in range(3):
        row = row_of(rows, at)
        for to in est.classes_:
            found = est.counterfactual(row, to, like=X)
            if not found.found:
                assert to not in known
                continue
            assert est.predict(found.table)[0] == found.after == to
            if found.changes:
                assert est.apply(found.table)[0] == found.leaf
            changed = {change.column for change in found.changes}
            assert {key for key in row if not same(row[key], found.row[key])} == changed
            assert found.cost[0] == len(changed)


@given(seed=st.integers(0, 10_000), share=st.floats(0, 1))
def test_numbers_come_within_what_is_asked(seed, share):
    X = table(seed, 60, missing=0.1)
    y = np.array([(cell or 0.0) for cell in X["x"]]) + np.array([(cell or 0.0) for cell in X["z"]])
    est = tw.DecisionTreeRegressor(max_depth=4, ordinal={"size": SIZES}).fit(X, y)
    numbers = np.unique(est.predict(X))
    wanted = float(np.quantile(numbers, share))
    row = row_of(X, seed % 60)

    up, down = est.counterfactual(row, at_least=wanted), est.counterfactual(row, at_most=wanted)

    for found in (up, down):
        assert found.found == (found.leaf is not None)
        if found.found:
            assert est.predict(found.table)[0] == found.after
    assert not up.found or up.after >= wanted
    assert not down.found or down.after <= wanted
    assert up.changes == () or down.changes == ()


@given(seed=st.integers(0, 10_000))
def test_keeping_a_column_never_makes_it_cheaper(seed):
    X = table(seed, 50, missing=0.1)
    est = tw.DecisionTreeClassifier(max_depth=6, ordinal={"size": SIZES}).fit(X, target(X, seed))
    row = row_of(X, seed % 50)
    free = est.counterfactual(row)
    for name in X:
        kept = est.counterfactual(row, keep=[name])
        assert same(kept.row[name], row[name]) if kept.found else True
        assert not kept.found or kept.cost >= free.cost
