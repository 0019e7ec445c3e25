"""Answers without a model: an offer of close workflows, or the quality report.

Nothing here changes or runs anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ...notebook.document import DocumentError
from ...protocol import events
from ...protocol.workflows import WorkflowOffer
from ...workflows.template import Template
from ...workflows.templates.matching import match
from ..turn.ends import TurnEnds
from . import messages
from .guesses import Guesses
from .runner import PlanRunner


async def offer(turn: PlanRunner, templates: Sequence[Template], reason: str) -> NoReturn:
    """End the turn with an offer of these workflows, or of all if there are none."""
    code = turn.unanswered
    offers = [await _offer_of(turn, template) for template in templates]
    if not offers:
        names = [each.name for each in turn.runtime.templates()]
        raise TurnEnds("error", f"{reason} {messages.nothing_close(names)}", code)
    message = messages.offered(offers)
    await turn.emit(events.WorkflowsOffered(offers=offers, message=message))
    turn.offer(offers, message)
    raise TurnEnds("error", reason, code)


async def _offer_of(turn: PlanRunner, template: Template) -> WorkflowOffer:
    guesses = Guesses(turn.runtime, turn.request)
    parameters = await guesses.of(template, {})
    missing = [each.name for each in await guesses.missing(template, parameters)]
    say = messages.ask_for(template.name, parameters)
    found = match(say, turn.runtime.templates())
    names_it = found.kind == "asked" and found.templates == (template,)
    return WorkflowOffer(
        id=template.id,
        name=template.name,
        description=template.description,
        parameters=parameters,
        missing=missing,
        say=f"agent: {say}" if names_it and not missing else None,
    )


async def report_quality(turn: PlanRunner, reason: str) -> None:
    """Answer with the quality report of the notebook that the message is about."""
    from ...workflows.quality.of_document import rendered

    path = turn.request.gate.target
    if path is None:
        raise TurnEnds("error", f"{reason} {messages.QUALITY_OF_WHAT}", turn.unanswered)
    try:
        report = await turn.runtime.quality_of(path, turn.request.chat.client_id)
    except DocumentError as error:
        raise TurnEnds("error", f"{reason} {error.message}", turn.unanswered) from error
    await turn.emit(events.QualityReported(path=path, report=report))
    await turn.answer(messages.quality(reason, rendered(report), report.suggestions), report)
