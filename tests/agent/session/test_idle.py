"""An idle session is unloaded, and loaded again as it was."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.agent.session.test_two_tabs import Tab
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, Say, ScriptedModelServer
from tests.support.page import FakePage
from tests.support.sessions import chat, edit, new_notebook, sources, turns

IDLE = {"DATALAYER_AGENT_SESSION_IDLE_SECONDS": "0.1"}


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    """A server that lets sessions go after a tenth of a second, and says so in its log."""
    with RunningServer(
        tmp_path_factory.mktemp("idle"),
        api_base=shared_model.base_url,
        environment=IDLE,
        arguments=["--DatalayerAgentApp.log_level=DEBUG"],
    ) as running:
        shared_model.script(Say("Ready."))
        running.post("chat", {"message": "hello"})
        yield running


class Log:
    """The server's log from here on."""

    def __init__(self, tail: subprocess.Popen[str]) -> None:
        self._tail = tail

    def wait_until_gone(self, session: str) -> None:
        """Wait until the session has left the memory once more."""
        assert self._tail.stdout is not None
        for line in self._tail.stdout:
            if f"Session {session} leaves the memory" in line:
                return
        raise AssertionError("The log ended.")


@contextmanager
def following(server: RunningServer) -> Iterator[Log]:
    command = ["tail", "-c", "+1", "-f", str(server.log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as tail:
        try:
            yield Log(tail)
        finally:
            tail.kill()


def test_it_comes_back_with_its_conversation_settings_and_listeners(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, _ = chat(server, model, ("My colour is blue", "Noted."))
    server.request("PATCH", f"sessions/{session}", json={"settings": {"mode": "edit"}})
    with FakePage(server, "listens") as page, following(server) as log:
        tab = Tab(page, session)
        tab.wait_for("turn_completed")
        for number in range(2):
            log.wait_until_gone(session)
            model.script(Say(f"Blue {number}."))
            tab.say(f"Which colour {number}?")
            tab.wait_for("final_reply", text=f"Blue {number}.")
            assert "My colour is blue" in model.requests[-1].text
            tab.wait_for("turn_completed")
        log.wait_until_gone(session)
        server.request("PATCH", f"sessions/{session}", json={"title": "Sent all the same"})
        tab.wait_for("session_configured", title="Sent all the same")
        numbers = [event["seq"] for event in tab.events]
        assert numbers == sorted(set(numbers))
    assert server.get(f"sessions/{session}")["settings"]["mode"] == "edit"


def test_what_the_model_saw_and_what_was_approved_is_still_known(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    path = server.root / "idle.ipynb"
    new_notebook(path, "a = 1", "b = 1")
    session = edit(
        server, model, path.name, Call("updateNotebookCell", {"cellId": "c0", "content": "a = 2"})
    )["sessionId"]
    request = {
        "message": "Go on",
        "sessionId": session,
        "mode": "agent",
        "location": "panel",
        "attachments": [{"kind": "notebook", "path": path.name}],
        "activeNotebook": path.name,
    }
    delete = Call("deleteNotebookCells", {"cellIds": ["c1"]})
    with FakePage(server, "approves") as page, following(server) as log:
        log.wait_until_gone(session)
        tab = Tab(page, session)
        model.script(delete, Say("Deleted."))
        tab.submit({"type": "user_message", "request": {**request, "clientId": "approves"}})
        asked = tab.wait_for("approval_requested")["approvalId"]
        decision = {"type": "approval_decision", "approvalId": asked}
        tab.submit({**decision, "decision": "approve_for_session"})
        tab.wait_for("turn_completed", turnId=turns(server, session)[-1]["id"])
        log.wait_until_gone(session)
        model.script(Call("deleteNotebookCells", {"cellIds": ["c0"]}), Say("That one, too."))
        tab.submit({"type": "user_message", "request": {**request, "clientId": "approves"}})
        tab.wait_for("final_reply", text="That one, too.")
    assert sources(path) == []


def test_a_session_with_a_turn_that_runs_or_waits_stays(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    runs = server.post("sessions", {})["id"]
    other = server.post("sessions", {})["id"]
    with FakePage(server, "waits") as page, following(server) as log:
        tab = Tab(page, runs)
        model.script(Gate(Say("At last."), after=0))
        tab.say("Take your time")
        tab.wait_for("turn_started")
        tab.say("Then this")
        queued = tab.wait_for("op_queued")
        # Another session comes and goes meanwhile, twice: there is time enough to go.
        for _ in range(2):
            server.get(f"sessions/{other}")
            log.wait_until_gone(other)
        assert server.get(f"sessions/{runs}")["runningTurnId"]
        model.script(Say("Done."))
        model.release()
        tab.wait_for("final_reply", text="At last.")
        tab.wait_for("turn_started", opId=queued["opId"])
        tab.wait_for("final_reply", text="Done.")
        assert [event["type"] for event in tab.events].count("turn_aborted") == 0
