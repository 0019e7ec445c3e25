"""Limits the size of HTTP answers: large ones are cut in the same way as those over stdio.

The guard's program parses what is cut, in a process of its own: parsing tens of megabytes would
stop the event loop that serves notebooks.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .guard import CUT, LARGE, LARGEST

GUARD = Path(__file__).resolve().with_name("guard.py")
CUT_SECONDS = 60.0

_EVENT_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class AnswerTooLarge(Exception):
    """An answer exceeds the number of bytes that are read."""


@dataclass(frozen=True)
class Bound:
    """``on_response`` gets the status and headers of each response; ``on_too_large`` is called for
    one that exceeds the number of bytes that are read."""

    on_response: Callable[[int, Any], None]
    on_too_large: Callable[[], None]

    def set(self, client: Any) -> None:
        """Limit the answers that a client of httpx (or httpx2) gets."""
        httpx = sys.modules[type(client).__module__.partition(".")[0]]
        bounded = _bounded(httpx.AsyncByteStream)

        async def on_response(response: Any) -> None:
            self.on_response(response.status_code, response.headers)
            # A few compressed bytes may expand to very many.
            response.headers.pop("content-encoding", None)
            is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
            response.stream = bounded(response.stream, self, is_stream)

        client.headers["accept-encoding"] = "identity"
        client.event_hooks = {"response": [on_response]}


def _bounded(base: Any) -> Any:
    class Bounded(base):  # type: ignore[misc]
        """A response's bytes, up to a number of them: event by event, or as one message."""

        def __init__(self, stream: Any, bound: Bound, is_stream: bool) -> None:
            self._stream = stream
            self._bound = bound
            self._is_stream = is_stream
            self._left = LARGEST

        async def __aiter__(self) -> AsyncIterator[bytes]:
            buffer = bytearray()
            async for chunk in self._stream:
                self._left -= len(chunk)
                if self._left < 0:
                    self._bound.on_too_large()
                    raise AnswerTooLarge
                looked_at = max(len(buffer) - 3, 0)
                buffer += chunk
                if not self._is_stream:
                    continue
                end = 0
                for match in _EVENT_END.finditer(buffer, looked_at):
                    yield await cut_event(bytes(buffer[end : match.end()]))
                    end = match.end()
                del buffer[:end]
            if self._is_stream or len(buffer) <= LARGE:
                yield bytes(buffer)
            else:
                yield await cut(bytes(buffer))

        async def aclose(self) -> None:
            """See httpx."""
            await self._stream.aclose()

    return Bounded


async def cut_event(event: bytes) -> bytes:
    """An event of a stream, with its message cut where it is large."""
    if len(event) <= LARGE:
        return event
    data: list[bytes] = []
    others: list[bytes] = []
    for line in event.splitlines():
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif line:
            others.append(line)
    return b"\n".join([*others, b"data: " + await cut(b"\n".join(data)), b"", b""])


async def cut(message: bytes) -> bytes:
    """Shorten a large message. Raises ``AnswerTooLarge`` if that is not possible."""
    command = [sys.executable, "-I", "-S", str(GUARD), CUT]
    try:
        done = await asyncio.to_thread(
            subprocess.run, command, input=message, capture_output=True, timeout=CUT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AnswerTooLarge from error
    if done.returncode:
        raise AnswerTooLarge
    return done.stdout
