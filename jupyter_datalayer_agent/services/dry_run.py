"""An action's parameters, found without doing anything: the dry run.

The schema form is filled in one go. A wizard is run with an input that answers for the user: each
question is one of the filler, and what it does not find ends the wizard, unless it may be skipped.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..protocol.base import new_id
from ..protocol.services import ActionParameter, ActionProposal
from .action import Action, ActionFailed, ActionInput
from .matcher import Matcher
from .questions import (
    NO_SKIP,
    Answer,
    Filler,
    Question,
    Validate,
    field_check,
    options_of,
    questions_of,
    refusal,
)

# What a dry run found: each question with its answer, and the proposal that these make.


log = logging.getLogger(__name__)

FAILED = "The action failed before it could show its form. See the server log."
UNDONE = "This can't be undone."


@dataclass
class Asked:
    """A question with what was found for it. ``problem``: why a value that was given is none."""

    question: Question
    answer: Answer | None = None
    skipped: bool = False
    skip_value: Any = None
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
    """What a dry run found. ``parameters`` are what the action would be run with, None where they
    are not all there; ``problem`` says why it ended early."""

    asked: list[Asked] = field(default_factory=list)
    finished: bool = False
    parameters: BaseModel | None = None
    problem: str | None = None

    @property
    def values(self) -> dict[str, Any]:
        """The values found, secrets too."""
        return {
            each.question.name: each.answer.value for each in self.asked if each.answer is not None
        }

    @property
    def answered(self) -> bool:
        """Whether every question has an answer or needs none, and nothing said was refused."""
        return all(
            each.problem is None
            and (each.answer is not None or each.skipped or not each.question.required)
            for each in self.asked
        )

    @property
    def complete(self) -> bool:
        """Whether the action can be run with what was found."""
        return self.finished and self.parameters is not None and self.answered

    @property
    def secrets(self) -> set[str]:
        """The names of the questions that ask for a secret."""
        return {each.question.name for each in self.asked if each.question.secret}

    def hide(self, secrets: Sequence[str]) -> None:
        """Take secrets out of what the action said of its questions."""
        self.problem = without(secrets, self.problem)
        for each in self.asked:
            each.problem = without(secrets, each.problem)

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
            destroys=self._destroys(action) if action.destructive else None,
            wizard=action.has_wizard(),
        )

    def _destroys(self, action: Action) -> str:
        known = {name: value for name, value in self.values.items() if name not in self.secrets}
        try:
            return action.destroys(known) or UNDONE
        except (Exception, SystemExit):  # a package's code may raise anything
            log.exception("The action %s cannot say what it destroys", action.id)
            return UNDONE


def failed_proposal(
    service: str,
    action: type[Action],
    known: Mapping[str, Any],
    error: BaseException,
    proposal_id: str | None = None,
) -> ActionProposal:
    """The proposal of an action whose code failed where it only had to say what it needs. The log
    has the error, without the values that are ``known``: there may be secrets among them."""
    log_failure(action.id, [str(each) for each in known.values() if each], error)
    return ActionProposal(
        proposal_id=proposal_id or new_id("proposal"),
        service=service,
        action=action.id,
        title=action.title,
        description=FAILED,
        parameters=[],
        complete=False,
        destructive=action.destructive,
        destroys=UNDONE if action.destructive else None,
        wizard=action.has_wizard(),
    )


def log_failure(action_id: str, secrets: Sequence[str], error: BaseException) -> None:
    """Write what an action's own code raised into the log."""
    details = "".join(traceback.format_exception(error))
    log.error(
        "The parameters of the action %s cannot be found:\n%s", action_id, without(secrets, details)
    )


def without(secrets: Sequence[str], text: Any) -> Any:
    """The text with an ellipsis for each secret in it."""
    for secret in secrets:
        text = text.replace(secret, "…") if text is not None else None
    return text


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


# Limits on the time that an action's own code takes while its parameters are being found.


