"""``variables``: those of a notebook's kernel, for references in a message."""

from __future__ import annotations

from ...agent.request import confined
from ...protocol.errors import AgentError
from ...protocol.variables import VariablesReply
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class VariablesHandler(Handler):
    """The kernel's variables, read without disturbing it. It shows values: execute, not read."""

    @route("execute")
    async def get(self) -> VariablesReply:
        path = self.get_query_argument("path", "")
        if not path:
            raise AgentError("invalid_request", "Give the path of a notebook.")
        runtime = self.parts.runtime
        found = await runtime.notebooks.variables(await confined(runtime, path))
        return found.reply()


ROUTES = [
    Route(
        "variables",
        VariablesHandler,
        {
            "get": Operation(
                "Name, type and short form of each variable in a notebook's kernel",
                response=VariablesReply,
                query={"path": "the notebook"},
            )
        },
    )
]
