"""``treewright workbench``. In: a file of rows, perhaps a model or a session. Out: a page, a session that is kept.

The session is saved after every command, so a server that is killed loses nothing: the same command goes on with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treewright.cli.algorithms import own_settings
from treewright.cli.models import load_model, note_left_out
from treewright.cli.request import FitRequest, check_request, declared_columns
from treewright.cli.terminal import UsageRefusal, note, printable, progress, say
from treewright.exceptions import InputFileError, MissingLibraryError, TreewrightError
from treewright.files import read_table
from treewright.files.table import rows_with_target
from treewright.learn.params import CLASSES, NUMBERS
from treewright.model.summary import counted
from treewright.workbench.screen import Desk
from treewright.workbench.server import Server
from treewright.workbench.session import Session, read_saved

__all__ = ["Beginning", "run_workbench"]


@dataclass(frozen=True)
class Beginning:
    """What a session begins with; see ``treewright workbench --help``."""

    session: Path | None
    model: Path | None
    held_out: float | None
    sealed: float | None
    who: str
    port: int
    browser: bool


def run_workbench(request: FitRequest, beginning: Beginning) -> None:
    """Serve a session until it is told to quit."""
    check_request(request)
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingLibraryError(
            "the workbench needs starlette and uvicorn: pip install 'treewright[workbench]'", name=error.name
        ) from None
    place = beginning.session or Path(f"{Path(request.data).name.partition('.')[0] or 'table'}.session.json")
    with progress():
        session = _goes_on(request, beginning, place) if place.exists() else _begins(request, beginning)
    desk = Desk(session, save_to=str(place), title=f"{request.target} of {Path(request.data).name}")
    trouble = desk.save()
    if trouble:
        raise InputFileError(trouble["warning"])
    server = Server(desk, beginning.port)
    note(f"the session is saved in {printable(place)} after every command; Quit on the page or Ctrl-C stops")
    server.serve(browser=beginning.browser)
    say(f"{counted(len(session.log), 'command')} in {printable(place)}")


def _begins(request: FitRequest, beginning: Beginning) -> Session:
    """A session of the rows, without any command or with those of a model."""
    required = [str(request.target), *([request.weight] if request.weight else [])]
    table = read_table(request.data, request.reading, request.declared.cell_types, request.drop, required)
    kept = rows_with_target(
        table.path, table.frame[str(request.target)], table.place, skip=request.skip_missing_target
    )  # fmt: skip
    if kept is not None:
        note_left_out(int((~kept).sum()), len(kept))
    options: dict[str, Any] = {name: value for name, value in declared_columns(request, table).items() if value}
    task = {"classification": CLASSES, "regression": NUMBERS}.get(request.task)
    options |= own_settings(request, request.task != "regression")
    given = {
        "task": task, "unseen": request.unseen, "held_out": beginning.held_out, "sealed": beginning.sealed,
        "who": beginning.who or None, "random_state": request.seed or None,
    }  # fmt: skip
    options |= {name: value for name, value in given.items() if value is not None}
    reading = request.reading
    told = {
        "path": str(request.data), "target": str(request.target), "weight": request.weight, "drop": list(request.drop),
        "types": dict(request.declared.cell_types), "skip_missing_target": request.skip_missing_target,
        "missing_tokens": list(reading.missing_tokens), "separator": reading.separator, "encoding": reading.encoding,
    }  # fmt: skip
    return Session.of_table(table, told, options, None if beginning.model is None else load_model(beginning.model))


def _goes_on(request: FitRequest, beginning: Beginning, place: Path) -> Session:
    """The session of a file, on the rows as they are now."""
    document = read_saved(str(place))
    file = document.get("file")
    if not isinstance(file, dict) or file.get("target") != request.target:
        held = f"the target {file.get('target')!r}" if isinstance(file, dict) else "no file"
        raise UsageRefusal(f"{place} is a session of {held}: name another with --session")
    if beginning.model is not None or beginning.held_out is not None or beginning.sealed is not None:
        raise UsageRefusal(
            f"{place} is a session that has begun: --model, --held-out and --sealed are settled; name another file "
            "with --session to begin anew"
        )
    try:
        session = Session.of_document(document, {**file, "path": str(request.data)}, named=str(place))
    except TreewrightError as error:
        raise InputFileError(
            f"{place}: the session does not fit {request.data}: {error}. Nothing was changed; name another file with "
            "--session to begin anew, or take the commands that do not fit out of it"
        ) from None
    if session.rows_digest != document.get("rows"):
        note(f"the rows of {printable(request.data)} are others than when the session was saved; every command fits")
    note(f"going on with {counted(len(session.log), 'command')} of {printable(place)}")
    return session
