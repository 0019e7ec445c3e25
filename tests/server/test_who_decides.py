"""Who may decide for the user: what code does that has found the server's token, by real requests.

A program that signs in as a browser does counts as one (``FakePage`` is such a program): see
``docs/decisions/0125-who-decides.md`` for what is a barrier and what is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.magic.kernels import LOAD, notebook_kernel, write_notebook
from tests.support.jupyter import TOKEN, RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.page import FakePage
from tests.support.sessions import new_notebook, sources

FIND = """
import json, urllib.error, urllib.request
from jupyter_server.serverapp import list_running_servers
[server] = [each for each in list_running_servers() if each["port"] == {port}]
def ask(method, route, body, headers):
    request = urllib.request.Request(
        server["url"] + "datalayer-agent/" + route, json.dumps(body).encode(),
        {{"Content-Type": "application/json", **headers}}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
token = server["token"]
bare = {{"Authorization": f"token {{token}}"}}
own = {{**bare, "X-Datalayer-Agent-Client": "a secret of the code's own"}}
forged = {{**own, "Origin": server["url"].rstrip("/"), "Cookie": "_xsrf=x", "X-XSRFToken": "x"}}
"""
SOCKET = """
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect
async def over_the_socket(session, op):
    address = server["url"].replace("http", "ws", 1) + "datalayer-agent/page"
    socket = await websocket_connect(HTTPRequest(address, headers=forged))
    hello = {"type": "hello", "clientId": "code", "key": "a secret of the code's own"}
    await socket.write_message(json.dumps(hello))
    submit = {"type": "submit_op", "ref": "r", "sessionId": session, "op": op}
    await socket.write_message(json.dumps(submit))
    while (message := json.loads(await socket.read_message()))["type"][:3] != "op_":
        pass
    # While it is connected: are requests those of a page now?
    status = ask("POST", f"sessions/{session}/ops", op, forged)
    socket.close()
    return message["type"], status
"""
WHERE = {
    "activeNotebook": "kept.ipynb",
    "attachments": [{"kind": "notebook", "path": "kept.ipynb"}],
}
DELETE = {"message": "delete it", "mode": "agent", **WHERE}


def others(server: RunningServer, method: str, path: str, body: Any, secret: str = "") -> int:
    """How a request of another program ends, that has the token and a secret of its own."""
    headers = {"Authorization": f"token {TOKEN}", "X-Datalayer-Agent-Client": secret}
    url = f"{server.url}datalayer-agent/{path}"
    return requests.request(method, url, json=body, headers=headers, timeout=60).status_code


@pytest.fixture
def asked(
    server: RunningServer, model: ScriptedModelServer
) -> Iterator[tuple[str, dict[str, Any]]]:
    """A session, and the approval that its turn waits for; nobody approved it at the end."""
    new_notebook(server.root / "kept.ipynb", "a", "b")
    model.script(Call("deleteNotebookCells", {"cellIds": ["c0"]}), Say("Kept."))
    session = server.post("sessions", {})["id"]
    with FakePage(server) as page:
        page.send({"type": "subscribe", "sessionId": session})
        op = {"type": "user_message", "request": DELETE}
        page.send({"type": "submit_op", "ref": "r", "sessionId": session, "op": op})
        event = page.wait_for("approval_requested")
        yield session, event
        decision = {"type": "approval_decision", "approvalId": event["approvalId"]}
        denied = {**decision, "decision": "deny", "feedback": "I need it."}
        page.send({"type": "submit_op", "ref": "d", "sessionId": session, "op": denied})
        assert page.wait_for("approval_resolved")["decision"] == "deny"
        page.wait_for("turn_completed")
    assert sources(server.root / "kept.ipynb") == ["a", "b"]


def test_code_in_a_kernel_that_finds_the_servers_token_decides_nothing(
    server: RunningServer, asked: tuple[str, dict[str, Any]]
) -> None:
    session, event = asked
    approve = {
        "type": "approval_decision",
        "approvalId": event["approvalId"],
        "decision": "approve",
    }
    loose = {"type": "config_update", "settings": {"approval": "never"}}
    tries = [
        ("POST", f"sessions/{session}/ops", approve),
        ("POST", f"sessions/{session}/ops", loose),
        ("PATCH", f"sessions/{session}", {"settings": {"approval": "never"}}),
        ("PATCH", f"sessions/{session}", {"settings": {"outputs": "always", "approval": "never"}}),
        ("PATCH", "config", {"values": {"approvalPolicy": "never"}}),
        ("PATCH", "config", {"values": {"api_base": "http://127.0.0.1:9/v1"}}),
        ("PUT", "mcp-servers/evil", {"command": "true"}),
        ("PATCH", "mcp-servers/evil", {"trust": "call"}),
        ("POST", "mcp-servers", {"name": "evil", "command": "true"}),
        ("PUT", "mcp-folder-file", {"contentHash": "x", "allowed": True}),
        ("POST", "connections", {"address": "http://127.0.0.1:9/v1"}),
    ]
    write_notebook(server, "evil.ipynb", LOAD)
    with notebook_kernel(server, "evil.ipynb") as kernel:
        assert kernel.run(FIND.format(port=server.port)).status == "ok"
        ran = kernel.run(
            f"for method, route, body in {tries!r}:\n"
            "    print(*[ask(method, route, body, each) for each in (bare, own, forged)])"
        )
        assert set(ran.text.split()) == {"403"}, ran.text
        kernel.run(SOCKET)
        ran = kernel.run(f"print(*await over_the_socket({session!r}, {approve!r}))")
        assert ran.text.split() == ["op_rejected", "403"], ran


def test_a_program_decides_on_the_turn_that_it_started_and_no_other_does(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    new_notebook(server.root / "kept.ipynb", "a", "b")
    model.script(Call("deleteNotebookCells", {"cellIds": ["c0"]}), Say("Deleted."))
    stream = server.stream("chat/stream", DELETE)
    event = next(each for each in stream if each["type"] == "approval_requested")
    turn = event["turnId"]
    [session] = [each["id"] for each in server.get("sessions")["sessions"] if each.get("waits")]
    ops = f"sessions/{session}/ops"
    decision = {"type": "approval_decision", "approvalId": event["approvalId"]}
    assert others(server, "POST", ops, {**decision, "decision": "deny"}, "of another one") == 403
    assert others(server, "POST", ops, {**decision, "decision": "deny"}) == 403
    server.post(ops, {**decision, "decision": "approve"})
    assert [each["type"] for each in stream][-1] == "turn_completed"
    assert sources(server.root / "kept.ipynb") == ["b"]
    # Afterwards, too; and a later turn of another's makes it no other's.
    model.script(Say("Hi."))
    message = {"message": "hi", "sessionId": session}
    assert others(server, "POST", "chat", message, "a secret of another one") == 200
    for kind in ("undo", "keep", "go_back"):
        op = {"type": kind, "turnId": turn}
        assert others(server, "POST", ops, op, "a secret of another one") == 403
    back = {"type": "go_back", "turnId": turn, "includeTurn": True}
    assert server.request("POST", ops, json=back).status_code == 403
    server.post(ops, {"type": "undo", "turnId": turn})
    for each in server.stream(f"sessions/{session}/events"):
        if each["type"] == "changes_undone":
            break
    assert sources(server.root / "kept.ipynb") == ["a", "b"]


def test_a_program_loosens_its_own_sessions_and_tightens_what_it_likes(
    server: RunningServer,
) -> None:
    session = server.post("sessions", {})["id"]
    loose = {"settings": {"approval": "never"}}
    other = "a secret of another one"
    assert others(server, "PATCH", f"sessions/{session}", loose, other) == 403
    assert server.request("PATCH", f"sessions/{session}", json=loose).ok
    strict = {"settings": {"approval": "always", "outputs": "ask"}}
    assert others(server, "PATCH", f"sessions/{session}", strict, other) == 200
    assert others(server, "PATCH", f"sessions/{session}", {"title": "Mine"}, other) == 200
    looser = {"settings": {"outputs": None}}
    assert others(server, "PATCH", f"sessions/{session}", looser, other) == 403
    values = {"approval_policy": "always", "max_tool_calls": 9}
    assert others(server, "PATCH", "config", {"values": values}) == 200
    assert others(server, "PATCH", "config", {"values": {"approval_policy": None}}) == 403
    with FakePage(server):
        undone = {"values": dict.fromkeys(values)}
        assert server.request("PATCH", "config", json=undone).ok


def test_a_refusal_says_why_and_what_to_do(server: RunningServer) -> None:
    answer = server.request("PATCH", "config", json={"values": {"approvalPolicy": "never"}})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (403, "forbidden")
    assert "A token alone cannot decide this" in error["message"]
    assert "JupyterLab" in error["message"]
    assert json.dumps(server.get("config")).count('"never"') == 0
