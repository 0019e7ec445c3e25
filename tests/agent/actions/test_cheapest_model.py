"""An action's parameters are asked of the cheapest model that is set, the answer of the turn's."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.planning import of_type, submit, until


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    environment = {
        "DATALAYER_AGENT_MODEL": "openai/gpt-4o",
        "DATALAYER_AGENT_MODE_MODELS": json.dumps({"edit": "openai/gpt-4o-mini"}),
    }
    folder = tmp_path_factory.mktemp("server")
    with RunningServer(folder, api_base=shared_model.base_url, environment=environment) as running:
        (running.root / "cars.csv").write_text("mpg\n18\n")
        yield running


def test_a_request_of_a_service_goes_to_the_cheapest_model(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = str(server.post("sessions", {})["id"])
    model.script(
        Say(json.dumps({"target": {"value": "parquet", "source": "the format of Arrow"}})),
        Say("Hello."),
    )
    message = "/data change cars.csv into the format of Arrow, please"
    chosen = {"service": "data", "subcommand": "convert"}
    request = {"message": message, "location": "panel", "intent": chosen}
    submit(server, session, {"type": "user_message", "request": request})
    events = until(server.stream(f"sessions/{session}/events?after=0"), "turn_completed")
    assert of_type(events, "action_proposed")
    server.post("chat", {"message": "Say hello", "sessionId": session})
    *of_service, of_turn = [each.body["model"] for each in model.requests]
    assert set(of_service) == {"gpt-4o-mini"}
    assert of_turn == "gpt-4o"
