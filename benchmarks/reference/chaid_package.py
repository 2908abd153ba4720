"""The Python package CHAID: final groups and tests of every column at the root, and whole trees.

In: data sets. Out: chaid.json (its shape, and what the package does exactly: README.md).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import sets
from tables import Table

SMALL_NODES = {"alpha_merge": 0.05, "max_depth": 3, "min_parent_node_size": 30, "min_child_node_size": 10}
DEFAULT = {"alpha_merge": 0.05, "max_depth": 2, "min_parent_node_size": 30, "min_child_node_size": 30}
CAR_ORDER = {
    "buying": ("low", "med", "high", "vhigh"),
    "maint": ("low", "med", "high", "vhigh"),
    "doors": ("2", "3", "4", "5more"),
    "persons": ("2", "4", "more"),
    "lug_boot": ("small", "med", "big"),
    "safety": ("low", "med", "high"),
}
# Data set, features (None: all nominal ones) as nominal or ordinal, kind of target, options.
ASKED = (
    ("tennis", None, "nominal", "categorical", DEFAULT | {"min_parent_node_size": 2, "min_child_node_size": 1}),
    ("car_evaluation", None, "nominal", "categorical", SMALL_NODES),
    ("car_evaluation", None, "nominal", "categorical", DEFAULT),
    ("car_evaluation", None, "nominal", "categorical", DEFAULT | {"is_exhaustive": True}),
    ("car_evaluation", None, "ordinal", "categorical", SMALL_NODES),
    ("mushroom", None, "nominal", "categorical", DEFAULT | {"min_child_node_size": 10}),
    ("vote", None, "nominal", "categorical", SMALL_NODES),
    ("credit_g", None, "nominal", "categorical", SMALL_NODES),
    ("tic_tac_toe", None, "nominal", "categorical", SMALL_NODES),
    ("breast_cancer_w", "numbers", "ordinal", "categorical", DEFAULT | {"min_child_node_size": 10}),
    ("auto_mpg", ("cylinders", "model"), "ordinal", "continuous", DEFAULT | {"min_child_node_size": 10}),
    ("auto_mpg", ("cylinders", "model", "origin"), "nominal", "continuous", DEFAULT | {"min_child_node_size": 10}),
    ("diamonds", ("cut", "color", "clarity"), "nominal", "continuous", DEFAULT),
)


def run(folder: Path | None) -> Iterator[tuple[str, dict]]:
    """File name and figures."""
    runs = []
    for name, features, kind, target, options in ASKED:
        table = sets.find(name, folder)
        if table is None:
            continue
        start = time.perf_counter()
        runs.append(_one(table, _features(table, features), kind, target, options))
        print(f"  {name:<16} {kind:<8} {target:<12} {time.perf_counter() - start:8.2f} s", flush=True)
    yield "chaid.json", {"program": "CHAID", "version": f"CHAID {version('CHAID')}", "runs": runs}


def _features(table: Table, wanted: tuple[str, ...] | str | None) -> list[str]:
    if wanted is None:
        return [label for label in table.features if label in table.nominal]
    return table.features if wanted == "numbers" else list(wanted)


def order_of(table: Table, column: str) -> list[str]:
    """Levels of a column in rising order: a known order, else by number, else by code point."""
    if table.name == "car_evaluation":
        return list(CAR_ORDER[column])
    if column in table.nominal:
        return table.levels(column)
    return sorted({cell for cell in table.columns[column] if cell is not None}, key=float)


def _one(table: Table, features: list[str], kind: str, target: str, options: dict) -> dict:
    orders = {label: order_of(table, label) for label in features}
    cells = np.array([[_coded(cell, orders[label], kind) for cell in table.columns[label]] for label in features]).T
    truth = np.array(table.columns[table.target], dtype=float if target == "continuous" else object)
    about = {"data": table.name, "rows": table.n_rows, "features": features, "kind": kind, "target": target}
    if kind == "ordinal":
        about["order"] = orders
    alone = [_tree(cells[:, [i]], truth, [label], kind, target, options) for i, label in enumerate(features)]
    whole = _tree(cells, truth, features, kind, target, options)
    names = orders if kind == "ordinal" else None
    return about | {
        "options": options,
        "root": {label: _split(tree.get_node(0).split, names) for label, tree in zip(features, alone, strict=True)},
        "tree": [_node(node, whole, names) for node in whole],
    }


def _coded(cell: str | None, order: list[str], kind: str) -> object:
    if cell is None:
        return np.nan
    return float(order.index(cell)) if kind == "ordinal" else cell


def _tree(cells: np.ndarray, truth: np.ndarray, features: list[str], kind: str, target: str, options: dict):
    from CHAID import Tree

    types = [kind] * len(features)
    given = cells.astype(float if kind == "ordinal" else object)
    # A missing cell must stay a float among the words: numpy would have made it the word 'nan'.
    if kind == "nominal":
        given[given == "nan"] = np.nan
    tree = Tree.from_numpy(
        given, truth, split_titles=features, variable_types=types, dep_variable_type=target, **options
    )
    tree.build_tree()
    return tree


def _level(value: object, order: list[str] | None) -> str:
    return order[int(value)] if order is not None and not isinstance(value, str) else str(value)


def _split(split, orders: dict[str, list[str]] | None) -> dict:
    if not split.valid():
        return {"reason": str(split.invalid_reason)}
    order = orders[split.column] if orders else None
    groups = [[_level(value, order) for value in group] for group in split.split_map]
    return {
        "column": split.column,
        "groups": groups,
        "score": float(split.score),
        "p": float(split.p),
        "dof": int(split.dof),
    }


def _node(node, tree, orders: dict[str, list[str]] | None) -> dict:
    made: dict[str, object] = {"id": node.node_id, "parent": node.parent, "n": len(node.indices)}
    if node.parent is not None:
        order = orders[tree.get_node(node.parent).split.column] if orders else None
        made["levels"] = [_level(value, order) for value in node.choices]
    made["members"] = node.members
    return made | _split(node.split, orders)
