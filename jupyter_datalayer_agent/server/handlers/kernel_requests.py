"""What a kernel's requests may contain: a message for its own notebook, by the magic.

Code that the agent runs could send requests, too. So a kernel can neither answer an approval or a
form of an MCP server, nor loosen the policy.
"""

from __future__ import annotations

import posixpath

from ...notebook.paths import without_drive
from ...protocol.attachments import Attachment
from ...protocol.errors import AgentError
from ...protocol.ops import Dequeue, Interrupt, Keep, Op, Undo, UserInputAnswer, UserMessage
from ...protocol.requests import ChatRequest, KernelDocument, SessionCreate
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route
from ..kernel_access.tokens import TOKENS_KEY, Grant

OPS = (UserMessage, Interrupt, Dequeue, Undo, Keep, UserInputAnswer)


async def as_kernel_may(handler: Handler, request: ChatRequest) -> ChatRequest:
    """The message, restricted if it is from a kernel."""
    grant = handler.kernel
    if grant is None:
        return request
    document = await document_of(handler, grant)
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
        approval="always" if request.approval == "always" else None,
    )


async def document_of(handler: Handler, grant: Grant) -> KernelDocument:
    """The document that a kernel runs for; a notebook, where one of them is."""
    notebooks = handler.parts.runtime.notebooks
    paths: list[str] = []
    for session in await handler.settings[TOKENS_KEY].sessions_of(grant):
        path = without_drive(str(session["path"]))
        paths.append(path)
        # A script is one where it was opened as one, and the server serves it so.
        opened = session["type"] == "notebook" and await notebooks.serves_as_notebook(path)
        if opened or notebooks.is_notebook(path):
            return KernelDocument(path=path, is_notebook=True)
    return KernelDocument(path=next(iter(paths), None), is_notebook=False)


class KernelHandler(Handler):
    """For the magic, which may have to know whether the agent needs its kernel."""

    @route("read")
    async def get(self) -> KernelDocument:
        if self.kernel is None:
            raise AgentError("not_found", "The request does not come from a kernel.")
        return await document_of(self, self.kernel)


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


ROUTES = [
    Route(
        "kernel",
        KernelHandler,
        {
            "get": Operation(
                "The document of the kernel whose token the request has", response=KernelDocument
            )
        },
    )
]
