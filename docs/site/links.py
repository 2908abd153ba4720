"""Whether every link of a built site leads somewhere, and nothing is loaded from elsewhere."""

from __future__ import annotations

import posixpath
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import html

LOADED = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
}


def drop_dead_backlinks(site: Path) -> None:
    """Take out of the pages of source code the links back to what the reference lists under another address.

    ``sphinx.ext.viewcode`` knows one address for each module, and a module here has public names and others.
    """
    anchors = {path: {*html.parse(str(path)).xpath("//@id")} for path in (site / "reference" / "api").glob("*.html")}
    for path in (site / "_modules").rglob("*.html"):
        tree = html.parse(str(path))
        for link in tree.xpath("//a[contains(@class, 'viewcode-back')]"):
            address, _, anchor = link.get("href").partition("#")
            if anchor not in anchors.get((path.parent / address).resolve(), set()):
                link.drop_tree()
        tree.write(str(path), encoding="utf-8", method="html", doctype="<!DOCTYPE html>")


def faults_of(site: Path) -> list[str]:
    """Links, anchors and loaded addresses that are wrong, a line each.

    Parameters
    ----------
    site : Path
        Folder of HTML files.
    """
    pages = [
        path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    ]  # the theme's own macros lie there
    trees = {path.relative_to(site).as_posix(): html.parse(str(path)).getroot() for path in pages}
    anchors = {name: {*tree.xpath("//@id"), *tree.xpath("//a/@name")} for name, tree in trees.items()}
    faults = []
    for name, tree in trees.items():
        for element in tree.iter("a", *LOADED):
            attribute = LOADED.get(element.tag, "href")
            address = element.get(attribute)
            if address is None or address.startswith(("data:", "mailto:", "javascript:")):
                continue
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if element.tag != "a" and element.get("rel") != "canonical":
                    faults.append(f"{name}: <{element.tag}> loads {address}")
                elif parts.scheme not in ("http", "https") or not parts.netloc:
                    faults.append(f"{name}: no address of the web {address}")
                continue
            target = (
                posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path))) if parts.path else name
            )
            if target.startswith(("/", "..")) or not (site / target).is_file():
                faults.append(f"{name}: no file {address}")
            elif parts.fragment and target in anchors and unquote(parts.fragment) not in anchors[target]:
                faults.append(f"{name}: no anchor {address}")
    return faults
