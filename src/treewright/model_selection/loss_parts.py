"""The arithmetic of bias and variance. In: what every round predicted at the test rows. Out: ``Parts``.

Callers: model_selection.decompose.

Both losses have one identity, row by row: loss = bias squared + variance + noise + cross.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NAMES = ("loss", "bias_squared", "variance", "noise", "cross", "bias_and_noise")


class Parts(NamedTuple):
    """The parts of the loss of one output.

    Attributes
    ----------
    main : float64[m] or int64[m]
        The mean prediction of each test row, or the code of its most frequent one.
    rows : dict from str to float64[m]
        Per part its value at each test row; nan where only the true values could tell it.
    rounds : dict from str to float64[R]
        Per part what each round contributes to its mean over the rows, up to a constant: its spread over the rounds is
        what the number of rounds leaves uncertain. A part that does not hang on the rounds is not here.
    """

    main: np.ndarray
    rows: dict[str, np.ndarray]
    rounds: dict[str, np.ndarray]


def squared_parts(said: np.ndarray, y: np.ndarray, truth: np.ndarray | None) -> Parts:
    """Parts of the squared loss.

    With f the predictions of R rounds at a row, F their mean, s2 their variance (divided by R - 1), h the true value:

    - variance: s2
    - bias squared: (F - h)^2 - s2 / R, since the mean of R rounds itself strays by s2 / R
    - noise: (y - h)^2
    - cross: 2 (h - F) (y - h), which is 0 on average, because y at a test row knows nothing of the training sets

    Both corrections make the estimates unbiased, and they cancel in the sum: it is the mean of (y - f)^2 exactly.
    Geman, Bienenstock and Doursat (1992), Neural Computation 4; Bishop (2006), section 3.2.

    Parameters
    ----------
    said : float64[R, m], R >= 2
    y : float64[m]
    truth : float64[m], or None

    Returns
    -------
    Parts
    """
    n_rounds = len(said)
    main = said.mean(axis=0)
    away = said - main
    squares = away**2 * (n_rounds / (n_rounds - 1))
    variance = squares.mean(axis=0)
    rows = {
        "loss": ((said - y) ** 2).mean(axis=0),
        "variance": variance,
        "bias_and_noise": (main - y) ** 2 - variance / n_rounds,
    }
    rounds = {
        "loss": ((said - y) ** 2).mean(axis=1),
        "variance": squares.mean(axis=1),
        "bias_and_noise": 2 * (away * (main - y)).mean(axis=1),  # how (F - y)^2 moves with each round
    }
    if truth is None:
        return Parts(main, rows | _unknown(len(y)), rounds)
    rows |= {
        "bias_squared": (main - truth) ** 2 - variance / n_rounds,
        "noise": (y - truth) ** 2,
        "cross": 2 * (truth - main) * (y - truth),
    }
    rounds |= {
        "bias_squared": 2 * (away * (main - truth)).mean(axis=1),
        "cross": -2 * (away * (y - truth)).mean(axis=1),
    }
    return Parts(main, rows, rounds)


def zero_one_parts(said: np.ndarray, y: np.ndarray, truth: np.ndarray | None, n_classes: int) -> Parts:
    """Parts of the zero-one loss (Domingos 2000, "A unified bias-variance decomposition", ICML).

    With p the most frequent prediction at a row (the first class of equals), t its label, h its optimal label (t itself
    where that is unknown), and shares P over the rounds:

    - bias: 1 if p != h, else 0; it is its own square
    - variance: V = P(f != p) where the bias is 0; -P(f = h) where it is 1, because a round that leaves the wrong
      majority for h is right. With two classes that is -V, with more it is -V P(f = h | f != p).
    - noise: 1 if t != h, else 0
    - cross: where the noise is 1, P(f = h) - P(f = t) - 1. Domingos' factor of the noise is c1 = P(f = h) - P(f = t),
      with two classes 2 P(f = h) - 1; cross is (c1 - 1) times the noise: what the noise does *not* cost, since a
      prediction that misses h may hit t.

    Parameters
    ----------
    said : int64[R, m], R >= 2
        Class codes.
    y : int64[m]
    truth : int64[m], or None
    n_classes : int

    Returns
    -------
    Parts
        Also ``unbiased_variance`` and ``biased_variance``: V where the bias is 0, and what is taken off where it is 1.
    """
    optimal = y if truth is None else truth
    main = _most_frequent(said, n_classes)
    is_biased = main != optimal
    leaves_main, hits, wrong = said != main, said == optimal, said != y
    moves = np.where(is_biased, -1.0 * hits, 1.0 * leaves_main)
    variance = moves.mean(axis=0)
    loss = wrong.mean(axis=0)
    rows = {
        "loss": loss,
        "variance": variance,
        "unbiased_variance": np.where(is_biased, 0.0, variance),
        "biased_variance": np.where(is_biased, -variance, 0.0),
    }
    rounds = {"loss": wrong.mean(axis=1), "variance": moves.mean(axis=1)}
    if truth is None:
        return Parts(main, rows | {"bias_and_noise": 1.0 * is_biased} | _unknown(len(y)), rounds)
    noise = 1.0 * (y != truth)
    undone = noise * (1.0 * hits - (said == y) - 1.0)
    cross = undone.mean(axis=0)
    rows |= {"bias_squared": 1.0 * is_biased, "noise": noise, "cross": cross}
    rows["bias_and_noise"] = rows["bias_squared"] + noise + cross
    rounds["cross"] = undone.mean(axis=1)
    return Parts(main, rows, rounds)


def together(outputs: list[Parts]) -> Parts:
    """The mean over several outputs."""
    if len(outputs) == 1:
        return outputs[0]
    rows = {name: np.mean([each.rows[name] for each in outputs], axis=0) for name in outputs[0].rows}
    rounds = {name: np.mean([each.rounds[name] for each in outputs], axis=0) for name in outputs[0].rounds}
    return Parts(np.stack([each.main for each in outputs], axis=1), rows, rounds)


def _unknown(m: int) -> dict[str, np.ndarray]:
    """What cannot be told apart without the true values."""
    return {name: np.full(m, np.nan) for name in ("bias_squared", "noise", "cross")}


def _most_frequent(said: np.ndarray, n_classes: int) -> np.ndarray:
    """The most frequent code of each column, the lowest of equals."""
    best, most = np.zeros(said.shape[1], np.int64), np.full(said.shape[1], -1)
    for code in range(n_classes):
        count = (said == code).sum(axis=0)
        ahead = count > most
        best[ahead], most[ahead] = code, count[ahead]
    return best
