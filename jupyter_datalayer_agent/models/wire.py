"""HTTP to model servers, between the clients that litellm makes and the network.

litellm makes a client for each kind of provider (openai's, its own), and each has a transport of
one factory, which this replaces. So every request takes the way of its call (``connections.way``):
proxies, certificates, extra headers, and to no other server than the one that was meant. Requests
that others make through litellm in this process are none of a call's, and are sent by the transport
that litellm would have made for them.

Servers of OpenAI's form also differ in how they answer: in one piece although a stream was asked
for, with a web page of a proxy that wants a sign-in, without a reason for the end but ``[DONE]``,
with comments for minutes. litellm's clients report none of it, so it is handled here.

Imported once litellm is loaded, since httpx takes a while.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import httpx

from ..protocol.limits import MAX_ANSWER_EVENT_BYTES, megabytes
from .connections.address import proxy_for
from .connections.way import (
    NetworkProblem,
    Way,
    current_way,
    needs_login,
    server_of,
    through,
    tls,
)
from .drafts import text_of
from .provider_arguments import NO_KEY
from .stream_bytes import EXTENSION, StreamBytes, with_joined_text

log = logging.getLogger(__name__)

_LONGEST_ERROR = 8_000
"""Bytes of an error's body that are read; of its message 400 characters are shown. litellm searches
them by patterns whose time grows with the square of the length."""
_MOST_REDIRECTS = 5
_FACTORIES = ("create_async_transport", "_create_async_transport")
_MOUNTS = ("create_httpx_proxy_mounts", "_create_httpx_proxy_mounts")

_Networks = dict[tuple[Any, ...], httpx.AsyncBaseTransport]
_networks: WeakKeyDictionary[asyncio.AbstractEventLoop, _Networks] = WeakKeyDictionary()
_make_direct: Callable[..., Any] | None = None


def install(litellm: ModuleType) -> None:
    """From now on, litellm's clients send the requests of our calls through ``Wire``."""
    global _make_direct
    handler = _handler(litellm)
    names = [name for name in _FACTORIES if hasattr(handler, name)]
    if not names:
        log.error("litellm %s has another way to make clients", getattr(litellm, "__version__", ""))
        return
    if _make_direct is None:
        _make_direct = getattr(handler, names[0])
    for name in names:
        setattr(handler, name, staticmethod(_wire))
    for name in _MOUNTS:
        # The environment's proxies, which would go before the transport.
        if hasattr(handler, name):
            setattr(handler, name, staticmethod(lambda *_, **__: {}))


def _wire(*args: Any, **options: Any) -> Wire:
    assert _make_direct is not None
    return Wire(partial(_make_direct, *args, **options))


def _handler(_: ModuleType) -> Any:
    # Here, since the import of litellm is the loader's.
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    return AsyncHTTPHandler


async def close_clients() -> None:
    """Close the connections of the running event loop."""
    for each in _networks.pop(asyncio.get_running_loop(), {}).values():
        await each.aclose()


