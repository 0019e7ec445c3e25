"""``POST sessions/{id}/fork``: a conversation continues in a copy."""

from __future__ import annotations

from typing import Any

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, Say, ScriptedModelServer
from tests.support.sessions import act, chat, edit, new_notebook, sources, turns

COLOURS = (("My colour is blue", "Noted."), ("My number is 7", "Noted too."), ("Bye", "Bye."))


def fork(server: RunningServer, session: str, turn: str | None = None) -> Any:
    return server.post(f"sessions/{session}/fork", {"turnId": turn} if turn else {})


def test_a_fork_has_the_conversation_up_to_the_turn_and_continues_by_itself(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, ids = chat(server, model, *COLOURS)
    copy = fork(server, session, ids[1])
    assert copy["forkedFrom"] == {
        "sessionId": session,
        "turnId": ids[1],
        "title": "My colour is blue",
    }
    assert (copy["turnCount"], copy["sessionTokens"]) == (2, 0)
    copied = turns(server, copy["id"], include="events")
    assert [turn["message"] for turn in copied] == [message for message, _ in COLOURS[:2]]
    assert [turn["copiedFrom"] for turn in copied] == ids[:2]
    assert not {turn["id"] for turn in copied} & set(ids)
    for turn in copied:
        assert {event["turnId"] for event in turn["events"]} == {turn["id"]}
        assert turn["events"][-1]["type"] == "turn_completed"

    model.script(Say("Blue, 7."))
    server.post("chat", {"message": "What do you know?", "sessionId": copy["id"]})
    text = model.requests[-1].text
    assert "My colour is blue" in text
    assert "My number is 7" in text
    assert "Bye" not in text
    assert "was copied" in text
    assert len(turns(server, session)) == 3, "the original is as it was"


def test_a_fork_without_a_turn_copies_all_that_has_ended(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, ids = chat(server, model, *COLOURS[:2])
    model.script(Gate(Say("Late."), after=0))
    op = {"type": "user_message", "request": {"message": "Third"}}
    assert act(server, session, op, "turn_started")["type"] == "turn_started"
    running = server.get(f"sessions/{session}")["runningTurnId"]
    copy = fork(server, session)
    assert [turn["copiedFrom"] for turn in turns(server, copy["id"])] == ids
    refused = server.request("POST", f"sessions/{session}/fork", json={"turnId": running})
    assert refused.status_code == 409
    model.release()
    for event in server.stream(f"sessions/{session}/events?after=0"):
        if event["type"] == "turn_completed" and event["turnId"] == running:
            break


def test_an_empty_session_and_a_fork_of_a_fork_can_be_forked(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    empty = server.post("sessions", {"title": "Empty", "settings": {"mode": "edit"}})
    copy = fork(server, empty["id"])
    assert (copy["turnCount"], copy["settings"]["mode"]) == (0, "edit")
    session, _ = chat(server, model, ("One", "1"))
    first = fork(server, session)
    second = fork(server, first["id"])
    assert second["forkedFrom"]["sessionId"] == first["id"]
    server.request("DELETE", f"sessions/{session}")
    server.request("DELETE", f"sessions/{first['id']}")
    (turn,) = turns(server, second["id"])
    assert (turn["message"], turn["reply"]) == ("One", "1")


def test_an_unknown_turn_or_session_is_not_found(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, _ = chat(server, model, ("One", "1"))
    _, (foreign,) = chat(server, model, ("Two", "2"))
    for where, turn in ((session, "turn_no"), (session, foreign), ("s_no", foreign)):
        answer = server.request("POST", f"sessions/{where}/fork", json={"turnId": turn})
        assert answer.status_code == 404, answer.text


def test_what_a_copied_turn_changed_is_shown_and_can_only_be_undone_in_the_original(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    new_notebook(server.root / "forked.ipynb", "x = 1")
    reply = edit(
        server, model, "forked.ipynb", Call("updateNotebookCell", {"cellId": "c0", "content": "x"})
    )
    session, original = reply["sessionId"], reply["turnId"]
    copy = fork(server, session)["id"]
    (turn,) = turns(server, copy, include="events")
    assert turn["changes"] == reply["changes"]
    assert "changes_kept" in [event["type"] for event in turn["events"]]
    changes = server.get(f"sessions/{copy}/turns/{turn['id']}/changes")
    assert changes["states"] == ["kept"]
    refused = act(server, copy, {"type": "undo", "turnId": turn["id"]}, "changes_undone")
    assert refused["type"] == "error"
    assert sources(server.root / "forked.ipynb") == ["x"]
    done = act(server, session, {"type": "undo", "turnId": original}, "changes_undone")
    assert done["type"] == "changes_undone"
    assert sources(server.root / "forked.ipynb") == ["x = 1"]
