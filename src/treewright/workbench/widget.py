"""A session as a widget of a notebook: the same module as the page of the server, by anywidget.

Requests come as messages and are answered by a thread, so that long work can be stopped. A saved notebook keeps a
still: the tree as a page, which every command renews and the live widget hides.
"""

from __future__ import annotations

import threading
from typing import Any

from treewright.exceptions import MissingLibraryError
from treewright.show.page.tree import tree_frame
from treewright.workbench.module import module_text
from treewright.workbench.screen import Desk

STILL = "treewright-still"  # the class of the still, as widget.js names it


def widget_of(desk: Desk, height: int) -> Any:
    """The widget of a desk.

    Raises
    ------
    MissingLibraryError
        anywidget is not installed.
    """
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise MissingLibraryError(
            "the workbench in a notebook needs anywidget: pip install 'treewright[widget]'", name=error.name
        ) from None

    class Workbench(anywidget.AnyWidget):
        """A session on the screen."""

        _esm = module_text()
        state = traitlets.Dict().tag(sync=True)
        height = traitlets.Int().tag(sync=True)

        def _repr_mimebundle_(self, **options: Any) -> Any:
            bundle = super()._repr_mimebundle_(**options)
            stills.show()
            return bundle

    shown = Workbench(state=desk.state()["state"], height=height)
    stills = _Stills(desk)

    def answer(identity: Any, request: Any) -> None:
        shown.send({"id": identity, "answer": desk.ask(request)})

    def heard(_: Any, content: Any, __: Any) -> None:
        if not isinstance(content, dict):
            return
        told = content.get("id"), content.get("request")
        # Marimo takes messages only from its own threads.
        if type(shown.comm).__module__.partition(".")[0] == "marimo":
            answer(*told)
        else:
            threading.Thread(target=answer, args=told, daemon=True).start()

    def happened(message: dict[str, Any]) -> None:
        shown.send(message)
        if "revision" in message:
            stills.renew()

    shown.on_msg(heard)
    desk.listen(happened)
    return shown


class _Stills:
    """The outputs of cells that show the tree without a kernel."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.handles: list[Any] = []

    def show(self) -> None:
        """Put one under the current cell; does nothing outside IPython."""
        try:
            from IPython import get_ipython
            from IPython.display import display
        except ImportError:
            return
        if get_ipython() is not None:
            self.handles.append(display(_Html(self._text()), display_id=True))

    def renew(self) -> None:
        """Draw the tree again in each."""
        for handle in self.handles:
            if handle is not None:
                handle.update(_Html(self._text()))

    def _text(self) -> str:
        log = len(self.desk.session.log)
        title = f"{self.desk.title or 'Workbench'}: the tree after {log} command{'s' * (log != 1)}"
        return f'<div class="{STILL}">{tree_frame(self.desk.session.model, title=title)}</div>'


class _Html:
    """HTML that a notebook shows."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_html_(self) -> str:
        return self.text
