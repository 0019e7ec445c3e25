"""Decides which calls that a model wrote as text are carried out; see decisions 0045 and 0118.

Text is weaker evidence than a call, since models also write calls to explain, quote and repeat.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...models.types import Item, ModelRequest
from ...protocol.tools import NotDone
from ...tools.arguments import inexact, typed
from ...tools.context import ToolFailure
from ...tools.gate import Gate
from ...tools.registry import ToolRegistry
from .written_calls import (
    WrittenCall,
    calls_within,
    may_be_example,
    says_more_than_calls,
    whole_answer,
)

NAMES_SHOWN = 3
OTHER_TEXT = "the answer has other text as well"
UNREADABLE = "its arguments cannot be read"

_EXAMPLE = "example_"
"""Prefix of the item ids of calls that may be examples. Ids are stored, and never sent."""
_NAME = re.compile(r"\w{1,64}")
_NEAR = 200
"""The maximum number of characters between a call's name and its arguments."""


@dataclass(frozen=True)
class AcceptedCall:
    """A call written as text that counts as a call. With a ``failure``, that is its answer and it
    is not carried out. ``may_be_example``: calls are also shown in this form."""

    name: str
    arguments: dict[str, Any]
    failure: ToolFailure | None = None
    may_be_example: bool = True

    def item(self) -> Item:
        """The call as the Responses API would have delivered it."""
        return {
            "id": f"{_EXAMPLE if self.may_be_example else 'fc_'}{uuid.uuid4().hex[:16]}",
            "type": "function_call",
            "status": "completed",
            "name": self.name,
            "arguments": json.dumps(self.arguments, ensure_ascii=False),
            "call_id": f"call_{uuid.uuid4().hex[:24]}",
        }


def is_maybe_example(item: Item) -> bool:
    """Whether the item is a call written as text that may be an example: see ``AcceptedCall``."""
    return str(item.get("id")).startswith(_EXAMPLE)


@dataclass(frozen=True)
class WrittenCallPolicy:
    """Decides for one answer. ``may_correct``: calls whose arguments do not fit go back to the
    model with the error, instead of being shown as text."""

    registry: ToolRegistry
    gate: Gate
    may_correct: bool = True

    def accepted(self, text: str, request: ModelRequest) -> list[AcceptedCall]:
        """The calls that make up an answer: all are carried out, or all go back to the model.
        Empty if they are text."""
        calls = self._calls(text)
        if self._reason(calls, request) is not None:
            return []
        accepted = [
            AcceptedCall(call.name, call.arguments, self._misfit(call), may_be_example(text))
            for call in calls
            if call.arguments is not None
        ]
        if all(each.failure is None for each in accepted):
            return accepted
        if not self.may_correct:
            return []
        return [
            replace(each, failure=each.failure or _beside_a_misfit(each.name)) for each in accepted
        ]

    def _calls(self, text: str) -> list[WrittenCall]:
        """The calls that make up an answer, with arguments of their tools' types."""
        calls = []
        for call in whole_answer(text):
            tool = self.registry.behind(call.name)
            if tool is not None and call.arguments is not None:
                call = replace(call, arguments=typed(tool, call.arguments, call.texts))
            calls.append(call)
        return calls

    def notice(
        self, text: str, request: ModelRequest, *, has_calls: bool, is_cut: bool
    ) -> NotDone | None:
        """The line for the user about calls in a text that were not carried out. ``has_calls``: the
        answer also made calls; ``is_cut``: it is incomplete."""
        offered = {str(each.get("name")) for each in request.tools}
        found = list(calls_within(text, lambda name: self.registry.find(name) is not None, offered))
        whole = self._calls(text)
        if not found:
            # A tool that does not exist: the model made up its name.
            found = [each for each in whole if _NAME.fullmatch(each.name) and not each.in_python]
        if not found:
            return None
        reason: str | None
        if has_calls:
            reason = "the answer made other calls as well"
        elif is_cut:
            reason = "the answer was cut off"
        else:
            reason = self._reason(whole or found, request)
            if reason is None and not whole:
                is_explained = says_more_than_calls(text, letters=0)
                reason = OTHER_TEXT if is_explained else UNREADABLE
            reason = reason or "its arguments do not fit the tool"
        names = list(dict.fromkeys(call.name for call in found))
        shown = ", ".join(names[:NAMES_SHOWN]) + (", …" if len(names) > NAMES_SHOWN else "")
        return NotDone(
            kind="call_as_text",
            message=f"This looks like a call of {shown}. It was not carried out: {reason}.",
        )

    def _reason(self, calls: Sequence[WrittenCall], request: ModelRequest) -> str | None:
        """Why these calls are text, whatever their arguments; None if they are calls."""
        if not calls:
            return "the call is incomplete"
        for call in calls:
            if (reason := self._wrong(call, request)) is not None:
                return reason
        texts = [_squeezed(text) for text in _texts_of_others(request)]
        if any(_is_repeated(call, texts) for call in calls):
            return "it repeats text of the message, a document or an output"
        return None

    def _wrong(self, call: WrittenCall, request: ModelRequest) -> str | None:
        tool = self.registry.behind(call.name)
        if tool is None:
            return f"no tool is called {call.name}"
        refusal = self.gate.refusal(tool)
        if refusal is not None:
            return refusal.summary.removeprefix("Not done: ")
        if all(each.get("name") != call.name for each in request.tools):
            return f"{call.name} was not offered for this message"
        return UNREADABLE if call.arguments is None else None

    def _misfit(self, call: WrittenCall) -> ToolFailure | None:
        tool = self.registry.behind(call.name)
        if tool is None or call.arguments is None:
            return None
        return inexact(tool, call.arguments)


def _beside_a_misfit(name: str) -> ToolFailure:
    return ToolFailure(
        "invalid_arguments",
        f"{name} was not called, nothing was changed: another call beside it was not valid.",
        "Send all of them again.",
        summary=f"{name}: not called, since another call beside it was not valid",
    )


def _is_repeated(call: WrittenCall, texts: Sequence[str]) -> bool:
    """Whether others wrote the call in what the model was sent (``texts``, squeezed)."""
    name = f'"{call.name}"'
    arguments = _squeezed(json.dumps(call.arguments, ensure_ascii=False))
    source = _squeezed(call.source)
    for text in texts:
        if source and source in text:
            return True
        at = text.find(arguments)
        while at >= 0:
            end = at + len(arguments)
            if name in text[max(0, at - _NEAR) : end + _NEAR + len(name)]:
                return True
            at = text.find(arguments, end)
    return False


def _squeezed(text: str) -> str:
    """The text without what differs between copies of one JSON: spaces and escapes."""
    return re.sub(r"\\n|\\t|[\s\\]", "", text)


def _texts_of_others(request: ModelRequest) -> Iterator[str]:
    for item in request.input:
        if item.get("role") != "assistant" and item.get("type") != "function_call":
            yield from _strings([item.get("content"), item.get("output")])


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, dict) and isinstance(value.get("text"), str):
        yield value["text"]
