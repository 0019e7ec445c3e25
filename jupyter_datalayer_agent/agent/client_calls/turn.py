"""A call that changes or runs something, as a turn: recorded, shown, marked and undone like any."""

from __future__ import annotations

import asyncio
from typing import Any

from ...protocol.base import new_id
from ...protocol.json_text import to_json
from ...protocol.tools import NotDone
from ...settings.turn_settings import Settings
from ...tools.context import SeenCells
from ...tools.result import Dispatched
from ..approvals.data_sharing import TurnSharing
from ..approvals.pending import Audience
from ..history.history import assistant_item
from ..request import TurnRequest
from ..state import SessionState
from ..tool_calls.own_calls import OwnCalls
from ..tool_calls.scheduler import FinishedCall, aborted_call
from ..turn.loop import Turn
from .approvals import ClientApprovals
from .client import Client


class ClientTurn(Turn):
    """Makes one call. No model of ours is asked; ``done`` is the call's result."""

    def __init__(
        self,
        session: SessionState,
        request: TurnRequest,
        settings: Settings,
        op_id: str,
        *,
        client: Client,
        seen: SeenCells,
        audience: Audience,
        name: str,
        arguments: dict[str, Any],
    ) -> None:
        super().__init__(session, request, settings, audience, op_id)
        self.done: Dispatched | None = None
        self._client = client
        self._name = name
        self._arguments = arguments
        self.approvals = ClientApprovals(client, session.waiting, audience, self.emit)
        self.sharing = TurnSharing(self._settings_now, self.approvals)
        self._dispatcher = self._make_dispatcher(seen)

    async def _prepare(self) -> None:
        self.model = ""

    async def _work(self) -> None:
        calls = OwnCalls(self._dispatcher, self.emit, self._finished)
        call_id = new_id("call")
        try:
            finished = await calls.call(self._name, self._arguments, call_id)
        except asyncio.CancelledError:
            item = {"call_id": call_id, "arguments": to_json(self._arguments)}
            _, event, record = aborted_call(item, self._name)
            await self.emit(event, tool_calls=[record])
            raise
        self.done = finished.done
        # What a model of ours is sent, should the user go on in this session. The panel shows the
        # call itself.
        self._keep([assistant_item(finished.done.summary_for_model)])

    async def _finished(self, call: FinishedCall) -> None:
        self.record.add_call(call)

    async def _offer_fixes(self) -> None:
        """The program's own model reads the failure, and decides how to go on."""

    def _find_not_done(self) -> NotDone | None:
        """The program reads the result of its one call."""

    async def emit_status(self, message: str) -> None:
        """See ``Turn.emit_status``; the program is notified, too."""
        await super().emit_status(message)
        await self._client.status(message)

    def leave(self) -> None:
        """The program does not wait for a server that ends: the turn is stopped."""
