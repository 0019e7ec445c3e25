"""``jupyter datalayer-agent mcp``: the bridge over standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from tests.server.mcp.conftest import Run
from tests.server.mcp.test_approvals import waiting
from tests.server.mcp.test_client import notebook, open_page
from tests.server.mcp.test_transport import INITIALIZE, Raw
from tests.support.jupyter import RunningServer
from tests.support.mcp.client import over_stdio
from tests.support.sessions import turns


def test_it_serves_what_the_running_server_has_and_survives_its_restart(
    tmp_path: Path, run: Run
) -> None:
    asked: list[str] = []

    async def elicit(message: str, schema: dict[str, Any]) -> dict[str, Any]:
        asked.append(message)
        return {"action": "accept", "content": {"decision": "approve"}}

    async def scenario(server: RunningServer) -> None:
        progress: list[str | None] = []

        async def on_progress(done: float, total: float | None, message: str | None) -> None:
            progress.append(message)

        async with over_stdio(server.root, server.environment, elicit, "Over stdio") as client:
            path, [cell] = await notebook(client, "a.ipynb", "1 + 1")
            ran = await client.call("runNotebookCells", {"cellIds": [cell]}, on_progress)
            assert ran["value"]["runs"][0]["outputs"] == "2"
            assert progress == ["Running cell 1"]
            await client.ok("deleteNotebookCells", {"cellIds": [cell]})
            assert len(asked) == 1
            assert server.get("sessions")["sessions"][0]["title"] == "Over stdio (MCP)"
            # What the server sends by itself comes through.
            await client.subscribe("jupyter://notebooks/a.ipynb")
            added = await client.ok("addNotebookCell", {"type": "code", "content": "2"})
            await client.until("notifications/resources/updated")
            await asyncio.gather(*(client.ok("getNotebookCells") for _ in range(10)))
            # It dies while another program's call waits for approval in the panel.
            other = await asyncio.to_thread(Raw(server).begin)
            delete = {"path": path, "cellIds": [added["cellId"]]}
            await asyncio.to_thread(lambda: other.call(1, "getNotebookCells", path=path).content)
            async with open_page(server, "page-1") as page:
                await asyncio.to_thread(other.call, 2, "deleteNotebookCells", **delete)
                session = (await asyncio.to_thread(waiting, page))["sessionId"]
                await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
            # A new session, of which the program need not know.
            assert (await client.ok("getNotebookCells", {"path": path}))["cellCount"] == 1
            async with open_page(server, "page-1") as page:
                page.send({"type": "editor_state", "notebooks": [{"path": path, "ready": False}]})
                await client.until("notifications/resources/list_changed")
            # With the first page what waits is resumed; not so that call, whose program is gone.
            await asyncio.to_thread(ended, session)
            [turn] = turns(server, session)
            assert turn["status"] == "aborted"
            assert [call["status"] for call in turn["toolCalls"]] == ["aborted"]

    def ended(session: str) -> None:
        for event in server.stream(f"sessions/{session}/events"):
            if event["type"] == "turn_aborted":
                return

    with RunningServer(tmp_path) as server:
        run(scenario(server))


def test_without_a_server_it_has_one_of_its_own_that_ends_with_it(tmp_path: Path, run: Run) -> None:
    async def scenario(environment: dict[str, str]) -> None:
        async with over_stdio(root, environment) as client:
            assert await client.ok("listKernels") is not None
            started.extend(await asyncio.to_thread(_pids, environment))

    started: list[int] = []
    stopped = RunningServer(tmp_path)
    root = stopped.root
    run(scenario(stopped.environment))
    [pid] = started
    # The SDK does not wait for long; a process whose parent is gone may stay a zombie.
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        deadline = time.monotonic() + 20
        while process.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def _pids(environment: dict[str, str]) -> list[int]:
    """The running servers' processes."""
    files = Path(environment["JUPYTER_RUNTIME_DIR"]).glob("jpserver-*.json")
    return [json.loads(file.read_text())["pid"] for file in files]


def test_what_is_no_message_is_answered_with_an_error(server: RunningServer) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jupyter_datalayer_agent.cli", "mcp", "--root", str(server.root)],
        input=b'{\n\n{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n',
        env=server.environment,
        capture_output=True,
        timeout=60,
    )
    broken, early = (json.loads(line) for line in done.stdout.splitlines())
    assert broken["error"]["code"] == -32700
    assert early["id"] == 1
    assert "initialize" in early["error"]["message"]
    assert done.returncode == 0, done.stderr


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jupyter_datalayer_agent.cli", "mcp", "--root", tmp_path / "no"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "There is no folder" in done.stderr


def test_a_client_may_end_it_by_a_signal(server: RunningServer) -> None:
    command = [sys.executable, "-m", "jupyter_datalayer_agent.cli", "mcp", "--root", server.root]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=server.environment, **pipes) as bridge:
        assert bridge.stdin is not None
        assert bridge.stdout is not None
        bridge.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        bridge.stdin.flush()
        assert json.loads(bridge.stdout.readline())["result"]
        bridge.terminate()
        assert bridge.wait(20) == 0
