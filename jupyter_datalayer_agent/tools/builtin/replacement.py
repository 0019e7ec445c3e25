"""Parts of a source and their replacements, as the tools for cells and for blocks take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from ...notebook.dataflow.ipython_source import NotPython, parse_cell
from ...protocol.base import Wire
from ...protocol.code_text import unfenced
from ...protocol.line_ends import line_feeds
from ..context import ToolFailure


class Replacement(Wire):
    """One part of a source and its replacement."""

    old_string: str = Field(min_length=1)
    new_string: str
    replace_all: bool = False


def replaced(source: str, edits: Sequence[Replacement], where: str, output: dict[str, Any]) -> str:
    """The source with the replacements. Raises ``ToolFailure``, with ``output``, for a part that is
    not there exactly once. Line ends are not the model's to know: those of the result are line
    feeds."""
    source = line_feeds(source)
    for edit in edits:
        old, new = line_feeds(edit.old_string), line_feeds(edit.new_string)
        count = source.count(old)
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
        source = source.replace(old, new)
    return source


def replaced_in_code(
    source: str,
    edits: Sequence[Replacement],
    where: str,
    output: dict[str, Any],
    language: str | None,
) -> str:
    """``replaced`` for the source of a code cell in ``language`` (None: not known): new parts lose
    the Markdown fence around them, but not one that belongs to a text within the code."""
    given = replaced(source, edits, where, output)
    plain = [
        edit
        if unfenced(edit.old_string)[0] != edit.old_string
        else edit.model_copy(update={"new_string": unfenced(edit.new_string)[0]})
        for edit in edits
    ]
    if plain == list(edits):
        return given
    without = replaced(source, plain, where, output)
    if (language or "python").lower() not in ("python", "ipython"):
        return without
    return without if not _is_python(given) and _is_python(without) else given


def _is_python(source: str) -> bool:
    try:
        parse_cell(source)
    except (SyntaxError, NotPython):
        return False
    return True
