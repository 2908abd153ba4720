"""``treewright workbench``. In: a file of rows, and optionally a model or a session. Out: a page and a saved session.

The session is saved after every command, so a killed server loses nothing: the same command continues the session.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from treewright.cli.algorithms import own_settings
from treewright.cli.models import load_model, note_left_out
from treewright.cli.options import WorkbenchRequest
from treewright.cli.request import check_request, declared_columns, fit_of
from treewright.cli.terminal import UsageRefusal, note, printable, progress, say
from treewright.cli.threshold import costs_given
from treewright.exceptions import InputFileError, ParameterError, Terminated, TreewrightError, status_of_stop
from treewright.files import Table
from treewright.files.table import rows_with_target
from treewright.learn.params import CLASSES, NUMBERS
from treewright.trees.summary import counted
from treewright.workbench.app import Session
from treewright.workbench.screen import Desk
from treewright.workbench.server import Server, check_libraries
from treewright.workbench.session import file_options, read_saved, table_of

__all__ = ["run_workbench"]


NOTE_OF_MODEL = "It begins with a model. Held-out rows may be among its training rows: their figures are too good."
NOTE_OF_ROWS = "The rows have changed since the session was saved. The held-out rows may have changed with them."


def run_workbench(request: WorkbenchRequest) -> None:
    """Serve a session until the user quits."""
    costs = None if request.cost is None else costs_given(request.cost)
    check_request(fit_of(request))
    check_libraries()
    data = Path(request.data)
    place = request.session or Path(f"{data.name.partition('.')[0] or 'table'}.session.json")
    document = _saved_session(place)
    known = place.read_bytes() if place.exists() else None
    told = (
        _given_options(request)
        if document is None
        else _options_of_saved(document, _given_options(request), request, place)
    )
    with progress():
        table = table_of(told)
        options = _options(request, table, costs, skip=bool(told["skip_missing_target"]))
        session, notes = _new_session(table, told, options, request) if document is None else _continued_session(
            document, table, told, options, request, place
        )  # fmt: skip
    for each in notes:
        note(each)
    if request.measure is not None:
        try:
            session.measure = request.measure
        except ParameterError:
            raise UsageRefusal(
                f"--measure {request.measure!r}: choose one of {', '.join(session.measures)}"
                + ("; cost needs --cost" if request.measure == "cost" else "")
            ) from None
    desk = Desk(session, save_to=str(place), title=f"{data.name}: {request.target}", note=" ".join(notes), known=known)
    server = Server(desk, request.port)
    trouble = desk.save()
    if trouble:
        raise InputFileError(trouble["warning"])
    if document is not None:
        note(f"continuing {printable(place)} after {counted(len(session.log), 'command')}")
    note(f"the session is saved in {printable(place)} after every command; Quit on the page or Ctrl-C stops the server")
    server.serve(browser=request.browser)
    if lost := desk.unsaved():
        raise InputFileError(f"{lost}. {_saved_elsewhere(session, place.name)}")
    say(f"{counted(len(session.log), 'command')} in {printable(desk.save_to)}")
    if Terminated.is_heard:
        raise typer.Exit(status_of_stop(Terminated())[0])


def _saved_elsewhere(session: Session, name: str) -> str:
    """Keep a session that its file cannot hold: in a temporary folder or at home, else as a script on the terminal."""
    for root in (tempfile.gettempdir(), Path.home()):
        with suppress(TreewrightError, OSError, RuntimeError):
            place = Path(tempfile.mkdtemp(prefix="treewright-session-", dir=root)) / name
            try:
                session.save(str(place))
            except TreewrightError:
                place.parent.rmdir()
                raise
            return f"All of the session is in {printable(place)}: move it, or go on with --session {printable(place)}"
    say(session.script())
    return "No temporary file could be written either: standard output has the script that makes this tree"


def _saved_session(place: Path) -> dict[str, Any] | None:
    """The session in a file; None if there is no file, or if nothing was done or evaluated in it."""
    if not place.exists():
        return None
    document = read_saved(str(place))
    return (
        document if any(document.get(name) for name in ("commands", "undone", "dropped", "looks", "opened")) else None
    )


def _given_options(request: WorkbenchRequest) -> dict[str, Any]:
    """The options that say how the file is read."""
    reading, columns = vars(request.reading.options), request.columns
    return {
        "path": str(request.data), "target": str(request.target), "weight": columns.weight, "drop": list(columns.drop),
        "types": dict(columns.declared.cell_types), "skip_missing_target": columns.skip_missing_target,
        **reading, "missing_tokens": list(reading["missing_tokens"]),
    }  # fmt: skip


def _options_of_saved(
    document: dict[str, Any], told: dict[str, Any], request: WorkbenchRequest, place: Path
) -> dict[str, Any]:
    """How the file of an existing session is read; options that are given again must be the same."""
    if request.model is not None:
        raise UsageRefusal(f"{place} is an existing session, and --model begins a new one: {_anew(place)}")
    if not document.get("file"):  # it was begun in Python
        return told
    held = file_options(document["file"], str(place))
    for name, value in told.items():
        if name != "path" and value and value != held[name]:
            raise UsageRefusal(f"{place} is a session with {name} {held[name]!r}, not {value!r}: {_anew(place)}")
    return {**held, "path": told["path"]}


def _anew(place: Path) -> str:
    return f"name another file with --session to begin a new session, or delete {place}"


def _options(request: WorkbenchRequest, table: Table, costs: Any, *, skip: bool) -> dict[str, Any]:
    """The session options on the command line."""
    kept = rows_with_target(table.path, table.frame[str(request.target)], table.place, skip=skip)
    if kept is not None:
        note_left_out(int((~kept).sum()), len(kept))
    fit = fit_of(request)
    options: dict[str, Any] = {name: value for name, value in declared_columns(fit, table).items() if value}
    options |= own_settings(fit, request.task != "regression")
    given = {
        "task": {"classification": CLASSES, "regression": NUMBERS}.get(request.task), **request.columns.given_unseen,
        "held_out": request.held_out, "sealed": request.sealed, "random_state": request.seed or None,
        "cost": costs, "threshold": request.threshold, "positive": request.positive,
    }  # fmt: skip
    return options | {name: value for name, value in given.items() if value is not None}


def _new_session(
    table: Table, told: dict[str, Any], options: dict[str, Any], request: WorkbenchRequest
) -> tuple[Session, list[str]]:
    """A new session of the rows, empty or with the commands that make the tree of a model."""
    options = {**options, "who": request.who or ""}
    if request.model is None:
        return Session.of_table(table, told, options), []
    model = load_model(request.model)
    try:
        return Session.of_table(table, told, options, model), [NOTE_OF_MODEL]
    except TreewrightError as error:
        raise InputFileError(f"{request.model}: the model does not fit {table.path}: {error}") from None


def _continued_session(
    document: dict[str, Any], table: Table, told: dict[str, Any], options: dict[str, Any], request: WorkbenchRequest,
    place: Path,
) -> tuple[Session, list[str]]:  # fmt: skip
    """The session in a file, on the rows as they are now; options that are given again must be the same."""
    held = document.get("made_with")
    made_with: dict[str, Any] = held if isinstance(held, dict) else {}
    for name, value in options.items():
        settled = made_with.get(name)
        if settled != value:
            raise UsageRefusal(f"{place} is a session with {name} {settled!r}, not {value!r}: {_anew(place)}")
    try:
        session = Session.of_document(document, table, told, named=str(place), fitting=request.fitting)
    except TreewrightError as error:
        raise InputFileError(
            f"{place}: the session does not fit {told['path']}: {error}. Nothing was changed: give --fitting to keep "
            f"the commands before it, or {_anew(place)}"
        ) from None
    if request.who is not None:
        session.who = request.who
    notes = [NOTE_OF_ROWS] if session.rows_digest != document.get("rows") else []
    return session, [*notes, *([f"{session.misfit}; the commands before it are replayed"] if session.misfit else [])]
