"""Messages of a kernel that are large: their signature is checked in a thread."""

from __future__ import annotations

from typing import Any

from jupyter_client.channels import AsyncZMQSocketChannel

from ..large_text import in_thread_if_large


class ThreadedChannel(AsyncZMQSocketChannel):
    """Reads large messages in a thread: a kernel that prints without end sends megabytes in each,
    and Python computes a signature without holding up others."""

    async def _recv(self, **options: Any) -> dict[str, Any]:  # type: ignore[override]
        parts = await self.socket.recv_multipart(**options)
        _, message = self.session.feed_identities(parts)
        size = sum(map(len, message))
        read: dict[str, Any] = await in_thread_if_large(size, self.session.deserialize, message)
        return read
