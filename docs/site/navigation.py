"""The navigation is what index pages list: there is no second list.

A page named ``index`` or ``README`` gets, unseen, a toctree of the pages that it links to in its own folder and
below, in the order of the links and under their words; a section with a heading of its own becomes a caption. A
folder with an index of its own is one entry.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from page_programs import FENCED, LINK


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("source-read", add_toctrees)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def add_toctrees(app: Any, docname: str, source: list[str]) -> None:
    """Append the toctrees to an index page."""
    if posixpath.basename(docname) in ("index", "README"):
        source[0] += toctrees_of(Path(app.srcdir), docname, source[0])


def toctrees_of(root: Path, docname: str, text: str) -> str:
    """The hidden toctrees of an index page, as MyST writes them."""
    folder = posixpath.dirname(docname)
    known, written = {docname}, []
    for heading, body in sections_of(FENCED.sub("", text)):
        names = []
        for words, link in LINK.findall(heading + body):
            page, is_page, _ = link.partition("#")[0].rpartition(".md")
            name = posixpath.normpath(posixpath.join(folder, page))
            if is_page and name not in known and belongs(root, folder, name):
                known.add(name)
                title = re.sub(r"[`*]|\s+", " ", words).strip()
                title = title if "." in title else f"{title[0].upper()}{title[1:]}"  # a dotted name stays as it is
                names.append(f"{title} </{name}>")
        if names:
            plain = re.sub(r"\[(.+?)\]\(.*?\)", r"\1", heading)
            caption = f":caption: {plain}\n" if plain and len(names) > 1 and folder else ""
            written.append("\n\n```{toctree}\n:hidden:\n" + caption + "\n" + "\n".join(names) + "\n```\n")
    return "".join(written)


def sections_of(text: str) -> list[tuple[str, str]]:
    """Pairs of a heading of the second level and what follows it; the first heading is empty."""
    pieces = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return [("", pieces[0]), *zip(pieces[1::2], pieces[2::2], strict=True)]


def belongs(root: Path, folder: str, name: str) -> bool:
    """Whether a page lies below the folder, and no folder between has an index of its own."""
    if folder and not name.startswith(folder + "/"):
        return False
    if name.startswith("..") or not (root / f"{name}.md").exists():
        return False
    between = posixpath.dirname(name)
    if posixpath.basename(name) in ("index", "README"):
        between = posixpath.dirname(between)
    while between != folder:
        if any((root / between / each).exists() for each in ("index.md", "README.md")):
            return False
        between = posixpath.dirname(between)
    return True
