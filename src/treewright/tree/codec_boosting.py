"""Boosting and weights of trees in a model file. In: ``Boosting``, weights. Out: JSON, arrays, and back. Caller: codec.

Only form is looked at here; whether it fits the model is ``check_boosting``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright.exceptions import ModelFileError
from treewright.tree.boosting import Boosting
from treewright.tree.container import Layout

WEIGHTS = "tree_weights"


def boosting_to_json(boosting: Boosting) -> dict[str, Any]:
    """The base and the link as plain JSON."""
    return {"base": list(boosting.base), "link": boosting.link}


def boosting_from_json(entry: Mapping[str, Any]) -> Boosting:
    """Boosting that ``check_model`` has still to look at.

    Raises
    ------
    ModelFileError
        An entry is lacking, unknown or of another type.
    """
    if set(entry) != {"base", "link"} or not isinstance(entry["base"], list) or not isinstance(entry["link"], str):
        raise ModelFileError("damaged model file: boosting does not state a base and a link")
    return Boosting(tuple(entry["base"]), entry["link"])  # type: ignore[arg-type]


def with_weights(layout: Layout) -> Layout:
    """The arrays of a file whose trees have weights: theirs first, with the widest cells."""
    return {WEIGHTS: (np.dtype("<f8"), 1), **layout}
