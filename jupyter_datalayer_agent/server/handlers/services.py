"""``services``, ``intent``, ``workflows``, ``fixes``, ``quality`` and ``tutorials``."""

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

# ``workflows``, ``fixes`` and ``quality``, which need no model.


class WorkflowsHandler(Handler):
    """All workflows."""

    @route("read")
    async def get(self) -> WorkflowsReply:
        return WorkflowsReply(workflows=self.parts.templates().infos())


class WorkflowHandler(Handler):
    """Runs a workflow as a turn of a session, and replies at its end."""

    @route("execute")
    async def post(self, workflow_id: str) -> None:
        body = self.body(WorkflowRun)
        template = self.parts.templates().find(workflow_id)
        if template is None:
            names = ", ".join(each.id for each in self.parts.templates())
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
        path = await confined(self.parts, notebook)
        return path if await self.parts.notebooks.exists(path) else None


class FixesHandler(Handler):
    """Fixes for a failed cell. The kernel's variables are read."""

    @route("execute")
    async def get(self) -> FixesReply:
        runtime = self.parts
        path = await confined(runtime, self.get_query_argument("path"))
        cell_id = self.get_query_argument("cellId")
        client_id = self.get_query_argument("clientId", None)
        # A missing document is an error here; ``fixes_of`` just finds no fix for it.
        await cells_of(runtime.notebooks, path, client_id)
        fixes = await fixes_of(runtime, Failure("", path, cell_id), client_id)
        return FixesReply(path=path, cell_id=cell_id, fixes=fixes)

    @route("execute")
    async def post(self) -> FixAttempt:
        request = self.body(FixAttemptRequest)
        return await next_attempt(self.parts, request, self.parts.models())


class QualityHandler(Handler):
    """The quality report of a notebook, read from the page if it is open, else from its file."""

    @route("read")
    async def get(self) -> QualityReport:
        path = await confined(self.parts, self.get_query_argument("path"))
        client_id = self.get_query_argument("clientId", None)
        return await self.parts.quality_of(path, client_id)


WORKFLOWS_ROUTES = [
    Route(
        "workflows",
        WorkflowsHandler,
        {"get": Operation("Workflows that need no model", response=WorkflowsReply)},
    ),
    Route(
        "workflows/{workflow_id}",
        WorkflowHandler,
        {"post": Operation("Run a workflow, and reply at its end", WorkflowRun, ChatReply)},
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
                    "clientId": "the page to ask first",
                },
            ),
            "post": Operation(
                "The next attempt to fix a failed cell", FixAttemptRequest, FixAttempt
            ),
        },
    ),
    Route(
        "quality",
        QualityHandler,
        {
            "get": Operation(
                "The quality report of a notebook",
                response=QualityReport,
                query={"path": "the notebook", "clientId": "the page to ask first"},
            )
        },
    ),
]


# ``tutorials``: tutorials with the user's progress, and checks of lessons.


class TutorialBase(Handler):
    """Base of the handlers of tutorials."""

    def find(self, tutorial_id: str) -> TutorialContent:
        """The tutorial. Raises ``AgentError`` ``not_found``."""
        tutorial = find_tutorial(tutorial_id)
        if tutorial is None:
            names = ", ".join(each.id for each in TUTORIALS)
            raise AgentError(
                "not_found", f"There is no tutorial {tutorial_id!r}. There are: {names}."
            )
        return tutorial

    async def with_progress(self, tutorial: TutorialContent) -> Tutorial:
        """The tutorial with the user's progress."""
        progress = (await self.parts.store.tutorials.progress()).get(tutorial.id)
        return await self.described(tutorial, progress)

    async def described(
        self, tutorial: TutorialContent, progress: TutorialProgress | None
    ) -> Tutorial:
        """The tutorial with this progress, and with its notebook if that still exists."""
        progress = progress or TutorialProgress()
        notebook = progress.notebook
        if notebook is not None and not await self.parts.notebooks.exists(notebook):
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
        progress = await self.parts.store.tutorials.progress()
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
        runtime = self.parts
        path, created = await start_tutorial(
            runtime.notebooks, tutorial, request.folder, request.client_id
        )
        await runtime.store.tutorials.start(tutorial.id, path)
        return TutorialStarted(path=path, created=created)


