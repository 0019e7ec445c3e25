"""Events of tool calls, and of what they ask the user."""

from __future__ import annotations

from typing import Any, Literal

from ..base import Wire
from ..forms import FormAction, InputForm
from ..sharing import ShareKind, ShareRequest
from ..tools import Change, CodePart, MissingRequirement, ToolCallStatus, ToolLabel
from .base import BaseEvent


class ToolCallStarted(BaseEvent):
    """The model began to write a call. As the tool declares: what it is called, whether it only
    reads, and whether its purpose is to run code. None of a tool that is not known. Here and below
    ``answer_id`` is the answer of a comparison whose model makes the call."""

    type: Literal["tool_call_started"] = "tool_call_started"
    call_id: str
    name: str
    label: ToolLabel | None = None
    reads: bool | None = None
    runs: bool | None = None
    answer_id: str | None = None


class ToolCallArguments(BaseEvent):
    """The call's arguments, complete; a string where they were not valid JSON."""

    type: Literal["tool_call_arguments"] = "tool_call_arguments"
    call_id: str
    arguments: Any
    answer_id: str | None = None


class ToolCallOutput(BaseEvent):
    """What the call returned: ``output`` cut as the model was sent it, but with what was
    ``withheld`` from it; ``summary`` for a user. ``needs``: the gate refused it for this.
    ``mime_bundle``: data by MIME type to be shown to the user, which the model was not sent."""

    type: Literal["tool_call_output"] = "tool_call_output"
    call_id: str
    name: str
    status: ToolCallStatus
    output: Any = None
    truncated: bool = False
    duration_ms: float = 0
    summary: str | None = None
    withheld: list[ShareKind] | None = None
    needs: MissingRequirement | None = None
    mime_bundle: dict[str, Any] | None = None
    answer_id: str | None = None


class ApprovalAct(Wire):
    """What running code waits to do: its ``kind`` ("removes or moves files") and its real
    ``target`` as the card names it, a file, a command or a machine. ``cell_id``: the code's."""

    kind: str
    target: str
    cell_id: str | None = None


class ApprovalRequested(BaseEvent):
    """An action waits for approval. ``changes`` is what it would change, where that is known.

    With ``share`` the act is to send something to the model: the call is done, or (without a
    ``call_id``) a turn is about to begin. ``kinds`` are what code does beyond the kernel ("runs a
    shell command"): approved for the session, only calls of the same tool with these are covered.
    ``label`` is that of the tool, where the call may be by way of another one. ``act``: the call's
    code runs, and waits before it does this. ``code`` is what would run, where neither the changes
    nor the arguments show it. ``basis`` is a hash of what an approval is of: after a restart of
    the server, only a request with the same one is answered by it. ``again``: the user approved the
    call, and what it would do has changed since, as ``reason`` says.
    """

    type: Literal["approval_requested"] = "approval_requested"
    approval_id: str
    call_id: str
    name: str
    arguments: Any
    reason: str
    destructive: bool
    changes: list[Change] | None = None
    share: ShareRequest | None = None
    kinds: list[str] | None = None
    label: ToolLabel | None = None
    act: ApprovalAct | None = None
    code: list[CodePart] | None = None
    basis: str | None = None
    again: bool | None = None


class ApprovalResolved(BaseEvent):
    """The wait is over; ``expired`` when nobody answered, or not in time."""

    type: Literal["approval_resolved"] = "approval_resolved"
    approval_id: str
    decision: Literal["approve", "approve_for_session", "deny", "expired", "aborted"]


class UserInputRequested(BaseEvent):
    """A question for the user. With ``form`` an MCP server asks it, by the way of the call that
    runs, and ``question`` is that server's text: plain, untrusted."""

    type: Literal["user_input_requested"] = "user_input_requested"
    request_id: str
    question: str
    options: list[str] | None = None
    form: InputForm | None = None


class UserInputResolved(BaseEvent):
    """A form is no longer open. What the user entered goes to the MCP server alone, and is not
    part of any event."""

    type: Literal["user_input_resolved"] = "user_input_resolved"
    request_id: str
    action: FormAction
