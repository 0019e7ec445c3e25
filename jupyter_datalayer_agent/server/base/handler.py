"""The base of all handlers: authentication, authorization, and one form for every error."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import re
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar, cast
from urllib.parse import urlsplit

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ensure_async, url_path_join
from pydantic import ValidationError
from tornado import web
from tornado.ioloop import PeriodicCallback
from tornado.iostream import StreamClosedError

from ...agent.asker import CLIENT_HEADER, Asker
from ...agent.events import EventChannel, SerializedEvent
from ...agent.features.connect import ConnectService
from ...agent.features.mcp_servers import McpService
from ...agent.instructions import Instructions
from ...agent.runtime import Runtime
from ...agent.session.registry import SessionRegistry
from ...agent.session.strategist import Strategist
from ...entry_points import Plugins
from ...models.local.servers import LocalServers
from ...notebook.document import DocumentError
from ...protocol.base import Wire
from ...protocol.errors import HTTP_STATUS, AgentError, ErrorCode
from ...protocol.json_text import parse_json, to_json
from ...protocol.limits import MAX_SEARCHED_CHARACTERS, MAX_WAITING_EVENTS
from ...protocol.ops import Op, UserMessage
from ...protocol.requests import ChatRequest, ModelsReply
from ...settings.layers import ConfigService
from ...tools.mcp.turn_tools import TurnTools
from ..kernel_access.reach import check_session
from ..kernel_access.tokens import AsKernel, Grant, kernel_of, session_named

# Checks of messages before they are queued.


MAX_MESSAGE_CHARACTERS = 1_000_000


def check_message(request: ChatRequest) -> None:
    """Raises ``AgentError`` ``too_large``, or ``invalid_request`` for a message without text."""
    length = len(request.message)
    if length > MAX_MESSAGE_CHARACTERS:
        raise AgentError(
            "too_large",
            f"The message has {length:,} characters; the limit is {MAX_MESSAGE_CHARACTERS:,}. "
            "Put the text into a file and attach that.",
        )
    if not request.message.strip():
        raise AgentError("invalid_request", "The message is empty.")


def check_op(op: Op) -> Op:
    """An op that may be put on a queue. Raises ``AgentError``."""
    if isinstance(op, UserMessage):
        check_message(op.request)
    return op


# Finds who sent a request: see ``agent.asker``.
#
# A page has a WebSocket that a browser opened: without a token, which a browser's script cannot
# send there, but with the cookie from its login, and with its origin. Over it, the page sends a
# secret of its own, and repeats that with its HTTP requests.


LEAST_LENGTH = 16


class Askers:
    """The keys of the pages that are connected."""

    def __init__(self) -> None:
        self._pages: Counter[str] = Counter()

    def connected(self, key: str | None) -> Callable[[], None]:
        """Register a connected page by its key; call the result when it has disconnected."""
        if key is None:
            return lambda: None
        self._pages[key] += 1

        def leave() -> None:
            self._pages[key] -= 1

        return leave

    def of(self, handler: Any) -> Asker:
        """Who sent an HTTP request. ``handler.kernel`` is set if it has a kernel's token."""
        key = key_of(handler.request.headers.get(CLIENT_HEADER))
        if handler.kernel is not None:
            return Asker("kernel")
        is_page = key is not None and self._pages[key] > 0
        return Asker("page" if is_page else "program", key)


def key_of(secret: str | None) -> str | None:
    """The key of a client, a hash of its secret; None for a secret that is too short."""
    if secret is None or len(secret) < LEAST_LENGTH:
        return None
    return hashlib.sha256(secret.encode()).hexdigest()


async def is_browser(handler: Any) -> bool:
    """Whether a WebSocket was opened by a browser that is signed in. A program that has signed in
    can imitate one."""
    origin = handler.request.headers.get("Origin")
    if origin is None:
        return False
    if not handler.token_authenticated:
        return True
    # A proxy may add a token to a browser's requests; then Jupyter has checked nothing else.
    if urlsplit(origin).netloc.lower() != handler.request.host.lower():
        return False
    return await ensure_async(handler.identity_provider.get_user_cookie(handler)) is not None


# Route declarations, from which both the server and ``openapi.json`` are made.


PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Operation:
    """One method of a route. ``query`` maps a parameter's name to its description."""

    summary: str
    request: type[Wire] | None = None
    response: type[Wire] | None = None
    status: int = 200
    query: dict[str, str] = field(default_factory=dict)
    content: str = "application/json"
    takes: str = "application/json"


@dataclass(frozen=True)
class Route:
    """A path under ``datalayer-agent/`` with its handler and methods (``get``, ``post``, …)."""

    path: str
    handler: type[Any]
    operations: dict[str, Operation]
    authenticated: bool = True

    def pattern(self, base: str) -> str:
        """The regular expression that tornado matches; parameters are one path segment each."""
        return base + PARAMETER.sub(r"(?P<\1>[^/]+)", self.path) + "$"


