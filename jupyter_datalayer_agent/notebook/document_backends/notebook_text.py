"""A notebook's text, parsed once, in a thread: a large one would block the server."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat import v4

from ..edits.batch import source_of
from .cell_ids import CellIds, cell_ids, ids_in

UNREADABLE = (
    ValueError,
    AttributeError,
    KeyError,
    TypeError,
    AssertionError,
    nbformat.ValidationError,
)
"""What json and nbformat raise for a text that is no notebook, or an unsupported one."""


class TextLost(Exception):
    """Jupyter reads the notebook without the text of its cells, as if they were of another
    version of nbformat: saved like this, it would be empty."""


@dataclass(frozen=True)
class ParsedNotebook:
    """A notebook of nbformat 4 as Jupyter serves it, with an id for each cell. ``problem`` is what
    makes it invalid. ``signature`` identifies a trusted notebook for Jupyter."""

    content: Any
    ids: CellIds
    problem: nbformat.ValidationError | None
    signature: str


_READING = ("get", "_notebook_model", "_read_notebook", "validate_notebook_model")


def is_plain(contents_manager: Any) -> bool:
    """Whether a notebook is its file's text: it is read by Jupyter's own methods. Other managers
    may combine several files, as jupytext does."""
    methods = [getattr(type(contents_manager), name, None) for name in _READING]
    return all(
        method is not None and method.__module__.startswith("jupyter_server.services.contents.")
        for method in methods
    )


def digest(text: str) -> str:
    """Identifies a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def parsed(text: str, compute_signature: Callable[[Any], str]) -> ParsedNotebook:
    """The notebook of this text, as Jupyter's own contents managers read it.

    Raises ``TextLost``, ``UNREADABLE``, ``RecursionError``, and ``JSONDecodeError`` for a part of a
    notebook.
    """
    raw = load(text)
    if raw.get("nbformat") == 4:
        content = v4.to_notebook_json(raw)  # type: ignore[no-untyped-call]
    else:
        content = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    check_text(raw, content)
    ids = cell_ids(content, ids_in(raw))
    ids.as_in_file(content["cells"])
    problem = None
    try:
        nbformat.validate(content)
    except nbformat.ValidationError as error:
        problem = error
    signature = compute_signature(content)
    ids.as_addresses(content["cells"])
    return ParsedNotebook(content, ids, problem, signature)


def load(text: str) -> Any:
    """The JSON value. Other threads can run meanwhile: the parser itself holds the GIL, but Python
    releases it at calls."""
    return json.loads(text, object_hook=_same)


def _same(value: dict[str, Any]) -> dict[str, Any]:
    return value


def check_text(raw: Mapping[str, Any], content: Mapping[str, Any]) -> None:
    """Raise ``TextLost`` unless each cell has the source that it has in the file.

    nbformat takes a file without a version for one of the first version, where a cell's source has
    another name, and reads all of them as empty.
    """
    written = [_written_source(cell) for cell in _cells_in(raw)]
    read = [source_of(cell) for cell in content["cells"]]
    if raw.get("nbformat") != 4:
        # Converted headings are joined into one line and begin with "#".
        written, read = [_letters(each) for each in written], [_letters(each) for each in read]
    if len(written) != len(read) or not all(map(str.endswith, read, written)):
        raise TextLost


def _cells_in(raw: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    sheets = [raw, *raw.get("worksheets", [])]
    return [cell for sheet in sheets for cell in sheet.get("cells", [])]


def _written_source(cell: Mapping[str, Any]) -> str:
    """The source under the name that one of the versions of nbformat has for it."""
    if cell.get("source"):
        return source_of(cell)
    names = ("input", "code", "text", "html")
    return next((source_of({"source": cell[name]}) for name in names if cell.get(name)), "")


def _letters(text: str) -> str:
    return "".join(text.split())