class LessonCheckHandler(TutorialBase):
    """Checks a lesson."""

    @route("execute")
    async def post(self, tutorial_id: str, number: str) -> LessonChecked:
        tutorial = self.find(tutorial_id)
        lesson = self._lesson(tutorial, number)
        request = self.body(LessonCheck)
        runtime = self.parts
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
                f"{tutorial.id} has no lesson {number}. Its lessons are 1 to {count}.",
            )
        return int(number)

    async def _notebook(self, tutorial: TutorialContent) -> str:
        progress = (await self.parts.store.tutorials.progress()).get(tutorial.id)
        notebook = progress.notebook if progress is not None else None
        if notebook is None or not await self.parts.notebooks.exists(notebook):
            raise AgentError(
                "not_found",
                f"The tutorial {tutorial.id} has no notebook. Start it with "
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
                "Create its notebook and data if they are missing", TutorialStart, TutorialStarted
            ),
        },
    ),
    Route(
        "tutorials/{tutorial_id}/lessons/{number}/check",
        LessonCheckHandler,
        {
            "post": Operation(
                "Run the learner's cell, and explain what is right and what is missing",
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
        registry = self.parts.service_registry()
        return ServicesReply(
            services=[service_info(each) for each in registry], problems=registry.problems
        )


class ServiceHandler(Handler):
    """One service."""

    @route("read")
    async def get(self, service_id: str) -> ServiceInfo:
        registry = self.parts.service_registry()
        service = registry.find(service_id)
        if service is None:
            names = ", ".join(each.id for each in registry)
            raise AgentError(
                "not_found", f"There is no service {service_id!r}. There are: {names}."
            )
        return service_info(service)


class DryRunHandler(Handler):
    """Finds an action's parameters in a message by matching only; runs nothing."""

    @route("execute")
    async def post(self, service_id: str, action_id: str) -> ActionProposal:
        body = self.body(DryRunRequest)
        runtime = self.parts
        action = find_action(runtime.service_registry(), service_id, action_id)
        notebook = body.active_notebook
        proposed = await propose(
            runtime,
            service_id,
            action,
            body.message,
            body.parameters,
            notebook=await confined(runtime, notebook) if notebook is not None else None,
            client_id=body.client_id,
        )
        return proposed.proposal


class RunHandler(Handler):
    """Runs an action as a turn of a session, and replies at its end."""

    @route("execute")
    async def post(self, service_id: str, action_id: str) -> None:
        body = self.body(ActionRunRequest)
        action = find_action(self.parts.service_registry(), service_id, action_id)
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
    """Finds what a message asks for, without a model."""

    @route("read")
    async def post(self) -> IntentReply:
        body = self.body(IntentRequest)
        runtime = self.parts
        router = runtime.router()
        detected = detect(router, body.message, runtime.settings().intent_detection)
        if detected is None or detected.unknown is not None or detected.help:
            how = "ranking" if detected is None else detected.how
            service = detected.service if detected is not None else None
            return IntentReply(service=service.id if service else None, how=how)
        intent = understand(router, detected)
        if isinstance(intent, Chosen):
            return IntentReply(
                service=intent.service.id,
                subcommand=intent.subcommand,
                confidence=1.0,
                alternatives=intent.alternatives,
                how=intent.how,
            )
        if intent.service is not None:
            return IntentReply(service=intent.service.id, alternatives=intent.nearest)
        first, *others = intent.nearest
        return IntentReply(**first.model_dump(), alternatives=others)


ROUTES = [
    Route(
        "services",
        ServicesHandler,
        {"get": Operation("Services, which are also slash commands", response=ServicesReply)},
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
                "Find an action's parameters; runs nothing", DryRunRequest, ActionProposal
            )
        },
    ),
    Route(
        "services/{service_id}/actions/{action_id}/run",
        RunHandler,
        {"post": Operation("Run an action, and reply at its end", ActionRunRequest, ChatReply)},
    ),
    Route(
        "intent",
        IntentHandler,
        {"post": Operation("What a message asks for", IntentRequest, IntentReply)},
    ),
]