# Server-sent events: a session's events as a stream of text, with heartbeats.


HEARTBEAT_SECONDS = 15.0


class Waiting:
    """A queue of events to be written, with None for a heartbeat. Once ``MAX_WAITING_EVENTS`` wait,
    it takes no more (``is_full``): the reader gets the rest from the store."""

    def __init__(self) -> None:
        self.is_full = False
        self._events: asyncio.Queue[SerializedEvent | None] = asyncio.Queue()
        self.get = self._events.get
        self.is_empty = self._events.empty
        self.written = self._events.task_done
        self.all_written = self._events.join

    def put(self, event: SerializedEvent | None) -> None:
        """Queue an event, if there is room."""
        self.is_full = self.is_full or self._events.qsize() >= MAX_WAITING_EVENTS
        if not self.is_full:
            self._events.put_nowait(event)


async def always() -> bool:
    """Let every reader read on."""
    return True


async def stream_events(
    handler: web.RequestHandler,
    channel: EventChannel,
    after: int | None,
    *,
    wanted: Callable[[SerializedEvent], bool] = lambda event: True,
    is_last: Callable[[SerializedEvent], bool] = lambda event: False,
    may_go_on: Callable[[], Awaitable[bool]] = always,
) -> None:
    """Write a session's events after ``after``, then live ones, until ``is_last`` or until the
    reader disconnects or may not read on. Stored ones are read page by page, each after the page
    before has been written. Does nothing if ``after`` is None."""
    while after is not None:
        waiting = Waiting()
        subscribing = asyncio.ensure_future(
            channel.subscribe(waiting.put, after, waiting.all_written)
        )
        writing = asyncio.ensure_future(
            write_events(
                handler, waiting, after, wanted=wanted, is_last=is_last, may_go_on=may_go_on
            )
        )
        try:
            await asyncio.wait((subscribing, writing), return_when=asyncio.FIRST_COMPLETED)
            if not writing.done():
                subscribing.result()  # raises what reading the store raised
            after = await writing
        finally:
            writing.cancel()
            subscribing.cancel()
            await asyncio.wait((subscribing, writing))
            if not subscribing.cancelled() and subscribing.exception() is None:
                subscribing.result()()


async def write_events(
    handler: web.RequestHandler,
    waiting: Waiting,
    after: int,
    *,
    wanted: Callable[[SerializedEvent], bool] = lambda event: True,
    is_last: Callable[[SerializedEvent], bool] = lambda event: False,
    may_go_on: Callable[[], Awaitable[bool]] = always,
) -> int | None:
    """Write events until ``is_last``, or until the reader disconnects, which does not affect the
    session. Returns None, or for a reader that is too far behind the number of the last event that
    it was sent; ``after`` is that number at the beginning."""
    handler.set_header("Content-Type", "text/event-stream; charset=utf-8")
    handler.set_header("Cache-Control", "no-cache")
    handler.set_header("X-Accel-Buffering", "no")
    connection = handler.request.connection
    stream = getattr(connection, "stream", None)
    if stream is not None:
        stream.set_nodelay(True)
    heart = PeriodicCallback(lambda: waiting.put(None), HEARTBEAT_SECONDS * 1000)
    heart.start()
    try:
        await handler.flush()
        while not (waiting.is_full and waiting.is_empty()):
            event = await waiting.get()
            if not await may_go_on():
                return None
            if event is None:
                handler.write(": still here\n\n")
            else:
                after = event.seq or after
                if wanted(event):
                    handler.write(f"id: {event.seq}\nevent: {event.type}\ndata: {event.text}\n\n")
            last = event is not None and is_last(event)
            if waiting.is_empty() or last:
                await handler.flush()
            waiting.written()
            if last:
                return None
        return after
    except StreamClosedError:
        return None
    finally:
        heart.stop()


# The ops that pages submitted recently, so that a repeated one is not executed again.
#
# A page repeats an op if its connection broke before the answer came. The first one may still be in
# progress (its session is being loaded), and the server may have restarted since.


KEPT = 1000


class AcceptedOps:
    """The results of recent ops, by op id."""

    def __init__(self) -> None:
        self._op_ids: OrderedDict[str, asyncio.Future[str]] = OrderedDict()

    async def once(self, client_id: str, ref: str, submit: Callable[[str], Awaitable[str]]) -> str:
        """Return the op's id, after passing a new op to ``submit``.

        Raises what ``submit`` raises; a refused op may be repeated.
        """
        op_id = id_of(client_id, ref)
        submitting = self._op_ids.get(op_id)
        if submitting is None:
            submitting = self._op_ids[op_id] = asyncio.ensure_future(submit(op_id))
            submitting.add_done_callback(lambda done: self._done(op_id, done))
        return await asyncio.shield(submitting)

    def _done(self, op_id: str, done: asyncio.Future[str]) -> None:
        if done.cancelled() or done.exception() is not None:
            del self._op_ids[op_id]
        while len(self._op_ids) > KEPT:
            self._op_ids.popitem(last=False)