MOST_SECONDS = 10.0
"""For which an action may work, without the time in which it waits for answers."""
CANCEL_SECONDS = 0.2
"""For which it may clean up; it is cancelled three times."""
TOO_LONG = "The action takes too long to say what it needs."

Kind = TypeVar("Kind")


class Clock:
    """The time that an action's own answers to the form may take, in all."""

    def __init__(self) -> None:
        self._left = MOST_SECONDS

    async def limit(self, work: Coroutine[Any, Any, Kind]) -> Kind:
        """What the work returns. Raises ``ActionFailed`` where it takes too long, also where it
        goes on after it was cancelled and returns something then."""
        loop = asyncio.get_running_loop()
        since = loop.time()
        task = asyncio.ensure_future(_contained(work))
        try:
            in_time, _ = await asyncio.wait([task], timeout=max(0.0, self._left))
            self._left -= loop.time() - since
        finally:
            await cancel(task)
        if in_time and not task.cancelled():
            return task.result()
        raise ActionFailed(TOO_LONG)


async def _contained(work: Coroutine[Any, Any, Kind]) -> Kind:
    """A package's ``sys.exit`` would end the server, were it to leave a task."""
    try:
        return await work
    except SystemExit as error:
        raise RuntimeError(f"The action called sys.exit({error.code!r})") from error


async def cancel(task: asyncio.Future[Any]) -> None:
    """End a task; one that will not end is left where it waits."""
    for _ in range(3):
        if task.done():
            return
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_SECONDS)
    if not task.done():
        log.error("An action could not be cancelled while its parameters were being found")


# A wizard in a dry run: its questions are answered for the user, as far as that is possible.


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
        self._left = MOST_SECONDS
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


async def dry_run(action: Action, message: str, known: Mapping[str, Any], filler: Filler) -> DryRun:
    """Find the parameters of an action. ``known`` are values that the user gave before; ``message``
    is read for the others, and for what it says of these. Nothing is executed."""
    run: Wizard | _Form = (
        Wizard(action, message, known, filler)
        if action.has_wizard()
        else _Form(action, message, known, filler)
    )
    result, error, returned = await run.run()
    if error is None and result.finished and result.answered:
        try:
            await _finish(action, result, returned)
        except Exception as raised:  # noqa: BLE001 - a package's code may raise anything
            error = raised
    secrets = [str(known[name]) for name in result.secrets if known.get(name)]
    if error is not None:
        result.finished = False
        result.problem = str(error) if isinstance(error, ActionFailed) else FAILED
        if not isinstance(error, ActionFailed):
            log_failure(action.id, secrets, error)
    result.hide(secrets)
    return result


async def _finish(action: Action, result: DryRun, returned: Any) -> None:
    """Make the parameters of complete values, and let the action check them together."""
    parameters = None
    try:
        if isinstance(returned, action.Parameters):
            parameters = returned
        else:
            skipped = {e.question.name: e.skip_value for e in result.asked if e.skipped}
            fields = action.Parameters.model_fields
            values = {n: v for n, v in (skipped | result.values).items() if n in fields}
            parameters = action.Parameters.model_validate(values)
        problems = dict(await Clock().limit(action.check_parameters(parameters)))
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        problems = {where: f"{where}: {first['msg']}." if where else f"{first['msg']}."}
    if not problems:
        result.parameters = parameters
        return
    for each in result.asked:
        problem = problems.pop(each.question.name, None)
        if problem is not None:
            each.answer, each.problem = None, problem
            each.question = replace(each.question, required=True)
    if problems:
        result.finished = False
        result.problem = " ".join(problems.values())


