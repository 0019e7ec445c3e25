"""Compaction: older turns become a summary, so that a conversation fits the model's window.

Nothing is deleted: the replacement is stored beside the turns, so that the same bytes are sent
after a restart, and older turns can still be searched.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Literal

from ...models.tokens import estimate_item, estimate_tokens
from ...models.types import ModelError, ModelErrorCode
from ...protocol import events
from ...store.records import Compaction
from ...store.store import Store
from ..history.history import Cut, History, Item, user_item
from ..stop import to_completion
from .summarizer import Summarizer, summarise

log = logging.getLogger(__name__)

STATUS = "Summarising the earlier conversation"
KEPT_MESSAGE_TOKENS = 20_000
"""Tokens of the user's newest messages among the older turns, which are kept verbatim."""
KEPT_SHARE = 0.2
"""Of the window: what whole turns may fill after a compaction, and what messages may."""
WORTH = 0.05
"""Of the window: a compaction that would free less is not worth a call."""

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
        """Leave the cut out, but for an earlier summary and the user's newest messages; with
        ``bare`` those, too."""
        last_item = await self._last_item(cut)
        kept = [] if bare else newest_messages(cut.messages, window)
        summary = None if bare and not cut.messages else cut.summary
        items = [user_item(text_of("dropped", kept, summary))]
        compaction = self._compaction(cut, "dropped", items, kept, summary, last_item)
        warning = events.Warning_(
            code="history_dropped",
            message=f"Older turns are no longer sent to the model. {why} "
            "They are still here, and can be searched.",
        )
        await self._keep(cut, compaction, None, warning)

    async def _last_item(self, cut: Cut) -> int:
        compactions = self._store.compactions
        return await compactions.last_item(self._session_id, cut.through)

    def _compaction(
        self,
        cut: Cut,
        how: How,
        items: list[Item],
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

        # Otherwise a stop could make memory differ from the database.
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
    """The newest of them up to ``KEPT_MESSAGE_TOKENS``, none in part."""
    room = min(KEPT_MESSAGE_TOKENS, int(window * KEPT_SHARE))
    first = len(messages)
    while first > 0 and (size := estimate_tokens(messages[first - 1])) <= room:
        first -= 1
        room -= size
    return list(messages[first:])


def whole_turns(history: History, most: int, window: int) -> int:
    """How many of the newest turns, ``most`` at most, stay as they are."""
    room, kept = int(window * KEPT_SHARE), 0
    for turn in reversed(history.turns[-most:] if most else []):
        if turn.tokens > room:
            break
        room -= turn.tokens
        kept += 1
    return kept
