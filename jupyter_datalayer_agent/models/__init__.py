"""Calling models. The only importer of litellm, which is loaded shortly before the first call."""

from .catalogue import default_model, find_model, models_reply, readiness
from .litellm_model import LitellmModel
from .loader import begin_import, shutdown
from .retry import MAX_RETRIES, delay_before
from .tokens import count_tokens, estimate_tokens
from .types import (
    BrokenStream,
    FunctionCallStarted,
    Item,
    ItemDone,
    ItemTakenBack,
    Model,
    ModelApi,
    ModelError,
    ModelRequest,
    Readiness,
    ReasoningChunk,
    ResponseDone,
    StreamEvent,
    StreamStarted,
    TextChunk,
)

__all__ = [
    "MAX_RETRIES",
    "BrokenStream",
    "FunctionCallStarted",
    "Item",
    "ItemDone",
    "ItemTakenBack",
    "LitellmModel",
    "Model",
    "ModelApi",
    "ModelError",
    "ModelRequest",
    "Readiness",
    "ReasoningChunk",
    "ResponseDone",
    "StreamEvent",
    "StreamStarted",
    "TextChunk",
    "begin_import",
    "count_tokens",
    "default_model",
    "delay_before",
    "estimate_tokens",
    "find_model",
    "models_reply",
    "readiness",
    "shutdown",
]
