"""What a kernel's requests may contain: a message for its own notebook, by the magic.

Code that the agent runs could send requests, too. So a kernel can neither answer an approval or a
form of an MCP server, nor loosen the policy.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from ...protocol.attachments import Attachment
from ...protocol.errors import AgentError
from ...protocol.ops import Dequeue, Interrupt, Keep, Op, Undo, UserInputAnswer, UserMessage
from ...protocol.requests import ChatRequest, SessionCreate
from ..kernel_access.tokens import TOKENS_KEY

if TYPE_CHECKING:
    from ..base.handler import Handler

OPS = (UserMessage, Interrupt, Dequeue, Undo, Keep, UserInputAnswer)


async def as_kernel_may(handler: Handler, request: ChatRequest) -> ChatRequest:
    """The message, restricted if it is from a kernel."""
    grant = handler.kernel
    if grant is None:
        return request
    path = await handler.settings[TOKENS_KEY].path_of(grant)
    notebooks = handler.parts.runtime.notebooks
    notebook = path if path is not None and notebooks.is_notebook(path) else None
    fields = request.model_dump(
        include={"message", "session_id", "mode", "model", "tool_references", "cell_id"},
        exclude_unset=True,
    )
    return ChatRequest(
        **fields,
        attachments=[await _near(handler, path, each) for each in request.attachments],
        location="magic",
        active_notebook=notebook,
        approval="always" if request.approval == "always" else None,
    )


async def _near(handler: Handler, path: str | None, attachment: Attachment) -> Attachment:
    """An attachment's path, relative to the kernel's folder if there is such a file."""
    notebooks = handler.parts.runtime.notebooks
    if path is None or attachment.path is None:
        return attachment
    near = posixpath.normpath(posixpath.join(posixpath.dirname(path), attachment.path))
    if near.startswith("..") or not await notebooks.exists(near):
        return attachment
    return attachment.model_copy(update={"path": near})


async def op_as_kernel_may(handler: Handler, op: Op) -> Op:
    """The op as a kernel may send it. Raises ``AgentError`` ``forbidden`` for other ops."""
    if handler.kernel is None:
        return op
    if not isinstance(op, OPS) or (isinstance(op, UserInputAnswer) and op.form is not None):
        raise AgentError("forbidden", f"A kernel may not send {op.type}. Do it in the panel.")
    if isinstance(op, UserMessage):
        return UserMessage(request=await as_kernel_may(handler, op.request))
    return op


def session_as_kernel_may(handler: Handler, body: SessionCreate) -> SessionCreate:
    """A new session's title; its settings are for the user in the panel."""
    return body if handler.kernel is None else SessionCreate(title=body.title)
