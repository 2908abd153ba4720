"""Linear scores told twice: the design column by column, one solve by LAPACK for each strength and tenth."""

from __future__ import annotations

import math

import numpy as np

FOLDS = 10
STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def naive_design(kinds, n_levels, matrix):
    """The columns of the design: numbers between their hundredths as 0 to 1, common levels, missing cells."""
    columns = []
    for kind, levels, held in zip(kinds, n_levels, matrix.T, strict=True):
        known = held[~np.isnan(held)].tolist()
        if kind == "nominal":
            count = [known.count(code) for code in range(levels)]
            common = sorted(range(levels), key=lambda code: (-count[code], code))[:20]
            common = [code for code in common if count[code]]
            if len(known) == len(held) and sum(number > 0 for number in count) <= 20:
                common = common[:-1]
            columns += [[float(cell == code) for cell in held.tolist()] for code in sorted(common)]
        elif known:
            order, n = sorted(known), len(known)
            low = next(cell for at, cell in enumerate(order, 1) if at >= 0.01 * n)
            high = next(cell for at, cell in enumerate(order, 1) if at >= (1 - 0.01) * n)
            low, high = (low, high) if low < high else (order[0], order[-1])
            if low < high:
                places = [(min(max(cell, low), high) - low) / (high - low) for cell in held.tolist()]
                columns.append([0.0 if math.isnan(place) else place for place in places])
        if known and len(known) < len(held):
            columns.append([float(math.isnan(cell)) for cell in held.tolist()])
    return np.array(columns).T


def naive_scores(design, outcome, weights, folds):
    """Scores of the rows by the other tenths, and those of a function of new rows of the design."""
    n_terms = design.shape[1]
    means = np.average(design, axis=0, weights=weights), np.average(outcome, weights=weights)

    def slopes(kept, strength):
        X, y, w = design[kept], outcome[kept], weights[kept]
        X, y = X - np.average(X, axis=0, weights=w), y - np.average(y, weights=w)
        normal = X.T @ (w[:, None] * X)
        return np.linalg.solve(normal + strength * normal.diagonal().max() * np.eye(n_terms), X.T @ (w * y))

    best = None
    for strength in STRENGTHS:
        cells = np.empty(len(outcome))
        for fold in range(FOLDS):
            of_fold = folds == fold
            cells[of_fold] = means[1] + (design[of_fold] - means[0]) @ slopes(~of_fold, strength)
        error = (weights * (cells - outcome) ** 2).sum()
        if best is None or error < best[0]:
            best = error, strength, cells
    final = slopes(np.ones(len(outcome), bool), best[1])
    return best[2], lambda rows: means[1] + (rows - means[0]) @ final
