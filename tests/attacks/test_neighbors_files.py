"""Hostile files of nearest neighbours: any bytes give a valid model, which answers, or one ``ModelFileError``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from file_damage import accepted_flips, accepted_lengths, edited, signed
from hypothesis import given
from hypothesis import strategies as st
from neighbor_models import CASES, MIXED, model_of

from treewright.exceptions import ModelFileError, TreewrightError
from treewright.model.neighbors import NeighborsModel
from treewright.neighbors import codec
from treewright.neighbors.codec import dumps, loads
from treewright.trees import container
from treewright.trees import container as model_file
from treewright.version import __version__

FILES = {case: dumps(model_of(case)) for case in CASES}


@pytest.fixture(scope="module", params=CASES, name="data")
def _data(request: pytest.FixtureRequest) -> bytes:
    return FILES[request.param]


def opened(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Metadata and arrays of a file."""
    length = int.from_bytes(data[:8], "little")
    metadata, places = container.read_header(data[8 : 8 + length], model_file.FILE_FORMAT)
    layout = codec._layout(metadata, places)
    shapes = container.read_places(places, len(data) - 8 - length, layout)
    return metadata, container.read_arrays(data[8 + length :], shapes, layout)


def closed(metadata: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """A file of these, laid out and signed as a legal one."""
    layout = {name: (cells.dtype.newbyteorder("<"), cells.ndim) for name, cells in arrays.items()}
    return container.compose(metadata, arrays, codec._in_order(layout))


def survives(data: bytes) -> bool:
    """Whether the bytes load; if they do, the model is written in the same bytes, shows itself and answers."""
    try:
        model = NeighborsModel(**loads(data))
    except ModelFileError:
        return False
    metadata, arrays = opened(data)
    assert dumps(model) == closed({**metadata, "library": __version__}, arrays)
    assert model.show()
    try:
        distances, rows = model.kneighbors()
        model.predict(_own_rows(model))
    except TreewrightError:  # numbers far apart have no distance; the rows may be of other columns
        return True
    assert not np.isnan(distances).any()
    assert ((rows >= 0) & (rows < model.n_rows)).all()
    return True


def _own_rows(model: NeighborsModel) -> Any:
    """Some rows of the model's columns."""
    if model.schema is None:
        return model.stored.points[:2]
    if model.schema.named:
        return {str(name): cells[:2] for name, cells in MIXED.items()}
    return np.zeros((2, model.n_columns))


def test_the_damage_starts_from_a_file_that_loads(data: bytes) -> None:
    assert survives(data)
    assert signed(data) == closed(*opened(data)) == data


def test_a_single_bit_flip_is_refused(data: bytes) -> None:
    assert accepted_flips(data, every=37, read=loads) == []


def test_truncation_is_refused(data: bytes) -> None:
    assert accepted_lengths(data, every=11, read=loads) == []
    for more in (b"\0", b" ", data):
        with pytest.raises(ModelFileError):
            loads(data + more)


@pytest.mark.parametrize(("seed", "rounds"), [(0, 60), pytest.param(1, 4_000, marks=pytest.mark.slow)])
def test_random_edits_under_a_valid_digest_are_refused_or_harmless(data: bytes, seed: int, rounds: int) -> None:
    rng = np.random.default_rng(seed)

    assert sum(survives(edited(data, rng)) for _ in range(rounds)) < rounds


@pytest.mark.parametrize(("seed", "rounds"), [(2, 60), pytest.param(3, 4_000, marks=pytest.mark.slow)])
def test_random_cells_in_arrays_are_refused_or_harmless(data: bytes, seed: int, rounds: int) -> None:
    rng = np.random.default_rng(seed)
    metadata, whole = opened(data)
    accepted = 0
    for _ in range(rounds):
        arrays = {name: cells.copy() for name, cells in whole.items()}
        cells = arrays[str(rng.choice([name for name in arrays if arrays[name].size]))]
        special = [-1, 0, 1, 2, 3, 12] + ([np.nan, np.inf, 1e300, -0.0, 0.5] if cells.dtype.kind == "f" else [])
        drawn = float(rng.choice(special))
        with np.errstate(over="ignore"):
            cells.reshape(-1)[rng.integers(cells.size)] = drawn if cells.dtype.kind != "u" else abs(drawn)
        accepted += survives(closed(metadata, arrays))

    assert accepted < rounds


@given(
    case=st.sampled_from(sorted(CASES)),
    key=st.sampled_from([*codec._METADATA, "schema", "n_columns", "extra"]),
    entry=st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-5, 2**40)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=5,
    ),
)
def test_any_other_metadata_are_refused_or_harmless(case: str, key: str, entry: Any) -> None:
    metadata, arrays = opened(FILES[case])

    survives(closed({**metadata, key: entry}, arrays))


