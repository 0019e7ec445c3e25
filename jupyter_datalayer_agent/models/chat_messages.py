"""Maps items of the Responses API to messages of chat completions.

Reasoning, text and calls of one answer are one assistant message. The results of its calls follow
it directly, as providers require: items between them (such as pictures of an output) come after the
last one. What the user's side says in succession (the context, the message) is one user message,
since the templates of many open models require that roles alternate.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ..protocol.json_text import parse_json
from ..protocol.tools import PRIVATE_NOTE
from .types import Item

Message: TypeAlias = dict[str, Any]
"""A message of chat completions, as JSON.
https://platform.openai.com/docs/api-reference/chat/create"""


def chat_messages(instructions: str, items: Iterable[Item], *, thinking: bool) -> list[Message]:
    """The messages of a request. With ``thinking``, earlier reasoning is included: providers whose
    models reason between calls require it."""
    conversation = ChatMessages(thinking)
    for item in items:
        conversation.add(item)
    return [*system_message(instructions), *conversation.finished()]


def system_message(instructions: str) -> list[Message]:
    """The system message, if there are instructions."""
    return [{"role": "system", "content": instructions}] if instructions else []


_READ = "I have read the results."
_GO_ON = "Go on."


def alternating(messages: Sequence[Message]) -> list[Message]:
    """The messages for a template that has no system role and expects an answer after the results
    of calls: the instructions begin the first user message, and a neutral answer is inserted where
    a user's message would follow a result."""
    rest = list(messages)
    instructions = rest.pop(0)["content"] if rest and rest[0]["role"] == "system" else None
    result: list[Message] = []
    if rest and rest[0]["role"] != "user":
        rest.insert(0, {"role": "user", "content": _GO_ON})
    for message in rest:
        if message["role"] == "user" and result and result[-1]["role"] == "tool":
            result.append({"role": "assistant", "content": _READ})
        result.append(message)
    if instructions and result:
        content = joined(instructions, result[0]["content"])
        result[0] = {**result[0], "content": content}
    return result


def joined(before: Any, after: Any) -> Any:
    """The contents of two messages as one."""
    if isinstance(before, str) and isinstance(after, str):
        return f"{before}\n\n{after}"
    return [*_parts(before), *_parts(after)]


def _parts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def chat_tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Function tools of the Responses API in the form of chat completions."""
    return [
        {
            "type": "function",
            "function": {name: value for name, value in tool.items() if name != "type"},
        }
        for tool in tools
    ]


def chat_tool_choice(choice: Any) -> Any:
    """``tool_choice`` of the Responses API in the form of chat completions."""
    if isinstance(choice, Mapping) and "name" in choice:
        return {"type": "function", "function": {"name": choice["name"]}}
    return choice


class ChatMessages:
    """Messages under construction."""

    def __init__(self, thinking: bool) -> None:
        self.messages: list[Message] = []
        self._thinking = thinking
        self._answer: Message | None = None
        self._open_calls: set[str] = set()
        self._held: list[Message] = []

    def add(self, item: Item) -> None:
        """The next item."""
        kind = item.get("type", "message")
        if kind == "function_call":
            self._call(item)
        elif kind == "function_call_output":
            self._output(item)
        elif kind == "reasoning":
            self._reason(item)
        elif item.get("role") == "assistant":
            self._say(item)
        else:
            self._put({"role": item["role"], "content": _content(item.get("content"))})

    @property
    def is_settled(self) -> bool:
        """Whether further items leave the messages so far unchanged."""
        is_open = self._answer is not None or self._open_calls or self._held
        return not is_open and not (self.messages and self.messages[-1]["role"] == "user")

    def finished(self) -> list[Message]:
        """All messages."""
        self._release()
        return self.messages

    def _open_answer(self) -> Message:
        """The assistant message to which the next items belong."""
        if self._answer is None:
            self._release()
            # Not null, which servers refuse and templates write as "None".
            self._answer = {"role": "assistant", "content": ""}
            self.messages.append(self._answer)
        return self._answer

    def _end_answer(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and not answer["content"] and "tool_calls" not in answer:
            self.messages.remove(answer)  # reasoning alone is no message

    def _say(self, item: Item) -> None:
        answer, text = self._open_answer(), _text(item.get("content"))
        answer["content"] = f"{answer['content']}\n\n{text}" if answer["content"] else text

    def _call(self, item: Item) -> None:
        function = {"name": item["name"], "arguments": _arguments(item.get("arguments"))}
        call = {"id": item["call_id"], "type": "function", "function": function}
        self._open_answer().setdefault("tool_calls", []).append(call)
        self._open_calls.add(item["call_id"])

    def _reason(self, item: Item) -> None:
        if not self._thinking:
            return
        reasoning = "\n".join(
            part["text"] for part in item.get("summary") or [] if part.get("text")
        )
        blocks = thinking_blocks(item)
        if not reasoning and not blocks:
            return
        answer = self._open_answer()
        if reasoning:
            before = answer.get("reasoning_content")
            answer["reasoning_content"] = reasoning if before is None else f"{before}\n{reasoning}"
        if blocks:
            answer["thinking_blocks"] = [*answer.get("thinking_blocks", []), *blocks]

    def _output(self, item: Item) -> None:
        self._end_answer()
        call_id = item["call_id"]
        content = _text(item.get("output"))
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": content})
        self._open_calls.discard(call_id)
        if not self._open_calls:
            self._release()

    def _put(self, message: Message) -> None:
        self._end_answer()
        to = self._held if self._open_calls else self.messages
        if to and to[-1]["role"] == message["role"] == "user":
            message["content"] = joined(to.pop()["content"], message["content"])
        to.append(message)

    def _release(self) -> None:
        self._end_answer()
        held, self._held = self._held, []
        self.messages += held
        self._open_calls.clear()


def thinking_blocks(item: Item) -> list[dict[str, Any]]:
    """The signed blocks of thinking in a reasoning item from chat completions, as Anthropic's
    models expect them; none for one from the Responses API."""
    content = item.get("encrypted_content")
    if not isinstance(content, str) or not content.startswith("[{"):
        return []
    try:
        blocks: list[dict[str, Any]] = parse_json(content)
    except ValueError:
        return []
    return blocks


def is_json_object(text: str) -> bool:
    """Whether ``text`` is a whole JSON object, as a call's arguments are."""
    try:
        return isinstance(parse_json(text), dict)
    except ValueError:
        return False


