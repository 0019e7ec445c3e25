"""The WebSocket of an open page."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.utils import ensure_async
from pydantic import ValidationError
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from ..agent.asker import Asker
from ..agent.events import SerializedEvent
from ..models.loader import begin_import, import_when_idle
from ..notebook.page import Page
from ..protocol.base import Wire
from ..protocol.errors import AgentError
from ..protocol.json_text import parse_json, to_json
from ..protocol.ops import Resume
from ..protocol.page import (
    CLIENT_MESSAGE_ADAPTER,
    EditorState,
    Hello,
    InputFocused,
    OpAcceptedMessage,
    OpRejectedMessage,
    PageProgress,
    PageResponse,
    PanelShown,
    SessionsWaiting,
    SubmitOp,
    Subscribe,
    Unsubscribe,
    Welcome,
)
from .base.handler import (
    PARTS_KEY,
    RESOURCE,
    Parts,
    as_agent_error,
    check_op,
    invalid,
    is_browser,
    key_of,
)

# The queue of messages to a page, with a limit for live events.


AT_ONCE = 64 * 1024
"""Characters that are passed to the connection at a time, before it has sent any of them: a fast
reader is sent many small messages at once."""

MAX_WAITING = 16 * 1024 * 1024
"""The most characters of live events queued for a slow reader. A turn's events have some hundred
thousand."""


class SendQueue:
    """Sends texts in order, as fast as the other side reads.

    ``write`` passes a text to the connection and returns a future that is done when it was sent.
    Live events are replayed to a page that reconnects, so past ``MAX_WAITING`` they are dropped:
    ``overflow`` is called once, and nothing more is sent. Other messages are queued without a
    limit: a requester waits for the page's answer before its next request, and replayed events are
    queued in pieces, each after the one before is ``drained``.
    """

    def __init__(
        self, write: Callable[[str], asyncio.Future[None]], overflow: Callable[[], None]
    ) -> None:
        self._write = write
        self._overflow = overflow
        self._waiting: deque[tuple[str, int]] = deque()
        self._size = 0
        self._is_writing = False
        self._is_closed = False
        self._drained = asyncio.Event()
        self._drained.set()

    def put(self, text: str) -> None:
        """Queue a text, without a limit."""
        self._put(text, 0)

    def put_live(self, text: str) -> None:
        """Queue a live event; if too many are queued, drop the queue and call ``overflow``."""
        if self._size and self._size + len(text) > MAX_WAITING:
            self.close()
            self._overflow()
        self._put(text, len(text))

    def _put(self, text: str, counted: int) -> None:
        if self._is_closed:
            return
        self._waiting.append((text, counted))
        self._size += counted
        self._drained.clear()
        if not self._is_writing:
            self._pump()

    async def drained(self) -> None:
        """Wait until the queue is empty or closed."""
        await self._drained.wait()

    def close(self) -> None:
        """Drop the queue, and send nothing more."""
        self._is_closed = True
        self._waiting.clear()
        self._size = 0
        self._drained.set()

    def _pump(self) -> None:
        size = 0
        self._is_writing = True
        while self._waiting and size < AT_ONCE:
            text, counted = self._waiting.popleft()
            self._size -= counted
            size += len(text)
            writing = self._write(text)
            writing.add_done_callback(_seen)
        # In order: when the last one is sent, so are those before it.
        writing.add_done_callback(self._written)

    def _written(self, writing: asyncio.Future[None]) -> None:
        self._is_writing = False
        if writing.cancelled() or writing.exception() is not None:
            self.close()
        elif self._waiting:
            self._pump()
        else:
            self._drained.set()


def _seen(writing: asyncio.Future[None]) -> None:
    """Ignore the exception of a connection that closed meanwhile."""
    if not writing.cancelled():
        writing.exception()


# ``WS page``: the one connection of an open page.


log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The most bytes of one message. The largest contain the outputs of a whole notebook (a page that
shows 64 MB of them hardly moves) or of one cell in a run. The page is told the limit, and reports
an answer that is too large."""
MAX_WAITING_MESSAGES = 100
"""Messages of a page that are queued while one is handled; then reading pauses."""
TOO_SLOW = (1013, "The page reads too slowly. Connect again.")
"""Close code for a page that does not read what it is sent (RFC 6455, 7.4.2)."""
# Browsers' close codes for a page that is unloaded (RFC 6455, 7.4.1). A broken connection has none.
UNLOADED = (1000, 1001)


