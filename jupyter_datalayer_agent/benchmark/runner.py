"""Runs a case: the message is understood, and an action's parameters are found. Nothing else."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..agent.actions.proposals import actions_found, find_action, model_values
from ..agent.context.system_prompt import system_prompt
from ..agent.history import user_item
from ..agent.intent import Chosen, Detected, Offered, detect, understand
from ..agent.model_calls.call import ask_once
from ..agent.service_turn import service_prompt
from ..models.types import Model, ModelRequest
from ..protocol.cells import CellEdit
from ..protocol.errors import AgentError
from ..protocol.json_text import to_json
from ..protocol.page import PageCommand
from ..protocol.requests import Usage
from ..protocol.services import ActionProposal
from ..protocol.workflows import QualityReport
from ..services.action import ActionFailed, Option
from ..services.benchmarks import Case, Expect
from ..services.dry_run import dry_run
from ..services.matcher import Matcher
from ..services.questions import Filler
from ..services.routing import LEARN, Router, command_in
from ..services.service import Service
from ..settings.turn_settings import Settings
from ..tools.builtin import builtin_registry
from ..tools.builtin.actions import action_tools, find_actions, propose_action
from ..tools.gate import Gate
from ..tools.registry import plain_name
from .item import Item, Result

COLUMNS = ["name", "mpg", "cylinders", "horsepower", "weight", "origin"]
"""Of each data file of a case."""


class CaseContext:
    """The ``ActionContext`` of a case: its files are names, and nothing can be run."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.notebook = case.notebook

    async def files(self) -> list[str]:
        """See ``ActionContext``."""
        return list(self._case.files)

    async def content(self, relative: str, most: int) -> bytes:
        """See ``ActionContext``."""
        raise ActionFailed("Nothing is read in a case.")

    async def path(self, relative: str) -> Path:
        """See ``ActionContext``."""
        return Path("/", relative)

    async def text(self, relative: str) -> str:
        """See ``ActionContext``."""
        raise ActionFailed("Nothing is read in a benchmark.")

    async def columns(self, data: str, choices: Mapping[str, str] | None = None) -> list[str]:
        """See ``ActionContext``."""
        return COLUMNS if data in self._case.files else []

    async def tables(self) -> list[Option]:
        """See ``ActionContext``."""
        return [Option("cars", "cars (pandas.DataFrame)"), Option("prices")]

    async def sources(self) -> list[tuple[str, str]]:
        """See ``ActionContext``."""
        return [("markdown", "# Cars"), ("code", "import pandas as pd")]

    async def kernels(self) -> list[Option]:
        """See ``ActionContext``."""
        return [Option("python3", "Python 3"), Option("ir", "R")]

    async def python(self) -> str:
        """See ``ActionContext``."""
        raise ActionFailed("Nothing is run in a benchmark.")

    async def read(self, notebook: str) -> dict[str, Any]:
        """See ``ActionContext``."""
        raise ActionFailed("Nothing is run in a benchmark.")

    async def edit(self, notebook: str, edits: Sequence[CellEdit]) -> None:
        """See ``ActionContext``."""
        raise ActionFailed("Nothing is run in a benchmark.")

    async def page(self, command: PageCommand, arguments: Mapping[str, Any]) -> None:
        """See ``ActionContext``."""
        raise ActionFailed("Nothing is run in a benchmark.")

    async def quality(self, notebook: str) -> QualityReport:
        """See ``ActionContext``."""
        raise ActionFailed("Nothing is run in a benchmark.")

    async def add_dataset(
        self,
        file: Path,
        source: str,
        name: str | None = None,
        choices: Mapping[str, str] | None = None,
    ) -> str:
        """See ``ActionContext``."""
        raise ActionFailed("Nothing is run in a benchmark.")

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """See ``ActionContext``."""
        raise ActionFailed("Nothing is run in a benchmark.")

    async def compute(self, code: str) -> str:
        """See ``ActionContext``."""
        raise ActionFailed("Nothing is run in a benchmark.")


async def run_case(
    case: Case, router: Router, model: Model | None = None, settings: Settings | None = None
) -> Result:
    """Run a case once. Without a model, what is done without one."""
    result = Result()
    began = time.perf_counter()
    chosen: Chosen | None
    if model is not None and settings is not None and settings.model is not None:
        chosen, proposal = await _Conversation(case, router, model, settings, result).run()
        result.proposed = proposal is not None
    else:
        chosen, proposal = await _without_model(case, router, result)
    result.seconds = time.perf_counter() - began
    if chosen is not None:
        result.service, result.subcommand = chosen.service.id, chosen.subcommand
    result.answer = f"{result.service or 'ordinary'}.{result.subcommand or ''}"
    result.problems = wrong(case.expect, chosen, proposal)
    return result


