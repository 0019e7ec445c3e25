"""By whichever door a call comes: what changes while its card waits is shown anew, and does not
run before that."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import nbformat
import pytest

from tests.acp.editor import open_editor
from tests.acp.editor import run as in_loop
from tests.magic.kernels import LOAD, notebook_kernel
from tests.support.doors import CHANGES, JUNK, RUN, Waiting, changed_while_it_waits
from tests.support.jupyter import PYTHONPATH, RunningServer
from tests.support.mcp.client import connected
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.packages import declare
from tests.support.page import request_in_page, submit_in_page
from tests.support.planning import plan_of
from tests.support.waiting_calls import Folder

CLEARED = "\r\x1b[2K"
"""What the command line writes over the line that says what it does now."""


# -- the doors -------------------------------------------------------------------------------------


def panel(waiting: Waiting, *answers: Say, **more: Any) -> None:
    session = waiting.server.post("sessions", {})["id"]
    request = {
        "message": "go",
        "sessionId": session,
        "attachments": [{"kind": "notebook", "path": waiting.folder.notebook}],
        "activeNotebook": waiting.folder.notebook,
        "mode": "agent",
        **more,
    }
    waiting.model.script(waiting.call, *(answers or [Say("Done.")]))
    with closing(waiting.server.stream("chat/stream", request)) as events:
        waiting.follow(session, events)


def a_step_of_a_plan(waiting: Waiting) -> None:
    waiting.model.script(plan_of("Run the cell", tool="runNotebookCells"))
    # A cell that was not allowed to act has failed, and the plan asks the model for a repair.
    panel(waiting, Say("No."), Say("No."), message="agent: go", mode=None)


WORKFLOW = """
from jupyter_datalayer_agent.protocol.base import Wire
from jupyter_datalayer_agent.workflows.template import StepFailed, Template, TemplateStep


class Parameters(Wire):
    code: str = ""


async def act(run):
    is_again = "written" in run.facts
    run.facts["written"] = True
    await run.code(run.parameters.code, run=is_again)
    if not is_again:
        raise StepFailed("It is written, and runs when the workflow is resumed.")


