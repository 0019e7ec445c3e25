"""What a kernel's token reaches: the conversations of its own notebook, and some ops there.

Code that the agent runs is in the same kernel and may send requests, too. So a kernel decides
nothing, neither an approval nor a question nor a form of an MCP server, loosens no policy, and sees
no other notebook's conversations.
"""

from __future__ import annotations

from typing import Any

from ...notebook.paths import without_drive
from ...protocol import ops
from ...protocol.errors import AgentError
from ...protocol.requests import KernelDocument, Session
from .tokens import TOKENS_KEY, Grant

OPS = (ops.UserMessage, ops.Interrupt, ops.Dequeue, ops.Undo)
NOT_ITS_OWN = (
    "This conversation is not of this kernel's notebook. A kernel reaches those that it began, and "
    "those that are about its notebook."
)


async def document_of(handler: Any) -> KernelDocument:
    """The document that a kernel runs for; a notebook, where one of them is."""
    notebooks = handler.parts.runtime.notebooks
    paths: list[str] = []
    for session in await handler.settings[TOKENS_KEY].sessions_of(handler.kernel):
        path = without_drive(str(session["path"]))
        paths.append(path)
        # A script is one where it was opened as one, and the server serves it so.
        opened = session["type"] == "notebook" and await notebooks.serves_as_notebook(path)
        if opened or notebooks.is_notebook(path):
            return KernelDocument(path=path, is_notebook=True)
    return KernelDocument(path=next(iter(paths), None), is_notebook=False)


async def reached(handler: Any, sessions: list[Session]) -> list[Session]:
    """Those of these conversations that the kernel reaches."""
    document = await document_of(handler)
    grant: Grant = handler.kernel
    return [
        each
        for each in sessions
        if each.id in grant.sessions
        or (document.is_notebook and each.settings.notebook == document.path)
    ]


async def check_session(handler: Any, session_id: str) -> None:
    """Raises ``AgentError``: ``not_found``, or ``forbidden`` for what the kernel does not reach."""
    session = await handler.parts.runtime.store.sessions.get(session_id)
    if not await reached(handler, [session]):
        raise AgentError("forbidden", NOT_ITS_OWN)


async def check_op(handler: Any, op: ops.Op) -> ops.Op:
    """The op, without what a kernel may not choose. Raises ``AgentError`` ``forbidden``."""
    grant: Grant = handler.kernel
    if not isinstance(op, OPS):
        raise AgentError("forbidden", f"A kernel may not send {op.type}. Do it in the panel.")
    if isinstance(op, ops.Dequeue) and op.op_id not in grant.ops:
        raise AgentError("forbidden", "A kernel takes back its own messages only.")
    if isinstance(op, ops.Undo):
        turn = await handler.parts.runtime.store.turn_reader.get(op.turn_id)
        if turn.location != "magic":
            raise AgentError("forbidden", "A kernel undoes what %agent did. Undo it in the panel.")
        return ops.Undo(turn_id=op.turn_id)
    return ops.Interrupt() if isinstance(op, ops.Interrupt) else op
