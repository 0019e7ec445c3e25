"""A request to the model, built in one place: for a turn, and for showing what one would send."""

from __future__ import annotations

from collections.abc import Sequence

from ..models.types import ModelRequest
from .history import Item
from .prompting import system_prompt
from .services import Services
from .settings import Settings
from .sharing import policies, sent
from .targets import Submission


def model_request(
    services: Services,
    about: Submission,
    settings: Settings,
    model: str,
    items: Sequence[Item],
) -> ModelRequest:
    """System prompt and tools as the gate has them, then ``items``: history, context, message."""
    gate = about.gate
    return ModelRequest(
        model=model,
        instructions=about.instructions
        or system_prompt(
            about.mode, gate.notebook_mode, services.notebooks.root_dir, about.location
        ),
        input=sent(items, policies(settings)),
        tools=[tool.schema() for tool in gate.allowed(services.registry)],
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_output_tokens=settings.max_output_tokens,
        parallel_tool_calls=settings.parallel_tool_calls,
        tool_choice=settings.tool_choice,
        stream=settings.streaming,
        api_base=settings.api_base,
        model_api=settings.model_api,
    )
