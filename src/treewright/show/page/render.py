"""A summary as one HTML file, and values as text for it.

The template, scripts and styles are the files of ``assets``; ``exchange`` writes the script of a model of many trees.
The page loads nothing: its policy allows only its own content, by digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.show.page.parts import Summary
from treewright.show.style import CLASS_COLORS, class_color
from treewright.trees.writing import written_amount

if TYPE_CHECKING:
    from jinja2 import Environment

GROUPED_FROM = 10_000  # from here on thousands are separated by commas


def plain(value: Any) -> Any:
    """A typed value as JSON types, with the names of the fields.

    ``nan`` is None, an infinite number the text ``"inf"`` or ``"-inf"``; every other number is exact.

    Examples
    --------
    >>> from treewright.show.page.parts import Fact
    >>> plain((Fact("rows", "150"), np.float64(0.5), float("inf")))
    [{'name': 'rows', 'value': '150'}, 0.5, 'inf']
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no plain form")


def json_for_script(value: Any) -> str:
    r"""A value as JSON that is safe in a script element: pure ASCII, no ``<``, ``>`` or ``&``.

    Examples
    --------
    >>> print(json_for_script({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(plain(value), allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def amount(value: float | str | None, digits: int = 4) -> str:
    """A number of a summary, written as in the scripts (``numbers.short``).

    Examples
    --------
    >>> amount(0.0533333), amount(12345.67), amount(None), amount("inf")
    ('0.05333', '12,346', '-', 'inf')
    """
    if value is None or isinstance(value, str):
        return value or "-"
    text = written_amount(value, digits=digits)
    return f"{int(text):,}" if text.removeprefix("-").isdigit() and abs(value) >= GROUPED_FROM else text


# In this order, inside one function: definitions come before their use.
SCRIPTS = (
    "dom", "state", "numbers", "chart_axes", "chart_bars", "chart", "route", "layout", "tree_model", "tree_asked",
    "tree_cards", "tree_panel", "tree_view", "tree_map", "tree_drawing", "search", "tree", "pruning",
    "change", "follow_fields", "follow_told", "follow", "quality", "dependence", "data", "contributions",
    "ensemble", "main",
)  # fmt: skip
# The scripts of the page of one tree, which a notebook holds once per cell.
TREE_SCRIPTS = (
    "dom", "state", "numbers", "layout", "tree_model", "tree_asked", "tree_cards", "tree_panel", "tree_view",
    "tree_map", "tree_drawing", "search", "tree", "main_tree",
)  # fmt: skip
TREE_STYLES = ("base", "tree", "print")
STYLES = ("base", "chart", "tree", "pruning", "follow", "quality", "data", "contributions", "ensemble", "print")
EXPLANATION_SCRIPTS = (
    "dom", "state", "numbers", "chart_axes", "route", "follow_told", "contributions", "main_contributions",
)  # fmt: skip
NEAR_OPTIMAL_STYLES = ("base", "near_optimal", "print")
# Styles and scripts of pages with one section, by template.
PARTS_OF = {
    "tree": (TREE_STYLES, TREE_SCRIPTS),
    "explanation": (("base", "chart", "contributions", "print"), EXPLANATION_SCRIPTS),
    "near_optimal": (NEAR_OPTIMAL_STYLES, ()),
}
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)  # of a style; no text of one holds a comment
N_COLORS = 3 * len(CLASS_COLORS)


def render(summary: Summary | dict[str, Any], *, template: str = "report", code: str = "") -> str:
    """The page of a summary, a whole HTML document, ASCII except for texts that the template writes.

    The template "tree" shows the tree alone, for a frame in a notebook, "explanation" contributions alone;
    "near_optimal", without scripts, has a summary of its own (``learn.near_optimal``). For many trees, ``code`` is a
    script that defines ``model``, with which the page predicts a row by all of them.
    """
    styles, scripts = PARTS_OF.get(template, (STYLES, SCRIPTS))
    style, script = style_text(styles), script_text(scripts) if scripts else ""
    allowed = " ".join(f"'{digest_of(each)}'" for each in (code, script) if each) or "'none'"
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src '{digest_of(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        environment()
        .get_template(f"{template}.html.j2")
        .render(
            summary=plain(summary), policy=policy, style=style, script=script, code=code, data=json_for_script(summary)
        )
    )


@cache
def script_text(names: tuple[str, ...] = SCRIPTS) -> str:
    """Return scripts inside one function, without comments and indentation: pages should be small."""
    parts = [without_remarks(asset("scripts", f"{name}.js")) for name in names]
    return '\n(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"


@cache
def style_text(names: tuple[str, ...] = STYLES) -> str:
    """Return styles without comments and indentation, the colours of the classes first."""
    colors = "".join(f"--class-{at}:{class_color(at)};" for at in range(N_COLORS))
    text = COMMENT.sub("", "\n".join(asset("styles", f"{name}.css") for name in names))
    return "\n:root{" + colors + "}\n" + without_remarks(text) + "\n"


def without_remarks(text: str) -> str:
    r"""Return a script without lines that are comments, blank lines, and indentation.

    A line is a comment by its beginning, so no text of a script may run over several lines; a test checks that.

    Examples
    --------
    >>> without_remarks("// why\n  const a = 1; // here\n\n")
    'const a = 1; // here'
    """
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def asset(folder: str, name: str) -> str:
    """Return the text of a file of the package."""
    return files("treewright.show.page").joinpath("assets", folder, name).read_text(encoding="utf-8")


def digest_of(text: str) -> str:
    """Return the digest of an inline element for a content-security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def environment() -> Environment:
    """Return the templates; all that they write is escaped unless marked as safe."""
    from jinja2 import DictLoader, StrictUndefined
    from jinja2 import Environment as Templates

    held: dict[str, Any] = {}
    folder = files("treewright.show.page").joinpath("assets", "templates")
    for entry in folder.iterdir():
        if entry.name.endswith(".j2"):
            held[entry.name] = entry.read_text(encoding="utf-8")
    made = Templates(
        loader=DictLoader(held), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters["amount"] = amount
    return made
