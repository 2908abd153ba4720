"""Model files of nearest neighbours: what is written comes back, in the same bytes, and what cannot be is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from neighbor_models import CASES, DOCUMENTS, MIXED, NUMBERS, SHORT, model_of
from safetensors.numpy import load_file

import treewright as tw
from treewright.exceptions import ModelFileError, ParameterError
from treewright.model.neighbors import NeighborsModel
from treewright.neighbors.codec import dumps, loads
from treewright.trees import codec as tree_codec


def queries_of(case: str) -> Any:
    """Rows that were not those of the fit, with a cell that the fit knows nothing of where there may be one."""
    if "sparse" in case:
        return DOCUMENTS[:4] * 0.5
    if case in ("gower", "heom"):
        return {"city": ["Rome", None, "Paris"], "size": ["L", "S", "M"], "age": [2.0, 30.0, None]}
    if case == "hvdm":
        return {"city": ["Rome", None, "Oslo"], "size": ["L", "S", "M"], "age": [2.0, 30.0, None]}
    if case == "precomputed":
        return np.abs(NUMBERS[:4, :1] + 0.25 - NUMBERS[:, 0])
    return SHORT[:4] > 1 if case == "jaccard" else NUMBERS[:4] + 0.25


@pytest.fixture(scope="module", params=CASES, name="case")
def _case(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", name="model")
def _model(case: str) -> NeighborsModel:
    return model_of(case)


def test_a_loaded_model_says_what_the_saved_one_said(case: str, model: NeighborsModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model.tw")
    found = tw.load(tmp_path / "model.tw")

    assert isinstance(found, NeighborsModel)
    for name in ("task", "schema", "n_columns", "n_outputs", "n_neighbors", "weights", "unseen", "target_names"):
        assert getattr(found, name) == getattr(model, name), name
    assert dict(found.facts) == dict(model.facts)
    assert [labels.tolist() for labels in found.classes] == [labels.tolist() for labels in model.classes]
    assert found.stored.algorithm == model.stored.algorithm
    queries = queries_of(case)
    assert found.predict(queries).tolist() == model.predict(queries).tolist()
    for one, other in zip(found.kneighbors(queries), model.kneighbors(queries), strict=True):
        assert one.tobytes() == other.tobytes()
    assert found.show() == model.show()
    assert repr(found) == repr(model)


def test_the_same_model_gives_the_same_bytes(case: str, model: NeighborsModel) -> None:
    data = dumps(model)

    assert dumps(model_of(case)) == data
    assert dumps(NeighborsModel(**loads(data))) == data
    assert dumps(NeighborsModel(**loads(bytearray(data)))) == data


def test_loaded_rows_are_as_those_of_a_fit(model: NeighborsModel) -> None:
    found = NeighborsModel(**loads(dumps(model))).stored

    for one, other in ((found.points, model.stored.points), (found.codes, model.stored.codes)):
        if isinstance(one, np.ndarray):
            assert (one.dtype, one.shape, one.flags.c_contiguous) == (other.dtype, other.shape, True)  # type: ignore
    points: Any = found.points
    assert (points.data if found.is_sparse else points).flags.writeable  # kernels know one type of array


def arrays_of(model: NeighborsModel, folder: Path) -> dict[str, np.ndarray]:
    """What any reader of safetensors finds in the file."""
    model.save(folder / "model.tw")
    return load_file(folder / "model.tw")


def test_cells_take_four_bytes_where_no_digit_is_lost(tmp_path: Path) -> None:
    assert arrays_of(model_of("short cells"), tmp_path)["points"].dtype == np.float32
    assert arrays_of(model_of("euclidean"), tmp_path)["points"].dtype == np.float64
    near = SHORT.copy()
    near[3, 1] = np.nextafter(near[3, 1], 9)  # one cell among many
    model = tw.KNeighborsClassifier(1).fit(near, list("ab") * 6).model_
    assert arrays_of(model, tmp_path)["points"].dtype == np.float64
    assert NeighborsModel(**loads(dumps(model))).kneighbors(near[3:4], 1)[0] == 0.0


@pytest.mark.parametrize("cell", [1e300, -1e300, 1e-50, 2.0**-149, -0.0])
def test_cells_at_the_ends_of_float32_come_back_to_the_bit(cell: float) -> None:
    table = np.array([[cell], [1.0], [2.0]])
    points = loads(dumps(tw.KNeighborsRegressor(1).fit(table, [1.0, 2.0, 3.0]).model_))["stored"].points

    assert points.tobytes() == table.tobytes()


def test_rows_stand_in_the_file_as_the_metric_sees_them(tmp_path: Path) -> None:
    arrays = arrays_of(model_of("gower"), tmp_path)

    assert arrays["points"].shape == (12, 3)
    assert np.isnan(arrays["points"]).sum() == sum(cell is None for cells in MIXED.values() for cell in cells)
    assert arrays["codes"].dtype == np.int32
    sparse = arrays_of(model_of("sparse cosine"), tmp_path)
    assert len(sparse["rows.cells"]) == len(sparse["rows.columns"]) == sparse["rows.offsets"][-1] == DOCUMENTS.nnz


def test_the_file_of_few_columns_of_short_cells_is_little_larger_than_the_rows() -> None:
    rows = np.random.default_rng(0).integers(0, 1000, (5_000, 4)).astype(float)
    model = tw.KNeighborsRegressor().fit(rows, rows[:, 0]).model_

    assert len(dumps(model)) < 5_000 * (4 * 4 + 8) + 3_000


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weights": lambda distances: distances + 1.0}, "weights is a Python function"),
        ({"metric": lambda a, b: float(np.abs(a - b).max())}, "metric is a Python function"),
    ],
)
def test_functions_of_python_cannot_be_saved_and_the_message_says_what_to_do(
    parameters: dict[str, Any], message: str, tmp_path: Path
) -> None:
    est = tw.KNeighborsClassifier(2, **parameters).fit(NUMBERS, list("abc") * 4)

    with pytest.raises(ParameterError, match=f"{message}.*fit with .* by name"):
        est.save(tmp_path / "own.tw")
    assert not list(tmp_path.iterdir())


def test_either_reader_says_what_the_other_kind_of_file_holds() -> None:
    tree = tw.DecisionTreeClassifier().fit(NUMBERS, list("abc") * 4).model_

    with pytest.raises(ModelFileError, match=r"holds nearest neighbours, not trees: treewright\.load reads it"):
        tree_codec.loads(dumps(model_of("euclidean")))
    with pytest.raises(ModelFileError, match=r"holds trees, not nearest neighbours: treewright\.load reads it"):
        loads(tree_codec.dumps(tree))


def test_load_gives_whichever_model_a_file_holds(tmp_path: Path) -> None:
    labels = list("abc") * 4
    tw.DecisionTreeClassifier().fit(NUMBERS, labels).save(tmp_path / "tree.tw")
    tw.KNeighborsClassifier(1).fit(NUMBERS, labels).save(tmp_path / "rows.tw")

    from treewright.model import load

    for reader in (tw.load, load):
        assert isinstance(reader(tmp_path / "tree.tw"), tw.Model)
        assert isinstance(reader(tmp_path / "rows.tw"), NeighborsModel)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_neighbors": 13}, "n_neighbors is 13: expected 1 to 12"),
        ({"n_neighbors": 0}, "n_neighbors is 0"),
        ({"weights": "guess"}, "weights is 'guess'"),
        ({"unseen": "majority"}, "unseen is 'majority'"),
        ({"n_outputs": 2}, "class lists for 2 outputs"),
        ({"classes": (np.array(["a", "b"]),)}, "not the code of a class"),
        ({"target_names": ("a", "b")}, "2 target names"),
        ({"task": "regression", "classes": ()}, "expected codes for classification, values for regression"),
        ({"schema": None}, "sparse rows have no schema"),
        ({"n_columns": 4}, "n_columns is 4"),
    ],
)
def test_a_model_that_could_not_be_loaded_is_not_written(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        dumps(replace(model_of("euclidean"), **change))


def test_facts_that_are_no_plain_json_are_refused() -> None:
    with pytest.raises(ParameterError, match="is a tuple; facts must be plain JSON"):
        dumps(replace(model_of("euclidean"), facts={"place": (1, 2)}))


def test_a_table_without_cells_in_its_sparse_rows_is_saved(tmp_path: Path) -> None:
    empty = DOCUMENTS * 0.0
    empty.eliminate_zeros()
    model = tw.KNeighborsClassifier(2, metric="cosine").fit(empty, list("abc") * 4).model_
    model.save(tmp_path / "empty.tw")

    assert tw.load(tmp_path / "empty.tw").predict(empty[:2]).tolist() == model.predict(empty[:2]).tolist()


def test_the_metadata_are_those_of_the_format(tmp_path: Path) -> None:
    data = dumps(model_of("hvdm"))
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    metadata = json.loads(header["__metadata__"]["treewright"])

    assert metadata["format"] == 4
    assert sorted(metadata) == [
        "algorithm", "classes", "digest", "facts", "format", "library", "metric", "n_neighbors", "n_outputs", "schema",
        "target_names", "task", "unseen", "weights",
    ]  # fmt: skip
