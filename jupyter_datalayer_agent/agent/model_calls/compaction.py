"""Compaction: older turns become a summary, so that a conversation fits the model's window.

Nothing is deleted: the replacement is stored beside the turns, so that the same bytes are sent
after a restart, and older turns can still be searched.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ...models.retry import delay_before
from ...models.tokens import estimate_item, estimate_tokens
from ...models.types import Item, Model, ModelError, ModelErrorCode, ModelRequest
from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.requests import ChatRequest, Usage
from ...settings.turn_settings import for_turn
from ...store.records import Compaction
from ...store.store import Store
from ..context.system_prompt import prompt_text
from ..history import Cut, History, user_item
from ..history import Item as HistoryItem
from ..request import turn_request
from ..state import SessionState, Stop, check_budget, to_completion
from .call import ask_once
from .request import model_request

# The summary of older turns, written by the model.


MAX_RETRIES = 2
"""Retries of the call for a summary; if the model is unreachable, as many as for a turn."""
MAX_SUMMARY_TOKENS = 4_000
SHARE = 0.8
"""The share of the window that the request for a summary may fill."""

MakeRequest = Callable[[Sequence[Item]], ModelRequest]
"""Makes a request like a turn's with other items, so that the provider has its prefix cached."""


@dataclass(frozen=True)
class Summarizer:
    """Writes a summary, given a model, a request, and a window in estimated tokens. ``spent`` is
    called with the usage of each call, even one that broke off or was stopped."""

    model: Model
    name: str
    make_request: MakeRequest
    window: int
    spent: list[Usage] = field(default_factory=list)


async def summarise(summarizer: Summarizer, parts: Sequence[Sequence[Item]]) -> str:
    """Ask the model to summarise ``parts`` (turns, oldest first).

    The oldest turns are left out if not all fit its window. Raises ``ModelError`` if there is no
    summary. Cancelling closes the connection.
    """
    room, retries = summarizer.window * SHARE, 0
    while True:
        request = _request(summarizer.make_request, _newest(parts, room), summarizer.window)
        try:
            return await _answer(summarizer, request)
        except ModelError as error:
            retries += 1
            if error.code == "context_window" and retries <= MAX_RETRIES:
                room /= 2
                continue
            delay = delay_before(retries, error)
            if delay is None or (retries > MAX_RETRIES and error.code != "connection"):
                raise
            await asyncio.sleep(delay)


