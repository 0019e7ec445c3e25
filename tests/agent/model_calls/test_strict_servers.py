"""Turns against servers that refuse parts of a request, from the first message on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_rules import no_system_role, roles_alternate, unsupported
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.sessions import new_notebook, sources

RULES = {
    "roles alternate": [roles_alternate],
    "no system role, roles alternate": [no_system_role, roles_alternate],
    "stream_options, then strict": [unsupported("stream_options"), unsupported("strict")],
}
NOTEBOOK: dict[str, Any] = {
    "attachments": [{"kind": "notebook", "path": "strict.ipynb"}],
    "activeNotebook": "strict.ipynb",
}


@pytest.fixture(params=RULES)
def strict(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[RunningServer, ScriptedModelServer]]:
    with (
        ScriptedModelServer(rules=RULES[request.param]) as model,
        RunningServer(tmp_path, api_base=model.base_url) as server,
    ):
        new_notebook(server.root / "strict.ipynb", "x = 1")
        yield server, model
        assert model.errors == []


def test_a_chat_a_notebook_and_a_turn_of_the_agent_complete(
    strict: tuple[RunningServer, ScriptedModelServer],
) -> None:
    server, model = strict
    model.script(Say("Hello."), Say("It has one cell."))
    assert server.post("chat", {"message": "Hello", "mode": "ask"})["reply"] == "Hello."
    asked = server.post("chat", {"message": "What is in it?", "mode": "ask", **NOTEBOOK})
    assert asked["reply"] == "It has one cell."

    refused = [each.outcome for each in model.requests].count("status")
    model.script(Call("addNotebookCell", {"type": "code", "content": "y = 2"}), Say("Added."))
    body = {"message": "Add y", "mode": "agent", "approval": "never", **NOTEBOOK}
    reply = server.post("chat", body)
    assert (reply["status"], reply["reply"]) == ("completed", "Added.")
    assert sources(server.root / "strict.ipynb") == ["x = 1", "y = 2"]

    # What was learnt holds: only what the first tools brought may be refused, and once.
    again = [each.outcome for each in model.requests].count("status")
    assert again <= refused + 1
    model.script(Say("Yes."))
    assert server.post("chat", {**body, "message": "Done?"})["reply"] == "Yes."
    assert [each.outcome for each in model.requests].count("status") == again
