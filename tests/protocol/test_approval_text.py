"""What is asked about, as text: whole, and with nothing that hides."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_datalayer_agent.protocol.approval_text import approval_parts, visible


def shown(**event: Any) -> str:
    return "\n".join(map(str, approval_parts(event)))


def test_every_change_is_shown_with_the_lines_around_it() -> None:
    change = {"path": "a.ipynb", "op": "update", "index": 1, "before": "1\n2\n3\n4\n5\n6"}
    text = shown(changes=[{**change, "after": "1\n2\n3\n4\nfive\n6"}])
    assert text == "Cell 2 of a.ipynb (changed):\n  2\n  3\n  4\n- 5\n+ five\n  6"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"op": "insert", "after": "a\nb"}, "a.ipynb (new):\n+ a\n+ b"),
        ({"op": "delete", "before": "a", "index": 0}, "Cell 1 of a.ipynb (deleted):\n- a"),
        ({"op": "update", "before": "", "after": "a"}, "a.ipynb (changed):\n- \n+ a"),
        ({"op": "update", "before": "a\na", "after": "a"}, "a.ipynb (changed):\n  a\n- a"),
    ],
)
def test_what_comes_and_goes_is_marked(change: dict[str, Any], text: str) -> None:
    assert shown(changes=[{"path": "a.ipynb", **change}]) == text


def test_arguments_are_shown_whole_where_nothing_else_is() -> None:
    text = shown(arguments={"code": "1 +\n1", "to": "x" * 5_000})
    assert text.startswith("1 +\n1\n{")
    assert "x" * 5_000 in text


def test_what_would_be_sent_is_shown_alone_and_a_running_act_by_its_reason() -> None:
    assert shown(share={"text": "1,2"}, arguments={"a": 1}) == "Would be sent:\n1,2"
    assert shown(act={"kind": "x"}, arguments={"code": "1"}) == ""


def test_characters_that_hide_others_are_named() -> None:
    assert visible("a\tb\nć 🙂") == "a\tb\nć 🙂"
    assert visible("a\x1b[2K\r\u202eb\u200b") == "a\\x1b[2K\\r\\u202eb\\u200b"
