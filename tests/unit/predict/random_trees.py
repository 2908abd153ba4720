"""Random tables and random trees of every kind of test, nested: a slow, obvious reading of what a tree is.

A nested node is ``{"test", "children", "rows", "counts"}``; ``rows`` are pairs (row, weight). A test is
``(column, kind, cuts or levels, missing branch, n_branches, substitutes)``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treewright.data.schema import Column, Schema
from treewright.trees.arrays import FIELDS, INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree

N_LEVELS = (0, 0, 4, 5, 70)
SCHEMA = Schema(
    (
        Column("x", "numeric", missing_seen=True),
        Column("z", "numeric", missing_seen=True),
        Column("size", "ordinal", tuple("ABCD"), missing_seen=True, family="string"),
        Column("city", "nominal", tuple("abcde"), missing_seen=True, family="string"),
        Column("code", "nominal", tuple(f"c{i:02}" for i in range(70)), missing_seen=True, family="string"),
    )
)
Node = dict[str, Any]


def random_matrix(rng: np.random.Generator, n: int, absent: float, *, unseen: bool = False) -> np.ndarray:
    """Encoded rows; with ``unseen`` some nominal cells hold the code of a level never seen."""
    columns = [rng.integers(0, 12, n), rng.normal(size=n), *(rng.integers(0, v, n) for v in N_LEVELS[2:])]
    matrix = np.array(columns, np.float64).T.copy()
    if unseen:
        for at in (3, 4):
            matrix[rng.random(n) < 0.1, at] = N_LEVELS[at]
    matrix[rng.random(matrix.shape) < absent] = math.nan
    return matrix


def branch(test: Any, x: float) -> int:
    """The branch of a value; -1 where it is missing."""
    _, kind, spec, _, _, _ = test
    if math.isnan(x):
        return -1
    if kind == THRESHOLD:
        return 0 if x <= spec else 1
    if kind == SUBSET:
        return 0 if int(x) in spec else 1
    if kind == MULTIWAY:
        return spec[int(x)]
    return next((at for at, cut in enumerate(spec) if x <= cut), len(spec))


def random_test(rng: np.random.Generator, known: np.ndarray, column: int, *, own: bool) -> Any:
    """A test of a column whose present values in the node are ``known``; ``own``: a branch for missing values."""
    low, high = float(known.min()), float(known.max())
    kinds = [THRESHOLD, INTERVALS] if column < 2 else [THRESHOLD, INTERVALS, MULTIWAY] if column == 2 else [3, SUBSET]
    kind, v, extra = int(rng.choice(kinds)), N_LEVELS[column], int(own)
    spec: Any
    if kind == THRESHOLD:
        spec, n_branches = float(rng.uniform(low - 0.5, high + 0.5)), 2
    elif kind == SUBSET:
        # The bit of the level never seen, too.
        spec, n_branches = {code for code in range(v + 1) if rng.random() < 0.5}, 2
    elif kind == MULTIWAY:
        n_branches = int(rng.integers(2, min(v, 6) + 1))
        spec = [*range(n_branches), *rng.integers(0, n_branches, v + 1 - n_branches).tolist()]
    else:
        cuts = sorted({float(rng.uniform(low - 0.5, high + 0.5)) for _ in range(int(rng.integers(1, 5)))})
        spec, n_branches = cuts + ([math.inf] if own else []), len(cuts) + 1
    n_branches += extra
    missing = n_branches - 1 if own else int(rng.integers(n_branches))
    return (column, kind, spec, missing, n_branches, [])


def shares_of(test: Any, rows: list[tuple[int, float]], matrix: np.ndarray) -> list[float]:
    """Each branch's part of a missing value: that of the weight of the rows that have one."""
    known = [0.0] * test[4]
    for row, weight in rows:
        if (at := branch(test, matrix[row, test[0]])) >= 0:
            known[at] += weight
    total = sum(known)
    return [weight / total for weight in known] if total > 0 else [1 / len(known)] * len(known)


def divided(test: Any, rows: list[tuple[int, float]], matrix: np.ndarray) -> list[list[tuple[int, float]]]:
    """The rows of each branch."""
    parts, out = shares_of(test, rows, matrix), [[] for _ in range(test[4])]
    for row, weight in rows:
        at = branch(test, matrix[row, test[0]])
        if at >= 0:
            out[at].append((row, weight))
        else:
            for to, part in enumerate(parts):
                if part > 0:
                    out[to].append((row, weight * part))
    return out


