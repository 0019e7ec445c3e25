"""Streamable HTTP message by message: who may send what, what is refused, and what is resumed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from jupyter_datalayer_agent.server.mcp.rpc import MAX_MESSAGE_BYTES, MAX_OPEN_REQUESTS
from tests.support.jupyter import TOKEN, RunningServer
from tests.support.page import request_in_page

ACCEPT = "application/json, text/event-stream"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


class Raw:
    """Sends messages as they are. ``session`` is the id that the server gave."""

    def __init__(self, server: RunningServer) -> None:
        self.url = f"{server.url}datalayer-agent/mcp"
        self.session: str | None = None

    def request(self, method: str, body: Any = None, **headers: str | None) -> requests.Response:
        """An HTTP request; ``None`` leaves out a header that is otherwise sent."""
        given: dict[str, str | None] = {
            "Accept": ACCEPT,
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Mcp-Session-Id": self.session,
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        sent = {name: value for name, value in given.items() if value is not None}
        data = body if isinstance(body, str | bytes | None) else json.dumps(body)
        return requests.request(method, self.url, data=data, headers=sent, timeout=30, stream=True)

    def post(self, body: Any, **headers: str | None) -> requests.Response:
        """A message."""
        return self.request("POST", body, **headers)

    def call(self, number: int, tool: str, /, **arguments: Any) -> requests.Response:
        """A tool call; its stream."""
        params = {"name": tool, "arguments": arguments}
        return self.post({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    def begin(self) -> Raw:
        """Initialise."""
        response = self.post(INITIALIZE)
        assert response.status_code == 200, response.text
        self.session = response.headers["Mcp-Session-Id"]
        assert (
            self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status_code == 202
        )
        return self


def events(response: requests.Response) -> Iterator[tuple[str, Any]]:
    """The events of a stream: id and message."""
    event_id = ""
    for line in response.iter_lines(chunk_size=1):
        if line.startswith(b"id: "):
            event_id = line[4:].decode()
        elif line.startswith(b"data:"):
            data = line[5:].strip()
            yield event_id, json.loads(data) if data else None


@pytest.fixture
def raw(server: RunningServer) -> Raw:
    return Raw(server).begin()


LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": None}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"token {TOKEN}"}, 200),
        ({"Origin": "http://evil.example.com"}, 403),
        ({"Host": "evil.example.com"}, 403),
        ({"Accept": "application/json"}, 406),
        ({"Accept": "*/*"}, 200),
        ({"Content-Type": "text/plain"}, 415),
        ({"Mcp-Session-Id": None}, 400),
        ({"Mcp-Session-Id": "of-nobody"}, 404),
        ({"MCP-Protocol-Version": "2025-06-18"}, 200),
        ({"MCP-Protocol-Version": "2026-07-28"}, 400),
    ],
)
def test_who_may_send_and_how(raw: Raw, headers: dict[str, str | None], status: int) -> None:
    response = raw.post(LIST, **headers)
    assert response.status_code == status
    if status != 200:
        assert response.json()["error"]["message"]


def test_the_servers_own_origin_may(raw: Raw, server: RunningServer) -> None:
    assert raw.post(LIST, Origin=server.url.rstrip("/")).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        '"text"',
        json.dumps([LIST, LIST]),
        json.dumps({**LIST, "id": True}),
        json.dumps({**LIST, "id": None}),
        json.dumps({**LIST, "id": {"a": 1}}),
        json.dumps({"jsonrpc": "2.0"}),
        json.dumps({**LIST, "jsonrpc": "1.0"}),
        json.dumps({**LIST, "params": 3}),
    ],
)
def test_what_is_no_message_is_refused_and_the_session_goes_on(raw: Raw, body: str) -> None:
    refused = raw.post(body)
    assert refused.status_code == 400, refused.text
    assert refused.json()["jsonrpc"] == "2.0"
    assert raw.post(LIST).json()["result"]["tools"]


def test_unknown_methods_and_wrong_parameters_are_errors_of_the_request(raw: Raw) -> None:
    unknown = raw.post({**LIST, "method": "nothing/here"}).json()
    assert unknown["error"]["code"] == -32601
    wrong = raw.post({**LIST, "method": "resources/read", "params": {"uri": 3}}).json()
    assert wrong["error"]["code"] == -32602


def test_arguments_are_completed_by_what_there_is(raw: Raw) -> None:
    assert _value(raw.call(2, "createNotebook", name="complete.ipynb"))

    def completed(name: str, typed: str) -> list[str]:
        params = {
            "ref": {"type": "ref/resource", "uri": "jupyter://sessions/{id}"},
            "argument": {"name": name, "value": typed},
        }
        answer = raw.post({**LIST, "method": "completion/complete", "params": params}).json()
        values: list[str] = answer["result"]["completion"]["values"]
        return values

    assert completed("id", "S_")
    assert completed("id", "no session begins like this") == []
    assert completed("unknown", "") == []


def test_a_message_that_is_too_large_is_refused(raw: Raw) -> None:
    response = raw.post({**LIST, "params": {"cursor": "x" * MAX_MESSAGE_BYTES}})
    assert response.status_code == 413


def test_no_more_requests_at_once_than_the_limit(raw: Raw) -> None:
    path = next(iter(_value(raw.call(1, "createNotebook", name="limit.ipynb")).values()))
    slow = {"path": path, "type": "code", "content": "import time; time.sleep(60)", "run": True}
    streams = [
        raw.call(number, "addNotebookCell", **slow) for number in range(2, MAX_OPEN_REQUESTS + 2)
    ]
    refused = raw.call(1000, "getNotebookCells", path=path)
    assert refused.status_code == 400
    assert "still running" in refused.json()["error"]["message"]
    assert raw.call(2, "getNotebookCells", path=path).status_code == 400
    # The session's end interrupts the one that runs, and those that wait do not begin.
    assert raw.request("DELETE").status_code == 204
    for stream in streams:
        assert all("result" not in (message or {}) for _, message in events(stream))
    assert raw.post(LIST).status_code == 404


def test_the_same_id_cannot_be_used_while_it_is_not_answered(raw: Raw) -> None:
    code = "import time; time.sleep(1)"
    first = raw.call(7, "executeCode", code=code)
    assert raw.call(7, "listKernels").status_code == 400
    assert _value(first) is not None
    assert _value(raw.call(7, "listKernels")) is not None


def _value(response: requests.Response) -> Any:
    answer = [message for _, message in events(response)][-1]
    return json.loads(answer["result"]["content"][0]["text"])


def test_a_stream_that_broke_is_resumed_where_it_was(raw: Raw) -> None:
    stream = raw.call(3, "executeCode", code="import time; time.sleep(0.5); print('late')")
    primed = next(events(stream))
    assert primed[1] is None
    stream.close()
    # The program is gone, and the call goes on.
    resumed = raw.request("GET", Last_Event_ID=primed[0])
    assert resumed.status_code == 200
    got = list(events(resumed))
    assert "late" in got[-1][1]["result"]["content"][0]["text"]
    # Also after its end, and from the middle.
    again = list(events(raw.request("GET", Last_Event_ID=primed[0])))
    assert again == got
    rest = list(events(raw.request("GET", Last_Event_ID=got[0][0])))
    assert rest == got[1:]
    for unknown in ("99-1", "x", "-1-1", "1" * 400 + "-1"):
        assert raw.request("GET", Last_Event_ID=unknown).status_code == 404


def test_old_clients_get_no_event_without_a_message(server: RunningServer) -> None:
    raw = Raw(server)
    params = {**INITIALIZE["params"], "protocolVersion": "2025-06-18"}  # type: ignore[dict-item]
    response = raw.post({**INITIALIZE, "params": params})
    assert response.json()["result"]["protocolVersion"] == "2025-06-18"
    raw.session = response.headers["Mcp-Session-Id"]
    messages = [message for _, message in events(raw.call(1, "listKernels"))]
    assert None not in messages


def test_the_newest_reader_of_the_common_stream_gets_what_was_not_read(raw: Raw) -> None:
    first = raw.request("GET")
    assert next(events(first)) == ("0-0", None)
    second = raw.request("GET")
    # The older one ends.
    assert list(events(first)) == []
    second.close()


def test_a_program_that_vanishes_disturbs_nobody(server: RunningServer) -> None:
    gone, other = Raw(server).begin(), Raw(server).begin()
    made = _value(gone.call(1, "createNotebook", name="gone.ipynb"))["path"]
    run = {"path": made, "type": "code", "content": "import time; time.sleep(60)", "run": True}
    stream = gone.call(2, "addNotebookCell", **run)
    for _, message in events(stream):
        if message and message["method"] == "notifications/message":
            break
    stream.close()
    assert _value(other.call(1, "getNotebookCells", path=made))["cells"]
    began = time.monotonic()
    assert gone.request("DELETE").status_code == 204
    # Its end interrupted the run: the kernel is free again.
    after = {"path": made, "type": "code", "content": "1 + 1", "run": True}
    assert _value(other.call(2, "addNotebookCell", **after))["outputs"] == "2"
    assert time.monotonic() - began < 30


def test_jupyter_answers_while_a_program_floods(raw: Raw, server: RunningServer) -> None:
    def flood(number: int) -> int:
        return raw.post({**LIST, "id": f"flood-{number}"}).status_code

    with ThreadPoolExecutor(16) as pool:
        replies = pool.map(flood, range(200))
        slowest = 0.0
        for _ in range(10):
            began = time.monotonic()
            assert server.request("GET", "/api/status").ok
            slowest = max(slowest, time.monotonic() - began)
        assert set(replies) <= {200, 400}
    assert slowest < 2


def test_a_kernels_token_does_not_let_in(raw: Raw) -> None:
    code = "import os; print(os.environ['DATALAYER_AGENT_TOKEN'])"
    path = _value(raw.call(1, "createNotebook", name="token.ipynb"))["path"]
    cell = {"path": path, "type": "code", "content": code, "run": True}
    token = _value(raw.call(2, "addNotebookCell", **cell))["outputs"].strip()
    assert raw.post(LIST, Authorization=f"token {token}").status_code == 403


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_who_is_unknown_is_challenged_and_a_cookie_needs_its_xsrf_token(
    raw: Raw, server: RunningServer, method: str
) -> None:
    no_token = raw.request(method, LIST, Authorization=None)
    assert (no_token.status_code, no_token.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert "Authorization: Bearer" in no_token.json()["error"]["message"]
    wrong = raw.request(method, LIST, Authorization="Bearer wrong")
    invalid = 'Bearer error="invalid_token"'
    assert (wrong.status_code, wrong.headers["WWW-Authenticate"]) == (401, invalid)
    for header in ({"Origin": "http://evil.example.com"}, {"Host": "evil.example.com"}):
        assert raw.request(method, LIST, Authorization="Bearer wrong", **header).status_code == 403
    # A browser that is logged in, on another site's page: its cookie alone is not enough.
    browser = requests.Session()
    assert browser.get(f"{server.url}?token={TOKEN}", timeout=30).ok
    login = "; ".join(f"{each.name}={each.value}" for each in browser.cookies)
    assert "username-" in login
    assert "_xsrf" in login
    with_cookie = raw.request(method, LIST, Authorization=None, Cookie=login)
    # Jupyter checks no XSRF token of GET; the session is that of the token's holder.
    refused = 404 if method == "GET" else 403
    assert with_cookie.status_code == refused, with_cookie.text
    assert "WWW-Authenticate" not in with_cookie.headers
    forged = raw.request(method, LIST, Authorization=None, Cookie=login, X_XSRFToken="2|forged")
    assert forged.status_code == refused, forged.text
    # One that is not valid is nobody's.
    stale = raw.request(method, LIST, Authorization=None, Cookie="username-x=2|1:0|old; _xsrf=x")
    assert stale.status_code == 401
    # The session was not used by any of them.
    assert raw.post(LIST).status_code == 200


def test_off_is_off(raw: Raw, server: RunningServer) -> None:
    request_in_page(server, "PATCH", "config", json={"values": {"mcp_mode": "off"}})
    try:
        refused = raw.post(LIST)
        assert refused.status_code == 403
        assert "mcp_mode" in refused.json()["error"]["message"]
    finally:
        request_in_page(server, "PATCH", "config", json={"values": {"mcp_mode": None}})
    assert raw.post(LIST).status_code == 200
