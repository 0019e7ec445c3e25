"""What of the conversation is sent."""

from __future__ import annotations

from jupyter_datalayer_agent.agent.history import (
    Cut,
    Effect,
    History,
    assistant_item,
    unanswered,
    user_item,
)
from jupyter_datalayer_agent.models.tokens import estimate_item
from jupyter_datalayer_agent.store.records import Compaction, TurnContext


def history_of(count: int) -> History:
    history = History()
    for number in range(count):
        history.add([user_item(f"message {number}"), assistant_item(f"answer {number}")])
    return history


def summary_of(cut: Cut) -> Compaction:
    return Compaction(
        cut.through, 0, "summary", [user_item("short")], cut.messages[-1:], "short", 0, 0
    )


def test_a_cut_takes_the_oldest_turns_and_what_is_sent_begins_with_what_replaces_them() -> None:
    history = history_of(4)
    assert history.cut(0) is None
    cut = history.cut(3)
    assert cut is not None
    assert (cut.through, cut.messages) == (2, ["message 0", "message 1", "message 2"])
    history.replace(cut, summary_of(cut))
    assert history.items() == [
        user_item("short"),
        user_item("message 3"),
        assistant_item("answer 3"),
    ]
    assert history.tokens == sum(map(estimate_item, history.items()))


def test_the_next_cut_begins_with_the_last_one() -> None:
    history = history_of(3)
    first = history.cut(2)
    assert first is not None
    history.replace(first, summary_of(first))
    second = history.cut(1)
    assert second is not None
    assert second.parts[0] == [user_item("short")]
    assert second.messages == ["message 1", "message 2"]
    assert second.summary == "short"


def test_what_is_noted_while_a_summary_is_written_is_not_lost() -> None:
    history = history_of(1)
    cut = history.cut(1)
    assert cut is not None
    history.note(user_item("[The change was undone.]"))
    history.replace(cut, summary_of(cut))
    assert history.items() == [user_item("short"), user_item("[The change was undone.]")]
    history.add([user_item("next")])
    assert history.turns[-1].index == 1, "a note takes no place of a turn"


def test_calls_without_an_answer_are_found() -> None:
    call = {"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"}
    other = {**call, "call_id": "b"}
    output = {"type": "function_call_output", "call_id": "a", "output": "1"}
    assert unanswered([call, other, output]) == [other]


def test_what_is_known_is_followed_once_for_each_turn() -> None:
    history, looked_at = History(), []

    def effect(name: str) -> Effect:
        looked_at.append(name)
        return "change"

    def stated(notebook: str) -> TurnContext:
        return TurnContext(user_item("x"), {
            "pieces": [notebook], "texts": {f"file {notebook}": "1"}, "lines": {}, "notebooks": {},
        })  # fmt: skip

    for number in range(30):
        call = {"type": "function_call", "call_id": "a", "name": f"call{number}", "arguments": "{}"}
        history.add([user_item("go"), call], context=stated(f"n{number}"))
        looked_at.clear()
        assert len(history.known(effect).texts) == number + 1
        assert set(looked_at) == {f"call{number}"}
    cut = history.cut(28)
    assert cut is not None
    history.replace(cut, summary_of(cut))
    known = history.known(effect)
    assert set(known.texts) == {"file n28", "file n29"}, "by the turns that are sent"
    assert known.pieces == ("n29",)
