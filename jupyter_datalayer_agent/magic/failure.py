"""The magic's errors, shown without a traceback."""

from __future__ import annotations


class AgentMagicError(Exception):
    """The magic failed; the message says why, and what to do."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines, and the cell counts as failed."""
        return [f"%agent: {self}"]


class ServerGone(AgentMagicError):
    """The server does not answer."""


class UnknownCertificate(ServerGone):
    """The server's certificate is not trusted."""


class Refused(AgentMagicError):
    """The server answered with an error; ``code`` and ``status`` are as in its API."""

    def __init__(self, message: str, status: int, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code
