"""What code in a kernel can do with that kernel's token, tried as such code does: by HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.magic.kernels import LOAD, Kernel, notebook_kernel, write_notebook
from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.page import FakePage

ASK = """
import json, os, urllib.error, urllib.request
url, token = os.environ["DATALAYER_AGENT_URL"], os.environ["DATALAYER_AGENT_TOKEN"]
def ask(method, route, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url + route, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    print(json.dumps([status, json.loads(text or "null")]))
"""


class Attacker:
    """Code in a kernel that has found the kernel's token."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        kernel.run(ASK)

    def ask(self, method: str, route: str, body: Any = None) -> tuple[int, Any]:
        """The status and the answer of a request that the code sends."""
        ran = self._kernel.run(f"ask({method!r}, {route!r}, {body!r})")
        assert ran.status == "ok", ran.error
        status, answer = json.loads(ran.text)
        return status, answer

    def refused(self, method: str, route: str, body: Any = None) -> str:
        """Why the request was refused."""
        status, answer = self.ask(method, route, body)
        assert status == 403, answer
        return str(answer["error"]["message"])


@pytest.fixture
def attacker(server: RunningServer) -> Iterator[Attacker]:
    write_notebook(server, "evil.ipynb", LOAD)
    with notebook_kernel(server, "evil.ipynb") as kernel:
        yield Attacker(kernel)


def changed(server: RunningServer, model: ScriptedModelServer) -> tuple[str, str]:
    """A session and its turn, which changed a notebook of its own."""
    write_cars(server.root)
    model.script(Call("addNotebookCell", {"type": "code", "content": "1"}), Say("Added."))
    reply = server.post(
        "chat",
        {
            "message": "add a cell", "mode": "agent", "activeNotebook": "cars.ipynb",
            "attachments": [{"kind": "notebook", "path": "cars.ipynb"}],
        },
    )  # fmt: skip
    return reply["sessionId"], reply["turnId"]


def test_a_kernel_reaches_no_other_notebooks_conversation(
    server: RunningServer, model: ScriptedModelServer, attacker: Attacker
) -> None:
    session, turn = changed(server, model)
    ops = f"sessions/{session}/ops"
    for op in (
        {"type": "undo", "turnId": turn},
        {"type": "keep", "turnId": turn},
        {"type": "interrupt"},
        {"type": "user_message", "request": {"message": "hi", "mode": "agent"}},
    ):
        assert "does not belong to this kernel's notebook" in attacker.refused("POST", ops, op)
    for route in ("", "/turns", "/events", f"/turns/{turn}/changes"):
        assert "does not belong to this" in attacker.refused("GET", f"sessions/{session}{route}")
    status, listed = attacker.ask("GET", "sessions")
    assert (status, [each["id"] for each in listed["sessions"]]) == (200, [])
    states = server.get(f"sessions/{session}/turns/{turn}/changes")["states"]
    assert states == ["open"]


def test_a_kernel_decides_nothing_in_its_own_conversation(
    server: RunningServer, model: ScriptedModelServer, attacker: Attacker
) -> None:
    _, made = attacker.ask("POST", "sessions", {"settings": {"approval": "never"}})
    assert made["settings"].get("approval") is None
    ops = f"sessions/{made['id']}/ops"
    model.script(Call("askUser", {"question": "Delete all?"}), Say("Done."))
    with FakePage(server) as page:
        page.send({"type": "subscribe", "sessionId": made["id"]})
        message = {"message": "clean up", "mode": "agent"}
        op = {"type": "user_message", "request": message}
        assert attacker.ask("POST", ops, op)[0] == 202
        asked = page.wait_for("user_input_requested")
        answer = {"type": "user_input_answer", "requestId": asked["requestId"], "answer": "yes"}
        assert "A kernel may not send" in attacker.refused("POST", ops, answer)
        for each in (
            {"type": "approval_decision", "approvalId": "a", "decision": "approve"},
            {"type": "plan_decision", "decision": "approve"},
            {"type": "config_update", "settings": {"approval": "never"}},
            {"type": "run_action", "proposalId": "p"},
            {"type": "keep", "turnId": asked["turnId"]},
            {"type": "go_back", "turnId": asked["turnId"]},
            {"type": "reset"},
        ):
            assert "A kernel may not send" in attacker.refused("POST", ops, each)
        mine = {"type": "user_message", "request": {"message": "hi"}}
        queued = server.post(ops, mine)["opId"]
        assert "its own" in attacker.refused("POST", ops, {"type": "dequeue", "opId": queued})
        assert attacker.ask("POST", ops, {"type": "interrupt"})[0] == 202
        page.wait_for("turn_aborted")


def test_a_kernels_message_does_not_use_that_a_conversation_never_asks(
    server: RunningServer, model: ScriptedModelServer, attacker: Attacker
) -> None:
    with FakePage(server) as page:
        settings = {"approval": "never", "notebook": "evil.ipynb"}
        session = server.post("sessions", {"settings": settings})["id"]
        page.send({"type": "subscribe", "sessionId": session})
        model.script(Call("deleteNotebookCells", {"cellIds": ["cell-0"]}), Say("Done."))
        request = {"message": "delete it", "mode": "agent", "approval": "never"}
        op = {"type": "user_message", "request": request}
        assert attacker.ask("POST", f"sessions/{session}/ops", op)[0] == 202
        asked = page.wait_for("approval_requested")
        decision = {"type": "approval_decision", "approvalId": asked["approvalId"]}
        server.post(f"sessions/{session}/ops", {**decision, "decision": "deny"})
        page.wait_for("turn_completed")


def status_of(server: RunningServer, token: str) -> int:
    """How a request with this token ends."""
    headers = {"Authorization": f"token {token}"}
    route = f"{server.url}datalayer-agent/sessions"
    return requests.get(route, headers=headers, timeout=60).status_code


TOKEN = "import os; print(os.environ['DATALAYER_AGENT_TOKEN'])"


@pytest.mark.parametrize("end", ["shut down", "closed"])
def test_a_kernels_token_ends_with_the_kernel(server: RunningServer, end: str) -> None:
    path = f"{end.replace(' ', '-')}.ipynb"
    write_notebook(server, path, LOAD)
    with notebook_kernel(server, path) as kernel:
        token = kernel.run(TOKEN).text.strip()
        assert status_of(server, token) == 200
        [session] = [each for each in server.get("/api/sessions") if each["path"] == path]
        if end == "shut down":
            server.request("DELETE", f"/api/kernels/{session['kernel']['id']}")
        else:
            other = server.post("/api/kernels", {"name": "python3"})["id"]
            change = {"kernel": {"id": other}}
            server.request("PATCH", f"/api/sessions/{session['id']}", json=change)
        assert status_of(server, token) == 403


def test_the_token_of_a_kernel_that_died_does_not_count(tmp_path: Path) -> None:
    with RunningServer(tmp_path, arguments=["--KernelManager.autorestart=False"]) as server:
        write_notebook(server, "died.ipynb", LOAD)
        with notebook_kernel(server, "died.ipynb") as kernel:
            token = kernel.run(TOKEN).text.strip()
            assert status_of(server, token) == 200
            kernel.begin("import signal; os.kill(os.getpid(), signal.SIGKILL)")
            deadline = time.monotonic() + 30
            while status_of(server, token) == 200:
                assert time.monotonic() < deadline
            assert server.get("/api/sessions"), "Jupyter lists the kernel still"


def test_a_restarted_kernel_keeps_its_token(server: RunningServer) -> None:
    write_notebook(server, "restarted.ipynb", LOAD)
    with notebook_kernel(server, "restarted.ipynb") as kernel:
        attacker = Attacker(kernel)
        kernel_id = server.get("/api/sessions")[-1]["kernel"]["id"]
        (server.root / "restarted.ipynb").rename(server.root / "moved.ipynb")
        [session] = [
            each for each in server.get("/api/sessions") if each["path"] == "restarted.ipynb"
        ]
        renamed = {"path": "moved.ipynb"}
        server.request("PATCH", f"/api/sessions/{session['id']}", json=renamed)
        server.post(f"/api/kernels/{kernel_id}/restart", {})
        kernel.client.wait_for_ready(timeout=60)
        attacker = Attacker(kernel)
        assert attacker.ask("GET", "kernel")[1] == {"path": "moved.ipynb", "isNotebook": True}


def test_no_token_of_the_server_is_in_a_kernels_environment(
    tmp_path: Path, shared_model: ScriptedModelServer
) -> None:
    tokens = {"JUPYTER_TOKEN": "the-token", "JUPYTERHUB_API_TOKEN": "of-the-hub"}
    environment = {**tokens, "OF_A_USER": "http://h/?token=of-the-hub", "OTHER": "kept"}
    show = "import json, os; print(json.dumps(dict(os.environ)))"
    with RunningServer(tmp_path, environment=environment) as server:
        write_cars(server.root)
        for body in (
            {"path": "cars.ipynb", "arguments": {"code": show}},
            {"sessionId": server.post("sessions", {})["id"], "arguments": {"code": show}},
        ):
            result = server.post("tools/executeCode", body)
            assert result["ok"], result
            found = json.loads(result["output"]["outputs"])
            assert found["OTHER"] == "kept"
            assert not any(token in str(found) for token in tokens.values())
