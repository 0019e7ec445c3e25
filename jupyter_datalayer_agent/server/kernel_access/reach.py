"""What a kernel's token gives access to: the conversations of its own notebook, and some ops there.

Code that the agent runs in the same kernel could send requests, too. So a kernel can decide no
approval, answer no question and no form of an MCP server, loosen no policy, and see no other
notebook's conversations.
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
    "This conversation does not belong to this kernel's notebook. A kernel can use the "
    "conversations that it began and those about its notebook."
)


async def document_of(handler: Any) -> KernelDocument:
    """The document that a kernel runs for: its notebook, if it has one."""
    notebooks = handler.parts.notebooks
    paths: list[str] = []
    for session in await handler.settings[TOKENS_KEY].sessions_of(handler.kernel):
        path = without_drive(str(session["path"]))
        paths.append(path)
        # A script counts as a notebook if it is open as one and the server serves it as one.
        opened = session["type"] == "notebook" and await notebooks.serves_as_notebook(path)
        if opened or notebooks.is_notebook(path):
            return KernelDocument(path=path, is_notebook=True)
    return KernelDocument(path=next(iter(paths), None), is_notebook=False)


async def reached(handler: Any, sessions: list[Session]) -> list[Session]:
    """Those of these conversations that the kernel may use."""
    document = await document_of(handler)
    grant: Grant = handler.kernel
    return [
        each
        for each in sessions
        if each.id in grant.sessions
        or (document.is_notebook and each.settings.notebook == document.path)
    ]


async def check_session(handler: Any, session_id: str) -> None:
    """Raises ``AgentError`` ``not_found``, or ``forbidden`` for a session that it may not use."""
    session = await handler.parts.store.sessions.get(session_id)
    if not await reached(handler, [session]):
        raise AgentError("forbidden", NOT_ITS_OWN)


async def check_op(handler: Any, op: ops.Op) -> ops.Op:
    """The op, without what a kernel may not choose. Raises ``AgentError`` ``forbidden``."""
    grant: Grant = handler.kernel
    if not isinstance(op, OPS):
        raise AgentError("forbidden", f"A kernel may not send {op.type}. Do it in the panel.")
    if isinstance(op, ops.Dequeue) and op.op_id not in grant.ops:
        raise AgentError("forbidden", "A kernel can withdraw only its own messages.")
    if isinstance(op, ops.Undo):
        turn = await handler.parts.store.turn_reader.get(op.turn_id)
        if turn.location != "magic":
            raise AgentError(
                "forbidden", "A kernel can undo only what %agent did. Undo it in the panel."
            )
        return ops.Undo(turn_id=op.turn_id)
    return ops.Interrupt() if isinstance(op, ops.Interrupt) else op
