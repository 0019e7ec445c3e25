"""A turn for a service: help, an answer from its config, ideas, or an action that is proposed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..protocol import events
from ..protocol.json_text import to_json
from ..protocol.services import ActionCall, HelpTopic, Intent, ServiceHelp
from ..protocol.tools import TurnFacts
from ..services.action import Action, ActionFailed, ActionResult
from ..services.matcher import Matcher
from ..services.questions import Filler
from ..services.registry import PANEL_COMMANDS
from ..services.routing import BRAINSTORM, LEARN
from ..services.service import Service, passages, passages_text, with_sources
from ..services.workflow_action import WorkflowAction
from ..settings.turn_settings import Settings
from ..tools.builtin.actions import propose_action
from ..tools.registry import ToolRegistry
from .actions.context import ReadingContext, RunningContext
from .actions.filler import ModelFiller
from .actions.proposals import find_action, parameters_of, proposal_text, propose
from .context.system_prompt import prompt_text
from .history import assistant_item
from .intent import Chosen, Detected, How, Offered, nearest_commands, understand
from .message import Message
from .open_proposal import OpenProposal
from .plan.action_steps import ActionRun
from .plan.turn import PlannedTurn
from .request import TurnRequest
from .state import SessionState
from .tool_calls.written_calls import says_more_than_calls
from .turn.ends import TurnEnds

# A turn in which an action is run: the user's own act, with the parameters of its form.


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


UNSURE = "No model is connected that could answer this. Did you mean one of these?"
UNSURE_OF_SERVICE = "Without a model I can't tell what this asks for. Did you mean one of these?"


class ServiceTurn(PlannedTurn):
    """Answers a message that is for a service, or without a model may be: by its model, which has
    the service's knowledge and proposes its actions, else by what the message names. ``refines`` is
    the open proposal that the message may be about."""

    def __init__(
        self,
        session: SessionState,
        request: TurnRequest,
        settings: Settings,
        message: Message,
        detected: Detected | None,
        refines: OpenProposal | None = None,
    ) -> None:
        super().__init__(session, request, settings, message.audience, message.op_id)
        self._detected = detected
        self._refines = refines

    async def _work(self) -> None:
        if await self._refine() or await self._answer_service():
            return
        await super()._work()

    # -- a proposal that is open -----------------------------------------------------------------

    async def _refine(self) -> bool:
        """Whether the message changes the open proposal."""
        known = self._refines
        if known is None:
            return False
        service = self.runtime.service_registry().find(known.proposal.service)
        action = service.action(known.proposal.action) if service is not None else None
        if service is None or action is None:
            return False
        new = await self._propose(service, action, self.request.text, known)
        if new.values == known.values:
            return False
        await self._show(new)
        return True

    # -- services --------------------------------------------------------------------------------

    async def _answer_service(self) -> bool:
        """Whether the message was for a service, and is answered."""
        detected = self._detected
        if detected is None:
            return False
        if detected.unknown is not None:
            await self._answer_unknown(detected.unknown)
            return True
        if detected.help:
            await self._help(detected.service)
            return True
        service = detected.service
        if self.has_model and detected.subcommand is None:
            if service is None:
                return False  # a model was connected in the meantime
            await self._ask_model(service, detected.text)
            return True
        found = understand(self.runtime.router(), detected)
        if isinstance(found, Offered):
            await self._offer(found)
        else:
            await self._serve(found, detected.text)
        return True

    async def _ask_model(self, service: Service, text: str) -> None:
        """The model answers from the service's knowledge, or proposes one of its actions."""
        self.request.instructions = service_prompt(service)
        tools = ToolRegistry()
        tools.add(propose_action)
        self.request.tools = self._dispatcher.registry = tools
        self.offered.is_command = True
        # Shown when its sources are: a number alone does not say where a statement is from.
        self.quiet = True
        while not await self._step():
            pass
        if self.offered.shown is None:
            near = self.runtime.router().nearest_actions(text, service)
            # Whether it answers or advises, only the model knows.
            await self._emit_intent(service, LEARN, "command", near, service.name)
            instead = _known(service, text)
            await self._say_with_sources(service, text, self.record.reply, instead)

    async def _serve(self, chosen: Chosen, text: str) -> None:
        service, subcommand = chosen.service, chosen.subcommand
        action = service.action(subcommand)
        proposal = None
        if action is not None:
            said, is_arguments = chosen.rest or text, bool(chosen.rest)
            proposal = await self._propose(service, action, said, is_arguments=is_arguments)
        if proposal is not None and not chosen.is_sure_of(proposal.proposal):
            await self._offer(Offered.instead_of(chosen))
            return
        title = f"{service.name}: {action.title if action is not None else subcommand.capitalize()}"
        await self._emit_intent(service, subcommand, chosen.how, chosen.alternatives, title)
        if subcommand == BRAINSTORM:
            await self._brainstorm(service, text)
        elif proposal is not None:
            await self._show(proposal)
        elif subcommand == LEARN:
            await self._learn(service, text)
        else:
            await self._say(f"{service.name} has nothing called {subcommand!r}.")

    async def _emit_intent(
        self,
        service: Service,
        subcommand: str,
        how: How,
        alternatives: list[Intent],
        title: str,
    ) -> None:
        await self.emit(
            events.IntentDetected(
                service=service.id,
                subcommand=subcommand,
                title=title,
                confidence=1.0,
                alternatives=alternatives,
                how=how,
            )
        )

    async def _offer(self, offered: Offered) -> None:
        """What the message may ask for, each as a button; where nothing is near, the help."""
        offers = offered.offers(self.runtime.service_registry())
        if not offers:
            await self._help(offered.service)
            return
        text = UNSURE_OF_SERVICE if offered.service is not None else UNSURE
        if self.request.location != "inline":
            # A cell's chat shows them as text.
            await self.emit(events.ActionsOffered(text=text, offers=offers))
        lines = [f"- {each.title}: `{each.message}`" for each in offers]
        more = f"`/help {offered.service.id}`" if offered.service is not None else "`/help`"
        await self._say("\n".join([text, *lines, "", f"{more} lists all that works here."]))

    async def _answer_unknown(self, name: str) -> None:
        near = nearest_commands(self.runtime.router(), name)
        await self.emit(events.CommandUnknown(command=name, nearest=near))
        meant = f" Did you mean {' or '.join(f'`/{each}`' for each in near)}?" if near else ""
        if name in PANEL_COMMANDS:
            problem = f"`/{name}` is a command of the chat panel, and does nothing here."
        else:
            problem = f"There is no command `/{name}`."
        await self._say(f"{problem}{meant} `/help` lists what works here.")

    async def _help(self, service: Service | None) -> None:
        shown = [service] if service is not None else list(self.runtime.service_registry())
        helps = [_help_of(each, every=service is not None) for each in shown]
        if self.request.location != "inline":
            # A cell's chat shows it as text.
            await self.emit(events.HelpShown(services=helps))
        await self._say(_help_text(helps))

    async def _learn(self, service: Service, text: str) -> None:
        await self._answer_from(service, "learn.md", text, _known(service, text))

    async def _brainstorm(self, service: Service, text: str) -> None:
        await self._answer_from(service, "brainstorm.md", text, _ideas_text(service))

    async def _answer_from(self, service: Service, prompt: str, text: str, instead: str) -> None:
        """Say the model's answer, from the service's config alone; ``instead`` without one."""
        answer = ""
        if self.has_model:
            self.request.instructions = f"{prompt_text(prompt)}\n\n{_knowledge(service)}"
            items = self.session.history.items()
            if not any(each.get("type") == "function_call" for each in items):
                # Small models write calls of the tools that they are sent. Where the history has
                # calls, some providers refuse a request without tools.
                self.request.tools = ToolRegistry()
            answer = (await self._caller.ask(quiet=True, tool_choice="none")).text
        await self._say_with_sources(service, text, answer, instead)

    async def _say_with_sources(
        self, service: Service, text: str, answer: str, instead: str
    ) -> None:
        """Say the answer with its sources, which a number alone does not name."""
        if answer and says_more_than_calls(answer):
            self.record.reply = with_sources(answer, service, text)
        else:
            await self._say(instead)

    # -- actions ---------------------------------------------------------------------------------

    async def _propose(
        self,
        service: Service,
        action: type[Action],
        text: str,
        known: OpenProposal | None = None,
        *,
        is_arguments: bool = False,
    ) -> OpenProposal:
        notebook = known.notebook if known is not None else self.request.gate.active
        client_id = self.request.chat.client_id
        context = ReadingContext(self.runtime, notebook, client_id)
        filler: Filler = Matcher(context, is_arguments=is_arguments)
        if self.ask_apart is not None:
            filler = ModelFiller(self.ask_apart, filler)
        return await propose(
            self.runtime,
            service.id,
            action,
            text,
            known.values if known is not None else {},
            notebook=notebook,
            client_id=client_id,
            filler=filler,
            proposal_id=known.proposal.proposal_id if known is not None else None,
        )

    async def _show(self, opened: OpenProposal) -> None:
        await self.offered.show(opened)
        await self._say(proposal_text(opened.proposal))

    async def _say(self, text: str) -> None:
        self._keep([assistant_item(text)])
        self.record.reply = text


