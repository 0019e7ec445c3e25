"""A database that cannot be written to in mid-turn: a clear error, and the session continues."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.support.jupyter import RunningServer
from tests.support.model_server import Gate, Say, ScriptedModelServer


def test_a_locked_database_is_reported_and_the_session_continues(tmp_path: Path) -> None:
    with (
        ScriptedModelServer() as model,
        RunningServer(tmp_path, api_base=model.base_url) as server,
    ):
        model.script(Gate(Say("Lost?"), after=1), Say("Here again."))
        session = server.post("sessions", {})["id"]
        events = server.stream("chat/stream", {"message": "remember 4711", "sessionId": session})
        for event in events:
            if event["type"] == "text_delta":
                break
        database = next(tmp_path.glob("home/data/**/agent.db"))
        lock = sqlite3.connect(database, isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        model.release()
        rest = list(events)
        lock.execute("ROLLBACK")
        lock.close()
        assert [event["type"] for event in rest[-2:]] == ["error", "turn_aborted"]
        assert "locked by another program" in rest[-2]["message"]

        reply = server.post("chat", {"message": "go on", "sessionId": session})
        assert reply["reply"] == "Here again."
        assert "4711" in model.requests[-1].text
        first = server.get(f"sessions/{session}/turns")["turns"][0]
        assert first["status"] == "aborted"
