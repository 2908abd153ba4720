"""The screen as one ES module, for the page of the server and for notebooks alike.

The module is the scripts that draw the tree of a report (``show.page``) and those of ``assets``, in this order inside
one function. It takes names such as ``document`` from the given window: a notebook gives that of a frame, so that
styles and keys of the notebook and of the screen do not mix.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape
from importlib.resources import files

from treewright.show.page.render import COMMENT, asset, style_text, without_remarks

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
