"""The pictures of the guides to figures and to pictures of trees, as SVG.

    python examples/figures.py              # into docs/pictures
    python examples/figures.py somewhere    # into another folder

Needs matplotlib: ``pip install "treewright[plot]"``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import treewright as tw

HERE = Path(__file__).parent


def impurity():
    """What a mixed node costs."""
    return tw.plot.impurity_functions()


def regions():
    """A tree of two columns over the rows it was grown on; one row without measurements is left out."""
    rows = pl.read_csv(HERE / "penguins.csv")
    X, species = rows.select("bill_length_mm", "flipper_length_mm"), rows["species"]
    tree = tw.DecisionTreeClassifier(max_depth=3, min_samples_leaf=5).fit(X, species)
    return tw.plot.decision_regions(tree, X, species, features=("bill_length_mm", "flipper_length_mm"))


def path():
    """The subtrees of one tree, judged by cross-validation."""
    X, y = load_breast_cancer(return_X_y=True)
    return tw.model_selection.pruning_path(tw.DecisionTreeClassifier(random_state=0), X, y).plot()


def pruners():
    """One tree under every pruner."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_valid, y, y_valid = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    table = tw.model_selection.compare_pruning(tw.DecisionTreeClassifier(random_state=0), X, y, X_valid, y_valid)
    return table.plot()


def depth():
    """Errors over a parameter."""
    X, y = load_breast_cancer(return_X_y=True)
    return tw.model_selection.error_curve(tw.DecisionTreeClassifier(random_state=0), X, y).plot()


def dependence():
    """A mean that is flat, and single rows that are not."""
    rng = np.random.default_rng(0)
    distance, sails = rng.uniform(0, 10, 600), rng.random(600) < 0.5
    houses = {"distance": distance, "sails": sails}
    price = np.where(sails, 100 - 5 * distance, 50 + 5 * distance) + rng.normal(size=600)
    model = tw.GradientBoostingRegressor(n_estimators=60).fit(houses, price)
    return model.partial_dependence(houses, "distance", individual=40).plot()


def tree():
    """A tree with names among its questions, and missing cells."""
    rows = pl.read_csv(HERE / "penguins.csv")
    return tw.DecisionTreeClassifier(max_depth=4).fit(rows.drop("species"), rows["species"]).plot(theme="light")


PICTURES = {
    "impurity": impurity,
    "regions": regions,
    "pruning-path": path,
    "pruners": pruners,
    "depth": depth,
    "partial-dependence": dependence,
}
TREES = {"tree": tree}


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        target = folder / f"{name}.svg"
        draw().savefig(target)
        print(f"{target.name}: {target.stat().st_size / 1000:.0f} kB")
    for name, draw in TREES.items():
        draw().save(folder / f"{name}.svg")


if __name__ == "__main__":
    main()
