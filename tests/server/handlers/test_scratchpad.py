"""The scratchpad over HTTP: cells that say which answer they come from."""

from __future__ import annotations

import nbformat

from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.sessions import act, chat, turns

PICTURE = {
    "output_type": "display_data",
    "data": {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"},
    "metadata": {},
}


def test_cells_carry_the_provenance_of_their_turn(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("The mean is **119**."))
    turn = server.post("chat", {"message": "What is the mean?"})
    reply = server.post(
        "scratchpad",
        {
            "cells": [
                {"content": "The mean is **119**.", "turnId": turn["turnId"]},
                {
                    "type": "code",
                    "content": "cars.plot()",
                    "outputs": [PICTURE],
                    "turnId": turn["turnId"],
                },
            ]
        },
    )
    assert (reply["path"], reply["created"]) == ("scratchpad.ipynb", True)
    more = server.post("scratchpad", {"cells": [{"content": "A note of my own."}]})
    assert (more["path"], more["created"]) == ("scratchpad.ipynb", False)

    notebook = nbformat.read(server.root / "scratchpad.ipynb", as_version=4)
    nbformat.validate(notebook)
    answer, plot, note = notebook.cells
    provenance = {
        "aiTurnId": turn["turnId"],
        "providerId": "openai",
        "responseType": "batch",
        "responseIndex": 0,
    }
    about = {"provenance": provenance, "sessionId": turn["sessionId"]}
    assert answer.metadata.datalayer_agent == about
    assert plot.metadata.datalayer_agent == about
    assert plot.outputs[0].data["image/png"] == PICTURE["data"]["image/png"]
    assert "datalayer_agent" not in note.metadata
    assert [answer.id, plot.id, note.id] == [*reply["cellIds"], *more["cellIds"]]
    found = server.get("responses", **provenance)
    assert found["text"] == "The mean is **119**."


def test_an_answer_is_not_taken_for_the_summary_that_ends_with_it(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, _ = chat(server, model, ("Number?", "Forty-two."), ("And now?", "Nothing."))
    model.script(Say("They spoke of a number."))
    act(server, session, {"type": "compact"}, "context_compacted")
    for turn in turns(server, session):
        cell = {"content": "Kept", "turnId": turn["id"]}
        reply = server.post("scratchpad", {"cells": [cell]})
        notebook = nbformat.read(server.root / reply["path"], as_version=4)
        about = notebook.cells[-1].metadata.datalayer_agent.provenance
        assert (about.aiTurnId, about.responseType) == (turn["id"], "batch")


def test_another_notebook_may_be_one_but_is_not_made(server: RunningServer) -> None:
    missing = server.request(
        "POST", "scratchpad", json={"path": "mine.ipynb", "cells": [{"content": "x"}]}
    )
    assert missing.status_code == 404
    no_notebook = server.request("POST", "scratchpad", json={"path": "notes.md"})
    assert no_notebook.status_code == 400
    nbformat.write(nbformat.v4.new_notebook(), server.root / "mine.ipynb")
    reply = server.post("scratchpad", {"path": "mine.ipynb", "cells": [{"content": "x"}]})
    assert (reply["path"], reply["created"]) == ("mine.ipynb", False)
    assert nbformat.read(server.root / "mine.ipynb", as_version=4).cells[0].source == "x"


def test_a_turn_that_is_not_there_adds_nothing(server: RunningServer) -> None:
    refused = server.request(
        "POST", "scratchpad", json={"cells": [{"content": "x", "turnId": "trn_none"}]}
    )
    assert refused.status_code == 404
    assert refused.json()["error"]["code"] == "not_found"
