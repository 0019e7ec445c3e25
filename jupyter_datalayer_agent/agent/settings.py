"""The settings of a turn, and the layers that they come from (DESIGN 9)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ..protocol.base import ApprovalPolicy, Mode, SharePolicy, Wire
from ..protocol.requests import ChatRequest, SessionSettings

ModelApi = Literal["auto", "responses", "chat"]


class Settings(Wire):
    """What holds for a turn. None leaves the choice to the provider."""

    model: str | None = None
    mode_models: dict[Mode, str] = {}
    api_base: str | None = None
    model_api: ModelApi = "auto"
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    token_limit: int | None = None
    parallel_tool_calls: bool = True
    tool_choice: str | dict[str, Any] | None = None
    streaming: bool = True
    max_tool_calls: int = Field(50, ge=1)
    max_history_turns: int = Field(15, ge=1)
    approval_policy: ApprovalPolicy = "destructive"
    kernel_timeout_seconds: float = Field(900, gt=0)
    outputs: SharePolicy = "always"
    row_data: SharePolicy = "always"


def for_turn(
    base: Settings, session: SessionSettings, request: ChatRequest, mode: Mode
) -> Settings:
    """The server's settings, then the session's, then the request's own, a later one winning."""
    layers: dict[str, Any] = {}
    if mode in base.mode_models:
        layers["model"] = base.mode_models[mode]
    for name in ("model", "temperature", "token_limit", "max_tool_calls", "outputs", "row_data"):
        if (value := getattr(session, name)) is not None:
            layers[name] = value
    if session.approval is not None:
        layers["approval_policy"] = session.approval
    if request.model is not None:
        layers["model"] = request.model
    if request.approval is not None:
        layers["approval_policy"] = request.approval
    if request.overrides is not None:
        layers.update(request.overrides.model_dump(exclude_none=True))
    return base.model_copy(update=layers)
