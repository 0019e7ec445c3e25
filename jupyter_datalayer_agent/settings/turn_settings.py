"""The settings of a turn, and the layers that they come from (DESIGN 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from ..protocol.base import ApprovalPolicy, Mode, ReasoningEffort, SharePolicy, Wire
from ..protocol.errors import AgentError
from ..protocol.requests import ChatRequest, SessionSettings
from ..protocol.services import IntentDetection

# The settings that protect the user, and whether a change loosens one.


LOOSENING: dict[str, tuple[str, ...]] = {
    "approval_policy": ("always", "destructive", "never"),
    "outputs": ("never", "ask", "always"),
    "row_data": ("never", "ask", "always"),
    "mcp_mode": ("off", "ask", "edit", "agent"),
}
"""The values of each, the strictest first."""
ADDRESSES = ("api_base",)
"""Where conversations are sent: every change counts."""


PROTECTED = (*LOOSENING, *ADDRESSES)


def loosened(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The values of ``after`` that are looser than those of ``before``, by the settings' names."""
    return {
        name: value
        for name, value in after.items()
        if name in before and is_looser(name, before[name], value)
    }


def is_looser(name: str, before: Any, after: Any) -> bool:
    """Whether this value protects the user less than that before."""
    if name in ADDRESSES:
        return bool(before != after)
    order = LOOSENING.get(name, ())
    if before not in order or after not in order:
        return False
    return order.index(after) > order.index(before)


ModelUse = Mode | Literal["strategist"]
"""What a model may be set for: a mode, or the Strategist."""
ModelApi = Literal["auto", "responses", "chat"]


class Settings(Wire):
    """The effective settings of a turn. None leaves the choice to the provider."""

    model: str | None = None
    mode_models: dict[ModelUse, str] = {}
    api_base: str | None = None
    model_api: ModelApi = "auto"
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    reasoning_effort: ReasoningEffort | None = None
    token_limit: int | None = None
    parallel_tool_calls: bool = True
    tool_choice: str | dict[str, Any] | None = None
    streaming: bool = True
    intent_detection: IntentDetection = "auto"
    max_tool_calls: int = Field(50, ge=1)
    max_history_turns: int = Field(15, ge=1)
    context_window: int | None = Field(None, ge=1000)
    approval_policy: ApprovalPolicy = "destructive"
    mcp_mode: Mode | Literal["off"] = "agent"
    answer_timeout_seconds: float = Field(3600, gt=0)
    kernel_timeout_seconds: float = Field(900, gt=0)
    outputs: SharePolicy = "always"
    row_data: SharePolicy = "always"
    locked: frozenset[str] = frozenset()


SESSION_NAMES = {
    **{name: name for name in Settings.model_fields if name in SessionSettings.model_fields},
    "approval": "approval_policy",
}
"""The settings that a session may set: the name there, and the setting's."""


def for_turn(
    base: Settings, session: SessionSettings, request: ChatRequest, mode: ModelUse
) -> Settings:
    """The server's settings, then the session's, then the request's own, a later one winning.

    What is locked is left as it is. Raises ``AgentError`` ``forbidden`` where the request asks for
    something else; what a session remembers of it from before is not used.
    """
    if mode in base.mode_models:
        base = base.model_copy(update={"model": base.mode_models[mode]})
        if "mode_models" in base.locked:
            base = base.model_copy(update={"locked": base.locked | {"model"}})
    layers = {name: value for name, value in in_session(session).items() if name not in base.locked}
    wanted = _in_request(request)
    refuse_locked(base, wanted)
    return base.model_copy(update=layers | wanted)


def refuse_locked(base: Settings, wanted: Mapping[str, Any]) -> None:
    """Raises ``AgentError`` ``forbidden`` for a locked setting that would have another value."""
    for name in sorted(wanted.keys() & base.locked):
        value = getattr(base, name)
        if wanted[name] != value:
            chosen = "what the server chooses" if value is None else repr(value)
            raise AgentError(
                "forbidden",
                f"{name} is locked by the administrator of this server to {chosen}, and cannot be "
                "changed here.",
                {"setting": name},
            )


def check_session(base: Settings, session: SessionSettings | None) -> None:
    """Raises ``AgentError`` ``forbidden`` for settings that a session may not have."""
    if session is not None:
        refuse_locked(base, in_session(session))


def loosened_in_session(
    base: Settings, session: SessionSettings, change: SessionSettings | None
) -> dict[str, Any]:
    """What protects the user less after this change of a session's settings."""
    if change is None:
        return {}
    given = {name: getattr(change, name) for name in change.model_fields_set}
    both = in_session(session), in_session(session.model_copy(update=given))
    before, after = (base.model_dump() | each for each in both)
    return loosened(before, after)


def in_session(session: SessionSettings) -> dict[str, Any]:
    """What the session sets, by the settings' names."""
    given = {name: getattr(session, field) for field, name in SESSION_NAMES.items()}
    return {name: value for name, value in given.items() if value is not None}


def _in_request(request: ChatRequest) -> dict[str, Any]:
    wanted: dict[str, Any] = {"model": request.model, "approval_policy": request.approval}
    if request.overrides is not None:
        wanted |= request.overrides.model_dump()
    return {name: value for name, value in wanted.items() if value is not None}