TEMPLATE = Template(
    id="act",
    name="Act",
    description="Write a cell, and run it.",
    parameters=Parameters,
    steps=lambda parameters: [TemplateStep("Write a cell and run it", act)],
    keywords=(),
    notebook="act.ipynb",
)
"""


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    """One that has the workflow, too."""
    site = tmp_path_factory.mktemp("packages")
    (site / "act_workflow.py").write_text(WORKFLOW, encoding="utf-8")
    declare(site, "act", "[jupyter_datalayer_agent.workflows]\nact = act_workflow:TEMPLATE\n")
    with RunningServer(
        tmp_path_factory.mktemp("server"),
        api_base=shared_model.base_url,
        environment={"PYTHONPATH": os.pathsep.join([str(site), PYTHONPATH])},
    ) as running:
        shared_model.script(Say("Ready."))
        running.post("chat", {"message": "hello"})
        yield running


def a_step_of_a_workflow(waiting: Waiting) -> None:
    """By itself it writes its cell, and runs it when it is done again."""
    session = waiting.server.post("sessions", {})["id"]
    path = waiting.server.root / waiting.folder.notebook
    (cell,) = nbformat.read(path, as_version=4).cells
    waiting.folder.write()  # a workflow writes into the active notebook where that is empty
    request = {
        "message": "go",
        "sessionId": session,
        "activeNotebook": waiting.folder.notebook,
        "workflow": {"id": "act", "parameters": {"code": cell.source}},
        "location": "panel",
    }
    with closing(waiting.server.stream("chat/stream", request)) as events:
        waiting.follow(session, events)
    assert waiting.asked == []
    # The model is asked for a repair of the cell that was not allowed to run.
    waiting.model.script(Say("No."), Say("No."))
    after = waiting.server.get(f"sessions/{session}")["lastSeq"]
    submit_in_page(waiting.server, session, {"type": "resume"})
    route = f"sessions/{session}/events?after={after}"
    with closing(waiting.server.stream(route)) as events:
        waiting.follow(session, events)


def agent_in_a_cell(waiting: Waiting) -> None:
    waiting.model.script(waiting.call, Say("Done."))
    assert waiting.kernel.run(LOAD).status == "ok"
    assert waiting.kernel.run("%agent --mode agent go").status == "ok"
    (session,) = waiting.server.get("sessions", limit=1)["sessions"]
    route = f"sessions/{session['id']}/events?after=0"
    with closing(waiting.server.stream(route)) as events:
        waiting.follow(session["id"], events)


def command_line(waiting: Waiting) -> None:
    waiting.model.script(waiting.call, Say("Done."))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "jupyter_datalayer_agent.cli", "run", "go", "a.ipynb"]
    with subprocess.Popen(
        command,
        cwd=waiting.folder.path,
        env=waiting.server.environment,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
    ):
        os.close(theirs)
        said = ""
        while True:
            try:
                said += os.read(ours, 65536).decode()
            except OSError:  # the other end is closed
                break
            if said.endswith("[y/N] "):
                asked = said.rpartition(CLEARED)[2]
                answer = b"y\n" if waiting.decide(asked) == "approve" else b"n\n"
                said = ""
                os.write(ours, answer)
    os.close(ours)


def program_over_mcp(waiting: Waiting) -> None:
    async def elicit(message: str, schema: dict[str, Any]) -> dict[str, Any]:
        decision = await asyncio.to_thread(waiting.decide, message)
        return {"action": "accept", "content": {"decision": decision}}

    async def use() -> None:
        async with connected(waiting.server, elicit) as client:
            arguments = {"path": waiting.folder.notebook, **waiting.call.arguments}
            await client.call("getNotebookCells", {"path": waiting.folder.notebook})
            await client.call(waiting.call.name, arguments)

    asyncio.run(asyncio.wait_for(use(), 60))


def editor_over_acp(waiting: Waiting) -> None:
    waiting.model.script(waiting.call, Say("Done."))

    async def answer(call: Any) -> str:
        content = json.dumps([each.model_dump() for each in call.content or ()])
        decision = await asyncio.to_thread(waiting.decide, f"{call.title}\n{content}")
        return "allow_once" if decision == "approve" else "reject"

    async def use() -> None:
        async with open_editor(waiting.server) as (editor, agent):
            editor.answers += [answer, answer]
            session = await agent.new(waiting.server.root)
            await agent.ask(session, "go", waiting.server.root / waiting.folder.notebook)

    in_loop(use())


DOORS = [
    panel,
    a_step_of_a_plan,
    a_step_of_a_workflow,
    agent_in_a_cell,
    command_line,
    program_over_mcp,
    editor_over_acp,
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("door", DOORS)
def test_what_changed_while_a_card_waited_is_shown_and_does_not_run_unseen(
    server: RunningServer,
    model: ScriptedModelServer,
    door: Callable[[Waiting], None],
    change: Callable[[Waiting], None],
) -> None:
    changed_while_it_waits(server, model, door, change)


def test_the_inline_chat_runs_nothing_by_itself(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    folder = Folder(server, model)
    folder.write(JUNK)
    asked = folder.turn(RUN, meanwhile=lambda: None, decisions="", location="inline")
    assert asked == []
    assert "the inline chat only reads" in model.requests[-1].text
    assert folder.left == {"cars.csv", "junk.txt"}


MANY = [f"keep = {number}  # {'long ' * 40}{number}" for number in range(40)]
IDS = [f"c{number}" for number in range(40)]
PADDED = f"x = 1{' ' * 5_000}; y = 'end of the line'{chr(10) * 3_000}z = 'end of the code'"
HIDING = "x = 'shown'\r\x1b[2K\u202e# hidden"
REMOVE = Call("deleteNotebookCells", {"cellIds": IDS})
CARDS = {
    "forty cells": (REMOVE, [f"# {'long ' * 40}{number}" for number in range(40)]),
    "padded": (Call("executeCode", {"code": PADDED}), ["end of the line", "end of the code"]),
    "hiding": (Call("executeCode", {"code": HIDING}), ["\\r\\x1b[2K\\u202e# hidden"]),
}


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("door", [command_line, program_over_mcp, editor_over_acp])
def test_a_program_shows_all_that_is_asked_about(
    server: RunningServer,
    model: ScriptedModelServer,
    door: Callable[[Waiting], None],
    card: str,
) -> None:
    call, shown = CARDS[card]
    folder = Folder(server, model)
    folder.write(*MANY)
    with notebook_kernel(server, folder.notebook) as kernel:
        waiting = Waiting(folder, kernel, None, call)
        waiting.model.script(Call("getNotebookCells"))
        patch = {"values": {"approval_policy": "always"}}
        request_in_page(server, "PATCH", "config", json=patch)
        try:
            door(waiting)
        finally:
            back = {"values": {"approval_policy": "destructive"}}
            request_in_page(server, "PATCH", "config", json=back)
    (asked,) = waiting.asked
    text = asked.replace("\\\\", "\\") if door is editor_over_acp else asked
    assert [each for each in shown if each not in text] == []
    assert not {"\x1b", "\u202e"} & set(asked)
