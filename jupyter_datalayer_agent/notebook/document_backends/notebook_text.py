"""A notebook's text, parsed once, in a thread: a large one would block the server."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat import v4

UNREADABLE = (ValueError, AttributeError, KeyError, TypeError, nbformat.ValidationError)
"""What json and nbformat raise for a text that is no notebook, or an unsupported one."""


@dataclass(frozen=True)
class ParsedNotebook:
    """A validated notebook of nbformat 4. ``ids`` are those in the file, in order: nbformat invents
    the others. ``problem`` is what makes it invalid. ``signature`` identifies a trusted notebook
    for Jupyter."""

    content: Any
    ids: list[str | None]
    problem: nbformat.ValidationError | None
    signature: str


def is_plain(contents_manager: Any) -> bool:
    """Whether it reads plain notebook files: one of Jupyter's own. Others may combine several
    files, as jupytext does."""
    return type(contents_manager).__module__.startswith("jupyter_server.services.contents.")


def digest(text: str) -> str:
    """Identifies a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def parsed(text: str, compute_signature: Callable[[Any], str]) -> ParsedNotebook:
    """The notebook of this text, as Jupyter's own contents managers read it.

    Raises ``UNREADABLE``, ``RecursionError``, and ``JSONDecodeError`` for a part of a notebook.
    """
    raw = load(text)
    ids = ids_of(raw)
    if raw.get("nbformat") == 4:
        content = v4.to_notebook_json(raw)  # type: ignore[no-untyped-call]
    else:
        content = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    problem = None
    try:
        nbformat.validate(content)
    except nbformat.ValidationError as error:
        problem = error
    return ParsedNotebook(content, ids, problem, compute_signature(content))


def load(text: str) -> Any:
    """The JSON value. Other threads can run meanwhile: the parser itself holds the GIL, but Python
    releases it at calls."""
    return json.loads(text, object_hook=_same)


def _same(value: dict[str, Any]) -> dict[str, Any]:
    return value


def ids_of(raw: Any) -> list[str | None]:
    """The ids of the cells, in order, None for a cell without one."""
    return [cell.get("id") for cell in raw.get("cells", [])]
