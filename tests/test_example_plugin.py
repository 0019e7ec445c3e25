"""The package of examples/moon-phase, installed by pip, on a real server without another model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.packages import install

EXAMPLE = Path(__file__).parents[1] / "examples" / "moon-phase"
LONGEST = 120


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return install(EXAMPLE, tmp_path_factory.mktemp("packages") / "site")


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> Iterator[RunningServer]:
    with RunningServer(
        tmp_path_factory.mktemp("server"),
        environment={**environment, "MOON_KEY": "sk-moon-0123456789abcdef"},
    ) as running:
        yield running


def test_the_example_is_short() -> None:
    files = [each for each in EXAMPLE.rglob("*") if each.suffix in (".py", ".js", ".json", ".toml")]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(files) == 4
    assert sum(bool(line.strip()) for line in lines) <= LONGEST


def test_its_model_calls_its_tool_and_the_result_is_shown(server: RunningServer) -> None:
    models = server.get("models")
    assert models["default"] == "moon/full"
    assert models["ready"]
    [listed] = [each for each in models["models"] if each["id"] == "moon/full"]
    assert (listed["label"], listed["provider"]) == ("Full Moon", "Moon")
    events = list(server.stream("chat/stream", {"message": "How is the moon?"}))
    [output] = [each for each in events if each["type"] == "tool_call_output"]
    assert output["status"] == "ok"
    assert output["mimeBundle"] == {
        "application/vnd.moon-phase+json": {"phase": 0.5},
        "text/plain": "Phase 0.5",
    }
    reply = "".join(each["delta"] for each in events if each["type"] == "text_delta")
    assert reply.startswith("The tool said: ")
    assert '"phase":0.5' in reply.replace(" ", "")
    # What is shown to the user is not sent to the model.
    assert "mime" not in reply.lower()
    assert "vnd.moon-phase" not in reply


def test_a_group_of_its_own_is_listed(server: RunningServer) -> None:
    [tool] = [each for each in server.get("tools")["tools"] if each["name"] == "moonPhase"]
    assert tool["group"] == "astronomy"
    assert tool["enabled"]


def test_its_workflow_and_its_service_are_there(server: RunningServer) -> None:
    assert "moon-diary" in [each["id"] for each in server.get("workflows")["workflows"]]
    services = server.get("services")
    assert services["problems"] == []
    assert "moon" in [each["id"] for each in services["services"]]
    body: Any = {"parameters": {"day": "2026-11-24"}}
    reply = server.post("services/moon/actions/tell/run", body)["reply"]
    assert reply == "The phase on 2026-11-24 is 0.50."


def test_without_its_key_it_is_not_ready_and_says_what_to_do(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with RunningServer(tmp_path, environment=environment) as bare:
        reply = bare.get("models", model="moon/full")
        assert reply.get("default") is None
        assert reply["models"][0]["ready"] is False
        assert reply["models"][0]["reason"] == "MOON_KEY is not set. Set it and restart JupyterLab."
