"""Signing in to MCP servers over HTTP, by OAuth."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ...imports import load
from ...models.connections.connection import KeyPlace, is_loopback
from ...models.connections.key_store import KeyStore, KeyStoreError
from .bounded_http import AnswerTooLarge, Bound
from .definition import SHORTEST_SECRET, DefinitionError, ServerDefinition, visible
from .sdk import Sdk
from .state_file import StateFile

# Where a sign-in may lead: what MCP servers say about it is untrusted.


class AddressRefused(Exception):
    """An address that is refused: says why, for a user."""


def check_address(address: str, server_url: str) -> None:
    """Check that secrets, or the user's browser, may be sent there: only over https or, for a
    server on this computer, to this computer. Raises ``AddressRefused``."""
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
            f"The server's sign-in address {address[:200]!r} was refused: it must begin with "
            "https://."
        )


def redirect_uri(origin: str, host: str, path: str) -> str:
    """The address to which the browser returns: at the page's origin, which ``host``, from the
    request, has to confirm. Raises ``AddressRefused``."""
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or parts.netloc.lower() != host.lower():
        raise AddressRefused(
            f"The page's address is {origin[:200]!r}, but the request went to {host[:200]!r}. Open "
            "JupyterLab at the server's own address to sign in."
        )
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise AddressRefused(
            "Signing in requires JupyterLab over https, or on this computer (localhost): otherwise "
            "the answer is not encrypted. Or put a token in the server's headers."
        )
    return f"{parts.scheme}://{parts.netloc}{path}"


# The result of a sign-in: tokens, stored where models' keys are.


LARGEST = 60_000
"""Characters that are stored."""


@dataclass
class Grant:
    """Tokens for the server at ``url``, and what refreshing them needs: the SDK's objects as JSON.

    ``expires_at`` is when the access token does, in seconds since 1970."""

    url: str
    tokens: dict[str, Any] | None = None
    client: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    resource: dict[str, Any] | None = None
    expires_at: float | None = None
    place: KeyPlace = field(default="file", repr=False)

    def redacted(self, text: str) -> str:
        """The text without the secrets."""
        tokens, client = self.tokens or {}, self.client or {}
        secrets = [tokens.get("access_token"), tokens.get("refresh_token")]
        for secret in [*secrets, client.get("client_secret")]:
            if isinstance(secret, str) and len(secret) >= SHORTEST_SECRET:
                text = text.replace(secret, "[redacted]")
        return text


class Grants:
    """The grants of all servers. ``state`` knows which servers have one, and where it is stored."""

    def __init__(self, keys: KeyStore, state: StateFile) -> None:
        self.keys = keys
        self._state = state

    def has(self, server: ServerDefinition) -> bool:
        """Whether the user has signed in to it."""
        return self._state.signed_in(server) is not None

    async def get(self, server: ServerDefinition, url: str) -> Grant | None:
        """The grant for the server at this address. Raises ``KeyStoreError``."""
        place = self._state.signed_in(server)
        if place is None:
            return None
        text = await self.keys.get(_id(server), place)
        try:
            found = Grant(**json.loads(text or ""), place=place)
        except (TypeError, ValueError):
            return None
        # Tokens go only to the server that they were issued for, not to another with its name.
        return found if found.url == url else None

    async def save(self, server: ServerDefinition, grant: Grant) -> None:
        """Store a grant. Raises ``KeyStoreError`` and ``OSError``."""
        kept = asdict(grant)
        del kept["place"]
        text = json.dumps(kept)
        if len(text) > LARGEST:
            raise KeyStoreError("The server's tokens are too large to store.")
        await self.keys.set(_id(server), text, grant.place)
        self._state.set_signed_in(server, grant.place)

    async def forget(self, server: ServerDefinition) -> None:
        """Remove what is stored for a server. Raises ``KeyStoreError`` and ``OSError``."""
        if server.url is None:
            return
        await self.keys.delete(_id(server), self._state.signed_in(server))
        self._state.set_signed_in(server, None)


def _id(server: ServerDefinition) -> str:
    return f"mcp-{hashlib.sha256(server.key.encode()).hexdigest()[:32]}"


# The SDK's OAuth client: discovery, registration, PKCE and refresh, with our limits around it.


CLIENT_NAME = "Jupyter Datalayer Agent"
LONG_AGO = 1.0
"""The expiry, in seconds since 1970, that is set for a token that the server refuses."""


@dataclass(frozen=True)
class Answer:
    """What the browser returned with."""

    code: str
    state: str
    iss: str | None = None


@dataclass(frozen=True)
class Browser:
    """The user's browser: ``open`` gets the address to sign in at, ``answer`` waits for what
    returns to ``redirect_uri``."""

    redirect_uri: str
    open: Callable[[str], Awaitable[None]]
    answer: Callable[[], Awaitable[Answer]]


class OAuth:
    """Make it in a thread, since it imports the SDK."""

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
        """Authentication for httpx (or httpx2). Without a ``browser`` it sends the grant's token
        and refreshes it; if the server refuses that, the refusal stands."""
        types, is_interactive = self._types, browser is not None

        class Provider(self._auth.OAuthClientProvider):  # type: ignore[misc, name-defined]
            """See ``OAuthClientProvider``."""

            async def async_auth_flow(self, request: Any) -> AsyncGenerator[Any, Any]:
                """See httpx."""
                context = self.context
                if not is_interactive and context.is_token_valid():
                    # The SDK would make one request wait for the answer to another.
                    token = context.current_tokens.access_token
                    request.headers["Authorization"] = f"Bearer {token}"
                    response = yield request
                    if response.status_code != 401 or not context.can_refresh_token():
                        return
                    # Clocks differ, and tokens are revoked; another request may have refreshed it.
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
        """The current tokens."""
        return _model(self._types.OAuthToken, self._grant.tokens)

    async def set_tokens(self, tokens: Any) -> None:
        """Store new tokens, with what refreshing them will need."""
        grant, context = self._grant, self._context()
        if tokens.refresh_token is None and grant.tokens is not None:
            # A server that sends no new one means the same one (RFC 6749, 6).
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
        """Note a registration, which is stored with the tokens."""
        self._grant.client = _json(client)


def _restore(context: Any, types: Any, grant: Grant) -> None:
    """Restore what the SDK forgets between processes and needs to refresh tokens."""
    context.current_tokens = _model(types.OAuthToken, grant.tokens)
    context.client_info = _model(types.OAuthClientInformationFull, grant.client)
    context.oauth_metadata = _model(types.OAuthMetadata, grant.metadata)
    context.protected_resource_metadata = _model(types.ProtectedResourceMetadata, grant.resource)
    context.token_expiry_time = grant.expires_at


def _check_issuer(iss: str | None, metadata: Any) -> None:
    """Check that the answer comes from the server that was asked (RFC 9207)."""
    if iss is None or metadata is None:
        return
    if iss.rstrip("/") != str(metadata.issuer).rstrip("/"):
        raise ValueError("The answer came from a different server than the one that was asked.")


def _json(model: Any) -> dict[str, Any] | None:
    if model is None:
        return None
    data: dict[str, Any] = model.model_dump(mode="json", exclude_none=True)
    return data


def _model(kind: Any, data: dict[str, Any] | None) -> Any:
    return None if data is None else kind.model_validate(data)


# Sign-ins that wait for the user's browser, and the grants for calling servers.


BROWSER_SECONDS = 600.0
"""For the user to sign in."""
ASK_SECONDS = 30.0
"""For the server to say where to sign in, and to exchange a code for tokens."""
_HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "jupyter-datalayer-agent", "version": "1"},
    },
}


class SignInFailed(Exception):
    """A sign-in did not succeed: says why, for a user."""


@dataclass
class _SignIn:
    server: ServerDefinition
    client_secret: str | None = field(default=None, repr=False)
    address: asyncio.Future[str] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    answer: asyncio.Future[Answer] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    state: str | None = None
    task: asyncio.Task[None] | None = None


class SignIns:
    """Signs in to servers, one sign-in at a time for each. ``sdk`` loads the SDK; ``signed_in`` is
    called when there are tokens."""

    def __init__(
        self,
        grants: Grants,
        sdk: Callable[[], Awaitable[Sdk]],
        signed_in: Callable[[ServerDefinition], Awaitable[None]],
    ) -> None:
        self.grants = grants
        self._sdk = sdk
        self._signed_in = signed_in
        self._waiting: dict[str, _SignIn] = {}
        self._problems: dict[str, str] = {}
        self._oauth: OAuth | None = None

    def is_waiting(self, server: ServerDefinition) -> bool:
        """Whether the user is signing in to it now."""
        return server.key in self._waiting

    def problem(self, server: ServerDefinition) -> str | None:
        """Why the last sign-in failed."""
        return self._problems.get(server.key)

    async def grant(self, server: ServerDefinition, url: str) -> tuple[Grant, Any] | None:
        """The grant for a server, and the authentication with it; None if there is none. Raises
        ``KeyStoreError``."""
        if not self.grants.has(server):
            return None
        grant = await self.grants.get(server, url)
        if grant is None:
            return None
        oauth = await self._loaded()
        return grant, oauth.provider(grant, lambda changed: self.grants.save(server, changed))

    async def begin(
        self,
        server: ServerDefinition,
        redirect_uri: str,
        place: KeyPlace,
        client_secret: str | None = None,
    ) -> str:
        """Ask the server for the address at which the user's browser signs in. The secret belongs
        to the server's ``client_id``. Raises ``SignInFailed``."""
        await self.cancel(server)
        self._problems.pop(server.key, None)
        waiting = _SignIn(server, client_secret)
        waiting.task = asyncio.create_task(self._run(waiting, redirect_uri, place))
        self._waiting[server.key] = waiting
        asked: list[asyncio.Future[Any]] = [waiting.address, waiting.task]
        done, _ = await asyncio.wait(
            asked, timeout=ASK_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        if waiting.address in done and not waiting.address.cancelled():
            return waiting.address.result()
        if not done:
            await self.cancel(server)
            raise SignInFailed("It did not say where to sign in.")
        raise SignInFailed(self._problems.get(server.key) or "It did not ask to sign in.")

    async def answer(self, state: str, answer: Answer | str) -> str:
        """Take what the browser returned with: an answer, or why there is none. Returns the
        server's name. Raises ``SignInFailed``, also for a state that is not waited for."""
        found = next((each for each in self._waiting.values() if each.state == state), None)
        if found is None or not state or found.answer.done():
            raise SignInFailed(
                "This sign-in is no longer active. Begin again in JupyterLab: Sign in, in the list "
                "of MCP servers."
            )
        if isinstance(answer, str):
            found.answer.set_exception(SignInFailed(answer))
        else:
            found.answer.set_result(answer)
        assert found.task is not None
        await asyncio.wait([found.task], timeout=ASK_SECONDS)
        problem = self._problems.get(found.server.key)
        if problem is not None:
            raise SignInFailed(problem)
        return found.server.name

    async def cancel(self, server: ServerDefinition) -> None:
        """Cancel a waiting sign-in."""
        waiting = self._waiting.pop(server.key, None)
        if waiting is not None and waiting.task is not None:
            waiting.task.cancel()
            await asyncio.wait([waiting.task])

    async def forget(self, server: ServerDefinition) -> None:
        """Sign out. Raises ``KeyStoreError`` and ``OSError``."""
        await self.cancel(server)
        self._problems.pop(server.key, None)
        await self.grants.forget(server)

    async def close(self) -> None:
        """Cancel all waiting sign-ins."""
        for each in list(self._waiting.values()):
            await self.cancel(each.server)

    # -- inside

    async def _loaded(self) -> OAuth:
        if self._oauth is None:
            self._oauth = await asyncio.to_thread(OAuth)
        return self._oauth

    async def _run(self, waiting: _SignIn, redirect_uri: str, place: KeyPlace) -> None:
        server = waiting.server
        try:
            await self._sign_in(waiting, redirect_uri, place)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the SDK and httpx raise errors of many kinds
            self._problems[server.key] = _said(error)
        else:
            await self._signed_in(server)
        finally:
            if self._waiting.get(server.key) is waiting:
                del self._waiting[server.key]
            # There may be no one left waiting for these.
            for future in (waiting.address, waiting.answer):
                future.cancel()
                if future.done() and not future.cancelled():
                    future.exception()

    async def _sign_in(self, waiting: _SignIn, redirect_uri: str, place: KeyPlace) -> None:
        server = waiting.server
        resolved = server.resolved()
        assert resolved.url is not None
        check_address(resolved.url, resolved.url)
        known = await self.grants.get(server, resolved.url)
        grant = Grant(resolved.url, place=place)
        before = (known.client if known is not None else None) or {}
        if server.client_id is not None:
            secret = waiting.client_secret
            if not secret and before.get("client_id") == server.client_id:
                secret = before.get("client_secret")
            grant.client = registered_by_hand(server.client_id, secret, redirect_uri)
        elif redirect_uri in before.get("redirect_uris", []):
            grant.client = before

        async def open_browser(address: str) -> None:
            [waiting.state] = parse_qs(urlsplit(address).query)["state"]
            waiting.address.set_result(address)

        async def answer() -> Answer:
            try:
                return await asyncio.wait_for(asyncio.shield(waiting.answer), BROWSER_SECONDS)
            except asyncio.TimeoutError:
                minutes = BROWSER_SECONDS / 60
                raise SignInFailed(f"Sign-in timed out after {minutes:g} minutes.") from None

        async def save(changed: Grant) -> None:
            await self.grants.save(server, changed)

        oauth = await self._loaded()
        browser = Browser(redirect_uri, open_browser, answer)
        auth = oauth.provider(grant, save, browser)
        sdk = await self._sdk()
        bound = Bound(lambda status, headers: None, lambda: None)
        headers = {**resolved.headers, "Accept": "application/json, text/event-stream"}
        async with sdk.http_client(headers, bound, auth) as client:
            # Every server answers or refuses this message, at which the SDK signs in.
            async with client.stream("POST", resolved.url, json=_HELLO) as response:
                status = response.status_code
                session = response.headers.get("mcp-session-id")
            if session is not None:
                with contextlib.suppress(Exception):
                    await client.delete(resolved.url, headers={"mcp-session-id": session})
        if status in (401, 403):
            raise SignInFailed(f"It still refused access after signing in (status {status}).")
        if grant.tokens is None:
            raise SignInFailed("It did not ask to sign in.")


def _said(error: Exception) -> str:
    if isinstance(error, SignInFailed | AddressRefused | DefinitionError):
        return str(error)
    if isinstance(error, AnswerTooLarge):
        return "Signing in failed: an answer was too large."
    if isinstance(error, KeyStoreError | OSError):
        return f"The sign-in could not be saved: {visible(str(error), 300)}"
    if type(error).__name__ == "OAuthRegistrationError":
        return (
            "It does not let programs register themselves. Register one there by hand and enter "
            "its client id, or put a token in headers. "
            f"({visible(str(error), 200)})"
        )
    return f"Signing in failed: {visible(str(error), 300) or type(error).__name__}"
