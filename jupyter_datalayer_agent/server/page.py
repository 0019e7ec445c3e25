"""``WS page``: the one connection of an open page."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.utils import ensure_async
from pydantic import ValidationError
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from ..agent.channel import Told
from ..models.loader import begin_import
from ..notebook.pages import Page
from ..protocol.base import Wire
from ..protocol.errors import AgentError
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
    SessionsWaiting,
    SubmitOp,
    Subscribe,
    Unsubscribe,
    Welcome,
)
from .base import PARTS_KEY, RESOURCE, as_agent_error, invalid
from .ops import check_op
from .parts import Parts

log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 256 * 1024 * 1024


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
        """Bytes of one message: a page's answer may hold a large notebook with its outputs."""
        return MAX_MESSAGE_BYTES

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        for action in ("read", "write", "execute"):
            if not await ensure_async(
                self.authorizer.is_authorized(self, self.current_user, action, RESOURCE)
            ):
                raise web.HTTPError(403, f"Not allowed to {action} {RESOURCE}.")
        await super().get(*args, **kwargs)

    def open(self, *args: str, **kwargs: str) -> None:
        """The connection stands; nothing is known of the page before its ``hello``."""
        super().open(*args, **kwargs)
        # Without this each answer waits for the other side's delayed acknowledgement.
        self.set_nodelay(True)
        self._page: Page | None = None
        self._leave: dict[str, Callable[[], None]] = {}
        self._inbox: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self._reader = asyncio.ensure_future(self._read())

    def on_message(self, message: str | bytes) -> None:
        """Messages are taken one after the other, in order."""
        self._inbox.put_nowait(message)

    def on_close(self) -> None:
        """The page is gone; its turns go on."""
        super().on_close()
        for leave in self._leave.values():
            leave()
        self._leave.clear()
        if self._page is not None:
            self.parts.services.pages.disconnect(self._page)
            self._page = None
        self._inbox.put_nowait(None)

    async def _read(self) -> None:
        while (message := await self._inbox.get()) is not None:
            ref = None
            try:
                try:
                    data = json.loads(message)
                except ValueError as error:
                    raise AgentError("invalid_request", f"Not valid JSON: {error}.") from error
                ref = data.get("ref") if isinstance(data, dict) else None
                await self._take(CLIENT_MESSAGE_ADAPTER.validate_python(data))
            except ValidationError as error:
                self._send(OpRejectedMessage(ref=ref, error=invalid(error).reply().error))
            except AgentError as error:
                self._send(OpRejectedMessage(ref=ref, error=error.reply().error))
            except Exception as error:
                # The edge of the connection: one bad message must not end it.
                log.exception("A page's message failed")
                told = as_agent_error(error) or AgentError("internal", "The server failed inside.")
                self._send(OpRejectedMessage(ref=ref, error=told.reply().error))

    async def _take(self, message: Any) -> None:
        pages = self.parts.services.pages
        if isinstance(message, Hello):
            self._page = pages.connect(message.client_id, self._send, message.pending_request_ids)
            self._send(Welcome(client_id=message.client_id, version=self.parts.version))
            self._send(SessionsWaiting(sessions=pages.waiting))
            self.parts.sessions.recall_waiting()
            return
        if self._page is None:
            raise AgentError("invalid_request", "Say hello first.")
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

    async def _submit(self, message: SubmitOp) -> None:
        assert self._page is not None
        accepted = self.parts.accepted
        op_id = accepted.find(self._page.client_id, message.ref)
        if op_id is None:
            op = check_op(message.op)
            if isinstance(op, Resume) and op.client_id is None:
                op = op.model_copy(update={"client_id": self._page.client_id})
            op_id = await self.parts.sessions.submit(message.session_id, op, "page")
            accepted.note(self._page.client_id, message.ref, op_id)
        self._send(OpAcceptedMessage(ref=message.ref, op_id=op_id))

    async def _subscribe(self, message: Subscribe) -> None:
        self._unsubscribe(message.session_id)
        session = await self.parts.sessions.live(message.session_id)
        head = f'{{"type":"event","sessionId":{json.dumps(session.id)},"event":'

        def tell(told: Told) -> None:
            # The event's JSON was made once, for everybody who listens.
            self._send_text(f"{head}{told.text}}}")

        leave = await session.channel.subscribe(tell, message.after)
        if self.ws_connection is None:
            leave()
            return
        self._leave[message.session_id] = leave

    def _unsubscribe(self, session_id: str) -> None:
        leave = self._leave.pop(session_id, None)
        if leave is not None:
            leave()

    def _send(self, message: Wire) -> None:
        self._send_text(json.dumps(message.to_wire(), ensure_ascii=False))

    def _send_text(self, text: str) -> None:
        try:
            self.write_message(text)
        except WebSocketClosedError:
            return
