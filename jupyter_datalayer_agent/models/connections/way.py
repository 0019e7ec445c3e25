"""How a call's requests reach a model server: proxies, certificates and extra headers.

A call sets its way for as long as it waits for the network. ``wire`` sends requests that way,
whatever client makes them.
"""

from __future__ import annotations

import contextlib
import os
import re
import ssl
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .address import shown_proxy
from .connection import ClientCertificate

if TYPE_CHECKING:
    import httpx

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+\-.^_`|~]+")
"""RFC 9110, 5.1."""
_VALUE = re.compile(r"[\x20-\x7e\t]*")
# The HTTP client sets these itself, from the request and the connection.
_MADE_BY_HTTP = frozenset(
    [
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)
MOST_HEADERS = 20
_CA_FILES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


class NetworkProblem(Exception):
    """Requests to this server cannot succeed. The message says why and what to do, and contains no
    secret."""


@dataclass(frozen=True)
class Way:
    """How requests travel. ``headers`` and ``certificate`` are for the server at ``address`` alone.
    ``secrets`` are values that no message may contain, besides the keys of ``environ``."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    address: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    certificate: ClientCertificate | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def leads_to(self, url: str) -> bool:
        """Whether ``url`` is on the server that headers and certificate are for."""
        return self.address is not None and server_of(url) == server_of(self.address)


_current: ContextVar[Way | None] = ContextVar("datalayer_agent_way", default=None)


def current_way() -> Way | None:
    """The way of the current model call; None outside of one."""
    return _current.get()


@contextlib.contextmanager
def going(way: Way) -> Iterator[None]:
    """Send the requests that begin inside the block this way."""
    token = _current.set(way)
    try:
        yield
    finally:
        _current.reset(token)


def server_of(url: str) -> tuple[str, str, int]:
    """Scheme, host and port. Raises ``ValueError``."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return parts.scheme, (parts.hostname or "").rstrip("."), port


def tls(way: Way, url: str) -> ssl.SSLContext:
    """The authorities to accept and the client certificate to show at ``url``. Raises
    ``NetworkProblem``."""
    named = next(filter(None, (way.environ.get(name, "").strip() for name in _CA_FILES)), None)
    shown = way.certificate if way.leads_to(url) else None
    times = (
        tuple(_changed(file) for file in (shown.certificate, shown.key) if file) if shown else ()
    )
    return _context(named, shown, times)


def _changed(file: str) -> float:
    with contextlib.suppress(OSError):
        return Path(file).expanduser().stat().st_mtime
    return 0.0


@lru_cache(maxsize=8)
def _context(
    authorities: str | None, shown: ClientCertificate | None, _: tuple[float, ...]
) -> ssl.SSLContext:
    # Cached, since reading the files takes a while; by their times, so that a renewed one is read.
    import certifi

    try:
        context = ssl.create_default_context(cafile=authorities or certifi.where())
    except OSError as error:
        raise NetworkProblem(
            f"The certificates of {authorities}, which SSL_CERT_FILE or REQUESTS_CA_BUNDLE names, "
            f"cannot be read: {error.strerror or error}."
        ) from error
    if shown is None:
        return context
    files = [
        None if it is None else str(Path(it).expanduser()) for it in (shown.certificate, shown.key)
    ]
    for file in files:
        if file is not None and not Path(file).is_file():
            raise NetworkProblem(f"The client certificate cannot be used: {file} does not exist.")
    try:
        # Without a password of its own, OpenSSL would ask for one in the server's terminal.
        context.load_cert_chain(files[0], files[1], password=_no_password)  # type: ignore[arg-type]
    except _Encrypted as error:
        raise NetworkProblem(
            f"The key of the client certificate ({files[1] or files[0]}) is protected by a "
            "password. Write it without one: openssl pkey -in KEY -out PLAIN_KEY."
        ) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "reason", None) or getattr(error, "strerror", None) or "not PEM"
        raise NetworkProblem(
            f"The client certificate {files[0]} and its key cannot be used together: {why}."
        ) from error
    return context


class _Encrypted(Exception):
    pass


def _no_password() -> str:
    raise _Encrypted


def through(proxy: str | None, context: ssl.SSLContext | None) -> httpx.AsyncBaseTransport:
    """The network behind a proxy, if there is one. Raises ``NetworkProblem``."""
    import httpx

    try:
        return httpx.AsyncHTTPTransport(proxy=proxy, verify=context or True)
    except ImportError as error:
        assert proxy is not None
        raise NetworkProblem(
            f"The proxy {shown_proxy(proxy)} speaks SOCKS, which needs a package. Run: pip install "
            "socksio, then restart the server."
        ) from error
    except (ValueError, httpx.InvalidURL) as error:
        assert proxy is not None
        raise NetworkProblem(
            f"The proxy {shown_proxy(proxy)} cannot be used. Its address begins with http://, "
            "https:// or socks5://."
        ) from error


def needs_login(proxy: str) -> NetworkProblem:
    return NetworkProblem(
        f"The proxy {shown_proxy(proxy)} needs a login. Add user name and password to its address "
        "where it is set: http://USER:PASSWORD@HOST:PORT. Then restart the server."
    )


def header_problem(headers: Mapping[str, str | None]) -> str | None:
    """Why these headers cannot be sent, without any of their values; None if they can."""
    if len(headers) > MOST_HEADERS:
        return f"At most {MOST_HEADERS} headers are possible."
    seen: set[str] = set()
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            return (
                "A header's name consists of letters, digits and hyphens, without spaces and "
                "colons. Example: X-Api-Key."
            )
        lower = name.lower()
        if lower in _MADE_BY_HTTP:
            return f"{name} is set automatically and cannot be changed."
        if lower in seen:
            return f"The header {name} is given twice."
        seen.add(lower)
        if value is not None and (not value.strip() or not _VALUE.fullmatch(value)):
            return f"The value of {name} must be one line of ASCII characters."
    return None
