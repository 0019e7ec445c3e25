"""Fenced blocks as CommonMark has them."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.protocol.fences import fences


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("", []),
        ("no block", []),
        ("```\na\n```", [("", "a\n", True)]),
        ("before\n```python\na\nb\n```\nafter", [("python", "a\nb\n", True)]),
        ("   ~~~ r \na\n  ~~~~  \n", [("r", "a\n", True)]),
        ("    ```\na\n    ```", []),
        ("``\na\n``", []),
        ("```a`b\nc", []),
        ("~~~a`b\nc\n~~~", [("a`b", "c\n", True)]),
        ("````\n```\na\n```\n````", [("", "```\na\n```\n", True)]),
        ("```\n~~~\n```", [("", "~~~\n", True)]),
        ("```\n``` b\n```", [("", "``` b\n", True)]),
        ("```\na", [("", "a", False)]),
        ("```", [("", "", False)]),
        ("```\n```\n```\nb", [("", "", True), ("", "b", False)]),
    ],
)
def test_blocks_of_a_text(text: str, blocks: list[tuple[str, str, bool]]) -> None:
    found = list(fences(text))
    assert [(each.info, each.code, each.is_closed) for each in found] == blocks
    for each in found:
        assert each.code in text[each.start : each.end]
