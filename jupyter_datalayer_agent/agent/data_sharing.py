"""What may go to the model: the settings ``outputs`` and ``row_data``, and approvals.

Items with private content are stored with a note about it (``PRIVATE_NOTE``), so that earlier items
are withheld, too, once a setting becomes ``never``. The note itself is never sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from ..protocol.base import SharePolicy
from ..protocol.requests import ChatRequest, SessionSettings
from ..protocol.tools import PRIVATE_NOTE, ShareKind, ShareRequest, SharingNow, ToolResult
from ..settings.turn_settings import Settings, for_turn
from ..tools.call_approval import ApprovalRequest
from ..tools.limits import cut
from ..tools.redaction import BY_SETTING, BY_USER, CallRef, Question, Refused, Sharing, Shown
from ..tools.result import Dispatched
from .approvals import ApprovalBroker
from .history import Item
from .tool_output import for_model

Policies = Mapping[ShareKind, SharePolicy]

UNTIL_APPROVED = "until you approve"
_NO_REQUEST = ChatRequest(message="")
PICTURES = "[pictures withheld by the setting]"
WORDS: dict[ShareKind, str] = {"outputs": "outputs", "row_data": "rows of data"}


def policies(settings: Settings) -> Policies:
    """The policy of each kind."""
    return {"outputs": settings.outputs, "row_data": settings.row_data}


def as_now(settings: Settings, base: Settings, session: SessionSettings) -> Settings:
    """The settings with the current values of these two, which apply at once, even in a running
    turn."""
    now = for_turn(base, session, _NO_REQUEST, "ask")
    return settings.model_copy(update={"outputs": now.outputs, "row_data": now.row_data})


def sharing_now(settings: Settings) -> SharingNow:
    """The policies for the page."""
    locked = [kind for kind in policies(settings) if kind in settings.locked]
    return SharingNow(outputs=settings.outputs, row_data=settings.row_data, locked=locked)


class TurnSharing:
    """Decides for a turn. It reads the settings each time, since the user may change them during
    the turn, and asks one question at a time, since one answer may settle the next."""

    def __init__(self, settings: Callable[[], Settings], approvals: ApprovalBroker) -> None:
        self._settings = settings
        self._approvals = approvals
        self._lock = asyncio.Lock()

    async def refused(
        self, parts: Sequence[frozenset[ShareKind]], call: CallRef, question: Question
    ) -> Refused:
        """See ``tools.redaction.Sharing``."""
        rules = policies(self._settings())
        refused: dict[ShareKind, str] = {
            kind: BY_SETTING for kind in rules if rules[kind] == "never" and _has(parts, kind)
        }
        open_parts = [part for part in parts if part.isdisjoint(refused)]
        asked = [kind for kind in rules if rules[kind] == "ask" and _has(open_parts, kind)]
        if not asked:
            return refused
        async with self._lock:
            asked = [kind for kind in asked if not self._approvals.has_approved(_key(kind))]
            if asked and not await self._ask(asked, refused, call, question):
                refused |= dict.fromkeys(asked, BY_USER)
        return refused

    async def _ask(
        self, kinds: list[ShareKind], refused: Refused, call: CallRef, question: Question
    ) -> bool:
        shown = question(refused)
        bare = question({**refused, **dict.fromkeys(kinds, BY_USER)})
        share = ShareRequest(
            kinds=kinds,
            text=rendered(shown),
            withheld=rendered(bare),
            pictures=shown.pictures,
            ok=not isinstance(shown.result, ToolResult) or shown.result.ok,
        )
        what = " and ".join(WORDS[kind] for kind in kinds)
        decision = await self._approvals.approve(
            share_request(
                call, share, f"The {what} of {call.label} are about to be sent to the model"
            )
        )
        return decision.approved


class NotedSharing:
    """Decides as another does, and records in the sent item what was allowed, so that it can be
    redacted later."""

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing
        self._kinds: list[ShareKind] = []
        self._bare = ""

    async def refused(
        self, parts: Sequence[frozenset[ShareKind]], call: CallRef, question: Question
    ) -> Refused:
        """See ``tools.redaction.Sharing``."""
        refused = await self._sharing.refused(parts, call, question)
        open_parts = [part for part in parts if part.isdisjoint(refused)]
        self._kinds = sorted(frozenset().union(*open_parts))
        self._bare = rendered(question({**refused, **dict.fromkeys(self._kinds, BY_SETTING)}))
        return refused

    def noted(self, item: Item) -> Item:
        """The item, with a note about what is private in it."""
        return note_of(item, self._kinds, self._bare) if self._kinds else item


class UnaskedSharing:
    """Decides without asking: for what is sent again, for the agent's own calls, whose results go
    to no one, and for what is only shown to the user.

    Data whose setting is ``ask`` is refused with the reason ``ask``, or sent if that is None;
    ``refused`` are earlier refusals. The settings are read each time.
    """

    def __init__(
        self,
        settings: Callable[[], Settings],
        *,
        ask: str | None = None,
        refused: Refused = MappingProxyType({}),
    ) -> None:
        self._settings = settings
        self._reasons = {"never": BY_SETTING, "ask": ask}
        self._before = refused

    async def refused(
        self, parts: Sequence[frozenset[ShareKind]], call: CallRef, question: Question
    ) -> Refused:
        """See ``tools.redaction.Sharing``."""
        reasons = {
            kind: self._reasons.get(rule) or self._before.get(kind)
            for kind, rule in policies(self._settings()).items()
            if _has(parts, kind)
        }
        return {kind: reason for kind, reason in reasons.items() if reason is not None}


def share_request(call: CallRef, share: ShareRequest, reason: str) -> ApprovalRequest:
    """The approval request for sending this. An approval for the session covers these kinds."""
    return ApprovalRequest(
        call_id=call.call_id,
        name=call.name,
        arguments=call.arguments,
        reason=reason,
        destructive=False,
        changes=None,
        remember_as=" ".join(_key(kind) for kind in share.kinds),
        share=share,
    )


def _has(parts: Sequence[frozenset[ShareKind]], kind: ShareKind) -> bool:
    return any(kind in part for part in parts)


def _key(kind: ShareKind) -> str:
    return f"share:{kind}"


def rendered(shown: Shown) -> str:
    """The text that the model would read, with the same cuts."""
    if isinstance(shown.result, ToolResult):
        return cut(for_model(shown.result), shown.more)[0]
    return str(shown.result)


def noted(item: Item, done: Dispatched) -> Item:
    """A call's output item, with a note about what is private in it."""
    if not done.private or done.stripped is None:
        return item
    return note_of(item, done.private, cut(for_model(done.stripped), done.more)[0])


def note_of(item: Item, kinds: Sequence[ShareKind], bare: str) -> Item:
    """The item with a note that it has these kinds, and with its text without them."""
    return {**item, PRIVATE_NOTE: {"kinds": list(kinds), "bare": bare}}


def noted_pictures(item: Item) -> Item:
    """An item that shows pictures, with a note that they are outputs."""
    return note_of(item, ["outputs"], PICTURES)


def sent(items: Sequence[Item], rules: Policies) -> list[Item]:
    """The items as they may be sent now: ``never`` applies to earlier ones, too."""
    return [_sent(item, rules) for item in items]


def _sent(item: Item, rules: Policies) -> Item:
    note = item.get(PRIVATE_NOTE)
    if note is None:
        return item
    item = {key: value for key, value in item.items() if key != PRIVATE_NOTE}
    if all(rules.get(cast(ShareKind, kind)) != "never" for kind in note["kinds"]):
        return item
    if "output" in item:
        return {**item, "output": note["bare"]}
    content: list[dict[str, Any]] = [{"type": "input_text", "text": note["bare"]}]
    return {**item, "content": content}
