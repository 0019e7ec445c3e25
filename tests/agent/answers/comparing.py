"""What the tests of comparisons share: a script for each model, and the ops."""

from __future__ import annotations

import json
from typing import Any

from tests.support.jupyter import RunningServer
from tests.support.model_request import RecordedRequest
from tests.support.model_script import ByModel, Step
from tests.support.model_server import ScriptedModelServer
from tests.support.sessions import act, turns

A, B, C, D = (f"openai/{name}" for name in ("alpha", "beta", "gamma", "delta"))


def script(model: ScriptedModelServer, **steps: Step | list[Step]) -> None:
    """What each model does, in order, whichever is asked first."""
    lists = {name: each if isinstance(each, list) else [each] for name, each in steps.items()}
    model.set_default(ByModel(lists))


def compare(server: RunningServer, *models: str, status: int = 200, **request: Any) -> Any:
    """The reply to a message to several models."""
    body = {"message": "Which colour?", "compare": list(models), **request}
    response = server.request("POST", "chat", json=body)
    assert response.status_code == status, response.text
    return response.json()


def begin(server: RunningServer, session: str, *models: str, until: str = "answer_started") -> Any:
    """Send a message to several models as an op, and wait for an event."""
    request = {"message": "Which colour?", "compare": list(models)}
    return act(server, session, {"type": "user_message", "request": request}, until)


def synthesise(server: RunningServer, session: str, turn: str, **more: Any) -> dict[str, Any]:
    """Have a synthesis written; how it ended, or why it was refused."""
    op = {"type": "synthesise", "turnId": turn, **more}
    return act(server, session, op, "answer_finished")


def events_until(
    server: RunningServer, session: str, after: int, last: str, times: int = 1
) -> list[Any]:
    """The session's events after a number, up to the first of a type, or one after it."""
    found = []
    for event in server.stream(f"sessions/{session}/events?after={after}"):
        found.append(event)
        if [each["type"] for each in found].count(last) == times:
            break
    return found


def newest(server: RunningServer, session: str) -> dict[str, Any]:
    """The newest turn, with its events."""
    return turns(server, session, include="events")[-1]


def requests_of(model: ScriptedModelServer, name: str) -> list[RecordedRequest]:
    """The requests that a model received, in order."""
    return [request for request in model.requests if request.model == name.partition("/")[2]]


def ended(turn: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """How each model's answer ended, by model."""
    return {e["model"]: e for e in turn["events"] if e["type"] == "answer_finished"}


def exports(server: RunningServer, session: str) -> dict[str, str]:
    """The session in each format; the notebook's as the text of its cells."""
    texts = {
        kind: server.request("GET", f"sessions/{session}/export?format={kind}").text
        for kind in ("md", "ipynb", "json")
    }
    cells = json.loads(texts["ipynb"])["cells"]
    texts["ipynb"] = "\n\n".join("".join(cell["source"]) for cell in cells)
    return texts
