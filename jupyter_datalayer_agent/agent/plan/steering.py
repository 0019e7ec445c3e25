"""The user steers a plan: pauses it, decides on it, resumes it."""

from __future__ import annotations

from ...protocol.errors import AgentError
from ...protocol.ops import Pause, PlanDecision, Resume, RunAction
from ...protocol.requests import ChatRequest
from ...store.records import StoredPlan
from ..history.history import assistant_item
from ..runtime import Runtime
from ..turn.loop import Turn
from .turn import PlannedTurn

NOTHING = "Nothing to continue: the last plan is complete. Send a new instruction."
RESUMABLE = ("stopped", "running", "paused", "waiting")
"""States of a plan whose turn has ended before its end."""


async def steer(
    runtime: Runtime, session_id: str, turn: Turn | None, op: PlanDecision | Pause | Resume
) -> ChatRequest | None:
    """Carry out the op on the running turn's plan; a plan that stopped is resumed by the request
    that is returned. Raises ``AgentError`` where there is no such plan."""
    if isinstance(turn, PlannedTurn):
        if isinstance(op, Pause):
            turn.pause()
        elif isinstance(op, PlanDecision):
            turn.decide(op)
        else:
            turn.decide(PlanDecision(decision="approve"))
        return None
    if not isinstance(op, Resume) or turn is not None:
        raise AgentError("invalid_request", "No plan is running.")
    stopped = await stopped_plan(runtime, session_id)
    if stopped is None:
        raise AgentError("not_found", "There is no stopped plan in this session.")
    return stopped.request.model_copy(
        update={
            "message": "continue",
            "workflow": None,
            "plan_first": None,
            "client_id": op.client_id or stopped.request.client_id,
        }
    )


def runs_step(turn: Turn | None, op: RunAction) -> bool:
    """Whether the action is a step of the running plan, which goes on with it. Raises
    ``AgentError`` where the plan does not wait for it."""
    return isinstance(turn, PlannedTurn) and turn.run_action(op)


async def stopped_plan(runtime: Runtime, session_id: str) -> StoredPlan | None:
    """The last plan, if it stopped before its end (its server may have died, too)."""
    stored = await runtime.store.plans.last(session_id)
    return stored if stored is not None and stored.plan.state in RESUMABLE else None


async def last_plan_is_done(runtime: Runtime, session_id: str) -> bool:
    """Whether the session's last plan came to its end."""
    stored = await runtime.store.plans.last(session_id)
    return stored is not None and stored.plan.state == "completed"


class NothingToContinue(PlannedTurn):
    """Answers a "continue" after a completed plan: it must not become a new plan."""

    async def _work(self) -> None:
        await self._keep_items([assistant_item(NOTHING)])
        self.record.reply = NOTHING
