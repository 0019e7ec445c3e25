"""Converts values to what SQLite stores, and back."""

from __future__ import annotations

import json
import zlib
from typing import Any

from pydantic import BaseModel

from ..protocol.json_text import plain_text, to_json

__all__ = [
    "as_given",
    "from_json",
    "like_pattern",
    "packed",
    "plain_text",
    "to_json",
    "unpacked",
]


def as_given(model: BaseModel) -> dict[str, Any]:
    """The fields that were set, including those set to null."""
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


def like_pattern(query: str) -> str:
    r"""A LIKE pattern (escape character ``\``) for text that contains ``query`` as it is."""
    escaped = query.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{plain_text(escaped)}%"
