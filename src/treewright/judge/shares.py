"""Scores of predicted probabilities. In: true codes and class probabilities. Out: scores by their usual names.

Accuracy says little about unequal classes: a model that never predicts the rare class is correct for all others. So
scores of the ranking and of the calibration are added. Report and command line use them; they are scikit-learn's, also
for the cases that it refuses.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

TWO = 2
_FEW = 0.5  # times the share of a class if all were equal
_BINS = 10
_MOST_RANKED = 500  # the most classes for one-vs-rest rankings: 10,000 would take a minute


def are_unequal(counts: dict[object, int]) -> bool:
    """Whether the rarest class has less than half of an equal share: below 25 % for two classes, 16.7 % for three.

    Examples
    --------
    >>> are_unequal({"no": 80, "yes": 20}), are_unequal({"no": 70, "yes": 30}), are_unequal({"no": 9})
    (True, False, False)
    """
    return len(counts) > 1 and min(counts.values()) * len(counts) < _FEW * sum(counts.values())


def log_loss_of(truth: np.ndarray, shares: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean of -ln of the true class's probability, in nats; ``truth`` int64[n] codes, ``shares`` float64[n, k]."""
    from sklearn.metrics import log_loss

    # A mean of probabilities may be above 1 in its last digit, which scikit-learn refuses.
    shares = np.clip(shares, 0.0, 1.0)
    return float(log_loss(truth, shares, labels=np.arange(shares.shape[1]), sample_weight=weights))


def brier_score_of(truth: np.ndarray, shares: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean squared error of the probabilities (Brier 1950); for two classes that of the second, as is usual."""
    from sklearn.metrics import mean_squared_error

    k = shares.shape[1]
    each = mean_squared_error(np.eye(k)[truth], shares, sample_weight=weights, multioutput="raw_values")
    return float(each[1] if k == TWO else each.sum())


def calibration_error_of(is_so: np.ndarray, share: np.ndarray) -> float:
    """Mean distance between a class's proportion and its predicted probability, over ten bins of equal width.

    The expected calibration error of Naeini, Cooper and Hauskrecht (2015, "Obtaining well calibrated probabilities
    using Bayesian binning", AAAI); ``is_so`` bool[n], ``share`` float64[n].

    Examples
    --------
    >>> calibration_error_of(np.array([True, False, False, False]), np.array([0.75, 0.25, 0.25, 0.25]))
    0.25
    """
    bins = np.minimum((np.clip(share, 0.0, 1.0) * _BINS).astype(np.int64), _BINS - 1)
    said = np.bincount(bins, weights=share, minlength=_BINS)
    true = np.bincount(bins, weights=is_so.astype(np.float64), minlength=_BINS)
    return float(np.abs(said - true).sum() / len(share))


@dataclass
class ShareScore:
    """Scores of probabilities that are added in blocks. All are kept, 8 bytes per class and row: ranks need them.

    Attributes
    ----------
    are_probabilities : bool
        Whether they are probabilities, not shares of votes, so that they can be compared with frequencies.
    """

    are_probabilities: bool = True
    _place: dict[object, int] = field(default_factory=dict)  # of every label, true or known to a model
    _blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)

    def add(self, truth: pl.Series, shares: np.ndarray, labels: list[object]) -> None:
        """Add some rows: their true labels, and a model's probabilities of ``labels``.

        Models of several folds may have different labels; a label that a model does not have gets the probability 0.
        """
        columns, codes = (
            np.array([self._place.setdefault(label, len(self._place)) for label in each], np.int64)
            for each in (labels, truth.to_list())
        )
        self._blocks.append((codes, np.asarray(shares, np.float64), columns))

    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Codes int64[n] and probabilities float64[n, n_labels] of all rows."""
        codes = np.concatenate([codes for codes, _, _ in self._blocks])
        shares = np.zeros((len(codes), len(self._place)))
        at = 0
        for _, block, columns in self._blocks:
            shares[at : at + len(block), columns] = block
            at += len(block)
        return codes, shares

    def measures(self) -> dict[str, float]:
        """Scores by name; none for a class without rows, or that has all rows.

        For two classes ROC AUC and average precision are those of the rarer one, for more the mean over the classes
        that occur, each against the rest.
        """
        if not self._blocks:  # the score of a constant prediction
            return {}
        from sklearn.metrics import average_precision_score, roc_auc_score

        codes, shares = self._rows()
        counts = np.bincount(codes, minlength=shares.shape[1])
        ranked = [place for place in range(len(counts)) if 0 < counts[place] < len(codes)]
        if len(counts) == len(ranked) == TWO:
            ranked = [int(counts.argmin()) if counts[0] != counts[1] else 1]
        if len(ranked) > _MOST_RANKED:
            ranked = []
        found = {}
        if ranked:
            areas = [roc_auc_score(codes == place, shares[:, place]) for place in ranked]
            precisions = [average_precision_score(codes == place, shares[:, place]) for place in ranked]
            found = {"ROC AUC": float(np.mean(areas)), "average precision": float(np.mean(precisions))}
        if not self.are_probabilities or len(counts) < TWO:
            return found
        found |= {"log loss": log_loss_of(codes, shares), "Brier score": brier_score_of(codes, shares)}
        if ranked:
            each = [calibration_error_of(codes == place, shares[:, place]) for place in ranked]
            found["calibration error"] = float(np.mean(each))
        return found
