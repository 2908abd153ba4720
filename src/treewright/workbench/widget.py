"""The screen as one ES module, and a session as a widget of a notebook.

The module, for the page of the server and for notebooks alike, is the scripts that draw the tree of a report
(``show.page``) and those of ``assets``, in this order inside one function. It takes names such as ``document`` from
the given window: a notebook gives that of a frame, so that styles and keys of the notebook and of the screen do not
mix.

Requests come as messages and are answered by a thread, so that long work can be stopped. A saved notebook keeps a
still: the tree as a page, which every command renews and the live widget hides.
"""

from __future__ import annotations

import json
import threading
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from treewright.exceptions import MissingLibraryError
from treewright.show.page.render import COMMENT, asset, style_text, without_remarks
from treewright.show.page.tree import tree_frame
from treewright.workbench.screen import Desk

OF_PAGES = (
    "dom", "numbers", "chart_axes", "layout", "tree_model", "tree_asked", "tree_cards", "tree_panel", "tree_view",
    "tree_map", "tree_drawing", "search", "tree",
)  # fmt: skip
OWN = ("tree_again", "question", "node_pane", "log_pane", "workbench")
# What scripts take from the window.
FROM_WINDOW = (
    "document", "getComputedStyle", "matchMedia", "requestAnimationFrame", "cancelAnimationFrame", "ResizeObserver",
    "addEventListener", "setTimeout", "clearTimeout", "devicePixelRatio",
)  # fmt: skip


@cache
def module_text() -> str:
    """The module: ``open(window, link)`` starts a screen, anywidget calls ``render``."""
    scripts = [own_asset("state.js"), *(asset("scripts", f"{name}.js") for name in OF_PAGES)]
    scripts += [own_asset(f"{name}.js") for name in OWN]
    inside = "\n".join(map(without_remarks, scripts))
    return (
        f"const STYLE = {json.dumps(style())};\n"
        f'export function open(window, link) {{\n"use strict";\nconst {{ {", ".join(FROM_WINDOW)} }} = window;\n'
        f"{inside}\nreturn workbench.start(link, STYLE);\n}}\n{without_remarks(own_asset('widget.js'))}\n"
    )


def style() -> str:
    """The styles of the tree of a report, and the screen's own."""
    return style_text(("base", "tree")) + without_remarks(COMMENT.sub("", own_asset("workbench.css")))


def own_asset(name: str) -> str:
    """The text of a file of the workbench."""
    return files("treewright.workbench").joinpath("assets", name).read_text(encoding="utf-8")


def page_text(title: str) -> tuple[str, str]:
    """The page of the server, and the script that it starts with."""
    starter = 'import { link, open } from "./workbench.js"; open(window, link(window));'
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title or 'Treewright workbench')}</title></head><body>"
        f'<noscript>The workbench needs scripts.</noscript><script type="module">{starter}</script></body></html>'
    )
    return text, starter


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