def counts_of(rows: list[tuple[int, float]], codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Weighted class counts."""
    counts = np.zeros(n_classes)
    for row, weight in rows:
        counts[codes[row]] += weight
    return counts


def grow_at_random(
    rng: np.random.Generator,
    matrix: np.ndarray,
    codes: np.ndarray,
    rows: list[tuple[int, float]],
    *,
    n_classes: int = 3,
    depth: int = 6,
    own: bool = False,
    substitutes: bool = False,
) -> Node:
    """A nested tree with random tests; its rows are divided where a value is missing."""
    node: Node = {"test": None, "children": [], "rows": rows, "counts": counts_of(rows, codes, n_classes)}
    present = [column for column in range(5) if any(not math.isnan(matrix[row, column]) for row, _ in rows)]
    if depth == 0 or len(rows) < 3 or not present or rng.random() < 0.1:
        return node
    column = int(rng.choice(present))
    cells = matrix[[row for row, _ in rows], column]
    test = random_test(rng, cells[~np.isnan(cells)], column, own=own and bool(rng.random() < 0.5))
    if substitutes and test[4] == 2:
        others = [at for at in rng.permutation(5).tolist() if at != column][: int(rng.integers(4))]
        for other in others:
            if other < 3:
                answer: Any = float(rng.uniform(0, 4))
            else:
                every = range(N_LEVELS[other])
                answer = [{code for code in every if rng.random() < 0.5} for _ in range(2)]
            test[5].append((other, answer, int(rng.integers(2))))
    node["test"] = test
    options: Any = {"n_classes": n_classes, "depth": depth - 1, "own": own, "substitutes": substitutes}
    node["children"] = [grow_at_random(rng, matrix, codes, part, **options) for part in divided(test, rows, matrix)]
    return node


def leaf_for(node: Node, row: np.ndarray) -> Node:
    """The leaf of one encoded row: substitutes, then the missing branch."""
    while node["test"] is not None:
        test = node["test"]
        at = branch(test, row[test[0]])
        if at < 0:
            at = test[3]
            for column, answer, flipped in test[5]:
                x = row[column]
                if math.isnan(x) or (column >= 3 and int(x) not in answer[1]):
                    continue
                at = (0 if (x <= answer if column < 3 else int(x) in answer[0]) else 1) ^ flipped
                break
        node = node["children"][at]
    return node


def words_of(levels: set[int], v: int) -> list[int]:
    """A set of levels as words."""
    return [sum(1 << (code & 63) for code in levels if code >> 6 == word) for word in range(v // 64 + 1)]


def flat(root: Node, matrix: np.ndarray) -> Tree:
    """The same tree as arrays, level by level; ``node["at"]`` is set to its position."""
    nodes, arrays = [root], {name: [] for name in FIELDS}
    for at, node in enumerate(nodes):  # grows as it runs
        node["at"], test = at, node["test"]
        counts, rows = node["counts"], node["rows"]
        facts = {"value": counts, "weight": counts.sum(), "n_samples": len(rows), "impurity": entropy(counts)}
        if not rows:
            facts = {"value": node["above"], "weight": 0.0, "n_samples": 0, "impurity": entropy(node["above"])}
        facts |= {"kind": LEAF, "feature": -1, "threshold": 0.0, "first_child": -1, "n_branches": 0}
        facts |= {"missing_branch": 0, "level_set": -1}
        if test is not None:
            column, kind, spec, missing, n_branches, substitutes = test
            facts |= {"kind": kind, "feature": column, "first_child": len(nodes), "n_branches": n_branches}
            facts["missing_branch"] = missing
            held = {int(matrix[row, column]) for row, _ in rows if not math.isnan(matrix[row, column])}
            if kind == THRESHOLD:
                facts["threshold"] = spec
            elif kind == SUBSET:
                facts["level_set"] = len(arrays["levels_left"])
                arrays["levels_left"] += words_of(spec, N_LEVELS[column])
                arrays["levels_seen"] += words_of(held, N_LEVELS[column])
            elif kind == MULTIWAY:
                facts["level_set"] = len(arrays["level_branch"])
                arrays["level_branch"] += [to if code in held else ~to for code, to in enumerate(spec)]
            elif kind == INTERVALS:
                facts["level_set"] = len(arrays["cuts"])
                arrays["cuts"] += spec
            for other, answer, flipped in substitutes:
                begin = len(arrays["levels_left"]) if other >= 3 else -1
                if other >= 3:
                    arrays["levels_left"] += words_of(answer[0], N_LEVELS[other])
                    arrays["levels_seen"] += words_of(answer[1], N_LEVELS[other])
                cut = 0.0 if other >= 3 else answer
                facts_of = (at, other, cut, begin, flipped, 0.5, 0.0)
                names = [name for name in FIELDS if name.startswith("surrogate_")]
                order = ("node", "feature", "threshold", "level_set", "flipped", "agreement", "adjusted")
                for name, fact in zip(order, facts_of, strict=True):
                    arrays[f"surrogate_{name}"].append(fact)
                assert len(names) == len(order)
            for child in node["children"]:
                child["above"] = counts if rows else node["above"]
            nodes += node["children"]
        for name, fact in facts.items():
            arrays[name].append(fact)
    return Tree(**{name: np.array(cells, FIELDS[name]) for name, cells in arrays.items()})


def entropy(counts: np.ndarray) -> float:
    """Entropy in bits."""
    shares = counts[counts > 0] / counts.sum()
    return float(abs((shares * np.log2(shares)).sum()))
