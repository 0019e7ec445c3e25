"""The conversation that is sent to the model: items, past turns, and what the model knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ..models.chat_messages import ItemMapper
from ..models.prices import ASSUMED_WINDOW, context_window
from ..models.tokens import estimate_item
from ..notebook.context.known_notebook import KnownNotebook, updated
from ..protocol.pictures import pictures_in
from ..protocol.requests import Usage
from ..settings.turn_settings import Settings
from ..tools.registry import ToolRegistry

if TYPE_CHECKING:
    from ..store.records import Compaction, TurnContext
    from ..store.store import Store


# How much of a conversation a model reads, in estimated tokens.


FULL = 0.9
"""The share of its window above which a conversation is compacted."""
MOST_WEIGHT = 3.0


class TokenCalibration:
    """What a session learned about its models: how they count tokens, and what they refused."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}
        self._refused: dict[str, int] = {}

    def window(self, settings: Settings, model: str) -> int:
        """The model's window in estimated tokens."""
        window = settings.context_window or context_window(model) or ASSUMED_WINDOW
        estimated = int(window / self._weights.get(model, 1.0))
        return min(estimated, self._refused.get(model, estimated))

    def full(self, settings: Settings, model: str) -> int:
        """The size of a request, in estimated tokens, above which it is compacted."""
        return int(self.window(settings, model) * FULL)

    def refused_below(self, model: str, size: int) -> bool:
        """Whether the provider refused a request of less than this, in estimated tokens."""
        return self._refused.get(model, size) < size

    def learn(self, model: str, estimated: int, usage: Usage) -> None:
        """Record the provider's count for a request of ``estimated`` tokens. Only a higher count
        matters: a lower one only means that there is more room than estimated."""
        if usage.estimated or estimated <= 0:
            return
        weight = usage.input_tokens / estimated
        self._weights[model] = min(MOST_WEIGHT, max(1.0, weight))

    def refused(self, model: str, estimated: int) -> None:
        """Record that the provider refused a request of ``estimated`` tokens as too long."""
        self._refused[model] = min(estimated, self._refused.get(model, estimated))


# What the model knows about attached and active documents from the contexts that it was sent.
#
# It is derived from the hashes of what each turn's context stated, and from tool calls, which may
# have changed cells since.


Item = dict[str, Any]
Effect = Literal["none", "run", "change"]
"""What calling a tool may do to cells."""

RUN = "runNotebookCells"
_WORD = re.compile(r"[\w-]+")
_OF_KERNEL = ("cells", "outputs", "variables")


@dataclass(frozen=True)
class KnownContext:
    """``pieces`` are the keys of what the newest context was made of, ``texts`` the hashes of their
    texts, and ``lines`` the hashes of the lines of files, by key; ``notebooks`` are by path."""

    pieces: tuple[str, ...] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notebooks: Mapping[str, KnownNotebook] = field(default_factory=dict)

    def after(self, stated: Mapping[str, Any] | None) -> KnownContext:
        """What is known after a context that stated this (None: it stated nothing)."""
        if stated is None:
            return self
        notebooks = dict(self.notebooks)
        for path, data in stated["notebooks"].items():
            known = updated(notebooks.get(path), data)
            if known is not None:
                notebooks[path] = known
        return KnownContext(
            pieces=tuple(stated["pieces"]),
            texts={**self.texts, **stated["texts"]},
            # Hashes are outdated if the file was stated in another form in between.
            lines={
                **{key: at for key, at in self.lines.items() if key not in stated["texts"]},
                **stated["lines"],
            },
            notebooks=notebooks,
        )

    def after_calls(self, items: Sequence[Item], effect: Callable[[str], Effect]) -> KnownContext:
        """What is still known after a turn's calls. The outputs reported what the calls changed or
        ran, which may have been reverted since."""
        changed, ran = _named(items, effect, "change"), _named(items, effect, "run")
        if not changed and not ran:
            return self
        words = set(_WORD.findall(changed))
        either = words.union(_WORD.findall(ran))
        kept = {key for key in self.texts if not _may_differ(key, changed)}
        return replace(
            self,
            texts={key: text for key, text in self.texts.items() if key in kept},
            lines={key: lines for key, lines in self.lines.items() if key in kept},
            notebooks={
                path: known.without(either, words) for path, known in self.notebooks.items()
            },
        )


