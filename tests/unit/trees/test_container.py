"""The strict JSON of the model file, and how deep a text is nested without reading it."""

from __future__ import annotations

import pytest

from treewright.exceptions import ModelFileError
from treewright.trees.container import nesting, strict_json


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        (b"", 0),
        (b"{}", 1),
        (b'{"a":[1,{"b":2}]}', 3),
        (b'{"[[[[":"]]{{"}', 1),
        (rb'{"a\"[[[":["\\"]}', 2),
        (b'{"never ends [[[[', 1),
        (b'{"never ends \\', 1),
        (b"]]]]{", 0),
        (b"[" * 10**6, 10**6),
    ],
)
def test_brackets_outside_of_strings_are_counted(text: bytes, depth: int) -> None:
    assert nesting(text) == depth


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"a":1,"a":2}', "a key occurs twice"),
        (b'{"b":{"a":1,"a":1}}', "a key occurs twice"),
        (b'{"a":NaN}', "NaN is not JSON"),
        (b'{"a":-Infinity}', "-Infinity is not JSON"),
        (b'{"a":1e999}', "a number is beyond float64"),
        (b'{"a":' + b"7" * 4301 + b"}", "more than 4300 digits"),
        (b'{"a":"\xff"}', "not valid JSON"),
        (b"[]", "not a JSON object"),
        (b'{"a":1}x', "not valid JSON"),
        (b'{"a":' + b"[" * 128 + b"]" * 128 + b"}", "nested more than 128 deep"),
    ],
)
def test_what_is_not_strict_json_is_refused(text: bytes, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        strict_json(text, "header")


def test_strict_json_reads_what_json_can_say() -> None:
    text = b'{"a":[1,-2.5,true,null,"\\ud800"],"b":' + b"[" * 127 + b"]" * 127 + b"}"

    found = strict_json(text, "header")

    assert found["a"] == [1, -2.5, True, None, "\ud800"]
