"""How the streams of chat completions end, learnt from what servers do.

A server says why an answer ended, or sends ``[DONE]``. Some do neither: the body just ends. So it
does as well where something before the server, such as a gateway with a time limit, ended it in
the middle. One such end does not tell which of the two it is. A second one does, if the server has
never said that an answer ended.
"""

from __future__ import annotations

from collections import Counter

from .types import CONNECTION_LOST

Server = tuple[str | None, str]
"""The address, None for the provider's own, and the model."""


class StreamEnds:
    """How the streams of each model of each server ended, while this process lives: a server may be
    updated."""

    def __init__(self) -> None:
        self._speaking: set[Server] = set()
        # Ends without a word since the last one with.
        self._silent: Counter[Server] = Counter()

    def said(self, server: Server) -> None:
        """The server said that an answer ended."""
        self._speaking.add(server)
        del self._silent[server]

    def unsaid(self, server: Server) -> str | None:
        """The finish reason of an answer whose body ended without a word; None if it is to be asked
        for again, which is so once."""
        self._silent[server] += 1
        if self._silent[server] == 1:
            return None
        return CONNECTION_LOST if server in self._speaking else "stop"
