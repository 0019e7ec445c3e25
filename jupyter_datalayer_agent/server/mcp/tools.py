"""``tools``: those of the registry, through the dispatcher and gate of the agent's own calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ...agent.client_calls.calls import ClientCalls
from ...agent.client_calls.gate import ClientGate
from ...agent.history.tool_output import for_model
from ...agent.runtime import Runtime
from ...protocol.base import Mode
from ...protocol.errors import AgentError
from ...tools.limits import cut
from ...tools.pictures import fitted
from ...tools.registry import Tool
from ...tools.result import Dispatched
from .asking import PeerClient
from .limits import MAX_RUNNING_READS
from .peer import Method, Params, Peer
from .rpc import INVALID_PARAMS, RpcError

NOT_OFFERED = frozenset({"updatePlan"})
"""It shows the plan of a turn of ours. A program has its own place for its plans."""


class ToolMethods:
    """The tools of one connection; ``level`` is the least level that it wants logged."""

    def __init__(self, runtime: Runtime, calls: ClientCalls, level: Callable[[], str]) -> None:
        self._runtime = runtime
        self._calls = calls
        self._level = level
        self._reads = asyncio.Semaphore(MAX_RUNNING_READS)

    def methods(self) -> dict[str, Method]:
        """By name."""
        return {"tools/list": self.list, "tools/call": self.call}

    async def list(self, peer: Peer, params: Params) -> dict[str, Any]:
        """The tools that ``mcp_mode`` allows on a document that is named."""
        gate = ClientGate.on("any.ipynb", self._mode())
        return {
            "tools": [
                _described(tool)
                for tool in gate.sent(self._runtime.registry, with_blocks=True)
                if tool.name not in NOT_OFFERED and (peer.can_elicit or not tool.asks)
            ]
        }

    async def call(self, peer: Peer, params: Params) -> dict[str, Any]:
        """Call a tool. A call that is cancelled is interrupted, and nothing else."""
        name = str(params["name"])
        tool = self._runtime.registry.behind(name)
        if tool is None or tool.name in NOT_OFFERED:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name}. See tools/list.")
        if peer.info.get("name"):
            self._calls.title = client_title(peer.info)
        arguments = params.get("arguments") or {}
        # In a task of its own, which is cancelled once; anyio cancels what is in its scope again
        # and again, also while a kernel is being interrupted.
        task = asyncio.create_task(self._made(tool, name, arguments, PeerClient(peer, self._level)))
        task.add_done_callback(_retrieve)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            raise

    async def _made(
        self, tool: Tool, name: str, arguments: dict[str, Any], client: PeerClient
    ) -> dict[str, Any]:
        try:
            if tool.changes:
                done = await self._calls.call(tool, name, arguments, self._mode(), client)
            else:
                async with self._reads:
                    done = await self._calls.call(tool, name, arguments, self._mode(), client)
        except AgentError as error:
            return {"content": [{"type": "text", "text": error.message}], "isError": True}
        return await _result(done)

    def _mode(self) -> Mode:
        mode = self._runtime.settings().mcp_mode
        return "ask" if mode == "off" else mode


def client_title(info: dict[str, Any]) -> str:
    """What a program calls itself, as a title; it is untrusted."""
    given = str(info.get("title") or info.get("name") or "")
    name = "".join(each if each.isalnum() or each in " .-_" else " " for each in given)
    return f"{' '.join(name.split())[:60] or 'A program'} (MCP)"


def _described(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.label.action if tool.label is not None else tool.name,
        "description": tool.description,
        "inputSchema": {"type": "object", **tool.schema()["parameters"]},
        "annotations": {
            "readOnlyHint": not tool.changes,
            "destructiveHint": tool.may_lose,
            "openWorldHint": False,
        },
    }


async def _result(done: Dispatched) -> dict[str, Any]:
    """What the program's model reads: cut, scaled and redacted as for a model of ours."""
    text = cut(for_model(done.for_model), done.more)[0]
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for image in await fitted(done.images):
        name = image.name or "The picture"
        if not image.data:
            content.append({"type": "text", "text": f"{name} {image.note}"})
            continue
        if image.name or image.note:
            note = f" ({image.note})" if image.note else ""
            content.append({"type": "text", "text": f"{name}{note}:"})
        content.append({"type": "image", "data": image.data, "mimeType": image.mime})
    return {"content": content, "isError": not done.result.ok}


def _retrieve(task: asyncio.Task[Any]) -> None:
    """A call that nobody waits for any more may fail unread."""
    if not task.cancelled():
        task.exception()
