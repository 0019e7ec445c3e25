"""What a kernel's requests may contain: messages of the magic, for the kernel's own notebook."""

from __future__ import annotations

import posixpath

from ...protocol.base import ApprovalPolicy
from ...protocol.context import Attachment
from ...protocol.errors import AgentError
from ...protocol.ops import Op, UserMessage
from ...protocol.requests import ChatRequest, KernelDocument, SessionCreate
from ...settings.turn_settings import LOOSENING
from ..base.handler import Handler, Operation, Route, route
from ..kernel_access.reach import check_op, document_of


async def as_kernel_may(handler: Handler, request: ChatRequest) -> ChatRequest:
    """A kernel's message with only the fields that a kernel may set."""
    document = await document_of(handler)
    path = document.path
    fields = request.model_dump(
        include={"message", "session_id", "mode", "model", "tool_references", "cell_id"},
        exclude_unset=True,
    )
    return ChatRequest(
        **fields,
        attachments=[await _near(handler, path, each) for each in request.attachments],
        location="magic",
        active_notebook=path if document.is_notebook else None,
        approval=await _policy(handler, request),
    )


async def _policy(handler: Handler, request: ChatRequest) -> ApprovalPolicy:
    """The strictest policy of settings, conversation and message. A user who trusts the model in a
    conversation has not thereby trusted code that sends messages to it."""
    runtime = handler.parts
    policies: list[ApprovalPolicy] = [runtime.settings().approval_policy]
    if request.session_id is not None:
        session = await runtime.store.sessions.get(request.session_id)
        policies += [session.settings.approval] if session.settings.approval else []
    policies += [request.approval] if request.approval else []
    if "approval_policy" in runtime.settings().locked:
        return policies[0]
    return min(policies, key=LOOSENING["approval_policy"].index)


class KernelHandler(Handler):
    """The kernel's document, for the magic, which asks whether the agent needs its kernel."""

    @route("read")
    async def get(self) -> KernelDocument:
        if self.kernel is None:
            raise AgentError("not_found", "The request does not come from a kernel.")
        return await document_of(self)


async def _near(handler: Handler, path: str | None, attachment: Attachment) -> Attachment:
    """The attachment, its path relative to the kernel's folder if there is such a file."""
    notebooks = handler.parts.notebooks
    if path is None or attachment.path is None:
        return attachment
    near = posixpath.normpath(posixpath.join(posixpath.dirname(path), attachment.path))
    if near.startswith("..") or not await notebooks.exists(near):
        return attachment
    return attachment.model_copy(update={"path": near})


async def op_as_kernel_may(handler: Handler, session_id: str, op: Op) -> Op:
    """The op as a kernel may send it. Raises ``AgentError`` ``forbidden`` for other ops."""
    if handler.kernel is None:
        return op
    op = await check_op(handler, op)
    if isinstance(op, UserMessage):
        request = op.request.model_copy(update={"session_id": session_id})
        return UserMessage(request=await as_kernel_may(handler, request))
    return op


def session_as_kernel_may(handler: Handler, body: SessionCreate) -> SessionCreate:
    """The new session with its title only: the user chooses its settings in the panel."""
    return body if handler.kernel is None else SessionCreate(title=body.title)


ROUTES = [
    Route(
        "kernel",
        KernelHandler,
        {
            "get": Operation(
                "The document of the kernel that sends the request", response=KernelDocument
            )
        },
    )
]
