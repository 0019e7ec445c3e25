"""Conversations that nobody used for long are deleted where the administrator wants that."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer

DAY = 24 * 3_600_000


def aged(server: RunningServer, session: str, days: float) -> None:
    """Nothing happened in the session for so long."""
    path = next(Path(server.environment["JUPYTER_DATA_DIR"]).rglob("agent.db"))
    with closing(sqlite3.connect(path)) as connection, connection:
        at = int(time.time() * 1000 - days * DAY)
        connection.execute("UPDATE sessions SET updated_at = ? WHERE id = ?", (at, session))


def test_what_is_older_than_retention_days_is_deleted_and_nothing_else(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    with RunningServer(tmp_path, api_base=model.base_url) as server:
        model.script(*[Say("Kept.")] * 3)
        old, shown, young = [
            server.post("chat", {"message": name})["sessionId"]
            for name in ("old", "shown", "young")
        ]
        server.stop()
        for session, days in ((old, 31), (shown, 40), (young, 29)):
            aged(server, session, days)
        server.environment["DATALAYER_AGENT_RETENTION_DAYS"] = "30"
        server.start()
        # The one that is loaded is not deleted under who reads it.
        server.post(f"sessions/{shown}/ops", {"type": "interrupt"})
        deadline = time.monotonic() + 30
        while len(found := server.get("sessions")["sessions"]) == 3:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert {each["id"] for each in found} == {shown, young}
        assert server.get("search", q="old")["results"] == []
        assert server.get(f"sessions/{young}/turns")["turns"][0]["reply"] == "Kept."
