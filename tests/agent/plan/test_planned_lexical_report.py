"""The report workflow in a Lexical document: one that is empty and active is filled, and a block
that fails at run time is repaired by the model, after which the rest follows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.lexical.convert import empty_document
from jupyter_datalayer_agent.notebook.lexical.nodes import source_of
from tests.agent.changes.test_undo_over_http import undo
from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.lexical import assert_lexical
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.planning import of_type, plan_states

NAME = "mine.dlex"
# A library of a version whose function takes other arguments, in every kernel of the server.
OTHER_VERSION = """
import seaborn


def heatmap(*args, **more):
    raise TypeError("heatmap() got an unexpected keyword argument 'annot'")


seaborn.heatmap = heatmap
"""
REPAIRED = "plt.imshow(df[['Horsepower', 'Weight_in_lbs']].corr())\nplt.show()"


@pytest.fixture
def server(tmp_path: Path, model: ScriptedModelServer) -> Iterator[RunningServer]:
    startup = tmp_path / "home/ipython/profile_default/startup"
    startup.mkdir(parents=True)
    (startup / "00-seaborn.py").write_text(OTHER_VERSION)
    with RunningServer(tmp_path, api_base=model.base_url) as running:
        write_cars(running.root)
        yield running


def report(server: RunningServer, **more: Any) -> tuple[Any, list[dict[str, Any]]]:
    """The reply to a request for a report of the cars in the active, empty document, and the
    events of its turn."""
    workflow = {
        "id": "data-visualization-report",
        "parameters": {"data": "cars.csv", "format": "lexical"},
    }
    attached = [{"kind": "file", "path": NAME}]
    body = {
        "message": "Write the report", "mode": "agent", "location": "panel", "approval": "never",
        "activeNotebook": NAME, "attachments": attached, "workflow": workflow,
    }  # fmt: skip
    reply = server.post("chat", body | more)
    turns = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    return reply, turns[-1]["events"]


def blocks(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file.read_text())["root"]["children"]
    return found


def errors(file: Path) -> list[Any]:
    outputs = [each for block in blocks(file) for each in block.get("outputs", [])]
    return [each for each in outputs if each["output_type"] == "error"]


def test_a_block_that_fails_is_repaired_by_the_model_and_the_rest_of_the_report_follows(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    file = server.root / NAME
    file.write_text(empty_document())
    before = file.read_bytes()

    def repair(request: Any) -> Call:
        answers = [each for each in request.body["messages"] if each["role"] == "tool"]
        read = json.loads(answers[-1]["content"])["blocks"]
        bad = next(each for each in read if "heatmap" in each["content"])
        assert "TypeError" in bad["outputs"]
        update = {"blockId": bad["id"], "content": REPAIRED, "run": True}
        return Call("updateBlock", update)

    model.script(Call("readAllBlocks"), repair, Say("Drawn by imshow."))
    reply, events = report(server)
    assert reply["status"] == "completed", reply
    assert plan_states(events) == ["running", "completed"]
    [started] = of_type(events, "recovery_started")
    assert "TypeError" in started["error"]
    assert [each["success"] for each in of_type(events, "recovery_finished")] == [True]
    assert [e["success"] for e in of_type(events, "step_finished")] == [True] * 7
    # The model is told which block failed and why, and changes that one in place.
    assert "Block " in model.requests[0].text
    assert "fix the block in place" in model.requests[0].text
    written = [(each["type"], source_of(each)) for each in blocks(file)]
    kinds = [kind for kind, _ in written]
    assert kinds[0] == "heading", "the empty paragraph is gone"
    place = written.index(("jupyter-input", REPAIRED))
    assert not [source for _, source in written if "heatmap" in source]
    assert ("heading", "What goes together") in written[:place]
    assert kinds[place + 1] == "jupyter-output"
    assert "image/png" in json.dumps(blocks(file)[place + 1])
    # What follows: the scatter plot of the same step, then the conclusions.
    assert "jupyter-input" in kinds[place + 2 :]
    assert written[-2] == ("heading", "Conclusions")
    assert errors(file) == []
    assert "blocks read back" in reply["reply"]
    assert_lexical([file.read_text()])
    assert [each.name for each in server.root.iterdir() if each.suffix == ".dlex"] == [NAME]
    undone = undo(server, reply)
    assert undone["conflicts"] == []
    (change,) = undone["changes"]
    assert change["before"].startswith("# Visual report"), "Markdown, without pictures"
    assert file.read_bytes() == before


@pytest.mark.parametrize("restarted", [False, True], ids=["same-server", "restarted"])
def test_a_report_that_stopped_is_continued_in_its_document_without_a_second_part(
    server: RunningServer, model: ScriptedModelServer, restarted: bool
) -> None:
    file = server.root / NAME
    file.write_text(empty_document())
    model.script(Say("I cannot."), Say("I cannot."))
    reply, events = report(server)
    assert "Stopped at step 6 of 7" in reply["reply"]
    assert plan_states(events)[-1] == "stopped"
    stopped = [source_of(each) for each in blocks(file) if each["type"] != "jupyter-output"]
    # The user repairs the block, and writes another heading over it.
    text = file.read_text().replace("sns.heatmap(", "(lambda *_, **more: None)(")
    text = text.replace("What goes together", "What belongs together")
    assert text != file.read_text()
    file.write_text(text)

    if restarted:
        server.kill()
        server.start()
    again = server.post(
        "chat",
        {"message": "agent: continue", "sessionId": reply["sessionId"], "activeNotebook": NAME,
         "attachments": [{"kind": "file", "path": NAME}], "approval": "never"},
    )  # fmt: skip
    assert again["status"] == "completed", again
    done = [source_of(each) for each in blocks(file) if each["type"] != "jupyter-output"]
    heading = stopped.index("What goes together")
    assert done[:heading] == stopped[:heading]
    assert done[heading] == "What belongs together"
    assert "What goes together" not in done
    assert len([each for each in done if "correlations = df" in each]) == 1
    assert done[-2] == "Conclusions"
