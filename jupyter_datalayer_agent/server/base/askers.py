"""Finds who sent a request: see ``agent.asker``.

What a page has is a WebSocket that a browser opened: without a token, which a browser's script
cannot send there, but with the cookie that it was given at its login, and with its origin. The page
names a secret of its own over it, and with its HTTP requests the same one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from jupyter_server.utils import ensure_async

from ...agent.asker import CLIENT_HEADER, Asker

LEAST_LENGTH = 16


class Askers:
    """The keys of the pages that are connected."""

    def __init__(self) -> None:
        self._pages: Counter[str] = Counter()

    def connected(self, key: str | None) -> Callable[[], None]:
        """A page is connected that has this key; call the result when it is not any more."""
        if key is None:
            return lambda: None
        self._pages[key] += 1

        def leave() -> None:
            self._pages[key] -= 1

        return leave

    def of(self, handler: Any) -> Asker:
        """Who sent an HTTP request; ``handler.kernel`` is the kernel whose token it has."""
        key = key_of(handler.request.headers.get(CLIENT_HEADER))
        if handler.kernel is not None:
            return Asker("kernel")
        is_page = key is not None and self._pages[key] > 0
        return Asker("page" if is_page else "program", key)


def key_of(secret: str | None) -> str | None:
    """The key of a client with this secret, which is not kept; None for one that is too short."""
    if secret is None or len(secret) < LEAST_LENGTH:
        return None
    return hashlib.sha256(secret.encode()).hexdigest()


async def is_browser(handler: Any) -> bool:
    """Whether a WebSocket was opened by a browser that is signed in, as far as that can be told:
    a program may imitate one, once it has signed in."""
    origin = handler.request.headers.get("Origin")
    if origin is None:
        return False
    if not handler.token_authenticated:
        return True
    # A proxy may add a token to what browsers send; then Jupyter looked at nothing else.
    if urlsplit(origin).netloc.lower() != handler.request.host.lower():
        return False
    return await ensure_async(handler.identity_provider.get_user_cookie(handler)) is not None
