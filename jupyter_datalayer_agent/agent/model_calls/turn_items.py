"""What the current turn sends: its message and all that followed, shortened if too long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...models.tokens import estimate_item
from ...protocol.pictures import pictures_in
from ..history.history import Item, user_item

LEFT_OUT = user_item(
    "[Earlier steps of this turn were left out here: the request was longer than the model can "
    "read. Look again at what you need of them.]"
)


class TurnItems:
    """Iterates over what is sent, in order; ``all`` includes what was left out, in so many
    ``drops``. ``tokens`` is an estimate, and ``pictures`` their number; both take constant time."""

    def __init__(self, items: Sequence[Item] = ()) -> None:
        self.all: list[Item] = []
        self._items: list[Item] = []
        self.tokens = self.pictures = self.drops = 0
        self.add(items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def add(self, items: Sequence[Item]) -> None:
        """Append items."""
        self.all.extend(items)
        self._append(items)

    def _append(self, items: Sequence[Item]) -> None:
        self._items.extend(items)
        self.tokens += sum(map(estimate_item, items))
        self.pictures += sum(map(pictures_in, items))

    def drop_oldest(self, tokens: int) -> bool:
        """Leave out the oldest steps, at least ``tokens`` of them if there are so many; False if
        there is only the message and the newest step. A call goes with its output."""
        message, *rest = self._items
        steps = list(_steps([item for item in rest if item is not LEFT_OUT]))
        dropped = 0
        while len(steps) > 1 and dropped < tokens:
            dropped += sum(map(estimate_item, steps.pop(0)))
        if not dropped:
            return False
        self.drops += 1
        kept = [item for step in steps for item in step]
        self._items, self.tokens, self.pictures = [], 0, 0
        self._append([message, LEFT_OUT, *kept])
        return True


def _steps(items: Sequence[Item]) -> Iterator[list[Item]]:
    """The smallest parts that can be left out: calls with their outputs, and reasoning with what it
    led to."""
    step: list[Item] = []
    waiting: set[str] = set()
    for item in items:
        step.append(item)
        kind = item.get("type")
        if kind == "function_call":
            waiting.add(item["call_id"])
        elif kind == "function_call_output":
            waiting.discard(item["call_id"])
        if not waiting and kind != "reasoning":
            yield step
            step = []
    if step:
        yield step
