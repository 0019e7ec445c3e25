"""What the scripted model does: one step for each request that reaches it.

A script is a list of steps. Parts of an answer are ``Say``, ``Call`` and ``Reasoning``; ``Calls``
and ``Answer`` put several into one answer; ``Empty`` is an answer with nothing in it. Around any of
them stand the things that go wrong: ``BreakAfter``, ``NoFinish``, ``StreamError``, ``Gate``,
``Hang``. ``Status``, ``InvalidJson`` and ``DropConnection`` answer no model output at all. In the
test's own process a step may also be a function ``(RecordedRequest) -> step``, so that the scripted
model can read tool outputs before it decides.

Other processes write the same as JSON (``step_from_json``)::

    [
      {"say": "Looking.", "chunk": 4, "delayMs": 10},
      {"call": "getNotebookCells", "arguments": {}, "callId": "call_1"},
      {"call": "runNotebookCells", "arguments": {"cellIds": [{"cell": "horsepowr"}]}},
      {"calls": [{"call": "a"}, {"call": "b", "arguments": "{broken"}], "text": "Both."},
      {"answer": [{"reasoning": "thinking"}, {"say": "Done."}], "finish": "length",
       "usage": {"input": 100, "output": 20, "cached": 64}},
      {"say": {"format": "The mean is {}", "values": [{"regex": "mean=([0-9.]+)"}]}},
      {"empty": true},
      {"gate": {"say": "Hello"}, "after": 1},
      {"breakAfter": 2, "step": {"say": "Hello there"}},
      {"noFinish": {"say": "cut"}, "done": true},
      {"streamError": "overloaded", "code": "server_error", "after": 1, "step": {"say": "Hello"}},
      {"status": 429, "headers": {"Retry-After": "0"}, "body": {"error": {"message": "slow"}}},
      {"hang": 5}, {"invalidJson": true}, {"drop": true}
    ]

As ``default``: ``{"byModel": {"gpt-a": [{"say": "A"}], "gpt-b": [{"say": "B"}]}}``.

Wherever a string of an answer or of its arguments stands, one of these may stand, looked up when
the request arrives:

- ``{"regex": R, "group"?: 1, "which"?: "last" | "first"}``: a match of R in the request's text (all
  instructions, messages and tool outputs, in order, one after the other; the last match unless
  asked otherwise).
- ``{"cell": TEXT}``: the id of the last cell, in the JSON of any tool output, whose source contains
  TEXT. A cell is an object with ``id`` or ``cellId`` and with ``content`` or ``source``.
- ``{"format": F, "values": [...]}``: ``F.format(*values)``, each value a string or one of these.

What is not found makes the server answer 500 and say which look-up failed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.support.model_request import RecordedRequest, ScriptError, look_up

Lookup = Mapping[str, Any]
"""A value that is looked up in the request, as the module's docstring says."""


@dataclass(frozen=True)
class Say:
    """Text, streamed in pieces of ``chunk`` characters with ``delay_ms`` before each."""

    text: str | Lookup
    chunk: int = 8
    delay_ms: float = 0


@dataclass(frozen=True)
class Call:
    """A function call. ``arguments`` as a string is sent as it is, so that it can be broken
    JSON."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    call_id: str | None = None
    chunk: int = 16
    delay_ms: float = 0


@dataclass(frozen=True)
class Reasoning:
    """A reasoning summary: over Responses an item with ``encrypted_content``, over chat
    ``reasoning_content``."""

    text: str | Lookup
    encrypted: str | None = "encrypted-reasoning"
    chunk: int = 8


@dataclass(frozen=True)
class Refuse:
    """A refusal."""

    text: str


@dataclass(frozen=True)
class Deltas:
    """Chat completions alone: these deltas, each in a chunk of its own, as some provider sends
    them."""

    deltas: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class TokenCounts:
    input: int
    output: int
    cached: int = 0
    written: int = 0


Part = Say | Call | Reasoning | Refuse | Deltas


@dataclass(frozen=True)
class Answer:
    """One whole answer. ``finish`` is ``stop``, ``length`` or ``content_filter``; not ``counted``,
    it has no usage."""

    parts: Sequence[Part] = ()
    finish: str = "stop"
    usage: TokenCounts | None = None
    counted: bool = True


def Calls(calls: Sequence[Call], text: str = "") -> Answer:
    """Parallel calls, with text before them if there is any."""
    return Answer([*([Say(text)] if text else []), *calls])


@dataclass(frozen=True)
class Empty:
    """A complete answer with no output at all."""


@dataclass(frozen=True)
class BreakAfter:
    """Cut the connection after ``chunks`` pieces of content (0: right after the headers)."""

    chunks: int
    step: AnswerStep


@dataclass(frozen=True)
class NoFinish:
    """End the stream tidily but without ``finish_reason`` or ``response.completed``; ``done`` sends
    chat's ``[DONE]``."""

    step: AnswerStep
    done: bool = True


@dataclass(frozen=True)
class StreamError:
    """An error event in the stream after ``after`` pieces of content."""

    message: str
    step: AnswerStep
    code: str = "server_error"
    after: int = 0


@dataclass(frozen=True)
class Gate:
    """Pause after ``after`` pieces of content until ``server.release()``."""

    step: AnswerStep
    after: int = 1


@dataclass(frozen=True)
class Hang:
    """Send nothing at all for ``seconds``, then answer ``step``, or close the connection if there
    is none."""

    seconds: float
    step: AnswerStep | None = None


@dataclass(frozen=True)
class Status:
    """An HTTP error. Without a ``body``, the body is the provider's usual error object."""

    code: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True)
