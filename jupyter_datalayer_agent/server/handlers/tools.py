"""``tools``, ``variables`` and ``acts``: tools, direct calls, and what code would do."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import cast, get_args

from ...agent.request import confined
from ...notebook.agent_mark import run_by_user
from ...notebook.files.kinds import is_lexical
from ...protocol.base import Location, Mode
from ...protocol.context import VariablesReply
from ...protocol.errors import AgentError
from ...protocol.tools import (
    ActsReply,
    ActsRequest,
    ToolCallRequest,
    ToolListing,
    ToolResult,
    ToolsReply,
)
from ...tools.code_to_run import reason_of_changes
from ...tools.dispatcher import Dispatcher
from ...tools.gate import Gate
from ...tools.registry import Tool
from ..base.handler import Handler, Operation, Route, route

# ``variables``: a kernel's variables, to refer to in a message.


class VariablesHandler(Handler):
    """The kernel's variables, read without disturbing it. Needs execute, since it shows values."""

    @route("execute")
    async def get(self) -> VariablesReply:
        path = self.get_query_argument("path", "")
        if not path:
            raise AgentError("invalid_request", "path must name a notebook.")
        runtime = self.parts
        variables = await runtime.notebooks.variables(await confined(runtime, path))
        return variables.reply()


VARIABLES_ROUTES = [
    Route(
        "variables",
        VariablesHandler,
        {
            "get": Operation(
                "Name, type and short value of each variable in a notebook's kernel",
                response=VariablesReply,
                query={"path": "the notebook"},
            )
        },
    )
]


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """A query value that must be one of a list. Raises ``AgentError`` ``invalid_request``."""
    if value not in allowed:
        raise AgentError("invalid_request", f"{name} must be one of {', '.join(allowed)}.")
    return value


class ToolsHandler(Handler):
    """Lists all tools, with the reason for those that are not enabled."""

    @route("read")
    async def get(self) -> ToolsReply:
        mode = one_of("mode", self.get_query_argument("mode", "agent"), get_args(Mode))
        place = one_of("location", self.get_query_argument("location", "api"), get_args(Location))
        path = self.get_query_argument("path", None)
        active = await confined(self.parts, path) if path else None
        attached = await self._attached(active)
        lexical = frozenset(filter(is_lexical, attached))
        gate = Gate(
            mode=cast(Mode, mode),
            location=cast(Location, place),
            active=None if active and is_lexical(active) else active,
            attached=attached - lexical,
            lexical_active=active if active and is_lexical(active) else None,
            lexical_attached=lexical,
        )
        registry = self.parts.tools()
        return ToolsReply(
            mode=gate.mode,
            location=gate.location,
            notebook_mode=gate.notebook_mode,
            tools=[self._listing(tool, gate) for tool in registry if not tool.searches],
        )

    async def _attached(self, active: str | None) -> frozenset[str]:
        """The attached paths: ``attached`` lists them, or is true if ``path`` is attached."""
        values = self.get_query_arguments("attached")
        if values in ([], ["false"], ["0"], [""]):
            return frozenset()
        if values in (["true"], ["1"]):
            return frozenset([active] if active else [])
        return frozenset([await confined(self.parts, each) for each in values])

    def _listing(self, tool: Tool, gate: Gate) -> ToolListing:
        refusal = gate.refusal(tool)
        return ToolListing(
            name=tool.name,
            label=tool.label,
            description=tool.description,
            parameters=tool.schema()["parameters"],
            group=tool.group,
            changes=tool.changes,
            destructive=tool.may_lose,
            parallel=tool.parallel,
            aliases=self.parts.registry.aliases_of(tool.name),
            enabled=refusal is None,
            reason=None if refusal is None else f"{refusal.message} {refusal.hint}".strip(),
        )


class ToolHandler(Handler):
    """Calls a tool. It is the caller's own action, so it needs no approval, and an explicit path
    counts as attached and active."""

    @route("execute")
    async def post(self, name: str) -> ToolResult:
        request = self.body(ToolCallRequest)
        runtime = self.parts
        registry = runtime.tools()
        if registry.find(name) is None:
            raise AgentError("not_found", f"There is no tool named {name!r}. See GET tools.")
        given = request.path or request.arguments.get("path") or request.arguments.get("uri")
        path = await confined(runtime, given) if isinstance(given, str) else None
        gate = Gate.on(path, request.mode)
        if request.path:
            # The caller chose this path, whoever wrote the arguments.
            gate.files = frozenset([await confined(runtime, request.path)])
        context = replace(
            runtime.tool_context(gate, runtime.settings()),
            client_id=request.client_id,
            session_id=request.session_id,
        )
        # A page sends what its user clicked; a program may be another agent.
        with run_by_user() if self.asker.kind == "page" else nullcontext():
            done = await Dispatcher(registry, context).call(name, request.arguments)
        return done.result


class ActsHandler(Handler):
    """Finds what changed code would do outside the kernel, by analysing it; it is not run."""

    @route("read")
    async def post(self) -> ActsReply:
        request = self.body(ActsRequest)
        notebooks = self.parts.notebooks
        path = await confined(self.parts, request.path)
        notebook = await notebooks.read(path, request.client_id)
        changes = [(each.before, each.after) for each in request.changes]
        reason = await reason_of_changes("It", changes, notebooks, notebook)
        return ActsReply(reason=None if reason is None else reason.message)


ROUTES = [
    Route(
        "acts",
        ActsHandler,
        {
            "post": Operation(
                "What changed code would do outside the kernel", ActsRequest, ActsReply
            )
        },
    ),
    Route(
        "tools",
        ToolsHandler,
        {
            "get": Operation(
                "All tools with their schemas, and why some are not enabled",
                response=ToolsReply,
                query={
                    "mode": "ask, edit or agent (default: agent)",
                    "path": "the active notebook or Lexical document",
                    "attached": "true if path is attached, or an attached path (repeatable)",
                    "location": "panel, inline, magic or api (default: api)",
                },
            )
        },
    ),
    Route(
        "tools/{name}",
        ToolHandler,
        {"post": Operation("Call one tool", ToolCallRequest, ToolResult)},
    ),
]
