"""``GET usage`` after real turns, and the plan of its query."""

from __future__ import annotations

import datetime
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_datalayer_agent.store.queries.usage import first_ms, query
from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import Answer, Call, Say, ScriptedModelServer, TokenCounts

DAY_MS = 86_400_000


def database(server: RunningServer) -> Path:
    return Path(server.environment["JUPYTER_DATA_DIR"], "datalayer-agent", "agent.db")


def test_what_turns_used_is_summed_up_by_day_model_and_session(
    tmp_path: Path,
) -> None:
    with (
        ScriptedModelServer() as model,
        RunningServer(tmp_path, api_base=model.base_url) as server,
    ):
        write_cars(server.root)
        about = {"attachments": [{"kind": "notebook", "path": "cars.ipynb"}], "mode": "agent"}
        model.script(
            Answer([Call("updateNotebookCell", {"cellId": "gone"})], usage=TokenCounts(100, 10)),
            Answer([Say("One.")], usage=TokenCounts(200, 20, 64)),
            Answer([Say("Two.")], usage=TokenCounts(1000, 5)),
        )
        first = server.post("chat", {"message": "Cars", "activeNotebook": "cars.ipynb", **about})
        server.post("chat", {"message": "x", "model": "openai/gpt-4o-mini"})
        fork = server.post(f"sessions/{first['sessionId']}/fork", {})
        by_session = server.get("usage", by="session")
        by_model = server.get("usage", by="model")
        by_day = server.get("usage", days=7)
        for wrong in ("usage?by=hour", "usage?days=0", "usage?days=400"):
            assert server.request("GET", wrong).status_code == 400

    assert [row["totalTokens"] for row in by_session["rows"]] == [1005, 330]
    row = by_session["rows"][1]
    assert (row["key"], row["label"]) == (first["sessionId"], "Cars")
    assert (row["inputTokens"], row["outputTokens"], row["cachedTokens"]) == (300, 30, 64)
    assert (row["modelCalls"], row["turns"], row["toolCalls"], row["toolErrors"]) == (2, 1, 1, 1)
    assert row["durationMs"] > 0
    assert fork["id"] not in {row["key"] for row in by_session["rows"]}, "a fork used nothing"

    rows = {row["key"]: row for row in by_model["rows"]}
    assert rows.keys() == {"openai/scripted", "openai/gpt-4o-mini"}
    assert rows["openai/gpt-4o-mini"]["cost"] == pytest.approx(1000 * 0.15e-6 + 5 * 0.6e-6)
    assert rows["openai/gpt-4o-mini"]["pricedCalls"] == 1
    assert "cost" not in rows["openai/scripted"], "nobody knows what it costs"
    assert (by_model["total"]["pricedCalls"], by_model["total"]["modelCalls"]) == (1, 3)

    assert [row["key"] for row in by_day["rows"]] == [datetime.date.today().isoformat()]
    assert by_day["total"]["totalTokens"] == by_model["total"]["totalTokens"] == 1335

    with closing(sqlite3.connect(database(server))) as connection:
        for table, column in (("usage", "at"), ("turns", "started_at")):
            connection.execute(f"UPDATE {table} SET {column} = {column} - ?", (40 * DAY_MS,))
        connection.commit()
    with server:
        assert server.get("usage", days=30)["rows"] == []
        assert len(server.get("usage", days=60)["rows"]) == 1


@pytest.mark.parametrize("by", ["day", "model", "session"])
def test_the_query_goes_along_indexes(server: RunningServer, by: str) -> None:
    with closing(sqlite3.connect(database(server))) as connection:
        plan = [
            row[3]
            for row in connection.execute(f"EXPLAIN QUERY PLAN {query(by)}", {"since": 0})  # type: ignore[arg-type]
        ]
    read = [step for step in plan if step.startswith(("SCAN", "SEARCH"))]
    scanned = [step for step in read if step.startswith("SCAN")]
    assert len(scanned) == 1, plan
    assert scanned[0].startswith("SCAN (subquery"), "only what was summed up before"
    assert "SEARCH u USING INDEX usage_by_time (at>?)" in read, plan
    assert "SEARCH a USING INDEX usage_apart_by_time (at>?)" in read, plan
    assert read.count("SEARCH t USING COVERING INDEX turns_by_start (started_at>?)") == 2, plan
    assert "SEARCH c USING COVERING INDEX tool_calls_by_status (turn_id=?)" in read, plan


def test_days_begin_at_midnight_here() -> None:
    now = datetime.datetime(2026, 11, 22, 13, 30)
    first = datetime.datetime.fromtimestamp(first_ms(7, now) / 1000)
    assert first == datetime.datetime(2026, 11, 16)
    assert first_ms(1, now) == int(datetime.datetime(2026, 11, 22).timestamp() * 1000)
