"""What crosses the boundary to a model: a request, a stream of events, and the ways it can fail.

Items are those of the Responses API whatever the provider: messages, function calls, reasoning.
An item that a stream has delivered whole (``ItemDone``) can be an input item in the next
request as it is. https://platform.openai.com/docs/api-reference/responses
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from jupyter_datalayer_agent.protocol.requests import Usage

Item: TypeAlias = dict[str, Any]
"""An input or output item of the Responses API, as JSON."""

ModelApi: TypeAlias = Literal["auto", "responses", "chat"]
"""Which API is spoken to the provider. ``auto``: its own Responses API where it has one."""


CONNECTION_LOST = "connection_lost"
"""The finish reason of an answer that the user saw, and whose server did not say that it ended."""

SIZE_LIMIT = "size_limit"
"""The finish reason of an answer that was ended since it grew beyond what is read of one."""


def is_thought(item: Mapping[str, Any]) -> bool:
    """Whether a reasoning item was part of a text: it is shown, and never sent to a model."""
    reads = item.get("summary") or item.get("encrypted_content")
    return item.get("type") == "reasoning" and not reads


class Mapper(Protocol):
    """What a conversation's items became in its request before; see ``item_mapper.ItemMapper``."""

    def chat(self, items: Sequence[Item], *, thinking: bool) -> list[dict[str, Any]]:
        """The items as messages of chat completions."""
        ...

    def responses(self, items: Sequence[Item]) -> list[Item]:
        """The items as the Responses API takes them."""
        ...


@dataclass(frozen=True)
class ModelRequest:
    """One call of a model.

    ``model`` is a name of litellm, ``provider/name``. ``tools`` are function tools in the form of
    the Responses API. What is ``None`` is not sent. ``reasoning_effort`` is for models that have
    it. ``output_schema`` is the JSON schema that the answer's text is to follow. ``api_key`` is the
    key of ``api_base``, where the environment does not have it. ``mapper`` is what the
    conversation's items became in its request before.
    """

    model: str
    instructions: str
    input: Sequence[Item]
    tools: Sequence[dict[str, Any]] = ()
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    parallel_tool_calls: bool | None = None
    tool_choice: Any = None
    reasoning_effort: str | None = None
    output_schema: dict[str, Any] | None = None
    stream: bool = True
    api_base: str | None = None
    model_api: ModelApi = "auto"
    api_key: str | None = field(default=None, compare=False, repr=False)
    answer_timeout: float = 3600.0
    """Seconds without a part of the answer after which it is given up, although the server keeps
    the connection alive by comments."""
    num_ctx: int | None = None
    """Tokens of context that Ollama is to reserve; see ``connections.registry``."""
    mapper: Mapper | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class ModelLoading:
    """The model is being loaded before it is called; ``message`` is for a user."""

    message: str


@dataclass(frozen=True)
class StreamStarted:
    """The provider has accepted the request and begun to answer."""


@dataclass(frozen=True)
class TextChunk:
    """More text of the message ``item_id``."""

    item_id: str
    delta: str


@dataclass(frozen=True)
class ReasoningChunk:
    """More of what the model shows of its reasoning, in the reasoning item ``item_id``."""

    item_id: str
    delta: str


@dataclass(frozen=True)
class ItemTakenBack:
    """What was shown of this item belongs to another one, whose chunks follow: text that turned out
    to be reasoning. The item may go on."""

    item_id: str


@dataclass(frozen=True)
class FunctionCallStarted:
    """The model has named a function; its arguments are still to come."""

    item_id: str
    call_id: str
    name: str


@dataclass(frozen=True)
class ItemDone:
    """A whole output item. ``item_id`` is the one that its deltas had.

    A function call's ``arguments`` is the string that the model wrote: it may be invalid JSON where
    the stream itself was complete."""

    item_id: str
    item: Item


