"""Our own JSON comes back as a model that answers with the same bits, whatever its trees ask."""

from __future__ import annotations

import json

import numpy as np
import pytest
from export_models import CELLS, CLASS, HOW, MODELS, NUMBER, TABLE
from rotating import few

import treewright as tw
from treewright.exceptions import InputFileError
from treewright.exchange.verify import vectors_of

pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # cells go missing on purpose
MORE = {
    "dates": lambda: tw.DecisionTreeRegressor().fit({"d": np.arange("2024-01", "2024-05", dtype="M8[M]")}, range(4)),
    "quantile loss": lambda: tw.GradientBoostingRegressor(
        12, loss="quantile", quantile=[0.1, 0.9], random_state=0, **HOW
    ).fit(TABLE, NUMBER),
}


# No file can hold a median of weights that are all 0.
@pytest.mark.parametrize("name", few([name for name in [*MODELS, *MORE] if name != "median of no weights"], 7))
def test_a_model_comes_back_from_json_with_the_same_answers(name, tmp_path):
    made = {**MODELS, **MORE}[name]()
    model = getattr(made, "model_", made)
    model.export(tmp_path / "m.json")
    again = tw.read_model(tmp_path / "m.json")
    assert again.facts == json.loads(json.dumps(model.facts))
    table = {column.name: CELLS.get(column.name) for column in model.schema.given}
    if name == "dates":
        table = {"d": np.arange("2024-01", "2024-05", dtype="M8[M]")}
    assert np.array_equal(again.predict(table), model.predict(table))
    if model.classes:
        shares = (each.predict_proba(table) for each in (again, model))
        assert np.array_equal(*(np.hstack(own) if isinstance(own, list) else own for own in shares))
    if name in MODELS:
        assert vectors_of(again) == vectors_of(model)
    again.export(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes() or model.combine != "single"


def test_what_is_damaged_is_refused_and_nothing_else_happens(tmp_path):
    tw.DecisionTreeClassifier(max_depth=2, **HOW).fit(TABLE, CLASS).export(tmp_path / "m.json")
    whole = (tmp_path / "m.json").read_bytes()
    rng = np.random.default_rng(0)
    came_out = 0
    for at in range(0, len(whole), 3):
        broken = bytearray(whole)
        broken[at] = rng.integers(32, 127)
        (tmp_path / "b.json").write_bytes(broken if at % 2 else whole[:at])
        try:
            tw.read_model(tmp_path / "b.json")
            came_out += 1
        except InputFileError:
            pass
    assert came_out < len(whole) / 6  # a letter of a name may be another one


def test_another_version_is_told(tmp_path):
    tw.DecisionTreeClassifier(**HOW).fit(TABLE, CLASS).export(tmp_path / "m.json")
    found = json.loads((tmp_path / "m.json").read_text())
    (tmp_path / "m.json").write_text(json.dumps({**found, "version": 1}))
    with pytest.raises(InputFileError, match="treewright-structure 2 is read"):
        tw.read_model(tmp_path / "m.json")
    (tmp_path / "m.json").write_text('{"format": "treewright-structure", "x": ' + "[" * 100_000)
    with pytest.raises(InputFileError, match=r"nested|whole"):
        tw.read_model(tmp_path / "m.json")
