"""What a turn is about to change in text files, recorded before it is changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from ...protocol.renames import Rename
from ..document import DocumentError
from .text_state import TextState

Correct = Callable[[TextState], Awaitable[None]]

# Errors with which a change is refused: nothing of it was written.
_REFUSED = ("stale", "not_found", "invalid_arguments", "not_allowed", "too_large")


class TextKeeper(Protocol):
    """Where a turn's checkpoints of text files are kept."""

    async def next_span(self, path: str) -> int:
        """A new span number for this file."""
        ...

    async def keep_text(
        self, path: str, span: int, before: TextState | None, left: TextState, *, is_new: bool
    ) -> None:
        """Store how the file was before a span (None: the turn created it) and how it is left."""
        ...

    async def drop_text(self, path: str, span: int) -> None:
        """The span did not come about."""
        ...


@dataclass(frozen=True)
class _Span:
    number: int
    before: TextState | None
    left: TextState


class TextRecorder:
    """Records the changes of one turn. Its methods hold the file's lock.

    Changes that follow upon each other are one span; a new one begins where somebody else changed
    the file in between.
    """

    def __init__(self, keeper: TextKeeper) -> None:
        self._keeper = keeper
        self._spans: dict[str, _Span] = {}

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``."""
        rename.rekey(self._spans)

    @asynccontextmanager
    async def change(
        self, path: str, before: TextState | None, after: TextState
    ) -> AsyncIterator[Correct]:
        """Around a change; ``before`` is None for a new file. What it gives is called with the text
        that was saved instead, by a save hook."""
        known = self._spans.get(path)
        goes_on = known is not None and before is not None and known.left.content == before.content
        if known is not None and goes_on:
            span = _Span(known.number, known.before, after)
        else:
            span = _Span(await self._keeper.next_span(path), before, after)
        await self._keeper.keep_text(path, span.number, span.before, after, is_new=not goes_on)
        self._spans[path] = span
        try:
            yield partial(self._correct, path)
        except DocumentError as error:
            # After any other failure it is not known whether the file was written.
            if error.code in _REFUSED:
                await self._forget(path, span, known if goes_on else None)
            raise

    async def _correct(self, path: str, left: TextState) -> None:
        span = replace(self._spans[path], left=left)
        await self._keeper.keep_text(path, span.number, span.before, left, is_new=False)
        self._spans[path] = span

    async def _forget(self, path: str, span: _Span, known: _Span | None) -> None:
        if known is None:
            await self._keeper.drop_text(path, span.number)
            self._spans.pop(path, None)
        else:
            await self._keeper.keep_text(path, known.number, known.before, known.left, is_new=False)
            self._spans[path] = known
