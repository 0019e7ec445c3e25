"""The layers of DESIGN 9 over HTTP: what holds, where it comes from, and what is locked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.page import request_in_page

CONFIG = """
c.DatalayerAgentApp.temperature = 0.25
c.DatalayerAgentApp.top_p = 7
c.DatalayerAgentApp.max_history_turns = 9
c.DatalayerAgentApp.token_limit = 400_000
c.DatalayerAgentApp.approval_policy = "always"
c.DatalayerAgentApp.locked = ["approval_policy", "max_tool_calls", "reasoning_effort"]
"""
ENVIRONMENT = {
    "DATALAYER_AGENT_MAX_HISTORY_TURNS": "3",
    "DATALAYER_AGENT_MAX_TOOL_CALLS": "7",
    "DATALAYER_AGENT_KERNEL_TIMEOUT_SECONDS": "soon",
    "DATALAYER_AGENT_MODE_MODELS": '{"edit": "openai/for-edits"}',
    "DATALAYER_AGENT_STREAMING": "false",
}


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    """A server with a value in every layer below the user's, valid ones and others."""
    running = RunningServer(
        tmp_path_factory.mktemp("config"),
        environment={
            "DATALAYER_AGENT_API_BASE": shared_model.base_url,
            "DATALAYER_AGENT_MODEL": "openai/scripted",
            "OPENAI_API_KEY": "sk-test-0123456789abcdef",
            **ENVIRONMENT,
        },
        arguments=["--DatalayerAgentApp.max_output_tokens=500"],
    )
    folder = Path(running.environment["JUPYTER_CONFIG_DIR"])
    folder.mkdir()
    (folder / "jupyter_server_config.py").write_text(CONFIG)
    with running:
        yield running


@pytest.fixture
def file(server: RunningServer) -> Iterator[Path]:
    """Where JupyterLab keeps the user's settings; gone afterwards."""
    folder = Path(server.environment["JUPYTER_CONFIG_DIR"], "lab", "user-settings")
    path = folder / "jupyter-datalayer-agent" / "settings.jupyterlab-settings"
    path.parent.mkdir(parents=True, exist_ok=True)
    yield path
    path.unlink(missing_ok=True)


def settings(server: RunningServer, **query: str) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in server.get("config", **query)["values"]}


def patch(server: RunningServer, status: int = 200, **values: Any) -> Any:
    response = request_in_page(server, "PATCH", "config", json={"values": values})
    assert response.status_code == status, response.text
    return response.json()


def test_each_value_comes_from_the_highest_layer_that_has_a_valid_one(
    server: RunningServer,
) -> None:
    values = {
        name: (each.get("value"), each["source"], each["locked"])
        for name, each in settings(server).items()
    }
    assert values["temperature"] == (0.25, "config", False)
    assert values["max_history_turns"] == (9, "config", False), "the configuration is above"
    assert values["max_tool_calls"] == (7, "environment", True)
    assert values["max_output_tokens"] == (500, "config", False), "from the command line"
    assert values["streaming"] == (False, "environment", False)
    assert values["mode_models"] == ({"edit": "openai/for-edits"}, "environment", False)
    assert values["approval_policy"] == ("always", "config", True)
    assert values["kernel_timeout_seconds"] == (900.0, "default", False), "“soon” is not valid"
    assert values["top_p"] == (None, "default", False), "7 is not valid"
    log = server.log.read_text()
    assert "DATALAYER_AGENT_KERNEL_TIMEOUT_SECONDS is not valid and is not used" in log
    assert "c.DatalayerAgentApp.top_p is not valid and is not used" in log


def test_a_change_in_jupyterlabs_settings_holds_for_the_next_turn(
    server: RunningServer, model: ScriptedModelServer, file: Path
) -> None:
    model.script(Say("One."), Say("Two."))
    first = server.post("chat", {"message": "one"})
    file.write_text('{\n  // written by a user\n  "temperature": 1.5, "maxOutputTokens": "many"\n}')
    server.post("chat", {"message": "two", "sessionId": first["sessionId"]})
    before, after = [request.body for request in model.requests]
    assert (before["temperature"], after["temperature"]) == (0.25, 1.5)
    values = settings(server)
    assert values["temperature"]["source"] == "user"
    assert values["temperature"]["inherited"] == 0.25
    assert values["max_output_tokens"]["value"] == 500
    assert "max_output_tokens cannot be 'many'" in server.log.read_text()


def test_what_is_patched_is_where_jupyterlab_looks_for_it(
    server: RunningServer, file: Path
) -> None:
    reply = patch(server, maxHistoryTurns=4, model="openai/other")
    values = {each["name"]: each for each in reply["values"]}
    assert (values["max_history_turns"]["value"], values["max_history_turns"]["source"]) == (
        4,
        "user",
    )
    assert json.loads(file.read_text()) == {"maxHistoryTurns": 4, "model": "openai/other"}
    patch(server, max_history_turns=None)
    assert json.loads(file.read_text()) == {"model": "openai/other"}
    assert settings(server)["max_history_turns"]["value"] == 9


