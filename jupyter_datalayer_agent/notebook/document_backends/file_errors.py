"""Errors of reading and saving a notebook's file."""

from __future__ import annotations

from tornado.web import HTTPError

from ..document import DocumentError


def invalid(path: str, message: str) -> DocumentError:
    """The file is not a valid notebook."""
    return DocumentError(
        "invalid_arguments",
        f"{path} is not a valid notebook: {_first_line(message)}",
        "Nothing was changed. Repair the file first; JupyterLab's text editor can open it.",
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
