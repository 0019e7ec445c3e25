"""Where a sign-in may lead: what MCP servers say of it is untrusted."""

from __future__ import annotations

from urllib.parse import urlsplit

from ....models.connections.connection import is_loopback


class AddressRefused(Exception):
    """An address that is not used: says why, for a user."""


def check_address(address: str, server_url: str) -> None:
    """Whether secrets may be sent there, or the user's browser: only over https, and for a server
    on this computer also to this computer. Raises ``AddressRefused``."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme == "https" and host:
        return
    is_local = is_loopback(host) and is_loopback(urlsplit(server_url).hostname)
    if parts.scheme != "http" or not is_local:
        raise AddressRefused(
            f"The server names the address {address[:200]!r} for signing in, which is not used: "
            "it has to begin with https://."
        )


def redirect_uri(origin: str, host: str, path: str) -> str:
    """The address to which the browser comes back: that of the page that asks, which ``host``, of
    the request, has to confirm. Raises ``AddressRefused``."""
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or parts.netloc.lower() != host.lower():
        raise AddressRefused(
            f"The page says that it is at {origin[:200]!r}, and the server is asked as "
            f"{host[:200]!r}. Open JupyterLab by the server's own address to sign in."
        )
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise AddressRefused(
            "Signing in needs JupyterLab over https, or on this computer (localhost): the answer "
            "would cross the network in the clear. Give the server a token in its headers instead."
        )
    return f"{parts.scheme}://{parts.netloc}{path}"
