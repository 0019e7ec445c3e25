"""An action's parameters, found without doing anything: the dry run.

The schema form is filled in one go. A wizard is run with an input that answers for the user: each
question is one of the filler, and what it does not find ends the wizard, unless it may be skipped.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..protocol.base import new_id
from ..protocol.services import ActionParameter, ActionProposal
from .action import NO_SKIP, Action, Validate
from .questions import (
    Answer,
    Filler,
    Question,
    field_check,
    options_of,
    questions_of,
    refusal,
)

log = logging.getLogger(__name__)

MOST_QUESTIONS = 20
WIZARD_SECONDS = 10.0
"""For which a wizard may work, without the time in which it waits for answers."""


@dataclass
class Asked:
    """A question with what was found for it. ``problem``: why a value that was given is none."""

    question: Question
    answer: Answer | None = None
    skipped: bool = False
    problem: str | None = None

    def parameter(self) -> ActionParameter:
        """As the page is sent it."""
        question, answer = self.question, self.answer
        secret = question.secret
        return ActionParameter(
            name=question.name,
            title=question.prompt,
            value=answer.value if answer is not None and not secret else None,
            display=_display(question, answer) if answer is not None and not secret else None,
            source=answer.source if answer is not None and not secret else None,
            found=answer is not None,
            required=question.required,
            secret=secret,
            problem=self.problem,
            schema=question.form(),
        )


@dataclass
class DryRun:
    """What a dry run found; ``ended`` says why a wizard ended before its last question."""

    asked: list[Asked] = field(default_factory=list)
    finished: bool = False
    problem: str | None = None

    @property
    def values(self) -> dict[str, Any]:
        """The values found, secrets too."""
        return {
            each.question.name: each.answer.value for each in self.asked if each.answer is not None
        }

    @property
    def complete(self) -> bool:
        """Whether all that is required was found."""
        return self.finished and all(
            each.answer is not None or each.skipped or not each.question.required
            for each in self.asked
        )

    def proposal(
        self, service: str, action: Action, proposal_id: str | None = None
    ) -> ActionProposal:
        """The proposal that these parameters make."""
        return ActionProposal(
            proposal_id=proposal_id or new_id("proposal"),
            service=service,
            action=action.id,
            title=action.title,
            description=self.problem or action.description,
            parameters=[each.parameter() for each in self.asked],
            complete=self.complete,
            destructive=action.destructive,
            destroys=action.destroys(self.values) if action.destructive else None,
            wizard=action.has_wizard(),
        )


async def dry_run(action: Action, message: str, known: Mapping[str, Any], filler: Filler) -> DryRun:
    """Find the parameters of an action. ``known`` are values that the user gave before; ``message``
    is read for the others, and for what it says of these. Nothing is executed."""
    if action.has_wizard():
        return await _Wizard(action, message, known, filler).run()
    return await _fill_form(action, message, known, filler)


# -- the schema form -----------------------------------------------------------------------------


async def _fill_form(
    action: Action, message: str, known: Mapping[str, Any], filler: Filler
) -> DryRun:
    values = dict(known)
    questions = [
        await _with_options(action, each, values) for each in questions_of(action.Parameters)
    ]
    found: dict[str, Answer] = {}
    if message.strip():
        open_questions = [each for each in questions if not each.secret]
        found = await filler.fill(open_questions, message, values)
        # What a value can be may depend on another that was only just found.
        values |= {name: answer.value for name, answer in found.items()}
        again = [await _with_options(action, each, values) for each in questions]
        changed = [
            new
            for old, new in zip(questions, again, strict=True)
            if new.options != old.options and new.name not in found and not new.secret
        ]
        if changed:
            found |= await filler.fill(changed, message, values)
        questions = again
    asked = []
    for question in questions:
        check = field_check(action.Parameters, question.name)
        given = Answer(known[question.name]) if known.get(question.name) is not None else None
        asked.append(await _judge(question, found.get(question.name) or given, check))
    result = DryRun(asked, finished=True)
    if result.complete:
        for name, problem in (await _cross_check(action, result.values)).items():
            each = next((each for each in asked if each.question.name == name), None)
            if each is not None:
                each.answer, each.problem = None, problem
                each.question = replace(each.question, required=True)
    return result


async def _with_options(action: Action, question: Question, known: Mapping[str, Any]) -> Question:
    options = await action.options(question.name, known)
    if options is None:
        return question
    return replace(
        question,
        options=options_of(options),
        type="many" if question.type == "many" else "one",
    )


async def _judge(question: Question, answer: Answer | None, check: Validate) -> Asked:
    if answer is None:
        return Asked(question)
    problem = await refusal(question, answer.value, check)
    return Asked(question, answer if problem is None else None, problem=problem)


async def _cross_check(action: Action, values: Mapping[str, Any]) -> Mapping[str, str]:
    return await action.check_parameters(action.Parameters.model_validate(dict(values)))


# -- the wizard ----------------------------------------------------------------------------------


class _Wizard:
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
        self._left = WIZARD_SECONDS
        self._timer: asyncio.TimerHandle | None = None
        self._since = 0.0

    async def run(self) -> DryRun:
        task = asyncio.ensure_future(self._action.wizard(_Input(self)))  # type: ignore[attr-defined]
        self._start_clock()
        try:
            await asyncio.wait([task, self._stopped], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._stop_clock()
            await _cancel(task)
        result = DryRun(list(self._asked.values()))
        if self._stopped.done():
            result.problem = self._stopped.result()
        elif (error := task.exception()) is not None:
            log.error("The wizard of the action %s failed", self._action.id, exc_info=error)
            result.problem = "Its questions cannot be asked: the action failed. See the server log."
        else:
            result.finished = True
        return result

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
        if skip_value is not NO_SKIP:
            before.skipped = True
            return skip_value
        return await self._stop(None)

    async def _find(self, asked: Asked, validate: Validate | None) -> Answer | None:
        question = asked.question
        found: Answer | None = None
        if self._message.strip() and not question.secret:
            self._stop_clock()
            try:
                known = {n: a.answer.value for n, a in self._asked.items() if a.answer is not None}
                found = (await self._filler.fill([question], self._message, known)).get(
                    question.name
                )
            finally:
                self._start_clock()
        given = self._known.get(question.name)
        for answer in (found, Answer(given) if given is not None else None):
            if answer is not None:
                asked.problem = await refusal(question, answer.value, validate)
                if asked.problem is None:
                    return answer
        return None

    async def _stop(self, problem: str | None) -> Any:
        if not self._stopped.done():
            self._stopped.set_result(problem)
        return await asyncio.get_running_loop().create_future()

    def _start_clock(self) -> None:
        loop = asyncio.get_running_loop()
        self._since = loop.time()
        self._timer = loop.call_later(max(0.0, self._left), self._too_long)

    def _stop_clock(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._left -= asyncio.get_running_loop().time() - self._since

    def _too_long(self) -> None:
        if not self._stopped.done():
            self._stopped.set_result("The action takes too long to say what it needs.")


class _Input:
    """What a wizard asks in a dry run; see ``ActionInput``."""

    def __init__(self, wizard: _Wizard) -> None:
        self._wizard = wizard

    async def pick(
        self,
        name: str,
        prompt: str,
        options: Sequence[Any],
        *,
        validate: Validate | None = None,
        skip_value: Any = NO_SKIP,
    ) -> Any:
        question = Question(
            name, prompt, "one", options_of(options), required=skip_value is NO_SKIP
        )
        return await self._wizard.ask(question, validate, skip_value)

    async def pick_many(
        self,
        name: str,
        prompt: str,
        options: Sequence[Any],
        *,
        validate: Validate | None = None,
        skip_value: Any = NO_SKIP,
    ) -> Any:
        question = Question(
            name, prompt, "many", options_of(options), required=skip_value is NO_SKIP
        )
        return await self._wizard.ask(question, validate, skip_value)

    async def text(
        self,
        name: str,
        prompt: str,
        *,
        validate: Validate | None = None,
        skip_value: Any = NO_SKIP,
        secret: bool = False,
    ) -> Any:
        question = Question(
            name, prompt, kind="name", required=skip_value is NO_SKIP, secret=secret
        )
        return await self._wizard.ask(question, validate, skip_value)

    async def confirm(self, name: str, prompt: str, *, skip_value: Any = NO_SKIP) -> Any:
        question = Question(name, prompt, "boolean", required=skip_value is NO_SKIP)
        return await self._wizard.ask(question, None, skip_value)

    async def path(
        self,
        name: str,
        prompt: str,
        *,
        suffixes: Sequence[str] = (),
        exists: bool = True,
        validate: Validate | None = None,
        skip_value: Any = NO_SKIP,
    ) -> Any:
        question = Question(
            name,
            prompt,
            kind="path" if exists else "new-path",
            suffixes=tuple(suffixes),
            required=skip_value is NO_SKIP,
        )
        return await self._wizard.ask(question, validate, skip_value)


async def _cancel(task: asyncio.Future[Any]) -> None:
    """End the wizard; one that will not end is left where it waits."""
    for _ in range(3):
        if task.done():
            return
        task.cancel()
        await asyncio.wait([task], timeout=0.2)
    if not task.done():
        log.error("A wizard could not be cancelled")


def _display(question: Question, answer: Answer) -> str:
    if question.options is not None:
        names = {_key(each.value): each.text for each in question.options}
        given = answer.value if isinstance(answer.value, list) else [answer.value]
        return ", ".join(names.get(_key(each), str(each)) for each in given)
    if isinstance(answer.value, bool):
        return "Yes" if answer.value else "No"
    if isinstance(answer.value, list):
        return ", ".join(map(str, answer.value))
    return str(answer.value)


def _key(value: Any) -> str:
    return repr(value)
