"""What was mapped for an earlier request is what it would be mapped to anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jupyter_datalayer_agent.models import Item
from jupyter_datalayer_agent.models.chat_messages import ItemMapper, chat_messages, input_items

from .test_chat_messages import call, output, said, thought, user


def item(kind: str, number: int) -> Item:
    name = f"c{number % 3}"
    return {
        "user": user(f"message {number}"),
        "said": said(f"answer {number}"),
        "call": call(name),
        "output": output(name),
        "thought": thought(f"thought {number}"),
        "private": {**user(f"rows {number}"), "datalayerPrivate": {"kinds": [], "bare": ""}},
    }[kind]


KINDS = st.sampled_from(["user", "said", "call", "output", "thought", "private"])
REQUESTS = st.lists(
    st.tuples(st.integers(0, 12), st.lists(KINDS, max_size=6), st.booleans()), max_size=5
)


@given(REQUESTS)
def test_each_request_is_mapped_as_if_it_were_the_first(
    requests: list[tuple[int, list[str], bool]],
) -> None:
    """Each begins with some of the items of the one before, in either form."""
    mapper = ItemMapper()
    items: list[Item] = []
    for number, (kept, kinds, thinking) in enumerate(requests):
        new = [item(kind, 10 * number + place) for place, kind in enumerate(kinds)]
        items = [*(dict(each) for each in items[:kept]), *new]
        again = mapper.chat(items, thinking=thinking)
        assert again == chat_messages("", items, thinking=thinking)
        if number % 2:
            assert mapper.responses(items) == input_items(items)


def test_only_what_is_new_is_mapped() -> None:
    class Counted(dict[str, Any]):
        reads = 0

        def get(self, *names: Any) -> Any:
            type(self).reads += 1
            return super().get(*names)

    def turn(number: int) -> Sequence[Item]:
        names = [f"{number}-{place}" for place in range(20)]
        calls = [each for name in names for each in (call(name), output(name))]
        return [Counted(each) for each in [user("go"), *calls, said("Done.")]]

    mapper, items, reads = ItemMapper(), list[Item](), []
    for number in range(30):
        items = [*items, *turn(number)]
        Counted.reads = 0
        mapper.chat(items, thinking=False)
        reads.append(Counted.reads)
    assert max(reads[2:]) == reads[1]
    for number in range(2):
        Counted.reads = 0
        mapper.responses(items)
        assert (Counted.reads > 0) == (number == 0)
