"""How values become SQLite text, and back."""

from __future__ import annotations

import json
import zlib
from typing import Any

from pydantic import BaseModel


def to_json(value: Any) -> str:
    """Compact JSON that SQLite can keep.

    A model's stream may cut an emoji in two, and half of one is no valid UTF-8. Such text is kept
    as ``\\ud83d`` escapes, so that the halves are whole again once they stand side by side.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def as_given(model: BaseModel) -> dict[str, Any]:
    """The fields that were given, an explicit null too, where that differs from none given."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def from_json(text: str | None) -> Any:
    """The value that ``to_json`` was given; None for a NULL column."""
    return None if text is None else json.loads(text)


def packed(value: Any) -> bytes:
    """A JSON value, compressed."""
    return zlib.compress(to_json(value).encode(), 3)


def unpacked(data: bytes | None) -> Any:
    """The value that ``packed`` was given; None for a NULL column."""
    return None if data is None else json.loads(zlib.decompress(data))


def plain_text(text: str) -> str:
    """The text with halves of a character joined, and lone halves replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def like_pattern(query: str) -> str:
    r"""A LIKE pattern (escape character ``\``) for text that contains ``query`` as it is."""
    escaped = query.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{plain_text(escaped)}%"