def _request(make_request: MakeRequest, items: Sequence[Item], window: int) -> ModelRequest:
    request = make_request([*items, user_item(prompt_text("summary.md"))])
    most = min(MAX_SUMMARY_TOKENS, max(500, window // 12))
    return replace(request, tool_choice="none", output_schema=None, max_output_tokens=most)


def _newest(parts: Sequence[Sequence[Item]], room: float) -> list[Item]:
    """The items of the newest turns that fit, and of an earlier compaction, if it fits."""
    sizes = [sum(map(estimate_item, part)) for part in parts]
    first = len(parts)
    while first > 0 and sizes[first - 1] <= room:
        first -= 1
        room -= sizes[first]
    return [item for part in parts[min(first, len(parts) - 1) :] for item in part]


async def _answer(summarizer: Summarizer, request: ModelRequest) -> str:
    text = (await ask_once(summarizer.model, request, summarizer.spent)).text.strip()
    if not text:
        raise ModelError("server", "The model wrote no summary.", retryable=False)
    return text


log = logging.getLogger(__name__)

STATUS = "Summarising the earlier conversation"
KEPT_MESSAGE_TOKENS = 20_000
"""Tokens of the user's newest messages among the older turns, which are kept verbatim."""
KEPT_SHARE = 0.2
"""The share of the window that whole turns may fill after a compaction, and that messages may."""
WORTH = 0.05
"""The share of the window that a compaction must free to be worth a call."""

FAILS_THE_TURN: frozenset[ModelErrorCode] = frozenset(
    {"no_model", "authentication", "connection", "litellm_unusable"}
)

How = Literal["summary", "dropped"]

HEAD = {
    "summary": "[The earlier part of this conversation was summarised here. What it asks for was "
    "dealt with as the summary says; its whole text can be searched by tools.]",
    "dropped": "[The earlier part of this conversation was left out here: it is longer than can "
    "be sent. Its whole text can be searched by tools.]",
}
MESSAGES = "The user's own messages from that part, word for word, the newest last:"


class Compactor:
    """Compacts one session's history; ``turn_id`` is the turn that needs it, if one does."""

    def __init__(
        self,
        store: Store,
        session_id: str,
        history: History,
        turn_id: str | None = None,
    ) -> None:
        self._store = store
        self._session_id = session_id
        self._history = history
        self._turn_id = turn_id

    async def summarise(self, cut: Cut, summarizer: Summarizer) -> None:
        """Summarise the cut, or leave it out if that fails.

        Raises ``ModelError`` if the turn itself would fail in the same way: then nothing is left
        out, and it can be retried.
        """
        status = events.Status(message=STATUS)
        await self._store.events.append(self._session_id, self._turn_id, events=[status])
        last_item = await self._last_item(cut)
        try:
            summary = await summarise(summarizer, cut.parts)
        except ModelError as error:
            if self._turn_id is not None and error.code in FAILS_THE_TURN:
                raise
            log.warning("Session %s: no summary (%s)", self._session_id, error.code)
            await self.drop(
                cut, summarizer.window, f"They could not be summarised: {error.message}"
            )
            return
        messages = newest_messages(cut.messages, summarizer.window)
        items = [user_item(text_of("summary", messages, summary))]
        compaction = self._compaction(cut, "summary", items, messages, summary, last_item)
        await self._keep(cut, compaction, summarizer.name, None)

    async def drop(self, cut: Cut, window: int, why: str, *, bare: bool = False) -> None:
        """Leave the cut out, except an earlier summary and the user's newest messages; with
        ``bare`` leave those out, too."""
        last_item = await self._last_item(cut)
        kept = [] if bare else newest_messages(cut.messages, window)
        summary = None if bare and not cut.messages else cut.summary
        items = [user_item(text_of("dropped", kept, summary))]
        compaction = self._compaction(cut, "dropped", items, kept, summary, last_item)
        warning = events.Warning_(
            code="history_dropped",
            message=f"Older turns are no longer sent to the model. {why} "
            "They stay here and can be searched.",
        )
        await self._keep(cut, compaction, None, warning)

    async def _last_item(self, cut: Cut) -> int:
        compactions = self._store.compactions
        return await compactions.last_item(self._session_id, cut.through)

    def _compaction(
        self,
        cut: Cut,
        how: How,
        items: list[HistoryItem],
        messages: list[str],
        summary: str | None,
        last_item: int,
    ) -> Compaction:
        before = self._history.tokens
        return Compaction(
            through=cut.through,
            last_item=last_item,
            how=how,
            items=items,
            messages=messages,
            summary=summary,
            tokens_before=before,
            tokens_after=before - cut.tokens + sum(map(estimate_item, items)),
        )

    async def _keep(
        self, cut: Cut, compaction: Compaction, model: str | None, warning: events.Warning_ | None
    ) -> None:
        history = self._history
        event = events.ContextCompacted(
            before=len(history.turns),
            after=len(history.turns) - len(cut.lengths),
            how=compaction.how,
            tokens_before=compaction.tokens_before,
            tokens_after=compaction.tokens_after,
            summary=compaction.summary,
        )
        compactions = self._store.compactions

        async def save() -> None:
            await compactions.save(
                self._session_id,
                compaction,
                model,
                turn_id=self._turn_id,
                events=[event, *([warning] if warning else [])],
            )
            history.replace(cut, compaction)

        # Otherwise stopping could leave memory and database different.
        await to_completion(save())


def text_of(how: How, messages: Sequence[str], summary: str | None) -> str:
    """The items that replace older turns."""
    parts = [HEAD[how]]
    if summary is not None:
        parts.append(f"<summary>\n{summary}\n</summary>")
    if messages:
        parts.append(MESSAGES)
        parts += [f"<message>\n{message}\n</message>" for message in messages]
    return "\n\n".join(parts)


def newest_messages(messages: Sequence[str], window: int) -> list[str]:
    """The newest messages, up to ``KEPT_MESSAGE_TOKENS`` in total, each one whole."""
    room = min(KEPT_MESSAGE_TOKENS, int(window * KEPT_SHARE))
    first = len(messages)
    while first > 0 and (size := estimate_tokens(messages[first - 1])) <= room:
        first -= 1
        room -= size
    return list(messages[first:])


def whole_turns(history: History, most: int, window: int) -> int:
    """How many of the newest turns, at most ``most``, stay as they are."""
    room, kept = int(window * KEPT_SHARE), 0
    for turn in reversed(history.turns[-most:] if most else []):
        if turn.tokens > room:
            break
        room -= turn.tokens
        kept += 1
    return kept


# The op ``compact``: summarises older turns at the user's request.


NOTHING = "Nothing to summarise yet."
STOPPED = "The summary was stopped. The conversation is sent as before."


async def compact_now(session: SessionState, stop: Stop) -> None:
    """Summarise all but the newest turn. Stopping it leaves the conversation as it is.

    Raises ``AgentError`` ``token_limit``, or where the database cannot be used.
    """
    history = session.history
    # A note after the newest turn does not count as a turn.
    newest = sum(turn.message is not None for turn in history.turns) > 1
    cut = history.cut(len(history.turns) - newest)
    if cut is None:
        await session.emit(events.Warning_(code="nothing_to_compact", message=NOTHING))
        return
    try:
        await stop.work(_compact(session, cut))
    except asyncio.CancelledError:
        await session.emit(events.Warning_(code="compaction_stopped", message=STOPPED))


async def _compact(session: SessionState, cut: Cut) -> None:
    runtime, history = session.runtime, session.history
    request = await turn_request(
        runtime, ChatRequest(message=""), session.record.settings, session.created
    )
    settings = for_turn(runtime.settings(), session.record.settings, request.chat, request.mode)
    compactor = Compactor(runtime.store, session.id, history)
    try:
        model = runtime.resolve_model(settings)
    except AgentError as error:
        if error.code != "no_model":
            raise
        window = history.calibration.window(settings, settings.model or "")
        await compactor.drop(cut, window, f"They could not be summarised: {error.message}")
        return

    def request_with(items: Sequence[Item]) -> ModelRequest:
        return model_request(runtime, request, settings, model, items)

    check_budget(settings.token_limit, session.tokens, cut.tokens)
    window = history.calibration.window(settings, model)
    summarizer = Summarizer(runtime.model, model, request_with, window)
    try:
        await compactor.summarise(cut, summarizer)
    finally:
        for usage in summarizer.spent:
            await _count(session, cut.through, usage, model)


async def _count(session: SessionState, through: int, call: Usage, model: str) -> None:
    """Count the summary's tokens for the newest turn that it covers, since it belongs to none."""
    usage = session.count(Usage(), call)
    event = events.TokenUsage(usage=usage, call=call)
    compactions = session.runtime.store.compactions
    await compactions.count(session.id, through, call, model, events=[event])
