"""The SDK's OAuth client: discovery, registration, PKCE and refresh, with our limits around it."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ....imports import load
from .addresses import check_address
from .grants import Grant

CLIENT_NAME = "Jupyter Datalayer Agent"
LONG_AGO = 1.0
"""When a token has expired that the server refuses, in seconds since 1970."""


@dataclass(frozen=True)
class Answer:
    """What the browser came back with."""

    code: str
    state: str
    iss: str | None = None


@dataclass(frozen=True)
class Browser:
    """The user's browser: ``open`` gets the address to sign in at, ``answer`` waits for what comes
    back to ``redirect_uri``."""

    redirect_uri: str
    open: Callable[[str], Awaitable[None]]
    answer: Callable[[], Awaitable[Answer]]


class OAuth:
    """To be made in a thread: it imports."""

    def __init__(self) -> None:
        self._auth: Any = load("mcp.client.auth")
        self._types: Any = load("mcp.shared.auth")
        # Each failure is reported to the user; the SDK's tracebacks add nothing to that.
        logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL)

    def provider(
        self,
        grant: Grant,
        save: Callable[[Grant], Awaitable[None]],
        browser: Browser | None = None,
    ) -> Any:
        """Authentication for httpx (or httpx2). Without a ``browser`` it sends the grant's token,
        and refreshes it; a server that refuses it has the last word."""
        types, is_interactive = self._types, browser is not None

        class Provider(self._auth.OAuthClientProvider):  # type: ignore[misc, name-defined]
            """See ``OAuthClientProvider``."""

            async def async_auth_flow(self, request: Any) -> AsyncGenerator[Any, Any]:
                """See httpx."""
                context = self.context
                if not is_interactive and context.is_token_valid():
                    # The SDK would let one request wait for the answer of another.
                    token = context.current_tokens.access_token
                    request.headers["Authorization"] = f"Bearer {token}"
                    response = yield request
                    if response.status_code != 401 or not context.can_refresh_token():
                        return
                    # Clocks differ, and tokens are withdrawn; another request may have refreshed.
                    if context.current_tokens.access_token == token:
                        context.token_expiry_time = LONG_AGO
                flow = super().async_auth_flow(request)
                try:
                    sent = await flow.__anext__()
                    while True:
                        if sent is not request:
                            check_address(str(sent.url), grant.url)
                        response = yield sent
                        if sent is request and not is_interactive:
                            return
                        sent = await flow.asend(response)
                except StopAsyncIteration:
                    return
                finally:
                    await flow.aclose()

        async def on_redirect(address: str) -> None:
            assert browser is not None
            check_address(address, grant.url)
            await browser.open(address)

        async def on_callback() -> Any:
            assert browser is not None
            answer = await browser.answer()
            _check_issuer(answer.iss, provider.context.oauth_metadata)
            result = getattr(types, "AuthorizationCodeResult", None)
            if result is None:
                return answer.code, answer.state
            return result(code=answer.code, state=answer.state, iss=answer.iss)

        back = browser.redirect_uri if browser is not None else None
        registered = (grant.client or {}).get("redirect_uris") or []
        provider = Provider(
            server_url=grant.url,
            client_metadata=types.OAuthClientMetadata(
                client_name=CLIENT_NAME,
                redirect_uris=[back or (registered or ["http://localhost/"])[0]],
                grant_types=["authorization_code", "refresh_token"],
                response_types=["code"],
            ),
            storage=_Storage(types, grant, save, lambda: provider.context),
            redirect_handler=on_redirect,
            callback_handler=on_callback,
        )
        if not is_interactive:
            _restore(provider.context, types, grant)
        return provider


def registered_by_hand(client_id: str, secret: str | None, redirect_uri: str) -> dict[str, Any]:
    """The registration of a client that the user made at the server, in the SDK's form."""
    client: dict[str, Any] = {"client_id": client_id, "redirect_uris": [redirect_uri]}
    if not secret:
        return {**client, "token_endpoint_auth_method": "none"}
    # What every server has to support for clients with a secret (RFC 6749, 2.3.1).
    return {
        **client,
        "client_secret": secret,
        "token_endpoint_auth_method": "client_secret_basic",
    }


class _Storage:
    """The SDK's storage: the grant, which is saved whenever there are new tokens."""

    def __init__(
        self,
        types: Any,
        grant: Grant,
        save: Callable[[Grant], Awaitable[None]],
        context: Callable[[], Any],
    ) -> None:
        self._types = types
        self._grant = grant
        self._save = save
        self._context = context

    async def get_tokens(self) -> Any:
        """The tokens that there are."""
        return _model(self._types.OAuthToken, self._grant.tokens)

    async def set_tokens(self, tokens: Any) -> None:
        """Keep new tokens, with what refreshing them will need."""
        grant, context = self._grant, self._context()
        if tokens.refresh_token is None and grant.tokens is not None:
            # A server that does not give another one means the same one (RFC 6749, 6).
            tokens.refresh_token = grant.tokens.get("refresh_token")
        grant.tokens = _json(tokens)
        grant.expires_at = None if tokens.expires_in is None else time.time() + tokens.expires_in
        grant.client = _json(context.client_info)
        grant.metadata = _json(context.oauth_metadata)
        grant.resource = _json(context.protected_resource_metadata)
        await self._save(grant)

    async def get_client_info(self) -> Any:
        """The registration of this program."""
        return _model(self._types.OAuthClientInformationFull, self._grant.client)

    async def set_client_info(self, client: Any) -> None:
        """Note a registration; it is kept with the tokens."""
        self._grant.client = _json(client)


def _restore(context: Any, types: Any, grant: Grant) -> None:
    """What the SDK forgets between two processes, without which it cannot refresh."""
    context.current_tokens = _model(types.OAuthToken, grant.tokens)
    context.client_info = _model(types.OAuthClientInformationFull, grant.client)
    context.oauth_metadata = _model(types.OAuthMetadata, grant.metadata)
    context.protected_resource_metadata = _model(types.ProtectedResourceMetadata, grant.resource)
    context.token_expiry_time = grant.expires_at


def _check_issuer(iss: str | None, metadata: Any) -> None:
    """Whether the answer comes from the server that was asked (RFC 9207)."""
    if iss is None or metadata is None:
        return
    if iss.rstrip("/") != str(metadata.issuer).rstrip("/"):
        raise ValueError("The answer came from another server than the one that was asked.")


def _json(model: Any) -> dict[str, Any] | None:
    if model is None:
        return None
    data: dict[str, Any] = model.model_dump(mode="json", exclude_none=True)
    return data


def _model(kind: Any, data: dict[str, Any] | None) -> Any:
    return None if data is None else kind.model_validate(data)
