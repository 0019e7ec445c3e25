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
# What a page has is a WebSocket that a browser opened: without a token, which a browser's script
# cannot send there, but with the cookie that it was given at its login, and with its origin. The
# page names a secret of its own over it, and with its HTTP requests the same one.


LEAST_LENGTH = 16


class Askers:
    """The keys of the pages that are connected."""

    def __init__(self) -> None:
        self._pages: Counter[str] = Counter()

    def connected(self, key: str | None) -> Callable[[], None]:
        """A page is connected that has this key; call the result when it is not any more."""
        if key is None:
            return lambda: None
        self._pages[key] += 1

        def leave() -> None:
            self._pages[key] -= 1

        return leave

    def of(self, handler: Any) -> Asker:
        """Who sent an HTTP request; ``handler.kernel`` is the kernel whose token it has."""
        key = key_of(handler.request.headers.get(CLIENT_HEADER))
        if handler.kernel is not None:
            return Asker("kernel")
        is_page = key is not None and self._pages[key] > 0
        return Asker("page" if is_page else "program", key)


def key_of(secret: str | None) -> str | None:
    """The key of a client with this secret, which is not kept; None for one that is too short."""
    if secret is None or len(secret) < LEAST_LENGTH:
        return None
    return hashlib.sha256(secret.encode()).hexdigest()


async def is_browser(handler: Any) -> bool:
    """Whether a WebSocket was opened by a browser that is signed in, as far as that can be told:
    a program may imitate one, once it has signed in."""
    origin = handler.request.headers.get("Origin")
    if origin is None:
        return False
    if not handler.token_authenticated:
        return True
    # A proxy may add a token to what browsers send; then Jupyter looked at nothing else.
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
    """Events to be written, None for a heartbeat. Once ``MAX_WAITING_EVENTS`` wait, no more are
    taken (``is_full``): the reader is sent the rest from the store."""

    def __init__(self) -> None:
        self.is_full = False
        self._events: asyncio.Queue[SerializedEvent | None] = asyncio.Queue()
        self.get = self._events.get
        self.is_empty = self._events.empty
        self.written = self._events.task_done
        self.all_written = self._events.join

    def put(self, event: SerializedEvent | None) -> None:
        """Take an event, if there is room."""
        self.is_full = self.is_full or self._events.qsize() >= MAX_WAITING_EVENTS
        if not self.is_full:
            self._events.put_nowait(event)


async def always() -> bool:
    """Reads on."""
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
    reader is gone or may not go on. Old ones are read in pages, each once the page before has been
    written. None: nothing is left to be written."""
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
    session. Of a reader that is too far behind, the number after which it is sent the rest;
    ``after`` is where it begins."""
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


# The ops that pages submitted recently: a repeated one is not executed again.
#
# A page repeats an op if its connection broke before the answer came. The first one may still be in
# progress (its session is being loaded), and the server may have restarted since.


KEPT = 1000


class AcceptedOps:
    """Op ids by the page that sent the op and the page's own reference to it."""

    def __init__(self) -> None:
        self._op_ids: OrderedDict[str, asyncio.Future[str]] = OrderedDict()

    async def once(self, client_id: str, ref: str, submit: Callable[[str], Awaitable[str]]) -> str:
        """The op's id; a new op is passed to ``submit`` first.

        Raises what ``submit`` raises; a refused op may be repeated.
        """
        op_id = id_of(client_id, ref)
        known = self._op_ids.get(op_id)
        if known is None:
            known = self._op_ids[op_id] = asyncio.ensure_future(submit(op_id))
            known.add_done_callback(lambda done: self._done(op_id, done))
        return await asyncio.shield(known)

    def _done(self, op_id: str, done: asyncio.Future[str]) -> None:
        if done.cancelled() or done.exception() is not None:
            del self._op_ids[op_id]
        while len(self._op_ids) > KEPT:
            self._op_ids.popitem(last=False)


def id_of(client_id: str, ref: str) -> str:
    """The op's id. It is the same for a repeated op, even after a restart of the server: messages
    are stored with it."""
    return f"op_{hashlib.sha256(f'{client_id} {ref}'.encode()).hexdigest()[:21]}"


# The services of one server that handlers use.


@dataclass(frozen=True)
class Parts:
    """One server's parts, as ``app.py`` wires them together. ``on_close`` is called when the server
    ends, before the sessions do."""

    runtime: Runtime
    sessions: SessionRegistry
    connect: ConnectService
    config: ConfigService
    version: str
    local_models: LocalServers
    turn_tools: TurnTools
    instructions: Instructions
    plugins: Plugins
    accepted: AcceptedOps = field(default_factory=AcceptedOps)
    askers: Askers = field(default_factory=Askers)
    on_close: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

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
    """An error of ours in the form that callers get, or None."""
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
    """Base of the JSON handlers. Methods are decorated with ``route`` and return a model."""

    auth_resource = RESOURCE
    kernel: Grant | None = None
    """The kernel that sent the request with its own token."""
    needs_plugins = True
    """Whether a request waits until the packages that add to the agent are imported."""

    async def prepare(self) -> None:  # type: ignore[override]
        """Let in kernels by their tokens, everybody else as Jupyter does."""
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

        Identity providers put a check of their own in its place (JupyterHub's does), which knows
        nothing of ``AsKernel``. Before ``prepare``, which calls this again, it is not known whose
        request it is.
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
        """Whether the user is authorized for that, in addition to the route's own action."""
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
        """A text of the query that is searched for. Raises ``AgentError`` ``invalid_request``."""
        text = self.get_query_argument(name, None, strip=False)
        if text is not None and len(text) > MAX_SEARCHED_CHARACTERS:
            raise AgentError(
                "invalid_request", f"{name} may have at most {MAX_SEARCHED_CHARACTERS} characters."
            )
        return text

    def number(self, name: str, default: int | None = None) -> int | None:
        """A whole number of the query. Raises ``AgentError`` ``invalid_request``."""
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
        """Carry out a message as a turn of the session that it names, or of a new one, and reply
        at the turn's end. A failed turn's reply has the error's form besides its own."""
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
        """Errors that no handler caught (404, 403, 500), in the same form as all others."""
        failure = (kwargs.get("exc_info") or (None, None, None))[1]
        message = "Internal server error. See the server log for details."
        if isinstance(failure, web.HTTPError):
            message = failure.log_message or failure.reason or self._reason
        code = _CODE_OF_STATUS.get(status_code, "internal")
        self.reply(AgentError(code, str(message)).reply(), status_code)


def route(
    action: Action, *, decides: bool = False
) -> Callable[[Method], Callable[..., Awaitable[None]]]:
    """A handler's method behind Jupyter's authentication and authorization for ``action``. What
    only the user ``decides`` is refused unless a page asks.

    ``execute`` is for everything that runs something in a kernel, even if it only reads values, or
    asks a model; nothing is run under ``read``. The method has it as ``action``.
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
        self.fail(
            AgentError("not_found", f"There is no route {self.request.path}. See openapi.json.")
        )

    post = put = patch = delete = get
