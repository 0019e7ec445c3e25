"""Detects which kind of model server listens at an address, and lists its models, by its own API.

The order matters: llama.cpp's server also has Ollama's ``/api/tags``, and LM Studio answers unknown
paths with status 200.
"""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...imports import importing
from .address import normalized, origin_of, proxy_for
from .connection import ServerKind, ServerModel
from .way import NetworkProblem, Way, through, tls

if TYPE_CHECKING:
    import httpx


# Requests JSON from a model server, and explains failures to users.
#
# Redirects are not followed: they could send a key to another host.


MAX_BYTES = 4_000_000


class ServerError(Exception):
    """The server did not answer with JSON of the expected form. The message says why, without the
    text that the server sent.

    ``status`` is the HTTP status, None if there was no answer."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


async def get_json(
    client: httpx.AsyncClient, url: str, key: str | None = None, body: Any = None
) -> Any:
    """The JSON that a GET returns, or a POST if there is a ``body``. Raises ``ServerError``."""
    import httpx

    headers = {"Accept": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    method = "GET" if body is None else "POST"
    try:
        async with client.stream(method, url, headers=headers, json=body) as response:
            if response.status_code != 200:
                raise _refused(response, bool(key))
            content = b""
            async for part in response.aiter_bytes():
                content += part
                if len(content) > MAX_BYTES:
                    raise ServerError(f"{_host(url)} sent more than {MAX_BYTES / 1e6:g} MB.", 200)
    except httpx.TimeoutException as error:
        raise ServerError(f"{_host(url)} did not answer in time.") from error
    # Some TLS alerts are raised as ssl's own errors, which httpx does not wrap.
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, OSError) as error:
        raise ServerError(_unreachable(error, url)) from error
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ServerError(
            f"{_host(url)} does not answer like a model server: {urlsplit(url).path} is not JSON.",
            200,
        ) from error


def _refused(response: httpx.Response, has_key: bool) -> ServerError:
    status, url = response.status_code, str(response.url)
    host, path = _host(url), urlsplit(url).path
    if status in (401, 403):
        message = f"{host} refused the key." if has_key else f"{host} needs a key."
    elif status == 407:
        message = (
            "The proxy needs a login. Add user name and password to its address where it is set."
        )
    elif status == 404:
        message = f"{host} has no {path}. The address of most model servers ends in /v1."
    elif 300 <= status < 400:
        target = urlsplit(response.headers.get("location", ""))
        where = f"{target.scheme}://{target.netloc}" if target.netloc else "another page"
        message = f"{host} redirects to {where}. Enter the address that it leads to."
    else:
        message = f"{host} answered with status {status}."
    return ServerError(message, status)


def _unreachable(error: Exception, url: str) -> str:
    host = _host(url)
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"The certificate of {host} is not trusted: {cause.verify_message}."
        if isinstance(cause, ssl.SSLError) and "CERTIFICATE_REQUIRED" in str(cause):
            return f"{host} asks for a client certificate. Enter one for this address."
        if isinstance(cause, ssl.SSLError):
            return (
                f"{host} does not speak https, or asks for a client certificate. Does its address "
                "begin with http://?"
            )
        if isinstance(cause, socket.gaierror):
            return f"The host {urlsplit(url).hostname} was not found."
        if isinstance(cause, OSError) and cause.errno == errno.ECONNREFUSED:
            return f"Nothing listens at {host}. Is the server running?"
    return f"{host} cannot be reached ({type(error).__name__})."


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting: list[BaseException] = [error]
    while waiting:
        current = waiting.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting.extend(getattr(current, "exceptions", ()))
        waiting.extend(each for each in (current.__cause__, current.__context__) if each)


def _host(url: str) -> str:
    return urlsplit(url).netloc


DETAILED = 20
"""The number of Ollama's models, newest first, whose details are requested."""
_NO_CHAT = ("embed", "rerank", "whisper", "clip")


