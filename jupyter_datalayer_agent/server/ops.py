"""``POST sessions/{id}/ops``: submit an op."""

from __future__ import annotations

import json

from ..protocol.errors import AgentError
from ..protocol.ops import OP_ADAPTER, Op, UserMessage
from ..protocol.requests import OpAccepted
from .base import Handler, route
from .kernel_requests import op_as_kernel_may
from .limits import check_message
from .route_table import Operation, Route


def check_op(op: Op) -> Op:
    """An op that may be put on a queue. Raises ``AgentError``."""
    if isinstance(op, UserMessage):
        check_message(op.request)
    return op


class OpsHandler(Handler):
    """Answers as soon as the op stands on the queue."""

    @route("execute")
    async def post(self, session_id: str) -> None:
        try:
            data = json.loads(self.request.body.decode("utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise AgentError("invalid_request", f"The body is not valid JSON: {error}.") from error
        op = await op_as_kernel_may(self, check_op(OP_ADAPTER.validate_python(data)))
        page = isinstance(op, UserMessage) and op.request.client_id is not None
        op_id = await self.parts.sessions.submit(session_id, op, "page" if page else "stream")
        self.reply(OpAccepted(op_id=op_id), 202)


ROUTES = [
    Route(
        "sessions/{session_id}/ops",
        OpsHandler,
        {"post": Operation("Submit an op", response=OpAccepted, status=202)},
    )
]
