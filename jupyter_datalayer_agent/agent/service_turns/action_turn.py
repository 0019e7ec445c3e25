"""A turn in which an action is run: the user's own act, with the parameters of its form."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...protocol.services import ActionCall
from ...protocol.tools import TurnFacts
from ...services.action import ActionFailed, ActionResult
from ...services.workflow_action import WorkflowAction
from ...settings.turn_settings import Settings
from ..actions.context import RunningContext
from ..actions.proposals import find_action
from ..actions.running import ActionRun
from ..history.history import assistant_item
from ..message import Message
from ..plan.turn import PlannedTurn
from ..request import TurnRequest
from ..state import SessionState
from ..turn.ends import TurnEnds


class ActionTurn(PlannedTurn):
    """Runs one action. No model is asked, and nothing is approved again: the user clicked."""

    def __init__(
        self,
        session: SessionState,
        request: TurnRequest,
        settings: Settings,
        message: Message,
        call: ActionCall,
    ) -> None:
        # The action is the user's act: its own calls ask for no further approval.
        action = find_action(session.runtime.service_registry(), call.service, call.action)
        # A workflow asks as it always does.
        if not issubclass(action, WorkflowAction):
            settings = settings.model_copy(update={"approval_policy": "never"})
        super().__init__(session, request, settings, message.audience, message.op_id)
        self._given = message.parameters
        self._call = call
        self._action = action

    async def _prepare(self) -> None:
        if issubclass(self._action, WorkflowAction):
            await super()._prepare()
        else:
            self.model = ""

    async def _work(self) -> None:
        context = RunningContext(
            self.session, self.request.gate.active, self.request.chat.client_id, self.own
        )
        action = self._action(context)
        run = ActionRun(self._call, action, self.emit)
        try:
            if isinstance(action, WorkflowAction):
                # Its plan goes on when the server is started again.
                execute = partial(self._run_workflow, action)
                await run.run(self._given, execute=execute, is_left=lambda: self.leaving)
                return
            result = await run.run(self._given)
        except ActionFailed as error:
            raise TurnEnds("error", str(error), "action_failed") from error
        self._keep([assistant_item(result.output)])
        self.record.reply = result.output

    def _find_facts(self) -> TurnFacts | None:
        """Only a workflow acts by calls; what another action did is its result."""
        return super()._find_facts() if self.plan is not None else None

    async def _run_workflow(self, action: WorkflowAction, parameters: Any) -> ActionResult:
        """The turn goes on as that of ``POST workflows/{id}``."""
        self.request.chat.workflow = action.workflow(parameters)
        self.request.planned = True
        await super()._work()
        notebook = self.plan.notebook if self.plan is not None else None
        return ActionResult(self.record.reply or "", [notebook] if notebook else [])
