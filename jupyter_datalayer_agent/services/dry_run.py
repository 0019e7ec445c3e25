"""An action's parameters, found without doing anything: the dry run.

The schema form is filled in one go. A wizard is run with an input that answers for the user: each
question is one of the filler, and what it does not find ends the wizard, unless it may be skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from .action import Action, ActionFailed
from .dry_run_result import FAILED, Asked, DryRun, log_failure
from .matcher import Matcher
from .parameters import Validate
from .questions import Answer, Filler, Question, field_check, options_of, questions_of, refusal
from .time_limits import Clock
from .wizard import Wizard


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
