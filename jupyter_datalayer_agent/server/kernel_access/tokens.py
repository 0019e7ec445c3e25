"""How a kernel reaches its server: an address, and a token with few permissions.

Both are set only in the environment of the kernels that sessions start, not in the server's own
environment, which terminals inherit. Each kernel has its own token. It is kept in memory as a hash,
and is valid while that kernel runs (a restart keeps it) and its notebook is open on the server. It
gives access to the routes of ``FOR_KERNELS`` only, as the user who started the kernel and for that
kernel's own notebook.

Imported at the server's start, so it imports nothing but Jupyter Server.
"""

from __future__ import annotations

import atexit
import contextvars
import functools
import hashlib
import inspect
import logging
import os
import re
import secrets
import shutil
import socket
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from jupyter_core.utils import ensure_async
from jupyter_server import __version__, version_info
from jupyter_server.auth.identity import User
from jupyter_server.base.call_context import CallContext
from jupyter_server.services.sessions.sessionmanager import SessionManager
from tornado import web
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_unix_socket

from ...notebook.kernel.environment import without_tokens

log = logging.getLogger(__name__)

TOKENS_KEY = "datalayer_agent_kernel_tokens"
PREFIX = "sk-datalayer-agent-"
"""Tokens begin like provider keys, so that key masking covers them."""

SESSION = r"sessions/(?P<session>[^/]+)"
FOR_KERNELS = {
    "GET": re.compile(
        rf"(health|kernel|models|sessions|{SESSION}(/(turns|events|turns/[^/]+/changes))?)"
    ),
    "POST": re.compile(rf"(sessions|{SESSION}/ops)"),
}
"""The routes that ``%agent`` needs; ``kernel_access.reach`` limits the sessions and ops."""

NOT_OPEN = "A kernel's token gives no access to this route."
STARTING = "This kernel has not finished starting. Try again in a moment."
ENDED = "This kernel has ended, so its token is no longer valid."
CLOSED = "This kernel's notebook is closed. Its token is valid only while the notebook is open."

KNOWN_VERSIONS = (2,)
"""Major versions of jupyter_server whose session manager starts kernels as ``install`` expects."""
NOT_INSTALLED = (
    "Kernels do not find the agent by themselves: %s. They start as usual, but %%agent works in "
    "them only if DATALAYER_AGENT_URL and DATALAYER_AGENT_TOKEN are set."
)

WILDCARDS = {"": "127.0.0.1", "*": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}
STARTUP = Path(__file__).parents[2] / "magic" / "startup.py"

_made: contextvars.ContextVar[list[Grant] | None] = contextvars.ContextVar("_made", default=None)


@dataclass(eq=False)
class Grant:
    """The holder of a kernel's token: ``user`` started the kernel.

    ``kernel_id`` is None until the kernel runs. ``sessions`` and ``ops`` are those that it created.
    """

    user: User
    kernel_id: str | None = None
    sessions: set[str] = field(default_factory=set)
    ops: set[str] = field(default_factory=set)


