"""``instructions``: what the server root's ``AGENTS.md`` says, and whether it is sent."""

from __future__ import annotations

from ...protocol.instructions import FolderFileDecision, InstructionsReply
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class InstructionsHandler(Handler):
    """The file of the server root, which may have come with a repository."""

    @route("read")
    async def get(self) -> InstructionsReply:
        return self.parts.instructions.reply()

    @route("execute", decides=True)
    async def put(self) -> InstructionsReply:
        return self.parts.instructions.decide(self.body(FolderFileDecision))


ROUTES = [
    Route(
        "instructions",
        InstructionsHandler,
        {
            "get": Operation("The AGENTS.md of the server root", response=InstructionsReply),
            "put": Operation(
                "Allow the AGENTS.md of the server root as it is, or not",
                FolderFileDecision,
                InstructionsReply,
            ),
        },
    ),
]
