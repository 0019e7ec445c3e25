"""Tool calls that the agent makes without the model: gated, approved, shown and stored like the
model's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ...protocol import events
from ...protocol.base import new_id
from ...protocol.cells import CellEdit
from ...protocol.json_text import to_json
from ...protocol.requests import ToolCallRecord
from ...protocol.tools import Change
from ...protocol.workflows import FixInfo
from ...tools.dispatcher import Dispatcher
from ..event_buffer import Emit
from .scheduler import FinishedCall, finished
from .verification import Failure, messages_of


class OwnCalls:
    """Makes calls with a dispatcher that works on the current state.

    ``on_done`` is called after each call.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        emit: Emit,
        on_done: Callable[[FinishedCall], Awaitable[None]],
    ) -> None:
        self._dispatcher = dispatcher
        self._emit = emit
        self._on_done = on_done

    def of_the_user(self) -> OwnCalls:
        """The same calls as the user's own act: none asks for approval."""
        dispatcher = Dispatcher(self._dispatcher.registry, self._dispatcher.context)
        return OwnCalls(dispatcher, self._emit, self._on_done)

    async def call(
        self, name: str, arguments: dict[str, Any], call_id: str | None = None
    ) -> FinishedCall:
        """Make one call; failures are in its result."""
        call_id = call_id or new_id("call")
        record = ToolCallRecord(call_id=call_id, name=name, arguments=arguments, status="running")
        await self._emit(self._dispatcher.registry.call_started(call_id, name))
        await self._emit(
            events.ToolCallArguments(call_id=call_id, arguments=arguments), tool_calls=[record]
        )
        done = await self._dispatcher.call(name, arguments, call_id)
        call = finished({"call_id": call_id, "name": name, "arguments": to_json(arguments)}, done)
        await self._emit(call.event, tool_calls=[call.record])
        await self._on_done(call)
        return call

    async def edit(self, path: str, edits: Sequence[CellEdit]) -> None:
        """Change cells of any notebook as the user's own act: recorded for undo, and reported.
        Raises ``DocumentError``."""
        context = self._dispatcher.context
        document = await context.notebooks.open(path, context.client_id)
        applied = await document.edit(edits)
        named = {change.cell_id for change in applied.changes}
        # If only outputs were changed, no change of a source was reported.
        others = [
            Change(
                path=document.path,
                op="update",
                cell_id=cell.id,
                index=cell.index,
                before=cell.source,
                after=cell.source,
                cell_type=cell.type,
            )
            for cell in applied.cells
            if cell.id not in named
        ]
        await context.changed(document.path, [*applied.changes, *others])

    async def fix(self, fix: FixInfo, path: str) -> Failure | None:
        """Apply an error fix; returns the failure, or None."""
        for step in fix.calls:
            done = await self.call(step.name, {"path": path, **step.arguments})
            if done.done.result.error is not None:
                message, redacted, _ = messages_of(done)
                return Failure(message, redacted=redacted)
        return None
