"""What a turn states before its message: news about attached and active documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...models.tokens import estimate_item
from ...notebook.edits.batch import source_hash
from ...notebook.edits.checkpoints import WHOLE_DOCUMENT
from ...settings.turn_settings import Settings
from ...store.records import TurnContext
from ...tools.redaction import Sharing
from ..approvals.data_sharing import NotedSharing, UnaskedSharing, policies
from ..events.buffer import EventBuffer
from ..history.history import Item, user_item
from ..history.known_context import KnownContext, effect_in
from ..request import TurnRequest
from ..state import SessionState
from .composition import Composition, Piece
from .gather import gather


class ContextStatement:
    """A turn's context: gathered once, stated in the turn's request, and stated again if what it
    builds on is no longer sent. ``context`` is stored with the turn; ``items``, of ``tokens``, are
    what is sent."""

    def __init__(
        self,
        session: SessionState,
        buffer: EventBuffer,
        settings: Callable[[], Settings],
    ) -> None:
        self.context: TurnContext | None = None
        self.items: list[Item] = []
        self.tokens = 0
        self._session = session
        self._buffer = buffer
        self._settings = settings
        self._pieces: Sequence[Piece] | None = None
        self._turn_number = 0
        self._known = KnownContext()
        self._composed: Composition | None = None

    def send(self, item: Item | None) -> None:
        """This is sent before the message."""
        self.items = [] if item is None else [item]
        self.tokens = sum(map(estimate_item, self.items))

    async def gather(self, request: TurnRequest) -> None:
        """Gather what the model may be sent before the message."""
        session = self._session
        gathered = await gather(session.runtime, request, session.seen, asks_kernel=True)
        self._pieces = gathered.pieces

    async def state(self, turn_number: int, sharing: Sharing) -> None:
        """State what the model does not know yet, if anything was gathered."""
        self._turn_number = turn_number
        if self._pieces is not None:
            await self._state(self._compose(self._pieces), sharing)
            self._note_seen()

    async def resume(self, turn_number: int, sharing: Sharing, wait: dict[str, Any]) -> None:
        """Continue with what the turn sent before its server ended; ``wait`` is the event that
        asks."""
        self._turn_number = turn_number
        if self._pieces is not None and self.context is not None:
            self._composed = self._compose(self._pieces)
            self.send(self.context.item)
            self._note_seen()
        else:
            await self.state(turn_number, sharing)
        self._see_what_was_asked(wait)

    def _compose(self, pieces: Sequence[Piece]) -> Composition:
        self._known = self._session.history.known(effect_in(self._session.runtime.registry))
        rules = policies(self._settings())
        return Composition(pieces, self._known, self._turn_number, self._session.seen, rules)

    async def _state(self, composed: Composition, sharing: Sharing) -> None:
        """Written with what is emitted next."""
        noted = NotedSharing(sharing)
        await composed.decide(noted)
        item = noted.noted(user_item(composed.text)) if composed.text else None
        self.context = TurnContext(item, None if item is None else composed.stated)
        self._composed = composed
        self.send(item)
        self._buffer.add(None, context=self.context)

    def _note_seen(self) -> None:
        """An edit is based on what the model knows of a cell by now."""
        if self._composed is not None and self.context is not None:
            known = self._known.after(self.context.stated)
            self._composed.note(known, self._session.seen)

    async def renew(self) -> None:
        """After a compaction: state the context anew if what it builds on is no longer sent."""
        known = self._session.history.known(effect_in(self._session.runtime.registry))
        if self.context is None or self._pieces is None or known == self._known:
            return
        refused = {} if self._composed is None else self._composed.refused
        unasked = UnaskedSharing(self._settings, refused=refused)
        await self._state(self._compose(self._pieces), unasked)

    def _see_what_was_asked(self, wait: dict[str, Any]) -> None:
        """The user decides on the cells as shown: if one was changed since, the change is
        refused."""
        for each in wait.get("changes") or []:
            if each.get("before") is not None:
                self._session.seen.note_hash(
                    each["path"], each.get("cellId") or WHOLE_DOCUMENT, source_hash(each["before"])
                )
