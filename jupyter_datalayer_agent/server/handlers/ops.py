"""``POST sessions/{id}/ops``: submit an op."""

from __future__ import annotations

from ...agent.approvals.pending import Audience
from ...protocol.ops import OP_ADAPTER, UserMessage
from ...protocol.requests import OpAccepted
from ..base.handler import Handler, route
from ..base.limits import check_op
from ..base.route_table import Operation, Route
from .kernel_requests import op_as_kernel_may


class OpsHandler(Handler):
    """Replies as soon as the op is queued."""

    @route("execute")
    async def post(self, session_id: str) -> None:
        op = await op_as_kernel_may(
            self, session_id, check_op(OP_ADAPTER.validate_python(self.json_body()))
        )
        page = isinstance(op, UserMessage) and op.request.client_id is not None
        audience: Audience = "page" if page else "stream"
        op_id = await self.parts.sessions.submit(session_id, op, audience, self.asker)
        if self.kernel is not None:
            self.kernel.ops.add(op_id)
        self.reply(OpAccepted(op_id=op_id), 202)


ROUTES = [
    Route(
        "sessions/{session_id}/ops",
        OpsHandler,
        {"post": Operation("Submit an op", response=OpAccepted, status=202)},
    )
]