_MOST_REQUESTS = 4
"""Of a message: a model that calls so often does the work itself."""
_ELSEWHERE = to_json({"error": "Not available here."})


class _Conversation:
    """The messages of a case, each answered as by a turn in Ask mode: with its prompt and tools, of
    which only ``findActions`` and ``proposeAction`` are carried out."""

    def __init__(
        self, case: Case, router: Router, model: Model, settings: Settings, result: Result
    ) -> None:
        self._case = case
        self._router = router
        self._model = model
        self._settings = settings
        self._result = result
        self._context = CaseContext(case)
        self._items: list[dict[str, Any]] = []
        self._chosen: Chosen | None = None
        self._proposal: ActionProposal | None = None
        self._known: dict[str, Any] = {}

    async def run(self) -> tuple[Chosen | None, ActionProposal | None]:
        """What the last message was taken for, and what was proposed."""
        for message in [*self._case.history, self._case.message]:
            detected = detect(self._router, message, "auto", has_model=True)
            self._items.append(user_item(message))
            if detected is None:
                await self._ask(message, None)
            elif detected.service is None or detected.help:
                self._chosen = self._proposal = None
            else:
                await self._ask(detected.text, detected.service)
        return self._chosen, self._proposal

    async def _ask(self, text: str, service: Service | None) -> None:
        before = self._chosen
        self._chosen = Chosen(service, LEARN, "command") if service is not None else None
        self._proposal = None
        request = self._request(service)
        for _ in range(_MOST_REQUESTS):
            spent: list[Usage] = []
            try:
                sent = replace(request, input=list(self._items))
                answer = await ask_once(self._model, sent, spent)
            finally:
                for usage in spent:
                    self._count(usage)
            self._items += answer.items
            for call in answer.calls:
                output = await self._call(call, text, before)
                self._items.append(
                    {"type": "function_call_output", "call_id": call["call_id"], "output": output}
                )
            if self._proposal is not None or not answer.calls:
                return

    def _request(self, service: Service | None) -> ModelRequest:
        settings = self._settings
        if service is not None:
            prompt, tools = service_prompt(service), [propose_action]
        else:
            notebook = self._case.notebook
            attached = frozenset([notebook] if notebook is not None else [])
            gate = Gate(mode="ask", location="panel", attached=attached, active=notebook)
            registry = builtin_registry()
            for each in action_tools(self._router.registry.areas):
                registry.add(each)
            prompt = system_prompt("ask", gate.prompt_mode, location="panel")
            tools = gate.sent(registry, with_blocks=False)
        return ModelRequest(
            model=str(settings.model),
            instructions=prompt,
            input=[],
            tools=[each.schema() for each in tools],
            temperature=settings.temperature,
            stream=settings.streaming,
            api_base=settings.api_base,
            model_api=settings.model_api,
        )

    async def _call(self, call: dict[str, Any], text: str, before: Chosen | None) -> str:
        name = plain_name(call["name"])
        try:
            given = json.loads(call["arguments"])
            if name == find_actions.name:
                return to_json(actions_found(self._router, str(given["query"])))
            if name != propose_action.name:
                return _ELSEWHERE
            return await self._propose(given, text, before)
        except (AgentError, ValueError, LookupError, TypeError) as error:
            return to_json({"error": str(error)})

    async def _propose(self, given: dict[str, Any], text: str, before: Chosen | None) -> str:
        service_id, action_id = str(given["service"]), str(given["action"])
        action = find_action(self._router.registry, service_id, action_id)
        service = self._router.registry.find(service_id)
        assert service is not None
        values = model_values(action, given.get("parameters") or {})
        if before is not None and (before.service, before.subcommand) == (service, action.id):
            values = {**self._known, **values}
        chosen = Chosen(service, action.id, "model")
        filler = Matcher(self._context)
        self._proposal, self._known = await _propose(chosen, self._context, text, values, filler)
        self._chosen = chosen
        return to_json({"shown": action.title})

    def _count(self, usage: Usage) -> None:
        result = self._result
        result.calls += 1
        result.tokens += usage.total_tokens
        if usage.cost is not None:
            result.cost = (result.cost or 0) + usage.cost


