"""What the bytes of a streamed answer show, and openai's client does not report."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_END = re.compile(rb"^data: ?\[DONE\]", re.MULTILINE)
_TAIL = 256
"""Bytes of a stream that are remembered: its end, and what may follow that in one piece."""
EXTENSION = "datalayer_agent_stream"


class StreamBytes:
    """What the bytes of an answer show. ``on_bytes`` is called when some have arrived."""

    def __init__(self) -> None:
        self.on_bytes: Callable[[], None] | None = None
        self._tail = b""

    @property
    def has_ended(self) -> bool:
        """Whether the server has sent ``[DONE]``."""
        return _END.search(self._tail.replace(b"\r", b"\n")) is not None

    def note(self, data: bytes) -> None:
        """These bytes have arrived."""
        self._tail = data[-_TAIL:] if len(data) >= _TAIL else (self._tail + data)[-_TAIL:]
        if self.on_bytes is not None:
            self.on_bytes()


def bytes_of(source: Any) -> StreamBytes | None:
    """What is known of the bytes of litellm's stream; None where it is not from here."""
    response = getattr(getattr(source, "completion_stream", None), "response", None)
    found = getattr(response, "extensions", {}).get(EXTENSION)
    return found if isinstance(found, StreamBytes) else None
