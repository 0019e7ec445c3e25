"""``kill -9`` at each kind of event and of write: nothing that was acknowledged is lost."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.queries.event_log import DELTAS

from .chats import Chat, kept_events, open_store, rows
from .nursery import EVENTS, STEPS, Nursery

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a child for each story")
STORY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    running = Nursery()
    yield running
    running.close()


def tried(nursery: Nursery, steps: list[str], after: int) -> None:
    """Play the steps, kill, and look at what is left."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.db"
        said = nursery.run_and_kill(path, steps, after)
        session = next(line["session"] for line in said if "session" in line)
        asyncio.run(look(path, session, [line for line in said if "session" not in line]))
        assert rows(path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("kind", EVENTS)
def test_a_kill_after_each_kind_of_event(nursery: Nursery, kind: str) -> None:
    tried(nursery, [kind], after=2)


@pytest.mark.timeout(400)  # Each story starts and kills a process.
@STORY
@given(steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=1), after=st.integers(1, 30))
def test_a_kill_at_any_point_of_any_story(nursery: Nursery, steps: list[str], after: int) -> None:
    # A story of nothing but messages to take back would never keep anything.
    tried(nursery, [*steps, "status"], after)


async def look(path: Path, session: str, said: list[dict[str, Any]]) -> None:
    async with open_store(path) as store:
        await store.open()
        held = Held(kept_events(path, session))
        await held.read(store, session)
        for line in still_true(said):
            held.check(line)
        await goes_on(store, session)


def still_true(said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was kept and not undone afterwards, nor by what was under way."""
    true: list[dict[str, Any]] = []
    for line in said:
        undone = line.get("about", {}).get("undoes") or line.get("kept") == "reset"
        if undone is True or undone == "all":
            true = [each for each in true if each["kept"] in ("queued", "session", "title")]
        elif undone:
            true = [each for each in true if each.get("op") != undone]
        elif line["kept"] == "title":
            true = [each for each in true if each["kept"] != "title"] + [line]
        elif line["kept"] == "plan":
            true = [each for each in true if each["kept"] != "plan"] + [line]
        else:
            true.append(line)
    return true


class Held:
    """What the database has after the crash."""

    def __init__(self, events: dict[int, str]) -> None:
        self.events = events
        if events:
            missing = set(range(min(events), max(events))) - events.keys()
            assert all(map(self.taken_back, missing))

    def taken_back(self, seq: int) -> bool:
        """Whether it may have been text that is kept no more, since an event took it back."""
        return any(kind == "item_discarded" and seq < n for n, kind in self.events.items())

    async def read(self, store: Store, session: str) -> None:
        self.turns = {
            turn.id: turn for turn in (await store.turn_reader.list_page(session, 200)).turns
        }
        self.queued = {each.op_id for each in await store.queue.waiting(session)}
        self.title = (await store.sessions.get(session)).title
        self.plan = await store.plans.last(session)
        self.cells = {turn: await store.checkpoints.states(turn) for turn in self.turns}
        self.sessions = {
            each.id: each.turn_count
            for each in (await store.sessions.list_page(limit=200)).sessions
        }

    def check(self, line: dict[str, Any]) -> None:
        """What was acknowledged is there."""
        turn = self.turns.get(line.get("turn") or "")
        match line["kept"]:
            case "event":
                if line["type"] not in DELTAS or not self.taken_back(line["seq"]):
                    assert self.events[line["seq"]] == line["type"]
            case "turn":
                assert turn is not None
            case "ended":
                assert turn is not None
                assert (turn.status, turn.reply) == ("completed", "All of it.")
            case "belongings":
                assert turn is not None
                assert line["call"] in [call.call_id for call in turn.tool_calls]
                assert line["call"] in [item.get("call_id") for item in turn.items]
                assert f"{line['call']}.ipynb" in [change.path for change in turn.changes]
                assert line["seq"] in self.events
            case "plan":
                assert turn is not None
                if turn.withdrawn_at is None:
                    assert self.plan is not None
                    kept, found = line["task"].split(), self.plan.plan.task.split()
                    assert int(found[1]) >= int(kept[1])
            case "checkpoint":
                assert self.cells[line["turn"]]["a.ipynb", line["cell"]] == "open"
            case "queued":
                assert line["op"] in self.queued
            case "dequeued":
                assert line["op"] not in self.queued
            case "withdrawn":
                assert turn is not None
                assert turn.withdrawn_at is not None
            case "title":
                kept, found = line["title"].split(), self.title.split()
                assert int(found[1]) >= int(kept[1])
            case "session":
                assert self.sessions[line["id"]] == line["turns"]


async def goes_on(store: Store, session: str) -> None:
    """The turn that was killed is marked, once; the next one can begin."""
    waiting = await store.plans.take_waiting(session)
    if waiting is not None:
        # It waits for the user, so it can be taken up; here it is given up.
        await store.turns.abandon(waiting.turn_id)
        await store.recover(session)
    turns = (await store.turn_reader.list_page(session, 200, include_events=True)).turns
    assert not [turn for turn in turns if turn.status == "running"]
    for turn in turns:
        ends = [
            each for each in turn.events or [] if each["type"] in ("turn_completed", "turn_aborted")
        ]
        assert len(ends) == 1
        if turn.status == "aborted":
            assert ends[0]["reason"] == "shutdown"
            calls = {i["call_id"] for i in turn.items if i.get("type") == "function_call"}
            answered = {i["call_id"] for i in turn.items if i.get("type") == "function_call_output"}
            assert calls == answered
    chat = Chat(store, session, await store.events.last_seq(session))
    assert await chat.start("Go on") == len(turns)
    await chat.say("Yes.")
    await chat.finish()
