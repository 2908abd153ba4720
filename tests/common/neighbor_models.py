"""Fitted models of nearest neighbours, one of each kind of file. In: a name. Out: a model. Callers: tests of files."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import treewright as tw
from treewright.model.neighbors import NeighborsModel

_DRAWN = np.random.default_rng(7)
NUMBERS = _DRAWN.normal(size=(12, 3))
SHORT = np.round(NUMBERS * 4) / 4  # float32 holds it
LABELS = ["b", "a", "c"] * 4
MIXED = {
    "city": ["Bonn", "Rome", None, "Oslo"] * 3,
    "size": ["S", "M", "L", None] * 3,
    "age": [1.5, None, 3.25, 8.1, 9.9, 0.3, 1.5, 2.5, None, 4.0, 4.5, 7.0],
}
DOCUMENTS = csr_matrix(np.where(_DRAWN.random((12, 9)) < 0.6, 0.0, _DRAWN.normal(size=(12, 9))))
ORDINAL = {"size": ["S", "M", "L"]}

# Name of a case: table, target, parameters.
CASES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "euclidean": (NUMBERS, LABELS, {}),
    "short cells": (SHORT, LABELS, {"algorithm": "brute"}),
    "standard scale": (NUMBERS, LABELS, {"scale": "standard", "weights": "gaussian", "algorithm": "kd_tree"}),
    "weighted columns": (NUMBERS, NUMBERS[:, 0], {"metric_params": {"w": [1.0, 0.5, 0.0]}}),
    "two numbers": (SHORT, NUMBERS[:, :2], {"metric": "manhattan", "weights": "distance"}),
    "minkowski": (NUMBERS, LABELS, {"metric": "minkowski", "p": 3}),
    "chebyshev": (NUMBERS, LABELS, {"metric": "chebyshev"}),
    "mahalanobis": (NUMBERS, LABELS, {"metric": "mahalanobis"}),
    "correlation": (NUMBERS, LABELS, {"metric": "correlation"}),
    "angle": (NUMBERS, np.array([LABELS, LABELS[::-1]]).T, {"metric": "angle", "n_neighbors": 12}),
    "jaccard": (SHORT > 0, LABELS, {"metric": "jaccard", "numeric": [0, 1, 2]}),
    "gower": (MIXED, LABELS, {"ordinal": ORDINAL}),
    "heom": (MIXED, LABELS, {"metric": "heom", "ordinal": ORDINAL, "unseen": "missing"}),
    "hvdm": (MIXED, LABELS, {"metric": "hvdm", "unseen": "error"}),
    "nan_euclidean": (np.where(SHORT > 2, np.nan, SHORT), LABELS, {"metric": "nan_euclidean", "weights": "distance"}),
    "scaled nan_euclidean": (
        np.where(SHORT > 2, np.nan, SHORT),
        LABELS,
        {"metric": "nan_euclidean", "scale": "robust"},
    ),
    "precomputed": (np.abs(NUMBERS[:, :1] - NUMBERS[:, 0]), LABELS, {"metric": "precomputed"}),
    "sparse cosine": (DOCUMENTS, LABELS, {"metric": "cosine"}),
    "sparse euclidean": (DOCUMENTS, NUMBERS[:, 0], {"metric": "euclidean"}),
}


def model_of(case: str) -> NeighborsModel:
    """The model of a case."""
    table, target, parameters = CASES[case]
    is_numbers = np.asarray(target).dtype.kind == "f"
    kind = tw.KNeighborsRegressor if is_numbers else tw.KNeighborsClassifier
    return kind(**{"n_neighbors": 3, **parameters}).fit(table, target).model_
