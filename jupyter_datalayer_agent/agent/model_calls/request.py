"""Builds requests to the model: for a turn, and for the preview of one."""

from __future__ import annotations

from collections.abc import Sequence

from ...models.item_mapper import ItemMapper
from ...models.types import ModelRequest
from ...protocol.pictures import without_pictures
from ...settings.turn_settings import Settings
from ..approvals.data_sharing import policies, sent
from ..context.system_prompt import system_prompt
from ..history.history import Item
from ..request import TurnRequest
from ..runtime import Runtime
from .small_window import has_small_window, sent_tools


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
    """System prompt and tools as the gate has them, then ``items``: history, what is new in the
    context, message.

    ``mapper`` is the conversation's. A model that ``is_blind`` is sent no pictures, although it is
    listed with vision. ``is_small``: its context window has turned out to be small; None: as it is
    known. ``with_blocks``: the conversation was sent the tools for blocks before. A turn with
    ``instructions`` of its own has its own few tools, too."""
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