@dataclass(frozen=True)
class DetectedServer:
    """A model server. ``api_base`` is the address for litellm; ``needs_key``: it lists no models
    without a key."""

    kind: ServerKind
    api_base: str
    models: tuple[ServerModel, ...] = ()
    needs_key: bool = False


async def detect(client: httpx.AsyncClient, address: str, key: str | None) -> DetectedServer:
    """The server at a normalised address. Raises ``ServerError``."""
    origin = origin_of(address)
    if address.removeprefix(origin) in ("", "/v1"):
        for detector in (_llama_cpp, _lm_studio, _ollama):
            server = await _try_detector(detector, client, origin, key)
            if server is not None:
                return server
    bases = [address] if address != origin else [f"{origin}/v1", origin]
    for base in bases:
        try:
            listed = await get_json(client, f"{base}/models", key)
        except ServerError as error:
            if error.status == 404 and base != bases[-1]:
                continue
            if error.status in (401, 403) and key is None:
                return DetectedServer("openai_compatible", base, needs_key=True)
            raise
        data = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(data, list):
            raise ServerError(f"{origin} answered, but with no list of models.", 200)
        is_vllm = any(isinstance(each, dict) and each.get("owned_by") == "vllm" for each in data)
        kind: ServerKind = "vllm" if is_vllm else "openai_compatible"
        return DetectedServer(kind, base, _chat_models(data, _openai_model))
    raise AssertionError("each base returns or raises")


async def _try_detector(
    detector: Callable[[httpx.AsyncClient, str, str | None], Any],
    client: httpx.AsyncClient,
    origin: str,
    key: str | None,
) -> DetectedServer | None:
    """The server that the detector recognizes; None if another kind of server answered. Raises
    ``ServerError`` if nothing answered: then the other detectors need not try."""
    try:
        server = await detector(client, origin, key)
    except ServerError as error:
        if error.status is None:
            raise
        return None
    return server if isinstance(server, DetectedServer) else None


async def _llama_cpp(
    client: httpx.AsyncClient, origin: str, key: str | None
) -> DetectedServer | None:
    """https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"""
    props = await get_json(client, f"{origin}/props", key)
    settings = props.get("default_generation_settings") if isinstance(props, dict) else None
    if not isinstance(settings, dict):
        return None
    listed = await get_json(client, f"{origin}/v1/models", key)
    data = listed.get("data") if isinstance(listed, dict) else None
    window = _whole(settings.get("n_ctx"))
    modalities = props.get("modalities")
    sees = modalities.get("vision") if isinstance(modalities, dict) else None
    models = _chat_models(data if isinstance(data, list) else [], _openai_model)
    models = tuple(
        replace(
            each,
            name=_file_name(each.name),
            context_window=window or each.context_window,
            vision=sees if isinstance(sees, bool) else None,
        )
        for each in models
    )
    return DetectedServer("llama_cpp", f"{origin}/v1", models)


async def _lm_studio(
    client: httpx.AsyncClient, origin: str, key: str | None
) -> DetectedServer | None:
    """https://lmstudio.ai/docs/developer/rest/endpoints"""
    listed = await get_json(client, f"{origin}/api/v0/models", key)
    data = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(data, list) or not all(
        isinstance(each, dict) and "type" in each and "state" in each for each in data
    ):
        return None

    def model(each: dict[str, Any]) -> ServerModel | None:
        if each["type"] not in ("llm", "vlm"):
            return None
        window = _whole(each.get("loaded_context_length")) or _whole(each.get("max_context_length"))
        can = each.get("capabilities")
        return ServerModel(
            str(each.get("id")),
            context_window=window,
            vision=each["type"] == "vlm",
            tools="tool_use" in can if isinstance(can, list) else None,
        )

    return DetectedServer("lm_studio", f"{origin}/v1", _chat_models(data, model))


