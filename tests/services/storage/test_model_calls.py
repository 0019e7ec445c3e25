"""How many requests of a model it takes from a message to a proposal, for the same actions with a
schema form and with a wizard. docs/performance.md has the table of these."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from azure.storage.blob import BlobServiceClient

from tests.services.storage.test_azure_storage import azurite, environment
from tests.support.azurite import Azurite
from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.planning import of_type, submit, until

__all__ = ["azurite", "environment"]
DOCS = Path(__file__).parents[3] / "docs" / "performance.md"
KNOWN = {
    "container": ("reports", "reports"),
    "blob": ("sales.csv", "sales.csv"),
    "file": ("cars.csv", "cars.csv"),
}
MESSAGES = {
    "all is said": ("download", "Download sales.csv from reports", ["container", "blob"]),
    "the blob is not said": ("download", "Download it from reports", ["container"]),
    "the container is not said": ("download", "Download sales.csv", ["blob"]),
    "all is said, to upload": ("upload", "Upload cars.csv to reports", ["container", "file"]),
    "the file is not said": ("upload", "Upload it to reports", ["container"]),
}
MEASURED = {
    # message: (requests of the schema form, its open questions, of the wizard, its questions)
    "all is said": (1, [], 3, 3),
    "the blob is not said": (1, ["blob"], 2, 2),
    "the container is not said": (1, ["container"], 1, 1),
    "all is said, to upload": (1, [], 3, 3),
    "the file is not said": (1, ["file"], 1, 1),
}


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer() as running:
        yield running


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory,
    environment: dict[str, str],
    azurite: Azurite,
    model: ScriptedModelServer,
) -> Iterator[RunningServer]:
    known = {**environment, "AZURE_STORAGE_CONNECTION_STRING": azurite.connection()}
    folder = tmp_path_factory.mktemp("calls")
    with (
        BlobServiceClient.from_connection_string(azurite.connection()) as client,
        client.create_container("reports") as container,
    ):
        container.upload_blob("sales.csv", b"1")
    with RunningServer(folder, api_base=model.base_url, environment=known) as running:
        (running.root / "cars.csv").write_text("mpg\n18\n")
        yield running


def answer(names: list[str], said: list[str]) -> Say:
    values = {
        n: {"value": KNOWN[n][0], "source": KNOWN[n][1]} if n in said else None for n in names
    }
    return Say(json.dumps(values))


def requests_of(
    server: RunningServer, model: ScriptedModelServer, service: str, case: str
) -> tuple[int, dict[str, Any]]:
    """The requests from the message to its proposal, the second level left to no model."""
    action, message, said = MESSAGES[case]
    model.reset()
    names = ["container", "blob", "file", "to"]
    # Each request is answered with all that the message says; those asked for one thing read that.
    model.script(*[answer(names, said) for _ in range(8)])
    session = str(server.post("sessions", {})["id"])
    request = {
        "message": message,
        "location": "panel",
        "intent": {"service": service, "subcommand": action},
    }
    submit(server, session, {"type": "user_message", "request": request})
    events = until(
        server.stream(f"sessions/{session}/events?after=0"), "turn_completed", "turn_aborted"
    )
    (proposal,) = of_type(events, "action_proposed")
    return len(model.requests), proposal


@pytest.mark.parametrize("case", MESSAGES)
def test_the_requests_from_a_message_to_its_proposal(
    server: RunningServer, model: ScriptedModelServer, case: str
) -> None:
    form, filled = requests_of(server, model, "storage", case)
    wizard, asked = requests_of(server, model, "storage-wizards", case)
    missing = [e["name"] for e in filled["parameters"] if e["required"] and not e["found"]]
    measured = (form, missing, wizard, len(asked["parameters"]))
    print(case, measured)
    # The aims: one for the form, at most one more than its questions for the wizard.
    assert form == 1
    assert wizard <= len(asked["parameters"]) + 1
    assert filled["complete"] == asked["complete"] == (not missing)
    assert measured == MEASURED[case]
    line = f"| {case} | {form} | {wizard} | {len(asked['parameters'])} |"
    assert line in DOCS.read_text(encoding="utf-8")
