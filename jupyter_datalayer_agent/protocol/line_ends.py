"""Line ends: models may write any, cells of a notebook have line feeds."""

from __future__ import annotations


def line_feeds(text: str) -> str:
    """The text with a line feed at the end of each line."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")
