"""Files of every format, written once and kept: they are read as ever, and the same models give the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from boosted_models import naive_answer, naive_leaf, naive_median, naive_scores

from treewright.model import Model
from treewright.predict.ensemble import combined
from treewright.trees import codec, container
from treewright.trees import container as model_file
from treewright.trees.codec import dumps, loads

STORED = Path(__file__).parent / "stored"
FORMATS = {"format1": 1, "format2": 2, "format3_boosting": 3, "format3_weights": 3}
ROWS = np.array([[0.5, -3.25, 1, 2, 5], [np.nan] * 5, [-20, 10, 3, 4, 69], [3.0, np.nan, 0, 5, 70]])


def metadata_of(data: bytes) -> dict[str, object]:
    length = int.from_bytes(data[:8], "little")
    return container.read_header(data[8 : 8 + length], model_file.FILE_FORMAT)[0]


@pytest.mark.parametrize("name", FORMATS)
def test_a_stored_file_is_written_again_byte_for_byte(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (STORED / f"{name}.tw").read_bytes()
    metadata = metadata_of(data)
    monkeypatch.setattr(codec, "__version__", metadata["library"])  # the one that wrote it

    assert metadata["format"] == FORMATS[name]
    assert dumps(loads(data)) == data


@pytest.mark.parametrize("name", FORMATS)
def test_a_stored_model_answers_as_its_trees_say(name: str) -> None:
    model = Model.of(loads((STORED / f"{name}.tw").read_bytes()))
    said = combined(model, ROWS).tolist()

    for row, answer in zip(ROWS, said, strict=True):
        if model.boosting is not None:
            expected = naive_answer(model, naive_scores(model, row))
        elif model.combine == "median":
            expected = [naive_median(model, row, model.n_trees)]
        else:
            values = [tree.value[naive_leaf(tree, row)] for tree in model.trees]
            votes = [np.eye(len(value))[value.argmax()] if model.classes else value for value in values]
            expected = np.mean(votes, axis=0).tolist()
        np.testing.assert_allclose(answer, expected, rtol=1e-12)
