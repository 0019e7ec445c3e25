"""``/metrics`` of a real server, scraped while a turn runs and after it."""

from __future__ import annotations

import threading
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import (
    Answer,
    Call,
    Calls,
    Gate,
    Say,
    ScriptedModelServer,
    TokenCounts,
)

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def scrape(server: RunningServer) -> Samples:
    """Our samples by name and labels; the text is that of Prometheus' format."""
    response = server.request("GET", "/metrics")
    assert response.ok
    return {
        (sample.name.removeprefix("datalayer_agent_"), tuple(sorted(sample.labels.items()))): (
            sample.value
        )
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
        if sample.name.startswith("datalayer_agent_") and not sample.name.endswith("_created")
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, tuple(sorted(labels.items()))]


def test_metrics_are_scraped_during_a_turn(tmp_path: Path) -> None:
    with (
        ScriptedModelServer() as model,
        RunningServer(
            tmp_path,
            api_base=model.base_url,
            environment={"DATALAYER_AGENT_METRICS": "true"},
        ) as server,
    ):
        write_cars(server.root)
        model.script(
            Calls(
                [
                    Call("getNotebookCells"),
                    Call("updateNotebookCell", {"cellId": "gone"}),
                    Call("a_tool_of_its_own_making"),
                ]
            ),
            Gate(Answer([Say("One two.")], usage=TokenCounts(100, 20, 64))),
            Answer([Say("Other.")], usage=TokenCounts(7, 3)),
            Answer([Say("A next cell.")], usage=TokenCounts(9, 4)),
        )
        body = {
            "message": "Cars",
            "mode": "agent",
            "activeNotebook": "cars.ipynb",
            "attachments": [{"kind": "notebook", "path": "cars.ipynb"}],
        }
        events = server.stream("chat/stream", body)
        for event in events:
            if event["type"] == "text_delta":
                break
        during = scrape(server)
        model.release()
        rest = threading.Thread(target=lambda: list(events))
        rest.start()
        rest.join(30)
        unknown = {"model": "openai/nobody-knows-it"}
        server.post("chat", {"message": "x", **unknown})
        server.post("next-cell", {"path": "cars.ipynb", "cellId": "heading", **unknown})
        after = scrape(server)

    assert value(during, "running_turns") == 1
    assert value(during, "tool_calls_total", status="ok", tool="getNotebookCells") == 1
    assert value(during, "tool_calls_total", status="error", tool="updateNotebookCell") == 1
    assert value(during, "tool_calls_total", status="error", tool="other") == 1
    assert not any(name == "turns_total" for name, _ in during)

    assert value(after, "running_turns") == 0
    assert value(after, "turns_total", status="completed", mode="agent") == 1
    assert value(after, "turns_total", status="completed", mode="ask") == 1
    assert value(after, "turn_seconds_count", mode="agent") == 1
    assert value(after, "turn_seconds_bucket", mode="agent", le="+Inf") == 1
    assert value(after, "time_to_first_token_seconds_count", mode="agent") == 1
    assert value(after, "model_calls_total", status="ok", model="openai/scripted") == 2
    assert value(after, "model_call_seconds_count", model="openai/scripted") == 2
    output = value(after, "tokens_total", kind="output", model="openai/scripted")
    assert output > 20, "that of both calls"
    assert value(after, "tokens_total", kind="cached", model="openai/scripted") == 64
    assert value(after, "tokens_total", kind="input", model="other") == 7 + 9
    assert value(after, "model_calls_total", status="ok", model="other") == 2
