"""Runs a case: the message is understood, and an action's parameters are found. Nothing else."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..agent.actions.filler import Ask, ModelFiller, asker
from ..agent.intent import Chosen, Offered, detect, understand
from ..models.types import Model
from ..protocol.cells import CellEdit
from ..protocol.page import PageCommand
from ..protocol.requests import Usage
from ..protocol.services import ActionProposal
from ..protocol.workflows import QualityReport
from ..services.action import ActionFailed, Option
from ..services.benchmarks import Case, Expect
from ..services.dry_run import dry_run
from ..services.matcher import Matcher
from ..services.questions import Filler
from ..services.routing import LEARN, Router
from ..settings.turn_settings import Settings
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
    ask: Ask | None = None
    if model is not None and settings is not None and settings.model is not None:

        def count(usage: Usage) -> None:
            result.calls += 1
            result.tokens += usage.total_tokens
            if usage.cost is not None:
                result.cost = (result.cost or 0) + usage.cost

        ask = asker(model, settings.model, settings, count)
    began = time.perf_counter()
    chosen, proposal = await _understand(case, router, ask)
    result.seconds = time.perf_counter() - began
    if isinstance(chosen, Offered):
        result.offered = bool(chosen.nearest)
        chosen = _clicked(router, chosen, case.expect)
    elif proposal is not None:
        result.proposed = chosen is None or chosen.how != "chosen"
        result.offered = not result.proposed
    if chosen is not None:
        result.service, result.subcommand = chosen.service.id, chosen.subcommand
    result.answer = f"{result.service or 'ordinary'}.{result.subcommand or ''}"
    result.problems = wrong(case.expect, chosen, proposal)
    return result


async def _understand(
    case: Case, router: Router, ask: Ask | None
) -> tuple[Chosen | Offered | None, ActionProposal | None]:
    context = CaseContext(case)
    filler: Filler = Matcher(context)
    if ask is not None:
        filler = ModelFiller(ask, filler)
    chosen: Chosen | Offered | None = None
    known: dict[str, Any] = {}
    proposal: ActionProposal | None = None
    for message in [*case.history, case.message]:
        if (
            isinstance(chosen, Chosen)
            and proposal is not None
            and not message.lstrip().startswith("/")
        ):
            refined, values = await _propose(chosen, context, message, known, filler)
            if refined is not None and values != known:
                proposal, known = refined, values
                continue
        detected = detect(router, message, "auto")
        chosen = await understand(router, detected, ask) if detected is not None else None
        if detected is not None and detected.unknown is not None:
            chosen = None
        proposal, known = None, {}
        if isinstance(chosen, Chosen) and detected is not None:
            proposal, known = await _propose(chosen, context, detected.text, {}, filler)
            if proposal is not None and not chosen.is_sure_of(proposal):
                chosen, proposal, known = Offered.instead_of(chosen), None, {}
        if isinstance(chosen, Offered) and detected is not None:
            clicked = _clicked(router, chosen, case.expect)
            if clicked is not None:
                chosen = clicked
                proposal, known = await _propose(chosen, context, detected.text, {}, filler)
    return chosen, proposal


def _clicked(router: Router, offered: Offered, expect: Expect) -> Chosen | None:
    """What the user chooses of an offer: what they meant, where it is there. To learn is always
    there, and to brainstorm in the help beside it."""
    service = router.registry.find(expect.service or "")
    if service is None:
        return None
    subcommand = expect.subcommand or LEARN
    known = offered.service == service and service.action(subcommand) is None
    near = any((e.service, e.subcommand) == (service.id, subcommand) for e in offered.nearest)
    return Chosen(service, subcommand, 1.0, "chosen") if known or near else None


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
    if expect.check is not None:
        if proposal is None:
            problems.append("nothing was proposed")
        elif (problem := expect.check(proposal)) is not None:
            problems.append(problem)
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
