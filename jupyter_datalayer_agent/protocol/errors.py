"""The error families and how each crosses a boundary."""

from __future__ import annotations

from typing import Any, Literal

from .base import Wire

ErrorCode = Literal[
    "invalid_request",
    "unauthorized",
    "forbidden",
    "not_found",
    "turn_in_progress",
    "too_large",
    "token_limit",
    "action_failed",
    "model_error",
    "no_model",
    "internal",
]

HTTP_STATUS: dict[ErrorCode, int] = {
    "invalid_request": 400,
    "unauthorized": 403,
    "forbidden": 403,
    "not_found": 404,
    "turn_in_progress": 409,
    "too_large": 413,
    "token_limit": 429,
    "action_failed": 422,
    "model_error": 502,
    "no_model": 503,
    "internal": 500,
}


class ErrorBody(Wire):
    """What went wrong: a stable code, a sentence for a user, and what else is known."""

    code: ErrorCode
    message: str
    detail: Any = None


class ErrorReply(Wire):
    """The body of every HTTP answer that is not a success."""

    error: ErrorBody


class AgentError(Exception):
    """A failure that is reported to the caller, with what to do about it.

    ``code`` is one of the wire's error codes and decides the HTTP status; ``message`` is shown to
    a user as it is, so it contains no key and no stack trace.
    """

    def __init__(self, code: ErrorCode, message: str, detail: Any = None) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.detail = detail

    @property
    def status(self) -> int:
        """The HTTP status code that goes with ``code``."""
        return HTTP_STATUS[self.code]

    def reply(self) -> ErrorReply:
        """The wire's form of this error."""
        return ErrorReply(error=ErrorBody(code=self.code, message=self.message, detail=self.detail))