def _arguments(written: Any) -> str:
    """A call's arguments as JSON: servers parse them, and refuse the request where they cannot."""
    if not written:
        return "{}"
    if not isinstance(written, str):
        return json.dumps(written, ensure_ascii=False)
    return written if is_json_object(written) else json.dumps({"invalid_json": written})


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or part.get("refusal") or "" for part in content or [])


def _content(content: Any) -> Any:
    """A message of only text as a string, since not all OpenAI-compatible servers take a list of
    parts."""
    if isinstance(content, str) or all("image_url" not in part for part in content or []):
        return _text(content)
    return [_part(part) for part in content]


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if "image_url" not in part:
        return {"type": "text", "text": part.get("text", "")}
    image = {"url": part["image_url"]}
    if "detail" in part:
        image["detail"] = part["detail"]
    return {"type": "image_url", "image_url": image}


# Caches the mapping of a conversation's items, so that a request only maps new ones.


class ItemMapper:
    """Belongs to one conversation. Items are compared in order; from the first that differs on, all
    are mapped again.

    Its results must not be modified.
    """

    def __init__(self) -> None:
        self._form: Any = None
        self._items: list[Item] = []
        self._made: list[dict[str, Any]] = []
        # Counts of items and of what was made of them, where what follows changes nothing before.
        self._cuts: list[tuple[int, int]] = []

    def chat(self, items: Sequence[Item], *, thinking: bool) -> list[Message]:
        """The items as messages of chat completions, without a system prompt."""
        start, made = self._known(("chat", thinking), items)
        conversation = ChatMessages(thinking)
        for place in range(start, len(items)):
            if conversation.is_settled:
                self._cuts.append((place, len(made) + len(conversation.messages)))
            conversation.add(items[place])
        self._made = made + conversation.finished()
        return list(self._made)

    def responses(self, items: Sequence[Item]) -> list[Item]:
        """The items as the Responses API takes them."""
        start, made = self._known("responses", items)
        self._made = made + input_items(items[start:])
        self._cuts.append((len(items), len(self._made)))
        return list(self._made)

    def _known(self, form: Any, items: Sequence[Item]) -> tuple[int, list[dict[str, Any]]]:
        """The number of items that need not be mapped again, and their messages."""
        same = _same(self._items, items) if form == self._form else 0
        self._form, self._items = form, list(items)
        while self._cuts and self._cuts[-1][0] > same:
            self._cuts.pop()
        start, count = self._cuts[-1] if self._cuts else (0, 0)
        return start, self._made[:count]


def _same(before: Sequence[Item], items: Sequence[Item]) -> int:
    """The length of the common prefix."""
    count = 0
    for one, other in zip(before, items, strict=False):
        if one is not other and one != other:
            break
        count += 1
    return count


def input_items(items: Iterable[Item]) -> list[Item]:
    """Items as they can be sent to the Responses API with ``store: false``.

    The server stored none of them, so ids are left out, and a reasoning item is only useful with
    its encrypted content."""
    sent = []
    for item in items:
        reasoning = item.get("type") == "reasoning"
        if reasoning and (not item.get("encrypted_content") or thinking_blocks(item)):
            continue
        left_out = {"status", PRIVATE_NOTE} | (set() if reasoning else {"id"})
        sent.append({name: value for name, value in item.items() if name not in left_out})
    return sent
