"""How a turn ends early."""

from __future__ import annotations

import re
from typing import Literal

from ...models.types import SIZE_LIMIT, ModelError
from ...protocol.errors import AgentError, ErrorCode
from ..model_calls.call import ANOTHER_WAY, REPETITION, ModelAnswer

AGAIN = "Send the message again, or choose another model."

# Small models write an empty code block instead of a call.
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})\w*[ \t]*$", re.MULTILINE)

AbortReason = Literal["interrupted", "replaced", "token_limit", "tool_limit", "shutdown", "error"]


class TurnEnds(Exception):
    """The turn cannot continue: why, and the message to the user."""

    def __init__(self, reason: AbortReason, message: str, code: ErrorCode | None = None) -> None:
        super().__init__(message)
        self.reason: AbortReason = reason
        self.message = message
        self.code: ErrorCode | None = code

    @property
    def status(self) -> Literal["failed", "aborted"]:
        """The turn's status."""
        return "failed" if self.reason in ("error", "token_limit") else "aborted"


def why_empty(answer: ModelAnswer) -> str:
    """For the user: why an answer has no text, and what helps."""
    reason = answer.finish_reason
    if reason == "content_filter":
        return f"The provider's content filter ended the answer. {ANOTHER_WAY}"
    if reason == "max_output_tokens":
        return (
            f"The model was cut off {answer.cut_at}, before it answered: reasoning counts, too. "
            "Raise max_output_tokens (Settings → Agent), or choose a lower reasoning effort."
        )
    if reason == SIZE_LIMIT:
        return f"The model was cut off {answer.cut_at}, before it answered. {AGAIN}"
    if reason == REPETITION:
        return f"The model repeated itself in its reasoning, so it was stopped. {AGAIN}"
    if answer.has_reasoned:
        return f"The model reasoned, but did not answer. {AGAIN}"
    return f"The model returned an empty answer. {AGAIN}"


def is_empty(answer: str) -> bool:
    """Whether an answer (Markdown) shows nothing: white space, or empty code blocks."""
    return not _FENCE.sub("", answer).strip()


def error_code(error: ModelError) -> ErrorCode:
    """The wire's code for a model's failure."""
    return "no_model" if error.code in ("no_model", "litellm_unusable") else "model_error"


def end_of(error: TurnEnds | ModelError | AgentError) -> TurnEnds:
    """How an error ends a turn."""
    if isinstance(error, TurnEnds):
        return error
    if isinstance(error, ModelError):
        return TurnEnds("error", error.message, error_code(error))
    return TurnEnds(
        "token_limit" if error.code == "token_limit" else "error", error.message, error.code
    )