class PageSocket(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """Session events and requests to the page go out; editor state, ops and answers come in."""

    auth_resource = RESOURCE

    @property
    def parts(self) -> Parts:
        """The server's parts."""
        parts: Parts = self.settings[PARTS_KEY]
        return parts

    @property
    def max_message_size(self) -> int:
        """The most bytes of one message; past them, tornado closes the connection with 1009."""
        return MAX_MESSAGE_BYTES

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        for action in ("read", "write", "execute"):
            if not await ensure_async(
                self.authorizer.is_authorized(self, self.current_user, action, RESOURCE)
            ):
                raise web.HTTPError(403, f"Not allowed to {action} {RESOURCE}.")
        self._is_browser = await is_browser(self)
        await self.parts.plugins.ready()
        await super().get(*args, **kwargs)

    def open(self, *args: str, **kwargs: str) -> None:
        """Prepare the connection; the page introduces itself by its ``hello``."""
        super().open(*args, **kwargs)
        # Otherwise each answer waits for the other side's delayed acknowledgement.
        self.set_nodelay(True)
        self._page: Page | None = None
        self._asker = Asker("program")
        self._disconnected: Callable[[], None] = lambda: None
        self._leave: dict[str, Callable[[], None]] = {}
        self._inbox: asyncio.Queue[str | bytes | None] = asyncio.Queue(MAX_WAITING_MESSAGES)
        self._send_queue = SendQueue(self._write, self._too_slow)
        self._reader = asyncio.ensure_future(self._read())

    async def on_message(self, message: str | bytes) -> None:
        """Queue a message; they are handled one at a time, in order."""
        await self._inbox.put(message)

    def on_close(self) -> None:
        """The page is gone; its turns continue."""
        super().on_close()
        self._stop_sending()
        self._disconnected()
        if self._page is not None:
            left = self.close_code in UNLOADED
            self.parts.pages.disconnect(self._page, left=left)
            self._page = None
        # Messages that arrived before are still handled.
        self._ending = asyncio.ensure_future(self._inbox.put(None))

    def _stop_sending(self) -> None:
        self._send_queue.close()
        for leave in self._leave.values():
            leave()
        self._leave.clear()

    def _too_slow(self) -> None:
        log.warning("A page reads too slowly; its connection is closed")
        self._stop_sending()
        self.close(*TOO_SLOW)

    async def _read(self) -> None:
        while (message := await self._inbox.get()) is not None:
            ref = None
            try:
                data = _parsed(message)
                ref = _ref(data)
                await self._take(CLIENT_MESSAGE_ADAPTER.validate_python(data))
            except ValidationError as error:
                self._send(OpRejectedMessage(ref=ref, error=invalid(error).reply().error))
            except AgentError as error:
                self._send(OpRejectedMessage(ref=ref, error=error.reply().error))
            except Exception as error:
                # The connection's boundary: one bad message must not end it.
                log.exception("A page's message failed")
                failure = as_agent_error(error) or AgentError("internal", "Internal server error.")
                self._send(OpRejectedMessage(ref=ref, error=failure.reply().error))

    async def _take(self, message: Any) -> None:
        pages = self.parts.pages
        if isinstance(message, Hello):
            renames = self.parts.notebooks.renames
            known_until = message.renames_known_until
            # A new page has missed nothing, but its time, too, must be later than all renames.
            newer = await renames.after(renames.time() if known_until is None else known_until)
            missed = [] if known_until is None else newer
            if self.ws_connection is None or self.ws_connection.is_closing():
                return
            self._note_asker(message)
            self._page = pages.connect(
                message.client_id, self._send, message.pending_request_ids, missed
            )
            self._send(
                Welcome(
                    client_id=message.client_id,
                    version=self.parts.version,
                    max_message_bytes=MAX_MESSAGE_BYTES,
                    renames_known_until=renames.time(),
                    awaited_request_ids=self._page.tab.awaited(message.pending_request_ids or ()),
                    return_ms=int(pages.return_seconds * 1000),
                )
            )
            self._send(SessionsWaiting(sessions=pages.waiting))
            self.parts.sessions.resume_waiting()
            return
        if self._page is None:
            raise AgentError("invalid_request", "The first message must be hello.")
        if isinstance(message, EditorState):
            pages.on_state(self._page, message)
        elif isinstance(message, PageResponse):
            pages.on_response(self._page, message)
        elif isinstance(message, PageProgress):
            pages.on_progress(self._page, message)
        elif isinstance(message, SubmitOp):
            await self._submit(message)
        elif isinstance(message, Subscribe):
            await self._subscribe(message)
        elif isinstance(message, Unsubscribe):
            self._unsubscribe(message.session_id)
        elif isinstance(message, InputFocused):
            begin_import()
        elif isinstance(message, PanelShown) and self.parts.models().ready:
            # Without a model, nothing needs the library.
            import_when_idle()

    def _note_asker(self, hello: Hello) -> None:
        self._disconnected()
        key = key_of(hello.key)
        self._asker = Asker("page" if self._is_browser else "program", key)
        self._disconnected = self.parts.askers.connected(key if self._is_browser else None)

    async def _submit(self, message: SubmitOp) -> None:
        assert self._page is not None
        client_id = self._page.client_id

        async def submit(op_id: str) -> str:
            op = check_op(message.op)
            if isinstance(op, Resume) and op.client_id is None:
                op = op.model_copy(update={"client_id": client_id})
            if message.again and await self.parts.store.queue.knows(message.session_id, op_id):
                return op_id
            return await self.parts.sessions.submit(
                message.session_id, op, "page", self._asker, op_id
            )

        op_id = await self.parts.accepted.once(client_id, message.ref, submit)
        self._send(OpAcceptedMessage(ref=message.ref, op_id=op_id))

    async def _subscribe(self, message: Subscribe) -> None:
        self._unsubscribe(message.session_id)
        session = await self.parts.sessions.live(message.session_id)
        head = f'{{"type":"event","sessionId":{json.dumps(session.id)},"event":'

        send = self._send_queue.put

        def forward(event: SerializedEvent) -> None:
            # The event was serialized once, for all listeners.
            send(f"{head}{event.text}}}")

        leave = await session.state.channel.subscribe(
            forward, message.after, self._send_queue.drained
        )
        send = self._send_queue.put_live
        if self.ws_connection is None or self.ws_connection.is_closing():
            leave()
            return
        self._leave[message.session_id] = leave

    def _unsubscribe(self, session_id: str) -> None:
        leave = self._leave.pop(session_id, None)
        if leave is not None:
            leave()

    def _send(self, message: Wire) -> None:
        self._send_queue.put(to_json(message.to_wire()))

    def _write(self, text: str) -> asyncio.Future[None]:
        try:
            return self.write_message(text)
        except WebSocketClosedError as error:
            closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            closed.set_exception(error)
            return closed


def _parsed(message: str | bytes) -> Any:
    try:
        return parse_json(message)
    except ValueError as error:
        raise AgentError("invalid_request", f"Not valid JSON: {error}.") from error


def _ref(data: Any) -> str | None:
    """The message's ``ref``, by which a rejection names it, if it has one."""
    ref = data.get("ref") if isinstance(data, dict) else None
    return ref if isinstance(ref, str) else None
