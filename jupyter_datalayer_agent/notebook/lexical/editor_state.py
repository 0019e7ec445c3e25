"""A Lexical editor state as its text says: the spans of its blocks, so that a change of one leaves
all the rest byte for byte."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...protocol.json_text import to_json
from ..document import DocumentError

Node = dict[str, Any]
MAX_DEPTH = 200
"""How deep nodes may be nested: deeper than any document, and less than what exhausts a parser."""

_SPACE = re.compile(r"[ \t\n\r]*")


class NotLexical(ValueError):
    """The text is no Lexical editor state; the message says why."""


@dataclass(frozen=True)
class Block:
    """A child of the root: its node, and where its JSON is in the text."""

    node: Node
    text: str
    start: int
    end: int

    @property
    def type(self) -> str:
        """The node's type."""
        return str(self.node["type"])

    @cached_property
    def hash(self) -> str:
        """SHA-256 of its JSON as it is in the file."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class EditorState:
    """The document's text with its blocks; ``start`` and ``end`` enclose the inside of the root's
    ``children``."""

    text: str
    blocks: Sequence[Block]
    start: int
    end: int

    @classmethod
    def parse(cls, text: str) -> EditorState:
        """Raises ``NotLexical``."""
        try:
            return _parse(text)
        except RecursionError:
            raise NotLexical(_TOO_DEEP) from None
        except json.JSONDecodeError as error:
            raise NotLexical(f"it is not valid JSON: {error}") from None

    def recomposed(self, pieces: Sequence[int | Node | str]) -> str:
        """The text with these blocks: one of now by its index, a new node, or a block's JSON."""
        if not pieces:
            return self.text[: self.start] + self.text[self.end :]
        head, tail, between = self._white_space()
        parts = [self.text[: self.start], head]
        last: int | Node | str | None = None
        for piece in pieces:
            if last is not None:
                follows = isinstance(piece, int) and isinstance(last, int) and piece == last + 1
                parts.append(self._after(last) if follows and isinstance(last, int) else between)
            parts.append(self._json(piece, head))
            last = piece
        return "".join([*parts, tail, self.text[self.end :]])

    def _json(self, piece: int | Node | str, head: str) -> str:
        if isinstance(piece, int):
            return self.blocks[piece].text
        return piece if isinstance(piece, str) else _written(piece, head)

    def _white_space(self) -> tuple[str, str, str]:
        """The text before the first block, after the last one, and between two."""
        if not self.blocks:
            return "", "", ","
        head = self.text[self.start : self.blocks[0].start]
        tail = self.text[self.blocks[-1].end : self.end]
        between = self._after(0) if len(self.blocks) > 1 else f",{head}"
        return head, tail, between

    def _after(self, index: int) -> str:
        return self.text[self.blocks[index].end : self.blocks[index + 1].start]


_TOO_DEEP = f"its nodes are nested more than {MAX_DEPTH} deep"


def read_state(path: str, text: str) -> EditorState:
    """The editor state of a file. Raises ``DocumentError``."""
    try:
        return EditorState.parse(text)
    except NotLexical as error:
        raise DocumentError(
            "invalid_arguments",
            f"{path} is not a Lexical document: {error}.",
            'It would be {"root": {"type": "root", "children": [...]}}. Nothing was changed; ask '
            "the user for the right file.",
        ) from error


def _refuse_constant(name: str) -> Any:
    raise NotLexical(f"it is not valid JSON: {name}")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _parse(text: str) -> EditorState:
    reader = _Reader(text)
    begin = reader.space(0)
    if begin == len(text):
        raise NotLexical("it is empty")
    if text[begin] != "{":
        _DECODER.raw_decode(text, begin)
        raise NotLexical("its JSON is no object with a root node")
    end = reader.space(reader.object(begin, {"root": reader.root}))
    if end < len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    if reader.kind != "root" or reader.state is None:
        raise NotLexical("it has no root of type 'root' with a list of children")
    return reader.state


class _Reader:
    """Reads the text once: what surrounds the blocks member by member, each block whole. Of a key
    that comes twice the last value counts, as in a browser."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kind: Any = None
        self.state: EditorState | None = None

    def root(self, at: int) -> int:
        self.kind = self.state = None
        if self.text[at] != "{":
            return self._value(at)[1]
        return self.object(at, {"type": self._type, "children": self._children})

    def object(self, at: int, known: Mapping[str, Callable[[int], int]]) -> int:
        """Read an object, the values of ``known`` keys by their functions; where it ends."""
        at = self.space(at + 1)
        if self._is(at, "}"):
            return at + 1
        while True:
            if not self._is(at, '"'):
                raise json.JSONDecodeError("Expecting a name in double quotes", self.text, at)
            key, at = self._value(at)
            at = self._past(at, ":")
            read = known.get(key)
            at = self.space(self._value(at)[1] if read is None else read(at))
            if self._is(at, "}"):
                return at + 1
            at = self._past(at, ",")

    def space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        assert found is not None
        return found.end()

    def _type(self, at: int) -> int:
        self.kind, end = self._value(at)
        return end

    def _children(self, at: int) -> int:
        self.state = None
        if not self._is(at, "["):
            return self._value(at)[1]
        start = at + 1
        blocks: list[Block] = []
        at = self.space(start)
        while blocks or not self._is(at, "]"):
            node, end = self._value(at)
            _check(node, len(blocks), self.text, at, end)
            blocks.append(Block(node, self.text[at:end], at, end))
            at = self.space(end)
            if self._is(at, "]"):
                break
            at = self._past(at, ",")
        self.state = EditorState(self.text, blocks, start, at)
        return at + 1

    def _value(self, at: int) -> tuple[Any, int]:
        return _DECODER.raw_decode(self.text, at)

    def _past(self, at: int, mark: str) -> int:
        at = self.space(at)
        if not self._is(at, mark):
            raise json.JSONDecodeError(f"Expecting {mark!r}", self.text, at)
        return self.space(at + 1)

    def _is(self, at: int, mark: str) -> bool:
        return self.text.startswith(mark, at)


def _check(node: Any, index: int, text: str, start: int, end: int) -> None:
    if not isinstance(node, dict) or not isinstance(node.get("type"), str):
        raise NotLexical(f"block {index + 1} is not a node with a type")
    # To count is much cheaper than to look, and most blocks hold few brackets.
    if text.count("{", start, end) + text.count("[", start, end) <= MAX_DEPTH:
        return
    level: list[Any] = [node]
    for _ in range(MAX_DEPTH):
        level = [child for each in level for child in _inside(each)]
        if not level:
            return
    raise NotLexical(_TOO_DEEP)


def _inside(value: Any) -> Iterator[Any]:
    values = value.values() if type(value) is dict else value
    return (each for each in values if type(each) is dict or type(each) is list)


def _written(node: Node, head: str) -> str:
    """A new node's JSON, compact, or indented as the blocks around it are."""
    line = head.rpartition("\n")[2]
    if "\n" not in head or not line:
        return to_json(node)
    step = "\t" if line.startswith("\t") else _step(len(line))
    text = json.dumps(node, ensure_ascii=False, indent=step)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(node, indent=step)
    return text.replace("\n", f"\n{line}")


def _step(width: int) -> int:
    """Blocks are three levels deep: in the document, its root, and the root's children."""
    return max(1, width // 3)
