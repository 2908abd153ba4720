"""R's partykit: the tests at the root of conditional inference trees (ctree), and one rpart tree as a party.

In: data sets. Out: partykit.json (its shape: README.md).
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import rpart
import sets

HERE = Path(__file__).resolve().parent
SETS = ("iris", "vote", "penguins", "airquality", "car_evaluation")


def run(folder: Path | None) -> Iterator[tuple[str, dict]]:
    """File name and figures."""
    version, runs = "", []
    for name in SETS:
        table = rpart.airquality() if name == "airquality" else sets.find(name, folder)
        if table is None:
            continue
        if name == "airquality":
            # ctree refuses a target that is missing.
            kept = [i for i, cell in enumerate(table.columns["Ozone"]) if cell is not None]
            table = sets.rows_of(table, kept)
        columns = [
            {"name": label, "levels": table.levels(label) if label in table.nominal else None}
            for label in [*table.features, table.target]
        ]
        with tempfile.TemporaryDirectory() as place:
            question, cells, answer = (Path(place) / part for part in ("asked.json", "table.csv", "answer.json"))
            asked = {"columns": columns, "as_party": name == "penguins"}
            question.write_text(json.dumps(asked), encoding="utf-8")
            sets.write_csv(table, cells)
            command = ["Rscript", "--vanilla", str(HERE / "partykit.R"), str(question), str(cells), str(answer)]
            subprocess.run(command, check=True)
            made = json.loads(answer.read_text(encoding="utf-8"))
        version = made.pop("version")
        print(f"  {name}", flush=True)
        runs.append({"data": name, "rows": table.n_rows} | made)
    yield "partykit.json", {"program": "partykit", "version": version, "runs": runs}