class Wire(httpx.AsyncBaseTransport):
    """Sends each request the way of its call, and looks at how the answer begins. The connections
    are the event loop's, so that closing it closes none of them.

    ``others`` makes litellm's own transport, for requests that are not of our calls; None: httpx's.
    """

    def __init__(self, others: Callable[[], httpx.AsyncBaseTransport | None]) -> None:
        self._make = others
        self._others: httpx.AsyncBaseTransport | None = None

    async def aclose(self) -> None:
        """Close litellm's own transport."""
        others, self._others = self._others, None
        if others is not None:
            await others.aclose()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See ``httpx.AsyncBaseTransport``."""
        way = current_way()
        if way is None:
            self._others = self._others or self._make()
            if self._others is None:
                return await _sent(request, Way())
            return await self._others.handle_async_request(request)
        for _ in range(_MOST_REDIRECTS):
            response = await _sent(request, way)
            target = _redirect(request, response)
            if target is None:
                return await _looked_at(request, response)
            await response.aclose()
            _check_same_server(request.url, target)
            request = httpx.Request(
                request.method,
                target,
                headers=[each for each in request.headers.raw if each[0].lower() != b"host"],
                content=request.content,
                extensions=request.extensions,
            )
        raise NetworkProblem(f"{_shown(request.url)} redirects again and again.")


async def _sent(request: httpx.Request, way: Way) -> httpx.Response:
    url = str(request.url)
    proxy = proxy_for(url, way.environ)
    for name, value in request.headers.items():
        if value in (NO_KEY, f"Bearer {NO_KEY}"):
            del request.headers[name]
    if way.leads_to(url):
        request.headers.update(dict(way.headers))
    try:
        response = await _network(url, proxy, way).handle_async_request(request)
    except httpx.ProxyError as error:
        if proxy is not None and str(error).startswith("407"):
            raise needs_login(proxy) from error
        raise
    except httpx.RemoteProtocolError as error:
        # litellm would send the request a second time, which may cost as much as the first.
        raise httpx.ReadError(str(error), request=request) from error
    if response.status_code == 407 and proxy is not None:
        await response.aclose()
        raise needs_login(proxy)
    return response


def _network(url: str, proxy: str | None, way: Way) -> httpx.AsyncBaseTransport:
    context = tls(way, url) if url.startswith("https") else None
    networks = _networks.setdefault(asyncio.get_running_loop(), {})
    key = (*server_of(url), proxy, context)
    if key not in networks:
        networks[key] = _direct(url, context) if proxy is None else through(proxy, context)
    return networks[key]


def _direct(url: str, context: ssl.SSLContext | None) -> httpx.AsyncBaseTransport:
    """litellm's own transport, which takes a tenth less time than httpx's to the first token, but
    decides on proxies by itself."""
    network = None if _make_direct is None else _make_direct(ssl_context=context)
    if network is None:
        return through(None, context)
    proxies = getattr(network, "proxy_cache", None)
    if isinstance(proxies, dict):
        proxies[httpx.URL(url).host] = None
    return network  # type: ignore[no-any-return]


def _redirect(request: httpx.Request, response: httpx.Response) -> httpx.URL | None:
    """Where the answer sends the request, None where it is an answer."""
    location = response.headers.get("location")
    if response.status_code not in (301, 302, 303, 307, 308) or not location:
        return None
    target = request.url.join(location)
    if response.status_code == 303:
        raise _redirected(request.url, target)
    return target


def _check_same_server(origin: httpx.URL, target: httpx.URL) -> None:
    """A request has a key and a conversation, which are for the server that the user named. It may
    only insist on https."""
    (scheme, host, port), (new_scheme, new_host, new_port) = map(
        server_of, map(str, (origin, target))
    )
    ports = (
        {(port, port), (80, 443)} if (scheme, new_scheme) == ("http", "https") else {(port, port)}
    )
    upgrade = scheme == new_scheme or (scheme, new_scheme) == ("http", "https")
    if host != new_host or not upgrade or (port, new_port) not in ports:
        raise _redirected(origin, target)


def _redirected(origin: httpx.URL, target: httpx.URL) -> NetworkProblem:
    return NetworkProblem(
        f"{_shown(origin)} redirects to {_shown(target)}, to which nothing was sent. If the "
        "model's server is there, enter that address instead."
    )


def _shown(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace').rpartition('@')[2]}"


async def _looked_at(request: httpx.Request, response: httpx.Response) -> httpx.Response:
    if response.status_code != 200:
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Beginning(response.stream)
        return response
    assert isinstance(response.stream, httpx.AsyncByteStream)
    pieces = aiter(response.stream)
    begun = b""
    is_page = response.headers.get("content-type", "").startswith("text/html")
    is_encoded = "content-encoding" in response.headers
    while not is_encoded and not begun.strip():
        piece = await anext(pieces, None)
        if piece is None:
            break
        begun += piece
    first = begun.lstrip()[:1]
    if first == b"<" or (is_encoded and is_page):
        await response.aclose()
        raise _web_page(request.url)
    seen = StreamBytes()
    events_of = _EVENTS.get(request.url.path.rpartition("/")[2])
    if first == b"{" and events_of is not None and _asks_for_stream(request):
        body = await _whole(begun, pieces)
        await response.aclose()
        return _as_stream(response, events_of(json.loads(body)), seen)
    response.extensions[EXTENSION] = seen
    response.stream = _Seen(
        response.stream, begun, pieces, seen, is_streamed=_asks_for_stream(request)
    )
    return response


def _web_page(url: httpx.URL) -> NetworkProblem:
    return NetworkProblem(
        f"{_shown(url)}{url.path} answers with a web page, not with a model's answer. Check that "
        "the address is that of the API (it often ends in /v1). If the page is a sign-in page of "
        "a proxy, sign in first."
    )


def _asks_for_stream(request: httpx.Request) -> bool:
    return b'"stream":true' in request.content.replace(b" ", b"")


class _Beginning(httpx.AsyncByteStream):
    """The beginning of an error's body: litellm looks for keys in it by patterns of its own, which
    take seconds for a megabyte."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = _LONGEST_ERROR
        async for piece in self._stream:
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Seen(httpx.AsyncByteStream):
    """The bytes of an answer, of which some have been read."""

    def __init__(
        self,
        stream: httpx.AsyncByteStream,
        begun: bytes,
        rest: AsyncIterator[bytes],
        seen: StreamBytes,
        *,
        is_streamed: bool,
    ) -> None:
        self._stream = stream
        self._begun = begun
        self._rest = rest
        self._seen = seen
        self._is_streamed = is_streamed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if whole := self._seen.note(self._begun):
            yield whole
        async for piece in self._rest:
            whole = self._seen.note(piece)
            if self._seen.is_over:
                if self._is_streamed:
                    return
                raise _too_large()
            if whole:
                yield with_joined_text(whole) if self._is_streamed else whole
        if rest := self._seen.complete():
            yield rest

    async def aclose(self) -> None:
        await self._stream.aclose()


