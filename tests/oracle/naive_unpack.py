"""Packed trees, the slow and obvious way. In: ``PackedTrees``. Out: nested nodes. Callers: tests of packed trees.

Each record is read as a string of bits, by the table in docs/decisions/0005; children by recursion.
"""

from __future__ import annotations

from typing import Any

from treewright.trees.packed import PackedTrees


def field(record: int, low: int, high: int) -> int:
    """The number in bits ``low`` to ``high`` of a record."""
    digits = format(record, "064b")[::-1]
    return int(digits[low : high + 1][::-1], 2)


def members(words: Any) -> set[int]:
    """The numbers whose bits are set in four words."""
    return {64 * place + bit for place, word in enumerate(words) for bit in range(64) if int(word) >> bit & 1}


def naive_node(packed: PackedTrees, position: int) -> dict[str, Any]:
    """A node and all below it."""
    record = int(packed.records[position])
    kind = field(record, 0, 1)
    if kind == 0:
        row = field(record, 32, 62)
        value = [float(number) for number in packed.leaf_value[row]]
        weight = sum(value[: packed.n_classes[0]]) if packed.n_classes else float(packed.leaf_weight[row])
        return {
            "position": position,
            "question": None,
            "children": [],
            "value": value,
            "weight": weight,
            "samples": int(packed.leaf_samples[row]) if len(packed.leaf_samples) else int(weight),
        }
    missing = field(record, 2, 2)
    question: tuple[Any, ...]
    if kind == 1:
        question = ("cut", field(record, 11, 31), field(record, 3, 10), None, missing)
    else:
        at = field(record, 3, 31)
        left, seen = members(packed.sets[at]), members(packed.seen[at])
        question = ("set", int(packed.set_column[at]), left, seen, missing)
    first = field(record, 32, 62)
    return {"position": position, "question": question, "children": [naive_node(packed, first + b) for b in (0, 1)]}


def naive_threshold(packed: PackedTrees, column: int, last: int) -> float:
    """The cut behind a bin: the middle between its highest value and the lowest of the next."""
    if last == packed.bins.n_bins[column] - 1:
        return float("inf")
    place = int(packed.bins.start[column]) + last
    return float((packed.bins.highest[place] + packed.bins.lowest[place + 1]) / 2)


def naive_join(parts: list[PackedTrees]) -> tuple[list[int], list[tuple[float, ...]]]:
    """Records and leaf rows (as float64) of joined trees, node by node."""
    records: list[int] = []
    rows: list[tuple[float, ...]] = []
    n_sets = 0
    for part in parts:
        begin = len(records)
        for record in part.records.tolist():
            kind, high = field(record, 0, 1), field(record, 32, 62)
            if kind == 0:
                columns = (part.leaf_weight, part.leaf_impurity)
                row = tuple(float(cell) for cell in part.leaf_value[high])
                row += tuple(float(cells[high]) for cells in columns if len(cells))
                row += (float(naive_samples(part, high)),)
                if row not in rows:
                    rows.append(row)
                records.append(rows.index(row) << 32)
                continue
            low = record & (2**32 - 1)
            if kind == 2:
                low = (low & 7) | (field(record, 3, 31) + n_sets) << 3
            records.append(low | (high + begin) << 32)
        n_sets += len(part.sets)
    return records, rows


def naive_samples(packed: PackedTrees, row: int) -> int:
    """Training rows of a leaf."""
    if len(packed.leaf_samples):
        return int(packed.leaf_samples[row])
    return int(sum(packed.leaf_value[row][: packed.n_classes[0]]) if packed.n_classes else packed.leaf_weight[row])