@pytest.mark.parametrize(
    ("values", "status", "expected"),
    [
        ({"max_tool_calls": 90}, 403, "max_tool_calls is locked by the administrator"),
        ({"databaseUrl": "sqlite://"}, 403, "database_url is set for the whole server"),
        ({"locked": []}, 403, "locked is set for the whole server"),
        ({"temperature": 3}, 400, "temperature cannot be 3"),
        ({"colour": "blue"}, 400, "There is no setting 'colour'"),
        ({"api_base": "https://***@host/v1"}, 400, "masked value"),
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_else_changes(
    server: RunningServer, file: Path, values: dict[str, Any], status: int, expected: str
) -> None:
    error = patch(server, status, **{"token_limit": 5000, **values})["error"]
    assert error["code"] == {403: "forbidden", 400: "invalid_request"}[status]
    assert expected in error["message"]
    assert not file.exists()


def test_a_locked_value_is_refused_in_a_session_an_op_and_a_request(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = server.post("sessions", {})["id"]
    tries = [
        ("POST", "sessions", {"settings": {"approval": "never"}}),
        ("PATCH", f"sessions/{session}", {"settings": {"maxToolCalls": 100}}),
        ("PATCH", f"sessions/{session}", {"settings": {"reasoningEffort": "high"}}),
        (
            "POST",
            f"sessions/{session}/ops",
            {"type": "config_update", "settings": {"approval": "never"}},
        ),
        ("POST", "chat", {"message": "hi", "approval": "never"}),
        ("POST", "chat", {"message": "hi", "overrides": {"maxToolCalls": 8}}),
    ]
    for method, route, body in tries:
        response = server.request(method, route, json=body)
        assert response.status_code == 403, (route, body, response.text)
        assert "is locked by the administrator" in response.json()["error"]["message"]
    model.script(Say("Hello."))
    same = server.post("chat", {"message": "hi", "overrides": {"maxToolCalls": 7}})
    assert same["status"] == "completed", "what is asked for is what holds"
    assert server.get("models")["lockedChoices"] == ["reasoning_effort"], "for the panel's choices"


def test_a_session_has_settings_of_its_own(server: RunningServer) -> None:
    session = server.post("sessions", {"settings": {"temperature": 0.75}})["id"]
    in_session = settings(server, sessionId=session)["temperature"]
    assert (in_session["value"], in_session["source"]) == (0.75, "session")
    assert settings(server)["temperature"]["source"] == "config"
    assert server.request("GET", "config?sessionId=no").status_code == 404


def test_a_users_model_holds_over_one_that_a_lower_layer_has_for_a_mode(
    server: RunningServer, model: ScriptedModelServer, file: Path
) -> None:
    model.script(Say("One."), Say("Two."))
    server.post("chat", {"message": "one", "mode": "edit"})
    patch(server, model="openai/mine")
    server.post("chat", {"message": "two", "mode": "edit"})
    assert [request.body["model"] for request in model.requests] == ["for-edits", "mine"]


def test_no_secret_is_shown(tmp_path: Path) -> None:
    address = "https://me:swordfish@models.example/v1?key=AIzaSyA-0123456789"
    locked = '["model", "api_base"]'
    environment = {
        "DATALAYER_AGENT_API_BASE": address,
        "DATALAYER_AGENT_LOCKED": locked,
        "DATALAYER_AGENT_TOP_P": address,
        "DATALAYER_AGENT_MODEL": "openai/fixed",
        "OPENAI_API_KEY": "sk-test-0123456789abcdef",
    }
    with RunningServer(tmp_path, environment=environment) as server:
        reply = server.request("GET", "config")
        values = settings(server)
        refused = server.request("POST", "chat", json={"message": "hi", "model": "openai/x"})
        assert server.get("models")["locked"] is True
    assert values["api_base"]["value"] == "https://***@models.example/v1?key=***"
    for text in (reply.text, server.log.read_text()):
        assert "swordfish" not in text
        assert "AIza" not in text
        assert "sk-test" not in text
    assert values["mode_models"]["locked"], "else a user could go around the locked model"
    assert refused.status_code == 403
    assert "model is locked by the administrator of this server to 'openai/fixed'" in refused.text


def test_a_looser_value_that_is_written_into_the_file_waits_until_a_page_confirms_it(
    loose_server: RunningServer,
) -> None:
    server = loose_server
    folder = Path(server.environment["JUPYTER_CONFIG_DIR"], "lab", "user-settings")
    file = folder / "jupyter-datalayer-agent" / "settings.jupyterlab-settings"

    def shown() -> tuple[Any, ...]:
        each = settings(server)["approval_policy"]
        return each["value"], each.get("unconfirmed"), each["source"]

    assert shown() == ("destructive", None, "default")
    # What code does that writes the file, or sends it by JupyterLab's own route.
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{"approvalPolicy": "never"}')
    assert shown() == ("destructive", "never", "default")
    values = {"approval_policy": "never"}
    assert server.request("PATCH", "config", json={"values": values}).status_code == 403
    assert shown() == ("destructive", "never", "default")
    patch(server, **values)
    assert shown() == ("never", None, "user")
    # What protects more holds at once, and is then what may not be loosened.
    file.write_text('{"approvalPolicy": "always"}')
    assert shown() == ("always", None, "user")
    file.unlink()
    assert shown() == ("always", "destructive", "user")
    assert "waits to be confirmed in JupyterLab" in server.log.read_text()


@pytest.fixture
def loose_server(tmp_path: Path) -> Iterator[RunningServer]:
    with RunningServer(tmp_path) as running:
        yield running
