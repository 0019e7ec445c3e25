"""What models that answer side by side may do: read, through the same dispatcher and gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...protocol.sharing import ShareKind
from ...settings.turn_settings import Settings
from ...tools.context import SeenCells, ToolContext
from ...tools.dispatcher import Dispatcher
from ...tools.gate import Gate, GatedTool, Refusal
from ...tools.redaction import BY_SETTING, CallRef, Question, Refused
from ..approvals.data_sharing import policies
from ..request import TurnRequest
from ..state import SessionState

NOT_ASKED = "by the setting, which asks first: models that answer side by side do not ask"


@dataclass
class ReadingGate(Gate):
    """Allows the tools that read, and nothing that changes, runs, plans or asks the user."""

    def refusal(self, tool: GatedTool) -> Refusal | None:
        """See ``Gate.refusal``."""
        if tool.parallel and not tool.changes:
            return super().refusal(tool)
        return Refusal(
            f"{tool.name} is not available here: several models answer this message side by side, "
            "and each only reads.",
            "Answer from what you can read, and say what Agent mode could do.",
            "Not done: a comparison only reads",
        )


def reading(request: TurnRequest) -> TurnRequest:
    """The request with reading tools alone, whatever its mode."""
    gate = request.gate
    return replace(
        request,
        mode="ask",
        planned=False,
        plan_first=False,
        gate=ReadingGate(
            mode="ask",
            location=gate.location,
            attached=gate.attached,
            active=gate.active,
            created=gate.created,
            lexical_attached=gate.lexical_attached,
            lexical_active=gate.lexical_active,
        ),
    )


class _WithoutAsking:
    """Sends what may be sent, or was approved for the session; withholds what would be asked."""

    def __init__(self, session: SessionState, settings: Callable[[], Settings]) -> None:
        self._session = session
        self._settings = settings

    async def refused(
        self, parts: Sequence[frozenset[ShareKind]], call: CallRef, question: Question
    ) -> Refused:
        """See ``tools.redaction.Sharing``."""
        refused: dict[ShareKind, str] = {}
        for kind, rule in policies(self._settings()).items():
            approved = f"share:{kind}" in self._session.waiting.approved_tools
            if not any(kind in part for part in parts):
                continue
            if rule == "never":
                refused[kind] = BY_SETTING
            elif rule == "ask" and not approved:
                refused[kind] = NOT_ASKED
        return refused


def reading_dispatcher(
    session: SessionState, turn_id: str, request: TurnRequest, settings: Callable[[], Settings]
) -> Dispatcher:
    """Calls the tools of one answer. What it reads is not what the conversation has read: only the
    text of the answer that is chosen is sent later."""
    runtime = session.runtime
    context = ToolContext(
        gate=request.gate,
        notebooks=runtime.notebooks,
        kernel_timeout_seconds=settings().kernel_timeout_seconds,
        client_id=request.chat.client_id,
        session_id=session.id,
        turn_id=turn_id,
        seen=SeenCells(),
        active_document=request.active_document,
        past=runtime.store.past,
        datasets=runtime.datasets,
        quality_of=runtime.quality_of,
        repair_of=runtime.repair_of,
        sharing=_WithoutAsking(session, settings),
    )
    return Dispatcher(request.tools, context)
