"""Redaction: withholds private parts of a tool's result from the model.

A tool marks outputs and rows of data with ``text`` and ``value``; users see them whole. The
dispatcher makes the model's copy, in which a note replaces each withheld part and says what it is
and who withheld it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from ..protocol.tools import ShareKind

Refused = Mapping[ShareKind, str]
"""The kinds that may not be sent, and how they are withheld: “by the setting”, “by the user”."""

BY_SETTING = "by the setting"
BY_USER = "by the user"
EVERYTHING: Refused = {"outputs": BY_SETTING, "row_data": BY_SETTING}


@dataclass(frozen=True)
class Part:
    """A part of a text. One with ``kinds`` is private: it is sent only if all of them may be,
    otherwise described by ``what``. ``piece`` makes the part for a piece of its text, which may
    turn out more private than the whole."""

    text: str
    kinds: frozenset[ShareKind] = frozenset()
    what: str = ""
    piece: Callable[[str], Part] | None = None

    def cut(self, start: int, end: int) -> Part:
        """The characters from ``start`` to ``end``."""
        text = self.text[max(0, start) : max(0, end)]
        return self.piece(text) if self.piece else Part(text, self.kinds, self.what)

    def redacted(self, refused: Refused) -> str:
        """The part as the model reads it."""
        who = next((refused[kind] for kind in sorted(self.kinds) if kind in refused), None)
        return self.text if who is None else f"[{self.what} withheld {who}]"


class PrivateText(str):
    """A text with private parts; the ``str`` itself is complete."""

    _find: Callable[[], Part | None]

    def __new__(cls, parts: Iterable[Part]) -> PrivateText:
        """Join the parts."""
        kept = tuple(part for part in parts if part.text)
        made = super().__new__(cls, "".join([part.text for part in kept]))
        made.parts = kept
        return made

    @classmethod
    def marked_later(cls, whole: str, find: Callable[[], Part | None]) -> PrivateText:
        """A text that is one private part, or public as a whole (None). ``find`` decides that, and
        is called only once somebody decides what may be sent."""
        made = super().__new__(cls, whole)
        made._find = find
        return made

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts that make up the text."""
        found = self._find() or Part(str(self))
        return (found,) if found.text else ()

    def cut(self, start: int, end: int) -> PrivateText:
        """The characters from ``start`` to ``end``, with their marks."""
        parts, at = [], 0
        for part in self.parts:
            parts.append(part.cut(start - at, end - at))
            at += len(part.text)
        return PrivateText(parts)


@dataclass(frozen=True)
class PrivateValue:
    """A JSON value in a tool's output that is private as a whole."""

    value: Any
    kinds: frozenset[ShareKind]
    what: str


def text(*pieces: str | Part) -> PrivateText:
    """One text from parts; a plain ``str`` is public, a ``PrivateText`` keeps its marks."""
    parts: list[Part] = []
    public: list[str] = []  # neighbours become one part: a text may have thousands of lines
    for piece in pieces:
        if isinstance(piece, PrivateText):
            marked: tuple[Part, ...] = piece.parts
        elif isinstance(piece, Part):
            marked = (piece,)
        else:
            public.append(str(piece))
            continue
        for part in marked:
            if not part.kinds:
                public.append(part.text)
                continue
            if public:
                parts.append(Part("".join(public)))
                public = []
            parts.append(part)
    if public:
        parts.append(Part("".join(public)))
    return PrivateText(parts)


def value(given: Any, kind: ShareKind, what: str) -> PrivateValue:
    """A private value, for a tool's output: ``value(rows, "row_data", "3 sample rows")``."""
    return PrivateValue(given, frozenset([kind]), what)


def private_parts(result: Any) -> list[frozenset[ShareKind]]:
    """The kinds of each private part in a result."""
    if isinstance(result, PrivateText):
        return [part.kinds for part in result.parts if part.kinds]
    if isinstance(result, PrivateValue):
        return [result.kinds]
    if isinstance(result, Mapping):
        return [kinds for each in result.values() for kinds in private_parts(each)]
    if isinstance(result, Sequence) and not isinstance(result, str | bytes):
        return [kinds for each in result for kinds in private_parts(each)]
    return []


def redact(result: Any, refused: Refused) -> Any:
    """The result as plain JSON, without what is refused."""
    if isinstance(result, PrivateText):
        if not refused:
            return str(result)
        return "".join(part.redacted(refused) for part in result.parts)
    if isinstance(result, PrivateValue):
        return Part("", result.kinds, result.what).redacted(refused) or redact(
            result.value, refused
        )
    if isinstance(result, Mapping):
        return {key: redact(each, refused) for key, each in result.items()}
    if isinstance(result, list | tuple):
        return [redact(each, refused) for each in result]
    return result


@dataclass(frozen=True)
class CallRef:
    """The call that an approval request is about; ``label`` is its display name."""

    call_id: str
    name: str
    arguments: dict[str, Any]
    label: str


@dataclass(frozen=True)
class Shown:
    """What the model would read: a ``ToolResult`` (``more`` says how to read the rest) or a text,
    and the number of pictures."""

    result: Any
    pictures: int = 0
    more: str | None = None


class Question(Protocol):
    """Makes the approval request, and only if the user is asked."""

    def __call__(self, refused: Refused) -> Shown:
        """What the model would read if these kinds were refused."""
        ...


class Sharing(Protocol):
    """Decides which parts of a result may go to the model."""

    async def refused(
        self, parts: Sequence[frozenset[ShareKind]], call: CallRef, question: Question
    ) -> Refused:
        """Return the kinds in ``parts`` that may not be sent; ``call`` produced them."""
        ...
