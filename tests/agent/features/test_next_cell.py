"""``POST next-cell``: what the model reads for it, and what becomes of its answer."""

from __future__ import annotations

import json
import time
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import nbformat
import pytest
from nbformat import v4

from tests.support.jupyter import TOKEN, RunningServer
from tests.support.model_server import Answer, Gate, Say, ScriptedModelServer, Status, TokenCounts

SOURCE = "secret = 'x' * 3\ncars = [1, 2]"


@pytest.fixture(scope="module")
def path(server: RunningServer) -> str:
    output = v4.new_output("stream", text="an output that stays here")
    cells = [
        v4.new_markdown_cell("# Cars", id="title"),
        v4.new_code_cell(SOURCE, id="run", outputs=[output], execution_count=1),
        v4.new_code_cell("print('after')", id="after"),
    ]
    nbformat.write(v4.new_notebook(cells=cells), server.root / "next.ipynb")
    server.post("tools/runNotebookCells", {"path": "next.ipynb", "arguments": {"cellIds": ["run"]}})
    return "next.ipynb"


def test_the_model_reads_cells_and_variables_by_name_and_type_only(
    server: RunningServer, model: ScriptedModelServer, path: str
) -> None:
    model.script(Say("```python\nprint(len(cars))\n```"))
    reply = server.post("next-cell", {"path": path, "cellId": "run", "model": "openai/small"})
    assert reply == {"source": "print(len(cars))"}
    (request,) = model.requests
    assert request.body["model"] == "small"
    assert request.tool_names == []
    assert SOURCE in request.text
    assert request.text.index(SOURCE) < request.text.index("Here the new cell comes")
    assert request.text.index("Here the new cell comes") < request.text.index("print('after')")
    assert "cars: list" in request.text
    assert "secret: str" in request.text
    assert "xxx" not in request.text
    assert "[1, 2]" not in request.text.replace(SOURCE, "")
    assert "an output that stays here" not in request.text
    # No session remembers it.
    assert all("next" not in each["title"].lower() for each in server.get("sessions")["sessions"])


@pytest.mark.parametrize("answer", ["NONE", "I would plot them.", "```python\n```"])
def test_words_alone_are_no_suggestion(
    server: RunningServer, model: ScriptedModelServer, path: str, answer: str
) -> None:
    model.script(Say(answer))
    assert server.post("next-cell", {"path": path, "cellId": "run"}) == {"source": ""}


def counted(server: RunningServer) -> dict[str, Any]:
    """What suggestions used so far, from the usage by session."""
    rows = {row["key"]: row for row in server.get("usage", by="session")["rows"]}
    return rows.get("") or {"modelCalls": 0, "inputTokens": 0, "outputTokens": 0}


def test_what_it_used_is_counted_though_no_session_has_it(
    server: RunningServer, model: ScriptedModelServer, path: str
) -> None:
    before, whole = counted(server), server.get("usage", by="model")["total"]["totalTokens"]
    model.script(Answer([Say("```python\nx\n```")], usage=TokenCounts(700, 50)))
    server.post("next-cell", {"path": path, "cellId": "run", "model": "openai/gpt-4o-mini"})
    after = counted(server)
    assert after["label"] == "Suggested next cells"
    assert after["modelCalls"] == before["modelCalls"] + 1
    assert after["inputTokens"] == before["inputTokens"] + 700
    assert after["outputTokens"] == before["outputTokens"] + 50
    assert after["cost"] > 0
    by_model = server.get("usage", by="model")
    assert by_model["total"]["totalTokens"] == whole + 750
    assert "openai/gpt-4o-mini" in {row["key"] for row in by_model["rows"]}


def test_an_error_of_the_model_is_reported_and_costs_nothing(
    server: RunningServer, model: ScriptedModelServer, path: str
) -> None:
    before = counted(server)
    model.script(Status(401))
    body = {"path": path, "cellId": "run"}
    assert server.request("POST", "next-cell", json=body).json()["error"]["code"] == "model_error"
    assert counted(server) == before


def test_a_page_that_wants_it_no_longer_ends_the_models_work(
    server: RunningServer, model: ScriptedModelServer, path: str
) -> None:
    before = counted(server)
    model.script(Gate(Say("```python\nprint(1)\n```"), after=1))
    address = urlsplit(server.url)
    assert address.hostname is not None
    connection = HTTPConnection(address.hostname, address.port)
    body = json.dumps({"path": path, "cellId": "run"})
    headers = {"Authorization": f"token {TOKEN}"}
    connection.request("POST", "/datalayer-agent/next-cell", body, headers)
    model.wait_for(model.at_gate)
    connection.close()
    model.wait_for(model.answered(0, "disconnected"))
    # What was read is paid for all the same: an estimate.
    while (after := counted(server)) == before:
        time.sleep(0.05)
    assert after["modelCalls"] == before["modelCalls"] + 1
    assert after["inputTokens"] > before["inputTokens"]
