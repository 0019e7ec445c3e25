"""The failure of a command."""

from __future__ import annotations


class CommandFailed(Exception):
    """The message is for the user at the terminal; ``code`` is the exit code."""

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(message)
        self.code = code
