"""The requests of one turn, made to fit into what the model can read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from ..models.prices import learn_window
from ..models.tokens import estimate_item, estimate_tokens
from ..models.types import ModelRequest
from ..protocol.requests import Usage
from .compaction import WORTH, Compactor, whole_turns
from .history import Item
from .request import model_request
from .sent import Sent
from .settings import Settings
from .sharing import as_now
from .summary import Scribe
from .targets import Submission

if TYPE_CHECKING:
    from .session import LiveSession

REFUSED_SHARE = 0.1
"""Of a request that the provider refused as too long: what is left out first; twice as much with
each further refusal."""
SMALLEST_WINDOW = 3_500
"""Estimated tokens of a request that any model reads."""
REFUSED = "The request was longer than the model can read."


class Window:
    """What a turn sends: the history, the current context, and all since the message (``sent``).

    ``spent`` is told what a summary cost; ``flush`` waits until what the turn told is told.
    """

    def __init__(
        self,
        session: LiveSession,
        turn_id: str,
        about: Submission,
        settings: Settings,
        spent: Callable[[Usage], None],
        flush: Callable[[], Awaitable[None]],
    ) -> None:
        self._session = session
        self._turn_id = turn_id
        self._about = about
        self._settings = settings
        self._spent = spent
        self._flush = flush
        self._context: list[Item] = []
        self._context_tokens = 0
        self._fixed_tokens: int | None = None
        self._asked = False
        self._refusals = 0
        self.model = ""
        self.sent = Sent()

    def begin(self, model: str, context: Sequence[Item]) -> None:
        """From now on ``model`` is asked, with this context."""
        self.model = model
        self._context = list(context)
        self._context_tokens = sum(map(estimate_item, context))

    def request(self, items: Sequence[Item] | None = None) -> ModelRequest:
        """System prompt, tools, history, then the current context, the message, and this turn; or
        these ``items`` after system prompt and tools."""
        if items is None:
            items = [*self._session.history.items(), *self._context, *self.sent]
        session = self._session
        settings = as_now(self._settings, session.services.settings(), session.record.settings)
        return model_request(session.services, self._about, settings, self.model, items)

    def estimate(self) -> int:
        """About how many tokens the next request has; the cost does not grow with the chat."""
        if self._fixed_tokens is None:
            empty = self.request([])
            self._fixed_tokens = estimate_tokens(empty.instructions)
            self._fixed_tokens += estimate_tokens(list(empty.tools))
        return (
            self._fixed_tokens
            + self._session.history.tokens
            + self._context_tokens
            + self.sent.tokens
        )

    async def make_room(self) -> None:
        """Compact the history before a call, where it is too long for the model or has more turns
        than are to be sent."""
        history, most = self._session.history, self._settings.max_history_turns
        if self.estimate() > SMALLEST_WINDOW and self._settings.context_window is None:
            await learn_window(self.model)
        first, self._asked = not self._asked, True
        keep = max(1, (most + 1) // 2)
        if first and len(history.turns) > most:
            await self._summarise(keep)
        if self.estimate() < self._full:
            return
        await self._summarise(keep)
        if self.estimate() >= self._full and history.turns:
            await self._summarise(0)
        over = self.estimate() - self._full
        if over >= 0:
            # With some room to spare, so that not every further step begins the prompt anew.
            self.sent.drop_oldest(over + self._size // 5)

    async def make_more_room(self) -> bool:
        """The provider refused the request as too long: leave out what is oldest; False where
        nothing is left that could be."""
        history, estimate = self._session.history, self.estimate()
        history.gauge.refused(self.model, estimate)
        amount = int(estimate * min(0.5, REFUSED_SHARE * 2**self._refusals))
        self._refusals += 1
        count = freed = 0
        for turn in history.turns:
            if freed >= amount:
                break
            freed += turn.tokens
            count += 1
        cut = history.cut(count) or history.cut_compaction()
        if cut is None:
            return self.sent.drop_oldest(amount)
        await self._flush()
        # Without turns, what stands in place of the older ones is all that can go.
        await self._compactor.drop(cut, self._size, REFUSED, bare=not cut.lengths)
        return True

    def learn(self, usage: Usage, estimated: int) -> None:
        """A request of ``estimated`` tokens was answered; the provider counted this."""
        self._session.history.gauge.learn(self.model, estimated, usage)

    @property
    def _size(self) -> int:
        return self._session.history.gauge.window(self._settings, self.model)

    @property
    def _full(self) -> int:
        return self._session.history.gauge.full(self._settings, self.model)

    @property
    def _compactor(self) -> Compactor:
        session = self._session
        return Compactor(
            session.services.store, session.id, session.channel, session.history, self._turn_id
        )

    async def _summarise(self, most: int) -> None:
        history = self._session.history
        cut = history.cut(len(history.turns) - whole_turns(history, most, self._size))
        if cut is None or (len(history.turns) <= most and cut.tokens < self._size * WORTH):
            return
        await self._flush()
        scribe = Scribe(self._session.services.model, self.model, self.request, self._size)
        try:
            await self._compactor.summarise(cut, scribe)
        finally:
            for usage in scribe.spent:
                self._spent(usage)
