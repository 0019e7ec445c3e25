"""nbformat outputs as text for a model, with the pictures apart."""

from __future__ import annotations

import base64
import binascii
import html
import re
import struct
from collections.abc import Sequence
from typing import Any

from .registry import Image

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_TAG = re.compile(r"<[^>]*>")
_TEXT_MIMES = ("text/plain", "text/markdown", "text/latex", "application/json")


def plain(text: str) -> str:
    """Without terminal colours."""
    return _ANSI.sub("", text)


def text_of(value: Any) -> str:
    """A MIME value: nbformat allows a string or a list of lines."""
    if isinstance(value, list):
        return "".join(str(line) for line in value)
    return value if isinstance(value, str) else str(value)


def render_outputs(outputs: Sequence[dict[str, Any]]) -> tuple[str, list[Image]]:
    """One text for all outputs of a cell, in order, and the pictures among them."""
    images: list[Image] = []
    parts = [_render_one(output, images) for output in outputs]
    return "\n".join(part.rstrip("\n") for part in parts if part), images


def _render_one(output: dict[str, Any], images: list[Image]) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        text = plain(text_of(output.get("text", "")))
        return f"[stderr] {text}" if output.get("name") == "stderr" else text
    if kind == "error":
        trace = plain("\n".join(output.get("traceback") or []))
        last = f"{output.get('ename')}: {output.get('evalue')}"
        return trace if last in trace else f"{trace}\n{last}".strip()
    data = output.get("data") or {}
    for mime in ("image/png", "image/jpeg", "image/gif", "image/webp"):
        if mime in data:
            return _picture(mime, text_of(data[mime]), text_of(data.get("text/plain", "")), images)
    for mime in _TEXT_MIMES:
        if mime in data:
            return plain(text_of(data[mime]))
    if "text/html" in data:
        return html.unescape(_TAG.sub(" ", text_of(data["text/html"]))).strip()
    return f"[output of type {', '.join(sorted(data)) or 'none'}]"


def _picture(mime: str, data: str, alternative: str, images: list[Image]) -> str:
    width, height = png_size(data) if mime == "image/png" else (None, None)
    images.append(Image(mime=mime, data="".join(data.split()), width=width, height=height))
    size = f" {width}x{height}" if width else ""
    return f"[picture {len(images)}: {mime}{size}{' ' + alternative if alternative else ''}]"


def png_size(data: str) -> tuple[int | None, int | None]:
    """Width and height in pixels out of a PNG's header, or (None, None)."""
    try:
        head = base64.b64decode(data[:44].encode("ascii"))
        if head[:8] != b"\x89PNG\r\n\x1a\n":
            return None, None
        width, height = struct.unpack(">II", head[16:24])
    except (binascii.Error, struct.error, UnicodeEncodeError):
        return None, None
    return width, height


def first_line(source: str) -> str:
    """The first line of a cell that says something, cut to 60 characters: its name for people."""
    for line in source.splitlines():
        if line.strip():
            return line.strip()[:60]
    return "(empty)"
