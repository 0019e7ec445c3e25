"""Builds requests to the model: for a turn, and for the preview of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...models.chat_messages import ItemMapper
from ...models.prices import context_window
from ...models.tokens import estimate_item
from ...models.types import ModelRequest
from ...protocol.pictures import pictures_in, without_pictures
from ...settings.turn_settings import Settings
from ...tools.registry import Tool, normalise
from ..context.system_prompt import system_prompt
from ..data_sharing import policies, sent
from ..history import Item, user_item
from ..request import TurnRequest
from ..runtime import Runtime

# Models with a small context window: a short system prompt, and the basic tools of their mode.


SMALL_WINDOW = 16_000
"""Tokens; a model that reads fewer gets the short form. An unknown window counts as large."""


def has_small_window(settings: Settings, model: str) -> bool:
    """Whether the model has a small window, by the setting, litellm or the catalogue."""
    window = settings.context_window or context_window(model)
    return window is not None and window < SMALL_WINDOW


def is_sent(tool: Tool, can_search: bool) -> bool:
    """Whether an allowed tool is part of a request; ``can_search``: the model can search others."""
    return not tool.is_found_by_search and (can_search or not tool.searches)


def sent_tools(request: TurnRequest, *, is_small: bool, with_blocks: bool = False) -> list[Tool]:
    """The tools that the model is sent: those that the gate allows, with those for blocks if
    ``with_blocks``, without those that it searches; for a small window only the basic ones, and
    those that the message names."""
    allowed = request.gate.sent(request.tools, with_blocks=with_blocks)
    if not is_small:
        searching = [tool for tool in request.tools if tool.searches]
        # Tools that can be found but not called are useless: a comparison has none of them.
        can_search = any(tool.is_found_by_search for tool in allowed) and all(
            tool in allowed for tool in searching
        )
        return [tool for tool in allowed if is_sent(tool, can_search)]
    named = {normalise(name) for name in request.references}
    return [tool for tool in allowed if tool.basic or normalise(tool.name) in named]


# What the current turn sends: its message and what followed, shortened if too long.


LEFT_OUT = user_item(
    "[Earlier steps of this turn were left out here: the request was longer than the model can "
    "read. Look again at what you need of them.]"
)


class TurnItems:
    """Iterates over what is sent, in order. ``all`` includes what was left out, in ``drops`` steps.
    ``tokens`` is an estimate, ``pictures`` a count; both take constant time."""

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
        """Leave out the oldest steps, at least ``tokens`` of them if there are as many. A call goes
        with its output. False if there are only the message and the newest step."""
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


def model_request(
    runtime: Runtime,
    request: TurnRequest,
    settings: Settings,
    model: str,
    items: Sequence[Item],
    mapper: ItemMapper | None = None,
    *,
    is_blind: bool = False,
    is_small: bool | None = None,
    with_blocks: bool = False,
) -> ModelRequest:
    """Build a request: system prompt and tools that the gate allows, then ``items``: history, new
    context, message.

    ``mapper`` is the conversation's. A model that ``is_blind`` is sent no pictures, although it is
    listed as having vision. ``is_small``: its context window has turned out to be small; None: use
    the known size. ``with_blocks``: the conversation was sent the tools for blocks before. A turn
    with its own ``instructions`` has its own few tools, too."""
    if is_small is None:
        is_small = has_small_window(settings, model)
    is_short = is_small and request.instructions is None
    return ModelRequest(
        model=model,
        instructions=request.instructions
        or system_prompt(
            request.mode,
            request.gate.prompt_mode,
            None if runtime.instructions is None else runtime.instructions.allowed(),
            request.location,
            is_short=is_short,
        ),
        input=sent(
            items
            if runtime.supports_vision(model) and not is_blind
            else list(map(without_pictures, items)),
            policies(settings),
        ),
        tools=[
            tool.schema()
            for tool in sent_tools(request, is_small=is_short, with_blocks=with_blocks)
        ],
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_output_tokens=settings.max_output_tokens,
        parallel_tool_calls=settings.parallel_tool_calls,
        tool_choice=settings.tool_choice,
        reasoning_effort=settings.reasoning_effort,
        stream=settings.streaming,
        api_base=settings.api_base,
        model_api=settings.model_api,
        answer_timeout=settings.answer_timeout_seconds,
        mapper=mapper,
    )
