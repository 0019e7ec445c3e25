"""An MCP server that wants a sign-in, with its authorization server: both by the official SDK.

As a program it serves until its input ends, and prints its address. Given a redirect address, it
registers nobody and knows one client, ``by-hand``, with ``SECRET``.
"""

from __future__ import annotations

import math
import socket
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import uvicorn
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from jupyter_datalayer_agent.tools.mcp.sign_in import registered_by_hand

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:  # version 1
    from mcp.server.fastmcp import FastMCP as MCPServer  # type: ignore[no-redef]


SECRET = "hush-by-hand-0123456789"


class SignInServer:
    """Grants what it is asked for, unless it ``denies``. Tokens are valid for ``seconds``. Without
    ``registers``, its clients are those that are added to ``clients``."""

    def __init__(self, port: int, *, registers: bool = True) -> None:
        self.registers = registers
        self.origin = f"http://127.0.0.1:{port}"
        self.url = f"{self.origin}/mcp"
        self.denies = False
        self.seconds = 3600
        self.clients: dict[str, Any] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.tokens: dict[str, AccessToken] = {}
        self.refreshes: dict[str, RefreshToken] = {}
        self.refreshed = 0
        self._count = 0

    def app(self) -> Any:
        """The application, for uvicorn."""
        options: Any = {
            "issuer_url": self.origin,
            "resource_server_url": self.url,
            "client_registration_options": ClientRegistrationOptions(enabled=self.registers),
            # Of version 2: tokens are for this server alone (RFC 8707).
            "validate_token_resource": True,
        }
        settings = AuthSettings(**options)
        with warnings.catch_warnings():
            # Version 1 has a field whose type newer pydantic-settings do not resolve.
            warnings.simplefilter("ignore")
            provider: Any = self
            server = MCPServer(
                "sign-in", auth_server_provider=provider, auth=settings, log_level="ERROR"
            )

        @server.tool()
        def secret() -> str:
            """What only users who signed in may know."""
            return "The answer is 42."

        return server.streamable_http_app()

    def _new(self, what: str) -> str:
        self._count += 1
        return f"{what}-{self._count}-8e1f0c5d7b2a4936"

    # -- the SDK's provider

    async def get_client(self, client_id: str) -> Any:
        return self.clients.get(client_id)

    async def register_client(self, client_info: Any) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: Any, params: Any) -> str:
        answer = {"error": "access_denied"}
        if not self.denies:
            code = AuthorizationCode(
                code=self._new("code"),
                client_id=client.client_id,
                scopes=params.scopes or [],
                expires_at=time.time() + 60,
                code_challenge=params.code_challenge,
                redirect_uri=params.redirect_uri,
                redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
                resource=params.resource,
            )
            self.codes[code.code] = code
            answer = {"code": code.code}
        return f"{params.redirect_uri}?{urlencode({**answer, 'state': params.state})}"

    async def load_authorization_code(self, client: Any, authorization_code: str) -> Any:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client: Any, authorization_code: Any) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._issue(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: Any, refresh_token: str) -> Any:
        return self.refreshes.get(refresh_token)

    async def exchange_refresh_token(
        self, client: Any, refresh_token: Any, scopes: list[str]
    ) -> OAuthToken:
        del self.refreshes[refresh_token.token]
        self.refreshed += 1
        return self._issue(client, scopes, getattr(refresh_token, "resource", None))

    async def load_access_token(self, token: str) -> Any:
        found = self.tokens.get(token)
        return found if found is not None and (found.expires_at or 0) > time.time() else None

    async def revoke_token(self, token: Any) -> None:
        self.tokens.pop(token.token, None)

    def _issue(self, client: Any, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = self._new("access"), self._new("refresh")
        self.tokens[access] = AccessToken(
            token=access,
            client_id=client.client_id,
            scopes=scopes,
            expires_at=math.ceil(time.time()) + self.seconds,
            resource=resource,
        )
        self.refreshes[refresh] = RefreshToken(
            token=refresh, client_id=client.client_id, scopes=scopes, resource=resource
        )
        return OAuthToken(
            access_token=access,
            token_type="Bearer",
            expires_in=self.seconds,
            refresh_token=refresh,
            scope=" ".join(scopes),
        )


@contextmanager
def sign_in_server(*, registers: bool = True) -> Iterator[SignInServer]:
    """Both, on loopback."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        served = SignInServer(listening.getsockname()[1], registers=registers)
        config = uvicorn.Config(served.app(), log_level="error", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield served
        finally:
            server.should_exit = True
            thread.join(10)


if __name__ == "__main__":
    with sign_in_server(registers=len(sys.argv) < 2) as running:
        for address in sys.argv[1:]:
            running.clients["by-hand"] = OAuthClientInformationFull.model_validate(
                registered_by_hand("by-hand", SECRET, address)
            )
        print(running.url, flush=True)
        sys.stdin.read()