def id_of(client_id: str, ref: str) -> str:
    """The id of an op, made from its page and the page's reference. A repeated op has the same one
    even after a restart of the server, since messages are stored with it."""
    return f"op_{hashlib.sha256(f'{client_id} {ref}'.encode()).hexdigest()[:21]}"


# The services of one server that handlers use.


@dataclass(frozen=True, kw_only=True)
class Parts(Runtime):
    """One server's parts, as ``app.py`` wires them together: what its sessions share, and what only
    handlers use. ``on_close`` is called when the server ends, before the sessions do."""

    connect: ConnectService
    config: ConfigService
    version: str
    local_models: LocalServers
    turn_tools: TurnTools
    instructions: Instructions
    plugins: Plugins
    session_idle_seconds: float
    retention_days: int
    accepted: AcceptedOps = field(default_factory=AcceptedOps)
    askers: Askers = field(default_factory=Askers)
    on_close: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    sessions: SessionRegistry = field(init=False)
    """The sessions that are loaded. It is there from the start, since it follows renames."""

    def __post_init__(self) -> None:
        sessions = SessionRegistry(self, self.session_idle_seconds, self.retention_days)
        # The only way to set a field of a frozen class.
        object.__setattr__(self, "sessions", sessions)

    def models(self) -> ModelsReply:
        """Every model that may be chosen, with its readiness."""
        return self.connect.models()

    @cached_property
    def mcp(self) -> McpService:
        """MCP servers, whose tools the agent uses."""
        return McpService(self.turn_tools)

    @cached_property
    def strategist(self) -> Strategist:
        """Answers questions about earlier conversations."""
        return Strategist(self.sessions)


RESOURCE = "datalayer-agent"
PARTS_KEY = "datalayer_agent_parts"
MAX_NUMBER = 2**53 - 1
"""The largest integer that JSON clients read exactly; it fits a database column."""

Action = Literal["read", "write", "execute"]
Model = TypeVar("Model", bound=Wire)
Method = Callable[..., Awaitable[Wire | dict[str, Any] | None]]

_CODE_OF_STATUS: dict[int, ErrorCode] = {
    400: "invalid_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "invalid_request",
    413: "too_large",
}
_DOCUMENT_CODES: dict[str, ErrorCode] = {
    "not_found": "not_found",
    "not_allowed": "forbidden",
    "internal": "internal",
}


def as_agent_error(error: Exception) -> AgentError | None:
    """One of our errors in the form for callers; None for any other."""
    if isinstance(error, AgentError):
        return error
    if isinstance(error, DocumentError):
        code = _DOCUMENT_CODES.get(error.code, "invalid_request")
        hint = f" {error.hint}" if error.hint else ""
        return AgentError(code, f"{error.message}{hint}")
    if isinstance(error, ValidationError):
        return invalid(error)
    return None


def invalid(error: ValidationError) -> AgentError:
    """The error for a request that does not match its model, naming each wrong field."""
    problems = [
        {"field": ".".join(str(part) for part in each["loc"]), "problem": each["msg"]}
        for each in error.errors(include_url=False)
    ]
    listed = "; ".join(f"{each['field'] or 'body'}: {each['problem']}" for each in problems)
    return AgentError("invalid_request", f"The request is not valid: {listed}.", problems)


