"""The upper confidence limit of a leaf's errors. In: a confidence, errors. Out: a number of errors. Callers: prune."""

from __future__ import annotations

from statistics import NormalDist

from treewright.exceptions import ParameterError
from treewright.prune.descent import Limit, added_by
from treewright.prune.requirements import number_of


def limit_of(confidence: float) -> Limit:
    """The upper limit that belongs to a confidence.

    Parameters
    ----------
    confidence : float in (0, 0.5]
        Smaller prunes more.

    Raises
    ------
    ParameterError
        It is outside its range.
    """
    chance = number_of(confidence)
    if not 0.0 < chance <= 0.5:
        raise ParameterError(f"confidence={confidence!r}: give a number above 0 and at most 0.5")
    return Limit(chance, -NormalDist().inv_cdf(chance))


def added_errors(total: float, errors: float, confidence: float = 0.25) -> float:
    """Errors that the upper confidence limit adds to the errors of a leaf.

    Parameters
    ----------
    total : float > 0
        Weight of the rows in the leaf.
    errors : float, 0 to ``total``
        Weight of those that are not of its class.
    confidence : float in (0, 0.5]

    Returns
    -------
    float
        The limit, as a number of errors, minus ``errors``.

    Raises
    ------
    ParameterError
        The confidence is outside its range.

    Examples
    --------
    Six rows without an error (Quinlan 1993, section 4.2):

    >>> round(added_errors(6, 0) / 6, 3)
    0.206
    """
    return float(added_by(limit_of(confidence), float(total), float(errors)))
