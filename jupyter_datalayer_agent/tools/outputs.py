"""nbformat outputs as text for a model, with the pictures apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..protocol.cells import DEAD_KERNEL, CellRun
from ..protocol.tools import ShareKind, ToolErrorCode
from .data_rows import LOOKED_AT, is_table, looks_like_rows
from .mime_text import beside_picture, best_text, plain, text_of
from .pictures import size_of
from .redaction import Part, PrivateText, text
from .registry import Image
from .tracebacks import shortened, useful_part, where

OUTPUTS: frozenset[ShareKind] = frozenset(["outputs"])
ROW_DATA: frozenset[ShareKind] = frozenset(["row_data"])

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def render_outputs(
    outputs: Sequence[dict[str, Any]], of: str = ""
) -> tuple[PrivateText, list[Image]]:
    """One text for all outputs of a cell, and the pictures among them, named after what they are
    ``of`` ("cell 4's output"). Errors come first, so that a cut keeps them; the others keep their
    order.

    Each output is a private part of the text: of ``outputs``, and of ``row_data`` if it shows rows
    of data. Pictures are private as ``outputs``.
    """
    images: list[Image] = []
    pieces: list[str | Part] = []
    for output in sorted(outputs, key=lambda each: each.get("output_type") != "error"):
        part = _render_one(output, images)
        if part.text:
            pieces += ["\n", replace(part, text=part.text.rstrip("\n"))]
    return text(*pieces[1:]), named(images, of) if of else images


def named(images: Sequence[Image], of: str) -> list[Image]:
    """Name the pictures, with numbers if there are several."""
    several = len(images) > 1
    return [
        replace(image, name=f"Picture{f' {number}' if several else ''} of {of}")
        for number, image in enumerate(images, 1)
    ]


def _render_one(output: dict[str, Any], images: list[Image]) -> Part:
    kind = output.get("output_type")
    if kind == "stream":
        printed = plain(text_of(output.get("text", "")))
        shown = f"[stderr] {printed}" if output.get("name") == "stderr" else printed
        return _part(shown, looks_like_rows(printed))
    if kind == "error":
        ename, trace = str(output.get("ename") or "error"), _lines(output.get("traceback"))
        shown = useful_part(ename, text_of(output.get("evalue", "")), trace)
        return Part(shown, OUTPUTS, error_label(ename, trace))
    data = output.get("data") or {}
    picture = next((mime for mime in _PICTURES if mime in data), None)
    if picture is not None:
        others = {mime: value for mime, value in data.items() if mime not in _PICTURES}
        said = "" if is_table(others) else beside_picture(others)
        return _picture(picture, text_of(data[picture]), said, images)
    shown = best_text(data)
    return _part(shown, is_table(data) or looks_like_rows(shown))


def _lines(traceback: Any) -> list[str]:
    return [str(line) for line in traceback] if isinstance(traceback, list) else []


def _part(shown: str, is_rows: bool) -> Part:
    size = f"{len(shown.strip()):,} characters"
    if is_rows:
        return Part(shown, OUTPUTS | ROW_DATA, f"table of {size}")
    return Part(shown, OUTPUTS, f"output of {size}", _piece if len(shown) > LOOKED_AT else None)


def _piece(shown: str) -> Part:
    """A piece of an output that seemed to have no rows when samples of it were examined."""
    return _part(shown, looks_like_rows(shown))


def error_label(ename: str, traceback: Sequence[str]) -> str:
    """The visible part of an error whose message and traceback are withheld."""
    line = where(traceback).line
    return f"{ename}{f' in line {line}' if line else ''}, its message and traceback"


def failure_code(run: CellRun) -> ToolErrorCode:
    """The error code of a tool whose run failed."""
    if run.status == "timeout" or run.status == "aborted":
        return run.status
    return "kernel_error"


def failure_text(ename: str, evalue: str) -> PrivateText:
    """An error's name and its message, which may contain data: ``KeyError: 'x'``."""
    if ename == DEAD_KERNEL:  # our own message
        return text(evalue)
    return text(f"{ename}: ", Part(shortened(plain(evalue)), OUTPUTS, "its message"))


def _picture(mime: str, data: str, alternative: str, images: list[Image]) -> Part:
    width, height = size_of(data)
    images.append(Image(mime=mime, data=data, width=width, height=height))
    size = f" {width}x{height}" if width else ""
    shown = f"[picture {len(images)}: {mime}{size}{' ' + alternative if alternative else ''}]"
    return Part(shown, OUTPUTS, f"picture{size}")


def first_line(source: str) -> str:
    """The first line of a cell with any text, cut to 60 characters: its name for users."""
    for line in source.splitlines():
        if line.strip():
            return line.strip()[:60]
    return "(empty)"
