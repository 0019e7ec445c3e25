"""How a turn asks the model: with room for what it sends, within the token limit, and counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..models.types import ModelError, ModelRequest
from ..protocol import events
from ..protocol.requests import Usage
from .budget import add_usage, check_budget, estimated_usage
from .history import Item
from .model_call import Answer, ModelCall
from .outbox import Outbox
from .settings import Settings
from .targets import Submission
from .window import Window

if TYPE_CHECKING:
    from .session import LiveSession


class Asking:
    """The calls of the model in one turn. ``usage`` is what they cost together.

    ``keep`` takes each item of an answer as it completes.
    """

    def __init__(
        self,
        session: LiveSession,
        turn_id: str,
        about: Submission,
        settings: Settings,
        outbox: Outbox,
        keep: Callable[[Sequence[Item]], None],
    ) -> None:
        self._session = session
        self._settings = settings
        self._outbox = outbox
        self._keep = keep
        self._call: ModelCall | None = None
        self.window = Window(session, turn_id, about, settings, self._count, outbox.flush)
        self.usage = Usage()
        self.first_text_at: float | None = None

    @property
    def partial_text(self) -> str:
        """The text that was shown of an answer which did not end."""
        return self._call.partial_text if self._call is not None else ""

    @property
    def broken_item_id(self) -> str | None:
        """See ``ModelCall.broken_item_id``."""
        return self._call.broken_item_id if self._call is not None else None

    async def ask(self, make_request: Callable[[], ModelRequest], *, quiet: bool) -> Answer:
        """The model's answer; what a ``quiet`` call writes is not shown.

        Raises ``ModelError`` when it cannot be had, and ``AgentError`` ``token_limit``.
        """
        await self.window.make_room()
        answer = await self._whole_answer(make_request, quiet)
        if answer.finish_reason == "max_output_tokens":
            self._outbox.add(
                events.Warning_(
                    code="max_output_tokens",
                    message="The answer was cut off at the limit of output tokens.",
                )
            )
        await self._outbox.flush()
        return answer

    async def _whole_answer(self, make_request: Callable[[], ModelRequest], quiet: bool) -> Answer:
        """What the provider refuses as too long is made shorter and sent again."""
        while True:
            size = self.window.estimate()
            self.check_limit(size)
            self._call = ModelCall(
                self._session.services.model,
                make_request,
                self._keep,
                self._outbox,
                self._on_text,
                self._count_unfinished,
                quiet=quiet,
            )
            try:
                answer = await self._call.run()
            except ModelError as error:
                if error.code != "context_window" or not await self.window.make_more_room():
                    raise
                continue
            self._count(answer.usage)
            self.window.learn(answer.usage, size)
            return answer

    def check_limit(self, more: int = 0) -> None:
        """Raises ``AgentError`` ``token_limit`` where the session has used its tokens up, or would
        with ``more``."""
        check_budget(self._settings.token_limit, self._session.session_tokens, more)

    def _on_text(self) -> None:
        if self.first_text_at is None:
            self.first_text_at = time.monotonic()

    def _count(self, call: Usage) -> None:
        session = self._session
        self.usage = add_usage(self.usage, call, session.session_tokens, session.session_cost)
        session.session_tokens = self.usage.session_tokens
        session.session_cost = self.usage.session_cost
        self._outbox.add(
            events.TokenUsage(usage=self.usage.model_copy(), call=call),
            usage=call,
            model=self.window.model,
        )

    def _count_unfinished(self, tokens: int) -> None:
        """A call that broke off or was stopped after ``tokens`` of output costs all the same."""
        self._count(estimated_usage(self.window.model, self.window.estimate(), tokens))
