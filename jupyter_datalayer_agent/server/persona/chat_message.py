"""The message that a turn is shown in."""

from __future__ import annotations

import time
from typing import Any

FLUSH_SECONDS = 0.2
"""Jupyter AI sends a message whole, and writes the chat's file, at each change of it."""


class ChatMessage:
    """See ``Reader``. ``persona`` is of Jupyter AI; ``message_class`` and ``new_class`` are its
    classes of messages."""

    def __init__(self, persona: Any, message_class: Any, new_class: Any) -> None:
        self._persona = persona
        self._message_class = message_class
        self._new_class = new_class
        self._id: str | None = None
        self._pending = ""
        self._timer: Any = None

    def write(self, text: str) -> None:
        """Add to the message, soon: pieces that come within a moment go together."""
        self._pending += text
        if self._timer is None:
            self._timer = self._persona.event_loop.call_later(FLUSH_SECONDS, self.flush)

    def status(self, text: str) -> None:
        """Show the current activity beside the persona's name."""
        if text:
            self._persona.set_status(text)
        else:
            self._persona.clear_status()

    def begin(self) -> None:
        """What comes is a new message, below what was said meanwhile."""
        self.flush()
        self._id = None

    def flush(self) -> None:
        """Add now what was not added yet."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        text, self._pending = self._pending, ""
        if not text:
            return
        chat, sender = self._persona.chat, self._persona.id
        if self._id is None:
            self._id = chat.add_message(self._new_class(body=text.lstrip("\n"), sender=sender))
            return
        chat.update_message(
            self._message_class(
                id=self._id, body=text, time=time.time(), sender=sender, raw_time=False
            ),
            append=True,
            # What an answer mentions calls no other persona.
            trigger_actions=[],
        )
