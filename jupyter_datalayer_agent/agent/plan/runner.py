"""What the parts of a plan need of the turn that carries it out: the turn itself is above them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ...protocol.errors import ErrorCode
from ...protocol.events import BaseEvent
from ...protocol.plans import Plan, PlanState
from ...protocol.quality import QualityReport
from ...protocol.workflows import FixInfo, WorkflowOffer
from ...settings.turn import Settings
from ..approvals.broker import ApprovalBroker
from ..approvals.pending import Audience
from ..request import TurnRequest
from ..services import Services
from ..state import SessionState
from ..tool_calls.verification import Failure, StepWatch, Verified
from .messages import FailedStep
from .own_calls import OwnCalls


class PlanRunner(Protocol):
    """``PlannedTurn``, as its templates, offers and recovery see it."""

    session: SessionState
    services: Services
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
    def unanswered(self) -> ErrorCode:
        """The error of a message that got neither plan nor answer."""
        ...

    async def fixes_of(self, failure: Failure) -> list[FixInfo]:
        """What could be done about a failure without a model."""
        ...

    async def offer_fixes(self, failure: Failure, fixes: list[FixInfo]) -> None:
        """Tell the user what could be done about a cell that failed."""
        ...

    async def emit(self, event: BaseEvent | None, **belongings: Any) -> None:
        """Write the event with what belongs to it, then send it to all who listen."""
        ...

    async def emit_status(self, message: str) -> None:
        """Report what is being done now."""
        ...

    async def show(self, state: PlanState) -> None:
        """Keep and emit the plan in this state."""
        ...

    async def add_user_message(self, text: str) -> None:
        """Add a message of ours to the conversation."""
        ...

    async def let_model_fix(self) -> None:
        """Let the model work until it asks for nothing more, or a run fails again."""
        ...

    async def verify(self) -> Verified | Failure:
        """Whether what this step touched is as its calls reported."""
        ...

    def take_run_failure(self) -> Failure | None:
        """The run that failed since this was last asked."""
        ...

    def offer(self, offers: Sequence[WorkflowOffer], message: str) -> None:
        """End the turn with this offer."""
        ...

    async def answer(self, text: str, report: QualityReport) -> None:
        """End the turn with the quality report as its answer."""
        ...
