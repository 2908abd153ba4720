"""What a model predicts for rows, and why: one wording for the terminal, for pages and for reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.predict.ensemble import leaf_table, predict_codes, predict_numbers, predict_probabilities
from treewright.trees.data import ModelData, output_columns
from treewright.trees.threshold import Threshold
from treewright.trees.writing import shorten, written_amount, written_level, written_name, written_probability

_NAME_WIDTH = 200


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions of a model for rows, in numbers and in words.

    Attributes
    ----------
    predicted : int32 or float64 [n, n_outputs]
        Codes of classes, or numbers.
    probabilities : float64[n, n_values]
        Class probabilities, or shares of votes, output by output; no column for numbers.
    classes : tuple of tuple of str
        Of each target; empty for numbers.
    names : tuple of str
        Of several targets; else empty.
    threshold : Threshold or None
    share : str
        What the probabilities are called.
    n_trees : int
    """

    predicted: np.ndarray
    probabilities: np.ndarray
    classes: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    threshold: Threshold | None
    share: str
    n_trees: int

    def rows(self, at: Any) -> Predictions:
        """Those of some rows."""
        return replace(self, predicted=self.predicted[at], probabilities=self.probabilities[at])

    def said(self, row: int) -> str:
        """The class or the number that is predicted for a row; of several targets all, with their names."""
        if self.classes:
            each = [labels[code] for labels, code in zip(self.classes, self.predicted[row].tolist(), strict=True)]
        else:
            each = [written_amount(number) for number in self.predicted[row].tolist()]
        if len(self.names) == len(each):
            each = [f"{name} {said}" for name, said in zip(self.names, each, strict=True)]
        return ", ".join(each)

    def why(self, row: int) -> str:
        """Why this class is predicted for a row; empty for a number, which has no other reason than its trees."""
        columns = output_columns([len(labels) for labels in self.classes])
        each = [
            self._why_class(labels, code, self.probabilities[row, own])
            for labels, code, own in zip(self.classes, self.predicted[row].tolist(), columns, strict=bool(self.classes))
        ]
        if len(self.names) == len(each):
            each = [f"{name}: {why}" for name, why in zip(self.names, each, strict=True)]
        return "; ".join(each)

    def line(self, row: int) -> str:
        """What is predicted for a row, and why.

        Examples
        --------
        >>> shares = np.array([[0.579, 0.421], [0.95, 0.05]])
        >>> codes, labels = np.array([[1], [0]]), (("good", "bad"),)
        >>> found = Predictions(codes, shares, labels, (), Threshold(1, 0.1), "probability", 1)
        >>> found.line(0)
        'predicts bad: its probability 0.421 is at least the threshold 0.1'
        >>> found.line(1)
        'predicts good: the probability 0.05 of bad is below the threshold 0.1'
        """
        return ": ".join(filter(None, (f"predicts {self.said(row)}", self.why(row))))

    def _why_class(self, labels: Sequence[str], code: int, shares: np.ndarray) -> str:
        """Why a class of one target is predicted."""
        if self.threshold is not None:
            positive, at = self.threshold.positive, self.threshold.at
            share = _on_its_side(float(shares[positive]), at)
            if code == positive:
                return f"its {self.share} {share} is at least the threshold {written_probability(at)}"
            return f"the {self.share} {share} of {labels[positive]} is below the threshold {written_probability(at)}"
        if len(labels) == 1:
            return "the fit saw no other class"
        share = f"{float(shares[code]):.3g}"
        others = [label for at, label in enumerate(labels) if at != code and shares[at] == shares[code]]
        if others:
            return f"its {self.share} {share} is as large as that of {others[0]}, and the first of equals is predicted"
        return f"its {self.share} {share} is the largest"


def _on_its_side(share: float, at: float) -> str:
    """A probability with three digits, or as many as show on which side of the threshold it is.

    Examples
    --------
    >>> _on_its_side(0.421, 0.0965), _on_its_side(0.29999, 0.3)
    ('0.421', '0.29999')
    """
    for digits in range(3, 17):
        text = f"{share:.{digits}g}"
        if (float(text) >= at) == (share >= at):
            return text
    return repr(share)


def predictions_of(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> Predictions:
    """What a model predicts for rows as its trees take them, float[n, p]."""
    if model.task != "classification":
        return _told(model, predict_numbers(model, matrix, n_jobs), np.empty((len(matrix), 0)))
    shares = np.concatenate(predict_probabilities(model, matrix, n_jobs), axis=1)
    return _told(model, predict_codes(model, matrix, n_jobs), shares)


def predictions_of_nodes(model: ModelData) -> Predictions:
    """What each node of a single tree predicts, or would predict as a leaf."""
    table = leaf_table(model)
    return _told(model, table.codes if model.task == "classification" else table.values, table.shares)


def predictions_made(model: ModelData, predicted: np.ndarray, shares: Sequence[np.ndarray]) -> Predictions:
    """Predictions that were made before: codes or numbers [n, n_outputs], and of classes the probabilities."""
    return _told(model, predicted, np.concatenate(shares, axis=1) if len(shares) else np.empty((len(predicted), 0)))


def _told(model: ModelData, predicted: np.ndarray, probabilities: np.ndarray) -> Predictions:
    """The predictions with the words of a model."""
    names = model.target_names or ()
    return Predictions(
        predicted,
        probabilities,
        tuple(tuple(shorten(written_level(each), _NAME_WIDTH) for each in own.tolist()) for own in model.classes),
        tuple(shorten(written_name(each), _NAME_WIDTH) for each in names) if len(names) > 1 else (),
        model.threshold,
        "share of the votes" if model.aggregation.votes else "probability",
        len(model.trees),
    )
