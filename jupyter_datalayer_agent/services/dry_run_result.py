"""What a dry run found: each question with its answer, and the proposal that these make."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from ..protocol.base import new_id
from ..protocol.services import ActionParameter, ActionProposal
from .action import Action
from .questions import Answer, Question

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
