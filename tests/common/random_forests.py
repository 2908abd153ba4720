"""Packed forests with random tests, their models, and rows to ask them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treewright.data.bin_rows import bin_rows
from treewright.data.bins import Bins, bins_of
from treewright.data.schema import Column, Schema
from treewright.model import Model
from treewright.trees.packed import PackedTrees, join, pack_one

SCHEMA = Schema(
    (
        Column("x", "numeric", missing_seen=True),
        Column("z", "numeric", missing_seen=True),
        Column("size", "ordinal", tuple("ABCD"), missing_seen=True, family="string"),
        Column("city", "nominal", tuple("abcde"), missing_seen=True, family="string"),
        Column("code", "nominal", tuple(f"c{i:02}" for i in range(70)), missing_seen=True, family="string"),
    )
)
NUMBERS = Schema(tuple(Column(f"x{at}", "numeric", missing_seen=True) for at in range(9)))


def random_rows(
    rng: np.random.Generator, n: int, schema: Schema, *, absent: float = 0.1, unseen: bool = True
) -> np.ndarray:
    """Encoded rows whose numbers float32 holds exactly; some levels were never seen (code v)."""
    matrix = rng.integers(-200, 200, (n, len(schema))) / 8.0
    for at, column in enumerate(schema.columns):
        if column.levels:
            matrix[:, at] = rng.integers(0, len(column.levels), n)
        if column.kind == "nominal" and unseen:
            matrix[rng.random(n) < 0.1, at] = len(column.levels)
    matrix[rng.random(matrix.shape) < absent] = math.nan
    return matrix


def random_forest(
    rng: np.random.Generator,
    schema: Schema,
    n_classes: tuple[int, ...],
    *,
    n_trees: int,
    n_rows: int,
    n_values: int = 1,
) -> PackedTrees:
    """Trees with random tests on random rows, packed and joined. ``n_classes`` empty: numbers."""
    matrix = random_rows(rng, n_rows, schema, unseen=False)
    bins = bins_of(matrix, schema)
    codes = bin_rows(bins, matrix)
    if n_classes:
        targets = [np.eye(k)[rng.integers(0, k, n_rows)] for k in n_classes]
        value = np.concatenate(targets, axis=1)
    else:
        value = rng.normal(size=(n_rows, n_values)) * 1e3
    return join([_random_tree(rng, bins, codes, value, n_classes) for _ in range(n_trees)])


def _random_tree(
    rng: np.random.Generator, bins: Bins, codes: np.ndarray, value: np.ndarray, n_classes: tuple[int, ...]
) -> PackedTrees:
    """One packed tree, on rows drawn with replacement; now and then a single leaf."""
    nodes: list[dict[str, Any]] = [{"rows": rng.integers(0, len(codes), len(codes))}]
    sets: list[np.ndarray] = []
    seen: list[np.ndarray] = []
    limit = 1 if rng.random() < 0.1 else 400
    at = 0
    while at < len(nodes):
        node = nodes[at]
        at += 1
        rows = node["rows"]
        column = int(rng.integers(bins.n_columns))
        held = codes[rows, column]
        present = np.unique(held[held < 255])
        if len(rows) < 3 or len(nodes) + 2 > limit or len(present) < 2:
            continue
        if bins.is_nominal[column]:
            goes_left = rng.random(int(bins.n_bins[column]) + 1) < 0.5
            node["set"] = len(sets)
            sets.append(words_of(np.flatnonzero(goes_left)))
            seen.append(words_of(present))
        else:
            node["cut"] = int(rng.choice(present[:-1])) if rng.random() < 0.9 else int(bins.n_bins[column]) - 1
            goes_left = np.arange(256) <= node["cut"]
        missing = int(rng.integers(2))
        left = np.append(goes_left, np.zeros(256 - len(goes_left), bool))[held]
        left[held == 255] = missing == 0
        if left.all() or not left.any():
            sets, seen = (sets[:-1], seen[:-1]) if node.pop("set", None) is not None else (sets, seen)
            node.pop("cut", None)
            continue
        node |= {"column": column, "missing": missing, "child": len(nodes)}
        nodes += [{"rows": rows[left]}, {"rows": rows[~left]}]
    held_values = np.array([value[node["rows"]].sum(axis=0) for node in nodes])
    sizes = np.array([len(node["rows"]) for node in nodes])
    return pack_one(
        bins,
        "gini" if n_classes else "squared_error",
        n_classes,
        column=np.array([node.get("column", -1) for node in nodes], np.int32),
        cut=np.array([node.get("cut", 0) for node in nodes], np.uint8),
        missing_branch=np.array([node.get("missing", 0) for node in nodes], np.int8),
        first_child=np.array([node.get("child", -1) for node in nodes], np.int32),
        set_of=np.array([node.get("set", -1) if "child" in node else -1 for node in nodes], np.int32),
        sets=np.array(sets, np.uint64).reshape(-1, 4),
        seen=np.array(seen, np.uint64).reshape(-1, 4),
        leaf_value=held_values if n_classes else held_values / sizes[:, None],
        leaf_weight=None if n_classes else sizes.astype(np.float64),
        leaf_impurity=None if n_classes else np.ones(len(nodes)),
        leaf_samples=sizes.astype(np.int64),
        importances=np.full(bins.n_columns, 1 / bins.n_columns),
    )


def words_of(bins: np.ndarray) -> np.ndarray:
    """uint64[4]: a bit per bin."""
    words = [0, 0, 0, 0]
    for each in bins.tolist():
        words[each >> 6] |= 1 << (each & 63)
    return np.array(words, np.uint64)


def forest_model(packed: Any, schema: Schema, n_classes: tuple[int, ...], combine: str, n_outputs: int = 1) -> Model:
    """The trees as a model; labels are a, b, c, ..."""
    return Model(
        "classification" if n_classes else "regression",
        schema,
        packed,
        tuple(np.array([chr(97 + code) for code in range(k)]) for k in n_classes),
        n_outputs=len(n_classes) or n_outputs,
        combine=combine,
        unseen="majority",
        facts={"criterion": "gini" if n_classes else "squared_error"},
    )
