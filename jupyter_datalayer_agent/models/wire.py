"""HTTP to model servers that speak the OpenAI form, between openai's client and the network.

Servers of this form differ in what they send: a whole answer in JSON although a stream was asked
for, a web page of a proxy that wants a sign-in, no reason for the end but ``[DONE]``, comments for
minutes while a long prompt is read. openai's client reports none of it, so it is handled here. So
is the way through the network: proxies, and the certificates of an organization.

Imported once litellm is loaded, since httpx and openai take a while.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import certifi
import httpx
import openai

from .connections.address import proxy_for
from .stream_bytes import EXTENSION, StreamBytes
from .types import WebPage

_LONGEST_WHOLE = 32 * 1024 * 1024
"""Bytes of an answer in one piece that are read."""
_CA_FILES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


_clients: WeakKeyDictionary[
    asyncio.AbstractEventLoop, dict[tuple[str, str, str | None], openai.AsyncOpenAI]
] = WeakKeyDictionary()


def client(
    api_base: str, api_key: str, environ: Mapping[str, str] = os.environ
) -> openai.AsyncOpenAI:
    """The running event loop's client for this server and key."""
    made = _clients.setdefault(asyncio.get_running_loop(), {})
    proxy = proxy_for(api_base, environ)
    key = (api_base, api_key, proxy)
    if key not in made:
        http = httpx.AsyncClient(
            transport=_Answers(_network(api_base, proxy, environ)), follow_redirects=True
        )
        made[key] = openai.AsyncOpenAI(
            api_key=api_key, base_url=api_base, http_client=http, max_retries=0
        )
    return made[key]


async def close_clients() -> None:
    """Close the connections of the running event loop."""
    for each in _clients.pop(asyncio.get_running_loop(), {}).values():
        await each.close()


def _network(api_base: str, proxy: str | None, environ: Mapping[str, str]) -> Any:
    """litellm's own transport, which takes a tenth less time than httpx's to the first token, but
    decides on proxies by itself."""
    # Here, since the import of litellm is the loader's.
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    certificates = _certificates(environ) if api_base.startswith("https") else None
    if proxy is not None:
        return httpx.AsyncHTTPTransport(proxy=proxy, verify=certificates or True)
    network = AsyncHTTPHandler._create_async_transport(ssl_context=certificates)
    proxies = getattr(network, "proxy_cache", None)
    if isinstance(proxies, dict):
        proxies[httpx.URL(api_base).host] = None
    return network


def _certificates(environ: Mapping[str, str]) -> ssl.SSLContext:
    named = (environ.get(name) for name in _CA_FILES)
    return _context(next(filter(None, named), None) or certifi.where())


@lru_cache(maxsize=4)
def _context(file: str) -> ssl.SSLContext:
    # Reading the file takes a while.
    return ssl.create_default_context(cafile=file)


class _Answers(httpx.AsyncBaseTransport):
    """Passes requests on, and looks at how each answer begins."""

    def __init__(self, network: httpx.AsyncBaseTransport) -> None:
        self._network = network

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._network.handle_async_request(request)
        if response.status_code != 200 or "content-encoding" in response.headers:
            return response
        assert isinstance(response.stream, httpx.AsyncByteStream)
        pieces = aiter(response.stream)
        begun = b""
        while not begun.strip():
            piece = await anext(pieces, None)
            if piece is None:
                break
            begun += piece
        first = begun.lstrip()[:1]
        if first == b"<":
            await response.aclose()
            raise WebPage(str(request.url))
        wants_stream = b'"stream":true' in request.content.replace(b" ", b"")
        seen = StreamBytes()
        if first == b"{" and wants_stream:
            body = await _whole(begun, pieces)
            await response.aclose()
            return _as_stream(response, body, seen)
        response.extensions[EXTENSION] = seen
        response.stream = _Seen(response.stream, begun, pieces, seen)
        return response

    async def aclose(self) -> None:
        await self._network.aclose()


class _Seen(httpx.AsyncByteStream):
    """The bytes of an answer, of which some have been read."""

    def __init__(
        self,
        stream: httpx.AsyncByteStream,
        begun: bytes,
        rest: AsyncIterator[bytes],
        seen: StreamBytes,
    ) -> None:
        self._stream = stream
        self._begun = begun
        self._rest = rest
        self._seen = seen

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._begun:
            self._seen.note(self._begun)
            yield self._begun
        async for piece in self._rest:
            self._seen.note(piece)
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _whole(begun: bytes, rest: AsyncIterator[bytes]) -> bytes:
    pieces, size = [begun], len(begun)
    async for piece in rest:
        pieces.append(piece)
        size += len(piece)
        if size > _LONGEST_WHOLE:
            raise httpx.DecodingError(f"The answer has more than {_LONGEST_WHOLE:,} bytes.")
    return b"".join(pieces)


def _as_stream(response: httpx.Response, body: bytes, seen: StreamBytes) -> httpx.Response:
    """A whole answer as the stream that was asked for."""
    answer = json.loads(body)
    for choice in answer.get("choices") or []:
        choice["delta"] = choice.pop("message", None) or {}
        for place, call in enumerate(choice["delta"].get("tool_calls") or []):
            call.setdefault("index", place)
    answer["object"] = "chat.completion.chunk"
    stream = f"data: {json.dumps(answer)}\n\ndata: [DONE]\n\n".encode()
    seen.note(stream)
    headers = {"content-type": "text/event-stream"}
    return httpx.Response(
        200, headers=headers, content=stream, extensions={**response.extensions, EXTENSION: seen}
    )
