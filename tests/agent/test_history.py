"""What of the conversation is sent."""

from __future__ import annotations

from jupyter_datalayer_agent.agent.history import History, unanswered, user_item


def test_a_long_chat_drops_its_oldest_turns_in_one_go() -> None:
    history = History()
    for number in range(15):
        history.add([user_item(f"turn {number}")])
    assert history.trim(15) is None
    history.add([user_item("turn 15")])
    assert history.trim(15) == (16, 8)
    kept = history.items()
    assert kept[0] == user_item("turn 8")
    for number in range(16, 23):
        history.add([user_item(f"turn {number}")])
        assert history.trim(15) is None, "the prefix stays the same until the next cut"
        assert history.items()[: len(kept)] == kept


def test_calls_without_an_answer_are_found() -> None:
    call = {"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"}
    other = {**call, "call_id": "b"}
    output = {"type": "function_call_output", "call_id": "a", "output": "1"}
    assert unanswered([call, other, output]) == [other]
