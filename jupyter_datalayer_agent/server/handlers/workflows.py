"""``workflows``, ``fixes`` and ``quality``: they work without a model."""

from __future__ import annotations

from ...agent.fixes.attempts import next_attempt
from ...agent.fixes.offers import fixes_of
from ...agent.request import confined
from ...agent.tool_calls.verification import Failure
from ...notebook.cells_of import cells_of
from ...protocol.errors import AgentError
from ...protocol.plans import WorkflowCall
from ...protocol.quality import QualityReport
from ...protocol.requests import ChatReply, ChatRequest
from ...protocol.workflows import (
    FixAttempt,
    FixAttemptRequest,
    FixesReply,
    WorkflowRun,
    WorkflowsReply,
)
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class WorkflowsHandler(Handler):
    """All workflows."""

    @route("read")
    async def get(self) -> WorkflowsReply:
        return WorkflowsReply(workflows=self.parts.runtime.templates().infos())


class WorkflowHandler(Handler):
    """Runs a workflow as a turn of a session, and replies at its end."""

    @route("execute")
    async def post(self, workflow_id: str) -> None:
        body = self.body(WorkflowRun)
        template = self.parts.runtime.templates().find(workflow_id)
        if template is None:
            names = ", ".join(each.id for each in self.parts.runtime.templates())
            raise AgentError(
                "not_found", f"There is no workflow {workflow_id!r}. There are: {names}."
            )
        parameters = dict(body.parameters)
        active = await self._existing(body.notebook)
        if body.notebook is not None and "notebook" in template.parameters.model_fields:
            parameters.setdefault("notebook", body.notebook)
        request = ChatRequest(
            session_id=body.session_id,
            message=f"Run the workflow “{template.name}”",
            mode="agent",
            active_notebook=active,
            client_id=body.client_id,
            location="api",
            workflow=WorkflowCall(id=template.id, parameters=parameters),
        )
        await self.run_turn(request)

    async def _existing(self, notebook: str | None) -> str | None:
        if notebook is None:
            return None
        path = await confined(self.parts.runtime, notebook)
        return path if await self.parts.runtime.notebooks.exists(path) else None


class FixesHandler(Handler):
    """Fixes for a failed cell. The kernel's variables are read."""

    @route("execute")
    async def get(self) -> FixesReply:
        runtime = self.parts.runtime
        path = await confined(runtime, self.get_query_argument("path"))
        cell_id = self.get_query_argument("cellId")
        client_id = self.get_query_argument("clientId", None)
        # Here a missing document is an error; in a workflow there is simply no fix.
        await cells_of(runtime.notebooks, path, client_id)
        found = await fixes_of(runtime, Failure("", path, cell_id), client_id)
        return FixesReply(path=path, cell_id=cell_id, fixes=found)

    @route("execute")
    async def post(self) -> FixAttempt:
        request = self.body(FixAttemptRequest)
        return await next_attempt(self.parts.runtime, request, self.parts.models())


class QualityHandler(Handler):
    """The quality report of a notebook, as open in the page or as in its file."""

    @route("read")
    async def get(self) -> QualityReport:
        path = await confined(self.parts.runtime, self.get_query_argument("path"))
        client_id = self.get_query_argument("clientId", None)
        return await self.parts.runtime.quality_of(path, client_id)


ROUTES = [
    Route(
        "workflows",
        WorkflowsHandler,
        {"get": Operation("Workflows that need no model", response=WorkflowsReply)},
    ),
    Route(
        "workflows/{workflow_id}",
        WorkflowHandler,
        {"post": Operation("Run one, answered at its end", WorkflowRun, ChatReply)},
    ),
    Route(
        "fixes",
        FixesHandler,
        {
            "get": Operation(
                "Fixes for a failed cell, found without a model; the kernel's variables are read",
                response=FixesReply,
                query={
                    "path": "the notebook",
                    "cellId": "the cell that failed",
                    "clientId": "the page that is asked first",
                },
            ),
            "post": Operation("The next attempt at a failed cell", FixAttemptRequest, FixAttempt),
        },
    ),
    Route(
        "quality",
        QualityHandler,
        {
            "get": Operation(
                "The quality report of a notebook",
                response=QualityReport,
                query={"path": "the notebook", "clientId": "the page that is asked first"},
            )
        },
    ),
]