def service_prompt(service: Service) -> str:
    """The prompt for a message to a service, with which a model is offered ``proposeAction``."""
    prompts = [prompt_text(name) for name in ("service.md", "learn.md", "brainstorm.md")]
    return "\n\n".join([*prompts, _knowledge(service)])


def _help_of(service: Service, *, every: bool) -> ServiceHelp:
    topics = [
        HelpTopic(
            title=action.title,
            description=action.description,
            message=f"/{service.id} {action.examples[0] if action.examples else action.title}",
        )
        for action in service.actions
    ]
    if not every or not topics:
        examples = service.examples[:1] if not every else service.examples
        asked = [
            HelpTopic(title=each, description="", message=f"/{service.id} {each}")
            for each in examples
        ]
        topics = asked if not every else [*topics, *asked]
    return ServiceHelp(
        id=service.id,
        name=service.name,
        description=service.description,
        topics=topics,
        installed=service.installed,
        install=service.install,
    )


def _help_text(helps: Sequence[ServiceHelp]) -> str:
    lines = []
    for each in helps:
        lines.append(f"**`/{each.id}`** {each.description}")
        lines += [f"- {topic.title}: `{topic.message}`" for topic in each.topics]
    return "\n".join(lines)


def _ideas_text(service: Service) -> str:
    lines = [
        f"- **{topic.title}**: {topic.description} `{topic.message}`"
        for topic in _help_of(service, every=True).topics[: len(service.actions)]
    ]
    parts = ["What I can do:", *lines]
    if questions := [f"- {each}" for each in service.config.questions[:2]]:
        parts += ["", "Worth deciding first:", *questions]
    return "\n".join([*parts, "", _links(service)])


def _knowledge(service: Service) -> str:
    parts = [f"# {service.name}, command /{service.id}", service.description, ""]
    parts += [f"[{each.number}] {each.heading}: {each.text}\n" for each in passages(service)]
    if service.actions:
        parts += ["# Actions"]
        for each in service.actions:
            parts.append(f"- {each.id}: {each.title}. {each.description}")
            parts.append(f"  parameters: {to_json(parameters_of(each))}")
    elif not service.installed:
        parts += [service.not_installed]
    if service.config.questions:
        parts += ["# Questions that change the advice", *service.config.questions]
    if links := _links(service):
        parts += ["", links]
    return "\n".join(parts)


def _known(service: Service, text: str) -> str:
    return "\n\n".join([passages_text(service, text), _links(service)]).strip()


def _links(service: Service) -> str:
    links = [f"[{each.title}]({each.url})" for each in service.config.links]
    return f"More: {', '.join(links)}" if links else ""
