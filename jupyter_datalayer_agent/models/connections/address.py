"""The address of a model server as a user types it, and the way to it."""

from __future__ import annotations

import os
import re
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit, urlunsplit

from .connection import is_loopback

# Users paste the URL of an example request; litellm takes only the part before the endpoint.
_ENDPOINT = re.compile(r"/(chat/completions|completions|responses|models|embeddings)/?$")
_HOST = re.compile(r"^[A-Za-z0-9._\-]+$|^[0-9A-Fa-f:.]+$")


class AddressError(Exception):
    """The address cannot be used; the message says why."""


def normalized(text: str) -> str:
    """Return the address as ``http(s)://host[:port][/path]``, without the path of an endpoint.

    An address without a scheme gets http on this computer and https elsewhere. Raises
    ``AddressError``."""
    text = text.strip()
    if not text:
        raise AddressError("Enter an address, http://localhost:8000/v1 for example.")
    if "://" not in text:
        host = text.partition("/")[0].rpartition("@")[2].rsplit(":", 1)[0].strip("[]")
        text = f"{'http' if is_loopback(host) else 'https'}://{text}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise AddressError("Not a valid address: check its host and port.") from error
    if parts.scheme not in ("http", "https"):
        raise AddressError("The address must begin with http:// or https://.")
    if "@" in parts.netloc:
        raise AddressError(
            "Remove the user name or password from the address, and enter a key instead."
        )
    if parts.query or parts.fragment:
        raise AddressError("Remove ? or # and everything after it from the address.")
    host = parts.hostname or ""
    if not _HOST.match(host):
        raise AddressError("Not a valid address: check its host.")
    shown = f"[{host}]" if ":" in host else host
    path = _ENDPOINT.sub("", parts.path).rstrip("/")
    if any(character.isspace() or not character.isprintable() for character in path):
        raise AddressError("The address contains a space or an invisible character.")
    return urlunsplit((parts.scheme, f"{shown}:{port}" if port else shown, path, "", ""))


def origin_of(address: str) -> str:
    """``http://host:port`` of an address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def proxy_for(address: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """The proxy that a request to ``address`` goes through: the environment's, or, where it names
    none, the one in the settings of macOS or Windows. None for this computer, whatever they say."""
    parts = urlsplit(address)
    host = (parts.hostname or "").rstrip(".")
    if is_loopback(host):
        return None
    proxies = {
        name.lower().removesuffix("_proxy"): value.strip()
        for name, value in environ.items()
        if name.lower().endswith("_proxy") and value.strip()
    }
    if not proxies:
        proxies = _system_proxies(host)
    elif _is_excepted(host, parts.port, proxies.get("no", "")):
        return None
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def shown_proxy(proxy: str) -> str:
    """The proxy's host and port only, since its address may contain a password."""
    return urlsplit(proxy if "://" in proxy else f"//{proxy}").netloc.rpartition("@")[2]


def _is_excepted(host: str, port: int | None, exceptions: str) -> bool:
    """Whether ``NO_PROXY`` covers the host. An entry is a domain, which includes its subdomains, an
    address or a network such as ``10.0.0.0/8``, each with or without a port; or ``*``."""
    for text in exceptions.replace(",", " ").split():
        entry = text.lower()
        if entry == "*":
            return True
        name, _, number = entry.rpartition(":")
        if name and number.isdigit() and (":" not in name or name.endswith("]")):
            if int(number) != port:
                continue
            entry = name
        entry = entry.strip("[]")
        try:
            network = ip_network(entry, strict=False)
        except ValueError:
            entry = entry.removeprefix("*").lstrip(".").rstrip(".")
            if entry and (host == entry or host.endswith(f".{entry}")):
                return True
            continue
        with suppress(ValueError):
            if ip_address(host) in network:
                return True
    return False


def _system_proxies(host: str) -> dict[str, str]:
    # Python defines each pair of functions on its own platform only.
    for read, bypass in (
        ("getproxies_macosx_sysconf", "proxy_bypass_macosx_sysconf"),
        ("getproxies_registry", "proxy_bypass_registry"),
    ):
        if hasattr(urllib.request, read):
            is_excepted = getattr(urllib.request, bypass)(host)
            return {} if is_excepted else dict(getattr(urllib.request, read)())
    return {}
