"""The op ``go_back``: what came after a turn is withdrawn, with its changes or without."""

from __future__ import annotations

from typing import Any

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, Say, ScriptedModelServer
from tests.support.sessions import act, chat, edit, new_notebook, sources, turns

COLOURS = (("My colour is blue", "Noted."), ("No, it is green", "Green."), ("Bye", "Bye then."))


def go_back(server: RunningServer, session: str, turn: str, **more: Any) -> dict[str, Any]:
    return act(server, session, {"type": "go_back", "turnId": turn, **more}, "went_back")


def test_the_turns_after_it_are_withdrawn_and_not_sent_any_more(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, ids = chat(server, model, *COLOURS)
    rewound = go_back(server, session, ids[0])
    assert rewound["withdrawn"] == ids[1:]
    assert (rewound["toTurnId"], rewound["documents"]) == (ids[0], False)
    shown = turns(server, session)
    assert [turn["message"] for turn in shown] == [message for message, _ in COLOURS]
    assert ["withdrawnAt" in turn for turn in shown] == [False, True, True]

    model.script(Say("Blue."))
    server.post("chat", {"message": "Which colour?", "sessionId": session})
    text = model.requests[-1].text
    assert "My colour is blue" in text
    assert "green" not in text.lower()
    assert "Bye" not in text
    assert "went back to this point" in text
    found = server.get("sessions", query="No, it is green")["sessions"]
    assert session in [each["id"] for each in found], "withdrawn turns are found all the same"


def test_a_user_goes_back_to_before_a_message_and_writes_another(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, ids = chat(server, model, *COLOURS[:2])
    rewound = go_back(server, session, ids[0], includeTurn=True)
    assert rewound["withdrawn"] == ids
    model.script(Say("Hello."))
    server.post("chat", {"message": "My colour is red", "sessionId": session})
    text = model.requests[-1].text
    assert "red" in text
    assert "blue" not in text
    assert [turn["index"] for turn in turns(server, session)] == [0, 1, 2]


def test_it_holds_after_the_session_comes_back_from_the_database(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, ids = chat(server, model, *COLOURS)
    go_back(server, session, ids[0])
    server.post(f"sessions/{session}/ops", {"type": "shutdown"})
    model.script(Say("Blue."))
    server.post("chat", {"message": "Which colour?", "sessionId": session})
    assert "green" not in model.requests[-1].text.lower()
    assert "blue" in model.requests[-1].text


def test_documents_go_back_too_the_newest_change_first(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    path = server.root / "back.ipynb"
    new_notebook(path, "a = 1", "b = 1")
    change = {"cellId": "c0"}
    first = edit(
        server, model, path.name, Call("updateNotebookCell", change | {"content": "a = 2"})
    )
    session = first["sessionId"]
    for content in ("a = 3", "a = 4"):
        call = Call("updateNotebookCell", change | {"content": content})
        edit(server, model, path.name, call, session=session)
    added = Call("addNotebookCell", {"type": "code", "content": "new = 1"})
    edit(server, model, path.name, added, session=session)
    assert sources(path) == ["a = 4", "b = 1", "new = 1"]
    rewound = go_back(server, session, first["turnId"], documents=True)
    assert (rewound["type"], rewound["left"]) == ("went_back", [])
    assert sources(path) == ["a = 2", "b = 1"]
    undone = [
        event["ofTurnId"]
        for turn in turns(server, session, include="events")
        for event in turn["events"]
        if event["type"] == "changes_undone"
    ]
    assert undone == rewound["withdrawn"]

    # The model must read the cell again before it changes it.
    model.script(Call("updateNotebookCell", change | {"content": "a = 9"}), Say("I read it first."))
    reply = server.post(
        "chat",
        {
            "message": "Again",
            "sessionId": session,
            "mode": "agent",
            "attachments": [{"kind": "notebook", "path": path.name}],
            "activeNotebook": path.name,
        },
    )
    assert "a = 3" not in model.requests[-2].text
    assert reply["status"] == "completed"


def test_what_the_user_changed_since_stays_and_is_reported(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    path = server.root / "conflict.ipynb"
    new_notebook(path, "a = 1", "b = 1")
    first = edit(
        server, model, path.name, Call("updateNotebookCell", {"cellId": "c1", "content": "b = 2"})
    )
    session = first["sessionId"]
    second = edit(
        server,
        model,
        path.name,
        Call("updateNotebookCell", {"cellId": "c0", "content": "a = 2"}),
        session=session,
    )
    path.write_text(path.read_text().replace("a = 2", "a = 77"))
    last = server.get(f"sessions/{session}")["lastSeq"]
    rewound = go_back(server, session, first["turnId"], includeTurn=True, documents=True)
    assert rewound["withdrawn"] == [first["turnId"], second["turnId"]]
    assert rewound["left"] == [second["turnId"]]
    assert sources(path) == ["a = 77", "b = 1"]
    conflicts = []
    for event in server.stream(f"sessions/{session}/events?after={last}"):
        if event["type"] == "changes_undone":
            conflicts += [(each["cellId"], each["now"]) for each in event["conflicts"]]
        if event["type"] == "went_back":
            break
    assert conflicts == [("c0", "a = 77")]


def test_a_document_that_cannot_be_put_back_keeps_the_conversation_as_it_is(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    path = server.root / "gone.ipynb"
    new_notebook(path, "a = 1")
    session, (first,) = chat(server, model, ("Hello", "Hi."))
    edit(
        server,
        model,
        path.name,
        Call("updateNotebookCell", {"cellId": "c0", "content": "a = 2"}),
        session=session,
    )
    path.rename(path.with_name("renamed.ipynb"))
    refused = go_back(server, session, first, documents=True)
    assert refused["type"] == "error"
    assert "The conversation stays as it is" in refused["message"]
    assert not any("withdrawnAt" in turn for turn in turns(server, session))
    assert go_back(server, session, first)["type"] == "went_back"


def test_refusals_say_what_is_wrong(server: RunningServer, model: ScriptedModelServer) -> None:
    session, ids = chat(server, model, *COLOURS[:2])
    assert "No turns follow" in go_back(server, session, ids[-1])["message"]
    go_back(server, session, ids[0])
    assert "already rewound" in go_back(server, session, ids[1])["message"]
    unknown = {"type": "go_back", "turnId": "turn_no"}
    answer = server.request("POST", f"sessions/{session}/ops", json=unknown)
    assert answer.status_code == 404
    model.script(Gate(Say("Late."), after=0))
    op = {"type": "user_message", "request": {"message": "Third"}}
    act(server, session, op, "turn_started")
    assert "A turn or a summary is running" in go_back(server, session, ids[0])["message"]
    model.release()


def test_the_way_not_gone_can_be_forked_and_gone_on_with(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, ids = chat(server, model, *COLOURS[:2])
    go_back(server, session, ids[0])
    more = chat_on(server, model, session, "My colour is red", "Red.")
    withdrawn = server.post(f"sessions/{session}/fork", {"turnId": ids[1]})
    assert [turn["message"] for turn in turns(server, withdrawn["id"])] == [
        "My colour is blue",
        "No, it is green",
    ]
    assert not any("withdrawnAt" in turn for turn in turns(server, withdrawn["id"]))
    gone_on = server.post(f"sessions/{session}/fork", {"turnId": more})
    assert [turn["message"] for turn in turns(server, gone_on["id"])] == [
        "My colour is blue",
        "My colour is red",
    ]


def chat_on(
    server: RunningServer, model: ScriptedModelServer, session: str, message: str, answer: str
) -> str:
    """One more turn; its id."""
    model.script(Say(answer))
    turn: str = server.post("chat", {"message": message, "sessionId": session})["turnId"]
    return turn
