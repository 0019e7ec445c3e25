"""Steps of a turn are left out whole."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jupyter_datalayer_agent.agent.history import assistant_item, unanswered, user_item
from jupyter_datalayer_agent.agent.model_calls.request import LEFT_OUT, TurnItems
from jupyter_datalayer_agent.models.tokens import estimate_item

MESSAGE = user_item("Do it.")


def step(kind: str, number: int) -> list[dict[str, Any]]:
    if kind == "text":
        return [assistant_item(f"Text {number}")]
    names = [f"{number}-{place}" for place in range(3 if kind == "three" else 1)]
    reasoning = [{"type": "reasoning", "summary": []}] if kind == "thought" else []
    calls = [{"type": "function_call", "call_id": n, "name": "x", "arguments": "{}"} for n in names]
    outputs = [
        {"type": "function_call_output", "call_id": name, "output": "z" * 400} for name in names
    ]
    return [*reasoning, *calls, *outputs]


@given(
    st.lists(st.sampled_from(["text", "one", "three", "thought"]), min_size=1, max_size=12),
    st.lists(st.integers(1, 2000), min_size=1, max_size=4),
)
def test_whatever_is_left_out_the_request_stays_valid(kinds: list[str], amounts: list[int]) -> None:
    steps = [step(kind, number) for number, kind in enumerate(kinds)]
    sent = TurnItems([MESSAGE, *(item for each in steps for item in each)])
    for amount in amounts:
        before = sent.tokens
        dropped = sent.drop_oldest(amount)
        items = list(sent)
        assert items[0] == MESSAGE
        assert items[-len(steps[-1]) :] == steps[-1], "the newest step stays"
        assert items.count(LEFT_OUT) == (1 if dropped or items[1:2] == [LEFT_OUT] else 0)
        assert unanswered(items) == []
        outputs = [i["call_id"] for i in items if i.get("type") == "function_call_output"]
        calls = [i["call_id"] for i in items if i.get("type") == "function_call"]
        assert outputs == calls, "no output without its call"
        for place, item in enumerate(items):
            if item.get("type") == "reasoning":
                assert items[place + 1]["type"] == "function_call"
        assert sent.tokens == sum(map(estimate_item, items))
        if not dropped:
            assert sent.tokens == before
