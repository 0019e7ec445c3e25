"""How a turn calls the model: within the context window and the token limit."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...models.prices import learn_window
from ...models.tokens import estimate_tokens
from ...models.types import ModelError, ModelRequest
from ...protocol import events
from ...protocol.requests import Usage
from ...settings.turn_settings import Settings
from ...tools.context import ToolFailure
from ..context.gather import ContextStatement
from ..data_sharing import as_now
from ..event_buffer import EventBuffer
from ..history import Item
from ..request import TurnRequest
from ..state import SessionState, add_usage, check_budget, estimated_usage
from ..tool_calls.written_call_policy import WrittenCallPolicy
from .call import ModelAnswer, ModelCall
from .compaction import WORTH, Compactor, Summarizer, whole_turns
from .request import SMALL_WINDOW, TurnItems, has_small_window, model_request

# What a turn's model calls cost.


class TurnUsage:
    """Counts a turn's calls, also for the session; ``total`` is their sum."""

    def __init__(self, session: SessionState, buffer: EventBuffer) -> None:
        self.total = Usage()
        self._session = session
        self._buffer = buffer

    def count(self, call: Usage, model: str) -> None:
        """Count a call, and report it."""
        self.total = self._session.count(self.total, call)
        self._buffer.add(
            events.TokenUsage(usage=self.total.model_copy(), call=call), usage=call, model=model
        )

    def include(self, answers: Sequence[Usage]) -> None:
        """Add the cost of a comparison's answers, which the session has already counted."""
        for usage in answers:
            self.total = add_usage(self.total, usage, 0)
        self.total.session_tokens = self._session.tokens
        self.total.session_cost = self._session.cost


# The requests of one turn, made to fit the model's window.


REFUSED_SHARE = 0.1
"""The share of a request that is left out when the provider refuses it as too long; doubled with
each further refusal."""
MOST_PICTURES = 20
"""Pictures in a request above which earlier ones are compacted: providers limit their number."""
REFUSED = "The request was longer than the model can read."


