"""``services`` and ``intent``: what the agent can do, and what a message asks for."""

from __future__ import annotations

from ...agent.actions.proposals import find_action, propose
from ...agent.fixes import fixes_of, next_attempt
from ...agent.intent import Chosen, detect, understand
from ...agent.request import confined
from ...agent.tool_calls.verification import Failure
from ...notebook.cells_of import cells_of
from ...protocol.errors import AgentError
from ...protocol.plans import WorkflowCall
from ...protocol.requests import ChatReply, ChatRequest
from ...protocol.services import (
    ActionCall,
    ActionProposal,
    ActionRunRequest,
    DryRunRequest,
    IntentReply,
    IntentRequest,
    ServiceInfo,
    ServicesReply,
)
from ...protocol.tutorials import (
    LessonCheck,
    LessonChecked,
    Tutorial,
    TutorialsReply,
    TutorialStart,
    TutorialStarted,
)
from ...protocol.workflows import (
    FixAttempt,
    FixAttemptRequest,
    FixesReply,
    QualityReport,
    WorkflowRun,
    WorkflowsReply,
)
from ...services.registry import service_info
from ...store.records import TutorialProgress
from ...workflows.tutorials.catalogue import TUTORIALS, find_tutorial
from ...workflows.tutorials.checking import check_lesson
from ...workflows.tutorials.lesson import TutorialContent
from ...workflows.tutorials.starting import start_tutorial
from ..base.handler import Handler, Operation, Route, route

# ``workflows``, ``fixes`` and ``quality``: they work without a model.


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