def _too_large() -> NetworkProblem:
    return NetworkProblem(
        f"The model's answer is larger than {megabytes(MAX_ANSWER_EVENT_BYTES)}, which is the most "
        "that is read of an answer in one piece."
    )


async def _whole(begun: bytes, rest: AsyncIterator[bytes]) -> bytes:
    pieces, size = [begun], len(begun)
    async for piece in rest:
        pieces.append(piece)
        size += len(piece)
        if size > MAX_ANSWER_EVENT_BYTES:
            raise _too_large()
    return b"".join(pieces)


def _as_stream(
    response: httpx.Response, events: Iterable[dict[str, Any]], seen: StreamBytes
) -> httpx.Response:
    """A whole answer as the stream that was asked for."""
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    stream = "".join([*lines, "data: [DONE]\n\n"]).encode()
    seen.note(stream)
    headers = {"content-type": "text/event-stream"}
    return httpx.Response(
        200, headers=headers, content=stream, extensions={**response.extensions, EXTENSION: seen}
    )


def _chat_events(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for choice in answer.get("choices") or []:
        choice["delta"] = choice.pop("message", None) or {}
        for place, call in enumerate(choice["delta"].get("tool_calls") or []):
            call.setdefault("index", place)
    yield {**answer, "object": "chat.completion.chunk"}


def _response_events(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    status = answer.get("status")
    if answer.get("error"):
        yield {"type": "response.failed", "response": {**answer, "status": "failed"}}
        return
    for place, item in enumerate(answer.get("output") or []):
        at = {"output_index": place, "item_id": item.setdefault("id", f"item_{place}")}
        if item.get("type") == "message":
            text = {"type": "response.output_text.delta", "delta": text_of(item), "logprobs": []}
            yield {**text, **at, "content_index": 0}
        yield {"type": "response.output_item.done", **at, "item": item}
    end = "response.incomplete" if status == "incomplete" else "response.completed"
    yield {"type": end, "response": answer}


_EVENTS: dict[str, Callable[[dict[str, Any]], Iterator[dict[str, Any]]]] = {
    "completions": _chat_events,
    "responses": _response_events,
}
"""By the last part of a request's path: the events of an answer in one piece."""
