"""Looks for model servers on this computer, and at an address that a user named."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...imports import importing
from .address import normalized, proxy_for
from .detection import DetectedServer, detect
from .http_get import ServerError
from .way import NetworkProblem, Way, through, tls

if TYPE_CHECKING:
    import httpx

LOCAL_SECONDS = 2.0
ADDRESS_SECONDS = 15.0


class LocalServers:
    """Looks at ports of 127.0.0.1, when it is asked to and never by itself."""

    def __init__(self) -> None:
        self._looking: asyncio.Task[list[DetectedServer]] | None = None

    async def look(self, ports: Sequence[int]) -> list[DetectedServer]:
        """The servers at these ports, all asked at once; those who ask meanwhile get the same."""
        if self._looking is None:
            self._looking = asyncio.ensure_future(_look(ports))
            self._looking.add_done_callback(self._done)
        return await asyncio.shield(self._looking)

    def _done(self, _: object) -> None:
        self._looking = None


async def _look(ports: Sequence[int]) -> list[DetectedServer]:
    found = await asyncio.gather(*(_at_port(port) for port in dict.fromkeys(ports)))
    return [each for each in found if each is not None]


async def _at_port(port: int) -> DetectedServer | None:
    try:
        return await server_at(f"http://127.0.0.1:{port}", seconds=LOCAL_SECONDS)
    except ServerError:
        return None


async def server_at(
    address: str,
    key: str | None = None,
    *,
    way: Way | None = None,
    seconds: float = ADDRESS_SECONDS,
) -> DetectedServer:
    """The server at an address. Raises ``AddressError`` and ``ServerError``."""
    address = normalized(address)
    way = replace(way or Way(), address=address)
    try:
        client = await asyncio.to_thread(_client, way, seconds)
    except NetworkProblem as problem:
        raise ServerError(str(problem)) from problem
    async with client:
        try:
            return await asyncio.wait_for(detect(client, address, key), seconds)
        except asyncio.TimeoutError as error:
            raise ServerError(f"{urlsplit(address).netloc} did not answer in time.") from error


def _client(way: Way, seconds: float) -> httpx.AsyncClient:
    """In a thread: the import and the certificates take a tenth of a second."""
    assert way.address is not None
    with importing():
        import httpx
    proxy = proxy_for(way.address, way.environ)
    context = tls(way, way.address) if way.address.startswith("https:") else None
    return httpx.AsyncClient(
        timeout=seconds,
        follow_redirects=False,
        trust_env=False,
        headers=dict(way.headers),
        transport=through(proxy, context),
    )