async def _without_model(
    case: Case, router: Router, result: Result
) -> tuple[Chosen | None, ActionProposal | None]:
    context = CaseContext(case)
    filler = Matcher(context)
    chosen: Chosen | None = None
    known: dict[str, Any] = {}
    proposal: ActionProposal | None = None
    for message in [*case.history, case.message]:
        if chosen is not None and proposal is not None and command_in(message) is None:
            refined, values = await _propose(chosen, context, message, known, filler)
            if refined is not None and values != known:
                proposal, known = refined, values
                continue
        detected = detect(router, message, "auto")
        chosen, proposal, known = None, None, {}
        if detected is None or detected.unknown is not None:
            continue
        found = understand(router, detected)
        if isinstance(found, Chosen):
            proposal, known = await _propose_exactly(found, context, detected.text)
            if proposal is None or found.is_sure_of(proposal):
                chosen = found
                continue
            found, proposal, known = Offered.instead_of(found), None, {}
        result.offered = bool(found.nearest)
        chosen = _clicked(router, found, case.expect, detected.text)
        if chosen is not None:
            proposal, known = await _propose_exactly(chosen, context, detected.text)
    result.proposed = proposal is not None and chosen is not None and chosen.how != "chosen"
    return chosen, proposal


def _clicked(router: Router, offered: Offered, expect: Expect, text: str) -> Chosen | None:
    """What the user chooses of an offer: what they meant, where it is there. To learn is always
    there, and to brainstorm in the help beside it."""
    service = router.registry.find(expect.service or "")
    if service is None:
        return None
    subcommand = expect.subcommand or LEARN
    known = offered.service == service and service.action(subcommand) is None
    near = any((e.service, e.subcommand) == (service.id, subcommand) for e in offered.nearest)
    if not known and not near:
        return None
    found = understand(router, Detected(text, "chosen", service, subcommand))
    return found if isinstance(found, Chosen) else None


async def _propose_exactly(
    chosen: Chosen, context: CaseContext, text: str
) -> tuple[ActionProposal | None, dict[str, Any]]:
    filler = Matcher(context, is_arguments=bool(chosen.rest))
    return await _propose(chosen, context, chosen.rest or text, {}, filler)


async def _propose(
    chosen: Chosen, context: CaseContext, text: str, known: Mapping[str, Any], filler: Filler
) -> tuple[ActionProposal | None, dict[str, Any]]:
    action_class = chosen.service.action(chosen.subcommand)
    if action_class is None:
        return None, {}
    action = action_class(context)
    found = await dry_run(action, text, known, filler)
    proposal = found.proposal(chosen.service.id, action)
    return proposal, {p.name: p.value for p in proposal.parameters if p.found and not p.secret}


def wrong(expect: Expect, chosen: Chosen | None, proposal: ActionProposal | None) -> list[str]:
    """What is not as expected, a sentence each."""
    service = chosen.service.id if chosen is not None else None
    subcommand = chosen.subcommand if chosen is not None else None
    if service != expect.service:
        return [f"went to {_name(service)}, not to {_name(expect.service)}"]
    problems = []
    if expect.subcommand is not None and subcommand != expect.subcommand:
        return [f"was taken for {subcommand}, not for {expect.subcommand}"]
    values = {p.name: p.value for p in proposal.parameters if p.found} if proposal else {}
    for name, value in expect.parameters.items():
        if values.get(name) != value:
            problems.append(f"{name} is {values.get(name)!r}, not {value!r}")
    problems += [
        f"{name} was made up: {values[name]!r}" for name in expect.missing if name in values
    ]
    if expect.complete is not None:
        if proposal is None:
            problems.append("nothing was proposed")
        elif proposal.complete != expect.complete:
            problems.append(f"the proposal is {'' if proposal.complete else 'in'}complete")
    return problems


def _name(service: str | None) -> str:
    return f"/{service}" if service is not None else "an ordinary turn"


def select(cases: Sequence[tuple[str, Case]], service: str | None) -> list[tuple[str, Case]]:
    """The cases of a service; all without one."""
    return [each for each in cases if service is None or each[0] == service]


def items_of(
    cases: Sequence[tuple[str, Case]],
    router: Router,
    model: Model | None = None,
    settings: Settings | None = None,
) -> list[Item]:
    """The cases as the benchmark runs them."""
    return [
        Item(
            service,
            case.id,
            case.kind,
            case.message,
            f"{case.expect.service or 'ordinary'}.{case.expect.subcommand or ''}",
            partial(run_case, case, router, model, settings),
        )
        for service, case in cases
    ]