class Raw:
    """These bytes as the body, each piece in a write of its own with ``delay_ms`` before it: what
    no other step can say, such as a web page, or a chunk that is cut within a character. With
    ``gate`` it pauses after so many pieces until ``server.release()``, with ``cut`` the connection
    is cut after the last of them."""

    pieces: Sequence[bytes]
    content_type: str = "text/event-stream"
    delay_ms: float = 0
    gate: int | None = None
    cut: bool = False


@dataclass(frozen=True)
class InvalidJson:
    """200, with a body (or first event) that is not JSON."""


@dataclass(frozen=True)
class DropConnection:
    """Close the connection without a byte."""


class ByModel:
    """As a step that is repeated: each model has its own steps, in order, whichever is asked
    first."""

    def __init__(self, steps: Mapping[str, Sequence[Step]]) -> None:
        self._left = {name: list(each) for name, each in steps.items()}

    def __call__(self, request: RecordedRequest) -> Step:
        """The next step of the request's model. Raises ``ScriptError``."""
        left = self._left.get(request.model)
        if not left:
            raise ScriptError(f"nothing is left for the model {request.model}")
        return left.pop(0)


AnswerStep = Part | Answer | Empty | BreakAfter | NoFinish | StreamError | Gate
Step = (
    AnswerStep
    | Hang
    | Status
    | InvalidJson
    | DropConnection
    | Raw
    | Callable[[RecordedRequest], Any]
)


@dataclass(frozen=True)
class Plan:
    """An answer and what happens to it on its way, after the wrappers are taken off."""

    answer: Answer
    break_after: int | None = None
    finish: bool = True
    done: bool = True
    error: StreamError | None = None
    gates: tuple[int, ...] = ()


def plan(step: AnswerStep, request: RecordedRequest) -> Plan:
    """Take the wrappers off ``step`` and look up what it refers to in ``request``."""
    changes: dict[str, Any] = {}
    gates: list[int] = []
    while True:
        if isinstance(step, BreakAfter):
            changes["break_after"] = step.chunks
        elif isinstance(step, NoFinish):
            changes.update(finish=False, done=step.done)
        elif isinstance(step, StreamError):
            changes["error"] = step
        elif isinstance(step, Gate):
            gates.append(step.after)
        else:
            break
        step = step.step
    return Plan(_resolve_answer(step, request), gates=tuple(gates), **changes)


def _resolve_answer(step: AnswerStep, request: RecordedRequest) -> Answer:
    if isinstance(step, Empty):
        return Answer()
    if isinstance(step, Part):
        step = Answer([step])
    if not isinstance(step, Answer):
        raise ScriptError(f"{step!r} cannot stand inside another step")
    return replace(step, parts=[_resolve_part(part, request) for part in step.parts])


def _resolve_part(part: Part, request: RecordedRequest) -> Part:
    if isinstance(part, Call):
        arguments = part.arguments
        if not isinstance(arguments, str):
            arguments = json.dumps(look_up(arguments, request))
        return Call(part.name, arguments, part.call_id, part.chunk, part.delay_ms)
    if isinstance(part, Refuse | Deltas):
        return part
    text = str(look_up(part.text, request))
    if isinstance(part, Say):
        return Say(text, part.chunk, part.delay_ms)
    return Reasoning(text, part.encrypted, part.chunk)


def step_from_json(data: Mapping[str, Any]) -> Step:
    """The step that ``data`` describes, in the form of the module's docstring.

    Raises ``ScriptError`` where it describes none."""
    if "byModel" in data:
        steps = data["byModel"].items()
        return ByModel({name: [_inner(step) for step in each] for name, each in steps})
    if "gate" in data:
        return Gate(_inner(data["gate"]), data.get("after", 1))
    if "breakAfter" in data:
        return BreakAfter(data["breakAfter"], _inner(data["step"]))
    if "noFinish" in data:
        return NoFinish(_inner(data["noFinish"]), data.get("done", True))
    if "streamError" in data:
        return StreamError(
            data["streamError"],
            _inner(data.get("step", {"empty": True})),
            data.get("code", "server_error"),
            data.get("after", 0),
        )
    if "hang" in data:
        return Hang(data["hang"], _inner(data["step"]) if "step" in data else None)
    if "status" in data:
        return Status(data["status"], data.get("headers", {}), data.get("body"))
    if data.get("invalidJson"):
        return InvalidJson()
    if data.get("drop"):
        return DropConnection()
    return _answer_from_json(data)


def _inner(data: Mapping[str, Any]) -> Any:
    return step_from_json(data)


def _answer_from_json(data: Mapping[str, Any]) -> AnswerStep:
    if data.get("empty"):
        return Empty()
    if "answer" in data:
        usage = TokenCounts(**data["usage"]) if "usage" in data else None
        return Answer(
            [_part_from_json(part) for part in data["answer"]], data.get("finish", "stop"), usage
        )
    if "calls" in data:
        calls = [_part_from_json(part) for part in data["calls"]]
        return Answer([*([Say(data["text"])] if data.get("text") else []), *calls])
    return _part_from_json(data)


def _part_from_json(data: Mapping[str, Any]) -> Part:
    delay = data.get("delayMs", 0)
    if "say" in data:
        return Say(data["say"], data.get("chunk", 8), delay)
    if "call" in data:
        return Call(
            data["call"],
            data.get("arguments", {}),
            data.get("callId"),
            data.get("chunk", 16),
            delay,
        )
    if "reasoning" in data:
        encrypted = data.get("encrypted", "encrypted-reasoning")
        return Reasoning(data["reasoning"], encrypted, data.get("chunk", 8))
    raise ScriptError(f"not a step: {json.dumps(data)[:200]}")
