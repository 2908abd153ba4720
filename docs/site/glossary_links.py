"""The first use of a word on a page leads to the glossary; each word there can be linked to.

Only words that nobody knows from everyday life are linked: a page on which "row" and "test" are links is hard to read.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

PAGE = "glossary"
LINKED = (
    "adjusted p-value", "agreement", "alpha", "bin", "bootstrap sample", "calibration", "candidate", "cost-complexity",
    "counterfactual", "criterion", "early stopping", "entropy", "fidelity", "gain ratio", "gini", "impurity",
    "information gain", "instability", "kernel", "learning rate", "multiway test", "nominal", "ordinal", "out of bag",
    "partial dependence", "proximity", "schema", "split information", "standard error", "subtree raising", "surrogate",
    "surrogate tree", "threshold test", "trace", "unseen level", "weakest link",
)  # fmt: skip
SKIPPED = (nodes.reference, nodes.literal, nodes.title, nodes.literal_block, nodes.raw, nodes.strong)


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("doctree-read", name_words)
    app.connect("doctree-resolved", link_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def anchor_of(word: str) -> str:
    """The anchor of a word in the glossary."""
    return "word-" + re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")


def name_words(app: Any, doctree: nodes.document) -> None:
    """Give each row of the glossary's tables an anchor."""
    if app.env.docname != PAGE:
        return
    known: set[str] = set()
    for body in doctree.findall(nodes.tbody):
        for row in body.findall(nodes.row):
            anchor = anchor_of(row.children[0].astext())
            if anchor not in known:  # a word of two chapters: links lead to the first
                row.children[0]["ids"].append(anchor)
                known.add(anchor)


def words_of(doctree: nodes.document) -> set[str]:
    """The words that the glossary defines."""
    return {row.children[0].astext() for body in doctree.findall(nodes.tbody) for row in body.findall(nodes.row)}


def link_words(app: Any, doctree: nodes.document, docname: str) -> None:
    """Link the first use of each word in the running text of a page."""
    if docname == PAGE or docname.startswith(("reference/", "decisions/", "project/")):
        return
    defined = words_of(app.env.get_doctree(PAGE)) if PAGE in app.env.found_docs else set()
    words = [word for word in LINKED if word in defined]
    if not words:
        return
    target = app.builder.get_relative_uri(docname, PAGE)
    pattern = re.compile(
        r"\b(" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + r")(s|es)?\b", re.IGNORECASE
    )
    used: set[str] = set()
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if any(isinstance(each, nodes.entry) for each in ancestors(paragraph)):
            continue
        for text in list(paragraph.findall(nodes.Text)):
            if not any(isinstance(each, SKIPPED) for each in ancestors(text)):
                replace_first(text, pattern, used, target)


def ancestors(node: nodes.Node) -> list[nodes.Node]:
    """The nodes that a node lies in, nearest first."""
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def replace_first(text: nodes.Text, pattern: re.Pattern[str], used: set[str], target: str) -> None:
    """Put links in place of the words of a text that are new on the page."""
    pieces: list[nodes.Node] = []
    rest = 0
    whole = text.astext()
    for found in pattern.finditer(whole):
        word = found[1].lower()
        if word in used:
            continue
        used.add(word)
        pieces.append(nodes.Text(whole[rest : found.start()]))
        link = nodes.reference("", found[0], refuri=f"{target}#{anchor_of(word)}", internal=True, classes=["glossary"])
        pieces.append(link)
        rest = found.end()
    if pieces:
        pieces.append(nodes.Text(whole[rest:]))
        text.parent.replace(text, pieces)
