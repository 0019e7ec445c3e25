"""Asks a program's user in a form that the program shows (elicitation), and reports progress."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from ...protocol.approval_text import approval_parts, visible
from ...tools.call_approval import ApprovalRequest, Decision
from .rpc import ELICITATION_SECONDS, Peer

log = logging.getLogger(__name__)

DECISIONS = {
    "approve": "Allow once",
    "approve_for_session": "Allow for this session",
    "deny": "Do not allow",
}
NOT_ANSWERED = "The form was closed without a decision, or nobody answered it in time."
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
LOGGER = "jupyter-datalayer-agent"


class PeerClient:
    """The ``Client`` of ``agent.client_calls`` for one call. ``level`` returns the lowest level
    that the program wants logged."""

    def __init__(self, peer: Peer, level: Callable[[], str]) -> None:
        self._peer = peer
        self._level = level
        self._progress = 0

    async def decide(self, request: ApprovalRequest) -> Decision | None:
        """See ``Client.decide``. Only an explicit approval approves."""
        schema = {
            "type": "object",
            "properties": {
                "decision": {
                    "type": "string",
                    "title": "Decision",
                    "enum": list(DECISIONS),
                    "enumNames": list(DECISIONS.values()),
                }
            },
            "required": ["decision"],
        }
        answer = await self._elicit(_question(request), schema)
        if answer is None:
            return None
        decision = (answer.get("content") or {}).get("decision")
        if answer.get("action") == "decline":
            return Decision(False)
        if answer.get("action") != "accept" or decision not in DECISIONS:
            return Decision(False, undecided=NOT_ANSWERED)
        return Decision(decision != "deny", for_session=decision == "approve_for_session")

    async def answer(self, question: str, options: list[str] | None) -> str | None:
        """See ``Client.answer``."""
        field: dict[str, Any] = {"type": "string", "title": "Answer"}
        if options:
            field["enum"] = options
        schema = {"type": "object", "properties": {"answer": field}, "required": ["answer"]}
        answer = await self._elicit(question, schema)
        if answer is None:
            return None
        given = (answer.get("content") or {}).get("answer")
        if answer.get("action") != "accept" or not isinstance(given, str):
            return "The user did not answer."
        return given

    async def _elicit(self, message: str, schema: dict[str, Any]) -> dict[str, Any] | None:
        if not self._peer.can_elicit:
            return None
        try:
            return await asyncio.wait_for(
                self._peer.elicit(message, schema, self._peer.request_id), ELICITATION_SECONDS
            )
        except asyncio.TimeoutError:
            return {"action": "cancel"}
        except Exception as error:  # noqa: BLE001 - another program's answer may be anything
            log.info("An MCP client could not ask its user: %s", error)
            return None

    async def status(self, message: str) -> None:
        """See ``Client.status``. Sent as progress, if the program asked for that, and as a log
        message."""
        peer = self._peer
        self._progress += 1
        if peer.progress_token is not None:
            progress = {
                "progressToken": peer.progress_token,
                "progress": self._progress,
                "message": message,
            }
            await peer.notify("notifications/progress", progress, peer.request_id)
        if LEVELS.index(self._level()) <= LEVELS.index("info"):
            entry = {"level": "info", "logger": LOGGER, "data": message}
            await peer.notify("notifications/message", entry, peer.request_id)


def _question(request: ApprovalRequest) -> str:
    parts = approval_parts(request.as_event("").to_wire())
    asked = visible(f"{request.name}: {request.reason}. Allow it?")
    return "\n\n".join([asked, *map(str, parts)])