class KernelTokens:
    """The tokens of one server's kernels."""

    def __init__(self, server: Any, autoload: Callable[[], bool]) -> None:
        self._server = server
        self._autoload = autoload
        self._grants: dict[str, Grant] = {}
        self._socket: str | None = None

    def install(self) -> None:
        """Let kernels that sessions start from now on find the server.

        Jupyter has no hook for the environment of the kernels that sessions start, so two methods
        of this server's session manager are wrapped. If they are not the expected ones, nothing is
        wrapped: kernels start without a token, and the log says so.
        """
        sessions = self._server.session_manager
        problem = unsupported(sessions)
        if problem is not None:
            log.warning(NOT_INSTALLED, problem)
            return
        self._server.web_app.settings[TOKENS_KEY] = self
        environment, start = sessions.get_kernel_env, sessions.start_kernel_for_session

        @functools.wraps(environment)
        def get_kernel_env(path: str | None, name: Any = None) -> dict[str, str]:
            variables = without_tokens(environment(path, name))
            if _made.get() is None:
                # Jupyter updates the environment of a running kernel, which keeps its token.
                return variables
            try:
                return {**variables, **self.environment()}
            except Exception:
                # The boundary to Jupyter: no error here may keep a kernel from starting.
                log.exception(NOT_INSTALLED, "its token could not be made")
                return variables

        @functools.wraps(start)
        async def start_kernel_for_session(*args: Any, **kwargs: Any) -> str:
            made: list[Grant] = []
            token = _made.set(made)
            try:
                kernel_id = str(await start(*args, **kwargs))
            except BaseException:
                self._forget(made)
                raise
            finally:
                _made.reset(token)
            for grant in made:
                grant.kernel_id = kernel_id
            return kernel_id

        sessions.get_kernel_env = get_kernel_env
        sessions.start_kernel_for_session = start_kernel_for_session

    def environment(self) -> dict[str, str]:
        """The environment variables for a kernel that is being started, with a new token."""
        added = {"DATALAYER_AGENT_URL": self.url, "DATALAYER_AGENT_TOKEN": self._make()}
        if self._server.certfile:
            added["DATALAYER_AGENT_CERTIFICATE"] = str(self._server.certfile)
        if self._autoload():
            # IPython runs this file at each start of a kernel, and other languages ignore it.
            added["PYTHONSTARTUP"] = str(STARTUP)
            if os.environ.get("PYTHONSTARTUP"):
                added["DATALAYER_AGENT_PYTHONSTARTUP"] = os.environ["PYTHONSTARTUP"]
        return added

    @property
    def url(self) -> str:
        """The server's address from its own machine."""
        if self._server.client_ca and hasattr(socket, "AF_UNIX"):
            place = quote(self._own_socket(), safe="")
            return f"http+unix://{place}{self._server.base_url}datalayer-agent/"
        parts = urlsplit(self._server.connection_url)
        host = WILDCARDS.get(self._server.ip)
        if host is not None and not self._server.sock:
            parts = parts._replace(netloc=f"{host}:{self._server.port}")
        return f"{parts.geturl().rstrip('/')}/datalayer-agent/"

    def _own_socket(self) -> str:
        """A Unix socket of this user for kernels, opened once. With ``client_ca``, the server
        accepts only clients that have a certificate of that authority; in a JupyterHub with
        ``internal_ssl``, only the hub and its proxy have one."""
        if self._socket is None:
            folder = tempfile.mkdtemp(prefix="datalayer-agent-")  # 0700
            self._socket = os.path.join(folder, "kernels")
            listener = HTTPServer(self._server.web_app)
            listener.add_socket(bind_unix_socket(self._socket))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return self._socket

    def _make(self) -> str:
        running = set(self._server.kernel_manager.list_kernel_ids())
        self._forget(
            [
                each
                for each in self._grants.values()
                if each.kernel_id is not None and each.kernel_id not in running
            ]
        )
        token = PREFIX + secrets.token_urlsafe(32)
        handler = CallContext.get(CallContext.JUPYTER_HANDLER)
        user = getattr(handler, "_jupyter_current_user", None)
        if not isinstance(user, User):
            user = User("datalayer-agent-kernel")
        grant = self._grants[_hash(token)] = Grant(user)
        made = _made.get()
        if made is not None:
            made.append(grant)
        return token

    def _forget(self, ended: list[Grant]) -> None:
        self._grants = {key: each for key, each in self._grants.items() if each not in ended}

    def find(self, token: str) -> Grant | None:
        """The token's grant."""
        return self._grants.get(_hash(token)) if token.startswith(PREFIX) else None

    async def refusal(self, grant: Grant) -> str | None:
        """Why the token is not valid now, or None: its kernel must run and have a session."""
        if grant.kernel_id is None:
            return STARTING
        manager = self._server.kernel_manager
        if grant.kernel_id not in manager:
            return ENDED
        # A kernel whose process died is still listed.
        if not await ensure_async(manager.get_kernel(grant.kernel_id).is_alive()):
            return ENDED
        return None if await self.sessions_of(grant) else CLOSED

    async def sessions_of(self, grant: Grant) -> list[dict[str, Any]]:
        """The kernel's Jupyter sessions, with the current paths of its documents: a notebook, and
        consoles that share the kernel."""
        sessions = await ensure_async(self._server.session_manager.list_sessions())
        return [each for each in sessions if each["kernel"]["id"] == grant.kernel_id]


def unsupported(sessions: Any) -> str | None:
    """Why kernels of this session manager cannot get a token, or None if they can."""
    if version_info[0] not in KNOWN_VERSIONS:
        return f"jupyter_server {__version__} is not supported"
    kind = f"{type(sessions).__module__}.{type(sessions).__name__}"
    if not isinstance(sessions, SessionManager):
        return f"{kind} is not Jupyter Server's session manager"
    try:
        inspect.signature(sessions.get_kernel_env).bind("a/b.ipynb", "b.ipynb")
    except TypeError:
        return f"{kind}.get_kernel_env does not take a path and a name"
    if not inspect.iscoroutinefunction(sessions.start_kernel_for_session):
        return f"{kind}.start_kernel_for_session is not a coroutine function"
    return None


class AsKernel:
    """Jupyter's identity provider for a request that a kernel's token has authenticated."""

    def __init__(self, provider: Any, grant: Grant) -> None:
        self._provider = provider
        self._grant = grant

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    def get_user(self, handler: web.RequestHandler) -> User:
        """The user who started the kernel; the authorizer decides about what they may do."""
        return self._grant.user

    def is_token_authenticated(self, handler: web.RequestHandler) -> bool:
        """Always true: the token is in a header, which another site cannot set."""
        return True

    def should_check_origin(self, handler: web.RequestHandler) -> bool:
        """Always false, for the reason in ``is_token_authenticated``."""
        return False


async def kernel_of(handler: web.RequestHandler, base: str) -> Grant | None:
    """The grant of the request's token, if it is a kernel's. ``base`` is where our routes begin.

    Raises 403 if the token is not valid now, or gives no access to the route.
    """
    tokens: KernelTokens | None = handler.settings.get(TOKENS_KEY)
    scheme, _, given = handler.request.headers.get("Authorization", "").partition(" ")
    if tokens is None or scheme.lower() not in ("token", "bearer"):
        return None
    grant = tokens.find(given.strip())
    if grant is None:
        return None
    refusal = await tokens.refusal(grant)
    routes = FOR_KERNELS.get(handler.request.method or "")
    if refusal is None and (routes is None or not routes.fullmatch(route_of(handler, base))):
        refusal = NOT_OPEN
    if refusal is not None:
        raise web.HTTPError(403, refusal)
    return grant


def route_of(handler: web.RequestHandler, base: str) -> str:
    """The request's route, below ``base``."""
    return str(handler.request.path.removeprefix(base))


def session_named(handler: web.RequestHandler, base: str) -> str | None:
    """The id of the session that a kernel's request is about, if it is about one."""
    match = FOR_KERNELS[handler.request.method or ""].fullmatch(route_of(handler, base))
    return None if match is None else match["session"]


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
