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

import pytest

from tests.acp.editor import open_editor
from tests.acp.editor import run as in_loop
from tests.magic.kernels import LOAD, Kernel, notebook_kernel
from tests.support.jupyter import RunningServer
from tests.support.mcp.client import connected
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.page import request_in_page, submit_in_page
from tests.support.planning import plan_of
from tests.support.waiting_calls import Folder

JUNK, CARS = "!rm junk.txt", "!rm cars.csv"
CLEARED = "\r\x1b[2K"
"""What the command line writes over the line that says what it does now."""
RUN = Call("runNotebookCells", {"all": True})
DECISIONS = ("approve", "deny")


class Waiting:
    """A call on a notebook, by which all cells run. The first card is approved, after something
    was changed; the second is denied. Without a change the first one is."""

    def __init__(
        self,
        folder: Folder,
        kernel: Kernel,
        change: Callable[[Waiting], None] | None,
        call: Call = RUN,
    ) -> None:
        self.folder, self.kernel, self.call = folder, kernel, call
        self.server, self.model = folder.server, folder.model
        self.asked: list[str] = []
        self._change = change

    def decide(self, asked: str) -> str:
        """The decision on this card."""
        if not self.asked and self._change is not None:
            self._change(self)
        self.asked.append(asked)
        return "deny" if self._change is None else DECISIONS[len(self.asked) - 1]

    def follow(self, session: str, events: Iterator[dict[str, Any]]) -> None:
        """Decide in a page, to the turn's end."""
        for event in events:
            if event["type"] == "approval_requested":
                op = {"type": "approval_decision", "approvalId": event["approvalId"]}
                decision = self.decide(event["reason"])
                submit_in_page(self.server, session, {**op, "decision": decision})
            if event["type"] in ("turn_completed", "turn_aborted"):
                return
        raise AssertionError("the turn has no end")


# -- what changes ----------------------------------------------------------------------------------


def on_the_disk(waiting: Waiting) -> None:
    waiting.folder.write(CARS)


def by_the_kernel(waiting: Waiting) -> None:
    path = waiting.server.root / waiting.folder.notebook
    done = waiting.kernel.run(
        f"import pathlib; p = pathlib.Path({str(path)!r})\n"
        "_ = p.write_text(p.read_text().replace('junk.txt', 'cars.csv'))"
    )
    assert done.status == "ok"


def by_another_file_in_its_place(waiting: Waiting) -> None:
    other = waiting.folder.path / "other.ipynb"
    path = waiting.server.root / waiting.folder.notebook
    other.write_text(path.read_text().replace("junk.txt", "cars.csv"), encoding="utf-8")
    other.replace(path)


def a_variable_of_the_kernel(waiting: Waiting) -> None:
    assert waiting.kernel.run("name = 'cars.csv'").status == "ok"


def the_folder_of_the_kernel(waiting: Waiting) -> None:
    other = waiting.folder.path / "other"
    other.mkdir()
    (other / "junk.txt").write_text("the user's", encoding="utf-8")
    assert waiting.kernel.run("import os; os.chdir('other')").status == "ok"


CHANGES = {
    on_the_disk: (JUNK, "cars.csv"),
    by_the_kernel: (JUNK, "cars.csv"),
    by_another_file_in_its_place: (JUNK, "cars.csv"),
    a_variable_of_the_kernel: ("!rm {name}", "cars.csv"),
    the_folder_of_the_kernel: (JUNK, "other"),
}


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
    source, shown = CHANGES[change]
    folder = Folder(server, model)
    folder.write(source)
    with notebook_kernel(server, folder.notebook) as kernel:
        assert kernel.run("name = 'junk.txt'").status == "ok"
        waiting = Waiting(folder, kernel, change)
        door(waiting)
        (_, second) = waiting.asked
        assert shown in second
    assert folder.left == {"cars.csv", "junk.txt"}
    other = folder.path / "other" / "junk.txt"
    assert change is not the_folder_of_the_kernel or other.exists()


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