@dataclass(frozen=True)
class ResponseDone:
    """The end of an answer: every item in order, what it cost, and why it ended.

    ``finish_reason`` is ``stop``, ``max_output_tokens``, ``content_filter``, ``CONNECTION_LOST`` or
    ``SIZE_LIMIT``; ``cache_written`` the input tokens that were put into the prompt cache, where
    the provider bills them."""

    items: tuple[Item, ...]
    usage: Usage
    finish_reason: str = "stop"
    cache_written: int = 0


StreamEvent: TypeAlias = (
    ModelLoading
    | StreamStarted
    | TextChunk
    | ReasoningChunk
    | ItemTakenBack
    | FunctionCallStarted
    | ItemDone
    | ResponseDone
)


class Model(Protocol):
    """Something that answers model requests."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """The answer as it streams. One attempt: it never retries.

        The last event of a complete answer is ``ResponseDone``. Closing the iterator (``aclose``)
        or cancelling its consumer closes the connection at once. Raises ``ModelError``."""
        ...


ModelErrorCode: TypeAlias = Literal[
    "no_model",
    "authentication",
    "payment",
    "bad_request",
    "context_window",
    "rate_limit",
    "connection",
    "server",
    "broken_stream",
    "litellm_unusable",
]

RETRYABLE: frozenset[ModelErrorCode] = frozenset(
    {"rate_limit", "connection", "server", "broken_stream"}
)


@dataclass(frozen=True)
class BrokenStream:
    """What had arrived when a stream was lost.

    ``items`` are whole, have been announced by ``ItemDone`` and can be sent again.
    ``partial_item_ids`` are those of which something was shown but which did not end: a retry takes
    them back."""

    items: tuple[Item, ...] = ()
    partial_item_ids: tuple[str, ...] = ()


class ModelError(Exception):
    """A model call failed. ``message`` is for a user: no key, no traceback.

    ``retry_after`` is in seconds, where the server named a time. ``status`` is the HTTP status,
    where there was one. ``broken`` is there once a stream has begun. ``is_not_ready``: a server on
    this computer or network said 503, as it does for a minute while it loads a model."""

    def __init__(
        self,
        code: ModelErrorCode,
        message: str,
        *,
        retryable: bool | None = None,
        retry_after: float | None = None,
        status: int | None = None,
        broken: BrokenStream | None = None,
        is_not_ready: bool = False,
    ) -> None:
        super().__init__(message)
        self.code: ModelErrorCode = code
        self.message = message
        self.retryable = code in RETRYABLE if retryable is None else retryable
        self.retry_after = retry_after
        self.status = status
        self.broken = broken or BrokenStream()
        self.is_not_ready = is_not_ready


@dataclass(frozen=True)
class Readiness:
    """Whether a model can be called as things are. ``reason`` and ``what_to_do`` are for a user
    and empty when it is ready; they hold no secret."""

    ready: bool
    reason: str = ""
    what_to_do: str = ""
    missing: tuple[str, ...] = field(default=())
    """Environment variables that would make it ready."""


@dataclass(frozen=True)
class CatalogueModel:
    """One model. ``name`` goes after the provider's prefix; ``context_window`` is in tokens."""

    name: str
    label: str
    context_window: int
    vision: bool = True


@dataclass(frozen=True)
class ModelProvider:
    """A provider of another package, which declares it as an entry point of the group
    ``jupyter_datalayer_agent.model_providers``. The entry point's name is the prefix of its models:
    ``echo`` has ``echo/NAME``. docs/adding-a-model-provider.md has a complete example.

    ``connect`` makes what answers requests for all its ``models``, once; ``ModelRequest.model`` is
    the name with the prefix. ``readiness`` says whether a call could be made now: it looks for the
    provider's key, opens no connection and returns at once. ``can_be_default``: whether its first
    model may be used where the user has chosen none.
    """

    label: str
    models: Sequence[CatalogueModel]
    connect: Callable[[], Model]
    readiness: Callable[[], Readiness] = lambda: Readiness(True)
    can_be_default: bool = False
