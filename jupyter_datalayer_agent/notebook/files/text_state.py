"""A text file as its bytes say: encoding, line ends, byte order mark; converted without loss."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import Any

BOM = "\ufeff"
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
# What a text may hold besides what can be printed: tab, line ends, form feed, escape.
_CONTROL = frozenset(range(32)) - {9, 10, 12, 13, 27}
_LOOKED_AT = 8_000


class NotText(Exception):
    """The bytes are no text."""


class NotEncodable(Exception):
    """The file's encoding lacks a character of the new text."""


@dataclass(frozen=True)
class TextState:
    """``raw`` is the decoded file with its own line ends, and its byte order mark, if any, as the
    first character. ``encoding`` is one in which every text converts back to the same bytes."""

    raw: str
    encoding: str = "utf-8"

    @classmethod
    def of_bytes(cls, data: bytes) -> TextState:
        """Raises ``NotText``. Bytes that are not Unicode are taken for Windows' or ISO's Latin."""
        encoding = _UTF16.get(data[:2], "utf-8")
        head = data[:_LOOKED_AT]
        if encoding == "utf-8" and not _CONTROL.isdisjoint(head):
            raise NotText
        try:
            return cls(data.decode(encoding), encoding)
        except UnicodeDecodeError as error:
            if encoding != "utf-8":
                raise NotText from error
        # Unlike latin-1, it has printable characters from 0x80 to 0x9f, but for five.
        try:
            return cls(data.decode("cp1252"), "cp1252")
        except UnicodeDecodeError as error:
            if any(0x80 <= byte < 0xA0 for byte in head):
                raise NotText from error
            return cls(data.decode("latin-1"), "latin-1")

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> TextState:
        """Of what ``to_json`` made."""
        return cls(value["raw"], value["encoding"])

    def to_json(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"raw": self.raw, "encoding": self.encoding}

    def to_bytes(self) -> bytes:
        """The file. Raises ``NotEncodable``."""
        try:
            return self.raw.encode(self.encoding)
        except UnicodeEncodeError as error:
            lacking = self.raw[error.start : error.start + 1]
            raise NotEncodable(f"{self.encoding} has no character {lacking!r}") from error

    @property
    def has_bom(self) -> bool:
        """Whether the file begins with a byte order mark."""
        return self.raw.startswith(BOM)

    @cached_property
    def newline(self) -> str:
        """What ends its lines; where they differ, what ends most of them."""
        pairs = self.raw.count("\r\n")
        if pairs:
            return "\r\n" if pairs * 2 >= self.raw.count("\n") else "\n"
        return "\r" if "\r" in self.raw else "\n"

    @property
    def is_mixed(self) -> bool:
        """Whether lines end differently."""
        if "\r\n" in self.raw:
            return self.raw.count("\n") != self.raw.count("\r\n")
        return "\r" in self.raw and "\n" in self.raw

    @cached_property
    def content(self) -> str:
        """The text as the model and JupyterLab's editor have it: lines end in a line feed."""
        body = self.raw.removeprefix(BOM)
        # A single character is found much faster than two.
        if "\r" not in body:
            return body
        if "\r\n" in body:
            return body.replace("\r\n", "\n")
        return body.replace("\r", "\n")

    @cached_property
    def hash(self) -> str:
        """Identifies the content."""
        return text_hash(self.content)

    def with_spans(self, spans: list[tuple[int, int, str]]) -> TextState:
        """The text with these spans of ``content`` replaced (start, end, new text; in order, none
        overlapping). All the rest keeps its bytes."""
        pieces, at = [], 0
        for start, end, new in spans:
            first, last = self._in_raw(start), self._in_raw(end)
            pieces += [self.raw[at:first], new.replace("\n", self.newline)]
            at = last
        return TextState("".join([*pieces, self.raw[at:]]), self.encoding)

    def with_content(self, content: str) -> TextState:
        """Another content, in this file's encoding and line ends."""
        mark = BOM if self.has_bom else ""
        return TextState(mark + content.replace("\n", self.newline), self.encoding)

    def _in_raw(self, offset: int) -> int:
        """Where in ``raw`` this offset of ``content`` is."""
        return offset + self.has_bom + bisect_left(self._pairs, offset)

    @cached_property
    def _pairs(self) -> list[int]:
        """Offsets in ``content`` of the line feeds that are two characters in ``raw``."""
        found: list[int] = []
        at, body = 0, self.raw.removeprefix(BOM)
        while (at := body.find("\r\n", at)) >= 0:
            found.append(at - len(found))
            at += 2
        return found


def text_hash(text: str) -> str:
    """SHA-256 of a text in UTF-8, hexadecimal, as the page computes it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
