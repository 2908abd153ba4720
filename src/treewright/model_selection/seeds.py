"""Seeds of chance. In: ``random_state``. Out: a refusal, or seeds beside those of folds. Callers: model_selection."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from treewright.core.whole import is_whole
from treewright.exceptions import ParameterError


def check_random_state(random_state: Any) -> None:
    """Refuse what is no seed.

    Parameters
    ----------
    random_state : int 0 to 2**32 - 1, RandomState (or the module ``numpy.random``), or None

    Raises
    ------
    ParameterError
    """
    if random_state is None or random_state is np.random or isinstance(random_state, np.random.RandomState):
        return
    if not is_whole(random_state) or not 0 <= random_state < 2**32:
        raise ParameterError(
            f"random_state={random_state!r}: give a whole number from 0 to {2**32 - 1}, a numpy.random.RandomState, or "
            "None"
        )


def seed_beside(random_state: Any, purpose: int = 0) -> int:
    """A seed for something else than the folds, that has nothing to do with theirs.

    Parameters
    ----------
    random_state : int, RandomState or None
        A RandomState is looked at, not moved on.
    purpose : int >= 0
        Other purposes have other seeds.

    Returns
    -------
    int, 0 to 2**32 - 1
        With None another one each time.

    Raises
    ------
    ParameterError
        There is no such ``random_state``.
    """
    check_random_state(random_state)
    entropy = random_state
    if random_state is np.random:
        entropy = None
    elif isinstance(random_state, np.random.RandomState):
        entropy = int(deepcopy(random_state).randint(2**31))
    sequence = np.random.SeedSequence(None if entropy is None else int(entropy), spawn_key=(purpose,))
    return int(sequence.generate_state(1)[0])
