"""Parts of a source and their replacements, as the tools for cells and for blocks take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from ...protocol.base import Wire
from ..context import ToolFailure


class Replacement(Wire):
    """One part of a source and its replacement."""

    old_string: str = Field(min_length=1)
    new_string: str
    replace_all: bool = False


def replaced(source: str, edits: Sequence[Replacement], where: str, output: dict[str, Any]) -> str:
    """The source with the replacements. Raises ``ToolFailure``, with ``output``, for a part that is
    not there exactly once."""
    for edit in edits:
        count = source.count(edit.old_string)
        if count == 0:
            raise ToolFailure(
                "invalid_arguments",
                f"oldString {edit.old_string[:80]!r} does not occur in {where}.",
                "Copy it exactly, white space included, from the source in output.",
                output=output,
            )
        if count > 1 and not edit.replace_all:
            raise ToolFailure(
                "invalid_arguments",
                f"oldString {edit.old_string[:80]!r} occurs {count} times in {where}.",
                "Give more of the text around it, or replaceAll.",
            )
        source = source.replace(edit.old_string, edit.new_string)
    return source