WORKFLOWS_ROUTES = [
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


# ``tutorials``: tutorials, progress, and the check of a lesson.


class TutorialBase(Handler):
    """Common to the handlers."""

    def find(self, tutorial_id: str) -> TutorialContent:
        """The tutorial. Raises ``AgentError`` ``not_found``."""
        found = find_tutorial(tutorial_id)
        if found is None:
            names = ", ".join(each.id for each in TUTORIALS)
            raise AgentError(
                "not_found", f"There is no tutorial {tutorial_id!r}. There are: {names}."
            )
        return found

    async def with_progress(self, tutorial: TutorialContent) -> Tutorial:
        """The tutorial as it goes over the wire."""
        progress = (await self.parts.runtime.store.tutorials.progress()).get(tutorial.id)
        return await self.described(tutorial, progress)

    async def described(
        self, tutorial: TutorialContent, progress: TutorialProgress | None
    ) -> Tutorial:
        """The tutorial with this progress; its notebook only while it exists."""
        progress = progress or TutorialProgress()
        notebook = progress.notebook
        if notebook is not None and not await self.parts.runtime.notebooks.exists(notebook):
            notebook = None
        return Tutorial(
            id=tutorial.id,
            title=tutorial.title,
            description=tutorial.description,
            lessons=[
                lesson.lesson(number, progress.passed.get(number))
                for number, lesson in enumerate(tutorial.lessons, 1)
            ],
            notebook=notebook,
        )


class TutorialsHandler(TutorialBase):
    """All tutorials."""

    @route("read")
    async def get(self) -> TutorialsReply:
        progress = await self.parts.runtime.store.tutorials.progress()
        return TutorialsReply(
            tutorials=[await self.described(each, progress.get(each.id)) for each in TUTORIALS]
        )


class TutorialHandler(TutorialBase):
    """One tutorial."""

    @route("read")
    async def get(self, tutorial_id: str) -> Tutorial:
        return await self.with_progress(self.find(tutorial_id))

    @route("write")
    async def post(self, tutorial_id: str) -> TutorialStarted:
        tutorial = self.find(tutorial_id)
        request = self.body(TutorialStart)
        runtime = self.parts.runtime
        path, created = await start_tutorial(
            runtime.notebooks, tutorial, request.folder, request.client_id
        )
        await runtime.store.tutorials.start(tutorial.id, path)
        return TutorialStarted(path=path, created=created)


class LessonCheckHandler(TutorialBase):
    """The check of a lesson."""

    @route("execute")
    async def post(self, tutorial_id: str, number: str) -> LessonChecked:
        tutorial = self.find(tutorial_id)
        lesson = self._lesson(tutorial, number)
        request = self.body(LessonCheck)
        runtime = self.parts.runtime
        verdict = await check_lesson(
            runtime.notebooks,
            tutorial,
            lesson,
            request.path or await self._notebook(tutorial),
            request.cell_id,
            request.client_id,
        )
        if verdict.passed:
            await runtime.store.tutorials.passed(tutorial.id, lesson)
        return LessonChecked(
            passed=verdict.passed,
            feedback=verdict.feedback,
            hint=None if verdict.passed else tutorial.lessons[lesson - 1].hint,
            tutorial=await self.with_progress(tutorial),
        )

    def _lesson(self, tutorial: TutorialContent, number: str) -> int:
        count = len(tutorial.lessons)
        if not number.isascii() or not number.isdigit() or not 1 <= int(number[:9]) <= count:
            raise AgentError(
                "not_found",
                f"{tutorial.id} has the lessons 1 to {count}; there is no lesson {number}.",
            )
        return int(number)

    async def _notebook(self, tutorial: TutorialContent) -> str:
        progress = (await self.parts.runtime.store.tutorials.progress()).get(tutorial.id)
        notebook = progress.notebook if progress is not None else None
        if notebook is None or not await self.parts.runtime.notebooks.exists(notebook):
            raise AgentError(
                "not_found",
                f"The tutorial {tutorial.id} has no notebook here. Start it: "
                f"POST tutorials/{tutorial.id}.",
            )
        return notebook


TUTORIALS_ROUTES = [
    Route(
        "tutorials",
        TutorialsHandler,
        {"get": Operation("The tutorials, with progress", response=TutorialsReply)},
    ),
    Route(
        "tutorials/{tutorial_id}",
        TutorialHandler,
        {
            "get": Operation("One tutorial, with progress", response=Tutorial),
            "post": Operation(
                "Make its notebook and data where they are missing", TutorialStart, TutorialStarted
            ),
        },
    ),
    Route(
        "tutorials/{tutorial_id}/lessons/{number}/check",
        LessonCheckHandler,
        {
            "post": Operation(
                "Run the learner's cell and say what is right and missing in it",
                LessonCheck,
                LessonChecked,
            )
        },
    ),
]


class ServicesHandler(Handler):
    """All services."""

    @route("read")
    async def get(self) -> ServicesReply:
        registry = self.parts.runtime.service_registry()
        return ServicesReply(
            services=[service_info(each) for each in registry], problems=registry.problems
        )


class ServiceHandler(Handler):
    """One service."""

    @route("read")
    async def get(self, service_id: str) -> ServiceInfo:
        registry = self.parts.runtime.service_registry()
        service = registry.find(service_id)
        if service is None:
            names = ", ".join(each.id for each in registry)
            raise AgentError("not_found", f"There is no service {service_id!r}, but {names}.")
        return service_info(service)


class DryRunHandler(Handler):
    """Finds an action's parameters in a message by matching only; runs nothing."""

    @route("execute")
    async def post(self, service_id: str, action_id: str) -> ActionProposal:
        body = self.body(DryRunRequest)
        runtime = self.parts.runtime
        action = find_action(runtime.service_registry(), service_id, action_id)
        notebook = body.active_notebook
        found = await propose(
            runtime,
            service_id,
            action,
            body.message,
            body.parameters,
            notebook=await confined(runtime, notebook) if notebook is not None else None,
            client_id=body.client_id,
        )
        return found.proposal


class RunHandler(Handler):
    """Runs an action as a turn of a session, and replies at its end."""

    @route("execute")
    async def post(self, service_id: str, action_id: str) -> None:
        body = self.body(ActionRunRequest)
        action = find_action(self.parts.runtime.service_registry(), service_id, action_id)
        request = ChatRequest(
            session_id=body.session_id,
            message=action.title,
            active_notebook=body.active_notebook,
            client_id=body.client_id,
            location="api",
            action=ActionCall(service=service_id, action=action_id, parameters=body.parameters),
        )
        await self.run_turn(request)


class IntentHandler(Handler):
    """What a message asks for, as far as no model is needed to know."""

    @route("read")
    async def post(self) -> IntentReply:
        body = self.body(IntentRequest)
        runtime = self.parts.runtime
        router = runtime.router()
        detected = detect(router, body.message, runtime.settings().intent_detection)
        if detected is None or detected.unknown is not None or detected.help:
            how = "ranking" if detected is None else detected.how
            service = detected.service if detected is not None else None
            return IntentReply(service=service.id if service else None, how=how)
        found = understand(router, detected)
        if isinstance(found, Chosen):
            return IntentReply(
                service=found.service.id,
                subcommand=found.subcommand,
                confidence=1.0,
                alternatives=found.alternatives,
                how=found.how,
            )
        if found.service is not None:
            return IntentReply(service=found.service.id, alternatives=found.nearest)
        first, *others = found.nearest
        return IntentReply(**first.model_dump(), alternatives=others)


ROUTES = [
    Route(
        "services",
        ServicesHandler,
        {"get": Operation("Services, each a slash command", response=ServicesReply)},
    ),
    Route(
        "services/{service_id}",
        ServiceHandler,
        {"get": Operation("One service", response=ServiceInfo)},
    ),
    Route(
        "services/{service_id}/actions/{action_id}/dry-run",
        DryRunHandler,
        {
            "post": Operation(
                "Find an action's parameters; nothing is executed", DryRunRequest, ActionProposal
            )
        },
    ),
    Route(
        "services/{service_id}/actions/{action_id}/run",
        RunHandler,
        {"post": Operation("Run an action, answered at its end", ActionRunRequest, ChatReply)},
    ),
    Route(
        "intent",
        IntentHandler,
        {"post": Operation("What a message asks for", IntentRequest, IntentReply)},
    ),
]
