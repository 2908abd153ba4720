"""scikit-learn's checks of estimators, as ``parametrize_with_checks`` gives them, but a few that rotate.

Most checks are about what all estimators share. So a run has every check on one of a file's estimators and every
estimator in one of the checks; with ``TREEWRIGHT_SEEDS=all`` every estimator in every check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from rotating import covering
from sklearn.utils.estimator_checks import parametrize_with_checks


def with_checks(estimators: Sequence[Any], expected_failures: Callable[[Any], dict[str, str]] | None = None):
    """The mark for a test of ``estimator, check``; what is expected to fail is marked so, with its reason."""
    every = parametrize_with_checks(estimators, expected_failed_checks=expected_failures)
    names, cases = every.args
    word = every.kwargs["ids"]
    few = covering(cases, lambda case: map(word, getattr(case, "values", case)))
    return pytest.mark.parametrize(names, few, ids=word)
