"""The Python package c50py, a C5.0-like tree with binary category splits: sizes and training predictions.

In: data sets. Out: c50py.json (its shape: README.md).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import sets
from tables import Table

SETS = ("tennis", "tennis_numeric", "iris", "vote", "credit_g", "breast_cancer_w", "penguins")
OPTIONS: tuple[dict, ...] = ({}, {"global_pruning": False}, {"pruning": False})
PRINTED_BELOW = 2000


def cells_of(table: Table) -> np.ndarray:
    """Object array of the features: words in nominal columns, numbers elsewhere, None where missing."""
    columns = [
        [cell if cell is None or label in table.nominal else float(cell) for cell in table.columns[label]]
        for label in table.features
    ]
    return np.array(columns, dtype=object).T


def run(folder: Path | None) -> Iterator[tuple[str, dict]]:
    """File name and figures."""
    from c50py import C5Classifier

    runs = []
    for name in SETS:
        table = sets.find(name, folder)
        if table is None:
            continue
        cells, truth = cells_of(table), np.array(table.columns[table.target])
        nominal = [i for i, label in enumerate(table.features) if label in table.nominal]
        for options in OPTIONS:
            model = C5Classifier(categorical_features=nominal, infer_categorical=False, **options)
            start = time.perf_counter()
            model.fit(cells, truth, feature_names=table.features)
            print(f"  {name:<16} {options} {time.perf_counter() - start:8.2f} s", flush=True)
            runs.append(_described(table, options, model, model.predict(cells), truth))
    yield "c50py.json", {"program": "c50py.C5Classifier", "version": f"c50py {version('c50py')}", "runs": runs}


def _described(table: Table, options: dict, model, predicted: np.ndarray, truth: np.ndarray) -> dict:
    classes = table.levels(table.target)
    size, leaves = _size(model.tree_)
    made = {
        "data": table.name, "rows": table.n_rows, "classes": classes, "options": options, "size": size,
        "leaves": leaves, "training_errors": int((predicted != truth).sum()),
        "predicted": "".join(np.base_repr(classes.index(word), 36).lower() for word in predicted),
    }  # fmt: skip
    rules = "\n".join(str(rule) for rule in model.export_rules())
    if len(rules) < PRINTED_BELOW:
        made["printed"] = rules
    return made


def _size(root) -> tuple[int, int]:
    size, leaves, waiting = 0, 0, [root]
    while waiting:
        node = waiting.pop()
        size += 1
        leaves += bool(node.is_leaf)
        waiting.extend(node.children.values())
    return size, leaves
