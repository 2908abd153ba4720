"""Exercises: a paragraph that begins with **Exercise**, and below it the code whose output is the answer.

On the site the code and its output fold away behind "Show the answer", and a field takes the reader's answer, which the
page compares with what the library printed (``static/site.js``): the tests hold the page to that output.
"""

from __future__ import annotations

import html
from typing import Any

from docutils import nodes


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("doctree-read", fold_answers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def fold_answers(app: Any, doctree: nodes.document) -> None:
    """Fold the answer of every exercise of a page."""
    found = [each for each in doctree.findall(nodes.paragraph) if is_exercise(each)]
    if not found and any(each.astext() == "Exercises" for each in doctree.findall(nodes.title)):
        raise ValueError(f"{app.env.docname}: no paragraph below the heading Exercises begins with **Exercise**")
    for number, paragraph in enumerate(found, 1):
        parent, answer = paragraph.parent, []
        at = parent.index(paragraph) + 1
        while at < len(parent) and isinstance(parent[at], nodes.literal_block) and len(answer) < 2:
            answer.append(parent[at])
            parent.remove(parent[at])
        if not answer:
            what = f"{app.env.docname}: no code with the answer stands below the exercise {paragraph.astext()[:60]!r}"
            raise ValueError(what)
        printed = answer[-1].astext().strip() if answer[-1]["language"] == "text" else ""
        if not printed or "\n" in printed:
            raise ValueError(f"{app.env.docname}: {paragraph.astext()[:60]!r} needs an answer of one line")
        field = field_of(printed, number)
        box = nodes.container(classes=["exercise"])
        parent.insert(parent.index(paragraph), box)
        parent.remove(paragraph)
        box += paragraph
        box += raw(f"{field}<details><summary>Show the answer</summary>")
        box.extend(answer)
        box += raw("</details>")


def is_exercise(paragraph: nodes.paragraph) -> bool:
    """Whether a paragraph begins with bold words of which the first is "Exercise"."""
    first = next((each for each in paragraph.children if each.astext()), None)  # MyST begins with an empty text
    return isinstance(first, nodes.strong) and first.astext().startswith("Exercise")


def field_of(answer: str, number: int) -> str:
    """A form for one answer."""
    return (
        f'<form class="exercise-form" data-answer="{html.escape(answer)}">'
        f'<label for="answer-{number}">Your answer</label> '
        f'<input id="answer-{number}" type="text" autocomplete="off" spellcheck="false"> '
        '<button type="submit">Check</button> <output role="status"></output></form>'
    )


def raw(text: str) -> nodes.raw:
    """HTML as it is."""
    return nodes.raw("", text, format="html")
