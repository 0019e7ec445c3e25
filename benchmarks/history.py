"""What a conversation's history costs: the prefix that providers can cache, and what is built.

Run: ``python -m benchmarks history``. The shares come from real requests to the scripted model;
the times from the history alone, all of its turns sent, beside writing them down as JSON, which is
the least that sending them costs.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from benchmarks.chats import CALLS, MOVE, request, running, turn_with_calls, write_notebook
from benchmarks.table import ms, show
from jupyter_datalayer_agent.agent.history import (
    History,
    Item,
    assistant_item,
    output_item,
    read_history,
    user_item,
)
from jupyter_datalayer_agent.protocol.base import new_id
from jupyter_datalayer_agent.protocol.requests import ChatRequest
from jupyter_datalayer_agent.store import Store
from tests.support.long_chats import compacted, is_summary, kept_share, prefix_shares, tokens_of
from tests.support.model_request import RecordedRequest
from tests.support.model_script import Say

TURNS = 60
LENGTHS = (15, 2_000)
RUNS = 50
ANSWER = "The mean is 12.5 in January and rises to 24 in July, with three outliers in May. " * 10


def main() -> None:
    """Print both tables."""
    show(
        f"A conversation of {TURNS} turns, answers of {len(ANSWER)} characters",
        ["mode", "requests", "summaries", "unchanged prefix, mean", "least", "largest request"],
        [shares("ask"), shares("agent")],
    )
    show(
        f"Two turns of {CALLS} calls with a notebook attached",
        ["API", "least, from call to call", "turn 1's last request, in turn 2's first"],
        [kept("chat"), kept("responses")],
    )
    show(
        "By turns that are sent",
        ["turns", "items put together", "their size estimated", "as JSON", "read from the file"],
        [costs(count) for count in LENGTHS],
    )


def shares(mode: str) -> list[str]:
    """A row: of each request between compactions, the share that the provider has seen before."""

    def answer(asked: RecordedRequest) -> Say:
        return Say("What was done so far." if is_summary(asked) else ANSWER, chunk=1_000)

    with running() as (server, model):
        model.set_default(answer)
        session = server.post("sessions", {})["id"]
        for number in range(TURNS):
            server.post("chat", {**request(), "message": f"Month {number}, please.", "mode": mode,
                                 "sessionId": session})  # fmt: skip
        turns = [asked for asked in model.requests if not is_summary(asked)]
        same = [
            share
            for share, before, after in zip(prefix_shares(turns), turns, turns[1:], strict=False)
            if compacted(before) == compacted(after)
        ]
        largest = max(map(tokens_of, model.requests))
        return [
            mode,
            str(len(model.requests)),
            str(len(model.requests) - len(turns)),
            f"{statistics.mean(same):.1%}",
            f"{min(same):.1%}",
            f"{largest:,} tokens",
        ]


def kept(api: str) -> list[str]:
    """A row: the share of a request's bytes with which the next one begins."""
    with running(environment={"DATALAYER_AGENT_MODEL_API": api}) as (server, model):
        body = request(write_notebook(server, 10))
        turn_with_calls(server, model, MOVE, body)
        session = server.get("sessions")["sessions"][0]["id"]
        turn_with_calls(server, model, MOVE, {**body, "sessionId": session})
        asked = [each for each in model.requests if each.tool_names]
        shares = [kept_share(before, after) for before, after in pairwise(asked)]
        return [api, f"{min(shares):.1%}", f"{shares[CALLS]:.1%}"]


def turn_items(number: int) -> list[Item]:
    """A turn with a call of a tool."""
    call = {"type": "function_call", "call_id": f"c{number}", "name": "x", "arguments": "{}"}
    return [
        user_item(f"Month {number}, please."),
        call,
        output_item(f"c{number}", ANSWER),
        assistant_item(ANSWER),
    ]


def costs(count: int) -> list[str]:
    """A row: medians of the parts that grow with the conversation."""
    history = History()
    for number in range(count):
        history.add(turn_items(number))
    return [
        f"{count:,}",
        ms(median(history.items)),
        ms(median(lambda: history.tokens)),
        ms(median(lambda: json.dumps(history.items(), ensure_ascii=False))),
        ms(asyncio.run(reading(count))),
    ]


def median(work: Callable[[], object]) -> float:
    """Median seconds."""
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


async def reading(count: int) -> float:
    """Median seconds to read a session of that many turns, none of them compacted."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{Path(folder) / 'history.db'}")
        session = (await store.sessions.create()).id
        for number in range(count):
            turn = new_id("turn")
            await store.turns.start(
                session_id=session,
                turn_id=turn,
                mode="ask",
                notebook_mode="off",
                location="api",
                request=ChatRequest(message="x"),
                items=turn_items(number),
            )
            await store.turns.finish(turn, status="completed")
        times = []
        for _ in range(5):
            began = time.perf_counter()
            await read_history(store, session)
            times.append(time.perf_counter() - began)
        await store.close()
        return statistics.median(times)


if __name__ == "__main__":
    main()
