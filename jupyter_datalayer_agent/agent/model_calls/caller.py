"""How a turn calls the model: within the context window and the token limit, and counted."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...models.types import ModelError
from ...protocol import events
from ...settings.turn_settings import Settings
from ...tools.context import ToolFailure
from ..budget import check_budget, estimated_usage
from ..events.buffer import EventBuffer
from ..state import SessionState
from ..tool_calls.written_call_policy import WrittenCallPolicy
from .call import ModelAnswer, ModelCall
from .context_window import ContextWindow
from .turn_usage import TurnUsage


class ModelCaller:
    """The calls of the model in one turn, counted in ``usage``.

    Each item of an answer is added to what ``window`` sends as it completes. ``failures`` are those
    of the newest answer's calls, by id, that are not to be carried out.
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
        """A request that the provider refuses as too long is shortened and sent again; one that it
        refuses otherwise, without its pictures."""
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
        # A model that was given one back and writes it wrong again does not know how.
        may_correct = not self.failures
        return WrittenCallPolicy(request.tools, request.gate, may_correct)

    def check_limit(self, more: int = 0) -> None:
        """Raises ``AgentError`` ``token_limit`` where the session has used its tokens up, or would
        with ``more``."""
        check_budget(self._settings.token_limit, self._session.tokens, more)

    def _on_text(self) -> None:
        if self.first_text_at is None:
            self.first_text_at = time.monotonic()

    def _count_unfinished(self, tokens: int) -> None:
        """Count a call that broke off or was stopped after ``tokens`` of output."""
        model = self.window.model
        self._usage.count(estimated_usage(model, self.window.estimate(), tokens), model)
