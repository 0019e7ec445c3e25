"""SQLite's errors as messages to a user, with what to do about them."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ...protocol.errors import AgentError

DATABASE_ERRORS: tuple[type[Exception], ...] = (sqlite3.Error, SQLAlchemyError, OSError)

_CORRUPT = ("malformed", "not a database", "corrupt")
_NOT_WRITABLE = ("readonly", "Read-only file system", "unable to open", "Permission denied")


def explain(error: Exception, path: str) -> AgentError:
    """The error to raise in place of one of ``DATABASE_ERRORS`` from the file ``path``."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    text = str(cause)
    message = _known(text, path)
    if message is not None:
        return AgentError("internal", message, {"path": path, "cause": text})
    if "FOREIGN KEY constraint failed" in text:
        return AgentError("not_found", "This session no longer exists: it was deleted meanwhile.")
    if "UNIQUE constraint failed: turns.session_id" in text:
        return AgentError("turn_in_progress", "A turn is already running in this session.")
    return AgentError(
        "internal",
        f"The conversation database {path} could not be used: {text}.",
        {"path": path, "cause": text},
    )


def corrupt(path: str, why: str) -> AgentError:
    """The error for a file that must not be written to, since it is damaged."""
    return AgentError(
        "internal",
        f"The conversation database {path} is damaged ({why}) and was left as it is. Copy it to a "
        "safe place, then move it away to start with an empty one, or restore a backup.",
        {"path": path, "cause": why},
    )


def _known(text: str, path: str) -> str | None:
    if any(word in text for word in _CORRUPT):
        return corrupt(path, text).message
    if "locked" in text or "busy" in text:
        return (
            f"The conversation database {path} is locked by another program. Close what holds it "
            "(a backup, a database browser) and try again."
        )
    if "disk is full" in text or "No space left" in text:
        return (
            f"The disk that holds the conversation database {path} is full. Free some space and "
            "try again."
        )
    if any(word in text for word in _NOT_WRITABLE):
        return (
            f"The conversation database {path} cannot be written. Check the permissions of the "
            "file and its directory, or set another database_url."
        )
    return None
