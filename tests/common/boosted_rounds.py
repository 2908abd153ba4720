"""Losses with targets that suit them. In: a name, rows. Out: a loss, a target. Callers: tests of the rounds."""

from __future__ import annotations

import numpy as np

from treewright.boosting.losses import Loss, build_loss

LOSSES = (
    "squared_error",
    "absolute_error",
    "huber",
    "huber of 0.5",
    "quantile",
    "three quantiles",
    "poisson",
    "gamma",
    "tweedie",
    "expectile",
    "two classes",
    "four classes",
    "one class",
    "own",
    "own of two scores",
)


class OwnOfTwoScores:
    """Both scores come near the target, at different speeds; some rows have no curvature."""

    n_scores = 2
    link = "identity"

    @staticmethod
    def gradients(y: np.ndarray, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        miss = raw - y[:, None]
        return miss * [1.0, 0.25], np.where(y[:, None] > 1, 0.0, 1.0) * np.ones_like(miss)

    @staticmethod
    def value(y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        return ((raw - y[:, None]) ** 2).sum(axis=1)

    @staticmethod
    def base(y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        return np.array([0.25, -0.5])


def loss_named(name: str) -> Loss:
    """A new loss."""
    if name.endswith(("class", "classes")):
        return build_loss("log_loss", n_classes={"one": 1, "two": 2, "four": 4}[name.split(maxsplit=1)[0]])
    if name == "own":
        return build_loss(lambda y, raw: (np.tanh(raw - y), 1 - np.tanh(raw - y) ** 2))
    if name == "own of two scores":
        return build_loss(OwnOfTwoScores())
    given = {
        "huber of 0.5": {"loss": "huber", "huber_delta": 0.5},
        "three quantiles": {"loss": "quantile", "quantile": [0.1, 0.5, 0.9]},
        "quantile": {"loss": "quantile", "quantile": 0.3},
        "expectile": {"loss": "expectile", "expectile": 0.8},
    }.get(name, {"loss": name})
    return build_loss(**given)


def target_for(name: str, pull: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A target within the loss's domain, float64[n] or int32[n]; ``pull`` float64[n] moves it."""
    n = len(pull)
    if name.endswith(("class", "classes")):
        k = {"one": 1, "two": 2, "four": 4}[name.split(maxsplit=1)[0]]
        return np.clip(np.rint((pull - pull.min()) + rng.normal(size=n)), 0, k - 1).astype(np.int32)
    if name in ("poisson", "tweedie"):
        return rng.poisson(np.exp(np.clip(pull, -2, 2))).astype(np.float64)
    if name == "gamma":
        return rng.integers(1, 60, n) / 8 * np.exp(np.clip(pull, -2, 2))
    return np.rint((pull + rng.normal(size=n)) * 16) / 16
