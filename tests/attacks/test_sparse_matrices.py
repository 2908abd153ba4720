"""Sparse matrices whose arrays contradict each other are refused: SciPy would read and write beyond them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import treewright as tw
from treewright.data import encoder
from treewright.data.table import is_sparse
from treewright.exceptions import DataError

RNG = np.random.default_rng(0)
CELLS = np.where(RNG.random((60, 5)) < 0.4, RNG.normal(size=(60, 5)), 0.0)
Y = np.arange(60) % 2


def changed(form, array, at, value):
    """A matrix with one number of one of its arrays changed."""
    matrix = sp.csr_matrix(CELLS).asformat(form)
    getattr(matrix, array)[at] = value
    return matrix


def with_arrays(**arrays):
    """A CSR matrix with other arrays, that SciPy does not look at again."""
    matrix = sp.csr_matrix(CELLS)
    for name, array in arrays.items():
        setattr(matrix, name, array)
    return matrix


WHOLE = sp.csr_matrix(CELLS)
BROKEN = {
    "column beyond": (changed("csr", "indices", 3, 10**6), "stored cell 3 is in column 1000000, .* 0 to 4"),
    "column at the end": (changed("csr", "indices", 3, 5), "column 5"),
    "column below": (changed("csr", "indices", 3, -1), "column -1"),
    "row below": (changed("csc", "indices", 3, -1), "row -1"),
    "row beyond": (changed("csc", "indices", 3, 60), "row 60"),
    "end beyond": (changed("csr", "indptr", -1, 10**6), "indptr ends with 1000000"),
    "falling": (changed("csr", "indptr", 5, 0), "falls at entry 5"),
    "late begin": (changed("csr", "indptr", 0, 1), "begin with 0"),
    "no last row": (with_arrays(indptr=WHOLE.indptr[:-1]), "have 61 entries"),
    "fewer cells": (with_arrays(data=WHOLE.data[:-4]), "cells are stored"),
    "cells in two dimensions": (with_arrays(data=WHOLE.data[:, None]), "data must be"),
    "places that are no whole numbers": (with_arrays(indices=WHOLE.indices.astype(float)), "indices must be"),
    "list of cells, row": (changed("coo", "row", 2, 60), "stored cell 2 is in row 60"),
    "list of cells, column": (changed("coo", "col", 2, -7), "column -7"),
    "texts": (with_arrays(data=WHOLE.data.astype(object)), "dtype object"),
}
FITS = {
    "tree": tw.DecisionTreeClassifier(),
    "forest": tw.RandomForestClassifier(3),
    "boosting": tw.GradientBoostingClassifier(n_estimators=3),
    "isolation": tw.IsolationForest(n_estimators=3),
    "neighbours": tw.KNeighborsClassifier(3),
    "bag": tw.BaggingClassifier(tw.DecisionTreeClassifier(), n_estimators=2),
}


@pytest.mark.parametrize("stays_sparse", [False, True])
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_matrix_is_refused_at_predict(name, stays_sparse, monkeypatch):
    tree = tw.DecisionTreeClassifier().fit(CELLS, Y)
    forest = tw.RandomForestClassifier(2, random_state=0).fit(CELLS, Y)
    matrix, words = BROKEN[name]
    if stays_sparse:
        monkeypatch.setattr(encoder, "stays_sparse", is_sparse)
    for fitted in (tree, forest):
        with pytest.raises(DataError, match=words):
            fitted.predict(matrix)


@pytest.mark.parametrize("estimator", FITS)
@pytest.mark.parametrize("name", ["column beyond", "row below", "end beyond", "falling"])
def test_a_broken_matrix_is_refused_at_fit(name, estimator):
    matrix, words = BROKEN[name]
    with pytest.raises(DataError, match=words):
        FITS[estimator].fit(matrix, Y)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_every_format_that_is_sound_is_read(form):
    tree = tw.DecisionTreeClassifier().fit(CELLS, Y)
    assert tree.predict(sp.csr_matrix(CELLS).asformat(form)).tolist() == tree.predict(CELLS).tolist()
