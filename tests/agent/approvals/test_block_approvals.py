"""Code of a Lexical document waits for the user as that of notebooks does; what was declined has
changed nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.lexical.block_types import new_blocks
from jupyter_datalayer_agent.notebook.lexical.convert import new_document
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer

FOLDER = "block-approvals"
NAME = f"{FOLDER}/asked.dlex"
ENDS = ("turn_completed", "turn_aborted")
SET_UP = "import os as system\nOUT = 'cars.csv'"
# What the guard does not see while it runs, and so is asked about before.
REMOVE = "!rm cars.csv"


class Asked:
    """A document with code that sets up names, its text and what is beside it."""

    def __init__(self, server: RunningServer, model: ScriptedModelServer) -> None:
        self.server, self.model = server, model
        folder = server.root / FOLDER
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self.data = folder / "cars.csv"
        self.data.write_text("mpg\n18\n", encoding="utf-8")
        self.file: Path = server.root / NAME
        nodes = [*new_blocks("markdown", "# Cars"), *new_blocks("jupyter-input", SET_UP)]
        self.file.write_text(new_document(nodes))
        self.before = self.file.read_bytes()

    def ids(self) -> list[str]:
        body = {"arguments": {}, "path": NAME}
        blocks = self.server.post("tools/readAllBlocks", body)["output"]["blocks"]
        return [each["id"] for each in blocks]

    def turn(
        self, *calls: Call, decision: str = "deny", feedback: str = "", **more: Any
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The approval requests of these calls, each decided on so, and what became of the
        calls."""
        self.model.script(*calls, Say("Done."))
        session = self.server.post("sessions", {})["id"]
        request = {
            "message": "go",
            "mode": "agent",
            "sessionId": session,
            "attachments": [{"kind": "file", "path": NAME}],
            "activeNotebook": NAME,
        }
        asked, ended = [], []
        for event in self.server.stream("chat/stream", request | more):
            if event["type"] == "approval_requested":
                asked.append(event)
                # Nothing has happened while it waits.
                assert self.file.read_bytes() == self.before
                op = {
                    "type": "approval_decision",
                    "approvalId": event["approvalId"],
                    "decision": decision,
                    "feedback": feedback,
                }
                self.server.post(f"sessions/{session}/ops", op)
            elif event["type"] == "tool_call_output":
                ended.append(event)
            elif event["type"] in ENDS:
                assert event["type"] == "turn_completed", event
                return asked, ended
        raise AssertionError("the turn has no end")


@pytest.fixture
def document(server: RunningServer, model: ScriptedModelServer) -> Iterator[Asked]:
    yield Asked(server, model)
    for each in server.get("/api/sessions"):
        server.request("DELETE", f"/api/sessions/{each['id']}")


def code(source: str, **more: Any) -> dict[str, Any]:
    return {"type": "jupyter-input", "content": source, **more}


def test_new_code_that_runs_and_removes_a_file_asks_and_declined_nothing_is_done(
    document: Asked,
) -> None:
    calls = [
        Call("insertBlock", code(REMOVE, run=True)),
        Call("insertBlock", {"content": f"Text\n\n```{{code-cell}} python\n{REMOVE}\n```",
                             "run": True}),
        Call("insertBlocks", {"blocks": [{"content": "Text"}, code(REMOVE)], "run": True}),
    ]  # fmt: skip
    asked, ended = document.turn(*calls, feedback="Keep my data")
    assert [each["reason"] for each in asked] == ["The new block removes cars.csv (line 1)"] * 3
    assert [each["kinds"] for each in asked] == [["removes or moves files"]] * 3
    assert all(each["destructive"] for each in asked)
    # What it would do to the document is shown with it.
    assert REMOVE in asked[0]["changes"][0]["after"]
    assert [each["status"] for each in ended] == ["denied"] * 3
    assert "Keep my data" in document.model.requests[-1].text
    assert document.file.read_bytes() == document.before
    assert document.data.exists()


def test_changed_code_that_runs_and_removes_a_file_asks_and_declined_nothing_is_done(
    document: Asked,
) -> None:
    _, block = document.ids()
    edits = [{"oldString": "OUT = 'cars.csv'", "newString": "!rm cars.csv"}]
    asked, ended = document.turn(
        Call("readAllBlocks"),
        Call("updateBlock", {"blockId": block, "content": "!rm cars.csv", "run": True}),
        Call("updateBlock", {"blockId": block, "edits": edits, "run": True}),
    )
    assert [each["reason"] for each in asked] == [
        "The changed block removes cars.csv (line 1)",
        "The changed block removes cars.csv (line 2)",
    ]
    assert [each["status"] for each in ended] == ["ok", "denied", "denied"]
    assert document.file.read_bytes() == document.before
    assert document.data.exists()


def test_a_run_asks_by_the_numbers_of_the_blocks(document: Asked) -> None:
    nodes = [node for each in (SET_UP, REMOVE) for node in new_blocks("jupyter-input", each)]
    document.file.write_text(new_document(nodes))
    document.before = document.file.read_bytes()
    _, second = document.ids()
    asked, ended = document.turn(Call("runAllBlocks"), Call("runBlock", {"blockId": second}))
    assert [each["reason"] for each in asked] == ["Block 2 removes cars.csv (line 1)"] * 2
    assert [each["status"] for each in ended] == ["denied"] * 2
    assert document.file.read_bytes() == document.before
    assert document.data.exists()


def test_what_is_not_run_or_does_nothing_beyond_the_kernel_does_not_ask(document: Asked) -> None:
    asked, ended = document.turn(
        Call("insertBlock", code(REMOVE)),
        Call("insertBlock", code("text = open('cars.csv').read()\nlen(text)", run=True)),
        Call("insertBlock", {"type": "code", "content": REMOVE, "run": True}),
    )
    assert asked == []
    assert [each["status"] for each in ended] == ["ok"] * 3
    assert document.data.exists()


def test_what_the_user_approves_is_done(document: Asked) -> None:
    run = Call("insertBlock", code(f"{REMOVE}\n'gone'", run=True))
    asked, ended = document.turn(run, decision="approve")
    assert len(asked) == 1
    assert [each["status"] for each in ended] == ["ok"]
    assert not document.data.exists()
    assert "gone" in document.file.read_text()


def test_under_always_every_change_and_run_asks_and_declined_nothing_is_done(
    document: Asked,
) -> None:
    text, block = document.ids()
    calls = [
        Call("insertBlock", {"content": "New"}),
        Call("updateBlock", {"blockId": text, "content": "Other"}),
        Call("deleteBlocks", {"blockIds": [text]}),
        Call("runBlock", {"blockId": block}),
    ]
    asked, ended = document.turn(Call("readAllBlocks"), *calls, approval="always")
    names = ["insertBlock", "updateBlock", "deleteBlocks", "runBlock"]
    assert [each["name"] for each in asked] == names
    assert [each["status"] for each in ended] == ["ok", *["denied"] * 4]
    assert document.file.read_bytes() == document.before


@pytest.mark.parametrize("mode", ["ask", "edit"])
def test_other_modes_refuse_it_at_dispatch_and_do_not_ask(document: Asked, mode: str) -> None:
    run = Call("insertBlock", code(REMOVE, run=True))
    asked, ended = document.turn(run, mode=mode, approval="always")
    assert asked == []
    assert [each["status"] for each in ended] == ["error"]
    assert "only Agent mode" in str(ended[0]["output"])
    assert document.file.read_bytes() == document.before
    assert document.data.exists()
