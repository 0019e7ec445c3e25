"""The interface to the ``mcp`` package for the rest of ``server.mcp``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol, cast

from ....imports import load
from ..rpc import Method


@dataclass(frozen=True)
class Identity:
    """How the server introduces itself."""

    name: str
    title: str
    version: str
    instructions: str


@dataclass(frozen=True)
class Outgoing:
    """A message to the program. ``related`` is the id of the request whose stream it goes to,
    None for one that belongs to no request; ``is_answer``: it answers that request."""

    text: str
    related: str | int | None
    is_answer: bool


class RunningSession(Protocol):
    """The SDK's session with one program."""

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification that belongs to no request."""
        ...


class Adapter(Protocol):
    """One major version of the package. ``versions`` are those of the protocol, oldest first."""

    versions: Sequence[str]

    def parse(self, data: Any, on_unanswered: Callable[[], Awaitable[None]] | None) -> Any:
        """Read a message of the program for its session. Raises ``ValueError``. ``on_unanswered``
        is called when a request was cancelled and the SDK itself writes no answer."""
        ...

    def outgoing(self, message: Any) -> Outgoing:
        """Read a message that the session sends."""
        ...

    async def serve(
        self,
        identity: Identity,
        methods: Mapping[str, Method],
        read: Any,
        write: Any,
        started: Callable[[RunningSession], None],
    ) -> None:
        """Run a session over two memory streams, until the first one is closed."""
        ...


@cache
def _load() -> Adapter:
    major = version("mcp").partition(".")[0]
    name = "v1" if major == "1" else "v2"
    return cast(Adapter, load(f"{__package__}.{name}").ADAPTER)


async def adapter() -> Adapter:
    """The adapter of the installed version, imported in a thread, since that takes most of a
    second."""
    return await asyncio.get_running_loop().run_in_executor(None, _load)
