"""Two pages on one session: they see the same, and what one of them does is sent to both."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import nbformat

from jupyter_datalayer_agent.store.queries.event_log import join_deltas
from tests.server.page.test_socket import editor_state
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, Say, ScriptedModelServer
from tests.support.page import FakePage
from tests.support.planning import plan_of
from tests.support.sessions import chat

Event = dict[str, Any]


class Tab:
    """A page that listens to a session, and every event of it that it received."""

    def __init__(self, page: FakePage, session: str) -> None:
        self.page = page
        self.session = session
        self.events: list[Event] = []
        page.send({"type": "subscribe", "sessionId": session})

    def submit(self, op: dict[str, Any]) -> None:
        ref = {"ref": uuid.uuid4().hex, "sessionId": self.session}
        self.page.send({"type": "submit_op", **ref, "op": op})

    def say(self, message: str, **more: Any) -> None:
        self.submit({"type": "user_message", "request": {"message": message, **more}})

    def wait_for(self, kind: str, **fields: Any) -> Event:
        """The next event of that type with these fields."""
        while True:
            message = self.page.received.get(timeout=30)
            if message["type"] != "event":
                continue
            event: Event = message["event"]
            self.events.append(event)
            if event["type"] == kind and fields.items() <= event.items():
                return event


@contextmanager
def two_tabs(server: RunningServer, session: str) -> Iterator[tuple[Tab, Tab]]:
    with FakePage(server, "one") as one, FakePage(server, "two") as two:
        yield Tab(one, session), Tab(two, session)


def new_session(server: RunningServer) -> str:
    session: str = server.post("sessions", {})["id"]
    return session


def test_both_tabs_receive_the_same_in_the_same_order(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("One two three four.", chunk=4), Say("Second."))
    session = new_session(server)
    with two_tabs(server, session) as (one, two):
        one.say("Hello")
        for tab in (one, two):
            tab.wait_for("turn_completed")
        two.say("Again")
        for tab in (one, two):
            tab.wait_for("turn_completed")
        server.request("PATCH", f"sessions/{session}", json={"title": "Renamed"})
        for tab in (one, two):
            tab.wait_for("session_configured", title="Renamed")
        assert one.events == two.events
        numbers = [event["seq"] for event in one.events]
        assert numbers == list(range(1, len(numbers) + 1))
        late = Tab(one.page, session)
        late.wait_for("session_configured", title="Renamed")
        # Who comes later receives the same; text that was streamed may come in one piece.
        assert join_deltas(late.events) == join_deltas(two.events)


def test_a_second_message_waits_and_is_shown_as_waiting_in_both_tabs(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("First."), after=0), Say("Second."))
    session = new_session(server)
    with two_tabs(server, session) as (one, two):
        one.say("first")
        two.wait_for("turn_started", message="first")
        two.say("second")
        queued = [tab.wait_for("op_queued", message="second") for tab in (one, two)]
        op_id = queued[0]["opId"]
        waiting = server.get(f"sessions/{session}")["queued"]
        assert waiting == [{"opId": op_id, "message": "second"}]
        model.release()
        for tab in (one, two):
            tab.wait_for("op_dequeued", opId=op_id, reason="started")
            tab.wait_for("turn_started", message="second", opId=op_id)
            tab.wait_for("turn_completed")
        assert server.get(f"sessions/{session}")["queued"] == []


def test_a_change_of_tab_while_a_message_waits_does_not_redirect_it(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    for name in ("meant.ipynb", "other.ipynb"):
        nbformat.write(nbformat.v4.new_notebook(), server.root / name)
    both = [{"kind": "notebook", "path": path} for path in ("meant.ipynb", "other.ipynb")]
    model.script(Gate(Say("One two three", chunk=4), after=1), Say("Second."))
    session = new_session(server)
    with two_tabs(server, session) as (one, two):
        one.page.send(editor_state(active="meant.ipynb"))
        one.say("first")
        one.wait_for("text_delta")
        # Which notebook is active is left to what the page reports.
        request = {"message": "second", "attachments": both, "clientId": "one", "mode": "agent"}
        one.submit({"type": "user_message", "request": request})
        one.wait_for("op_queued")
        one.page.send(editor_state(active="other.ipynb"))
        # Answered once the page's state was taken.
        one.page.send({"type": "subscribe", "sessionId": "nobody"})
        one.page.wait_for("op_rejected")
        model.release()
        two.wait_for("turn_started", message="second")
        two.wait_for("turn_completed")
    text = model.requests[-1].text
    assert "Notebook meant.ipynb: " in text
    assert "Notebook other.ipynb: " not in text


def test_one_tab_takes_back_what_the_other_let_wait(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("First."), after=0))
    session = new_session(server)
    with two_tabs(server, session) as (one, two):
        one.say("first")
        one.wait_for("turn_started")
        one.say("second")
        op_id = two.wait_for("op_queued")["opId"]
        two.submit({"type": "dequeue", "opId": op_id})
        for tab in (one, two):
            tab.wait_for("op_dequeued", opId=op_id, reason="removed")
        two.submit({"type": "dequeue", "opId": op_id})
        assert "no longer queued" in one.wait_for("error")["message"]
        model.release()
        one.wait_for("turn_completed")
        assert len(model.requests) == 1


def test_a_waiting_message_that_is_sent_now_interrupts_and_goes_before_the_others(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("One two three", chunk=4), after=1), Say("Third."), Say("Second."))
    session = new_session(server)
    with two_tabs(server, session) as (one, two):
        one.say("first")
        one.wait_for("text_delta")
        one.say("second")
        one.say("third")
        two.wait_for("op_queued", message="second")
        op_id = two.wait_for("op_queued", message="third")["opId"]
        two.submit({"type": "send_now", "opId": op_id})
        for tab in (one, two):
            tab.wait_for("turn_aborted", reason="replaced")
            tab.wait_for("turn_started", message="third")
            tab.wait_for("turn_started", message="second")
            tab.wait_for("turn_completed")
    assert "first" in model.requests[-1].text


def test_what_one_tab_withdraws_empties_or_deletes_is_sent_to_the_other(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, ids = chat(server, model, ("One", "1"), ("Two", "2"))
    with two_tabs(server, session) as (one, two):
        one.submit({"type": "go_back", "turnId": ids[0]})
        assert two.wait_for("went_back")["withdrawn"] == [ids[1]]
        one.submit({"type": "reset"})
        emptied = two.wait_for("session_reset")
        assert emptied["seq"] > 0
        two.wait_for("session_configured")
        assert server.get(f"sessions/{session}/turns")["turns"] == []
        server.request("DELETE", f"sessions/{session}")
        assert two.wait_for("session_deleted")["seq"] == 0
        two.say("Too late")
        assert two.page.wait_for("op_rejected")["error"]["code"] == "not_found"


def test_every_page_is_notified_which_sessions_wait_for_the_user(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("deleteNotebookCells", {"cellIds": ["heading"]}), plan_of("Go"), Say("Kept."))
    approval, planned = new_session(server), new_session(server)
    attached = [{"kind": "notebook", "path": "cars.ipynb"}]

    def begin(session: str, message: str, **more: Any) -> None:
        request = {"message": message, "mode": "agent", "activeNotebook": "cars.ipynb", **more}
        op = {"type": "user_message", "request": {**request, "attachments": attached}}
        server.post(f"sessions/{session}/ops", op)

    def waiting(page: FakePage, count: int) -> list[dict[str, Any]]:
        while len(sessions := page.wait_for("sessions_waiting")["sessions"]) != count:
            pass
        return list(sessions)

    def states() -> list[bool]:
        listed = {each["id"]: each for each in server.get("sessions")["sessions"]}
        one = [server.get(f"sessions/{each}").get("waits", False) for each in (approval, planned)]
        assert one == [listed[each].get("waits", False) for each in (approval, planned)]
        return one

    with FakePage(server, "one") as one, FakePage(server, "two") as two:
        assert waiting(one, 0) == []
        begin(approval, "Delete it", location="magic")
        assert waiting(one, 1) == [{"sessionId": approval, "title": "Delete it"}]
        begin(planned, "agent: go", planFirst=True)
        both = [
            {"sessionId": planned, "title": "go"},
            {"sessionId": approval, "title": "Delete it"},
        ]
        assert waiting(one, 2) == both
        assert states() == [True, True]
        with FakePage(server, "late") as late:
            assert waiting(late, 2) == both, "who comes later is notified at once"
        for event in server.stream(f"sessions/{approval}/events"):
            if event["type"] == "approval_requested":
                decision = {"approvalId": event["approvalId"], "decision": "deny"}
                break
        server.post(f"sessions/{approval}/ops", {"type": "approval_decision", **decision})
        assert waiting(one, 1) == both[:1]
        server.post(f"sessions/{planned}/ops", {"type": "interrupt"})
        assert waiting(one, 0) == []
        assert [len(waiting(two, count)) for count in (1, 2, 1, 0)] == [1, 2, 1, 0]
        assert states() == [False, False]