def effect_in(registry: ToolRegistry) -> Callable[[str], Effect]:
    """Returns what calling a tool by its name may do to cells."""

    def effect(name: str) -> Effect:
        tool = registry.behind(name)
        if tool is None or not tool.changes:
            return "none"
        return "run" if tool.name == RUN else "change"

    return effect


def _may_differ(key: str, changed: str) -> bool:
    """Whether calls that name all of ``changed`` may have changed what the key refers to."""
    kind, _, rest = key.partition(" ")
    return kind in _OF_KERNEL or (kind == "file" and rest in changed)


def _named(items: Sequence[Item], effect: Callable[[str], Effect], wanted: Effect) -> str:
    """The arguments and outputs of the calls that have this effect."""
    calls = {
        item["call_id"]: str(item.get("arguments", ""))
        for item in items
        if item.get("type") == "function_call" and effect(item["name"]) == wanted
    }
    outputs = [
        str(item["output"])
        for item in items
        if item.get("type") == "function_call_output" and item["call_id"] in calls
    ]
    return " ".join([*calls.values(), *outputs])


# The conversation that the model is sent before the current message.
#
# Items are kept byte for byte as first sent, with the context of each turn, so that the provider's
# prompt cache hits from turn to turn. What replaces older turns (``compaction``) changes seldom,
# and is stored verbatim.


ENDED_EARLY = {
    "interrupted": "The user stopped the turn here, before it was finished. What an aborted call "
    "had done until then stays.",
    "replaced": "The user stopped the turn here to send another message. What an aborted call "
    "had done until then stays.",
    "shutdown": "The server stopped here, before the turn was finished. What an aborted call had "
    "done until then stays.",
    "token_limit": "The turn ended here: the token limit was reached.",
    "tool_limit": "The turn ended here: the limit of tool calls was reached.",
    "error": "The turn ended here, with an error of the model or the server. An answer just before "
    "this may be cut off.",
}


def user_item(text: str) -> Item:
    """A user message as a Responses input item."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def assistant_item(text: str) -> Item:
    """An answer as a Responses input item."""
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }


def note_item(reason: str) -> Item:
    """The note in the history after a turn that ended early."""
    return user_item(f"[{ENDED_EARLY[reason]}]")


def output_item(call_id: str, output: str) -> Item:
    """A tool's answer as a Responses input item."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def unanswered(items: Sequence[Item]) -> list[Item]:
    """The calls that have no output yet, in order."""
    answered = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    return [
        item
        for item in items
        if item.get("type") == "function_call" and item["call_id"] not in answered
    ]


class PastTurn:
    """A turn that is sent whole; ``index`` is its position in the session, ``tokens`` an estimate.

    Its ``context`` is sent before its items.
    """

    def __init__(
        self, index: int, items: Sequence[Item], context: TurnContext | None = None
    ) -> None:
        self.index = index
        self.items = list(items)
        self.context = context
        self.tokens = sum(map(estimate_item, self.sent))
        self.pictures = sum(map(pictures_in, self.items))

    @property
    def sent(self) -> list[Item]:
        """All that is sent of it, in order."""
        first = [] if self.context is None or self.context.item is None else [self.context.item]
        return [*first, *self.items]

    def add(self, item: Item) -> None:
        """Add items to the turn."""
        self.items.append(item)
        self.tokens += estimate_item(item)

    @property
    def message(self) -> str | None:
        """The user's message, with which every turn begins; None for later items."""
        first = self.items[0] if self.items else {}
        if first.get("role") != "user":
            return None
        return "".join(part.get("text", "") for part in first["content"])


@dataclass(frozen=True)
class Cut:
    """What is to be replaced: an earlier compaction, and the oldest turns.

    ``parts`` are the items of each, oldest first; ``messages`` the user's own among them.
    ``lengths`` are the turns' current lengths, since items added later are not part of the cut.
    """

    through: int
    parts: list[list[Item]]
    messages: list[str]
    summary: str | None
    lengths: list[int]
    tokens: int


