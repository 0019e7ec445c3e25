"""Builds requests to the model: for a turn, and for the preview of one."""

from __future__ import annotations

from collections.abc import Sequence

from ...models.item_mapper import ItemMapper
from ...models.types import ModelRequest
from ...protocol.pictures import without_pictures
from ...settings.turn import Settings
from ..approvals.data_sharing import policies, sent
from ..context.system_prompt import system_prompt
from ..history.history import Item
from ..request import TurnRequest
from ..services import Services


def model_request(
    services: Services,
    request: TurnRequest,
    settings: Settings,
    model: str,
    items: Sequence[Item],
    mapper: ItemMapper | None = None,
    *,
    is_blind: bool = False,
) -> ModelRequest:
    """System prompt and tools as the gate has them, then ``items``: history, what is new in the
    context, message.

    ``mapper`` is the conversation's. A model that ``is_blind`` is sent no pictures, although it is
    listed with vision."""
    gate = request.gate
    return ModelRequest(
        model=model,
        instructions=request.instructions
        or system_prompt(
            request.mode, gate.notebook_mode, services.notebooks.root_dir, request.location
        ),
        input=sent(
            items
            if services.supports_vision(model) and not is_blind
            else list(map(without_pictures, items)),
            policies(settings),
        ),
        tools=[tool.schema() for tool in gate.allowed(services.registry)],
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_output_tokens=settings.max_output_tokens,
        parallel_tool_calls=settings.parallel_tool_calls,
        tool_choice=settings.tool_choice,
        stream=settings.streaming,
        api_base=settings.api_base,
        model_api=settings.model_api,
        mapper=mapper,
    )