@given(
    case=st.sampled_from(sorted(CASES)),
    choice=st.integers(0, 30),
    entry=st.none()
    | st.integers(-3, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.lists(st.integers(), max_size=2),
)
def test_any_other_entry_of_the_metric_is_refused_or_harmless(case: str, choice: int, entry: Any) -> None:
    metadata, arrays = opened(FILES[case])
    keys = sorted(metadata["metric"])

    survives(closed({**metadata, "metric": {**metadata["metric"], keys[choice % len(keys)]: entry}}, arrays))


ENTRIES = [
    ("euclidean", {"task": "regression"}, "arrays missing or unknown"),
    ("euclidean", {"n_neighbors": 13}, "n_neighbors is 13"),
    ("euclidean", {"n_neighbors": 0}, "n_neighbors is 0"),
    ("euclidean", {"n_neighbors": True}, "of the wrong type"),
    ("euclidean", {"n_neighbors": 10**30}, "n_neighbors is 1000"),
    ("euclidean", {"weights": "callable"}, "weights is 'callable'"),
    ("euclidean", {"weights": None}, "of the wrong type"),
    ("euclidean", {"algorithm": "guess"}, "algorithm='guess': give one of"),
    ("euclidean", {"unseen": "majority"}, "unseen is 'majority'"),
    ("euclidean", {"n_outputs": 2}, "class lists for 2 outputs"),
    ("euclidean", {"classes": []}, "0 class lists"),
    ("euclidean", {"n_columns": 3}, "arrays missing or unknown"),
    ("euclidean", {"schema": {}}, "damaged model file"),
    ("euclidean", {"target_names": [1]}, "a target name is not text"),
    ("euclidean", {"facts": {"algorithm": 3}}, "facts: algorithm"),
    ("euclidean", {"metric": {}}, "metric"),
    ("euclidean", {"extra": 1}, "missing, unknown or"),
    ("gower", {"algorithm": "kd_tree"}, "kd_tree"),
    ("sparse cosine", {"n_columns": 0}, "a cell is in none of 0 columns"),
    ("sparse cosine", {"n_columns": -1}, "a cell is in none of -1 columns"),
    ("sparse cosine", {"n_columns": 2**62}, "a cell is in none of"),
    ("sparse cosine", {"n_columns": 4}, "a cell is in none of 4 columns"),
    ("sparse cosine", {"algorithm": "kd_tree"}, "kd_tree"),
]


@pytest.mark.parametrize(("case", "change", "message"), ENTRIES)
def test_hostile_metadata_under_a_valid_digest_are_refused(case: str, change: dict[str, Any], message: str) -> None:
    metadata, arrays = opened(FILES[case])

    with pytest.raises(ModelFileError, match=message):
        loads(closed({**metadata, **change}, arrays))


def test_a_missing_metadata_entry_is_refused(data: bytes) -> None:
    metadata, arrays = opened(data)
    for key in metadata:
        if key not in ("digest", "format"):
            with pytest.raises(ModelFileError):
                loads(closed({name: entry for name, entry in metadata.items() if name != key}, arrays))


def with_cell(name: str, place: Any, cell: float) -> Callable[[dict[str, np.ndarray]], None]:
    """A change of one cell of an array."""

    def change(arrays: dict[str, np.ndarray]) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][place] = cell

    return change


def with_array(name: str, make: Callable[[np.ndarray], np.ndarray]) -> Callable[[dict[str, np.ndarray]], None]:
    """A change of an array."""

    def change(arrays: dict[str, np.ndarray]) -> None:
        arrays[name] = np.ascontiguousarray(make(arrays[name]))

    return change


