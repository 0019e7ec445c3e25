"""What an MCP server answered to a call, as the outcome of our tool."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...protocol.sharing import ShareKind
from ..context import ToolFailure
from ..data_rows import looks_like_rows
from ..mime_text import plain
from ..outputs import OUTPUTS, ROW_DATA
from ..pictures import size_of
from ..redaction import Part, PrivateValue, text
from ..registry import Image, ToolOutcome
from .guard import TEXT, TOO_LARGE, cut_text
from .listed import visible
from .sdk import SdkError

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MOST_PICTURES = 8


def outcome(result: Mapping[str, Any], what: str, server: str) -> ToolOutcome:
    """The outcome of a call. Raises ``ToolFailure`` where the server reports an error.

    Its output is the text, or where there is also structured content both. It counts as output, and
    as rows of data where it looks like some, for the settings of what may go to the model."""
    images: list[Image] = []
    said = cut_text(plain("\n".join(_parts(result.get("content") or [], images))), TEXT)
    kinds: frozenset[ShareKind] = OUTPUTS | ROW_DATA if looks_like_rows(said) else OUTPUTS
    shown = text(Part(said, kinds, f"answer of {len(said):,} characters"))
    structured = _bounded(result.get("structuredContent"))
    data = None if structured is None else PrivateValue(structured, OUTPUTS | ROW_DATA, "data")
    if result.get("isError"):
        raise ToolFailure(
            "server_error",
            shown or f"{server} reported an error without a message.",
            f"The MCP server {server} reported this. Correct the call, or go on without it.",
            summary=text(f"{what} failed: ", Part(visible(said, 200), kinds, "its message")),
            output=data,
            images=images,
        )
    output: Any = shown
    if data is not None:
        # Servers repeat it as text, for clients that know no structured content.
        output = data if _is_same(said, structured) else {"text": shown, "data": data}
    return ToolOutcome(output, f"Used {what}", images=images)


def failure(error: SdkError, what: str, server: str) -> ToolFailure:
    """The failure of a call that the server did not carry out."""
    message = visible(error.message, 2_000)
    if error.code == TOO_LARGE:
        hint = "Ask for less: a part, a filter, a smaller limit."
        return ToolFailure("too_large", message, hint, summary=f"{what} failed: {message}")
    return ToolFailure(
        "invalid_arguments" if error.code == -32602 else "server_error",
        f"{server} answered with an error: {message}",
        "Correct the call, or go on without this tool.",
        summary=f"{what} failed: {visible(message, 200)}",
    )


def _parts(content: Any, images: list[Image]) -> Iterator[str]:
    """The parts as texts; pictures are added to ``images``."""
    for part in content if isinstance(content, list) else []:
        kind = part.get("type")
        if kind == "text":
            yield str(part.get("text", ""))
        elif kind in ("image", "audio"):
            yield _data(str(part.get("mimeType", kind)), str(part.get("data", "")), images)
        elif kind == "resource":
            yield _resource(part.get("resource") or {}, images)
        elif kind == "resource_link":
            about = [str(part[key]) for key in ("name", "uri", "description") if part.get(key)]
            yield f"[link: {visible(' · '.join(about), 1_000)}]"
        else:
            yield f"[part of type {visible(str(kind), 40)}]"


def _resource(resource: Mapping[str, Any], images: list[Image]) -> str:
    address = visible(str(resource.get("uri", "")), 500)
    if isinstance(resource.get("text"), str):
        return f"[{address}]\n{resource['text']}"
    mime = str(resource.get("mimeType", "binary"))
    return f"[{address}] {_data(mime, str(resource.get('blob', '')), images)}"


def _data(mime: str, data: str, images: list[Image]) -> str:
    mime = visible(mime.partition(";")[0].lower(), 60)
    if mime not in PICTURES:
        return f"[{mime}, {len(data) * 3 // 4:,} bytes, not shown]"
    if len(images) >= MOST_PICTURES:
        return f"[{mime}, {len(data) * 3 // 4:,} bytes, left out]"
    width, height = size_of(data)
    images.append(Image(mime=mime, data=data, width=width, height=height))
    return f"[picture {len(images)}: {mime}{f' {width}x{height}' if width else ''}]"


def _bounded(structured: Any) -> Any:
    if structured is None or len(text := json.dumps(structured)) <= TEXT:
        return structured
    return cut_text(text, TEXT)


def _is_same(text: str, structured: Any) -> bool:
    if not text.strip():
        return True
    try:
        return bool(json.loads(text) == structured)
    except (ValueError, RecursionError):
        return False
