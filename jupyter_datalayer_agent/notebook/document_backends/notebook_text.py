"""A notebook's text, parsed once, in a thread: a large one would block the server."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat import v4
from tornado.web import HTTPError

from ...protocol.limits import MAX_NOTEBOOK_BYTES, megabytes
from ..document import DocumentError
from ..edits.batch import source_of
from .cell_ids import CellIds, cell_ids, ids_in

# Errors of reading and saving a notebook's file.


def invalid(path: str, message: str) -> DocumentError:
    """The file is not a valid notebook."""
    return DocumentError(
        "invalid_arguments",
        f"{path} is not a valid notebook: {_first_line(message)}",
        "Nothing was changed. Repair the file first; JupyterLab's text editor can open it.",
    )


def check_size(path: str, size: int) -> None:
    """Raise ``DocumentError`` for a notebook of so many bytes that it is not read."""
    if size > MAX_NOTEBOOK_BYTES:
        raise DocumentError(
            "too_large",
            f"{path} is too large to read ({megabytes(size)}). The limit is "
            f"{megabytes(MAX_NOTEBOOK_BYTES)}.",
            "Nothing was changed. Usually the outputs are large: tell the user to open the "
            "notebook in JupyterLab and clear the outputs of its largest cells.",
        )


def not_readable(path: str, message: str) -> DocumentError:
    """The server could not make a notebook of the file, which need not be the file's fault."""
    return DocumentError(
        "invalid_arguments",
        f"The server cannot read {path} as a notebook: {_first_line(message)}",
        "Nothing was changed. Tell the user, who may have to install or repair what is named. As "
        "long as it cannot be read as a notebook, it can be attached and edited as a text file.",
    )


def not_a_notebook(path: str) -> DocumentError:
    """The server does not open the file as a notebook."""
    return DocumentError(
        "invalid_arguments",
        f"{path} is not a notebook: the server opens it as a file.",
        "Notebooks end in .ipynb; other files are notebooks where jupytext is installed.",
    )


class TextLostError(DocumentError):
    """Jupyter reads a notebook's cells as empty, and an edit would save them so."""


def text_lost(path: str) -> TextLostError:
    """The error, with what to do."""
    return TextLostError(
        "invalid_arguments",
        f"{path} lacks its version of nbformat, or has a wrong one: Jupyter reads its cells "
        "without their text, and saving it would delete that text.",
        "Nothing was changed. Open the file in JupyterLab's text editor (Open With, Editor) and "
        'add the keys "nbformat": 4 and "nbformat_minor": 5 beside "cells". Then try again.',
    )


def unwritable(path: str, index: int) -> DocumentError:
    """Jupyter reads it, but cannot save it."""
    return DocumentError(
        "invalid_arguments",
        f"{path} cannot be saved by Jupyter: cell {index + 1} has an output without its "
        "output_type.",
        "Nothing was changed. Clear the outputs of that cell in JupyterLab's text editor (Open "
        "With, Editor). Then try again.",
    )


def not_saved(path: str, error: HTTPError) -> DocumentError:
    """The server could not write it."""
    return DocumentError(
        "internal", f"{path} could not be saved: {_first_line(error.log_message or str(error))}"
    )


def not_as_saved(path: str, what: str) -> DocumentError:
    """What was read back is not what was written."""
    return DocumentError(
        "internal",
        f"{path} was saved, but when it was read back {what}.",
        "A save hook or another program may have changed it. Read the notebook again.",
    )


def _first_line(message: str) -> str:
    lines = [line for line in str(message).splitlines() if line.strip()]
    return lines[0][:500] if lines else "unknown reason"


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
