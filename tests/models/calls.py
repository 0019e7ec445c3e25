"""Calls of the real model class against the scripted server, for the tests here."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any

from jupyter_datalayer_agent.models import (
    Item,
    ItemDone,
    ItemTakenBack,
    LitellmModel,
    ModelError,
    ModelRequest,
    ReasoningChunk,
    ResponseDone,
    StreamEvent,
    TextChunk,
)
from tests.support.model_server import ScriptedModelServer

APIS = ("responses", "chat")

KEY = "sk-test-0123456789abcdef"
ENVIRON = {"OPENAI_API_KEY": KEY}

TOOL = {
    "type": "function",
    "name": "add",
    "description": "Adds.",
    "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}},
    "strict": False,
}

HELLO: list[Item] = [{"role": "user", "content": "Hello"}]


@dataclass
class Answered:
    """What a stream gave: its events, and the error that ended it, if one did."""

    events: list[StreamEvent] = field(default_factory=list)
    error: ModelError | None = None

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        return "".join(event.delta for event in self.shown(TextChunk))

    @property
    def reasoning(self) -> str:
        return "".join(event.delta for event in self.shown(ReasoningChunk))

    def shown(self, *kinds: type[Any]) -> list[Any]:
        """The chunks of these kinds that were not taken back."""
        shown: list[Any] = []
        for event in self.events:
            if isinstance(event, ItemTakenBack):
                shown = [chunk for chunk in shown if chunk.item_id != event.item_id]
            elif isinstance(event, kinds):
                shown.append(event)
        return shown

    @property
    def done(self) -> ResponseDone:
        assert self.error is None, self.error
        done = self.events[-1]
        assert self.of(ResponseDone) == [done]
        assert isinstance(done, ResponseDone)
        return done

    @property
    def failure(self) -> ModelError:
        assert self.error is not None
        assert not self.of(ResponseDone)
        return self.error


def request(server: ScriptedModelServer, api: str, **changes: Any) -> ModelRequest:
    """A request with one tool, over ``api``, of a model that no price list knows."""
    fields: dict[str, Any] = {
        "model": "openai/scripted",
        "instructions": "Be brief.",
        "input": HELLO,
        "tools": [TOOL],
        "api_base": server.base_url,
        "model_api": api,
        **changes,
    }
    return ModelRequest(**fields)


def model(**options: Any) -> LitellmModel:
    return LitellmModel(**{"environ": ENVIRON, "idle_timeout": 20, **options})


async def answer(asked: ModelRequest, by: LitellmModel | None = None) -> Answered:
    """The whole stream of one attempt."""
    answered = Answered()
    try:
        async with contextlib.aclosing((by or model()).stream(asked)) as events:
            async for event in events:
                answered.events.append(event)
    except ModelError as error:
        answered.error = error
    check_items(answered)
    return answered


def check_items(answered: Answered) -> None:
    """Every item is announced once, under the id that its deltas had."""
    done = answered.of(ItemDone)
    ids = [event.item_id for event in done]
    assert len(set(ids)) == len(ids)
    if answered.of(ResponseDone):
        assert [event.item for event in done] == list(answered.done.items)
        shown = {event.item_id for event in answered.shown(TextChunk, ReasoningChunk)}
        assert shown <= set(ids)
    elif answered.error is not None:
        assert [event.item for event in done] == list(answered.error.broken.items)
        assert not set(ids) & set(answered.error.broken.partial_item_ids)
