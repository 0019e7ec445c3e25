"""A wizard in a dry run: its questions are answered for the user, as far as that is possible."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from . import time_limits
from .action import Action
from .action_input import ActionInput
from .dry_run_result import Asked, DryRun
from .parameters import NO_SKIP, Validate
from .questions import Answer, Filler, Question, refusal
from .time_limits import TOO_LONG, cancel

MOST_QUESTIONS = 20


class Wizard:
    """Runs a wizard until its end or the first question without an answer.

    Where it must not go on, its question is simply never answered: it is cancelled then, whatever
    it makes of exceptions.
    """

    def __init__(
        self, action: Action, message: str, known: Mapping[str, Any], filler: Filler
    ) -> None:
        self._action = action
        self._message = message
        self._known = known
        self._filler = filler
        self._asked: dict[str, Asked] = {}
        self._asks = 0
        self._stopped: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._left = time_limits.MOST_SECONDS
        self._timer: asyncio.TimerHandle | None = None
        self._since = 0.0

    async def run(self) -> tuple[DryRun, BaseException | None, Any]:
        """What was found; what the wizard raised; what it returned."""
        task: asyncio.Future[Any] = asyncio.ensure_future(self._questions())
        self._start_clock()
        try:
            await asyncio.wait((task, self._stopped), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._stop_clock()
            await cancel(task)
        result = DryRun(list(self._asked.values()))
        if self._stopped.done():
            result.problem = self._stopped.result()
            return result, None, None
        error, returned = task.result()
        result.finished = error is None
        return result, error, returned

    async def _questions(self) -> tuple[BaseException | None, Any]:
        """What the wizard raised, or returned. It must end neither this turn nor the server."""
        try:
            return None, await self._action.wizard(ActionInput(self.ask))  # type: ignore[attr-defined]
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001
            return error, None

    async def ask(self, question: Question, validate: Validate | None, skip_value: Any) -> Any:
        """The answer to a question, asked again or for the first time."""
        self._asks += 1
        if self._stopped.done() or self._asks > 10 * MOST_QUESTIONS:
            return await self._stop("The action asks the same again and again.")
        before = self._asked.get(question.name)
        if before is None:
            if len(self._asked) >= MOST_QUESTIONS:
                return await self._stop(f"The action asks more than {MOST_QUESTIONS} questions.")
            before = self._asked[question.name] = Asked(question)
            before.answer = await self._find(before, validate)
        elif before.answer is not None:
            # It may allow something else by now.
            before.problem = await refusal(question, before.answer.value, validate)
            before.question = question
            if before.problem is not None:
                before.answer = None
        if before.answer is not None:
            return before.answer.value
        before.question = question
        before.skipped = skip_value is not NO_SKIP
        if before.skipped:
            before.skip_value = skip_value
            return skip_value
        return await self._stop(None)

    async def _find(self, asked: Asked, validate: Validate | None) -> Answer | None:
        question = asked.question
        found: Answer | None = None
        if self._message.strip() and not question.secret:
            known = {
                name: each.answer.value
                for name, each in self._asked.items()
                if each.answer is not None and not each.question.secret
            }
            self._stop_clock()
            try:
                answers = await self._filler.fill([question], self._message, known)
            finally:
                self._start_clock()
            found = answers.get(question.name)
        given = self._known.get(question.name)
        answer = found or (Answer(given) if given is not None else None)
        if answer is None:
            return None
        asked.problem = await refusal(question, answer.value, validate)
        return answer if asked.problem is None else None

    async def _stop(self, problem: str | None) -> Any:
        self._end(problem)
        return await asyncio.get_running_loop().create_future()

    def _end(self, problem: str | None) -> None:
        if not self._stopped.done():
            self._stopped.set_result(problem)

    def _start_clock(self) -> None:
        if not self._stopped.done():
            loop = asyncio.get_running_loop()
            self._since = loop.time()
            self._timer = loop.call_later(max(0.0, self._left), self._end, TOO_LONG)

    def _stop_clock(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._left -= asyncio.get_running_loop().time() - self._since
