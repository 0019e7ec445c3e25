"""A call's result in two copies: whole, for the user, and as the model may read it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..notebook.document import DocumentError
from ..protocol.tools import (
    Change,
    MissingRequirement,
    ShareKind,
    ToolError,
    ToolErrorCode,
    ToolResult,
)
from .context import ToolFailure
from .redaction import EVERYTHING, CallRef, Refused, Sharing, Shown, private_parts, redact
from .registry import Image, ToolOutcome

log = logging.getLogger(__name__)

LARGEST_BUNDLE = 2_000_000
"""Characters of a ``mime_bundle`` as JSON, which is stored and sent to each page."""


@dataclass
class Dispatched:
    """A result, with details that only the dispatcher's caller needs.

    ``result`` and ``summary`` are complete, for the user. ``redacted`` is the result as the model
    may read it, None if nothing is withheld; ``redacted_summary`` and ``images`` likewise.
    ``private`` are the kinds that the model's copy contains, and ``stripped`` is the result without
    them. ``needs``: what the gate found missing. ``blocks`` and ``mime_bundle``: see
    ``ToolOutcome``.
    """

    result: ToolResult
    summary: str
    denied: bool = False
    images: list[Image] = field(default_factory=list)
    more: str | None = None
    redacted: ToolResult | None = None
    redacted_summary: str | None = None
    private: list[ShareKind] = field(default_factory=list)
    stripped: ToolResult | None = None
    needs: MissingRequirement | None = None
    blocks: list[Change] = field(default_factory=list)
    mime_bundle: dict[str, Any] | None = None

    @property
    def for_model(self) -> ToolResult:
        """The result as the model may read it."""
        return self.redacted or self.result

    @property
    def summary_for_model(self) -> str:
        """The line as the model may read it."""
        return self.summary if self.redacted_summary is None else self.redacted_summary


@dataclass
class ResultBuilder:
    """A result whose private parts are still marked; ``make`` redacts it."""

    make: Callable[[Refused], ToolResult]
    summary: str
    outputs: list[Any]
    images: list[Image]
    more: str | None
    needs: MissingRequirement | None = None
    blocks: list[Change] = field(default_factory=list)
    mime_bundle: dict[str, Any] | None = None

    @classmethod
    def of_outcome(cls, name: str, outcome: ToolOutcome) -> ResultBuilder:
        """Build from a successful call."""

        def make(refused: Refused) -> ToolResult:
            output = redact(outcome.output, refused)
            return ToolResult(ok=True, name=name, output=output, changes=outcome.changes or None)

        return cls(
            make,
            outcome.summary,
            [outcome.output],
            list(outcome.images),
            outcome.more,
            blocks=outcome.blocks,
            mime_bundle=_storable(name, outcome.mime_bundle),
        )

    @classmethod
    def of_failure(cls, name: str, failure: ToolFailure | DocumentError) -> ResultBuilder:
        """Build from a failed call."""
        if isinstance(failure, DocumentError):
            failure = _of_document(failure)

        def make(refused: Refused) -> ToolResult:
            message = redact(failure.message, refused)
            return ToolResult(
                ok=False,
                name=name,
                output=redact(failure.output, refused),
                error=ToolError(
                    code=failure.code, message=message, hint=redact(failure.hint, refused)
                ),
                changes=failure.changes or None,
            )

        outputs = [failure.output, failure.message, failure.hint]
        summary = failure.summary or failure.message
        images = list(failure.images)
        return cls(make, summary, outputs, images, failure.more, failure.needs, failure.blocks)

    def whole(self) -> Dispatched:
        """The result with nothing withheld."""
        return Dispatched(
            self.make({}),
            str(self.summary),
            images=self.images,
            more=self.more,
            needs=self.needs,
            blocks=self.blocks,
            mime_bundle=self.mime_bundle,
        )

    async def shared(self, sharing: Sharing | None, call: CallRef) -> Dispatched:
        """The result, redacted as ``sharing`` decides (None: not at all)."""
        done = self.whole()
        parts = [] if sharing is None else self._parts()
        if sharing is None or not parts:
            return done
        done.stripped = self.make(EVERYTHING)
        refused = await sharing.refused(parts, call, self._show)
        kinds = frozenset().union(*parts)
        done.result.withheld = sorted(kind for kind in kinds if kind in refused) or None
        if refused:
            done.redacted = self.make(refused)
            done.redacted_summary = redact(self.summary, refused)
        if "outputs" in refused:
            done.images = []
        left = [part for part in parts if part.isdisjoint(refused)]
        done.private = sorted(frozenset().union(*left))
        return done

    def _parts(self) -> list[frozenset[ShareKind]]:
        """The kinds of each private part."""
        pictures = [frozenset[ShareKind](["outputs"])] if self.images else []
        return private_parts(self.outputs) + pictures

    def _show(self, refused: Refused) -> Shown:
        pictures = 0 if "outputs" in refused else len(self.images)
        return Shown(self.make(refused), pictures, self.more)


def _storable(name: str, bundle: dict[str, Any] | None) -> dict[str, Any] | None:
    """The bundle, or a text that says why it cannot be stored with the conversation: the call
    itself succeeded."""
    if bundle is None:
        return None
    try:
        size = len(json.dumps(bundle, allow_nan=False))
    except (TypeError, ValueError) as error:
        log.error("What %s shows is not JSON: %s", name, error)
        return {"text/plain": f"The output that {name} returned is not valid JSON."}
    if size > LARGEST_BUNDLE:
        return {"text/plain": f"The output that {name} returned is too large: {size:,} characters."}
    return bundle


def _of_document(failure: DocumentError) -> ToolFailure:
    code: ToolErrorCode = failure.code
    output: Any = None
    if failure.cells:
        output = {"cells": [{"cellId": cell.id, "content": cell.source} for cell in failure.cells]}
    return ToolFailure(code, failure.message, failure.hint, output=output)