class Handler(APIHandler):
    """Base of the JSON handlers. Their methods are decorated with ``route`` and return a model."""

    auth_resource = RESOURCE
    kernel: Grant | None = None
    """The kernel that sent the request with its own token."""
    needs_plugins = True
    """Whether a request waits until the packages that add to the agent are imported."""

    async def prepare(self) -> None:  # type: ignore[override]
        """Authenticate kernels by their tokens, and everybody else as Jupyter does."""
        base = url_path_join(self.base_url, RESOURCE, "/")
        self.kernel = await kernel_of(self, base)
        await super().prepare()
        if self.kernel is not None and (session := session_named(self, base)) is not None:
            try:
                await check_session(self, session)
            except AgentError as error:
                self.fail(error)
        if self.needs_plugins and not self._finished:
            await self.parts.plugins.ready()

    @property
    def identity_provider(self) -> Any:
        """Jupyter's check, except for a kernel's request."""
        provider = super().identity_provider
        return provider if self.kernel is None else AsKernel(provider, self.kernel)

    def check_xsrf_cookie(self) -> None:
        """Jupyter's check, except for a kernel's request, whose token another site cannot send.

        Identity providers may replace the check (JupyterHub's does) by one that does not know
        ``AsKernel``. Before ``prepare``, which calls this again, the sender is not known.
        """
        if hasattr(self, "_jupyter_current_user") and self.kernel is None:
            super().check_xsrf_cookie()

    @property
    def parts(self) -> Parts:
        """The server's parts."""
        parts: Parts = self.settings[PARTS_KEY]
        return parts

    @property
    def asker(self) -> Asker:
        """Who sent the request."""
        return self.parts.askers.of(self)

    async def may(self, action: Action) -> bool:
        """Whether the user is authorized for ``action``, besides the route's own action."""
        allowed = self.authorizer.is_authorized(self, self.current_user, action, RESOURCE)
        return bool(await ensure_async(allowed))

    def body(self, model: type[Model]) -> Model:
        """The request's body as a model. Raises ``AgentError`` ``invalid_request``."""
        return model.model_validate(self.json_body())

    def json_body(self) -> Any:
        """The request's body, or an empty object. Raises ``AgentError``."""
        try:
            return parse_json(self.request.body or "{}")
        except ValueError as error:
            raise AgentError("invalid_request", f"The body is not valid JSON: {error}.") from error

    def searched(self, name: str) -> str | None:
        """A search text in the query, or None. Raises ``AgentError`` ``invalid_request``."""
        text = self.get_query_argument(name, None, strip=False)
        if text is not None and len(text) > MAX_SEARCHED_CHARACTERS:
            raise AgentError(
                "invalid_request", f"{name} may have at most {MAX_SEARCHED_CHARACTERS} characters."
            )
        return text

    def number(self, name: str, default: int | None = None) -> int | None:
        """A whole number in the query. Raises ``AgentError`` ``invalid_request``."""
        text = self.get_query_argument(name, "")
        if not text:
            return default
        try:
            number = int(text)
        except ValueError:
            number = None
        if number is None or abs(number) > MAX_NUMBER:
            raise AgentError(
                "invalid_request",
                f"{name} must be a whole number up to {MAX_NUMBER}, not {text[:40]!r}.",
            )
        return number

    async def run_turn(self, request: ChatRequest) -> None:
        """Run a message as a turn of its session, or of a new one, and reply at the turn's end. A
        failed turn's reply also has the fields of an error."""
        key = self.asker.key
        session = await self.parts.sessions.of(request, key)
        _, result = await session.chat(UserMessage(request=request), "none", starter=key)
        reply = await result
        self.reply(reply, HTTP_STATUS[reply.error.code] if reply.error is not None else 200)

    def reply(self, answer: Wire | dict[str, Any], status: int = 200) -> None:
        """Send a JSON answer."""
        data = answer.to_wire() if isinstance(answer, Wire) else answer
        self.set_status(status)
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(to_json(data))

    def fail(self, error: AgentError) -> None:
        """Send an error."""
        self.reply(error.reply(), error.status)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Send an error that no handler caught (404, 403, 500) in the same form as all others."""
        failure = (kwargs.get("exc_info") or (None, None, None))[1]
        message = "Internal server error. See the server log for details."
        if isinstance(failure, web.HTTPError):
            message = failure.log_message or failure.reason or self._reason
        code = _CODE_OF_STATUS.get(status_code, "internal")
        self.reply(AgentError(code, str(message)).reply(), status_code)


def route(
    action: Action, *, decides: bool = False
) -> Callable[[Method], Callable[..., Awaitable[None]]]:
    """Put a handler's method behind Jupyter's authentication and authorization for ``action``.
    ``decides`` marks what only the user may decide: it is refused unless a page sends it.

    Everything that calls a model or runs something in a kernel, even to read values, needs
    ``execute``; under ``read``, nothing runs. The method has its action as ``action``.
    """

    def wrap(method: Method) -> Callable[..., Awaitable[None]]:
        @functools.wraps(method)
        async def handle(self: Handler, *args: str, **kwargs: str) -> None:
            try:
                if decides:
                    self.asker.require_page()
                answer = await method(self, *args, **kwargs)
            except (AgentError, DocumentError, ValidationError) as error:
                failure = as_agent_error(error)
                assert failure is not None
                self.fail(failure)
                return
            if answer is not None:
                self.reply(answer)

        allowed: Any = authorized(action, resource=RESOURCE)(handle)
        authenticated: Any = web.authenticated(allowed)
        authenticated.action = action
        return cast(Callable[..., Awaitable[None]], authenticated)

    return wrap


class NotFoundHandler(Handler):
    """Replies to unknown routes, in the form of all other errors."""

    @web.authenticated
    async def get(self) -> None:
        self.fail(AgentError("not_found", f"No such route: {self.request.path}. See openapi.json."))

    post = put = patch = delete = get
