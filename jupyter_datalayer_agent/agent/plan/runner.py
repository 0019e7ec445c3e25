"""The interface between a planned turn and its parts, which cannot import the turn itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ...protocol.base import Audience
from ...protocol.errors import ErrorCode
from ...protocol.events import BaseEvent
from ...protocol.plans import Plan, PlanState
from ...protocol.workflows import FixInfo, WorkflowOffer
from ...settings.turn_settings import Settings
from ..actions.filler import Ask
from ..approvals import ApprovalBroker
from ..request import TurnRequest
from ..runtime import Runtime
from ..state import SessionState
from ..tool_calls.own_calls import OwnCalls
from ..tool_calls.verification import Failure, StepWatch, Verified
from .messages import FailedStep


class PlanRunner(Protocol):
    """``PlannedTurn`` as its templates, offers and recovery see it."""

    session: SessionState
    runtime: Runtime
    request: TurnRequest
    settings: Settings
    audience: Audience
    approvals: ApprovalBroker
    plan: Plan | None
    own: OwnCalls
    watch: StepWatch
    failed_steps: list[FailedStep]

    @property
    def has_model(self) -> bool:
        """Whether a model can be asked."""
        ...

    @property
    def ask_apart(self) -> Ask | None:
        """Asks the model outside of the conversation; None if there is none."""
        ...

    @property
    def unanswered(self) -> ErrorCode:
        """The error code for a message with neither plan nor answer."""
        ...

    async def fixes_of(self, failure: Failure) -> list[FixInfo]:
        """The fixes for a failure that need no model."""
        ...

    async def offer_fixes(self, failure: Failure, fixes: list[FixInfo]) -> None:
        """Offer the user fixes for a cell that failed."""
        ...

    async def emit(self, event: BaseEvent | None, **belongings: Any) -> None:
        """Write the event with what belongs to it, then send it to all listeners."""
        ...

    async def emit_status(self, message: str) -> None:
        """Report the current activity."""
        ...

    async def show(self, state: PlanState) -> None:
        """Store and emit the plan in this state."""
        ...

    async def add_user_message(self, text: str) -> None:
        """Add a message of the agent's to the conversation."""
        ...

    async def let_model_fix(self) -> None:
        """Let the model work until it makes no more calls, or a run fails again."""
        ...

    async def verify(self) -> Verified | Failure:
        """Check that everything this step touched matches what its calls reported."""
        ...

    def take_run_failure(self) -> Failure | None:
        """The run that failed since the last call of this method."""
        ...

    def offer(self, offers: Sequence[WorkflowOffer], message: str) -> None:
        """End the turn with this offer."""
        ...
