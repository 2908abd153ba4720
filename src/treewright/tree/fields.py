"""The arrays of a tree by table, with their dtypes. In: nothing. Out: names and dtypes. Callers: check, codec, edit.

A tree has one table with a row per node and four side tables that only some kinds of tree need. The arrays of one table
have the same length.
"""

from __future__ import annotations

import numpy as np

U1, I4, I8, U8, F8 = (np.dtype(kind) for kind in (np.uint8, np.int32, np.int64, np.uint64, np.float64))

NODE_FIELDS: dict[str, np.dtype] = {
    "kind": U1,
    "feature": I4,
    "threshold": F8,
    "first_child": I4,
    "n_branches": I4,
    "missing_branch": I4,
    "level_set": I4,
    "n_samples": I8,
    "weight": F8,
    "impurity": F8,
    "value": F8,
}
WORD_FIELDS: dict[str, np.dtype] = {"levels_left": U8, "levels_seen": U8}
BRANCH_FIELDS: dict[str, np.dtype] = {"level_branch": I4}
CUT_FIELDS: dict[str, np.dtype] = {"cuts": F8}
SURROGATE_FIELDS: dict[str, np.dtype] = {
    "surrogate_node": I4,
    "surrogate_feature": I4,
    "surrogate_threshold": F8,
    "surrogate_level_set": I4,
    "surrogate_flipped": U1,
    "surrogate_agreement": F8,
    "surrogate_adjusted": F8,
}
# Under the name of the offsets that divide a table among the trees of a model file.
TABLES: dict[str, dict[str, np.dtype]] = {
    "tree_offsets": NODE_FIELDS,
    "word_offsets": WORD_FIELDS,
    "level_branch_offsets": BRANCH_FIELDS,
    "cut_offsets": CUT_FIELDS,
    "surrogate_offsets": SURROGATE_FIELDS,
}
FIELDS: dict[str, np.dtype] = {name: dtype for table in TABLES.values() for name, dtype in table.items()}