class _Form:
    """Fills a schema form: one request of the filler, whatever the choices depend on."""

    def __init__(
        self, action: Action, message: str, known: Mapping[str, Any], filler: Filler
    ) -> None:
        self._action = action
        self._message = message
        self._known = {name: value for name, value in known.items() if value is not None}
        self._filler = filler
        self._matcher = Matcher(action.context)
        self._clock = Clock()
        self._options: dict[str, Sequence[Any] | None] = {}
        self._error: Exception | None = None

    async def run(self) -> tuple[DryRun, Exception | None, None]:
        """What was found, and what the action raised."""
        questions = questions_of(self._action.Parameters)
        result = DryRun([Asked(each) for each in questions])
        try:
            questions, found = await self._find(questions)
            result.asked = [await self._judge(each, found.get(each.name)) for each in questions]
            result.finished = True
        except Exception as error:  # noqa: BLE001 - a package's code may raise anything
            return result, error, None
        return result, self._error, None

    async def _find(self, questions: list[Question]) -> tuple[list[Question], dict[str, Answer]]:
        """The questions with the choices that they have by what was found, and what was found."""
        values = dict(self._known)
        if not self._message.strip():
            shown = await self._with_options(questions, values)
            return shown, await self._matcher.without_message(shown, values)
        secrets = {each.name for each in questions if each.secret}
        # What matching finds narrows the choices that the filler is shown.
        hints: dict[str, Answer] = {}
        shown = questions
        for _ in questions:
            before, shown = shown, await self._with_options(questions, values | _values_of(hints))
            if shown == before:
                break
            new = await self._matched(shown, {**values, **_values_of(hints)}, secrets)
            if new == hints:
                break
            hints = new
        public = {name: value for name, value in values.items() if name not in secrets}
        found = await self._filler.fill(
            [each for each in shown if not each.secret], self._message, public
        )
        found = {name: found[name] for name in found if name not in secrets}
        # What a value can be may depend on another that was only just found.
        for _ in questions:
            again = await self._with_options(questions, values | _values_of(found))
            changed = [
                new
                for old, new in zip(shown, again, strict=True)
                if new.options != old.options and new.name not in found
            ]
            shown = again
            more = await self._matched(changed, values | _values_of(found), secrets)
            if not more:
                break
            found |= more
        return shown, found

    async def _matched(
        self, questions: Sequence[Question], values: Mapping[str, Any], secrets: set[str]
    ) -> dict[str, Answer]:
        open_questions = [each for each in questions if each.name not in secrets]
        return await self._matcher.fill(open_questions, self._message, values)

    async def _with_options(
        self, questions: Sequence[Question], known: Mapping[str, Any]
    ) -> list[Question]:
        return [await self._with_own_options(each, known) for each in questions]

    async def _with_own_options(self, question: Question, known: Mapping[str, Any]) -> Question:
        asked = f"{question.name} {sorted(known.items(), key=lambda item: item[0])!r}"
        if asked not in self._options:
            self._options[asked] = await self._choices(question.name, known)
        options = self._options[asked]
        if options is None:
            return question
        return replace(
            question,
            options=options_of(options),
            type="many" if question.type == "many" else "one",
        )

    async def _choices(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """Without them the form still shows what was found, and what is the matter."""
        try:
            return await self._clock.limit(self._action.options(name, known))
        except Exception as error:  # noqa: BLE001 - a package's code may raise anything
            self._error = self._error or error
            return None

    async def _judge(self, question: Question, found: Answer | None) -> Asked:
        given = self._known.get(question.name)
        answer = found or (Answer(given) if given is not None else None)
        if answer is None and (name := await self._matcher.missing_file(question, self._message)):
            return Asked(question, problem=f"There is no file {name}.")
        return await _judge(question, answer, field_check(self._action.Parameters, question.name))


def _values_of(answers: Mapping[str, Answer]) -> dict[str, Any]:
    return {name: answer.value for name, answer in answers.items()}


async def _judge(question: Question, answer: Answer | None, check: Validate) -> Asked:
    if answer is None:
        return Asked(question)
    problem = await refusal(question, answer.value, check)
    return Asked(question, answer if problem is None else None, problem=problem)
