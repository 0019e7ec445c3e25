"""What models cost and which reasoning efforts they take: from the catalogue or, once it is loaded,
from litellm's price list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from ..protocol.base import ReasoningEffort
from ..protocol.requests import ModelInfo
from .prices import context_window, price_entry

Efforts: TypeAlias = tuple[ReasoningEffort, ...]

EFFORTS: Efforts = get_args(ReasoningEffort)
USUAL: Efforts = ("low", "medium", "high")
"""The efforts of every model that reasons and declares no others."""
FULL: Efforts = (*USUAL, "xhigh", "max")


@dataclass(frozen=True)
class Capabilities:
    """``efforts`` of reasoning that may be chosen; none if the model does not reason. Prices are in
    US dollars per million tokens."""

    efforts: Efforts = ()
    input_price: float | None = None
    output_price: float | None = None


# As litellm 1.109's price list has them (November 2026).
_LISTED: Mapping[str, Capabilities] = {
    "anthropic/claude-sonnet-5-5": Capabilities(FULL, 2, 10),
    "anthropic/claude-opus-5-5": Capabilities(FULL, 4, 20),
    "anthropic/claude-haiku-4-5": Capabilities(USUAL, 1, 5),
    "openai/gpt-6.1-sol": Capabilities(FULL, 2, 10),
    "openai/gpt-6.1-terra": Capabilities(USUAL),
    "openai/gpt-5.3-codex": Capabilities(("none", *USUAL, "xhigh"), 1.75, 14),
    "gemini/gemini-3.8-flash": Capabilities(USUAL, 0.75, 3.75),
    "gemini/gemini-3.1-pro-preview": Capabilities(USUAL, 2, 12),
    "mistral/mistral-large-latest": Capabilities((), 0.5, 1.5),
    "mistral/mistral-medium-latest": Capabilities(("none", "high"), 1.5, 7.5),
    "deepseek/deepseek-v4-pro": Capabilities(USUAL, 1.32, 3.96),
    "deepseek/deepseek-v4-flash": Capabilities(USUAL, 0.3, 1.2),
    "xai/grok-4.20": Capabilities(USUAL, 1.25, 2.5),
    "groq/openai/gpt-oss-120b": Capabilities(USUAL, 0.15, 0.6),
    "openrouter/anthropic/claude-sonnet-5.5": Capabilities(USUAL),
    "bedrock/global.anthropic.claude-sonnet-5-5": Capabilities(FULL, 2, 10),
}


def capabilities(model: str) -> Capabilities:
    """What is known about ``provider/name``, or a bare name of one of the catalogue's makers."""
    listed = _LISTED.get(model)
    if listed is not None:
        return listed
    entry = price_entry(model)
    return Capabilities() if entry is None else of_entry(entry)


def of_entry(entry: Mapping[str, Any]) -> Capabilities:
    """The capabilities that an entry of litellm's price list states."""
    return Capabilities(
        _efforts(entry),
        _per_million(entry.get("input_cost_per_token")),
        _per_million(entry.get("output_cost_per_token")),
    )


def taken_effort(model: str, effort: str | None) -> str | None:
    """The effort to send: None for a model that does not take it."""
    return effort if effort in capabilities(model).efforts else None


def described(info: ModelInfo, assumed_window: int) -> None:
    """Add what is known about a model to its catalogue entry; ``assumed_window`` is used if its
    window is unknown."""
    known = capabilities(info.id)
    info.reasoning_efforts = list(known.efforts) or None
    info.input_price, info.output_price = known.input_price, known.output_price
    entry = price_entry(info.id)
    if info.context_window is None and entry is not None:
        info.context_window = context_window(info.id)
        info.vision = bool(entry.get("supports_vision"))
    if info.context_window is None:
        info.assumed_context_window = assumed_window


def _efforts(entry: Mapping[str, Any]) -> Efforts:
    declared = entry.get("reasoning_effort_levels")
    if declared:
        return tuple(each for each in EFFORTS if each in declared)
    if not entry.get("supports_reasoning"):
        return ()
    return tuple(
        each for each in EFFORTS if each in USUAL or entry.get(f"supports_{each}_reasoning_effort")
    )


def _per_million(price: Any) -> float | None:
    return round(price * 1_000_000, 6) if isinstance(price, (int, float)) else None
