"""Errors of reading and saving a notebook's file."""

from __future__ import annotations

from tornado.web import HTTPError

from ...protocol.limits import MAX_NOTEBOOK_BYTES, megabytes
from ..document import DocumentError


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
