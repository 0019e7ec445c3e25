"""The sign-ins that wait for the user's browser, and the grants that servers are called with."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ....models.connections.connection import KeyPlace
from ....models.connections.key_store import KeyStoreError
from ..bounded_http import AnswerTooLarge, Bound
from ..definition import DefinitionError, ServerDefinition
from ..listed import visible
from ..sdk import Sdk
from .addresses import AddressRefused, check_address
from .grants import Grant, Grants
from .provider import Answer, Browser, OAuth, registered_by_hand

BROWSER_SECONDS = 600.0
"""For the user to sign in."""
ASK_SECONDS = 30.0
"""For the server to say where one signs in, and to give tokens for a code."""
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
    """Signs in to servers, one sign-in each at a time. ``sdk`` loads the SDK; ``signed_in`` is
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
        """The grant for a server, and the authentication with it; None where there is none.
        Raises ``KeyStoreError``."""
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
        """Ask the server where the user signs in, at an address for the browser. The secret is that
        of the server's ``client_id``. Raises ``SignInFailed``."""
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
        """What the browser came back with: an answer, or why there is none; the name of the server.
        Raises ``SignInFailed``, also for a state that nobody waits for."""
        found = next((each for each in self._waiting.values() if each.state == state), None)
        if found is None or not state or found.answer.done():
            raise SignInFailed(
                "Nothing waits for this answer. Begin again in JupyterLab: Sign in, in the list "
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
        """End a sign-in that waits."""
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
        """End all that wait."""
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
            # Nobody may wait for these any more.
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
                raise SignInFailed(f"Nobody signed in within {minutes:g} minutes.") from None

        async def save(changed: Grant) -> None:
            await self.grants.save(server, changed)

        oauth = await self._loaded()
        browser = Browser(redirect_uri, open_browser, answer)
        auth = oauth.provider(grant, save, browser)
        sdk = await self._sdk()
        bound = Bound(lambda status, headers: None, lambda: None)
        headers = {**resolved.headers, "Accept": "application/json, text/event-stream"}
        async with sdk.http_client(headers, bound, auth) as client:
            # A message that every server answers, or refuses to: then the SDK signs in.
            async with client.stream("POST", resolved.url, json=_HELLO) as response:
                status = response.status_code
                session = response.headers.get("mcp-session-id")
            if session is not None:
                with contextlib.suppress(Exception):
                    await client.delete(resolved.url, headers={"mcp-session-id": session})
        if status in (401, 403):
            raise SignInFailed(f"It refused access after signing in, too (status {status}).")
        if grant.tokens is None:
            raise SignInFailed("It did not ask to sign in.")


def _said(error: Exception) -> str:
    if isinstance(error, SignInFailed | AddressRefused | DefinitionError):
        return str(error)
    if isinstance(error, AnswerTooLarge):
        return "Signing in failed: an answer was too large."
    if isinstance(error, KeyStoreError | OSError):
        return f"The sign-in cannot be kept: {visible(str(error), 300)}"
    if type(error).__name__ == "OAuthRegistrationError":
        return (
            "It does not let other programs register for signing in. Register one there by hand, "
            "and give its client id, or give a token in headers. "
            f"({visible(str(error), 200)})"
        )
    return f"Signing in failed: {visible(str(error), 300) or type(error).__name__}"
