"""Objects that are JSON but for quotes, words and commas; nothing else is read."""

from __future__ import annotations

import time
from typing import Any

import pytest

from jupyter_datalayer_agent.protocol.json_text import relaxed_object


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            '{"a": "b", "c": [1, 2.5, -3e4, true, null]}',
            {"a": "b", "c": [1, 2.5, -3e4, True, None]},
        ),
        ("{'a': 'b', 'c': True, 'd': None}", {"a": "b", "c": True, "d": None}),
        ("""{'a': 'print("b")', 'c': 'it\\'s'}""", {"a": 'print("b")', "c": "it's"}),
        ('{"a": "b\nc\t", }', {"a": "b\nc\t"}),
        ('{"a": [1, 2,], "b": {"c": 1,},}', {"a": [1, 2], "b": {"c": 1}}),
        ("{a: 1, true: 2}", {"a": 1, "true": 2}),
        ('{"a": """print("b")\nc"""}', {"a": 'print("b")\nc'}),
        ('{"a": "True, None, \'b\', {c: 1,}"}', {"a": "True, None, 'b', {c: 1,}"}),
        ("{'a': '\\u00e9\\n🙂 🇫🇷'}", {"a": "é\n🙂 🇫🇷"}),
        ("{}", {}),
    ],
)
def test_what_has_one_meaning_is_read(text: str, value: dict[str, Any]) -> None:
    assert relaxed_object(text) == (value, len(text))
    assert relaxed_object(f"x{text} y", 1) == (value, len(text) + 1)


def test_strings_may_have_a_mark_of_their_own() -> None:
    text = '{a:<|"|>print("b\\n")<|"|>,c:[<|"|>d<|"|>,1],e:true}'
    value = {"a": 'print("b\\n")', "c": ["d", 1], "e": True}
    assert relaxed_object(text, quote='<|"|>') == (value, len(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]",
        "x",
        # Cut off, wherever it is.
        '{"a": "print(1',
        '{"a": "d = {1: 2}',
        '{"a": "b"',
        '{"a": ["b"}',
        '{"a": "b", "c"}',
        # Which of the quotes ends the string cannot be known.
        '{"a": "print("b")"}',
        '{"a": "x = "b", "c": 1}',
        "{'a': 'it's'}",
        '{"a": "b" "c": 1}',
        '{"a": b}',
        '{"a": r"C:\\new"}',
        '{"a": "\\d+"}',
        '{"a": 01}',
        '{"a": NaN}',
        '{"a": 1, // one\n"b": 2}',
        "{,}",
        '{"a": [1,,]}',
        '{"a":: 1}',
        # Two parts are not one.
        '{"a": 1 2}',
        '{"a": 1\n2}',
        '{"a": 1 e5}',
        '{"a": tr ue}',
        # Which of the two counts, and what the escape means.
        "{\"a\": 1, 'a': 2}",
        '{"a": {"b": 1, b: 2}}',
        "{'a': 'b\\/c'}",
        '{"a": """b\\/c"""}',
    ],
)
def test_what_would_have_to_be_guessed_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        relaxed_object(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 200_000,
        "{'a': '" + "\"'" * 400_000,
        '{"a": [' + "1," * 400_000,
        "{" + "a " * 400_000,
        '{"' + '\\"' * 400_000,
    ],
)
def test_hostile_text_ends_soon(text: str) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match=r"\w"):
        relaxed_object(text)
    assert time.process_time() - began < 1
