"""A workflow as an action: run as ``POST workflows/{id}`` runs it, with a real kernel."""

from __future__ import annotations

import nbformat

from tests.support.jupyter import RunningServer
from tests.support.planning import of_type, until


def test_the_form_is_proposed_and_running_it_runs_the_workflow(server: RunningServer) -> None:
    (server.root / "pets.csv").write_text("name,age\nTom,3\nRex,5\nKit,\n")
    session = str(server.post("sessions", {})["id"])
    found = server.post(
        "services/report/actions/write/dry-run", {"message": "a report of pets.csv into pets.ipynb"}
    )
    values = {each["name"]: each["value"] for each in found["parameters"] if each["found"]}
    assert values == {"data": "pets.csv", "notebook": "pets.ipynb"}
    assert not (server.root / "pets.ipynb").exists()

    body = {"parameters": values, "sessionId": session}
    reply = server.request("POST", "services/report/actions/write/run", json=body).json()
    assert reply["status"] == "completed", reply
    notebook = nbformat.read(server.root / "pets.ipynb", as_version=4)
    outputs = str([each.get("outputs") for each in notebook.cells])
    assert "pets.csv" in notebook.cells[0].source
    assert "'(3, 2)'" in outputs
    assert "33.3" in outputs  # the share of ages that are missing, in percent
    events = until(server.stream(f"sessions/{session}/events?after=0"), "turn_completed")
    assert of_type(events, "step_started")
    assert of_type(events, "action_finished")[0]["paths"] == ["pets.ipynb"]

    again = server.request("POST", "services/report/actions/write/run", json=body).json()
    assert "pets.ipynb already exists." in again["error"]["message"]