LIES: list[tuple[str, Callable[[dict[str, np.ndarray]], None], str]] = [
    ("euclidean", with_cell("points", (2, 1), np.nan), "points, row 2: a cell is not finite"),
    ("euclidean", with_cell("points", (2, 1), -np.inf), "points, row 2: a cell is not finite"),
    ("euclidean", with_cell("codes", (3, 0), 3), "codes, row 3: a cell is not the code of a class"),
    ("euclidean", with_cell("codes", (3, 0), -1), "codes, row 3: a cell is not the code of a class"),
    ("euclidean", with_array("points", lambda cells: cells[:, :2]), "points have shape"),
    ("euclidean", with_array("points", lambda cells: cells[:5]), "codes have shape"),
    ("euclidean", with_array("points", lambda cells: cells[:0].astype(np.float32)), "n_neighbors is 3"),
    ("euclidean", with_array("codes", lambda cells: np.hstack([cells, cells])), "codes have shape"),
    ("short cells", with_array("points", lambda cells: cells.astype(np.float64)), "float32 would be exact"),
    ("two numbers", with_cell("values", (0, 1), np.inf), "values, row 0: a cell is not finite"),
    ("two numbers", with_array("values", lambda cells: cells[:, :1]), "values have shape"),
    ("jaccard", with_cell("points", (1, 1), 0.5), "is neither 0 nor 1"),
    ("angle", with_cell("points", (1, 1), 0.9), "a cell is in a row not of length one"),
    ("correlation", with_array("points", lambda cells: cells[:, :-1]), "points have shape"),
    ("gower", with_cell("points", (1, 0), 3), "points, column 0, row 1: a cell is not the code of a level"),
    ("gower", with_cell("points", (1, 0), 0.5), "points, column 0, row 1: a cell is not the code of a level"),
    ("gower", with_cell("points", (1, 1), -1), "points, column 1, row 1: a cell is not the code of a level"),
    ("gower", with_cell("points", (1, 2), np.inf), "points, row 1: a cell is infinite"),
    ("gower", with_cell("metric.kinds", 2, 3), "a column is compared as if it had another kind"),
    ("gower", with_cell("metric.kinds", 0, 0), "a column is compared as if it had another kind"),
    ("gower", with_cell("metric.scales", 2, 0), "a scale is not above 0"),
    ("gower", with_cell("metric.scales", 2, np.inf), "scales holds a number that is not finite"),
    ("hvdm", with_cell("metric.tables", 0, 0.9), "the class proportions of a level are not proportions"),
    ("hvdm", with_cell("metric.tables", 0, -1), "the class proportions of a level are not proportions"),
    ("hvdm", with_array("metric.tables", lambda cells: cells[:-1]), "metric: tables"),
    ("standard scale", with_cell("metric.scales", 0, -1), "a scale is below 0"),
    ("standard scale", with_cell("metric.center", 0, np.nan), "center holds a number that is not finite"),
    ("mahalanobis", with_cell("metric.transform", (0, 0), np.inf), "transform holds a number that is not finite"),
    ("sparse cosine", with_cell("rows.cells", 0, np.nan), "not finite"),
    ("sparse cosine", with_cell("rows.columns", 0, 9), "a cell is in none of 9 columns"),
    ("sparse cosine", with_cell("rows.columns", 0, -1), "a cell is in none of 9 columns"),
    ("sparse cosine", with_cell("rows.columns", 0, 8), "the columns of a sparse row are not ascending"),
    ("sparse cosine", with_cell("rows.offsets", 0, 1), "rows.offsets do not divide"),
    ("sparse cosine", with_cell("rows.offsets", -1, 2**62), "rows.offsets do not divide"),
    ("sparse cosine", with_cell("rows.offsets", 1, -(2**63)), "rows.offsets do not divide"),
    ("sparse cosine", with_array("rows.offsets", lambda cells: cells[:0]), "rows.offsets do not divide"),
    ("sparse cosine", with_array("rows.columns", lambda cells: cells[:-1]), "rows.offsets do not divide"),
]


@pytest.mark.parametrize(("case", "change", "message"), LIES)
def test_hostile_arrays_under_a_valid_digest_are_named(
    case: str, change: Callable[[dict[str, np.ndarray]], None], message: str
) -> None:
    metadata, arrays = opened(FILES[case])
    arrays = dict(arrays)
    change(arrays)

    with pytest.raises(ModelFileError, match=re.escape(message)):
        loads(closed(metadata, arrays))


def test_every_array_is_needed_and_none_beside_them(data: bytes) -> None:
    metadata, arrays = opened(data)
    for name in arrays:
        if metadata["metric"]["name"] in ("euclidean", "minkowski", "nan_euclidean") and (
            name == "metric.center" or (name == "metric.scales" and "metric.center" not in arrays)
        ):
            continue  # cells may be compared as they are: then it is another metric
        with pytest.raises(ModelFileError):
            loads(closed(metadata, {other: cells for other, cells in arrays.items() if other != name}))
    for name in ("metric.more", "metric.", "more", "points", "values", "codes", "rows.cells"):
        if name not in arrays:
            with pytest.raises(ModelFileError):
                loads(closed(metadata, {**arrays, name: np.zeros((1, 1))}))


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_a_metric_of_another_shape_or_dtype_are_refused(case: str) -> None:
    metadata, arrays = opened(FILES[case])
    for name in arrays:
        if name.startswith("metric."):
            cells = arrays[name]
            others: list[np.ndarray] = [cells[None], cells[..., :-1], np.concatenate([cells, cells])]
            others.append(cells.astype(np.float32 if cells.dtype.kind != "f" else np.int64))
            for other in others:
                if other.tobytes() != cells.tobytes() or other.shape != cells.shape:
                    with pytest.raises(ModelFileError):
                        loads(closed(metadata, {**arrays, name: np.ascontiguousarray(other)}))


def test_a_missing_cell_in_another_spelling_is_refused() -> None:
    metadata, arrays = opened(FILES["gower"])
    points = arrays["points"].copy()
    bits = points.view(np.uint64 if points.dtype == np.float64 else np.uint32)
    bits[np.isnan(points)] += 1

    with pytest.raises(ModelFileError, match="a missing cell is not in its canonical form"):
        loads(closed(metadata, {**arrays, "points": points}))


def test_headers_that_promise_more_than_the_file_holds_ask_for_no_memory(data: bytes) -> None:
    header = data[8 : 8 + int.from_bytes(data[:8], "little")]
    for shape in (b"[1000000000000,3]", b"[18446744073709551616,3]", b"[4294967296,4294967296]", b"[-1,3]", b"[]"):
        hostile = re.sub(rb'("(?:points|rows.cells)":\{[^}]*"shape":)\[[0-9,]*\]', rb"\1" + shape, header)
        assert hostile != header
        hostile += b" " * (-len(hostile) % 8)
        with pytest.raises(ModelFileError):
            loads(signed(len(hostile).to_bytes(8, "little") + hostile + data[8 + len(header) :]))