@dataclass
class History:
    """What is sent: ``compaction`` in place of the oldest turns, then ``turns``, newest last.

    ``blind`` are models that refused pictures although they are listed as having vision.
    """

    turns: list[PastTurn] = field(default_factory=list)
    compaction: Compaction | None = None
    calibration: TokenCalibration = field(default_factory=TokenCalibration)
    mapper: ItemMapper = field(default_factory=ItemMapper)
    blind: set[str] = field(default_factory=set)
    _weighed: tuple[Compaction | None, int] = (None, 0)
    # What is known after this number of turns.
    _known: tuple[KnownContext, int] = (KnownContext(), 0)

    def items(self) -> list[Item]:
        """All items in order."""
        first = [] if self.compaction is None else self.compaction.items
        return [*first, *(item for turn in self.turns for item in turn.sent)]

    def items_before(self, index: int) -> list[Item]:
        """All items before the turn at this index, in order."""
        first = [] if self.compaction is None else self.compaction.items
        return [*first, *(i for turn in self.turns if turn.index < index for i in turn.sent)]

    @property
    def pictures(self) -> int:
        """The number of pictures that are sent."""
        return sum(turn.pictures for turn in self.turns)

    @property
    def compacted_tokens(self) -> int:
        """Estimated tokens of what replaces older turns."""
        weighed, tokens = self._weighed
        if self.compaction is not weighed and self.compaction is not None:
            tokens = sum(map(estimate_item, self.compaction.items))
            self._weighed = (self.compaction, tokens)
        return 0 if self.compaction is None else tokens

    @property
    def tokens(self) -> int:
        """An estimate of all that is sent."""
        return self.compacted_tokens + sum(turn.tokens for turn in self.turns)

    def copy(self) -> History:
        """A copy that can be extended separately."""
        return History(list(self.turns), self.compaction, self.calibration, _known=self._known)

    def add(
        self,
        items: Sequence[Item],
        index: int | None = None,
        context: TurnContext | None = None,
    ) -> None:
        """Add a turn that ended; without ``index``, it follows the newest one."""
        place = self._newest + 1 if index is None else index
        self.turns.append(PastTurn(place, items, context))

    def known(self, effect: Callable[[str], Effect]) -> KnownContext:
        """What the model knows from the turns that are sent; ``effect`` gives that of a tool."""
        known, count = self._known
        for turn in self.turns[count:]:
            if turn.context is not None:
                known = known.after(turn.context.stated)
            known = known.after_calls(turn.items, effect)
        self._known = (known, len(self.turns))
        return known

    def note(self, item: Item) -> None:
        """Add a note to the model after the newest turn."""
        if self.turns:
            self.turns[-1].add(item)
        else:
            self.turns.append(PastTurn(self._newest, [item]))

    @property
    def _newest(self) -> int:
        if self.turns:
            return self.turns[-1].index
        return -1 if self.compaction is None else self.compaction.through

    def cut(self, count: int) -> Cut | None:
        """The oldest ``count`` turns and the compaction before them; None if there is nothing."""
        older = self.turns[:count]
        before = self.compaction
        if not older:
            return None
        messages = [] if before is None else list(before.messages)
        messages += [turn.message for turn in older if turn.message is not None]
        return Cut(
            through=older[-1].index,
            parts=[*([before.items] if before is not None else []), *(t.sent for t in older)],
            messages=messages,
            summary=None if before is None else before.summary,
            lengths=[len(turn.items) for turn in older],
            tokens=self.compacted_tokens + sum(turn.tokens for turn in older),
        )

    def cut_compaction(self) -> Cut | None:
        """The compaction, if it contains text of older turns."""
        before = self.compaction
        if before is None or not (before.messages or before.summary):
            return None
        return Cut(
            through=before.through,
            parts=[before.items],
            messages=list(before.messages),
            summary=before.summary,
            lengths=[],
            tokens=self.compacted_tokens,
        )

    def replace(self, cut: Cut, compaction: Compaction) -> None:
        """Send ``compaction`` instead of the cut; items added since then stay."""
        older = self.turns[: len(cut.lengths)]
        late = [
            PastTurn(turn.index, turn.items[length:])
            for turn, length in zip(older, cut.lengths, strict=True)
            if len(turn.items) > length
        ]
        self.turns[: len(cut.lengths)] = late
        self.compaction = compaction
        self._known = (KnownContext(), 0)


async def read_history(store: Store, session_id: str, *, without: str | None = None) -> History:
    """Read from the database what is sent, without the turn ``without``."""
    conversation = await store.compactions.conversation(session_id)
    history = History(compaction=conversation.compaction)
    for turn in conversation.turns:
        if turn.turn_id == without:
            continue
        items: list[Item] = list(turn.items)
        if turn.aborted_reason is not None:
            items.append(note_item(turn.aborted_reason))
        history.add(items, turn.index, turn.context)
    return history
