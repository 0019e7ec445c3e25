"""JSON from outside: what is taken, what is refused, and how that is said."""

from __future__ import annotations

import json

import pytest

from jupyter_datalayer_agent.protocol.json_text import MAX_DEPTH, parse_json, to_json


def nested(depth: int, inner: str = "") -> str:
    return "[" * depth + inner + "]" * depth


def test_what_any_json_parser_takes_is_taken() -> None:
    text = '{"a": [1, 2.5, true, null, "é\\ud83d\\ude97"], "b": {}}'
    assert parse_json(text) == json.loads(text)
    assert parse_json(text.encode()) == json.loads(text)
    # Beside each other there may be as many as there are.
    assert parse_json("[" + ",".join(["[]"] * 1000) + "]") == [[]] * 1000


def test_of_a_key_that_comes_twice_the_last_value_counts() -> None:
    assert parse_json('{"path": "a", "path": "b"}') == {"path": "b"}


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 500, 5_000, 100_000])
@pytest.mark.parametrize("form", ["list", "object"])
def test_what_is_nested_too_deep_is_refused(depth: int, form: str) -> None:
    text = nested(depth) if form == "list" else '{"a":' * depth + "1" + "}" * depth
    with pytest.raises(ValueError, match="nested more than 200 deep"):
        parse_json(text)


def test_what_is_nested_so_deep_as_is_allowed_is_taken_whole() -> None:
    assert to_json(parse_json(nested(MAX_DEPTH))) == nested(MAX_DEPTH)
    assert to_json(parse_json(nested(MAX_DEPTH, '"\\ud83d"'))) == nested(MAX_DEPTH, '"\ufffd"')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1" * 5_000, "too many digits"),
        ("NaN", "NaN is no JSON"),
        ('{"a": -Infinity}', "-Infinity is no JSON"),
        ('{"a": ', "line 1 column 7"),
        ("", "Expecting value"),
    ],
)
def test_what_is_wrong_is_reported(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        parse_json(text)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        parse_json(b"\xff\xfe{")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"car \\ud83d"', "car \ufffd"),
        ('{"\\uDE97": ["\\ud83d\\ude97", {"a": "\\ude97"}]}', {"\ufffd": ["🚗", {"a": "\ufffd"}]}),
        # As a stream may leave them: two halves, each a character of its own to Python.
        ('"\ud83d\ude97"', "🚗"),
        # An escaped backslash, and no half.
        ('"\\\\ud83d"', "\\ud83d"),
    ],
)
def test_halves_of_a_character_are_joined_or_replaced(text: str, value: object) -> None:
    assert parse_json(text) == value
    assert to_json(parse_json(text)).encode()


def test_what_is_written_can_always_be_encoded() -> None:
    assert to_json({"a": "é"}) == '{"a":"é"}'
    assert json.loads(to_json("car \ud83d").encode()) == "car \ud83d"
