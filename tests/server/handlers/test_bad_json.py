"""Bodies and messages that no program should send: each is refused clearly, and nothing else
suffers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.page import FakePage

DEEP = "[" * 100_000 + "]" * 100_000
"""Deeper than Python's parser goes."""
STREAMED = "[" * 20_000 + "]" * 20_000
"""So is this; a model's answer comes in pieces, and each of them costs."""
HALF_DEEP = "[" * 400 + "]" * 400
"""Deeper than pydantic writes."""
BAD: dict[str, str | bytes] = {
    "deep": DEEP,
    "deep in a field": f'{{"message": {DEEP}}}',
    "half as deep": f'{{"arguments": {{"a": {HALF_DEEP}}}}}',
    "deep objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "digits": f'{{"message": {"1" * 5_000}}}',
    "nan": '{"message": NaN}',
    "half a character": '{"no field \\ud83d": "\\ud83d"}',
    "not UTF-8": b'{"message": "\xff"}',
    "UTF-16": '{"message": "hi"}'.encode("utf-16"),
    "a list": "[]",
    "a text": '"hi"',
    "null": "null",
}


def routes_with_a_body(server: RunningServer) -> list[tuple[str, str]]:
    """Method and path of every route that takes JSON, for a session that is there."""
    session = server.post("sessions", {})["id"]
    found = []
    for path, operations in server.get("openapi.json")["paths"].items():
        for method, operation in operations.items():
            takes = operation.get("requestBody", {}).get("content", {})
            if "application/json" in takes or path.endswith("/ops"):
                route = path.rpartition("datalayer-agent/")[2].strip("/")
                for name, value in (
                    ("session_id", session),
                    ("tutorial_id", "pandas-basics"),
                    ("number", "1"),
                ):
                    route = route.replace(f"{{{name}}}", value)
                found.append((method.upper(), route))
    return found


@pytest.mark.parametrize("kind", BAD)
def test_every_route_refuses_a_bad_body(server: RunningServer, kind: str) -> None:
    routes = routes_with_a_body(server)
    assert len(routes) > 12
    with FakePage(server, client_id="of-the-user"):
        answers = [(*each, server.request(*each, data=BAD[kind])) for each in routes]
    for method, route, answer in answers:
        assert answer.status_code == 400, (method, route, answer.text[:300])
        error = answer.json()["error"]
        assert error["code"] == "invalid_request", (method, route)
        if "deep" in kind:
            assert "nested more than 200 deep" in error["message"], (method, route)
        assert len(error["message"]) < 2_000


@pytest.mark.parametrize(
    "query",
    [
        "context?attachments=" + "[" * 5_000,
        "context?toolReferences=" + "[" * 5_000 + "]" * 5_000,
        "context?attachments=" + "1" * 5_000,
        'context?attachments=["\\ud83d"]',
        "sessions?limit=" + "9" * 5_000,
        "sessions/{}/events?after=" + "9" * 30,
        "sessions/{}/turns?limit=" + "9" * 30,
        "usage?days=" + "9" * 30,
        "sessions?cursor=%ff",
        "search?q=%ed%a0%bd",
    ],
)
def test_every_query_refuses_what_it_cannot_take(server: RunningServer, query: str) -> None:
    session = server.post("sessions", {})["id"]
    answer = server.request("GET", query.format(session))
    assert answer.status_code == 400, answer.text[:300]
    assert answer.json()["error"]["code"] == "invalid_request"
    assert len(answer.json()["error"]["message"]) < 500


@pytest.mark.parametrize("kind", BAD)
def test_a_page_is_sent_what_was_wrong_and_stays_connected(
    server: RunningServer, model: ScriptedModelServer, kind: str
) -> None:
    session = server.post("sessions", {})["id"]
    text = BAD[kind]
    with FakePage(server) as page:
        page.send_text(text)
        error = page.wait_for("op_rejected")["error"]
        assert error["code"] == "invalid_request"
        assert_still_served(page, session)


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "submit_op", "ref": 5}',
        f'{{"type": "submit_op", "ref": {"[" * 150 + "]" * 150}}}',
        '{"type": "subscribe", "sessionId": "\\ud83d"}',
        f'{{"type": "subscribe", "sessionId": "s", "after": {"9" * 30}}}',
        '{"type": "subscribe", "sessionId": "s", "after": 1e999}',
        '{"type": "submit_op", "ref": "\\ud83d", "sessionId": "s", "op": {"type": "interrupt"}}',
    ],
)
def test_a_message_with_a_strange_field_is_rejected_and_the_page_stays_connected(
    server: RunningServer, text: str
) -> None:
    session = server.post("sessions", {})["id"]
    with FakePage(server) as page:
        page.send_text(text)
        assert page.wait_for("op_rejected")["error"]["code"] in ("invalid_request", "not_found")
        assert_still_served(page, session)


