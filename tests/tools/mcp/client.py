"""MCP servers as a turn uses them, without a Jupyter server: for the tests of this folder."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jupyter_datalayer_agent.notebook.renames import Renames
from jupyter_datalayer_agent.protocol.mcp import FormAnswer, InputForm
from jupyter_datalayer_agent.tools.builtin import builtin_registry
from jupyter_datalayer_agent.tools.call_approval import Approve
from jupyter_datalayer_agent.tools.context import AskForm, ToolContext
from jupyter_datalayer_agent.tools.dispatcher import Dispatcher
from jupyter_datalayer_agent.tools.gate import Gate
from jupyter_datalayer_agent.tools.mcp.config_files import ConfigFiles
from jupyter_datalayer_agent.tools.mcp.servers import McpOptions, McpServers
from jupyter_datalayer_agent.tools.mcp.state_file import StateFile
from jupyter_datalayer_agent.tools.mcp.turn_tools import TurnTools
from jupyter_datalayer_agent.tools.registry import ToolRegistry
from jupyter_datalayer_agent.tools.result import Dispatched

FIXTURE = Path(__file__).parents[2] / "support" / "mcp" / "fixture.py"


def fixture(*sets: str, **env: str) -> dict[str, Any]:
    """An entry of ``mcp.json`` for the fixture server."""
    return {"command": sys.executable, "args": ["-S", str(FIXTURE), *sets], "env": env}


class Notebooks:
    """All that a foreign tool needs of a notebook service."""

    root_dir = "/"

    def __init__(self) -> None:
        self.renames = Renames()


class User:
    """Answers forms, or leaves them open until ``decide``."""

    def __init__(self, *answers: FormAnswer) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, InputForm]] = []
        self.problems: list[str | None] = []
        self.cancelled = 0
        self._decided: asyncio.Future[FormAnswer] = asyncio.get_running_loop().create_future()

    def decide(self, answer: FormAnswer) -> None:
        self._decided.set_result(answer)

    async def __call__(self, message: str, form: InputForm, check: Any) -> FormAnswer:
        self.asked.append((message, form))
        if self.answers:
            answer = self.answers.pop(0)
            self.problems.append(check(answer.values))
            return answer
        try:
            return await asyncio.shield(self._decided)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


class Client:
    """The servers of an ``mcp.json`` in ``folder``, whose root is ``folder/root``."""

    def __init__(self, folder: Path, entries: dict[str, Any], **options: Any) -> None:
        self.folder = folder
        self.root = folder / "root"
        self.root.mkdir(exist_ok=True)
        if entries:
            (folder / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
        self.state = StateFile(folder / "data")
        self.options = McpOptions(**options)
        files = ConfigFiles(folder, self.root, self.state)
        self.servers = McpServers(files, self.state, self.root, lambda: self.options)
        self.tools = TurnTools(builtin_registry(), self.servers)
        self.reports: list[str] = []

    async def report(self, message: str) -> None:
        """Note what is reported to the user."""
        self.reports.append(message)

    async def begin(self) -> ToolRegistry:
        """The tools of a message that is sent now."""
        await self.tools.start_unknown(self.report)
        return self.tools.now()

    async def call(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        registry: ToolRegistry | None = None,
        approve: Approve | None = None,
        ask_form: AskForm | None = None,
    ) -> Dispatched:
        """Call a tool, as it is now or as it was in ``registry``."""
        context = ToolContext(
            gate=Gate.on(None),
            notebooks=Notebooks(),  # type: ignore[arg-type]
            kernel_timeout_seconds=1,
            on_status=self.report,
            **({} if ask_form is None else {"ask_form": ask_form}),
        )
        dispatcher = Dispatcher(
            registry or self.tools.now(),
            context,
            policy="destructive" if approve else "never",
            approve=approve,
        )
        return await dispatcher.call(name, arguments or {})


@asynccontextmanager
async def client(folder: Path, entries: dict[str, Any], **options: Any) -> AsyncIterator[Client]:
    """A client whose servers end with the test."""
    made = Client(folder, entries, **options)
    try:
        yield made
    finally:
        await made.servers.close()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what nothing reports."""
    for _ in range(2_000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("It did not come about.")


def foreign(registry: ToolRegistry) -> list[str]:
    """The names of the tools that are not ours."""
    return [each.name for each in registry if each.parameters is not None]
