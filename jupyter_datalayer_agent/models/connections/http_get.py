"""GET of JSON from a model server, with its failures in a user's language.

Redirects are not followed: they could lead a key to another host.
"""

from __future__ import annotations

import errno
import json
import socket
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 4_000_000


class ServerError(Exception):
    """The server gave no JSON; the message says what it did, without anything that it sent.

    ``status`` is the HTTP status, None where there was no answer."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


async def get_json(
    client: httpx.AsyncClient, url: str, key: str | None = None, body: Any = None
) -> Any:
    """The JSON of a GET, or with a ``body`` of a POST. Raises ``ServerError``."""
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
                    raise ServerError(f"{_host(url)} sent too much.", 200)
    except httpx.TimeoutException as error:
        raise ServerError(f"{_host(url)} did not answer in time.") from error
    # TLS reports some of its alerts by itself.
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, OSError) as error:
        raise ServerError(_unreachable(error, url)) from error
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ServerError(
            f"{_host(url)} answered, but not as a model server does: {urlsplit(url).path} is not "
            "JSON.",
            200,
        ) from error


def _refused(response: httpx.Response, has_key: bool) -> ServerError:
    status, url = response.status_code, str(response.url)
    host, path = _host(url), urlsplit(url).path
    if status in (401, 403):
        message = f"{host} refused the key." if has_key else f"{host} needs a key."
    elif status == 407:
        message = "The proxy needs a login. Name it with user and password where it is set."
    elif status == 404:
        message = f"{host} has no {path}. The address of most model servers ends in /v1."
    elif 300 <= status < 400:
        target = urlsplit(response.headers.get("location", ""))
        where = f"{target.scheme}://{target.netloc}" if target.netloc else "another page"
        message = f"{host} redirects to {where}. Enter the address that it leads to."
    else:
        message = f"{host} answered with the status {status}."
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
            return f"There is no host {urlsplit(url).hostname}."
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