def assert_still_served(page: FakePage, session: str) -> None:
    page.send({"type": "subscribe", "sessionId": session})
    page.send(
        {"type": "submit_op", "ref": "next", "sessionId": session, "op": {"type": "interrupt"}}
    )
    assert page.wait_for("op_accepted")["ref"] == "next"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (f'{{"start": {STREAMED}}}', "nested more than 200 deep"),
        (f'{{"start": {"9" * 5_000}}}', "too many digits"),
        ('{"start": NaN}', "NaN is no JSON"),
        ('{"cellIds": ["\\ud83d"]}', "No cell with id \ufffd"),
    ],
)
def test_arguments_of_a_model_that_cannot_be_read_are_an_error_of_the_call(
    server: RunningServer, model: ScriptedModelServer, arguments: str, expected: str
) -> None:
    model.script(Call("getNotebookCells", arguments), Say("Sorry."), Say("Still here."))
    body: dict[str, Any] = {
        "message": "@cars.ipynb hi", "mode": "agent", "activeNotebook": "cars.ipynb"
    }  # fmt: skip
    reply = server.post("chat", body)
    assert reply["status"] == "completed"
    assert expected in reply["toolCalls"][0]["output"]["error"]["message"]
    # The model's text is in the conversation, and thus in the next request.
    again = server.post("chat", {"message": "again", "sessionId": reply["sessionId"]})
    assert again["reply"] == "Still here."


def test_half_a_character_in_an_answer_spoils_nothing_after_it(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("a car \ud83d"), Say("Still here."))
    with FakePage(server) as page:
        session = server.post("sessions", {})["id"]
        page.send({"type": "subscribe", "sessionId": session})
        reply = server.post("chat", {"message": "half \ud83d", "sessionId": session})
        assert reply["reply"] == "a car \ufffd"
        page.wait_for("turn_completed")
    again = server.post("chat", {"message": "again", "sessionId": session})
    assert again["reply"] == "Still here."
    sent = json.dumps(model.requests[-1].body, ensure_ascii=False)
    assert "a car \ufffd" in sent
    assert "half \ufffd" in sent
    for form in ("md", "ipynb", "json"):
        exported = server.request("GET", f"sessions/{session}/export?format={form}")
        assert exported.status_code == 200
        assert "a car \ufffd" in exported.content.decode()


def test_half_a_character_in_a_notebook_is_named_and_ends_no_turn(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    notebook = {
        "cells": [{"id": "half", "cell_type": "markdown", "source": "\ud83d", "metadata": {}}],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    (server.root / "half.ipynb").write_text(json.dumps(notebook))
    # Jupyter's own contents manager fails at it.
    assert server.request("GET", "/api/contents/half.ipynb").status_code == 500
    model.script(Call("getNotebookCells"), Say("Half a car."))
    body = {"message": "@half.ipynb hi", "mode": "ask", "activeNotebook": "half.ipynb"}
    reply = server.post("chat", body)
    assert reply["reply"] == "Half a car."
    error = reply["toolCalls"][0]["output"]["error"]
    assert "half.ipynb is not a valid notebook: it contains half a surrogate" in error["message"]


@pytest.mark.parametrize("depth", [600, 100_000])
def test_a_notebook_that_is_nested_too_deep_is_named_as_not_valid(
    server: RunningServer, depth: int
) -> None:
    text = '{"cells": [], "metadata": {"a": %s}, "nbformat": 4, "nbformat_minor": 5}'
    file = server.root / "deep.ipynb"
    file.write_text(text % ("[" * depth + "]" * depth))
    before = file.read_bytes()
    for name, arguments in [
        ("getNotebookCells", {}),
        ("addNotebookCell", {"type": "code", "content": "1"}),
    ]:
        result = server.post(f"tools/{name}", {"arguments": arguments, "path": "deep.ipynb"})
        assert not result["ok"]
        assert result["error"]["code"] == "invalid_arguments"
        assert "deep.ipynb is not a valid notebook" in result["error"]["message"]
    assert server.request("GET", "quality?path=deep.ipynb").status_code == 200
    assert server.request("GET", "context?path=deep.ipynb").status_code == 200
    assert file.read_bytes() == before
