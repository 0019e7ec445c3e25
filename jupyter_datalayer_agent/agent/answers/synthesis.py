"""Synthesise: a model writes where the answers to one message agree and where they differ.

It reads the message and the answers, which are data to it, and has no tools.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...models.types import ModelRequest
from ...protocol.answers import CitedAnswer
from ...protocol.errors import AgentError
from ...protocol.ops import Synthesise
from ...protocol.requests import Turn
from ...settings.turn_settings import Settings
from ..context.system_prompt import prompt_text
from ..history.history import Item, user_item
from ..request import turn_request
from ..state import SessionState
from .answer import Answer, Question
from .budget import SharedBudget
from .questions import settings_of
from .regenerate import Answers, newest_turn

TOO_FEW = (
    "A synthesis needs two complete answers to the same message. Ask another model first: "
    "Regenerate, or /compare."
)
_MARK = re.compile(r"<(?=/?\s*(?:answer|message)\b)", re.IGNORECASE)


async def prepare_synthesis(session: SessionState, op: Synthesise) -> Answers:
    """Prepare the call. Raises ``AgentError`` for a turn without two complete answers."""
    turn = await newest_turn(session, op.turn_id)
    answers = await _answers(session, turn)
    if len(answers) < 2:
        raise AgentError("invalid_request", TOO_FEW)
    asked = await session.runtime.store.answers.asked_with(turn.id)
    record = session.record
    request = await turn_request(session.runtime, asked.request, record.settings, session.created)
    settings = settings_of(session, request, op.model)
    question = Question(
        op.model or settings.model or "",
        lambda: session.runtime.resolve_model(settings),
        lambda model, items: _request(settings, model, items),
        [user_item(_text(turn, answers))],
        sources=[source for source, _ in answers],
    )
    return Answers(
        [Answer(session, turn.id, question, SharedBudget(session, settings.token_limit))]
    )


async def _answers(session: SessionState, turn: Turn) -> list[tuple[CitedAnswer, str]]:
    """The turn's complete answers, numbered from 1: its own, then those of other models."""
    found: list[tuple[CitedAnswer, str]] = []
    others = [answer.provenance for answer in turn.answers]
    for key in await session.runtime.store.past.responses_of(turn.id):
        if turn.reply and key.response_type in ("batch", "proposal") and key not in others:
            own = CitedAnswer(number=1, model=turn.model or key.provider_id, provenance=key)
            found.append((own, turn.reply))
    for answer in turn.answers:
        if answer.sources is None:
            cited = CitedAnswer(
                number=len(found) + 1,
                answer_id=answer.answer_id,
                model=answer.model,
                provenance=answer.provenance,
            )
            found.append((cited, answer.text))
    return found


def _text(turn: Turn, answers: Sequence[tuple[CitedAnswer, str]]) -> str:
    """The message and the answers, each between marks that its text cannot close."""
    blocks = [f"<message>\n{_marked(turn.message)}\n</message>"]
    blocks += [
        f'<answer number="{source.number}">\n{_marked(text)}\n</answer>' for source, text in answers
    ]
    return "\n\n".join(blocks)


def _marked(text: str) -> str:
    return _MARK.sub("&lt;", text)


def _request(settings: Settings, model: str, items: Sequence[Item]) -> ModelRequest:
    return ModelRequest(
        model=model,
        instructions=prompt_text("synthesis.md"),
        input=list(items),
        tools=[],
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_output_tokens=settings.max_output_tokens,
        stream=settings.streaming,
        api_base=settings.api_base,
        model_api=settings.model_api,
    )
