"""Provenance: every answer has a key of its own, written with the turn's end and found by it."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path

import pytest

from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.protocol.events import AnswerChosen, AnswerFinished, AnswerStarted
from jupyter_datalayer_agent.protocol.history import Provenance
from jupyter_datalayer_agent.protocol.plans import Plan, PlanStep
from jupyter_datalayer_agent.protocol.requests import Usage
from jupyter_datalayer_agent.store.answer_provenance import answer_type, provider_of
from jupyter_datalayer_agent.store.queries.answers import add
from jupyter_datalayer_agent.store.records import Compaction, TurnContext

from ..chats import Chat, execute, open_store, rows

ASKED = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"}]},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "First."}],
    },
]
CONTEXT = TurnContext({"type": "message"}, {"pieces": ["state"]})
KEYS = "SELECT provider_id, response_type, response_index FROM responses ORDER BY id"


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("anthropic/claude-sonnet-5-5", "anthropic"),
        ("openrouter/anthropic/claude", "openrouter"),
        ("azure/gpt-6", "azure"),
        ("gpt-6.1-sol", "openai"),
        ("claude-opus-5-5", "anthropic"),
        (None, "workflow"),
        ("", "workflow"),
    ],
)
def test_the_provider_is_named_as_litellm_names_it(model: str | None, provider: str) -> None:
    assert provider_of(model) == provider


@pytest.mark.parametrize(
    ("mode", "location", "reply", "response_type"),
    [
        ("ask", "panel", "Yes.", "batch"),
        ("edit", "panel", "So:\n```python cell=abc\nx = 1\n```", "proposal"),
        ("ask", "inline", "~~~python after=abc\nx = 1\n~~~", "proposal"),
        ("edit", "panel", "```python\nx = 1\n```", "batch"),
        ("ask", "panel", "```python cell=abc\nx = 1\n```", "batch"),
    ],
)
def test_a_proposal_is_code_that_names_its_target(
    mode: str, location: str, reply: str, response_type: str
) -> None:
    assert answer_type(None, mode, location, reply) == response_type


async def test_an_answer_is_named_in_the_transaction_that_ends_its_turn(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start("one", model="openai/a")
        await chat.emit(usage=Usage(total_tokens=1), model="anthropic/b")
        assert rows(path, KEYS) == []
        await chat.finish("The answer.")
        assert rows(path, KEYS) == [("anthropic", "batch", 0)], "the model that was asked last"
        key = Provenance(ai_turn_id=chat.turn_id, provider_id="anthropic", response_type="batch")
        found = await store.past.response(key)
        assert (found.text, found.message) == ("The answer.", "one")
        await chat.start("two")
        execute(
            path,
            "CREATE TRIGGER full BEFORE INSERT ON responses BEGIN SELECT RAISE(ABORT, 'full'); END",
        )
        with pytest.raises(AgentError):
            await chat.finish("Never kept.")
        assert rows(path, "SELECT status FROM turns WHERE id = ?", chat.turn_id) == [("running",)]


async def test_an_answer_asked_again_has_another_index_or_provider(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start("one", model="openai/a")
        await chat.finish("First.")
        database = (await store._open()).database
        again, other = [
            await database.quick(partial(add, turn_id=chat.turn_id, **each))
            for each in (
                {"provider_id": "openai", "response_type": "batch", "text": "Second."},
                {"provider_id": "anthropic", "response_type": "batch", "text": "Third."},
            )
        ]
        assert (again.response_index, other.response_index) == (1, 0)
        assert (await store.past.response(again)).text == "Second."
        assert (await store.past.response(other)).text == "Third."
        assert len(await store.past.responses_of(chat.turn_id)) == 3
        with pytest.raises(AgentError, match="no answer of type plan") as raised:
            await store.past.response(other.model_copy(update={"response_type": "plan"}))
        assert raised.value.code == "not_found"


async def test_a_plan_has_one_key_however_often_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start("one")
        for status in ("pending", "completed"):
            steps = [PlanStep(description="Load", status=status), PlanStep(description="Plot")]
            await store.plans.save(chat.session_id, chat.turn_id, Plan(task="one", steps=steps))
        await chat.finish("")
        assert rows(path, KEYS) == [("workflow", "plan", 0)], "no answer, no key"
        (key,) = await store.past.responses_of(chat.turn_id)
        found = await store.past.response(key)
        assert found.text == "1. Load\n2. Plot"
        assert found.plan is not None
        assert found.plan.steps[0].status == "completed"


async def test_a_key_is_good_for_one_answer(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.finish()
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        execute(
            path,
            "INSERT INTO responses (ai_turn_id, provider_id, response_type, response_index, "
            "created_at) SELECT ai_turn_id, provider_id, response_type, response_index, 0 "
            "FROM responses",
        )


@pytest.mark.parametrize("in_turn", [True, False])
async def test_a_summary_is_an_answer_of_the_turn_in_which_it_was_made(
    tmp_path: Path, in_turn: bool
) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.start("one")
        await chat.finish()
        first = chat.turn_id
        await chat.start("two")
        compactions = store.compactions
        await compactions.save(
            chat.session_id,
            Compaction(
                through=0, last_item=0, how="summary", items=[], messages=["one"],
                summary="They began.", tokens_before=9, tokens_after=3,
            ),
            "anthropic/a",
            turn_id=chat.turn_id if in_turn else None,
            events=[],
        )  # fmt: skip
        (key,) = [
            each
            for each in await store.past.responses_of(chat.turn_id if in_turn else first)
            if each.response_type == "summary"
        ]
        assert key.provider_id == "anthropic"
        assert (await store.past.response(key)).text == "They began."


async def test_a_further_answer_is_kept_searched_copied_and_forgotten_with_its_turn(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start("one", model="openai/a")
        await chat.emit(items=ASKED, context=CONTEXT)
        await chat.finish("First.")
        answers = store.answers
        assert (await answers.asked_with(chat.turn_id)).context == CONTEXT
        started = AnswerStarted(answer_id="a1", model="openai/b")
        where = (chat.session_id, chat.turn_id)
        await answers.begin(*where, "a1", "openai/b", chat.timed(started))
        ended = AnswerFinished(
            answer_id="a1", model="openai/b", status="completed", text="Zebra stripes."
        )
        chat.timed(ended)
        await answers.finish(*where, ended)
        assert ended.provenance is not None
        assert ended.provenance.response_index == 1
        assert (await store.past.response(ended.provenance)).text == "Zebra stripes."
        assert [hit.turn_id for hit in await store.past.search("zebra")] == [chat.turn_id]
        assert [hit.role for hit in await store.past.search("ze")] == ["assistant"]
        await answers.choose(*where, "a1", chat.timed(AnswerChosen(answer_id="a1")))
        copy = await store.forks.fork(chat.session_id, None, [])
        assert len(await store.past.search("zebra")) == 1, "a copy is found in the copy alone"
        assert len(await store.past.search("zebra", session_id=copy.id)) == 1
        for session in (chat.session_id, copy.id):
            (turn,) = (await store.turn_reader.list_page(session)).turns
            assert [each.text for each in turn.answers] == ["Zebra stripes."]
            assert (await answers.asked_with(turn.id)).context == CONTEXT
            (sent,) = await store.turn_reader.history(session)
            assert "Zebra stripes." in str(sent.items)
            assert "First." not in str(sent.items)
        await chat.start("two")
        assert (await answers.asked_with(chat.turn_id)).context is None
        await chat.emit(context=TurnContext(None))
        assert (await answers.asked_with(chat.turn_id)).context == TurnContext(None)
        for session, count in ((chat.session_id, 2), (copy.id, 1)):
            conversation = await store.compactions.conversation(session)
            contexts = [turn.context for turn in conversation.turns]
            assert contexts == [CONTEXT, TurnContext(None)][:count]
        for session in (chat.session_id, copy.id):
            await store.sessions.delete(session)
        assert await store.past.search("zebra") == []
    assert rows(path, "SELECT count(*) FROM contexts") == [(0,)]
    execute(path, "INSERT INTO search_index (search_index) VALUES ('integrity-check')")


async def test_an_answer_of_a_server_that_died_is_reported_as_stopped_once(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start("one")
        await chat.finish("First.")
        started = AnswerStarted(answer_id="a1", model="openai/b")
        answers = store.answers
        await answers.begin(chat.session_id, chat.turn_id, "a1", "openai/b", chat.timed(started))
        await store.recover(chat.session_id)
        assert rows(path, "SELECT count(*) FROM open_answers") == [(1,)], "it is being given"
    for _ in range(2):
        async with open_store(path) as store:
            turn = await store.turn_reader.get(chat.turn_id, include_events=True)
            assert turn.events is not None
            types = [event["type"] for event in turn.events]
            assert types[-2:] == ["answer_started", "answer_finished"]
            assert turn.events[-1]["status"] == "stopped"
            assert turn.answers == []