async def _ollama(client: httpx.AsyncClient, origin: str, key: str | None) -> DetectedServer | None:
    """https://github.com/ollama/ollama/blob/main/docs/api.md"""
    listed = await get_json(client, f"{origin}/api/tags", key)
    models = listed.get("models") if isinstance(listed, dict) else None
    if not isinstance(models, list):
        return None

    def model(each: dict[str, Any]) -> ServerModel | None:
        details = each.get("details")
        parameters = details.get("parameter_size") if isinstance(details, dict) else None
        name = str(each.get("name") or each.get("model"))
        shown = str(parameters) if parameters else None
        return ServerModel(name, size=_whole(each.get("size")), parameters=shown)

    named = _chat_models(models, model)
    detailed = await asyncio.gather(
        *(_ollama_details(client, origin, key, each) for each in named[:DETAILED])
    )
    chat = tuple(each for each in detailed if each is not None)
    return DetectedServer("ollama", origin, (*chat, *named[DETAILED:]))


async def _ollama_details(
    client: httpx.AsyncClient, origin: str, key: str | None, model: ServerModel
) -> ServerModel | None:
    """The model with its context window and capabilities; None if it cannot chat."""
    try:
        shown = await get_json(client, f"{origin}/api/show", key, {"model": model.name})
    except ServerError:
        return model
    if not isinstance(shown, dict):
        return model
    info = shown.get("model_info")
    lengths = [
        _whole(value)
        for name, value in (info.items() if isinstance(info, dict) else ())
        if str(name).endswith(".context_length")
    ]
    can = shown.get("capabilities")
    if not isinstance(can, list):
        return replace(model, context_window=next(iter(lengths), None))
    if "completion" not in can:
        return None
    return replace(
        model,
        context_window=next(iter(lengths), None),
        vision="vision" in can,
        tools="tools" in can,
    )


def _openai_model(each: dict[str, Any]) -> ServerModel:
    """A model of ``/v1/models``; vLLM adds ``max_model_len``, llama.cpp ``meta``."""
    meta = each.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    window = _whole(each.get("max_model_len")) or _whole(meta.get("n_ctx_train"))
    return ServerModel(str(each.get("id")), size=_whole(meta.get("size")), context_window=window)


def _chat_models(
    data: list[Any], model: Callable[[dict[str, Any]], ServerModel | None]
) -> tuple[ServerModel, ...]:
    """The models of a list, without those whose names say that they cannot chat."""
    listed = [model(entry) for entry in data if isinstance(entry, dict)]
    return tuple(
        each
        for each in listed
        if each is not None and each.name and not any(no in each.name.lower() for no in _NO_CHAT)
    )


def _file_name(name: str) -> str:
    """The file's name: llama.cpp lists a model by its path, and accepts any name in requests."""
    return name.replace("\\", "/").rsplit("/", 1)[-1]


def _whole(value: Any) -> int | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return int(value) if is_number and 0 < value < 2**53 else None


# Looks for model servers on this computer, and at an address that a user entered.


LOCAL_SECONDS = 2.0
ADDRESS_SECONDS = 15.0


class LocalServers:
    """Looks for servers at ports of 127.0.0.1, but only when asked to."""

    def __init__(self) -> None:
        self._looking: asyncio.Task[list[DetectedServer]] | None = None

    async def look(self, ports: Sequence[int]) -> list[DetectedServer]:
        """Ask all ports at once. Callers that come during a search share its result."""
        if self._looking is None:
            self._looking = asyncio.ensure_future(_look(ports))
            self._looking.add_done_callback(self._done)
        return await asyncio.shield(self._looking)

    def _done(self, _: object) -> None:
        self._looking = None


async def _look(ports: Sequence[int]) -> list[DetectedServer]:
    servers = await asyncio.gather(*(_at_port(port) for port in dict.fromkeys(ports)))
    return [server for server in servers if server is not None]


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
    """To be called in a thread: the import and the certificates take a tenth of a second."""
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