class ContextWindow:
    """What a turn sends to ``model``: the history, its context, and everything since the message
    (``sent``). Before compaction the ``buffer`` is flushed; afterwards the ``context`` is stated
    again, and the summary is counted in ``usage``."""

    def __init__(
        self,
        session: SessionState,
        turn_id: str,
        request: TurnRequest,
        settings: Settings,
        context: ContextStatement,
        buffer: EventBuffer,
        usage: TurnUsage,
    ) -> None:
        self._session = session
        self._turn_id = turn_id
        self.turn_request = request
        self._settings = settings
        self._context = context
        self._buffer = buffer
        self._usage = usage
        self._fixed_tokens: int | None = None
        self._asked = False
        self._refusals = 0
        self.model = ""
        self.sent = TurnItems()

    def request(self, items: Sequence[Item] | None = None) -> ModelRequest:
        """System prompt, tools, history, new context, message and this turn; with ``items``, only
        these after system prompt and tools."""
        if items is None:
            items = self.items
        session = self._session
        settings = as_now(self._settings, session.runtime.settings(), session.record.settings)
        history = session.history
        if self.turn_request.gate.lexical_targets:
            session.sends_blocks = True
        return model_request(
            session.runtime,
            self.turn_request,
            settings,
            self.model,
            items,
            history.mapper,
            is_blind=self.model in history.blind,
            is_small=self._is_small(settings),
            with_blocks=session.sends_blocks,
        )

    @property
    def items(self) -> list[Item]:
        """What is sent after system prompt and tools, in order."""
        return [*self._session.history.items(), *self._context.items, *self.sent]

    def _is_small(self, settings: Settings) -> bool:
        refused = self._session.history.calibration.refused_below(self.model, SMALL_WINDOW)
        return refused or has_small_window(settings, self.model)

    def leave_out_pictures(self) -> bool:
        """Send this model no pictures from now on, since the provider refused the request, perhaps
        because of them. False if there were none."""
        history = self._session.history
        if self.model in history.blind or not history.pictures + self.sent.pictures:
            return False
        history.blind.add(self.model)
        return True

    def put_back_pictures(self) -> None:
        """Send pictures again: the refusal was not about them."""
        self._session.history.blind.discard(self.model)

    def estimate(self) -> int:
        """Estimated tokens of the next request; takes constant time."""
        if self._fixed_tokens is None:
            empty = self.request([])
            self._fixed_tokens = estimate_tokens(empty.instructions)
            self._fixed_tokens += estimate_tokens(list(empty.tools))
        return (
            self._fixed_tokens
            + self._session.history.tokens
            + self._context.tokens
            + self.sent.tokens
        )

    async def make_room(self) -> None:
        """Compact the history before a call if it is too long for the model or has too many
        turns."""
        history, most = self._session.history, self._settings.max_history_turns
        if self._settings.context_window is None:
            await learn_window(self.model)
        first, self._asked = not self._asked, True
        keep = max(1, (most + 1) // 2)
        if first and len(history.turns) > most:
            await self._summarise(keep)
        if not self._is_too_much:
            return
        await self._summarise(keep)
        if self._is_too_much and history.turns:
            await self._summarise(0)
        over = self.estimate() - self._full
        if over >= 0:
            # With room to spare, so that not every further step invalidates the prompt cache.
            self.sent.drop_oldest(over + self._size // 5)

    async def make_more_room(self) -> bool:
        """Leave out the oldest part after the provider refused the request as too long. False if
        nothing can be left out."""
        history, estimate = self._session.history, self.estimate()
        was_small = self._is_small(self._settings)
        history.calibration.refused(self.model, estimate)
        if not was_small and self._is_small(self._settings):
            # A short system prompt and fewer tools may be enough.
            self._fixed_tokens = None
            return True
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
        await self._buffer.flush()
        # Without turns, only the compaction can be left out.
        await self._compactor.drop(cut, self._size, REFUSED, bare=not cut.lengths)
        await self._context.renew()
        return True

    def learn(self, usage: Usage, estimated: int) -> None:
        """Compare the ``estimated`` tokens of an answered request with the provider's count."""
        self._session.history.calibration.learn(self.model, estimated, usage)

    @property
    def _size(self) -> int:
        return self._session.history.calibration.window(self._settings, self.model)

    @property
    def _full(self) -> int:
        return self._session.history.calibration.full(self._settings, self.model)

    @property
    def _is_too_much(self) -> bool:
        history = self._session.history
        pictures = history.pictures + self.sent.pictures
        return self.estimate() >= self._full or bool(history.pictures and pictures > MOST_PICTURES)

    @property
    def _compactor(self) -> Compactor:
        session = self._session
        return Compactor(session.runtime.store, session.id, session.history, self._turn_id)

    async def _summarise(self, most: int) -> None:
        history = self._session.history
        cut = history.cut(len(history.turns) - whole_turns(history, most, self._size))
        if cut is None or (len(history.turns) <= most and cut.tokens < self._size * WORTH):
            return
        await self._buffer.flush()
        summarizer = Summarizer(self._session.runtime.model, self.model, self.request, self._size)
        try:
            await self._compactor.summarise(cut, summarizer)
        finally:
            for usage in summarizer.spent:
                self._usage.count(usage, self.model)
        await self._context.renew()


class ModelCaller:
    """The calls of the model in one turn, counted in ``usage``.

    Each item of an answer is added to what ``window`` sends as it completes. ``failures`` are those
    of calls in the newest answer, by id, that are not carried out.
    """

    def __init__(
        self,
        session: SessionState,
        settings: Settings,
        window: ContextWindow,
        buffer: EventBuffer,
        usage: TurnUsage,
    ) -> None:
        self._session = session
        self._settings = settings
        self._buffer = buffer
        self._usage = usage
        self._call: ModelCall | None = None
        self.window = window
        self.first_text_at: float | None = None
        self.failures: Mapping[str, ToolFailure] = {}

    @property
    def partial_text(self) -> str:
        """The visible text of an incomplete answer."""
        return self._call.partial_text if self._call is not None else ""

    @property
    def broken_item_id(self) -> str | None:
        """See ``ModelCall.broken_item_id``."""
        return self._call.broken_item_id if self._call is not None else None

    async def ask(self, *, quiet: bool, **changes: Any) -> ModelAnswer:
        """The model's answer; the text of a ``quiet`` call is not shown. ``changes`` override
        fields of the turn's request.

        Raises ``ModelError``, and ``AgentError`` ``token_limit``.
        """
        await self.window.make_room()
        answer = await self._whole_answer(quiet, changes)
        if (cut := answer.incomplete) is not None and answer.text and not answer.calls:
            self._buffer.add(events.Warning_(code=cut.reason, message=cut.message))
        await self._buffer.flush()
        return answer

    async def _whole_answer(self, quiet: bool, changes: Mapping[str, Any]) -> ModelAnswer:
        """The complete answer. If the provider refuses the request as too long, it is shortened and
        sent again; after another refusal, without its pictures."""
        tried_without_pictures = False
        while True:
            size = self.window.estimate()
            self.check_limit(size)
            self._call = ModelCall(
                self._session.runtime.model,
                self.window.turn_request.tools,
                lambda: replace(self.window.request(), **changes),
                self.window.sent.add,
                self._buffer,
                self._on_text,
                self._count_unfinished,
                quiet=quiet,
                policy=self._written_calls(),
            )
            try:
                answer = await self._call.run()
            except ModelError as error:
                if error.code == "context_window" and await self.window.make_more_room():
                    continue
                if tried_without_pictures:
                    self.window.put_back_pictures()
                elif error.code == "bad_request" and self.window.leave_out_pictures():
                    tried_without_pictures = True
                    continue
                raise
            self.failures = answer.failures
            self._usage.count(answer.usage, self.window.model)
            self.window.learn(answer.usage, size)
            return answer

    def _written_calls(self) -> WrittenCallPolicy:
        request = self.window.turn_request
        # If the model gets one back and writes it wrong again, it cannot correct it.
        may_correct = not self.failures
        return WrittenCallPolicy(request.tools, request.gate, may_correct)

    def check_limit(self, more: int = 0) -> None:
        """Raises ``AgentError`` ``token_limit`` if the session has used up its tokens, or would
        with ``more``."""
        check_budget(self._settings.token_limit, self._session.tokens, more)

    def _on_text(self) -> None:
        if self.first_text_at is None:
            self.first_text_at = time.monotonic()

    def _count_unfinished(self, tokens: int) -> None:
        """Count a call that broke off or was stopped after ``tokens`` of output."""
        model = self.window.model
        self._usage.count(estimated_usage(model, self.window.estimate(), tokens), model)
