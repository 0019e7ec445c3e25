"""Pictures in items of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

LEFT_OUT = "[a picture]"


def is_picture(part: Any) -> bool:
    """Whether a part of an item's content is a picture."""
    return isinstance(part, Mapping) and part.get("type") == "input_image"


def pictures_in(item: Mapping[str, Any]) -> int:
    """How many pictures an item shows."""
    content = item.get("content")
    return sum(map(is_picture, content)) if isinstance(content, list) else 0


def names_of_pictures(items: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The pictures that items show, by their address, each with the line before it."""
    names: dict[str, str] = {}
    for item in items:
        name = ""
        for part in item["content"] if pictures_in(item) else ():
            if is_picture(part):
                names[part["image_url"]] = name
            else:
                name = str(part.get("text", "")).rpartition("\n")[2].rstrip(":")
    return names


def without_pictures(item: Mapping[str, Any]) -> dict[str, Any]:
    """The item with text in place of pictures."""
    if not pictures_in(item):
        return dict(item)
    text = {"type": "input_text", "text": LEFT_OUT}
    return {**item, "content": [text if is_picture(part) else part for part in item["content"]]}
